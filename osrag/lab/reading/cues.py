# ruff: noqa: E501 - a pattern is read best in one line
"""The words of `data/lab_reading.toml` as patterns, and the values that stand beside them.

A form is a regular expression in which `#` is the value, `~` a few words that link it to its name (is, of, 为, =, …),
`…` a few words of any kind inside a sentence, and a space any white space or hyphen, or none.
"""

import functools
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from osrag.lab.fields import size
from osrag.lab.reading import ascii as re
from osrag.lab.words import FOLDER

NUMBER = r"\d+(?:\.\d+)?"
_AND = r"(?:and|和|与|及)"
_COUNTED = r"(?!\d|\.\d|\s*(?:次|[个道]\s*(?:并发|内存|空闲)?(?:进程|线程|作业|任务|程序|用户|页|物理块|块|磁|柱|请求|队列)|(?:page |free |empty |memory )?(?:processes|jobs|frames|tasks)))"  # 4 of `3、5，4个进程` is none of the list
LIST = rf"(?:{NUMBER})(?:\s*(?:[,，、;；]|{_AND}|→|->|-(?=\d)|\s)\s*{_AND}?\s*(?:{NUMBER}){_COUNTED})+"
_TIME_UNIT = (
    r"(?:ns|nano\w*|纳秒|[uµ]s|micro\w*|微秒|ms|milli\w*|毫秒|s\b|sec\w*|秒|time units?|units?|个?时间单位|小时)"
)
MEASURES = {
    "count": r"\d+(?![\w.]*\d|\s*%|\s*[KMGT]i?B)",
    "whole": r"[-−]?\d+(?![\w.]*\d|\s*%)",  # it may be below 0
    "number": NUMBER,
    "time": rf"{NUMBER}(?:\s*{_TIME_UNIT})?",
    "clock": rf"{NUMBER}\s*{_TIME_UNIT}",  # a time whose unit must be there
    "size": rf"{NUMBER}[\s\-]*(?:[KMGT]i?B?(?:ytes?)?|[KMGT]?\s*(?:bytes?|字节)|B|[KMGT]?\s*words?)?(?![\w])(?!\s*bits?)",
    "unit": rf"{NUMBER}[\s\-]*(?:[KMGT](?:i?B(?:ytes?)?)?|[KMGT]?\s*(?:bytes?|字节)|B|[KMGT]?\s*words?|个?字(?!节)|records?)(?![\w]|\s*/)",  # a size whose unit must be there
    "bytes": rf"{NUMBER}[\s\-]*个?(?:B|bytes?|字节|bits?|位)(?![\w])",  # of an entry; 32 bits are 4 bytes
    "octets": rf"{NUMBER}[\s\-]*个?(?:B|bytes?|字节)(?![\w])",
    "share": rf"{NUMBER}\s*%|{NUMBER}\s*/\s*{NUMBER}|0?\.\d+|1(?:\.0+)?(?![\d.]|\s*(?:[级层次个]|-?levels?))",
    "percent": rf"{NUMBER}\s*%",
    "hours": rf"{NUMBER}(?:e\d+)?\s*(?:hours?|h\b|小时|days?|天|years?|年|minutes?|分钟)",
    "terabytes": rf"{NUMBER}\s*[MGT]i?B",
    "rate": rf"{NUMBER}\s*(?:[KMG]i?B?|[KMG]bytes?)\s*(?:/|per|每)\s*(?:s\b|sec\w*|秒)|每秒\s*{NUMBER}\s*[KMG]i?B",
    "address": r"0x[0-9A-Fa-f]+|\d+",
    "hexadecimal": r"0x[0-9A-Fa-f]+",
    "list": LIST,
    "vector": rf"{LIST}|\d+(?:\.\d+)?",
    "name": r"[A-Z][A-Za-z]?\d*",
    "path": r"/[\w./\-]*[\w/\-]",
}
_ITEM = r"(?<!\w)[A-Za-z]+_?\d{1,2}\s*=\s*(?=\d)"  # t1 = 6, t2 = 4
_ITEMS = re.compile(rf"{_ITEM}{NUMBER}(?:[\s,，、;；]|{_AND}|{_TIME_UNIT}|{_ITEM}{NUMBER})+", re.I)
_NO_VALUE = re.compile(rf"{_ITEM}|(?<=\d)\s*{_TIME_UNIT}(?=\s*(?:[,，、;；]|{_AND})\s*[A-Za-z])", re.I)
_WITHOUT_UNIT = {"clock": "time", "unit": "size"}
_SPACE = r"[\s\-]*"
_WIDE_GAP, _GAP = r"([^.。?？]{0,40}?)", r"([^.。;；?？\d]{0,45}?)"
_HOURS = {"h": 1.0, "小": 1.0, "d": 24.0, "天": 24.0, "y": 8760.0, "年": 8760.0, "m": 1 / 60, "分": 1 / 60}


