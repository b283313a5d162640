"""The chat model of the `cpu` profile: a GGUF file on llama.cpp, in a process of its own."""

import hashlib
import importlib.metadata
import logging
import os
import threading
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from osrag.errors import ModelFailed
from osrag.models.gateway import ChatGateway
from osrag.models.llama_process import BATCH, EngineConfig, LlamaProcess
from osrag.models.openai_http import CHAT_PATH, chat_request, read_reply
from osrag.models.protocols import ChatAbilities, ChatOptions, Message, complete
from osrag.models.replies import FellSilent, Slot, flat
from osrag.models.usage import Call, UsageMeter

log = logging.getLogger(__name__)

CALL_S = 60.0  # for a call that generates nothing
TOP_K = 20  # as the makers of Qwen2.5 recommend
REPEAT_PENALTY = 1.05
MOST_PREFIXES = 24  # files kept: the prompts of a few versions, a few megabytes each


def engine_request(messages: Sequence[Message], options: ChatOptions, slot: int) -> dict[str, Any]:
    """The body of one request. A prompt that begins like an earlier one is read from the cache."""
    body = chat_request(messages, options) | {
        "id_slot": slot,
        "cache_prompt": True,
        "timings_per_token": True,  # a reply that is stopped is counted too
        "top_k": TOP_K,
        "repeat_penalty": REPEAT_PENALTY,
    }
    if options.adapter:
        body["lora"] = [{"id": 0, "scale": 1.0}]
    return body


class LlamaCpp:
    """A ChatModel. Replies are generated side by side in slots; a dead engine is started again.

    Making one starts the engine; raises ModelFailed when that cannot load the file.
    """

    def __init__(self, config: EngineConfig, usage: UsageMeter) -> None:
        self.name = config.model.stem
        self.abilities = ChatAbilities(
            context_tokens=config.context_tokens,
            constrained=True,
            chain=False,  # ten tokens a second: a chain of calls before the answer would take a minute
            slots=config.slots,
            weighs=True,
            has_adapter=config.adapter is not None,
        )
        self._config = config
        self._gateway = ChatGateway(config.slots, usage)
        self._slots = self._gateway.slots
        self._prefixes: dict[str, Path] = {}  # text of a prepared prefix: file with what the engine made of it
        self._start_lock = threading.Lock()
        self._engine: LlamaProcess | None = None
        self._closed = False
        self._running()

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """Pieces of the reply; see `ChatModel.stream`."""

        def reply(slot: Slot, call: Call) -> Generator[str, None, None]:
            return self._reply(messages, options, slot, call)

        return self._gateway.stream(messages, options, reply)

    def prepare(self, prefix: Sequence[Message]) -> None:
        """Read a fixed prefix once, for all slots: prompts that begin with it read only the rest.

        What the engine made of it is kept in a file from one start to the next: reading the fixed parts of
        all prompts costs a CPU some ten seconds. A file that is lost or damaged costs them again, nothing else.
        """
        text = flat(prefix)
        engine = self._running()
        file = engine.slot_folder / f"{self._identity(text)}.bin"
        if not file.is_file() and not self._save_prefix(prefix, text, file, engine):
            return
        with suppress(OSError):
            os.utime(file)  # the files that were used last are kept
        self._prefixes[text] = file

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` alone; a call of about a millisecond."""
        reply = self._running().server.call("/tokenize", {"content": text}, timeout_s=CALL_S)
        return len(reply["tokens"])

    def close(self) -> None:
        """Stop the engine; replies in the making are cut off, later calls fail."""
        with self._start_lock:
            self._closed = True
            if self._engine is not None:
                self._engine.close()

    def _reply(
        self, messages: Sequence[Message], options: ChatOptions, slot: Slot, call: Call
    ) -> Generator[str, None, None]:
        engine = self._running()
        try:
            self._recall(engine, slot, flat(messages))
            body = engine_request(messages, options, slot.id)
            yield from read_reply(
                engine.server, lambda line: engine.server.events(CHAT_PATH, body, line), options, call
            )
        except FellSilent:
            engine.kill()  # it hangs; the next call starts another
            raise
        except ModelFailed:
            # A process that was just killed may look alive for a moment.
            engine.wait(1.0)
            raise

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
                self._engine = LlamaProcess(self._config)
            return self._engine

    # -- prepared prefixes ------------------------------------------------------------------------

    def _save_prefix(self, prefix: Sequence[Message], text: str, file: Path, engine: LlamaProcess) -> bool:
        """Have the engine read a prefix and write `file`; False when every slot was taken meanwhile."""
        complete(self, prefix, ChatOptions(max_tokens=1, temperature=0, purpose="prepare"))
        slot = self._slots.take(text, CALL_S)
        if slot is None:
            return False
        part = file.with_suffix(f".{os.getpid()}")  # a file that was half written never counts
        try:
            if slot.shared(text) < len(text):
                return False  # busy from the first second: the slots will learn the prefix as they go
            self._slot_file(engine, slot, "save", part)
            part.replace(file)
        except (OSError, ModelFailed) as error:  # a full disk, say: the next start reads it again
            log.warning("a prepared prefix cannot be kept: %s", error)
            part.unlink(missing_ok=True)
            return False
        finally:
            self._slots.give_back(slot, slot.text, left=False)
        _keep_newest(file.parent)
        return True

    def _recall(self, engine: LlamaProcess, slot: Slot, text: str) -> None:
        """Give the slot the longest prepared prefix of the prompt, if it does not remember more (a few ms)."""
        known = {prefix: file for prefix, file in list(self._prefixes.items()) if text.startswith(prefix)}
        best = max(known, key=len, default="")
        if len(best) <= slot.shared(text):
            return
        try:
            self._slot_file(engine, slot, "restore", known[best])
        except ModelFailed as error:
            if not engine.alive():
                raise
            log.warning("a prepared prefix cannot be used, it is read again: %s", error)
            if file := self._prefixes.pop(best, None):  # another thread may have met the same
                file.unlink(missing_ok=True)

    def _slot_file(self, engine: LlamaProcess, slot: Slot, action: str, file: Path) -> None:
        engine.server.call(f"/slots/{slot.id}?action={action}", {"filename": file.name}, timeout_s=CALL_S)

    def _identity(self, text: str) -> str:
        """Names a prefix; what was made of it is good for the same weights, engine and memory layout only."""
        config = self._config
        seen = config.model.stat()
        weights = (config.model, seen.st_size, seen.st_mtime_ns)
        layout = (config.context_tokens, config.slots, BATCH)
        told = "\0".join(map(str, (*weights, *layout, importlib.metadata.version("xllamacpp"), text)))
        return hashlib.sha256(told.encode()).hexdigest()[:32]


def _keep_newest(folder: Path) -> None:
    """Delete all but the prefixes that were used last."""
    with suppress(OSError):
        newest_first = sorted(folder.glob("*.bin"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in newest_first[MOST_PREFIXES:]:
            path.unlink(missing_ok=True)
