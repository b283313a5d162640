"""The functions that a log leads to. Keyword search dominates, 0.9 to 0.1 of meaning (K7)."""

import numpy as np

from osrag.kernel.describe import BODY
from osrag.kernel.logs.read import ErrorLog
from osrag.kernel.query import renamed
from osrag.kernel.search import KernelSearch
from osrag.text import clip
from osrag.types import CodeHit

KEYWORD, MEANING = 0.9, 0.1
STEP = 0.06  # what each place further down the list of suspects is worth less
FLOOR = 0.25  # of a function that the log names at all
MENTION = 0.2  # at most, for a function whose code only mentions the names
QUERY_CHARS = 400
POOL = 50


def find_log_code(search: KernelSearch, log: ErrorLog, *, k: int) -> list[CodeHit]:
    """The `k` best functions for a log: those it names, suspects first, then those that speak of them."""
    named = _named(search, log)
    mentioned = _mentioned(search, log)
    query = clip(f"{log.asked} {log.line} {log.meaning('en')}".strip(), QUERY_CHARS)
    vector = search.encoder.queries([query])[0]
    near = search.store.nearest(vector, POOL)
    rows = np.array(list(dict.fromkeys([*named, *mentioned, *near])), dtype=np.int64)
    if not len(rows):
        return []
    cosines = search.store.vectors(rows) @ vector
    spread = float(cosines.max() - cosines.min()) or 1.0
    meaning = (cosines - cosines.min()) / spread
    words = np.array([named.get(int(row), mentioned.get(int(row), 0.0)) for row in rows])
    scores = KEYWORD * words + MEANING * meaning
    order = np.argsort(-scores, kind="stable")
    hits = []
    for at in order:
        row = int(rows[at])
        if words[at] <= 0 and named:
            continue  # meaning alone fills no place beside functions that the log names
        found_by = "name" if row in named else "fusion"
        hits.append(CodeHit(search.store.chunk(row), float(scores[at]), float(cosines[at]), found_by))
    return hits[:k]


def _named(search: KernelSearch, log: ErrorLog) -> dict[int, float]:
    """Row -> keyword score of the functions that the log names, by their place among the suspects."""
    names = list(dict.fromkeys([*(frame.name for frame in log.blamed), *log.symbols]))
    found: dict[int, float] = {}
    for place, name in enumerate(names):
        rows = search.store.functions_named(name) or search.store.functions_named(renamed().get(name, ("", ""))[0])
        files = {path for frame in log.blamed if frame.name == name and (path := frame.file)}
        rows = [row for row in rows if search.store.file_name(row) in files] or rows
        for row in rows[:2]:
            found.setdefault(row, max(FLOOR, 1.0 - STEP * place))
    return found


def _mentioned(search: KernelSearch, log: ErrorLog) -> dict[int, float]:
    """Row -> keyword score of functions whose code mentions the suspects."""
    names = [frame.name.lower() for frame in log.blamed[:3]]
    if not names:
        return {}
    scores = search.store.keyword_scores([BODY + name for name in names])
    top = float(scores.max())
    if top <= 0:
        return {}
    best = np.argsort(-scores)[:POOL]
    return {int(row): MENTION * float(scores[row]) / top for row in best if scores[row] > 0}
