"""What every HTTP request passes before Gradio sees it: hosts, sizes, uploads, headers, and whose address it is."""

import errno
import logging
import os
import secrets
import time
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.formparsers import MultiPartException
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from osrag.settings import Settings
from osrag.ui.admission import ADDRESS, RateLimit, first_language
from osrag.wording import say

log = logging.getLogger(__name__)
UPLOAD = "/gradio_api/upload"
UPLOAD_MB = 2  # of one file: a student's progress is some hundred kilobytes
BANK_MB = 20  # of one file where an instructor may upload a bank of questions
UPLOADS = 10  # times the most of one upload: of all visitors together, until files of that age are deleted
SHARE = 0.5  # of that for one address: a class behind one is served, and nobody alone shuts out the others
KEPT_S = 3600  # of an uploaded file, and between two looks for old ones
UPLOADS_PER_MINUTE = 6  # of one visitor
MOST_BODY = 12_000_000  # bytes of a request: a pasted log of 2.5 million characters, of which a few take six bytes
HERE = ("127.0.0.1", "localhost", "[::1]")  # hosts by which the app calls itself, for MCP
# Gradio's page has scripts and styles inside the document. A Space is shown in a frame of huggingface.co.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval' blob:",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "media-src 'self' data: blob:",
        "connect-src 'self' data: blob:",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        "frame-ancestors 'self' https://huggingface.co https://*.hf.space",
    )
)
SENT = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "strict-origin-when-cross-origin",
    "Content-Security-Policy": POLICY,
}


def guards(settings: Settings) -> list[Middleware]:
    """The layers for Gradio's app, the outermost first. Call it before the server is made, which reads the proxies."""
    # Read by uvicorn: without it, it believes every X-Forwarded-For that comes from this machine, as a tunnel's does.
    os.environ["FORWARDED_ALLOW_IPS"] = settings.proxies
    hosts = [Middleware(TrustedHostMiddleware, allowed_hosts=[*settings.hosts, *HERE], www_redirect=False)]
    return [*(hosts if settings.hosts else []), Middleware(Guard, settings=settings)]


CALL, SCRIPTS = "/gradio_api/call/v2/", "/gradio_api/component_server"


async def _no_such_call(request: Request, error: Exception) -> Response:
    """A named argument or an endpoint that does not exist: Gradio looks them up without a thought of what is wrong.

    The same for a script's call of a component, or a body, that there is not.
    """
    if request.url.path.rstrip("/") == SCRIPTS:
        return JSONResponse({"detail": "no function of the page is called in this way"}, 422)
    if not request.url.path.startswith(CALL) or not isinstance(error, TypeError | KeyError):
        raise error
    name = request.url.path.removeprefix(CALL)
    missing = f"there is no endpoint {name[:80]!r}; /gradio_api/info lists them"
    told = missing if isinstance(error, KeyError) else str(error).split(" Please click")[0]
    return JSONResponse({"detail": told}, 422)


async def _full_disk(request: Request, error: Exception) -> Response:
    """An upload that the disk does not hold."""
    if getattr(error, "errno", None) not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        raise error
    log.warning("a request cannot be kept: %s", error)
    return PlainTextResponse(say("uploads_full", first_language(request.headers)), 507)


# For Gradio's app, beside `guards`.
HANDLERS = {
    **dict.fromkeys((TypeError, KeyError, ValueError, AttributeError, RecursionError), _no_such_call),
    OSError: _full_disk,
}


def upload_mb(settings: Settings) -> int:
    """The most megabytes of an upload."""
    bank = BANK_MB if settings.instructor_key.get_secret_value() else UPLOAD_MB
    return max(bank, settings.upload_mb if settings.upload_visitors else 0)


def speak_directly_to_itself() -> None:
    """Gradio calls itself when it starts, and for MCP; a proxy of the environment must not stand between.

    Where the proxy cannot be reached, the app would not start, or wait for it without end.
    """
    for name in ("no_proxy", "NO_PROXY"):
        usual = [host for host in os.environ.get(name, "").split(",") if host]
        os.environ[name] = ",".join(dict.fromkeys([*usual, "127.0.0.1", "localhost"]))


