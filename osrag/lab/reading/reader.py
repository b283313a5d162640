"""From a question in words to the kind of exercise and its parameters, by the words of `data/lab_reading.toml`.

A reading holds only what the text states. Of the kinds whose words stand in the text, and of those that it is likely to
be by its wording (`likely.py`), the one that is likeliest, can be computed and leaves the fewest numbers of the text
unexplained is read. A text in which no kind has both its words and its numbers is no exercise.
"""

import functools
import math
from dataclasses import dataclass, replace
from typing import Any, get_args

from pydantic.fields import FieldInfo

from osrag.lab.addresses import BITS
from osrag.lab.catalog import KINDS
from osrag.lab.fields import size
from osrag.lab.kind import Kind
from osrag.lab.reading import ascii as re
from osrag.lab.reading.asks import asked, asking_sentences
from osrag.lab.reading.cues import choice_of, claims, pattern, shared_out, words
from osrag.lab.reading.likely import NONE, Likely, likely
from osrag.lab.reading.matrices import asking, matrices
from osrag.lab.reading.plain import plain
from osrag.lab.reading.shapes import SHAPES, shaped
from osrag.lab.reading.tables import NAME, single_values, vectors
from osrag.lab.solve import Solved, is_rule, is_whole, solve
from osrag.models.protocols import Encoder

LONGEST = 8_000  # characters of a question
_NO_NUMBER = re.compile(r"\d{1000,}")  # a bitmap has hundreds of digits; Python reads none of more than 4,300
ENOUGH = 4  # different numbers of a text that names a kind but in which its values are not found
MOST = 12  # readings of one text
SURE, LIKELY = 0.8, 0.4  # chances of a kind or a figure by its wording
POSSIBLE = 0.1  # chance of a figure that is computed where the one that is named cannot be
NO_EXERCISE = 0.97  # chance of a text that is none by its wording, whatever it names; it is so of .003 of exercises
LEAST_CHANCE = 0.03  # what a wording that was never met may still be
_MATRICES = {"allocation", "maximum", "need", "available", "total", "names"}
_OF_ONE = {"completion", "turnaround", "waiting", "response"}  # asks about one process


@dataclass(frozen=True, slots=True)
class Reading:
    """A kind and what the text gives of its parameters; `also` are the other algorithms or figures that it asks for."""

    kind: Kind[Any]
    values: dict[str, str]
    also: tuple["Reading", ...] = ()
    unused: tuple[str, ...] = ()  # numbers of the text that play no part in it

    def solved(self) -> Solved:
        """The exercise computed; a field that the kind would assume and the text must state counts as missing."""
        found = _solved(self.kind.name, tuple(self.values.items()))
        entry = words()["kinds"][self.kind.name]
        of_figure = entry.get("needs_for", {}).get(getattr(found.parameters, "ask", ""), ())
        needed = dict.fromkeys((*entry.get("needs", ()), *of_figure, *entry.get("all", ())))
        absent = tuple(field for field in needed if field not in self.values and field not in found.missing)
        if not absent:
            return found
        return replace(found, missing=(*found.missing, *absent), parameters=None, solution=None)


@functools.lru_cache(maxsize=64)
def _solved(kind: str, values: tuple[tuple[str, str], ...]) -> Solved:
    """Computed once: the kinds that a text may be are compared by what they give."""
    return solve(KINDS[kind], dict(values))


