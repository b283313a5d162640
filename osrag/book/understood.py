"""What a question is about, as far as its words tell: what it names, and what it compares (H2).

Two things lead a search elsewhere than meaning and words do. Who asks for the parameters of `mmap` wants the entry of
the API reference, and who asks for lab 3 wants that lab. Who compares two things needs the passages on each of them.
"""

import re
from collections.abc import Collection as Holder
from dataclasses import dataclass

from osrag.answer.kinds import kinds_of
from osrag.glossary import Term, load_glossary
from osrag.text import language_of

MOST = 4  # things of a comparison; each costs a search
_NAME = re.compile(r"(?<![\w/.-])[A-Za-z_]\w*(?!\w)")
_ERROR = re.compile(r"\bE[A-Z]{3,}\b")
# What an entry of a reference tells of a function.
_INTERFACE = re.compile(
    r"参数|返回值|返回什么|原型|签名|错误码|头文件|手册|什么系统调用|系统调用是"
    r"|parameters?\b|arguments?\b|return values?\b|what (?:does|do|will|can) [\w()]+ return|prototype|signature"
    r"|\berrno\b|error codes?\b|man page",
    re.I,
)
_DIGITS = {digit: number for number, digit in enumerate("一二三四五六七八九十", start=1)}
_NUMBER = rf"(\d{{1,2}}|[{''.join(_DIGITS)}])"
_LAB = re.compile(rf"\blab(?:oratory)?[\s-]*(\d{{1,2}})\b|实验\s*{_NUMBER}|第\s*{_NUMBER}\s*个实验", re.I)


@dataclass(frozen=True, slots=True)
class Understood:
    """A question by what it names."""

    kinds: tuple[str, ...]  # of answer that it wants
    terms: tuple[Term, ...]
    calls: tuple[str, ...]  # functions of which it wants the entry in an API reference
    errors: tuple[str, ...]  # EINVAL
    lab: int | None
    compared: tuple[str, ...]  # the names of the things that it compares; of more than `MOST` none


def understand(text: str, entries: Holder[str] = ()) -> Understood:
    """`entries` are the functions that the material has an entry of."""
    kinds, terms = kinds_of(text), tuple(load_glossary().find(text))
    errors = tuple(dict.fromkeys(_ERROR.findall(text)))
    named = dict.fromkeys(name for name in _NAME.findall(text) if name in entries)
    calls = tuple(named) if errors or _INTERFACE.search(text) else ()
    names = ((term.zh if language_of(text) == "zh" else term.en)[0] for term in terms)
    compared = tuple(names) if "compare" in kinds and 2 <= len(terms) <= MOST else ()
    return Understood(kinds, terms, calls, errors, lab_in(text), compared)


def lab_in(text: str) -> int | None:
    """The number of the lab that a question, a title or a file name names."""
    found = _LAB.search(text)
    if found is None:
        return None
    number = next(filter(None, found.groups()))
    return _DIGITS.get(number) or int(number)
