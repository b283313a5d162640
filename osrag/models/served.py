"""The models of the `endpoint` profile: any OpenAI-compatible server (vLLM, llama-server, a cloud)."""

import hashlib
import json
import logging
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from osrag.errors import BadInput, BadSettings, ModelFailed, ModelNotFound, OsragError
from osrag.files import write_whole
from osrag.models.gateway import AGAIN, ChatGateway, Pace, RateLimit, Slot, backoff_s, chat_pace
from osrag.models.openai_http import CHAT_PATH, SHAPE, BadStatus, HttpServer, Line, chat_request, read_reply
from osrag.models.protocols import ChatAbilities, ChatOptions, Message, Vectors
from osrag.models.sources import writing
from osrag.models.usage import Call, UsageMeter
from osrag.settings import Settings
from osrag.text import clip

log = logging.getLogger(__name__)

RETRIED = frozenset({429, 500, 502, 503, 504})  # statuses that may pass by themselves
URL_HINT = "set OSRAG_ENDPOINT_URL to its address with /v1, such as http://localhost:8000/v1"
KEY_HINT = "set OSRAG_ENDPOINT_KEY to a key that this server accepts"
# What a server may not know. The first refusal that names one of them drops it for good.
OPTIONAL = (
    "max_tokens", "chat_template_kwargs", "stream_options", "response_format", "seed", "top_p", "temperature",
    "top_logprobs", "logprobs", "tool_choice", "tools",
)  # fmt: skip
BATCH = 32  # texts of one embedding request; every server takes that many
EMBEDDING_PACE, EMBEDDING_S = Pace(per_s=10.0, retries=3), 30.0  # the pace is the default of the settings
MAX_CHARS = 8000  # of a text to embed: 8,192 tokens are the common limit, and no chunk is longer
PROBE = "osrag: the scheduler picks the next task; 调度器选择下一个任务。"
SAME = 0.99  # cosine of the probe's vectors now and at an earlier start; less means another model, not rounding


class ServerRefused(ModelFailed):
    """The server answered with an error; `status` says which, None when it did not answer at all."""

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, retry_after_s: float | None = None
    ) -> None:
        passing = status is None or status in RETRIED
        super().__init__(message, hint=hint, transient=passing, retry_after_s=retry_after_s)
        self.status = status


class WrongKey(ServerRefused):
    """401 or 403. No retry helps."""


class OtherModel(ModelFailed):
    """The server answered with another model than the one that was asked."""


# -- the server ---------------------------------------------------------------------------------------


def connect(settings: Settings) -> HttpServer:
    """The endpoint of the settings, for chat and embeddings; nothing is sent yet. Raises BadSettings."""
    url = settings.endpoint_url.rstrip("/")
    if not re.match(r"https?://[^/]", url):
        raise BadSettings(f"OSRAG_ENDPOINT_URL is {url!r}, no address of a server", hint=URL_HINT)
    key = settings.endpoint_key.get_secret_value() or "none"
    return HttpServer(url, key, lambda error: served_failure(url, error))


def check_model(server: HttpServer, model: str) -> str:
    """The name of the model to ask for: `model`, or the only one that is served when it is empty.

    Raises ModelNotFound when the server does not serve it, WrongKey, ServerRefused.
    """
    listed = server.call("/models")
    with server.failures():
        served = [str(entry["id"]) for entry in listed["data"] or []]
    if model and (not served or model in served):
        return model
    if not model and len(served) == 1:
        return served[0]
    names = ", ".join(served[:6]) or "none"
    what = f"does not serve {model!r}" if model else "serves several models"
    raise ModelNotFound(
        f"the server at {server.url} {what}; it has: {names}", hint="set OSRAG_ENDPOINT_MODEL to one of them"
    )


def served_failure(url: str, error: Exception) -> OsragError:
    """The sentence for a call that failed. Pure, so that it is tested without a server."""
    if isinstance(error, BadStatus):
        return _status_failure(url, error)
    kind = type(error).__name__
    if "Timeout" in kind:
        return ServerRefused(f"the server at {url} did not answer in time", hint=URL_HINT)
    if kind == "ConnectError":
        return ServerRefused(f"the server at {url} cannot be reached: {clip(str(error), 120)}", hint=URL_HINT)
    if isinstance(error, SHAPE) or kind == "SSEError":
        return ServerRefused(
            f"the server at {url} sent something that is no OpenAI reply ({kind})", hint=URL_HINT, status=502
        )
    return ServerRefused(f"the server at {url} broke off: {clip(str(error), 160)}", hint=AGAIN)


