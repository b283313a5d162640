"""The chat model of the `cpu` profile: a GGUF file on llama.cpp, in a process of its own.

The process is spoken to over HTTP on a socket file in a folder that only this user may enter, so no port is
opened. Where the system has no such sockets (Windows), it is a port of the loopback interface; there
and here a random key guards it.
"""

import hashlib
import importlib.metadata
import json
import logging
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from osrag.errors import BadInput, ModelFailed, OsragError
from osrag.models.gateway import CHAT_PACE, STALL_S, ChatGateway, FellSilent, Pace, Slot, flat
from osrag.models.openai_http import CHAT_PATH, BadStatus, HttpServer, chat_request, read_reply
from osrag.models.protocols import ChatAbilities, ChatOptions, Message, complete
from osrag.models.usage import Call, UsageMeter

log = logging.getLogger(__name__)

CHILD = Path(__file__).with_name("llama_child.py")
BATCH = 128  # prompt tokens between two looks at the other slots and at students who hung up
CLOSE_S = 3.0  # for the process to leave by itself before it is killed
AGAIN = "ask again: the model is loaded anew where need be"
# Threads of OpenMP wait for each other by spinning. Beside anything else that runs, a browser or a
# search, the one that waits takes the processor from the one it waits for: 0.4 tokens a second
# with two busy processes. Spinning briefly costs 3 % alone and gives 5.6 there (docs/models.md).
SPIN = {"GOMP_SPINCOUNT": "1000"}
CALL_S = 60.0  # for a call that generates nothing; it waits for a batch of others' prompts
TOKENS_S = 30.0  # for counting tokens, which waits for nothing
TOP_K = 20  # as the makers of Qwen2.5 recommend
REPEAT_PENALTY = 1.05
MOST_PREFIXES = 24  # files kept: the prompts of a few versions, a few megabytes each


# -- the process --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """What the engine is started with."""

    model: Path
    context_tokens: int  # of one slot
    slots: int
    threads: int
    prefixes: Path | None = None  # folder where prepared prefixes outlive the process
    adapter: Path | None = None  # trained for these weights; used only by calls with `ChatOptions.adapter`


def engine_failure(error: Exception) -> OsragError:
    """The error that a caller sees when a call of the engine fails."""
    if not isinstance(error, BadStatus):
        return ModelFailed(f"the chat model broke off ({type(error).__name__})", hint=AGAIN, transient=True)
    told = error.error
    if told.get("type") == "exceed_context_size_error":
        return BadInput(
            f"the question with its passages has {told.get('n_prompt_tokens', 'too many')} tokens, "
            f"more than the model can read ({told.get('n_ctx', 'its context')})",
            hint="ask a shorter question, or set OSRAG_CONTEXT_TOKENS higher",
        )
    return ModelFailed(f"the chat model refused: {str(error)[:200]}")


