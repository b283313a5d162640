"""The OpenAI protocol over HTTP: requests, JSON calls and event streams.

The engine's child process (`llama_cpp.py`) and servers elsewhere (`served.py`) are both spoken to
through this module. They differ in a few parameters of the request, and in what a failure means.
"""

import json
import math
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from osrag.errors import ModelFailed
from osrag.models.gateway import AGAIN, Inbox
from osrag.models.protocols import ChatOptions, Message
from osrag.models.structured import TOP, spread
from osrag.models.tools import Calls, tool_json
from osrag.models.usage import Call

CHAT_PATH = "/chat/completions"
CONNECT_S = 10.0
READ_S = 600.0  # a stream has deadlines of its own
SHAPE = (ValueError, KeyError, IndexError, TypeError, AttributeError)  # what a reply of another shape ends in


class BadStatus(Exception):
    """An answer other than 200, or an error event within a stream."""

    def __init__(self, status: int, error: object, retry_after: str | None = None) -> None:
        told = error if isinstance(error, Mapping) else {"message": error or ""}
        super().__init__(str(told.get("message", told)))
        self.status = status
        self.error: Mapping[str, Any] = told  # "message", "type", "param", as far as they were sent
        self.retry_after = retry_after


class Line:
    """The socket of one call, so that another thread can hang up at once."""

    def __init__(self) -> None:
        self._stream: Any = None
        self._gone = False

    def hang_up(self) -> None:
        """End the call wherever it is; one that is not connected yet ends as soon as it is."""
        self._gone = True
        sock = self._stream.get_extra_info("socket") if self._stream is not None else None
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Hears from httpx what a connection does."""
        if event.endswith(("connect_tcp.complete", "connect_unix_socket.complete", "start_tls.complete")):
            self._stream = info["return_value"]
            if self._gone:
                self.hang_up()


class HttpServer:
    """One address that speaks the OpenAI protocol. Safe from several threads.

    `socket_file` is a Unix socket to connect to in the place of the host of `url`. `explain` turns
    whatever goes wrong in a call into the error that the caller is to see.
    """

    def __init__(self, url: str, key: str, explain: Callable[[Exception], Exception], *, socket_file: str = "") -> None:
        import httpx

        self.url = url
        self._explain = explain
        # A connection of its own for every call: hanging up must not cut another student off.
        limits = httpx.Limits(max_keepalive_connections=0)
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {key}"},
            timeout=httpx.Timeout(READ_S, connect=CONNECT_S),
            limits=limits,
            # A busy machine may take a moment to accept on a socket file; nothing was sent by then.
            transport=httpx.HTTPTransport(uds=socket_file, limits=limits, retries=3) if socket_file else None,
        )

    def call(self, path: str, body: Mapping[str, Any] | None = None, *, timeout_s: float = READ_S) -> Any:
        """The JSON reply to a POST of `body`, or to a GET without one."""
        import httpx

        with self.failures():
            method = "GET" if body is None else "POST"
            timeout = httpx.Timeout(timeout_s, connect=min(CONNECT_S, timeout_s))
            response = self._client.request(method, path, json=body, timeout=timeout)
            _check(response)
            return response.json()

    def events(self, path: str, body: Mapping[str, Any], line: Line) -> Iterator[dict[str, Any]]:
        """The events of a streamed reply, in order, until the server says that it is done."""
        # Not by the lines of httpx, which also end at signs that JSON may hold, such as U+2028.
        from httpx_sse import EventSource

        extensions = {"trace": line.trace}
        with self.failures(), self._client.stream("POST", path, json=body, extensions=extensions) as response:
            _check(response)
            for event in EventSource(response).iter_sse():
                if event.data == "[DONE]":
                    return
                value = json.loads(event.data)
                if error := value.get("error"):
                    raise BadStatus(500, error)
                yield value

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Let `explain` turn a broken connection, a bad status or a reply of another shape into the caller's error."""
        import httpx

        try:
            yield
        except (httpx.HTTPError, httpx.InvalidURL, BadStatus, OSError, *SHAPE) as error:
            raise self._explain(error) from error

    def close(self) -> None:
        """Give up the connections."""
        self._client.close()


