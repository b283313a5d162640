"""The chat model of the `cpu` profile: a GGUF file on llama.cpp, in a process of its own."""

import itertools
import logging
import math
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from typing import Any

from osrag.errors import BadInput, ModelBusy, ModelFailed
from osrag.models.llama_process import EngineConfig, LlamaProcess
from osrag.models.llama_stream import AGAIN, DONE, Incoming
from osrag.models.prefixes import KeptPrefixes, engine_version
from osrag.models.protocols import ChatAbilities, ChatOptions, Message
from osrag.models.slots import Slot, Slots, flat
from osrag.models.usage import Call, UsageMeter
from osrag.models.weigh import TOP, spread

log = logging.getLogger(__name__)

CHAT_PATH = "/v1/chat/completions"
STALL_S = 60.0  # silence between two tokens that means the engine hangs
BEAT_S = 0.25  # a wait yields an empty piece this often, so that the reader can leave
TOP_K = 20  # as the makers of Qwen2.5 recommend
REPEAT_PENALTY = 1.05


def chat_request(messages: Sequence[Message], options: ChatOptions) -> dict[str, Any]:
    """The body of one request. A prompt that begins like an earlier one is read from the cache."""
    body: dict[str, Any] = {
        "messages": [{"role": message.role, "content": message.content} for message in messages],
        "stream": True,
        "timings_per_token": True,  # a reply that is stopped is counted too
        "cache_prompt": True,
        "max_tokens": options.max_tokens,
        "temperature": options.temperature,
        "top_p": options.top_p,
        "top_k": TOP_K,
        "repeat_penalty": REPEAT_PENALTY,
        "seed": -1 if options.seed is None else options.seed,
    }
    if options.choices:
        body |= {"logprobs": True, "top_logprobs": TOP}
    if options.adapter:
        body["lora"] = [{"id": 0, "scale": 1.0}]
    if options.stop:
        body["stop"] = list(options.stop)
    if options.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "reply", "strict": True, "schema": options.schema},
        }
    return body


class _Count:
    """What is known of a call while it runs."""

    def __init__(self, options: ChatOptions) -> None:
        self.purpose = options.purpose
        self.choices = options.choices
        self.start = time.monotonic()
        self.first_s: float | None = None
        self.timings: Mapping[str, Any] = {}
        self.ended = "stopped"  # until something else is known

    def see(self, event: Mapping[str, Any]) -> str:
        """Take in one event of the stream; returns its text."""
        self.timings = event.get("timings") or self.timings
        choice = (event.get("choices") or [{}])[0]
        if choice.get("finish_reason"):
            self.ended = "length" if choice["finish_reason"] == "length" else "done"
        said = (choice.get("delta") or {}).get("content") or ""
        text = _chances(choice, self.choices) if self.choices else said
        if text and self.first_s is None:
            self.first_s = time.monotonic() - self.start
        return text

    def call(self) -> Call:
        return Call(
            purpose=self.purpose,
            prompt_tokens_new=int(self.timings.get("prompt_n", 0)),
            prompt_tokens_cached=int(self.timings.get("cache_n", 0)),
            generated=int(self.timings.get("predicted_n", 0)),
            first_token_s=self.first_s,
            total_s=time.monotonic() - self.start,
            ended=self.ended,
        )


def _chances(choice: Mapping[str, Any], choices: Sequence[str]) -> str:
    """The chances of `choices` from an event that carries the first token; "" from the others."""
    tokens = (choice.get("logprobs") or {}).get("content") or []
    if not tokens:
        return ""
    return spread(((one["token"], math.exp(one["logprob"])) for one in tokens[0]["top_logprobs"]), choices)


