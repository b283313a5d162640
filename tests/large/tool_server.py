"""A local OpenAI-compatible server whose model calls tools, in the wire format of the real ones."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.large.faulty_server import Faulty, Handler


@dataclass
class Say:
    """One reply: a text, then calls of (name, arguments as the model writes them)."""

    text: str = ""
    calls: Sequence[tuple[str, str]] = ()
    status: int = 200  # another one refuses the request, with `text` as its message


class ToolServer(Faulty):
    """Says `replies` in order, the last one again and again. `bodies` are the requests it got."""

    def __init__(self, replies: Sequence[Say], **options: Any) -> None:
        super().__init__([str(place) for place in range(len(replies))], **options)
        self.replies = list(replies)
        self.RequestHandlerClass = ToolHandler


class ToolHandler(Handler):
    server: ToolServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        reply = self.server.replies[int(self.server.way(body))]
        if reply.status != 200:
            self._json(reply.status, {"error": {"message": reply.text, "type": "invalid_request_error"}})
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self._delta(body, {"role": "assistant", "content": None})
        for start in range(0, len(reply.text), 7):
            self._delta(body, {"content": reply.text[start : start + 7]})
        for index, (name, arguments) in enumerate(reply.calls):
            head = {"index": index, "id": f"call_{self.server.calls}_{index}", "type": "function"}
            self._delta(body, {"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
            for start in range(0, len(arguments), 5):
                part = {"index": index, "function": {"arguments": arguments[start : start + 5]}}
                self._delta(body, {"tool_calls": [part]})
        self._delta(body, {}, finish="tool_calls" if reply.calls else "stop")
        self._send("data: [DONE]\n\n")

    def _delta(self, body: dict[str, Any], delta: dict[str, Any], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {"id": "x", "object": "chat.completion.chunk", "model": body["model"], "choices": [choice]}
        self._send(f"data: {json.dumps(chunk)}\n\n")


@contextmanager
def tool_server(*replies: Say, **options: Any) -> Iterator[ToolServer]:
    server = ToolServer(replies, **options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
