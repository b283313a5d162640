"""A model that calls tools: what it is told of them, and the calls in its reply.

As with the chances of `structured.py`, a reply stays a stream of pieces: where the model calls tools, the last piece is
`MARK` and the JSON list of the calls. Some models write a call into their text instead; `turn` finds it there.
"""

import json
import logging
import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from osrag.models.discreet import MARK, discreet, without_instructions
from osrag.models.protocols import ChatModel, ChatOptions, Message, ToolCall, ToolSpec

log = logging.getLogger(__name__)
MOST_CALLS = 16  # of one reply that are read
MOST_CHARS = 20_000  # of the arguments of one call
_WRITTEN = re.compile(r"\s*(?:```(?:json)?\s*|<tool_call>\s*)?\{")  # how a call begins that is written as text


class _Written(BaseModel):
    """A call that a model wrote into its text, as the templates of Qwen and Llama have it."""

    name: str
    arguments: dict[str, Any]


def tool_json(tool: ToolSpec) -> dict[str, Any]:
    """A tool as the OpenAI protocol has it."""
    function = {"name": tool.name, "description": tool.about, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


class Calls:
    """Puts the calls of a streamed reply together: each comes in parts that have a place in common."""

    def __init__(self) -> None:
        self._parts: dict[int, dict[str, str]] = {}

    def add(self, deltas: Iterable[Mapping[str, Any]]) -> None:
        """The `tool_calls` of one event."""
        for delta in deltas:
            place = int(delta.get("index") or 0)
            if place not in self._parts and len(self._parts) == MOST_CALLS:
                continue
            part = self._parts.setdefault(place, {"id": f"call_{place}", "name": "", "arguments": ""})
            function = delta.get("function") or {}
            part["id"] = str(delta.get("id") or part["id"])
            part["name"] += str(function.get("name") or "")
            said = function.get("arguments") or ""  # some servers send an object
            part["arguments"] += said if isinstance(said, str) else json.dumps(said)
            part["arguments"] = part["arguments"][:MOST_CHARS]

    def text(self) -> str:
        """The last piece of the reply; "" where nothing was called."""
        return MARK + json.dumps([self._parts[place] for place in sorted(self._parts)]) if self._parts else ""


def turn(
    model: ChatModel, messages: Sequence[Message], options: ChatOptions
) -> Generator[str, None, tuple[ToolCall, ...]]:
    """The pieces of one reply to show; returns the calls it ends in. Neither recites the instructions.

    A piece that may begin a written call is held back until it is decided.
    """
    held, shown = "", False
    calls: tuple[ToolCall, ...] = ()
    for piece in discreet(model.stream(messages, options), messages):
        if piece.startswith(MARK):
            made = TypeAdapter(tuple[ToolCall, ...]).validate_json(piece[len(MARK) :])
            calls = tuple(
                ToolCall(
                    call.id, without_instructions(call.name, messages), without_instructions(call.arguments, messages)
                )
                for call in made
            )
        elif shown:
            yield piece
        else:
            held += piece
            shown = bool(held.strip()) and not _may_be_call(held)
            yield held if shown else ""
    if shown or calls:
        return calls
    written = _written(held)
    if not written:
        yield held
    return written


def _may_be_call(text: str) -> bool:
    start = text.strip()
    return bool(_WRITTEN.match(text)) or any(sign.startswith(start) for sign in ("<tool_call>", "```json"))


def _written(text: str) -> tuple[ToolCall, ...]:
    """The call that a text is; none where it is anything else."""
    import json_repair

    if not _WRITTEN.match(text):
        return ()
    # A template that doubles its braces teaches some models to do so too.
    inside = text[text.find("{") :].replace("{{", "{", 1) if "{{" in text[:40] else text[text.find("{") :]
    try:
        found = _Written.model_validate(json_repair.loads(inside.partition("</tool_call>")[0]))
    except ValidationError:
        return ()
    return (ToolCall("call_0", found.name, json.dumps(found.arguments, ensure_ascii=False)),)