def read(text: str, encoder: Encoder | None = None) -> Reading | None:
    """The exercise that `text` asks for; None where it is none. Without the encoder its words alone tell the kind."""
    text = _NO_NUMBER.sub("", text[:LONGEST])
    clear = plain(text)
    cues = _without_conventions(clear)
    if any(pattern(form, wide=True).search(cues) for form in words()["unknown"]["words"]):
        return None
    chances = likely(clear, encoder) if encoder is not None else None
    if chances is not None and chances.kinds[NONE] > NO_EXERCISE:
        return None
    named = [kind for kind in KINDS.values() if _named(words()["kinds"][kind.name], cues)]
    read_ = [(enough, reading) for kind in _candidates(named, chances, cues)
             for enough, reading in [_reading(kind, clear, text, chances)]]  # fmt: skip
    found = [reading for enough, reading in read_ if enough]
    if not found and chances is not None:  # what it leaves out is asked for
        likely_ = [reading for _, reading in read_ if chances.kinds[reading.kind.name] >= LIKELY]
        found = [reading for reading in likely_ if reading.values.keys() - {"ask"}]
    if not found and looks_like_one(text):
        found = [reading for _, reading in read_ if reading.values]
    if not found:
        return None
    best = max(found, key=lambda reading: _fit(reading, chances) - (reading.kind not in named))
    family = _family(best.kind)
    if family:
        found = [reading for reading in found if _family(reading.kind) == family]
        asking = " ".join(asking_sentences(cues))  # what the question names comes before what the text names
        found.sort(key=lambda reading: (_place(reading.kind.name, asking), _place(reading.kind.name, cues)))
    else:
        found = [best]
    every = [each for reading in found for each in (reading, *reading.also)][:MOST]
    return replace(every[0], also=tuple(replace(each, also=()) for each in every[1:]))


def _candidates(named: list[Kind[Any]], chances: Likely | None, cues: str) -> list[Kind[Any]]:
    """The kinds that the text names, and those that its wording makes likely; of a family, those that are named."""
    if chances is None:
        return named
    families = {_family(kind) for kind in named} - {""}
    more = [
        kind
        for kind in KINDS.values()
        if kind not in named
        and chances.kinds[kind.name] >= LIKELY
        and _family(kind) not in families
        and not _ruled_out(words()["kinds"][kind.name], cues)
    ]
    by_name = [kind for kind in more if _family(kind) and _place(kind.name, cues) < len(cues)]
    return [*named, *(by_name or more)]


def _ruled_out(entry: dict[str, Any], text: str) -> bool:
    return "not" in entry and bool(pattern(entry["not"], wide=True).search(text))


def _family(kind: Kind[Any]) -> str:
    """The kinds that differ by an algorithm alone; "" where there are no such."""
    return str(words()["kinds"][kind.name].get("family", ""))


def _fit(reading: Reading, chances: Likely | None) -> float:
    """How well a reading fits: it names its figure, is computed, leaves no number over, and is likely."""
    silent = "ask" in reading.kind.parameters.model_fields and "ask" not in reading.values
    said = 0.25 * len(reading.values) - 2.0 * silent - 0.5 * len(reading.unused)
    said += 2.0 * (reading.solved().answer is not None)
    if chances is None:
        return said
    family = _family(reading.kind)
    of_one = [kind for kind in KINDS.values() if _family(kind) == family] if family else [reading.kind]
    return said + 0.7 * math.log(max(chances.kinds[kind.name] for kind in of_one) + LEAST_CHANCE)


def _reading(kind: Kind[Any], clear: str, text: str, chances: Likely | None) -> tuple[bool, Reading]:
    """What the text gives of a kind and asks for, and whether that is enough for an exercise of it."""
    enough, values = _values(kind, clear, text, chances)
    enough = enough or bool(values and chances is not None and chances.kinds[kind.name] >= SURE)
    left = unused(clear, values)
    asks = _asked(kind, clear, chances)
    if not asks and pattern(words()["unknown"]["explain"], wide=True).search(clear):
        return False, Reading(kind, {})
    every = [_of_a_sector(Reading(kind, _with_ask(kind, values, ask)), clear) for ask in asks]
    if any(each.solved().answer is not None for each in every):
        every = [each for each in every if each.solved().answer is not None]
    elif chances is not None and (others := _computed(kind, values, chances)):
        every = others
    if len(every) > 1:
        every.sort(key=lambda one: -_in_play(one))  # of several figures that which needs more of what is stated
    first = every[0] if every else Reading(kind, values)
    return enough, replace(first, also=tuple(every[1:]), unused=left)


