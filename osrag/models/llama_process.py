"""Starts the process that holds the chat model, and knows how to reach it.

It is spoken to over HTTP on a socket file in a folder that only this user may enter, so no port is
opened. Where the system has no such sockets (Windows), it is a port of the loopback interface; there
and here a random key guards it.
"""

import json
import logging
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from osrag.errors import BadInput, ModelFailed, OsragError
from osrag.models.openai_http import BadStatus, HttpServer

log = logging.getLogger(__name__)

CHILD = Path(__file__).with_name("llama_child.py")
BATCH = 128  # prompt tokens between two looks at the other slots and at students who hung up
CLOSE_S = 3.0  # for the process to leave by itself before it is killed
AGAIN = "ask again: the model is loaded anew where need be"
# Threads of OpenMP wait for each other by spinning. Beside anything else that runs, a browser or a
# search, the one that waits takes the processor from the one it waits for: 0.4 tokens a second
# with two busy processes. Spinning briefly costs 3 % alone and gives 5.6 there (docs/models.md).
SPIN = {"GOMP_SPINCOUNT": "1000"}


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
        self.slot_folder = _writable(config.prefixes) or self._folder  # where slots are saved to
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
        address = _address(self._process.stdout.readline())
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


def _address(reply: bytes) -> str:
    """The address in the child's line of JSON; "" when it died before."""
    try:
        return str(json.loads(reply).get("address", ""))
    except ValueError:
        return ""
