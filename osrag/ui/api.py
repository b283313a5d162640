"""Every action as a named endpoint and an MCP tool (U6). Their docstrings are what a tool user reads."""

import time
from collections import deque
from collections.abc import Iterator
from typing import Any, cast

import gradio as gr

from osrag.answer.events import CodeDone, CodeRetrieval, Done, Failed, Retrieval, TextbookDone, Waiting
from osrag.answer.run import Request, answer
from osrag.cli.ask import event_json
from osrag.cli.search import as_json
from osrag.errors import OsragError
from osrag.info import info as describe
from osrag.parts import Parts
from osrag.quiz.serve import explained, judged
from osrag.types import Effort, Source
from osrag.ui.chat import MODEL
from osrag.ui.state import Conversation, RateLimit
from osrag.wording import say

Reply = dict[str, Any]


def add_endpoints(parts: Parts, state: gr.State, limit: RateLimit) -> None:
    """Add the endpoints to the Blocks that is being built. `state` is the visitor's conversation."""
    _add_stateless(parts, limit)
    _add_stateful(parts, state, limit)


def _add_stateless(parts: Parts, limit: RateLimit) -> None:
    def ask_textbook(question: str, request: gr.Request, effort: str = "fast") -> Reply:
        """Answer a question about operating systems from the course book.

        Args:
            question: the question, in Chinese or English
            effort: "fast" (one model call) or "deep" (the model also plans the search and judges passages)

        Returns:
            the answer in Markdown, with the cited passages (book, section, page) and any error
        """
        admit(limit, request)
        return whole(parts, Request(question, effort=_effort(effort)))

    def ask_kernel(question: str, request: gr.Request, effort: str = "fast") -> Reply:
        """Explain Linux kernel code: quoted functions with true lines, what they do, and the order to read them in.

        A pasted error log (oops, panic, lockdep, OOM, compiler error) is analysed instead.

        Args:
            question: the question, in Chinese or English, or an error log
            effort: "fast" (one model call) or "deep" (the model also suggests names of code and judges what was found)

        Returns:
            the answer in Markdown, with the functions, their lines, links to the source and any error
        """
        admit(limit, request)
        return whole(parts, Request(question, source="kernel", effort=_effort(effort)))

    def search_kernel(question: str, k: int = 10) -> Reply:
        """Find functions of the Linux kernel, best first, by file, with lines, description and code.

        Args:
            question: what to search for, in Chinese or English, or the name of a function
            k: how many functions, 1 to 30
        """
        try:
            return parts.kernel.search(question, k=max(1, min(30, int(k)))).to_dict()
        except OsragError as error:
            raise gr.Error(error.sentence()) from error

    def search_textbook(question: str, k: int = 8) -> Reply:
        """Find passages of the course book, best first, with book, section, page and score.

        Args:
            question: what to search for, in Chinese or English
            k: how many passages, 1 to 20
        """
        try:
            return as_json(parts.textbook.search(question, k=max(1, min(20, int(k)))))
        except OsragError as error:
            raise gr.Error(error.sentence()) from error

    def judge(question: dict[str, Any], student_answer: str, request: gr.Request) -> Reply:
        """Judge a student's answer to an exercise: verdict, confidence, reasons, points and the pages behind them.

        Args:
            question: an object with question, type, options, answer (the key), reference and rubric; all but
                the question itself may be left out
            student_answer: what the student answered, such as "AC", "对" or a text
        """
        admit(limit, request)
        try:
            return deque(judged(parts.judge, question, student_answer), maxlen=1).pop()
        except OsragError as error:
            raise gr.Error(error.sentence()) from error

    def explain(question: dict[str, Any], request: gr.Request, student_answer: str = "") -> Reply:
        """Explain an exercise: why the right answer is right, each option, the student's mistake, what to read.

        Args:
            question: an object as for judge
            student_answer: what the student answered, if anything
        """
        admit(limit, request)
        try:
            return explained(parts.judge, question, student_answer)
        except OsragError as error:
            raise gr.Error(error.sentence()) from error

    gr.api(judge, api_name="judge", concurrency_id=MODEL, concurrency_limit=parts.settings.slots)
    gr.api(explain, api_name="explain", concurrency_id=MODEL, concurrency_limit=parts.settings.slots)
    gr.api(ask_textbook, api_name="ask_textbook", concurrency_id=MODEL, concurrency_limit=parts.settings.slots)
    gr.api(ask_kernel, api_name="ask_kernel", concurrency_id=MODEL, concurrency_limit=parts.settings.slots)
    gr.api(search_textbook, api_name="search_textbook", concurrency_limit=4)
    gr.api(search_kernel, api_name="search_kernel", concurrency_limit=4)


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
            effort=_effort(effort),
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


def admit(limit: RateLimit, request: gr.Request) -> None:
    """Count a call of this visitor; raises gr.Error with the seconds to wait when there were too many."""
    client = request.client.host if request.client else ""
    wait = limit.wait_s(request.session_hash or client)
    if wait:
        raise gr.Error(say("too_often", "en", limit=limit.per_minute, seconds=round(wait)))


def _effort(name: str) -> Effort:
    if name not in ("fast", "deep"):
        raise gr.Error(f'effort must be "fast" or "deep", got {name!r}')
    return "deep" if name == "deep" else "fast"


def _source(name: str) -> Source:
    if name not in ("textbook", "kernel", "both"):
        raise gr.Error(f'source must be "textbook", "kernel" or "both", got {name!r}')
    return cast("Source", name)


def whole(parts: Parts, request: Request) -> Reply:
    """A run as one object, for callers that do not stream."""
    from osrag.answer.view import passage_json

    reply: Reply = {
        "question": request.question,
        "answer": "",
        "passages": [],
        "cited": [],
        "refused": False,
        "error": "",
    }
    for event in answer(parts, request):
        match event:
            case Retrieval():
                reply["passages"] = [passage_json(passage) for passage in event.passages]
            case CodeRetrieval():
                version = event.version
                reply["passages"] = [passage_json(passage, kernel_version=version) for passage in event.passages]
                reply |= {"kernel_version": version, "calls": [list(edge) for edge in event.path.edges]}
            case TextbookDone() | CodeDone():
                reply |= {"answer": event.text, "cited": list(event.cited), "refused": event.refused}
            case Failed():
                reply["error"] = f"{event.message} {event.hint}".strip()
            case _:
                pass
    return reply