def _status_failure(url: str, error: BadStatus) -> OsragError:
    said, status = str(error), error.status
    quoted = f": {clip(said, 160)}" if said else ""
    if status in {401, 403}:
        return WrongKey(f"the server at {url} refused the key ({status})", hint=KEY_HINT, status=status)
    if status == 404:
        return ServerRefused(
            f"the server at {url} does not know this address or model{quoted}", hint=URL_HINT, status=404
        )
    if status == 400 and ("context" in said or error.error.get("type") == "exceed_context_size_error"):
        return BadInput(
            f"the question with its passages is longer than the model can read{quoted}",
            hint="ask a shorter question, or serve the model with a larger context",
        )
    try:
        asked_s = max(0.0, float(error.retry_after)) if error.retry_after else None
    except ValueError:
        asked_s = None  # a date; the back-off is as good
    what = "has too many requests" if status == 429 else f"failed with status {status}"
    hint = AGAIN if status in RETRIED else ""
    return ServerRefused(f"the server at {url} {what}{quoted}", hint=hint, status=status, retry_after_s=asked_s)


def same_model(asked: str, answered: str) -> bool:
    """Is `answered` the model `asked`, bar a dated or shortened name?"""
    plain = [name.lower().rsplit("/", 1)[-1].removesuffix(".gguf") for name in (asked, answered)]
    return not answered or plain[0].startswith(plain[1]) or plain[1].startswith(plain[0])


# -- chat ---------------------------------------------------------------------------------------------


