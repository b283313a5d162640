"""Prompts in files, one each, in the language of the question.

`NAME.LANG.md` holds a prompt; `$name` is a variable. A missing variable raises,
so a prompt is whole or it is not sent.
"""

import functools
from pathlib import Path
from string import Template

from osrag.types import Language

FOLDER = Path(__file__).parent


@functools.cache
def _template(name: str, language: Language) -> Template:
    return Template((FOLDER / f"{name}.{language}.md").read_text(encoding="utf-8").strip())


def render(name: str, language: Language, **values: str) -> str:
    """The prompt `name` in `language`; raises KeyError for a variable without a value."""
    return _template(name, language).substitute(values)
