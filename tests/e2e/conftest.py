"""A running osrag with its real weights and the shipped index, for the tests at the end of the run."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
START_S = 180  # a cold disk and two busy cores; the floor itself is measured in bench/


@dataclass(frozen=True)
class Server:
    url: str
    log: Path
    process: subprocess.Popen[bytes]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def need_weights() -> None:
    from osrag.models.store import Store
    from osrag.settings import load_settings

    store = Store(load_settings())
    missing = [name for name in ("encoder", "chat") if store.present(name) is None]
    if missing:
        pytest.skip(f"no weights for {', '.join(missing)}; run: python -m osrag fetch")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The app in a process of its own, on a free port; many visitors are allowed a minute."""
    need_weights()
    port, log = free_port(), tmp_path_factory.mktemp("app") / "app.log"
    # Ten visitors on a machine that is busy with something else wait longer for a first token than a student should.
    limits = {"OSRAG_REQUESTS_PER_MINUTE": "1000", "OSRAG_SEARCHES_PER_MINUTE": "9000", "OSRAG_FIRST_TOKEN_S": "300"}
    env = {**os.environ, "OSRAG_PORT": str(port), **limits}
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=env, stdout=out, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/", process, log)
        yield Server(f"http://127.0.0.1:{port}", log, process)
    finally:
        process.terminate()
        process.wait(timeout=30)


def wait_for(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            pytest.fail(f"the app ended with {process.returncode}:\n{log.read_text()[-3000:]}")
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    pytest.fail(f"the app did not answer in {START_S} s:\n{log.read_text()[-3000:]}")
