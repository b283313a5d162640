"""Three replicas behind nginx before llama.cpp's own server: does each answer with the words of the one model?

    python -m tests.large.replicas_llama

Not among the tests: it takes five minutes and more on two busy cores, and 6 GB.
Needs nginx and the weights of `python -m osrag fetch`.
"""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from osrag.models.store import Store
from osrag.settings import load_settings
from tests.e2e.test_replicas import NAMES, Replicas, chat, served_by
from tests.large import llama_server

QUESTIONS = (
    "Why does a program that allocates much more memory than there is get slow?",
    "Why is it dangerous to hold a lock while waiting for a disk?",
    "Why can a scheduler not give every process the processor at once?",
)
# A short prompt and a short answer: a processor that others use too reads twenty tokens a second.
SHORT = {"OSRAG_FIRST_TOKEN_S": "300", "OSRAG_MAX_NEW_TOKENS": "32", "OSRAG_PASSAGES": "1"}


def main() -> None:
    model, start = Store(load_settings()).path("chat"), time.monotonic()
    command = [sys.executable, llama_server.__file__, str(model), "a key", "chat", "8192"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as llama,
    ):
        try:
            address = json.loads(llama.stdout.readline())["address"]
            with served_by(Path(folder), f"{address}/v1", "a key", "", **SHORT) as (port, ports, processes):
                tell(f"up after {time.monotonic() - start:.0f} s")
                replicas = Replicas(f"http://127.0.0.1:{port}", ports, processes, None)
                for name, question in zip(NAMES, QUESTIONS, strict=True):
                    begun = time.monotonic()
                    with replicas.visitor(replicas.cookie_to(name)) as client:
                        client.timeout = 300
                        *_, last = chat(client, question)
                    how, text = last.get("how", "failed"), str(last.get("text", last))
                    tell(f"{name}, {time.monotonic() - begun:.0f} s, {how}: {text[:160]!r}")
                held = [memory_gb(one.pid) for one in (llama, *processes.values())]
                tell(f"GB of the model server and the replicas: {', '.join(f'{one:.2f}' for one in held)}")
                told = replicas.told('osrag_questions_total{how="generated"}')
                tell(f"answers written by the model, by replica: {told}")
                assert told == dict.fromkeys(NAMES, 1.0)
        finally:
            llama.kill()


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def memory_gb(pid: int) -> float:
    """The memory of a process; of what several map, its share."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1e6


if __name__ == "__main__":
    main()