@dataclass
class _Kept:
    """An upload that counts: bytes that may come while it runs, then those that came."""

    at: float
    address: str
    size: int


class Guard:
    """One ASGI layer. Refusals are plain text, in the language that the browser prefers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._token = secrets.token_hex(16)
        self._most_upload = upload_mb(settings) * 1_000_000
        self._uploads = RateLimit(UPLOADS_PER_MINUTE, settings.visitors_per_address)
        self._kept: list[_Kept] = []  # in the order of time

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        address = self._sign(scope)
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        size = int(length) if length.isdecimal() else 0
        upload = scope["path"].rstrip("/") == UPLOAD
        most = self._most_upload if upload else MOST_BODY
        refusal = self._refusal(headers, size, most, address, upload=upload)
        body, reply = _Body(receive, most, upload=upload), _Reply(send)
        if refusal:
            await PlainTextResponse(refusal[1], refusal[0])(scope, body, reply)
        elif upload:
            await self._upload(scope, body, reply, _Kept(time.monotonic(), address, size or most))
        else:
            await self._app(scope, body, reply)

    def _sign(self, scope: Scope) -> str:
        """The address behind a request, which also stands in the header `ADDRESS` from here on.

        Gradio answers an MCP client by calling itself with that client's headers, so the second call comes from this
        machine; a token that nobody outside knows tells that the header is ours.
        """
        name = ADDRESS.encode()
        given = dict(scope["headers"]).get(name, b"").decode("latin1").split(" ")
        client = scope["client"][0] if scope["client"] else ""
        address = given[1] if len(given) == 2 and secrets.compare_digest(given[0], self._token) else client
        others = [(key, value) for key, value in scope["headers"] if key != name]
        scope["headers"] = [*others, (name, f"{self._token} {address}".encode())]
        return address

    async def _upload(self, scope: Scope, body: "_Body", reply: "_Reply", kept: _Kept) -> None:
        """Take an upload. One that breaks off or is refused costs nobody any room: nothing of it is left."""
        self._kept.append(kept)
        try:
            await self._app(scope, body, reply)
        finally:
            if reply.status == 200:
                kept.size = body.seen
            else:
                self._kept.remove(kept)

    def _refusal(self, headers: Headers, size: int, most: int, address: str, *, upload: bool) -> tuple[int, str] | None:
        """Status and sentence of a request that goes no further."""
        language = first_language(headers)
        if size > most:
            return 413, say("too_large", language, limit=f"{most / 1e6:.0f} MB")
        if not upload:
            return None
        now = time.monotonic()
        self._kept = [one for one in self._kept if now - one.at <= 2 * KEPT_S]  # at the latest it is deleted then
        if wait := self._uploads.wait_s("", address):
            return 429, say("too_often", language, limit=UPLOADS_PER_MINUTE, seconds=max(1, round(wait)))
        held = {whose: sum(one.size for one in self._kept if whose in ("", one.address)) for whose in ("", address)}
        if held[""] + (size or most) > UPLOADS * most or held[address] + (size or most) > SHARE * UPLOADS * most:
            return 507, say("uploads_full", language)
        return None


class _Body:
    """A body that tells no length, or a false one, ends at `most` bytes.

    An upload that ends before it is whole raises what Gradio's parser itself raises for a bad one: only then does
    Gradio delete what it has written. For a browser that goes it would leave half a file for good.
    """

    def __init__(self, receive: Receive, most: int, *, upload: bool) -> None:
        self._receive, self._most, self._upload = receive, most, upload
        self._whole = False
        self.seen = 0  # bytes

    async def __call__(self) -> Message:
        message = await self._receive()
        self.seen += len(message.get("body", b""))
        if self.seen > self._most:
            message = {"type": "http.disconnect"}
        if self._upload and not self._whole and message["type"] == "http.disconnect":
            raise MultiPartException("the upload broke off")
        self._whole = self._whole or not message.get("more_body")
        return message


class _Reply:
    """What is sent, with our headers; `status` is that of the reply, 0 before it begins."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers: Any = MutableHeaders(scope=message)
            for name, value in SENT.items():
                headers.setdefault(name, value)
        await self._send(message)
