"""Every action as a named endpoint and an MCP tool (U6). Their docstrings are what a tool user reads."""

import time
from collections.abc import Iterator
from typing import Any, cast

import gradio as gr

from osrag.answer.events import Done, Waiting
from osrag.app.info import info as describe
from osrag.app.parts import Parts
from osrag.app.plain import event_json
from osrag.app.run import Request, answer
from osrag.types import Source
from osrag.ui.chat import MODEL
from osrag.ui.endpoints import Endpoints, Reply, admit, effort_of
from osrag.ui.state import Conversation, RateLimit


def add_endpoints(parts: Parts, state: gr.State, limit: RateLimit) -> None:
    """Add the endpoints to the Blocks that is being built. `state` is the visitor's conversation."""
    Endpoints(parts, limit).add()
    _add_stateful(parts, state, limit)


def _add_stateful(parts: Parts, state: gr.State, limit: RateLimit) -> None:
    """Endpoints that know the visitor: hidden components carry their arguments."""

    def chat(
        question: str, effort: str, source: str, kept: Conversation, request: gr.Request
    ) -> Iterator[tuple[Reply, Conversation]]:
        """Ask inside a conversation; a follow-up may say "it". Streams the events of the run.

        Args:
            question: the question, in Chinese or English, or an error log
            effort: "fast" or "deep"
            source: "textbook", "kernel" or "both"
        """
        admit(limit, request)
        start = time.perf_counter()
        run = Request(
            question,
            source=_source(source),
            effort=effort_of(effort),
            threshold=kept.threshold,
            history=kept.turns,
        )
        for event in answer(parts, run):
            if isinstance(event, Waiting):
                continue
            if isinstance(event, Done):
                kept = kept.with_turn(question, event.text)
            yield event_json(event, time.perf_counter() - start), kept

    def set_threshold(threshold: float, kept: Conversation) -> tuple[Reply, Conversation]:
        """Set the similarity (0 to 1) below which passages are not used, for this visitor.

        Args:
            threshold: 0 sets no limit
        """
        if not 0 <= threshold <= 1:
            raise gr.Error(f"the threshold must lie between 0 and 1, got {threshold}")
        return {"threshold": threshold}, Conversation(kept.turns, threshold)

    def clear(kept: Conversation) -> tuple[Reply, Conversation]:
        """Forget this visitor's conversation."""
        return {"cleared": kept.messages}, Conversation(threshold=kept.threshold)

    def info(kept: Conversation) -> Reply:
        """Collections and sizes, models, profile, threshold, messages in this conversation."""
        threshold = parts.settings.threshold if kept.threshold is None else kept.threshold
        notices = {"zh": parts.status("zh"), "en": parts.status("en")}
        now = {"running": parts.running(), "notices": notices, "threshold": threshold, "messages": kept.messages}
        return {**describe(parts.settings, parts.index_dir), **now}

    question = gr.Textbox(visible=False)
    effort = gr.Textbox("fast", visible=False)
    source = gr.Textbox("textbook", visible=False)
    threshold = gr.Number(visible=False)
    reply = gr.JSON(visible=False)
    limits: dict[str, Any] = {"concurrency_id": MODEL, "concurrency_limit": parts.settings.slots}
    gr.Button(visible=False).click(chat, [question, effort, source, state], [reply, state], api_name="chat", **limits)
    gr.Button(visible=False).click(set_threshold, [threshold, state], [reply, state], api_name="set_threshold")
    gr.Button(visible=False).click(clear, state, [reply, state], api_name="clear")
    gr.Button(visible=False).click(info, state, reply, api_name="info")


def _source(name: str) -> Source:
    if name not in ("textbook", "kernel", "both"):
        raise gr.Error(f'source must be "textbook", "kernel" or "both", got {name!r}')
    return cast("Source", name)
