"""The functions that a log leads to. Keyword search dominates, 0.9 to 0.1 of meaning (K7)."""

import numpy as np

from osrag.kernel.describe import BODY
from osrag.kernel.logs.read import ErrorLog
from osrag.kernel.query import renamed
from osrag.kernel.search import KernelSearch
from osrag.text import clip
from osrag.types import CodeHit

KEYWORD, MEANING = 0.9, 0.1
STEP = 0.06  # that a function loses for each place further down the list of suspects
FLOOR = 0.25  # of a function that the log names at all
MENTION = 0.2  # at most, for a function whose code only mentions the names
QUERY_CHARS = 400
POOL = 50


def find_log_code(search: KernelSearch, log: ErrorLog, *, k: int) -> list[CodeHit]:
    """The `k` best functions for a log: those it names, suspects first, then those that mention them."""
    named = _named(search, log)
    query = clip(f"{log.asked} {log.line} {log.meaning('en')}".strip(), QUERY_CHARS)
    vector = search.encoder.queries([query])[0]
    keyword = dict.fromkeys(search.store.nearest(vector, POOL), 0.0) | _mentioned(search, log) | named
    if not keyword:
        return []
    cosines = search.store.vectors(np.array(list(keyword), dtype=np.int64)) @ vector
    meaning = (cosines - cosines.min()) / (np.ptp(cosines) or 1.0)
    scores = KEYWORD * np.array(list(keyword.values())) + MEANING * meaning
    rows, hits = list(keyword), []
    for at in np.argsort(-scores, kind="stable"):
        row = rows[at]
        if keyword[row] or not named:  # beside functions that the log names, meaning alone earns no place
            found_by = "name" if row in named else "fusion"
            hits.append(CodeHit(search.store.chunk(row), float(scores[at]), float(cosines[at]), found_by))
    return hits[:k]


def _named(search: KernelSearch, log: ErrorLog) -> dict[int, float]:
    """Row -> keyword score of the functions that the log names, by their place among the suspects."""
    store = search.store
    names = dict.fromkeys([*(frame.name for frame in log.blamed), *log.symbols])
    found: dict[int, float] = {}
    for place, name in enumerate(names):
        rows = store.functions_named(name) or store.functions_named(renamed().get(name, ("", ""))[0])
        files = {frame.file for frame in log.blamed if frame.name == name}
        rows = [row for row in rows if store.file_name(row) in files] or rows
        for row in rows[:2]:
            found.setdefault(row, max(FLOOR, 1.0 - STEP * place))
    return found


def _mentioned(search: KernelSearch, log: ErrorLog) -> dict[int, float]:
    """Row -> keyword score of functions whose code mentions the suspects."""
    scores = search.store.keyword_scores(BODY + frame.name.lower() for frame in log.blamed[:3])
    best = [int(row) for row in np.argsort(-scores)[:POOL] if scores[row] > 0]
    return {row: MENTION * float(scores[row] / scores[best[0]]) for row in best}