@dataclass(frozen=True, slots=True)
class Claim:
    """A value that a form gives a field, and how well its name fits: the letters of the name less those between."""

    field: str
    value: str
    start: int  # of the value
    end: int
    weight: float


@functools.cache
def words() -> dict[str, Any]:
    """The file as it is."""
    return tomllib.loads((FOLDER.parent / "lab_reading.toml").read_text(encoding="utf-8"))


@functools.cache
def pattern(form: str, measure: str = "", *, wide: bool = False) -> re.Pattern[str]:
    """A form as a regular expression; its value is the group `value`, what lies between are groups without a name.

    Where it is `wide`, numbers may stand between.
    """
    link = f"({words()['links']['words']})"
    form = form.replace("[- ]", " ").replace("[ -]", " ")
    ahead = re.split(r"(\(\?<[!=](?:[^()]|\([^()]*\))*\))", form)  # a look-behind has a fixed width
    parts = [part.replace(" ", r"[\s\-]") if part.startswith("(?<") else part.replace(" ", _SPACE) for part in ahead]
    text = "".join(parts).replace("~", link).replace("…", _WIDE_GAP if wide else _GAP)
    if measure:
        text = text.replace("#", rf"(?<![\w.])(?P<value>{MEASURES[measure]})")
        text = f"(?=(?P<whole>{text}))"  # matches may overlap: the nearest name counts
    return re.compile(text, re.I)


def weight(match: re.Match[str], whole: str) -> float:
    """How much a match says: the letters of its words, a Chinese character as two and a half, less those of gaps."""
    names = {match.re.groupindex[name] for name in match.re.groupindex}
    gaps = [text for number, text in enumerate(match.groups(), start=1) if text and number not in names]
    return (
        _letters(whole)
        - 1.5 * sum(map(_letters, gaps))
        - 8 * sum(bool(re.search(r"[,，:：、\n]", gap)) for gap in gaps)
    )


def _letters(text: str) -> float:
    return sum(2.5 if char > "\u2fff" else 1.0 for char in text if char.isalpha() or char in "%/_")


@functools.cache
def entries_of(field: str, kind: str) -> dict[str, dict[str, Any]]:
    """The forms of a field, those of the kind before those of all, and of what tells it in another way; by name."""
    fields: dict[str, dict[str, Any]] = words()["fields"]
    own = f"{kind}.{field}" if f"{kind}.{field}" in fields else field
    others = [name for name, entry in fields.items() if entry.get("of") in (field, f"{kind}.{field}")]
    return {name: fields[name] for name in (own, *others) if name in fields}


def claims(field: str, kind: str, text: str, plainly: str = "") -> Iterator[Claim]:
    """Every value that a form finds for the field; a single value is read from `plainly`, the text without its lists."""
    lists = _ITEMS.sub(lambda items: _NO_VALUE.sub(lambda part: " " * len(part[0]), items[0]), text)
    for entry in entries_of(field, kind).values():
        measure = entry["measure"]
        for rank, form in enumerate(entry["forms"]):
            for match in pattern(form, measure).finditer(lists if measure in ("list", "vector") else plainly or text):
                value = told(converted(match["value"], measure), entry.get("tells", ""))
                fits = weight(match, match["whole"]) - rank
                yield Claim(field, value, match.start("value"), match.end("value"), fits)


def value_at(text: str, start: int, entry: dict[str, Any]) -> str | None:
    """What an entry makes of the number at `start` and the unit behind it; None where it is no such value."""
    measure = entry["measure"]
    if measure == "whole" and text[start - 1 : start] in {"-", "−"}:
        start -= 1
    for one in ("number",) if measure in ("list", "vector") else (measure, _WITHOUT_UNIT.get(measure, measure)):
        if match := re.compile(MEASURES[one], re.I).match(text, start):
            return told(converted(match[0], one), entry.get("tells", "")) or None
    return None


