"""From a question in words to the kind of exercise and its parameters, by the words of `data/lab_reading.toml`.

A reading holds only what the text states. A text in which no kind has both its words and its numbers is no exercise.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, get_args

from osrag.lab.catalog import KINDS
from osrag.lab.kind import Kind
from osrag.lab.reading import ascii as re
from osrag.lab.reading.cues import choice_of, pattern, value_of, words
from osrag.lab.reading.plain import plain
from osrag.lab.reading.shapes import asking, matrices, page_size_by_offset, shaped
from osrag.lab.solve import Solved, is_rule, solve

LONGEST = 8_000  # characters of a question
MOST = 12  # readings of one text
_ASKING = re.compile(
    r"[?？]|\b(?:find|compute|calculate|determine|give|what|how|which|list|count|show|draw|is|are|does|can|would)\b"
    r"|求|计算|多少|哪|是否|试|几|列出|给出|何时|画出|能否|吗",
    re.I,
)
_MATRICES = {"allocation", "maximum", "need", "available", "total", "names"}
_FAMILIES = {"replacement", "disk", "cpu", "fit"}  # several algorithms of one family are several readings


@dataclass(frozen=True, slots=True)
class Reading:
    """A kind and what the text gives of its parameters; `also` are the other algorithms or figures that it asks for."""

    kind: Kind[Any]
    values: dict[str, str]
    also: tuple["Reading", ...] = ()

    def solved(self) -> Solved:
        """The exercise computed; a field that the kind would assume and the text must state counts as missing."""
        found = solve(self.kind, self.values)
        entry = words()["kinds"][self.kind.name]
        absent = tuple(field for field in entry.get("needs", ()) if field not in self.values)
        if not absent:
            return found
        return replace(found, missing=(*found.missing, *absent), parameters=None, solution=None)


def read(text: str) -> Reading | None:
    """The exercise that `text` asks for; None where it is none."""
    text = text[:LONGEST]
    clear = plain(text)
    cues = _without_conventions(clear)
    found: list[Reading] = []
    family = ""
    for name, entry in words()["kinds"].items():
        if found and (not family or entry.get("family") != family):
            continue
        if not _named(entry, cues):
            continue
        values = _values(KINDS[name], clear, text)
        if values is not None:
            found.append(Reading(KINDS[name], values))
            family = entry.get("family", "")
    if not found:
        return None
    found.sort(key=lambda reading: _place(reading.kind.name, cues))
    every = [each for reading in found for each in _by_ask(reading, clear)][:MOST]
    return replace(every[0], also=tuple(every[1:]))


def _without_conventions(text: str) -> str:
    """The text without what it says about ties, where an algorithm may be named that is not asked for."""
    for forms in words()["choices"]["ties"].values():
        for form in forms:
            text = pattern(form).sub(lambda match: " " * len(match[0]), text)
    return text


def _named(entry: dict[str, Any], text: str) -> bool:
    if "not" in entry and pattern(entry["not"]).search(text):
        return False
    return all(pattern(cue).search(text) for cue in entry["cues"])


def _place(kind: str, text: str) -> int:
    """Where the kind is named first."""
    match = pattern(words()["kinds"][kind]["cues"][0]).search(text)
    return match.start() if match else len(text)


def _values(kind: Kind[Any], text: str, original: str) -> dict[str, str] | None:
    """What the text gives, or None where it has too little for an exercise of this kind."""
    entry = words()["kinds"][kind.name]
    values: dict[str, str] = {}
    held = matrices(text) if "allocation" in kind.parameters.model_fields else {}
    for field, info in kind.parameters.model_fields.items():
        if field == "ask":
            continue
        literal = bool(get_args(info.annotation)) and all(isinstance(each, str) for each in get_args(info.annotation))
        if literal or is_rule(info):
            value = choice_of(field, kind.name, text)
        elif field in _MATRICES or (field == "request" and kind.name == "deadlock_detection"):
            value = held.get(field)
        else:
            value = shaped(field, kind.name, text, original)
        if value not in (None, ""):
            values[field] = str(value)
    _complete(kind.name, values, text)
    evidence = entry["evidence"]
    enough = any(field in values for field in evidence) and all(field in values for field in entry.get("all", ()))
    enough = enough and ("any" not in entry or any(field in values for field in entry["any"]))
    if "jobs" in entry.get("without", ()) and shaped("jobs", "rr", text, original):
        return None
    return values if enough else None


def _complete(kind: str, values: dict[str, str], text: str) -> None:
    """What one statement says about another field: an offset's bits about the page, 0 to 199 about the cylinders."""
    fields = KINDS[kind].parameters.model_fields
    if kind == "inode" and "direct" in values:  # the question lists the pointers that there are
        named = {"single": "singl|一级|1级|一次", "double": "doubl|二级|2级|两级|二次", "triple": "tripl|三级|3级|三次"}
        for field, form in named.items():
            values.setdefault(field, "1" if re.search(form, text, re.I) else "0")
    same = kind == "minimum_units" and values.get("units") == values.get("each")
    if same and len(re.findall(rf"(?<!\d){values.get('units')}(?!\d)", text)) == 1:
        values.pop("units", None)
    if kind == "banker_request":
        values |= asking(text)
    if "process" in fields and kind != "banker_request":
        match = re.search(
            r"(?:process|job|进程|作业|task|of|does|will)\s+([A-Z]\w?\d*)(?!\w)|([A-Z]\d+)\s*(?:的|何时|什么)", text
        )
        if match:
            values["process"] = match[1] or match[2]
    if "cylinders" in fields and (highest := value_of("highest", kind, text)):
        values.setdefault("cylinders", highest)
    if kind == "translate" and (size := page_size_by_offset(text)):
        values.setdefault("page_size", size)
    if kind == "page_table" and "address_bits" not in values and (space := value_of("space", kind, text)):
        bytes_ = int(float(space.rstrip("KMGT"))) << 10 * ("KMGT".find(space[-1]) + 1)
        values["address_bits"] = str(bytes_.bit_length() - 1)
    if kind == "amdahl" and "serial" not in values and (parallel := value_of("parallel", kind, text)):
        values["serial"] = f"{1 - float(parallel):.12g}"
    if kind == "access_time" and "tlb_ratio" not in values and (miss := value_of("tlb_miss", kind, text)):
        values["tlb_ratio"] = f"{1 - float(miss):.12g}"
    for field in ("refs", "requests"):  # the number where the head stands is no request
        if field == "requests" and field in values and "start" in values:
            parts = values[field].split(",")
            if len(parts) > 3 and parts[0] == values["start"] and values["start"] not in parts[1:]:
                values[field] = ",".join(parts[1:]) if re.search(rf"{parts[0]}\s*[.。;；]", text) else values[field]
    if fields.keys() & {"jobs", "programs"} and "process" in values:
        names = [row.split()[0] for row in values.get("jobs", values.get("programs", "")).split("; ") if row]
        if values["process"] not in names:
            del values["process"]


