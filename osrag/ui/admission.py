"""Who may ask now: so many questions a minute, and a waiting line of its own for each kind of work."""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import gradio as gr
from fastapi import HTTPException
from gradio.context import LocalContext

from osrag.models.protocols import ChatModel
from osrag.types import Language
from osrag.wording import say

# The lines, as Gradio's concurrency ids: who waits for an answer shuts out no grading, and neither of them a search.
MODEL, QUIZ, SEARCH, LAB = "model", "quiz", "search", "lab"
# Gradings and answers at once, for each reply of the model: a verdict of the key does not wait behind explanations,
# which have a line of their own at the model, and a prepared answer not behind composed ones, which let it go first at
# the encoder. All lines together have fewer places than Gradio has threads.
QUIZ_AT_ONCE, ANSWERS_AT_ONCE = 4, 3
MINUTE_S = 60.0
ADDRESS = "x-osrag-address"  # the header in which a request carries a token and the address of its visitor
TOO_MANY_REQUESTS = 429  # Gradio's page shows the sentence of this status; of a 503 it shows words of its own


@dataclass(slots=True)
class RateLimit:
    """At most `per_minute` requests of one visitor in any minute, and of one address as of `visitors` visitors.

    A session is a name that the client chooses, so it alone would limit nobody; an address alone would shut out a
    campus that shares one. Safe from several threads. The clock is one that nobody sets (the library `limits` reads
    the time of day: where that is put back, visitors are shut out for as long).
    """

    per_minute: int
    visitors: int = 1
    refused: Callable[[], None] = lambda: None  # called for each refusal
    _admitted: dict[tuple[str, str], deque[float]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def wait_s(self, session: str, address: str) -> float:
        """Seconds this visitor has to wait; 0 admits the request and counts it."""
        most = {("session", session or address): self.per_minute, ("address", address): self.per_minute * self.visitors}
        with self._lock:
            now = time.monotonic()
            for key in [key for key, times in self._admitted.items() if now - times[-1] > MINUTE_S]:
                del self._admitted[key]
            for key, limit in most.items():
                times = self._admitted.get(key, deque())
                if len(times) == limit and now - times[0] < MINUTE_S:
                    self.refused()
                    return MINUTE_S - (now - times[0])
            for key, limit in most.items():
                self._admitted.setdefault(key, deque(maxlen=limit)).append(now)
            return 0.0

    def wait_of(self, request: gr.Request) -> float:
        """Seconds that the visitor behind a request has to wait; 0 admits the request and counts it."""
        return self.wait_s(session_of(request), address_of(request))

    def sentence(self, wait_s: float, language: Language) -> str:
        """How long a visitor has to wait."""
        return say("too_often", language, limit=self.per_minute, seconds=max(1, round(wait_s)))

    def refusal(self, request: gr.Request, language: Language) -> str:
        """How long the visitor behind a request has to wait, as a sentence; "" admits the request and counts it."""
        wait = self.wait_of(request)
        return self.sentence(wait, language) if wait else ""


def answers_at_once(slots: int, chat: ChatModel | None) -> int:
    """How many answers are made at once: those that a large model writes are as many as its places."""
    return slots if chat is not None and chat.abilities.chain else ANSWERS_AT_ONCE * slots


def over_mcp(request: gr.Request) -> bool:
    """Whether an MCP client asks."""
    return bool(request.headers.get("x-gradio-user") == "mcp")


def session_of(request: gr.Request) -> str:
    """The session that a client keeps; "" where it has none.

    Gradio puts all MCP clients into one session of its own. To a plain call it gives a new one, named as the call.
    """
    session = request.session_hash or ""
    return "" if over_mcp(request) or session == LocalContext.event_id.get(None) else session


def gone() -> bool:
    """Whether the client that the running call is for has hung up.

    Gradio notices that when a call yields; one that has nothing to say for a while, or says all at once, asks here.
    """
    page, event_id = LocalContext.blocks.get(None), LocalContext.event_id.get(None)
    if page is None or event_id is None:
        return False
    jobs = [job for jobs in page._queue.active_jobs for job in jobs or ()]
    return any(job._id == event_id and not job.alive for job in jobs)


def address_of(request: gr.Request) -> str:
    """The address behind a request, as osrag/ui/guard.py found it; that of the connection where it does not run."""
    signed = str(request.headers.get(ADDRESS, "")).partition(" ")[2]
    return signed or (request.client.host if request.client else "")


def first_language(headers: Mapping[str, str]) -> Language:
    """The language that a browser prefers."""
    return "zh" if headers.get("accept-language", "zh").lower().startswith("zh") else "en"


def line_up(page: gr.Blocks, most: int, refused: Callable[[], None]) -> None:
    """Let at most `most` requests wait in each line of a page; one more is refused with a sentence.

    Gradio counts all lines together, and tells a visitor "Queue is full" in English. `refused` is called for each
    that is turned away. Call it after `page.queue`.
    """
    queue = page._queue
    push = queue.push

    async def push_in_line(body: Any, request: Any, username: str | None) -> Any:
        fn = page.fns.get(body.fn_index)
        line = queue.event_queue_per_concurrency_id.get(fn.concurrency_id) if fn else None
        if line is not None and len(line.queue) >= most:
            refused()
            sentence = say("queue_full", first_language(request.headers), waiting=len(line.queue))
            raise HTTPException(TOO_MANY_REQUESTS, sentence)
        return await push(body=body, request=request, username=username)

    queue.push = push_in_line
