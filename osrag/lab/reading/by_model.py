"""What the grammar leaves in doubt, read once more by a language model from the three nearest exercises of its kind.

The model copies better than it understands: it finds a value where no name stands beside it and takes another figure
for the one that is asked. So its reading is laid over that of the grammar field by field. A value counts only where
its field reads it, where its numbers stand in the text, and where it fills what is missing or uses numbers that nothing
else does. What was read is shown like the rest, to be checked.
"""

import functools
import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from pydantic import BaseModel, create_model

from osrag.lab.kind import Kind
from osrag.lab.reading import ascii as re
from osrag.lab.reading.likely import likely
from osrag.lab.reading.plain import plain
from osrag.lab.reading.reader import Reading, is_choice, unused
from osrag.lab.solve import label, solve
from osrag.lab.words import FOLDER
from osrag.models.protocols import ChatModel, ChatOptions, Encoder, Message, Vectors
from osrag.models.structured import UnreadableReply, ask
from osrag.prompts import render

log = logging.getLogger(__name__)
PATH = FOLDER.parent / "lab_examples.jsonl"  # the development questions, written by bench/fit_lab_reading.py
NEAREST = 3  # examples: each costs some two seconds of reading on two cores
LONGEST = 600  # characters of an example
MOST = 1_500  # characters of a text: the model reads some 40 a second on two cores, and must begin within a minute
PROGRAMS = frozenset({"program", "programs", "concurrent", "writes"})  # fields that the grammar copies better
_NUMBER = re.compile(r"(?<![A-Za-z\d.])(?:0x[0-9A-Fa-f]+|\d+(?:\.\d+)?)")
_OPTIONS = ChatOptions(max_tokens=400, temperature=0.0, purpose="lab")  # the longest is a table of twelve processes


class Example(BaseModel, frozen=True, extra="forbid"):
    """A line of `data/lab_examples.jsonl`: a plain text, and what it is to be read as."""

    type: str
    text: str
    parameters: dict[str, str]


def doubtful(reading: Reading) -> bool:
    """Whether the model may find more: it cannot be computed, or numbers of the text are left over."""
    left = reading.solved().answer is None or bool(reading.unused)
    return left and not PROGRAMS & reading.kind.parameters.model_fields.keys()


def reread(reading: Reading, text: str, model: ChatModel | None, encoder: Encoder) -> Reading:
    """The reading with what the model makes of `text`; as it is without a model or where nothing is in doubt.

    Raises ModelFailed when the model dies; a reply that cannot be read changes nothing.
    """
    examples = _examples().get(reading.kind.name, ())
    if model is None or not examples or not doubtful(reading):
        return reading
    clear = plain(text)
    if len(clear) > MOST:
        return reading
    fields = [name for name in reading.kind.parameters.model_fields if any(name in one.parameters for one in examples)]
    try:
        messages = _messages(reading.kind, fields, _nearest(reading.kind.name, clear, encoder), clear)
        reply = ask(model, messages, _schema(reading.kind, fields), _OPTIONS)
    except UnreadableReply as error:
        log.info("nothing read by the model: %s", error)
        return reading
    said = {name: _as_in(clear, plain(value)) for name, value in reply.model_dump().items() if value}
    asks = [each["ask"] for each in (reading.values, said) if "ask" in each]
    if len(asks) > 1 and asks[1] == _asked_by_wording(reading.kind, clear, encoder):
        asks.reverse()  # two against one
    starts = [reading.values | {"ask": one} for one in asks] or [reading.values]
    able = {name: value for name, value in said.items() if name not in _closed(reading.kind)}
    laid = [_laid_over(reading.kind, start, able, clear) for start in starts]
    laid += [whole for start in starts if _each_once(clear, whole := start | able)]
    values = max(laid, key=lambda found: _fit(reading.kind, found, clear))  # of equals the first
    if values == reading.values:
        return reading
    found = {name: values[name] for name in values.keys() - reading.values.keys()}
    others = [replace(one, values=found | one.values) for one in (replace(reading, also=()), *reading.also)]
    return Reading(reading.kind, values, tuple(one for one in others if one.values != values), unused(clear, values))


