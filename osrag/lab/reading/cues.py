# ruff: noqa: E501 - a pattern is read best in one line
"""The words of `data/lab/reading.toml` as patterns, and the values that stand beside them.

A form is a regular expression in which `#` is the value, `~` a few words that link it to its name (is, of, 为, =, …)
and a space any white space or hyphen, or none.
"""

import functools
import tomllib
from typing import Any

from osrag.lab.reading import ascii as re
from osrag.lab.words import FOLDER

NUMBER = r"\d+(?:\.\d+)?"
LIST = rf"(?:{NUMBER})(?:\s*(?:[,，、;；]|and|和|→|->|-(?=\d)|\s)\s*(?:and|和)?\s*(?:{NUMBER}))+"
_TIME_UNIT = (
    r"(?:ns|nano\w*|纳秒|[uµ]s|micro\w*|微秒|ms|milli\w*|毫秒|s\b|sec\w*|秒|time units?|units?|个?时间单位|小时)"
)
MEASURES = {
    "count": r"\d+(?![\w.]*\d|\s*%|\s*[KMGT]i?B)",
    "number": NUMBER,
    "time": rf"{NUMBER}(?:\s*{_TIME_UNIT})?",
    "clock": rf"{NUMBER}\s*{_TIME_UNIT}",  # a time whose unit must be there
    "size": rf"{NUMBER}\s*(?:[KMGT]i?B?(?:ytes?)?|[KMGT]?\s*(?:bytes?|字节)|B|[KMGT]?\s*words?)?(?![\w])(?!\s*bits?)",
    "unit": rf"{NUMBER}\s*(?:[KMGT](?:i?B(?:ytes?)?)?|[KMGT]?\s*(?:bytes?|字节)|B|[KMGT]?\s*words?)(?![\w]|\s*/)",  # a size whose unit must be there
    "bytes": rf"{NUMBER}\s*(?:B|bytes?|字节|bits?|位)(?![\w])",  # of an entry; 32 bits are 4 bytes
    "share": rf"{NUMBER}\s*%|{NUMBER}\s*/\s*{NUMBER}|0?\.\d+|1(?:\.0+)?(?![\d.])",
    "percent": rf"{NUMBER}\s*%",
    "hours": rf"{NUMBER}(?:e\d+)?\s*(?:hours?|h\b|小时|days?|天|years?|年|minutes?|分钟)",
    "terabytes": rf"{NUMBER}\s*[MGT]i?B",
    "rate": rf"{NUMBER}\s*(?:[KMG]i?B?|[KMG]bytes?)\s*(?:/|per|每)\s*(?:s\b|sec\w*|秒)|每秒\s*{NUMBER}\s*[KMG]i?B",
    "address": r"0x[0-9A-Fa-f]+|\d+",
    "list": LIST,
    "vector": r"\d+(?:\s*[,，、\s]\s*\d+)*",
    "name": r"[A-Z][A-Za-z]?\d*",
    "path": r"/[\w./\-]+",
}
_SPACE = r"[\s\-]*"
_HOURS = {"h": 1.0, "小": 1.0, "d": 24.0, "天": 24.0, "y": 8760.0, "年": 8760.0, "m": 1 / 60, "分": 1 / 60}


@functools.cache
def words() -> dict[str, Any]:
    """The file as it is."""
    return tomllib.loads((FOLDER.parent / "lab_reading.toml").read_text(encoding="utf-8"))


@functools.cache
def pattern(form: str, measure: str = "") -> re.Pattern[str]:
    """A form as a regular expression; its value is the group `value`."""
    link = words()["links"]["words"]
    form = form.replace("[- ]", " ").replace("[ -]", " ")
    ahead = re.split(r"(\(\?<[!=](?:[^()]|\([^()]*\))*\))", form)  # a look-behind has a fixed width
    parts = [part.replace(" ", r"[\s\-]") if part.startswith("(?<") else part.replace(" ", _SPACE) for part in ahead]
    text = "".join(parts).replace("~", link)
    if measure:
        text = text.replace("#", rf"(?<![\w.])(?P<value>{MEASURES[measure]})")
    return re.compile(text, re.I)


def found(forms: list[str], text: str) -> re.Match[str] | None:
    """The earliest place where one of the forms stands."""
    places = [match for form in forms if (match := pattern(form).search(text))]
    return min(places, key=lambda match: match.start(), default=None)


def value_of(field: str, kind: str, text: str) -> str | None:
    """The value of a field that a form finds, as text that the field reads; the first form that fits counts."""
    entry = words()["fields"].get(f"{kind}.{field}") or words()["fields"].get(field)
    if entry is None:
        return None
    for form in entry["forms"]:
        match = pattern(form, entry["measure"]).search(text)
        if match is not None:
            return converted(match["value"], entry["measure"], entry.get("plus", 0))
    return None


def choice_of(field: str, kind: str, text: str) -> str | None:
    """The choice of a field that the text states."""
    choices = words()["choices"].get(f"{kind}.{field}") or words()["choices"].get(field, {})
    return next((name for name, forms in choices.items() if found(forms, text)), None)


def converted(value: str, measure: str, plus: int = 0) -> str:
    """A value as its field reads it: sizes and times with short units, shares as fractions, hours and TB as numbers."""
    number = re.search(NUMBER, value)
    if number is None:
        return value
    match measure:
        case "count":
            return str(int(number[0]) + plus)
        case "number" | "time" | "percent":
            return number[0]
        case "clock":
            return f"{number[0]} {_time_unit(value[number.end() :].strip())}"
        case "size" | "unit":
            unit = value[number.end() :].strip()[:1].upper()
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
    for short, beginnings in (("ns", "纳n"), ("us", "微uµ"), ("s", "秒")):
        if lower[:1] in beginnings:
            return short
    if lower.startswith("micro"):
        return "us"
    return "ms" if lower[:1] in "m毫" else "s"