class LlamaCpp:
    """A ChatModel. Replies are generated side by side in slots; a dead engine is started again."""

    def __init__(self, config: EngineConfig, usage: UsageMeter) -> None:
        self._config = config
        self._usage = usage
        self._slots = Slots(config.slots)
        self._prefixes: dict[str, str] = {}  # text of a prepared prefix: file with what the engine made of it
        self._files = itertools.count()
        self._kept = _kept_prefixes(config)
        self._start_lock = threading.Lock()
        self._engine: LlamaProcess | None = None
        self._closed = False
        self._running()

    @property
    def name(self) -> str:
        return self._config.model.stem

    @property
    def abilities(self) -> ChatAbilities:
        # Ten tokens a second: a chain of calls before the answer would take a minute.
        return ChatAbilities(
            context_tokens=self._config.context_tokens,
            constrained=True,
            chain=False,
            slots=self._config.slots,
            weighs=True,
            has_adapter=self._config.adapter is not None,
        )

    @property
    def engine_pid(self) -> int:
        """Process of the engine, for measurements of its memory."""
        return self._running().pid

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """Pieces of the reply; see `ChatModel.stream`."""
        count = _Count(options)
        deadline = count.start + options.first_token_s
        text = flat(messages)
        while (slot := self._slots.take(text, BEAT_S)) is None:
            yield ""
            if time.monotonic() > deadline:
                self._usage.event(options.purpose, "busy")
                raise ModelBusy(
                    f"all {len(self._slots)} places of the model were taken for {options.first_token_s:.0f} s",
                    hint="ask again in a minute",
                )
        try:
            body = chat_request(messages, options) | {"id_slot": slot.id}
            yield from self._reply(slot, text, body, count, deadline)
        except (ModelFailed, BadInput):
            count.ended = "failed"
            raise
        finally:
            # What a slot holds of a prompt that was not read to its end is not known. A reply may also
            # be whole without a word: after a prepared prefix the model may have nothing to say.
            known = text if count.first_s is not None or count.ended in ("done", "length") else ""
            self._slots.give_back(slot, known, left=count.ended == "stopped")
            self._usage.record(count.call())

    def prepare(self, prefix: Sequence[Message]) -> None:
        """Read a fixed prefix once, for all slots: prompts that begin with it read only the rest."""
        text = flat(prefix)
        engine = self._running()
        if text in self._prefixes:
            return
        file = f"prefix-{next(self._files)}.bin"
        if self._kept.fetch(text, engine.folder / file):
            self._prefixes[text] = file
            return
        for _ in self.stream(prefix, ChatOptions(max_tokens=1, temperature=0, purpose="prepare")):
            pass
        slot = self._slots.take(text, STALL_S)
        if slot is None:
            return  # busy from the first second: the slots will learn the prefix as they go
        try:
            if slot.shared(text) == len(text):
                self._slot_file(engine, slot, "save", file)
                self._prefixes[text] = file
                self._kept.keep(text, engine.folder / file)
        finally:
            self._slots.give_back(slot, slot.text, left=False)

    def count_tokens(self, text: str) -> int:
        reply = self._running().post("/tokenize", {"content": text}, timeout_s=STALL_S)
        return len(reply["tokens"])

    def close(self) -> None:
        with self._start_lock:
            self._closed = True
            if self._engine is not None:
                self._engine.close()

    # -- one reply --------------------------------------------------------------------------------

    def _reply(
        self, slot: Slot, text: str, body: Mapping[str, Any], count: _Count, deadline: float
    ) -> Generator[str, None, None]:
        engine = self._running()
        self._recall(engine, slot, text)
        incoming = Incoming(engine, CHAT_PATH, body)
        try:
            while (event := incoming.next(BEAT_S)) is not DONE:
                if event is None:
                    yield ""
                    if time.monotonic() > deadline:
                        raise self._too_late(engine, count)
                    continue
                deadline = time.monotonic() + STALL_S
                if text := count.see(event):
                    yield text
        except ModelFailed:
            # A process that was just killed may look alive for a moment.
            engine.wait(1.0)
            raise
        finally:
            incoming.close()

    def _too_late(self, engine: LlamaProcess, count: _Count) -> ModelFailed:
        if count.first_s is None:
            return ModelFailed("the chat model gave no first token in time", hint="ask again in a minute")
        # It had begun and fell silent: it hangs. The next call starts another.
        engine.kill()
        return ModelFailed("the chat model fell silent in mid-reply", hint=AGAIN)

    def _recall(self, engine: LlamaProcess, slot: Slot, text: str) -> None:
        """Give the slot the longest prepared prefix of the prompt, if it does not remember more (a few ms)."""
        known = [prefix for prefix in self._prefixes if text.startswith(prefix)]
        best = max(known, key=len, default="")
        if len(best) <= slot.shared(text):
            return
        try:
            self._slot_file(engine, slot, "restore", self._prefixes[best])
        except ModelFailed as error:
            if not engine.alive():
                raise
            log.warning("a prepared prefix cannot be used, it is read again: %s", error)
            del self._prefixes[best]
            self._kept.forget(best)

    def _slot_file(self, engine: LlamaProcess, slot: Slot, action: str, file: str) -> None:
        engine.post(f"/slots/{slot.id}?action={action}", {"filename": file}, timeout_s=STALL_S)

    def _running(self) -> LlamaProcess:
        """The engine; started first, or again, when it does not run."""
        with self._start_lock:
            if self._closed:
                raise ModelFailed("the chat model was closed")
            if self._engine is not None and not self._engine.alive():
                log.error("the chat model died; starting it again")
                self._engine.close()
                self._engine = None
            if self._engine is None:
                self._slots.forget()
                self._prefixes.clear()
                self._engine = LlamaProcess.start(self._config)
            return self._engine


def _kept_prefixes(config: EngineConfig) -> KeptPrefixes:
    """Prefixes of earlier starts, good for the same weights, engine and memory layout."""
    if config.prefixes is None or not config.model.is_file():
        return KeptPrefixes(None)
    seen = config.model.stat()
    layout = (config.context_tokens, config.slots, config.batch)
    return KeptPrefixes(config.prefixes, config.model, seen.st_size, seen.st_mtime_ns, engine_version(), *layout)


def load_llama_cpp(config: EngineConfig, usage: UsageMeter) -> LlamaCpp:
    """Load a GGUF file on the CPU. Raises ModelFailed when the engine cannot."""
    return LlamaCpp(config, usage)