def _asked_by_wording(kind: Kind[Any], text: str, encoder: Encoder) -> str:
    """The likeliest figure; "" where the wording tells none."""
    chances = likely(text, encoder)
    return chances.ranked(_closed(kind)["ask"])[0][0] if chances is not None else ""


def _laid_over(kind: Kind[Any], values: dict[str, str], said: Mapping[str, str], text: str) -> dict[str, str]:
    """The values with those of `said`, one by one, that fit better."""
    for _ in said:
        for name, value in said.items():
            new = values | {name: value}
            taken = _numbers(" ".join(other for one, other in values.items() if one != name))
            wrong = any(fault.field == name for fault in solve(kind, new).faults)
            if wrong or not _numbers(value) <= _numbers(text) - taken:
                continue
            names = name not in values and not _numbers(value)  # of which the text may have more than the grammar saw
            if names or _fit(kind, new, text) > _fit(kind, values, text):
                values = new
    return values


def _each_once(text: str, values: Mapping[str, str]) -> bool:
    """Whether the text has every number as often as the values."""
    return _numbers(" ".join(values.values())) <= _numbers(text)


def _fit(kind: Kind[Any], values: dict[str, str], text: str) -> tuple[int, int, int]:
    """The better, the fewer fields are wrong or missing and the fewer numbers are left over."""
    solved = Reading(kind, values).solved()
    return -len(solved.faults), -len(solved.missing), -len(unused(text, values))


@functools.cache
def _closed(kind: Kind[Any]) -> Mapping[str, tuple[str, ...]]:
    """The words that are allowed in the fields that allow only a few."""
    fields = kind.parameters.model_fields
    return {name: get_args(info.annotation) for name, info in fields.items() if is_choice(info)}


def _schema(kind: Kind[Any], fields: Sequence[str]) -> type[BaseModel]:
    closed = _closed(kind)
    types: dict[str, Any] = {name: (Literal[("", *closed[name])] if name in closed else str, "") for name in fields}
    return create_model("Read", **types)


def _messages(kind: Kind[Any], fields: Sequence[str], nearest: Sequence[Example], text: str) -> list[Message]:
    names = "\n".join(f"- {name}: {label(name, 'en')}" for name in fields)
    turns = [
        turn
        for one in nearest
        for turn in (
            Message("user", f"<exercise>\n{one.text}\n</exercise>"),
            Message(
                "assistant",
                json.dumps({name: one.parameters.get(name, "") for name in fields}, ensure_ascii=False),
            ),
        )
    ]
    return [
        Message("system", render("lab_reading", "en", fields=names)),
        *turns,
        Message("user", f"<exercise>\n{text}\n</exercise>"),
    ]


def _nearest(kind: str, text: str, encoder: Encoder) -> list[Example]:
    """The examples of a kind that are nearest in meaning, the nearest last."""
    likeness = _vectors(kind, encoder) @ encoder.queries([text])[0]  # type: ignore[arg-type] # kept by identity
    return [_examples()[kind][place] for place in np.argsort(likeness)[-NEAREST:]]


@functools.lru_cache(maxsize=64)
def _vectors(kind: str, encoder: Encoder) -> Vectors:
    """(examples, dim) of a kind, made when the first text of it is in doubt."""
    return encoder.queries([one.text for one in _examples()[kind]])


@functools.cache
def _examples() -> Mapping[str, tuple[Example, ...]]:
    """The examples by kind."""
    lines = PATH.read_text(encoding="utf-8").splitlines()
    known = [Example.model_validate_json(line) for line in lines]
    return {kind: tuple(one for one in known if one.type == kind) for kind in {one.type for one in known}}


def _as_in(text: str, value: str) -> str:
    """The value with 0x before what is a hexadecimal number in the text: models drop it."""
    known = set(re.findall(r"0x([0-9A-Fa-f]+)", text))
    return re.sub(r"(?<![\w.])[0-9A-Fa-f]+(?!\w)", lambda found: f"{'0x' * (found[0] in known)}{found[0]}", value)


def _numbers(text: str) -> Counter[float]:
    """How often each number stands there; the digit of a name such as P1 is none."""
    return Counter(float(int(n, 16) if n.startswith("0x") else float(n)) for n in _NUMBER.findall(text))
