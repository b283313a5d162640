"""The chat model of the `endpoint` profile: any OpenAI-compatible server (vLLM, llama-server, a cloud)."""

import logging
import math
import threading
import time
from collections.abc import Callable, Generator, Sequence
from typing import Any

from osrag.errors import ModelBusy, ModelFailed
from osrag.models.openai_server import Line, OtherModel, Server, ServerRefused, same_model
from osrag.models.protocols import ChatAbilities, ChatOptions, Message
from osrag.models.relay import AGAIN, BEAT_S, Relay
from osrag.models.thinking import WithoutThinking
from osrag.models.usage import Call, UsageMeter
from osrag.models.weigh import TOP, spread

log = logging.getLogger(__name__)

# What a server may not know. The first refusal that names one of them drops it for good.
OPTIONAL = (
    "chat_template_kwargs", "stream_options", "response_format", "seed", "top_p", "temperature", "stop",
    "top_logprobs", "logprobs",
)  # fmt: skip
ADAPTATIONS = 4


def chat_request(
    model: str, messages: Sequence[Message], options: ChatOptions, *, without: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """The arguments of one call, less the parameters `without` that this server refuses."""
    limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "stream": True,
        "stream_options": {"include_usage": True},
        limit: options.max_tokens,
        "temperature": options.temperature,
        "top_p": options.top_p,
    }
    if options.seed is not None:
        body["seed"] = options.seed
    if options.choices:
        body |= {"logprobs": True, "top_logprobs": TOP}
    if options.stop:
        body["stop"] = list(options.stop)
    if options.schema is not None:
        schema = {"name": "reply", "strict": True, "schema": options.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    if "chat_template_kwargs" not in without:
        # Qwen3 and its like think aloud unless told not to; other templates ignore it.
        body["extra_body"] = {"chat_template_kwargs": {"enable_thinking": False}}
    return {name: value for name, value in body.items() if name not in without}


def refused_parameter(error: Exception, known: frozenset[str]) -> str | None:
    """The optional parameter that a 400 or 422 complains of, None when it is about something else."""
    body = getattr(error, "body", None)
    named = body.get("param") if isinstance(body, dict) else None
    said = str(getattr(error, "message", error))
    for name in ("max_tokens", *OPTIONAL):
        if name not in known and (named == name or name in said):
            return name
    return None


class _Count:
    """What is known of a call while it runs."""

    def __init__(self, options: ChatOptions) -> None:
        self.purpose = options.purpose
        self.choices = options.choices
        self.start = time.monotonic()
        self.first_s: float | None = None
        self.pieces = 0
        self.usage: Any = None
        self.ended = "stopped"  # until something else is known

    def call(self) -> Call:
        details = getattr(self.usage, "prompt_tokens_details", None)
        cached = getattr(details, "cached_tokens", None) or 0
        return Call(
            purpose=self.purpose,
            prompt_tokens_new=(getattr(self.usage, "prompt_tokens", 0) or 0) - cached,
            prompt_tokens_cached=cached,
            # A reply that is stopped brings no figures; servers send about a token a piece.
            generated=getattr(self.usage, "completion_tokens", 0) or self.pieces,
            first_token_s=self.first_s,
            total_s=time.monotonic() - self.start,
            ended=self.ended,
        )


class OpenAIChat:
    """A ChatModel behind a URL. At most `slots` replies at once, so that one course does not flood a server."""

    def __init__(self, server: Server, model: str, usage: UsageMeter, *, context_tokens: int, slots: int) -> None:
        self._server = server
        self._model = model
        self._usage = usage
        self._context_tokens = context_tokens
        self._slots_count = slots
        self._slots = threading.BoundedSemaphore(slots)
        self._without: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self._model

    @property
    def abilities(self) -> ChatAbilities:
        return ChatAbilities(
            context_tokens=self._context_tokens,
            constrained="response_format" not in self._without,
            chain=True,
            slots=self._slots_count,
            weighs=not self._without & {"logprobs", "top_logprobs"},
        )

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """Pieces of the reply; see `ChatModel.stream`. Raises ServerRefused with what the server said."""
        count = _Count(options)
        while not self._slots.acquire(timeout=BEAT_S):
            yield ""
            if time.monotonic() - count.start > options.first_token_s:
                self._usage.event(options.purpose, "busy")
                raise ModelBusy(
                    f"all {self._slots_count} places of the model were taken for {options.first_token_s:.0f} s",
                    hint=AGAIN,
                )
        try:
            yield from self._reply(messages, options, count)
        except Exception:
            count.ended = "failed"
            raise
        finally:
            self._slots.release()
            self._usage.record(count.call())

    def prepare(self, prefix: Sequence[Message]) -> None:
        """Nothing: the cache is the server's own, and its first call may cost money."""

    def count_tokens(self, text: str) -> int:
        """An estimate from above: a token a Chinese character, one for three other characters."""
        wide = sum(1 for sign in text if ord(sign) > 0x2E7F)
        return wide + (len(text) - wide) // 3 + 1

    def close(self) -> None:
        self._server.client.close()

    def _reply(self, messages: Sequence[Message], options: ChatOptions, count: _Count) -> Generator[str, None, None]:
        line = Line()
        produce = self._producer(messages, options, line)
        relay: Relay[Any] = Relay(produce, name="endpoint-reply")
        shown = WithoutThinking()
        left = options.first_token_s - (time.monotonic() - count.start)
        try:
            for event in relay.paced(first_s=max(0.1, left)):
                if event is None:
                    yield ""
                    continue
                text = shown.feed(self._see(event, count))
                if text and count.first_s is None:
                    count.first_s = time.monotonic() - count.start
                # An empty piece as well: a thought keeps the deadline away, not the reader.
                yield text
            if count.ended == "stopped":
                raise ServerRefused("the chat model broke off in mid-reply", hint=AGAIN)
            yield shown.flush()
        finally:
            line.hang_up()
            relay.join(1.0)

    def _producer(
        self, messages: Sequence[Message], options: ChatOptions, line: Line
    ) -> Callable[[Callable[[Any], None]], None]:
        def produce(put: Callable[[Any], None]) -> None:
            with self._server.failures(), self._server.line(line), self._open(messages, options) as stream:
                for event in stream:
                    put(event)
                    if line.gone:
                        return

        return produce

    def _open(self, messages: Sequence[Message], options: ChatOptions) -> Any:
        """The stream of events; parameters that the server does not know are left out from then on."""
        import openai

        for _ in range(ADAPTATIONS):
            body = chat_request(self._model, messages, options, without=self._without)
            try:
                return self._server.client.chat.completions.create(**body)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                name = refused_parameter(error, self._without)
                if name is None:
                    raise
                log.warning("the server at %s does not take %s; leaving it out", self._server.url, name)
                self._without |= {name}
        return self._server.client.chat.completions.create(
            **chat_request(self._model, messages, options, without=self._without)
        )

    def _see(self, event: Any, count: _Count) -> str:
        """Take in one event of the stream; returns its text."""
        answered = getattr(event, "model", None) or ""
        if not same_model(self._model, answered):
            raise OtherModel(
                f"the server at {self._server.url} answered with the model {answered!r}, not {self._model!r}",
                hint=f"set OSRAG_ENDPOINT_MODEL={answered} if that is the one you want",
            )
        count.usage = getattr(event, "usage", None) or count.usage
        choice = event.choices[0] if event.choices else None
        if choice is None:
            return ""
        if choice.finish_reason:
            if choice.finish_reason == "content_filter":
                raise ModelFailed(f"a filter of the server at {self._server.url} stopped the reply")
            count.ended = "length" if choice.finish_reason == "length" else "done"
        said = str((choice.delta.content if choice.delta else "") or "")
        text = _chances(choice, count.choices) if count.choices else said
        count.pieces += bool(text)
        return text


def _chances(choice: Any, choices: Sequence[str]) -> str:
    """The chances of `choices` from the event of the first token; "" from an event without them."""
    tokens = getattr(getattr(choice, "logprobs", None), "content", None) or []
    if not tokens:
        return ""
    return spread(((one.token, math.exp(one.logprob)) for one in tokens[0].top_logprobs or ()), choices)


def load_openai_chat(server: Server, model: str, usage: UsageMeter, *, context_tokens: int, slots: int) -> OpenAIChat:
    """The served chat model, after its server was asked whether it has it."""
    return OpenAIChat(server, server.check_model(model), usage, context_tokens=context_tokens, slots=slots)