def _by_ask(reading: Reading, text: str) -> Iterator[Reading]:
    """One reading for each figure that is asked for, as they stand in the text; without any, the reading itself."""
    asks = _asks(reading.kind, text)
    if not asks:
        yield reading
    of_one = {"completion", "turnaround", "waiting", "response"}
    for ask in asks:
        values = {
            name: value
            for name, value in reading.values.items()
            if name != "process" or ask in of_one or reading.kind.topic == "deadlock"
        }
        yield replace(reading, values=values | {"ask": ask})


def _asks(kind: Kind[Any], text: str) -> list[str]:
    if "ask" not in kind.parameters.model_fields:
        return []
    known = get_args(kind.parameters.model_fields["ask"].annotation)
    sentences = [each for each in re.split(r"(?<=[?？。])|(?<=\.)\s+|\n\s*\n", text) if each and each.strip()]
    asking_ones = [each for each in sentences if re.search(r"[?？]", each)] or [
        each for each in sentences if _ASKING.search(each)
    ]
    for part in ("\n".join(asking_ones), text):
        spots: list[tuple[int, int, str]] = []
        for ask in known:
            forms = words()["asks"].get(f"{kind.name}.{ask}") or words()["asks"].get(ask, [])
            matches = [match for form in forms if (match := pattern(form).search(part))]
            spots += [(match.start(), match.end(), ask) for match in matches]
        spots.sort(key=lambda spot: (spot[0], -spot[1]))
        kept: list[tuple[int, int, str]] = []
        for spot in spots:
            inside = [each for each in kept if spot[0] < each[1]]
            if not inside:
                kept.append(spot)
            elif inside[-1] is kept[-1] and spot[1] - spot[0] > kept[-1][1] - kept[-1][0]:
                kept[-1] = spot
        if kept:
            return list(dict.fromkeys(ask for _, _, ask in kept))
    return []
