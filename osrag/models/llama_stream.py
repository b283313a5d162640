"""One streamed reply of the engine, read by a thread of its own."""

import contextlib
import http.client
import json
import queue
import socket
import threading
from collections.abc import Mapping
from typing import Any, Final, Protocol

from osrag.errors import BadInput, ModelFailed
from osrag.models.limits import Transient

AGAIN = "ask again: the model is loaded anew where need be"
DONE: Final[Mapping[str, Any]] = {"done": True}
CONNECT_S = 600.0  # the reader has deadlines of its own


class Server(Protocol):
    """What serves the reply (a LlamaProcess)."""

    def connect(self, timeout_s: float) -> http.client.HTTPConnection: ...

    def headers(self) -> dict[str, str]: ...


class Incoming:
    """The events of one request, in order.

    The socket is read by a thread so that the reader can look up between two
    tokens, at its deadline or at a student who has gone; what goes wrong in the
    thread is raised to the reader.
    """

    def __init__(self, server: Server, path: str, body: Mapping[str, Any]) -> None:
        self._connection = server.connect(CONNECT_S)
        self._request = (path, json.dumps(body), server.headers())
        self._events: queue.SimpleQueue[Mapping[str, Any] | Exception] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="llama-reply", daemon=True)
        self._thread.start()

    def next(self, timeout_s: float) -> Mapping[str, Any] | None:
        """The next event, DONE after the last, None when nothing came in time.

        Raises ModelFailed when the engine broke off or reported an error.
        """
        try:
            event = self._events.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if isinstance(event, Exception):
            raise event
        return event

    def close(self) -> None:
        """Hang up. The engine sees that nobody listens and stops at its next step."""
        if self._connection.sock is not None:
            with contextlib.suppress(OSError):
                self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(1.0)
        self._connection.close()

    def _run(self) -> None:
        try:
            self._read()
        except (ModelFailed, BadInput) as error:
            self._events.put(error)
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            # AttributeError: http.client, when the reader hangs up while we wait.
            failed = Transient(f"the chat model broke off ({type(error).__name__})", hint=AGAIN)
            failed.__cause__ = error
            self._events.put(failed)

    def _read(self) -> None:
        path, body, headers = self._request
        self._connection.request("POST", path, body, headers)
        response = self._connection.getresponse()
        if response.status != 200:
            raise _refusal(json.loads(response.read()).get("error", {}))
        for line in response:
            if not line.startswith(b"data: "):
                continue
            data = line[6:].strip()
            if data == b"[DONE]":
                self._events.put(DONE)
                return
            event = json.loads(data)
            if "error" in event:
                raise _refusal(event["error"])
            self._events.put(event)
        # A stream that ends without its last word was cut off.
        raise Transient("the chat model broke off in mid-reply", hint=AGAIN)


def _refusal(error: Mapping[str, Any]) -> ModelFailed | BadInput:
    if error.get("type") == "exceed_context_size_error":
        return BadInput(
            f"the question with its passages has {error.get('n_prompt_tokens', 'too many')} tokens, "
            f"more than the model can read ({error.get('n_ctx', 'its context')})",
            hint="ask a shorter question, or set OSRAG_CONTEXT_TOKENS higher",
        )
    return ModelFailed(f"the chat model refused: {str(error.get('message', error))[:200]}")