def shared_out(found: Iterable[Claim]) -> dict[str, str]:
    """A value for each field, the best fitting first: a number of the text is one thing."""
    taken: list[Claim] = []
    for claim in sorted(found, key=lambda claim: (-claim.weight, claim.start)):
        if any(claim.field == one.field or (claim.start < one.end and one.start < claim.end) for one in taken):
            continue
        taken.append(claim)
    return {claim.field: claim.value for claim in taken}


def value_of(field: str, kind: str, text: str) -> str | None:
    """The value of one field that fits best."""
    return shared_out(claims(field, kind, text)).get(field)


@functools.cache
def alternatives(form: str) -> tuple[str, ...]:
    """The parts of a form between its outermost bars."""
    parts, depth, start, chars = [], 0, 0, re.sub(r"\\.|\[[^\]]*\]", lambda found: "." * len(found[0]), form)
    for at, char in enumerate(chars):
        depth += (char == "(") - (char == ")")
        if char == "|" and depth == 0:
            parts.append(form[start:at])
            start = at + 1
    return (*parts, form[start:])


def matches(forms: Iterable[str], text: str, *, wide: bool = False) -> Iterator[tuple[float, int, int]]:
    """Weight, start and end of every place where a part of one of the forms stands."""
    for form in forms:
        for part in alternatives(form):
            for match in pattern(part, wide=wide).finditer(text):
                yield weight(match, match[0]), match.start(), match.end()


def choice_of(field: str, kind: str, text: str) -> str | None:
    """The choice of a field whose words fit best."""
    choices = words()["choices"].get(f"{kind}.{field}") or words()["choices"].get(field, {})
    places = [(-fits, at, name) for name, forms in choices.items() for fits, at, _ in matches(forms, text)]
    return min(places)[2] if places else None


def told(value: str, tells: str) -> str:
    """What a value tells about its field: the rest of 1, one in so many, bits of so many bytes, a power of two or its exponent."""
    match tells:
        case "the rest":
            return f"{1 - float(value):.12g}"
        case "count from 0":
            return str(int(value) + 1)
        case "octets":
            return f"{float(re.match(NUMBER, value)[0]) * 8:.12g}"  # type: ignore[index]
        case "one in":
            return f"{1 / float(value):.12g}" if float(value) else ""
        case "bits":
            return str(1 << int(value)) if int(value) < 60 else ""
        case "size":
            return str((size(value) or 1).bit_length() - 1)
        case _:
            return value


def converted(value: str, measure: str) -> str:
    """A value as its field reads it: sizes and times with short units, shares as fractions, hours and TB as numbers."""
    number = re.search(NUMBER, value)
    if number is None:
        return value
    match measure:
        case "count":
            return number[0]
        case "whole":
            return value.replace("−", "-")
        case "number" | "time" | "percent":
            return number[0]
        case "clock":
            return f"{number[0]} {_time_unit(value[number.end() :].strip())}".strip()
        case "size" | "unit":
            unit = value[number.end() :].strip(" -")[:1].upper()
            return number[0] + (unit if unit in "KMGT" else "")
        case "bytes":
            bits = re.search("bit|位", value, re.I)
            return str(int(float(number[0]) / 8)) if bits else number[0]
        case "share":
            if "%" in value:
                return f"{float(number[0]) / 100:.12g}"
            upper, _, lower = value.partition("/")
            return f"{float(upper) / float(lower):.12g}" if lower.strip() else value
        case "hours":
            count = float(re.match(r"[\d.]+(?:e\d+)?", value)[0])  # type: ignore[index]
            unit = re.sub(r"^[\d.]+(?:e\d+)?\s*", "", value)[:1].lower()
            return f"{count * _HOURS[unit]:.12g}"
        case "terabytes":
            unit = value[number.end() :].strip()[0].upper()
            return f"{float(number[0]) / {'M': 1e6, 'G': 1e3, 'T': 1}[unit]:.12g}"
        case "rate":
            unit = value[number.end() :].strip()[0].upper()
            return f"{float(number[0]) * {'K': 1e-3, 'M': 1, 'G': 1e3}[unit]:.12g}"
        case "list" | "vector":
            return ",".join(re.findall(NUMBER, value))
        case _:
            return value


def _time_unit(unit: str) -> str:
    lower = unit.lower()
    if re.match("time|units?|个", lower):  # of no length: 150 time units
        return ""
    for short, beginnings in (("ns", "纳n"), ("us", "微uµ"), ("s", "秒")):
        if lower[:1] in beginnings:
            return short
    if lower.startswith("micro"):
        return "us"
    return "ms" if lower[:1] in "m毫" else "s"
