"""Starts the process that holds the chat model, and talks HTTP to it over a private socket.

The socket is a file in a folder that only this user may enter, so no port is
opened. Where the system has no such sockets (Windows), it is a port of the
loopback interface; there and here a random key guards it.
"""

import http.client
import json
import logging
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osrag.errors import ModelFailed

log = logging.getLogger(__name__)

CHILD = Path(__file__).with_name("llama_child.py")
CLOSE_S = 3.0
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
    batch: int = 128  # prompt tokens between two looks at the other slots and at hung-up readers
    prefixes: Path | None = None  # folder where prepared prefixes outlive the process
    adapter: Path | None = None  # trained for these weights; used only by calls with `ChatOptions.adapter`


class LocalConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket file, or over loopback where there are none."""

    def __init__(self, address: str, timeout_s: float) -> None:
        self._path = address.removeprefix("unix://") if address.startswith("unix://") else ""
        host = "localhost" if self._path else address.removeprefix("http://")
        super().__init__(host, timeout=timeout_s)

    def connect(self) -> None:
        if not self._path:
            super().connect()
            return
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class LlamaProcess:
    """One running engine. Create it with `start`; it does not come back when it dies."""

    def __init__(self, process: "subprocess.Popen[bytes]", address: str, key: str, folder: Path) -> None:
        self._process = process
        self._address = address
        self._key = key
        self.folder = folder  # private: the socket, and the files that slots are saved to

    @classmethod
    def start(cls, config: EngineConfig) -> "LlamaProcess":
        """Load the model in a new process; returns when it can answer.

        Raises ModelFailed, with what the engine said, when it cannot be loaded.
        """
        folder = Path(tempfile.mkdtemp(prefix="osrag-"))  # mode 0700
        key = secrets.token_urlsafe(24)
        host = str(folder / "llm.sock") if hasattr(socket, "AF_UNIX") else "127.0.0.1"
        settings = {
            "model": str(config.model),
            "adapter": str(config.adapter or ""),
            "context_tokens": config.context_tokens,
            "slots": config.slots,
            "threads": config.threads,
            "batch": config.batch,
            "slot_folder": str(folder) + os.sep,
            "host": host,
            "key": key,
        }
        said = folder / "log"
        with said.open("wb") as errors:
            process = subprocess.Popen(
                # -P: the folder of the file, with its `types`-like names, stays out of sys.path.
                [sys.executable, "-P", str(CHILD)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                # Ctrl-C in the terminal is for us; the child leaves when its stdin closes.
                start_new_session=True,
                env={**SPIN, **os.environ},
            )
        assert process.stdin and process.stdout
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(settings).encode() + b"\n")
            process.stdin.flush()
        reply = process.stdout.readline()
        told = said.read_text("utf-8", "replace")
        said.unlink(missing_ok=True)
        address = _address(reply)
        engine = cls(process, address, key, folder)
        if not address:
            engine.close()
            log.error("the engine could not load %s: %s", config.model, told)
            last = (told.strip().splitlines() or ["no message"])[-1]
            raise ModelFailed(
                f"the chat model {config.model.name!r} could not be loaded: {last[-300:]}",
                hint="is there enough memory (1.7 GB)? `python -m osrag info` checks the weights",
            )
        return engine

    @property
    def pid(self) -> int:
        return self._process.pid

    def alive(self) -> bool:
        return self._process.poll() is None

    def wait(self, timeout_s: float) -> None:
        """Give a dying process a moment to be gone."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)

    def kill(self) -> None:
        self._process.kill()
        self.wait(CLOSE_S)

    def connect(self, timeout_s: float) -> LocalConnection:
        return LocalConnection(self._address, timeout_s)

    def headers(self) -> dict[str, str]:
        return {"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"}

    def post(self, path: str, body: Mapping[str, Any], *, timeout_s: float) -> Any:
        """One JSON request and its JSON reply. Raises ModelFailed when the engine does not answer."""
        connection = self.connect(timeout_s)
        try:
            connection.request("POST", path, json.dumps(body), self.headers())
            reply = connection.getresponse()
            data = json.loads(reply.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise ModelFailed(f"the chat model does not answer: {error}") from error
        finally:
            connection.close()
        if reply.status != 200:
            raise ModelFailed(f"the chat model refused {path}: {data}")
        return data

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
        shutil.rmtree(self.folder, ignore_errors=True)


def _address(reply: bytes) -> str:
    """The address in the child's line of JSON; "" when it died before."""
    try:
        return str(json.loads(reply).get("address", ""))
    except ValueError:
        return ""