def _asked(kind: Kind[Any], clear: str, chances: Likely | None) -> list[str]:
    """The figures that are named, and first the one that the wording surely asks for; the likeliest where none is."""
    named = asked(kind, clear)[::-1]  # what is asked last is the question, and before it stand its steps
    field = kind.parameters.model_fields.get("ask")
    if field is None or chances is None:
        return named
    best, chance = chances.ranked(get_args(field.annotation))[0]
    if chance >= (SURE if named else LIKELY) and not (named and kind.name == "file_access"):  # its figures are named
        return [best, *(ask for ask in named if ask != best)]
    return named


def _in_play(reading: Reading) -> int:
    """How many of its values a figure cannot do without."""
    rest = ({name: value for name, value in reading.values.items() if name != left_out} for left_out in reading.values)
    return sum(not is_whole(reading.kind, values) for values in rest)


def _computed(kind: Kind[Any], values: dict[str, str], chances: Likely) -> list[Reading]:
    """The likeliest figure of which the text gives all: what it leaves out it may ask for."""
    field = kind.parameters.model_fields.get("ask")
    likeliest = chances.ranked(get_args(field.annotation)) if field is not None else []
    readings = (Reading(kind, _with_ask(kind, values, ask)) for ask, chance in likeliest if chance >= POSSIBLE)
    return [reading for reading in readings if reading.solved().answer is not None][:1]


def _of_a_sector(reading: Reading, text: str) -> Reading:
    """What is read from a disk is a sector where nothing else is said; its share of a track needs no size."""
    if reading.kind.name != "disk_track_time" or "bytes_each" not in reading.solved().missing:
        return reading
    size = reading.values.get("sector_size")
    if size is None and re.search(
        r"(?:\ba|\bone|\b1|每|一个?|1个)\s*(?:sector|扇区)", " ".join(asking_sentences(text)), re.I
    ):
        size = str(reading.kind.parameters.model_fields["sector_size"].default)
    return reading if size is None else replace(reading, values=reading.values | {"bytes_each": size})


def _with_ask(kind: Kind[Any], values: dict[str, str], ask: str) -> dict[str, str]:
    """The values with what is asked for; a process only where it is asked about one."""
    of_one = ask in _OF_ONE or kind.topic == "deadlock"
    return {name: value for name, value in values.items() if name != "process" or of_one} | {"ask": ask}


def unused(text: str, values: dict[str, str]) -> tuple[str, ...]:
    """The numbers of the text that no value holds, in its own or another unit; 0 and 1 say too little."""
    held = {float(number) for value in values.values() for number in re.findall(r"\d+(?:\.\d+)?", value)}
    held |= {float(int(number, 16)) for value in values.values() for number in re.findall(r"0x[0-9A-Fa-f]+", value)}
    held |= {number / 1024**power for number in held for power in (1, 2)} | {number - 1 for number in held}
    held |= (
        {number * 100 for number in held} | {(1 - number) * 100 for number in held} | {1 - number for number in held}
    )
    return tuple(
        number for number in dict.fromkeys(_numbers(text)) if not any(abs(_number(number) - one) < 1e-9 for one in held)
    )


def _numbers(text: str) -> list[str]:
    """The numbers of the text; 0 and 1 say too little."""
    stated = re.findall(r"(?<![\w.])(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?)", text)
    return [number for number in stated if _number(number) not in {0, 1}]


def _number(text: str) -> float:
    return float(int(text, 16)) if text.startswith("0x") else float(text)


def _without_conventions(text: str) -> str:
    """The text without what it says about ties and queues, where an algorithm may be named that is not asked for."""
    for form in (
        *words()["asides"]["words"],
        *(form for forms in words()["choices"]["ties"].values() for form in forms),
    ):
        text = pattern(form).sub(lambda match: " " * len(match[0]), text)
    return text


def _named(entry: dict[str, Any], text: str) -> bool:
    return not _ruled_out(entry, text) and all(pattern(cue, wide=True).search(text) for cue in entry["cues"])