def served_request(
    model: str, messages: Sequence[Message], options: ChatOptions, *, without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The body of one request, less the parameters `without` that this server refuses."""
    body = chat_request(messages, options) | {
        "model": model,
        "stream_options": {"include_usage": True},
        # Qwen3 and its like think aloud unless told not to; other templates ignore it.
        "chat_template_kwargs": {"enable_thinking": False},
    }
    if "max_tokens" in without:
        body["max_completion_tokens"] = options.max_tokens
    return {name: value for name, value in body.items() if name not in without}


def refused_parameter(error: BaseException | None, known: frozenset[str]) -> str | None:
    """The optional parameter that a 400 or 422 complains of, None when it is about something else."""
    if not isinstance(error, BadStatus) or error.status not in {400, 422}:
        return None
    named, said = error.error.get("param"), str(error)
    return next((name for name in OPTIONAL if name not in known and (named == name or name in said)), None)


class ServedChat:
    """A ChatModel behind a URL. At most `slots` replies at once, so that one course does not flood a server."""

    def __init__(self, server: HttpServer, model: str, gateway: ChatGateway, *, context_tokens: int) -> None:
        self.name = model
        self._server = server
        self._gateway = gateway
        self._context_tokens = context_tokens
        self._without: frozenset[str] = frozenset()

    @property
    def abilities(self) -> ChatAbilities:
        """As far as the server has not refused a parameter that an ability needs."""
        return ChatAbilities(
            context_tokens=self._context_tokens,
            constrained="response_format" not in self._without,
            chain=True,
            slots=len(self._gateway.slots),
            weighs=not self._without & {"logprobs", "top_logprobs"},
            calls="tools" not in self._without,
        )

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """Pieces of the reply; see `ChatModel.stream`. Raises ServerRefused with what the server said."""
        return self._gateway.stream(messages, options, self._reply)

    def prepare(self, prefix: Sequence[Message]) -> None:
        """Nothing: the cache is the server's own, and its first call may cost money."""

    def count_tokens(self, text: str) -> int:
        """An estimate from above: a token a Chinese character, one for three other characters."""
        wide = sum(1 for sign in text if ord(sign) > 0x2E7F)
        return wide + (len(text) - wide) // 3 + 1

    def close(self) -> None:
        """Give up the connections; the server goes on."""
        self._server.close()

    def _reply(
        self, messages: Sequence[Message], options: ChatOptions, slot: Slot, call: Call
    ) -> Generator[str, None, None]:
        return read_reply(self._server, lambda line: self._events(messages, options, line), options, call)

    def _events(self, messages: Sequence[Message], options: ChatOptions, line: Line) -> Iterator[Mapping[str, Any]]:
        """The events of the reply; parameters that the server does not know are left out from then on."""
        while True:
            body = served_request(self.name, messages, options, without=self._without)
            try:
                for event in self._server.events(CHAT_PATH, body, line):
                    self._check(event)
                    yield event
                return
            except (ServerRefused, BadInput) as error:
                name = refused_parameter(error.__cause__, self._without)
                if name is None:
                    raise
                log.warning("the server at %s does not take %s; leaving it out", self._server.url, name)
                self._without |= {name}

    def _check(self, event: Mapping[str, Any]) -> None:
        answered = str(event.get("model") or "")
        if not same_model(self.name, answered):
            raise OtherModel(
                f"the server at {self._server.url} answered with the model {answered!r}, not {self.name!r}",
                hint=f"set OSRAG_ENDPOINT_MODEL={answered} if that is the one you want",
            )
        if any(choice.get("finish_reason") == "content_filter" for choice in event.get("choices") or ()):
            raise ModelFailed(f"a filter of the server at {self._server.url} stopped the reply")


def load_served_chat(settings: Settings, usage: UsageMeter) -> ServedChat:
    """The chat model of the endpoint, after its server was asked whether it has it."""
    server = connect(settings)
    model = check_model(server, settings.endpoint_model)
    gateway = ChatGateway(settings.slots, usage, chat_pace(settings))
    return ServedChat(server, model, gateway, context_tokens=settings.context_tokens)


# -- embeddings ---------------------------------------------------------------------------------------


class ServedEncoder:
    """An Encoder behind a URL. Queries of e5 and Qwen3 models get the prefix they were trained with."""

    def __init__(
        self,
        server: HttpServer,
        model: str,
        usage: UsageMeter,
        pace: Pace = EMBEDDING_PACE,
        *,
        timeout_s: float = EMBEDDING_S,
        base_s: float = 0.5,
    ) -> None:
        self.name = model
        self._server = server
        self._usage = usage
        self._timeout_s = timeout_s
        self._base_s = base_s  # of the wait before the first retry
        self._rate = RateLimit(pace.per_s)
        self._retries = pace.retries
        self._query, self._passage = prefixes(model)
        # A served model has no revision of its own: see `check_probe` for one that was swapped.
        told = f"{model} {self._query} {self._passage}"
        self.revision = f"served-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
        self.dim = 0  # unknown until the first reply
        self.probe = self._embed([PROBE])[0]  # (dim,)
        self.dim = len(self.probe)

    def queries(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) float32 unit rows, in the order of `texts`."""
        return self._embed([self._query + text for text in texts])

    def passages(self, texts: Sequence[str]) -> Vectors:
        """(texts, dim) float32 unit rows, in the order of `texts`."""
        return self._embed([self._passage + text for text in texts])

    def _embed(self, texts: Sequence[str]) -> Vectors:
        # Some servers refuse an empty string.
        sent = [text[:MAX_CHARS] or " " for text in texts]
        rows = [self._request(sent[start : start + BATCH]) for start in range(0, len(sent), BATCH)]
        return np.concatenate(rows) if rows else np.zeros((0, self.dim), dtype=np.float32)

    def _request(self, batch: Sequence[str]) -> Vectors:
        """The rows of one batch, tried again while the failure may pass and time is left."""
        start = time.monotonic()
        for attempt in range(1, self._retries + 1):
            try:
                return self._once(batch)
            except ModelFailed as error:
                if not error.transient or time.monotonic() - start > self._timeout_s:
                    self._usage.event("embedding", "gave_up")
                    raise
                self._usage.event("embedding", "retry")
                time.sleep(backoff_s(attempt, self._base_s, error))
        return self._once(batch)

    def _once(self, batch: Sequence[str]) -> Vectors:
        """(texts of the batch, dim) unit rows from one request. Raises OtherModel or ModelFailed for odd vectors."""
        if wait_s := self._rate.reserve():
            self._usage.event("embedding", "rate_wait")
            time.sleep(wait_s)
        body = {"model": self.name, "input": batch, "encoding_format": "float"}
        reply = self._server.call("/embeddings", body, timeout_s=self._timeout_s)
        with self._server.failures():
            data = sorted(reply["data"], key=lambda entry: entry["index"])
            vectors = np.array([entry["embedding"] for entry in data], dtype=np.float32)
            answered = str(reply.get("model") or "")
        if not same_model(self.name, answered):
            raise OtherModel(
                f"the server at {self._server.url} embedded with {answered!r}, not {self.name!r}",
                hint=f"set OSRAG_ENDPOINT_EMBEDDING_MODEL={answered} if that is the one you want",
            )
        if vectors.ndim != 2 or len(vectors) != len(batch) or self.dim not in (0, vectors.shape[1]):
            raise ModelFailed(
                f"the server at {self._server.url} sent vectors of shape {vectors.shape} for {len(batch)} texts",
                hint="is another embedding model behind the same name?",
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(vectors).all() or not (lengths > 0).all():
            raise ModelFailed(f"the server at {self._server.url} sent a vector that is zero or has no numbers")
        unit: Vectors = (vectors / lengths).astype(np.float32)
        return unit

    def check_probe(self, folder: Path) -> None:
        """Compare with the vector that this server gave at an earlier start.

        Raises OtherModel when the same name now stands for other vectors: an index made
        before would give nonsense without a word.
        """
        key = hashlib.sha256(f"{self._server.url} {self.name}".encode()).hexdigest()[:16]
        place = folder / f"probe-{key}.json"
        try:
            kept = np.array(json.loads(place.read_text("utf-8")), dtype=np.float32)
        except FileNotFoundError:
            with writing(folder):
                folder.mkdir(parents=True, exist_ok=True)
                write_whole(place, json.dumps([round(float(value), 6) for value in self.probe]))
            return
        if kept.shape != self.probe.shape or float(kept @ self.probe) < SAME:
            raise OtherModel(
                f"{self.name!r} at {self._server.url} gives other vectors than at the last start",
                hint=f"if the model was changed on purpose, delete {str(place)!r} and build the index again",
            )


def prefixes(model: str) -> tuple[str, str]:
    """(query, passage) prefixes that the model was trained with, by its family."""
    name = model.lower()
    if "e5" in name and "instruct" not in name:
        return "query: ", "passage: "
    if "qwen3-embedding" in name:
        return "Instruct: Given a question, retrieve passages that answer it\nQuery: ", ""
    return "", ""
