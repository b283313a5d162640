"""The lab's words in both languages: one table a topic in `data/lab/`, read as one.

Sections: `kinds` (titles), `fields` (labels of parameters), `choices` (of a rule), `units`, `columns`, `steps`,
`results`, `rules` (why a step is so), `mistakes`, `questions`, `errors` and `linux` (where it does this, and the names
of its `functions`). A value in braces is filled in.
"""

import functools
import re
import tomllib
from pathlib import Path

from osrag.types import Language

_BESIDE_LATIN = re.compile(r"(?<=[\u4e00-\u9fff])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[\u4e00-\u9fff])")
FOLDER = Path(__file__).parent.parent / "data" / "lab"


@functools.cache
def table() -> dict[str, dict[str, dict[str, str]]]:
    """Section -> key -> language -> sentence. Raises KeyError where two files differ on one key."""
    merged: dict[str, dict[str, dict[str, str]]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for section, rows in tomllib.loads(path.read_text(encoding="utf-8")).items():
            known = merged.setdefault(section, {})
            if twice := sorted(key for key in known.keys() & rows.keys() if known[key] != rows[key]):
                raise KeyError(f"{path.name}: {section}.{twice[0]} reads otherwise in another file")
            known |= rows
    return merged


def word(section: str, key: str, language: Language, /, **values: object) -> str:
    """The sentence `key` of `section`; raises KeyError for an unknown key or a missing value.

    A space stands between Chinese characters and Latin ones, also where a value meets the sentence.
    """
    return _BESIDE_LATIN.sub(" ", table()[section][key][language].format(**values))
