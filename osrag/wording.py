"""Every sentence that a visitor sees, in both languages, from one table (`data/wording.toml`)."""

import functools
import tomllib
from pathlib import Path

from osrag.types import Language

PATH = Path(__file__).parent / "data" / "wording.toml"


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """Key -> language -> sentence, with the names of its values in braces."""
    return tomllib.loads(PATH.read_text(encoding="utf-8"))


def say(key: str, language: Language, **values: object) -> str:
    """The sentence `key` in `language`; raises KeyError for an unknown key or a missing value."""
    return table()[key][language].format(**values)
