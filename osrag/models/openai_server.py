"""A connection to an OpenAI-compatible server, and its failures as sentences."""

import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from osrag.errors import BadInput, BadSettings, MissingExtra, ModelFailed, ModelNotFound, OsragError
from osrag.settings import Settings
from osrag.text import clip

if TYPE_CHECKING:
    from openai import OpenAI

CONNECT_S = 10.0
READ_S = 600.0  # the reader of a stream has deadlines of its own
RETRIED = frozenset({429, 500, 502, 503, 504})
URL_HINT = "set OSRAG_ENDPOINT_URL to its address with /v1, such as http://localhost:8000/v1"
KEY_HINT = "set OSRAG_ENDPOINT_KEY to a key that this server accepts"


class ServerRefused(ModelFailed):
    """The server answered with an error; `status` says which, None when it did not answer at all."""

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.retry_after_s = retry_after_s

    @property
    def transient(self) -> bool:
        """Is it worth trying again, unchanged, a little later?"""
        return self.status is None or self.status in RETRIED


class WrongKey(ServerRefused):
    """401 or 403. No retry helps."""

    @property
    def transient(self) -> bool:
        return False


class OtherModel(ModelFailed):
    """The server answered with another model than the one that was asked."""


@dataclass(slots=True)
class Line:
    """The socket of one call, so that another thread can hang up at once."""

    stream: Any = None
    gone: bool = False

    def hang_up(self) -> None:
        self.gone = True
        sock = self.stream.get_extra_info("socket") if self.stream is not None else None
        if sock is not None:
            with suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)


@dataclass(frozen=True)
class Server:
    """Where the served model is. Shared by chat and embeddings; safe from several threads."""

    url: str
    client: "OpenAI"
    _here: threading.local = field(default_factory=threading.local)

    @classmethod
    def connect(cls, settings: Settings) -> "Server":
        """A client for the endpoint of the settings; nothing is sent yet."""
        url = settings.endpoint_url.rstrip("/")
        if not re.match(r"https?://[^/]", url):
            raise BadSettings(f"OSRAG_ENDPOINT_URL is {url!r}, no address of a server", hint=URL_HINT)
        try:
            import httpx2
            import openai
        except ImportError as error:
            raise MissingExtra(
                "the package openai is not installed", hint="pip install -r requirements-endpoint.txt"
            ) from error
        here = threading.local()

        def trace(request: Any) -> None:
            line = getattr(here, "line", None)
            if line is not None:
                request.extensions["trace"] = _catch(line)

        http = httpx2.Client(
            timeout=httpx2.Timeout(READ_S, connect=CONNECT_S),
            # A connection of its own for every call: hanging up must not cut another student off.
            limits=httpx2.Limits(max_keepalive_connections=0),
            event_hooks={"request": [trace]},
        )
        key = settings.endpoint_key.get_secret_value() or "none"
        # The gateway retries; two layers of retries would multiply.
        return cls(url, openai.OpenAI(base_url=url, api_key=key, max_retries=0, http_client=http), here)

    @contextmanager
    def line(self, line: Line) -> Iterator[None]:
        """Calls of this thread inside the block can be hung up through `line`."""
        self._here.line = line
        try:
            yield
        finally:
            self._here.line = None

    def check_model(self, model: str) -> str:
        """The name of the model to ask for: `model`, or the only one that is served when it is empty.

        Raises ModelNotFound when the server does not serve it, WrongKey, ServerRefused.
        """
        with self.failures():
            served = [entry.id for entry in self.client.models.list().data or []]
        if model and (not served or model in served):
            return model
        if not model and len(served) == 1:
            return served[0]
        names = ", ".join(served[:6]) or "none"
        what = f"does not serve {model!r}" if model else "serves several models"
        raise ModelNotFound(
            f"the server at {self.url} {what}; it has: {names}", hint="set OSRAG_ENDPOINT_MODEL to one of them"
        )

    @contextmanager
    def failures(self) -> Iterator[None]:
        """Turn what the client raises into our errors."""
        import openai

        try:
            yield
        except openai.APITimeoutError as error:
            raise ServerRefused(f"the server at {self.url} did not answer in time", hint=URL_HINT) from error
        except openai.APIStatusError as error:
            raise status_error(self.url, error.status_code, error.body, error.response.headers) from error
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            raise ServerRefused(
                f"the server at {self.url} cannot be reached: {clip(str(cause), 120)}", hint=URL_HINT
            ) from error
        except openai.APIError as error:  # an error event within a stream
            raise ServerRefused(
                f"the server at {self.url} broke off: {clip(error.message, 160)}", status=500
            ) from error
        except (ValueError, AttributeError, TypeError) as error:
            # JSONDecodeError, UnicodeDecodeError; a reply of another shape fails where it is read.
            raise ServerRefused(
                f"the server at {self.url} sent something that is no OpenAI reply ({type(error).__name__})",
                hint=URL_HINT,
                status=502,
            ) from error


def _catch(line: Line) -> Callable[[str, Mapping[str, Any]], None]:
    """Notes the stream of the connection when it is made."""

    def trace(event: str, info: Mapping[str, Any]) -> None:
        if event in {"connection.connect_tcp.complete", "connection.start_tls.complete"}:
            line.stream = info["return_value"]
            if line.gone:
                line.hang_up()

    return trace


def status_error(url: str, status: int, body: object, headers: Mapping[str, str]) -> OsragError:
    """The sentence for an HTTP status. Pure, so that it is tested without a server."""
    detail = body.get("error", body) if isinstance(body, dict) else body
    said = str(detail.get("message", detail) if isinstance(detail, dict) else detail or "")
    quoted = f": {clip(said, 160)}" if said else ""
    if status in {401, 403}:
        return WrongKey(f"the server at {url} refused the key ({status})", hint=KEY_HINT, status=status)
    if status == 404:
        return ServerRefused(
            f"the server at {url} does not know this address or model{quoted}", hint=URL_HINT, status=404
        )
    kind = detail.get("type", "") if isinstance(detail, dict) else ""
    if status == 400 and ("context" in said or kind == "exceed_context_size_error"):
        return BadInput(
            f"the question with its passages is longer than the model can read{quoted}",
            hint="ask a shorter question, or serve the model with a larger context",
        )
    hint = "ask again in a minute" if status in RETRIED else ""
    what = "has too many requests" if status == 429 else f"failed with status {status}"
    return ServerRefused(
        f"the server at {url} {what}{quoted}",
        hint=hint,
        status=status,
        retry_after_s=_seconds(headers.get("retry-after")),
    )


def _seconds(value: str | None) -> float | None:
    try:
        return max(0.0, float(value)) if value else None
    except ValueError:
        return None  # a date; the back-off is as good


def same_model(asked: str, answered: str) -> bool:
    """Is `answered` the model `asked`, bar a dated or shortened name?"""
    if not answered:
        return True
    plain = [name.lower().rsplit("/", 1)[-1].removesuffix(".gguf") for name in (asked, answered)]
    return plain[0].startswith(plain[1]) or plain[1].startswith(plain[0])
