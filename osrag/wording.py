"""Every sentence that a visitor sees, in both languages, from one table (`data/wording.toml`)."""

import functools
import tomllib
from pathlib import Path

from osrag.errors import OsragError
from osrag.types import Language

PATH = Path(__file__).parent / "data" / "wording.toml"


@functools.cache
def table() -> dict[str, dict[str, str]]:
    """Key -> language -> sentence, with the names of its values in braces."""
    return tomllib.loads(PATH.read_text(encoding="utf-8"))


def say(key: str, language: Language, **values: object) -> str:
    """The sentence `key` in `language`; raises KeyError for an unknown key or a missing value."""
    return table()[key][language].format(**values)


class Said(str):
    """A sentence of the table in English, for logs and the command line, that knows itself in both languages.

    Values may be such sentences, too.
    """

    def __new__(cls, key: str, **values: object) -> "Said":
        made = super().__new__(cls, say(key, "en", **values))
        made._key, made._values = key, values
        return made

    _key: str
    _values: dict[str, object]

    def __reduce__(self) -> tuple[object, ...]:  # from one process to another it stays what it is
        return functools.partial(Said, self._key, **self._values), ()


def in_language(text: str, language: Language) -> str:
    """A sentence in the language of a page; one that is not of the table as it is."""
    if not isinstance(text, Said):
        return text
    values = {name: in_language(value, language) if isinstance(value, str) else value
              for name, value in text._values.items()}  # fmt: skip
    return say(text._key, language, **values)


def in_full(error: OsragError) -> str:
    """What an error says, with its hint."""
    return Said("error_with_hint", what=error.message, hint=error.hint) if error.hint else error.message