class LlamaProcess:
    """One running engine. It does not come back when it dies."""

    def __init__(self, config: EngineConfig) -> None:
        """Load the model in a new process; returns when it can answer.

        Raises ModelFailed, with what the engine said, when it cannot be loaded.
        """
        self._folder = Path(tempfile.mkdtemp(prefix="osrag-"))  # mode 0700; holds the socket
        self.slot_folder = _writable(config.prefixes) or _linked(
            config.prefixes, self._folder
        )  # where slots are saved to
        self.socket_file = str(self._folder / "llm.sock") if hasattr(socket, "AF_UNIX") else ""
        key = secrets.token_urlsafe(24)
        settings = {
            **asdict(config),
            "batch": BATCH,
            "folder": self._folder,
            "slot_folder": f"{self.slot_folder}{os.sep}",
            "host": self.socket_file or "127.0.0.1",
            "key": key,
        }
        said = self._folder / "log"
        with said.open("wb") as errors:
            self._process = subprocess.Popen(
                # -P: the folder of the file, with its `types`-like names, stays out of sys.path.
                [sys.executable, "-P", str(CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                # Ctrl-C in the terminal is for us; the child leaves when its stdin closes.
                start_new_session=True,
                env={**SPIN, **os.environ},
            )
        self.pid = self._process.pid
        assert self._process.stdin and self._process.stdout
        with suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps(settings, default=str).encode() + b"\n")
            self._process.stdin.flush()
        address = self._process.stdout.readline().decode().strip()
        told = said.read_text("utf-8", "replace")
        said.unlink(missing_ok=True)
        url = "http://localhost" if self.socket_file else address
        self.server = HttpServer(url, key, engine_failure, socket_file=self.socket_file)
        if not address:
            self.close()
            log.error("the engine could not load %s: %s", config.model, told)
            last = (told.strip().splitlines() or ["no message"])[-1]
            raise ModelFailed(
                f"the chat model {config.model.name!r} could not be loaded: {last[-300:]}",
                hint="is there enough memory (1.7 GB)? `python -m osrag info` checks the weights",
            )

    def alive(self) -> bool:
        """Is the process running?"""
        return self._process.poll() is None

    def wait(self, timeout_s: float) -> None:
        """Give a dying process a moment to be gone."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self.wait(CLOSE_S)

    def close(self) -> None:
        """Stop the process; replies in the making are cut off."""
        if self._process.stdin:
            with suppress(OSError):
                self._process.stdin.close()
        self.wait(CLOSE_S)
        if self.alive():
            self.kill()
        if self._process.stdout:
            self._process.stdout.close()
        self.server.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _writable(folder: Path | None) -> Path | None:
    """The folder, made where need be; None where files cannot be kept there."""
    with suppress(OSError):
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            return folder if os.access(folder, os.W_OK) else None
    return None


def _linked(folder: Path | None, into: Path) -> Path:
    """`into`, with links to the prefixes that a folder holds where nothing can be written: they are read there."""
    for file in folder.glob("*.bin") if folder else ():
        (into / file.name).symlink_to(file.resolve())
    return into


# -- the model ----------------------------------------------------------------------------------------


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

    def __init__(self, config: EngineConfig, usage: UsageMeter, pace: Pace = CHAT_PACE) -> None:
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
        self._gateway = ChatGateway(config.slots, usage, pace)
        self._slots = self._gateway.slots
        self._prefixes: dict[str, Path] = {}  # text of a prepared prefix: file with what the engine made of it
        self._start_lock = threading.Lock()
        self._engine: LlamaProcess | None = None
        self._closed = False
        self._spoke = 0.0  # when the engine last said something, to anybody
        self._running()

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """Pieces of the reply; see `ChatModel.stream`."""
        with self._watched(max(options.first_token_s, STALL_S)):  # a prompt takes its time
            yield from self._gateway.stream(messages, options, self._reply)

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
        with self._watched(TOKENS_S):
            reply = self._running().server.call("/tokenize", {"content": text}, timeout_s=TOKENS_S)
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
            with self._watched(CALL_S):
                self._recall(engine, slot, flat(messages))
            body = engine_request(messages, options, slot.id)
            for piece in read_reply(
                engine.server, lambda line: engine.server.events(CHAT_PATH, body, line), options, call
            ):
                if piece:
                    self._spoke = time.monotonic()
                yield piece
        except FellSilent:
            engine.kill()  # it hangs; the next call starts another
            raise
        except ModelFailed:
            # A process that was just killed may look alive for a moment.
            engine.wait(1.0)
            raise

    @contextmanager
    def _watched(self, most_s: float) -> Iterator[None]:
        """End an engine that lets a call fail by saying nothing to anybody for `most_s`.

        It hangs, and the next call starts another.
        """
        start = time.monotonic()
        try:
            yield
        except ModelFailed:
            with self._start_lock:
                silent_s = time.monotonic() - max(start, self._spoke)
                if self._engine is not None and silent_s >= most_s:
                    log.error("the chat model was silent for %.0f s; it is ended", silent_s)
                    self._engine.kill()
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