def _place(kind: str, text: str) -> int:
    """Where the kind is named first."""
    match = pattern(words()["kinds"][kind]["cues"][0]).search(text)
    return match.start() if match else len(text)


def is_choice(info: FieldInfo) -> bool:
    """Whether only a few words are allowed in the field."""
    return bool(get_args(info.annotation)) and all(isinstance(each, str) for each in get_args(info.annotation))


@functools.cache
def single_fields(kind: str) -> tuple[str, ...]:
    """The fields that are a number or a short list of them, with its name beside it."""
    return tuple(
        field
        for field, info in KINDS[kind].parameters.model_fields.items()
        if not (field == "ask" or is_choice(info) or is_rule(info) or _is_matrix(field, kind))
        and not {f"{kind}.{field}", field} & SHAPES.keys()
    )


def _is_matrix(field: str, kind: str) -> bool:
    return field in _MATRICES or (field == "request" and kind == "deadlock_detection")


def _values(kind: Kind[Any], text: str, original: str, chances: Likely | None) -> tuple[bool, dict[str, str]]:
    """Whether the text gives enough for an exercise of this kind, and what it gives."""
    entry = words()["kinds"][kind.name]
    values: dict[str, str] = {}
    held = matrices(text) if "allocation" in kind.parameters.model_fields else {}
    singles = single_fields(kind.name)
    for field, info in kind.parameters.model_fields.items():
        if field == "ask" or field in singles:
            continue
        value: str | None
        if is_choice(info) or is_rule(info):
            value = choice_of(field, kind.name, text)
        elif _is_matrix(field, kind.name):
            value = held.get(field)
        else:
            value = shaped(field, kind.name, text, original)
        if value not in (None, ""):
            values[field] = str(value)
    plainly = single_values(text)
    named = [claim for field in singles for claim in claims(field, kind.name, text, plainly)]
    fields = kind.parameters.model_fields.items()
    needed = {*entry.get("all", ()), *(field for field, info in fields if info.is_required())}
    found = shared_out(named if chances is None else chances.claims(kind.name, singles, text, named, needed))
    values = {
        name: value for name in kind.parameters.model_fields for value in [values.get(name) or found.get(name)] if value
    }
    _complete(kind.name, values, text)
    evidence = entry["evidence"]
    enough = any(field in values for field in evidence) and all(field in values for field in entry.get("all", ()))
    enough = enough and ("any" not in entry or any(field in values for field in entry["any"]))
    if "jobs" in entry.get("without", ()) and shaped("jobs", "rr", text, original):
        return False, {}
    return enough, values


def _needs(text: str) -> list[str]:
    """What each process needs, told one by one: `P1 需要 A 资源 4 个，P2 需要 5 个`."""
    return re.findall(
        rf"(?<!\w){NAME}[^,，。;；\d]{{0,12}}?(?:需要?|最多|needs?|requires?)[^,，。;；\d]{{0,12}}?(\d+)", text
    )


