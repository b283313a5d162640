"""A model's reply as a value: a pydantic object, or how likely each of a few words is.

An object is constrained where the backend can, and read leniently where not. A choice among a few words is a
judgement in one token that tells how sure it is: a generated "yes" hides whether "no" was as likely. The chances
before the choice tell (as in Kadavath et al., arXiv 2207.05221), and cost one token instead of a reply. A backend
with `abilities.weighs` answers `options.choices` with one piece, the JSON list of their chances; elsewhere the model
says one of the words.
"""

import json
import logging
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError

from osrag.errors import ModelFailed
from osrag.models.discreet import without_instructions
from osrag.models.protocols import ChatModel, ChatOptions, Message, complete

log = logging.getLogger(__name__)
R = TypeVar("R", bound=BaseModel)
_WORD = re.compile(r"[A-Za-z0-9]+|[\u4e00-\u9fff]")  # the first word, or the first Chinese character
TOP = 20  # tokens whose chances are asked for; servers give no more


class UnreadableReply(ModelFailed):
    """The model answered, but nothing in it fits the schema."""


def ask(model: ChatModel, messages: Sequence[Message], reply: type[R], options: ChatOptions) -> R:
    """One `reply` from `model`. Raises UnreadableReply, or ModelFailed when the model dies."""
    if model.abilities.constrained:
        options = replace(options, schema=schema_of(reply))
    return read(without_instructions(complete(model, messages, options), messages), reply)


def schema_of(reply: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of `reply` with every field required: a small model leaves out what it may."""
    schema = reply.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part["required"] = list(part["properties"])
    return schema


def read(text: str, reply: type[R]) -> R:
    """The first JSON object in `text` as `reply`; prose around it, fences and a cut end are forgiven.

    Raises UnreadableReply, which names the field and repeats nothing of the text: it is about somebody's answer, and
    errors are logged. A reply that streams is read anew with every piece, so this logs nothing itself.
    """
    import json_repair

    start = text.find("{")
    if start < 0:
        raise UnreadableReply(f"the model answered {len(text)} characters without JSON")
    value = json_repair.loads(text[start:])
    if isinstance(value, list):  # several objects: the first is the answer
        value = next((item for item in value if isinstance(item, dict)), None)
    try:
        return reply.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        raise UnreadableReply(
            f"the model's JSON does not fit: {'.'.join(map(str, first['loc']))} {first['msg']}"
        ) from error


# -- the chances of a few words ------------------------------------------------------------------------


def weigh(
    model: ChatModel, messages: Sequence[Message], choices: Sequence[str], options: ChatOptions
) -> tuple[float, ...]:
    """(choices,) chances that sum to 1. Raises UnreadableReply, or ModelFailed when the model dies."""
    if model.abilities.weighs:
        asked = replace(options, choices=tuple(choices), temperature=0.0, max_tokens=1, schema=None)
        chances = _read(complete(model, messages, asked), len(choices))
        if chances is not None:
            return chances
    return _said(model, messages, choices, options)


def spread(top: Iterable[tuple[str, float]], choices: Sequence[str]) -> str:
    """The JSON list of the choices' chances from the likeliest tokens; "[]" when none begins a choice."""
    found = [0.0] * len(choices)
    for token, chance in top:
        word = token.strip().casefold()
        fits = [n for n, choice in enumerate(choices) if word and choice.casefold().startswith(word)]
        if len(fits) == 1:
            found[fits[0]] += chance
    total = sum(found)
    return json.dumps([round(value / total, 5) for value in found] if total > 0 else [])


def _read(text: str, count: int) -> tuple[float, ...] | None:
    """The list of `count` chances that a backend sent as JSON, None where it sent anything else."""
    try:
        chances = TypeAdapter(tuple[float, ...]).validate_json(text)
    except ValidationError:
        chances = ()
    if len(chances) != count:
        log.info("no chances for the choices; the model is asked to say one")
        return None
    return chances


def _said(
    model: ChatModel, messages: Sequence[Message], choices: Sequence[str], options: ChatOptions
) -> tuple[float, ...]:
    """All or nothing, from the word that the model says."""
    schema = {"enum": list(choices)} if model.abilities.constrained else None
    text = complete(model, messages, replace(options, temperature=0.0, max_tokens=8, schema=schema, choices=()))
    found = _WORD.search(text)
    word = found.group().casefold() if found else ""
    fits = [n for n, choice in enumerate(choices) if word == choice.casefold()]
    if len(fits) != 1:
        raise UnreadableReply(f"the model answered {len(text)} characters, not one of {', '.join(choices)}")
    return tuple(float(n == fits[0]) for n in range(len(choices)))
