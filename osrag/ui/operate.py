"""What an operator's machines ask of a running page: is it alive, does it take questions, how much did it do.

And how it stops: it takes no more questions, ends those that it has, and closes.
"""

import logging
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, TextIO

import gradio as gr
from fastapi import HTTPException
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from osrag.app.metrics import Metrics
from osrag.ui.admission import LAB, MODEL, QUIZ, SEARCH, TOO_MANY_REQUESTS, first_language
from osrag.ui.guard import UPLOAD
from osrag.wording import say

log = logging.getLogger(__name__)
LOOK_S = 0.1  # between two looks whether anything still runs
FLUSH_S = 1.0  # for the last words of an answer to reach its visitor


class _Log:
    """A stream that loses what it cannot write: a full disk under a log must not end the page."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """All of it, or nothing."""
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """As far as it goes."""
        with suppress(OSError):
            self._stream.flush()


def outlive_the_log() -> None:
    """From now on nothing that is printed or logged fails."""
    sys.stdout, sys.stderr = _Log(sys.stdout), _Log(sys.stderr)


class Operation:
    """One running page as its operator sees it."""

    def __init__(self, page: gr.Blocks, metrics: Metrics, *, public: bool) -> None:
        self.page = page
        self.metrics = metrics
        self.public = public  # whether /metrics answers
        self.stopping = False
        metrics.registry.register(_Lines(page))

    def reply(self, path: str) -> Response | None:
        """What a probe gets; None for any other path."""
        match path:
            case "/healthz":
                return PlainTextResponse("alive")
            case "/readyz":
                return PlainTextResponse("stopping", 503) if self.stopping else PlainTextResponse("ready")
            case "/metrics" if self.public:
                return Response(generate_latest(self.metrics.registry), media_type=CONTENT_TYPE_LATEST)
        return None

    def stop_on_sigterm(self, within_s: float) -> None:
        """From now on SIGTERM stops the page in order. Call it in the main thread."""
        signal.signal(
            signal.SIGTERM, lambda *_: threading.Thread(target=self.stop, args=(within_s,), daemon=True).start()
        )

    def stop(self, within_s: float) -> None:
        """Take no more questions, wait until those in hand are answered, at most `within_s`, and close the page."""
        if self.stopping:
            return
        self.stopping = True
        self.page._queue.push = self._refuse
        end = time.monotonic() + within_s
        while (left := self._in_hand()) and time.monotonic() < end:
            time.sleep(LOOK_S)
        if left:
            log.warning("stopping: %d requests were cut off after %.0f s", left, within_s)
        time.sleep(FLUSH_S)
        self.page.close(verbose=False)

    def _in_hand(self) -> int:
        """Requests that run or wait."""
        queue = self.page._queue
        running = sum(job is not None for job in queue.active_jobs)
        return running + sum(len(line.queue) for line in list(queue.event_queue_per_concurrency_id.values()))

    async def _refuse(self, body: Any, request: Any, username: str | None) -> Any:
        raise HTTPException(TOO_MANY_REQUESTS, say("stopping", first_language(request.headers)))


class Probes:
    """The ASGI layer that answers probes, before any other: they come by the address of a machine, not by its name."""

    def __init__(self, app: ASGIApp, operation: Operation) -> None:
        self._app = app
        self._operation = operation

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        reply = self._operation.reply(scope["path"]) if scope["type"] == "http" else None
        if scope["type"] == "http":
            send = self._counting(send, upload=scope["path"].rstrip("/") == UPLOAD)
        await (reply or self._app)(scope, receive, send)

    def _counting(self, send: Send, *, upload: bool) -> Send:
        """Count what is refused before Gradio sees it; what asks too often is counted where it is refused."""
        why = {413: "too_large", 507: "uploads_full"} | ({TOO_MANY_REQUESTS: "too_often"} if upload else {})

        async def send_counted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] in why:
                self._operation.metrics.refused(why[message["status"]])()
            await send(message)

        return send_counted


class _Lines(Collector):
    """How long the lines are, and how often each endpoint was called, as Gradio's queue knows it."""

    def __init__(self, page: gr.Blocks) -> None:
        self._page = page

    def collect(self) -> Iterator[Metric]:
        """Waiting and running by line; calls and seconds by endpoint."""
        queue = self._page._queue
        waiting = GaugeMetricFamily("osrag_waiting", "Requests that wait, by line", labels=["line"])
        running = GaugeMetricFamily("osrag_running", "Requests that run, by line", labels=["line"])
        for name in (MODEL, QUIZ, SEARCH, LAB):
            line = queue.event_queue_per_concurrency_id.get(name)  # made with the first call
            waiting.add_metric([name], len(line.queue) if line else 0)
            running.add_metric([name], line.current_concurrency if line else 0)
        calls = CounterMetricFamily("osrag_calls", "Calls that ended well, by endpoint", labels=["endpoint"])
        seconds = CounterMetricFamily("osrag_call_seconds", "Seconds of these calls", labels=["endpoint"])
        for fn, times in list(queue.process_time_per_fn.items()):
            name = fn.api_name or fn.name or "page"
            calls.add_metric([name], times.count)
            seconds.add_metric([name], times.process_time)
        yield from (waiting, running, calls, seconds)