def _complete(kind: str, values: dict[str, str], text: str) -> None:
    """What is said in a way of its own: the request of a process, the process that is asked about."""
    fields = KINDS[kind].parameters.model_fields
    if kind == "banker_request":
        values |= asking(text, len(values.get("allocation", "").split(";")[0].split()))
    elif "process" in fields:
        rows = values.get("jobs", values.get("programs", "")).split("; ")
        names = [row.split()[0] for row in rows if row]
        sentences = " ".join(asking_sentences(text))
        for form in (rf"(?<!\w){NAME}(?!\w)", rf"(?:of|for|does|will) (?:process |job )?{NAME}(?!\w)|{NAME}(?=的|'s)"):
            told = {name[-1] for found in re.findall(form, sentences) if (name := re.findall(NAME, found))}
            told |= {
                f"P{number}"
                for number in re.findall(r"(?:process|job|task|进程|作业|任务) ?(\d{1,2})(?!\d)", sentences, re.I)
            }
            if len(told & set(names)) == 1:
                values["process"] = (told & set(names)).pop()
                break
    if kind == "inode" and re.search(r"(?:无|没有|\bno|without)[^,，。;；\d]{0,6}(?:直接|direct)", text):
        values["direct"] = "0"
    if kind == "minimum_units" and len(needs := _needs(text)) > 1:
        values["each"] = ",".join(needs)
    if kind == "fat" and "first" not in values and "links" in values:
        pairs = [pair.split("=") for pair in values["links"].split(",")]
        heads = [at for at, _ in pairs if at not in {to for _, to in pairs}]
        if len(heads) == 1:  # no other block leads to it
            values["first"] = heads[0]
    if kind == "disk_address" and (triples := [each for each in vectors(text) if len(each) == 3]):
        values |= zip(("cylinder", "head", "sector"), triples[-1], strict=True)
    if "refs" in values and "frames" not in values and "page_size" in values:
        memory = re.search(r"(?:memory|内存|主存)[^\d.。;；]{0,16}(\d+ ?[KM]?)(?:B|bytes?|字节?|words?)", text, re.I)
        whole, page = size(memory[1].replace(" ", "")) if memory else None, size(values["page_size"])
        if whole and page and whole >= page:
            values["frames"] = str(whole // page)
    if kind == "resource_graph" and "units" in values:  # those that play no part have no node
        nodes = re.findall(r"\w+", values.get("edges", ""))
        values["units"] = ",".join(each for each in values["units"].split(",") if each.split("=")[0] in nodes)
    if kind == "raid" and "read_percent" not in values:
        english = (
            r"(?:only|solely|entirely|nothing but|all(?: \w+)? (?:are|were))(?: of)?(?: (?:small|random))* (write|read)"
        )
        only = re.search(rf"{english}|(?:全部?[是为]?|都[是为]|只有)(?:小|随机|的)*([写读])", text, re.I)
        if only:
            values["read_percent"] = "100" if (only[1] or only[2]).lower() in ("read", "读") else "0"
    if kind == "access_time":
        if (
            "tlb_ratio" in values
            and "service_time" in values
            and not re.search(r"TLB|快表|associative|相联|联想", text)
        ):
            values["fault_rate"] = f"{1 - float(values.pop('tlb_ratio')):.12g}"  # the hits are those of memory
        if "fault_rate" not in values:
            values.pop("faults_among", None)
    if kind == "translate" and {"address_bits", "level_bits"} <= values.keys():
        offset = int(values["address_bits"]) - sum(map(int, values["level_bits"].split(",")))
        if 0 < offset < BITS:
            values.setdefault("page_size", str(1 << offset))
        else:
            values["address_bits"] = ""
    if kind == "page_table" and "page_size" in values and "address_bits" not in values:
        pages = re.search(r"(?:address space|地址空间)[^\d.。;；]{0,12}(\d+) ?(?:pages|页)", text, re.I)
        if pages and (whole := size(values["page_size"])):
            values["address_bits"] = str((int(pages[1]) * whole - 1).bit_length())
    if (
        kind == "file_access"
        and "file_block" not in values
        and re.search(r"beginning|开头|最前|文件头|first block|第一个?块", text)
    ):
        values["file_block"] = "0"
    elif kind == "file_access" and "file_block" in values and re.search(r"从 ?1|from 1", text):  # the lab counts from 0
        values["file_block"] = str(int(values["file_block"]) - 1)
    if "requests" in values and "start" in values:  # the number where the head stands is no request
        first, *rest = values["requests"].split(",")
        if len(rest) > 2 and first == values["start"] not in rest and re.search(rf"{first}\s*[.。;；]", text):
            values["requests"] = ",".join(rest)


def looks_like_one(text: str) -> bool:
    """Whether the text has the numbers of an exercise and asks for something."""
    clear = plain(text[:LONGEST])
    return len(set(_numbers(clear))) >= ENOUGH and bool(asking_sentences(clear))