def _check(response: Any) -> None:
    """Raise BadStatus unless the status is 200."""
    if response.status_code == 200:
        return
    said = response.read()
    try:
        value = json.loads(said)
    except ValueError:
        value = said.decode("utf-8", "replace")
    error = value.get("error", value) if isinstance(value, dict) else value
    raise BadStatus(response.status_code, error, response.headers.get("retry-after"))


def chat_request(messages: Sequence[Message], options: ChatOptions) -> dict[str, Any]:
    """The body of one request, as every server takes it."""
    body: dict[str, Any] = {
        "messages": [_message_json(message) for message in messages],
        "stream": True,
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "top_p": options.top_p,
    }
    if options.seed is not None:
        body["seed"] = options.seed
    if options.choices:
        body |= {"logprobs": True, "top_logprobs": TOP}
    if options.schema is not None:
        schema = {"name": "reply", "strict": True, "schema": options.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if options.tools:
        body["tools"] = [tool_json(tool) for tool in options.tools]
        body["tool_choice"] = "required" if options.must_call else "auto"
    return body


def _message_json(message: Message) -> dict[str, Any]:
    value: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        value["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in message.calls
        ]
    if message.answers:
        value["tool_call_id"] = message.answers
    return value


def read_reply(
    server: HttpServer, events: Callable[[Line], Iterable[Mapping[str, Any]]], options: ChatOptions, call: Call
) -> Generator[str, None, None]:
    """The text of streamed `events` as it comes; "" at every beat without one. Closing it hangs up at once.

    The events are read by a thread of their own, so that a deadline, or a student who has
    gone, is noticed between two of them.
    """
    line = Line()
    inbox: Inbox[Mapping[str, Any]] = Inbox()
    wanted = Calls()
    thread = threading.Thread(target=inbox.fill, args=(lambda: events(line),), name="reply", daemon=True)
    thread.start()
    try:
        for event in inbox.paced():
            with server.failures():
                text = "" if event is None else take_in(event, options.choices, call, wanted)
            yield text
        if call.ended == "stopped":  # a stream that ends without its last word was cut off
            raise ModelFailed("the chat model broke off in mid-reply", hint=AGAIN, transient=True)
        if options.tools and (text := wanted.text()):
            yield text
    finally:
        line.hang_up()
        thread.join(1.0)


def take_in(event: Mapping[str, Any], choices: Sequence[str], call: Call, wanted: Calls) -> str:
    """Note in `call`, and of tools in `wanted`, what one event of the stream tells.

    Returns its text, or the chances of `choices`.
    """
    choice = (event.get("choices") or [{}])[0]
    if finish := choice.get("finish_reason"):
        call.ended = "length" if finish == "length" else "done"
    delta = choice.get("delta") or {}
    wanted.add(delta.get("tool_calls") or ())
    said = delta.get("content") or ""
    text = _chances(choice, choices) if choices else said
    # A reply that is stopped brings no figures from most servers; they send about a token a piece.
    call.generated += bool(text)
    if timings := event.get("timings"):  # of llama.cpp
        call.prompt_tokens_new = int(timings.get("prompt_n", 0))
        call.prompt_tokens_cached = int(timings.get("cache_n", 0))
        call.generated = int(timings.get("predicted_n", 0))
    elif usage := event.get("usage"):
        cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        call.prompt_tokens_new = (usage.get("prompt_tokens") or 0) - cached
        call.prompt_tokens_cached = cached
        call.generated = usage.get("completion_tokens") or call.generated
    return text


def _chances(choice: Mapping[str, Any], choices: Sequence[str]) -> str:
    """The chances of `choices` from the event that carries the first token; "" from the others."""
    tokens = (choice.get("logprobs") or {}).get("content") or []
    if not tokens:
        return ""
    return spread(((one["token"], math.exp(one["logprob"])) for one in tokens[0].get("top_logprobs") or ()), choices)
