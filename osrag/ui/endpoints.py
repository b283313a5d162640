"""Endpoints and MCP tools that know nothing of a conversation: ask, search, judge, explain (U6)."""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gradio as gr

from osrag.answer.events import CodeDone, CodeRetrieval, Failed, Retrieval, TextbookDone
from osrag.app.parts import Parts
from osrag.app.plain import search_json
from osrag.app.run import Request, answer
from osrag.errors import OsragError
from osrag.quiz.serve import explained, judged
from osrag.types import Effort
from osrag.ui.chat import MODEL
from osrag.ui.state import RateLimit
from osrag.wording import say

Reply = dict[str, Any]


class Endpoints:
    """One method an endpoint; their docstrings are what a tool user reads."""

    def __init__(self, parts: Parts, limit: RateLimit) -> None:
        self._parts = parts
        self._limit = limit

    def add(self) -> None:
        """Add all of them to the Blocks that is being built."""
        for run in (self.ask_textbook, self.ask_kernel, self.judge, self.explain):
            gr.api(run, api_name=run.__name__, concurrency_id=MODEL, concurrency_limit=self._parts.settings.slots)
        for find in (self.search_textbook, self.search_kernel):
            gr.api(find, api_name=find.__name__, concurrency_limit=4)

    def ask_textbook(self, question: str, request: gr.Request, effort: str = "fast") -> Reply:
        """Answer a question about operating systems from the course book.

        Args:
            question: the question, in Chinese or English
            effort: "fast" (one model call) or "deep" (the model also plans the search and judges passages)

        Returns:
            the answer in Markdown, with the cited passages (book, section, page) and any error
        """
        admit(self._limit, request)
        return whole(self._parts, Request(question, effort=effort_of(effort)))

    def ask_kernel(self, question: str, request: gr.Request, effort: str = "fast") -> Reply:
        """Explain Linux kernel code: quoted functions with true lines, what they do, and the order to read them in.

        A pasted error log (oops, panic, lockdep, OOM, compiler error) is analysed instead.

        Args:
            question: the question, in Chinese or English, or an error log
            effort: "fast" (one model call) or "deep" (the model also suggests names of code and judges what was found)

        Returns:
            the answer in Markdown, with the functions, their lines, links to the source and any error
        """
        admit(self._limit, request)
        return whole(self._parts, Request(question, source="kernel", effort=effort_of(effort)))

    def search_kernel(self, question: str, k: int = 10) -> Reply:
        """Find functions of the Linux kernel, best first, by file, with lines, description and code.

        Args:
            question: what to search for, in Chinese or English, or the name of a function
            k: how many functions, 1 to 30
        """
        with _sentences():
            return self._parts.kernel.search(question, k=max(1, min(30, int(k)))).to_dict()

    def search_textbook(self, question: str, k: int = 8) -> Reply:
        """Find passages of the course book, best first, with book, section, page and score.

        Args:
            question: what to search for, in Chinese or English
            k: how many passages, 1 to 20
        """
        with _sentences():
            return search_json(self._parts.textbook.search(question, k=max(1, min(20, int(k)))))

    def judge(self, question: dict[str, Any], student_answer: str, request: gr.Request) -> Reply:
        """Judge a student's answer to an exercise: verdict, confidence, reasons, points and the pages behind them.

        Args:
            question: an object with question, type, options, answer (the key), reference and rubric; all but
                the question itself may be left out
            student_answer: what the student answered, such as "AC", "对" or a text
        """
        admit(self._limit, request)
        with _sentences():
            return deque(judged(self._parts.judge, question, student_answer), maxlen=1).pop()

    def explain(self, question: dict[str, Any], request: gr.Request, student_answer: str = "") -> Reply:
        """Explain an exercise: why the right answer is right, each option, the student's mistake, what to read.

        Args:
            question: an object as for judge
            student_answer: what the student answered, if anything
        """
        admit(self._limit, request)
        with _sentences():
            return explained(self._parts.judge, question, student_answer)


@contextmanager
def _sentences() -> Iterator[None]:
    """What went wrong reaches the caller as a sentence."""
    try:
        yield
    except OsragError as error:
        raise gr.Error(error.sentence()) from error


def admit(limit: RateLimit, request: gr.Request) -> None:
    """Count a call of this visitor; raises gr.Error with the seconds to wait when there were too many."""
    client = request.client.host if request.client else ""
    wait = limit.wait_s(request.session_hash or client)
    if wait:
        raise gr.Error(say("too_often", "en", limit=limit.per_minute, seconds=round(wait)))


def effort_of(name: str) -> Effort:
    if name not in ("fast", "deep"):
        raise gr.Error(f'effort must be "fast" or "deep", got {name!r}')
    return "deep" if name == "deep" else "fast"


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
