"""A model's reply as a pydantic value: constrained where the backend can, read leniently where not."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from osrag.errors import ModelFailed
from osrag.models.protocols import ChatModel, ChatOptions, Message, complete
from osrag.text import clip

log = logging.getLogger(__name__)
R = TypeVar("R", bound=BaseModel)


class UnreadableReply(ModelFailed):
    """The model answered, but nothing in it fits the schema."""


def ask(model: ChatModel, messages: Sequence[Message], reply: type[R], options: ChatOptions) -> R:
    """One `reply` from `model`. Raises UnreadableReply, or ModelFailed when the model dies."""
    if model.abilities.constrained:
        options = replace(options, schema=schema_of(reply))
    return read(complete(model, messages, options), reply)


def schema_of(reply: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of `reply` with every field required: a small model leaves out what it may."""
    schema = reply.model_json_schema()
    for part in (schema, *schema.get("$defs", {}).values()):
        if "properties" in part:
            part["required"] = list(part["properties"])
    return schema


def read(text: str, reply: type[R]) -> R:
    """The first JSON object in `text` as `reply`; prose around it, fences and a cut end are forgiven."""
    import json_repair

    start = text.find("{")
    if start < 0:
        raise UnreadableReply(f"the model answered without JSON: {clip(text, 120)!r}")
    value = json_repair.loads(text[start:])
    if isinstance(value, list):  # several objects: the first is the answer
        value = next((item for item in value if isinstance(item, dict)), None)
    try:
        return reply.model_validate(value)
    except ValidationError as error:
        log.info("unreadable reply: %s", clip(text, 200))
        first = error.errors()[0]
        raise UnreadableReply(
            f"the model's JSON does not fit: {'.'.join(map(str, first['loc']))} {first['msg']}"
        ) from error
