"""A local OpenAI-compatible server that fails in the ways real ones do."""

import json
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

WORDS = ["A ", "process ", "is ", "a program ", "in execution."]


class Faulty(ThreadingHTTPServer):
    """`script` is one way of answering a call; the last one serves for all calls after it."""

    daemon_threads = True

    def __init__(self, script: Sequence[str], *, key: str = "secret-key-123", model: str = "big-model") -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.script = list(script)
        self.key, self.model = key, model
        self.words = WORDS  # of an answer
        self.calls = 0
        self.bodies: list[dict[str, Any]] = []
        self.hung_up = threading.Event()
        self.lock = threading.Lock()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def way(self, body: dict[str, Any]) -> str:
        with self.lock:
            way = self.script[min(self.calls, len(self.script) - 1)]
            self.calls += 1
            self.bodies.append(body)
        return way

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that hangs up is what the tests do


class Handler(BaseHTTPRequestHandler):
    server: Faulty
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        if self._wrong_key():
            return
        self._json(200, {"object": "list", "data": [{"id": self.server.model, "object": "model", "created": 0}]})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self._wrong_key():
            return
        way = self.server.way(body)
        if way.isdigit():
            self._json(int(way), {"error": {"message": f"scripted {way}", "type": "server_error"}})
        elif way.startswith("no "):
            name = way[3:]
            if name in body:
                self._json(400, {"error": {"message": f"Unsupported parameter: {name}", "param": name}})
            else:
                self._stream(body, "good")
        elif way == "never":
            self._wait_for_hang_up()
        elif self.path.endswith("/embeddings"):
            self._embed(body, way)
        else:
            self._stream(body, way)

    def _wrong_key(self) -> bool:
        if self.headers.get("Authorization") == f"Bearer {self.server.key}":
            return False
        self._json(401, {"error": {"message": "Incorrect API key provided"}})
        return True

    def _json(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status == 429:
            self.send_header("Retry-After", "0.05")
        self.end_headers()
        self.wfile.write(data)

    def _embed(self, body: dict[str, Any], way: str) -> None:
        dim = 8 if way != "other dim" else 16
        model = "another-embedder" if way == "lies" else body["model"]
        vectors = [[float((len(text) * 7 + place * 3) % 11 - 5) for place in range(dim)] for text in body["input"]]
        if way == "other vectors":
            vectors = [row[::-1] for row in vectors]
        if way == "too few":
            vectors = vectors[:-1]
        data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(vectors)]
        self._json(
            200, {"object": "list", "model": model, "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
        )

    def _stream(self, body: dict[str, Any], way: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        if way == "broken json":
            self._send('data: {"choices": [{"delta": {"content": "half\n\n')
            return
        if way == "silent":
            self._word(body, way, WORDS[0])
            self._wait_for_hang_up()
            return
        words = ["<thi", "nk>let me", " see</th", "ink>\n\n", *self.server.words]
        words = words if way == "thinks" else self.server.words
        if way == "endless":
            words = self.server.words * 2000
        for place, word in enumerate(words):
            self._word(body, way, word)
            if way == "cut" and place == 2:
                return
            if way == "error event" and place == 2:
                self._send('data: {"error": {"message": "CUDA out of memory", "code": 500}}\n\n')
                return
            if way in {"slow", "endless"}:
                time.sleep(0.02)
        self._word(body, way, "", finish="stop")
        usage = {
            "prompt_tokens": 20,
            "completion_tokens": 5,
            "total_tokens": 25,
            "prompt_tokens_details": {"cached_tokens": 8},
        }
        self._send(f"data: {json.dumps({'id': 'x', 'choices': [], 'model': body['model'], 'usage': usage})}\n\n")
        self._send("data: [DONE]\n\n")

    def _word(self, body: dict[str, Any], way: str, text: str, finish: str | None = None) -> None:
        model = "tiny-cheap-model" if way == "lies" else body["model"]
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": finish}
        chunk = {"id": "x", "object": "chat.completion.chunk", "model": model, "choices": [choice]}
        self._send(f"data: {json.dumps(chunk)}\n\n")

    def _send(self, text: str) -> None:
        try:
            self.wfile.write(text.encode())
            self.wfile.flush()
        except OSError:
            self.server.hung_up.set()
            raise

    def _wait_for_hang_up(self) -> None:
        self.connection.settimeout(60)
        if not self.connection.recv(1):
            self.server.hung_up.set()


@contextmanager
def faulty(*script: str, **options: Any) -> Iterator[Faulty]:
    server = Faulty(script or ("good",), **options)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
