"""Faults around a running page: the visitor reads a sentence, and the next question works."""

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from gradio_client import Client

from osrag.answer.events import Done, Token, Waiting
from osrag.book.search import TextbookSearch
from osrag.index.collection import Collection, write_collection
from osrag.index.manifest import EncoderId
from osrag.types import Chunk, PageRef
from osrag.ui.admission import RateLimit
from tests.fakes import FakeEncoder

ROOT = Path(__file__).parents[2]


def whole(address: str, question: str = "What is a lock?") -> str:
    return Client(address, verbose=False).predict(question, api_name="/chat")["text"]


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_an_upload_that_the_disk_does_not_hold(address: str, script, monkeypatch, capsys, fault: int):
    def full(*_: object, **__: object) -> None:
        raise OSError(fault, os.strerror(fault))

    monkeypatch.setattr("gradio.route_utils.GradioUploadFile.__init__", full)
    reply = httpx.post(
        f"{address}gradio_api/upload", files={"files": ("deck.json", b"{}")}, headers={"accept-language": "en"}
    )
    assert (reply.status_code, reply.text) == (507, "Too many files have been uploaded lately. Please try again later.")
    assert "Traceback" not in "".join(capsys.readouterr())
    script.events = [Done("A lock.", (), "extracts")]
    assert whole(address) == "A lock."


def test_a_clock_that_jumps_keeps_nobody_out(address: str, script, monkeypatch):
    limit = RateLimit(per_minute=1)
    usual = time.time
    assert limit.wait_s("a", "one") == 0
    for days in (-400, 400, 0):
        monkeypatch.setattr(time, "time", lambda days=days: usual() + days * 86400)
        assert 0 < limit.wait_s("a", "one") <= 60
        script.events = [Done(f"{days}", (), "extracts")]
        assert whole(address) == f"{days}"


def test_a_clock_that_jumps_takes_no_files_away(address: str, parts, tmp_path: Path, monkeypatch):
    usual = time.time
    (tmp_path / "notes.md").write_text("# Deadlock\n\nThe banker's algorithm keeps the system in a safe state.\n")
    desk = parts.desks.open("a visitor")
    list(desk.bring([tmp_path / "notes.md"]))
    for days in (-400, 400, 0):
        monkeypatch.setattr(time, "time", lambda days=days: usual() + days * 86400)
        parts.desks.sweep()
        assert parts.desks.of("a visitor") is desk and desk.passages
        reply = httpx.post(f"{address}gradio_api/upload", files={"files": ("deck.json", b"{}")})
        assert reply.status_code == 200
    parts.desks.close("a visitor")


def test_a_browser_that_goes_stops_its_run_and_the_next_question_works(address: str, script, monkeypatch):
    gone = threading.Event()

    def endless(_parts, _question):
        try:
            yield Token("textbook", "A lock ")
            while True:
                time.sleep(0.05)
                yield Waiting()
        finally:
            gone.set()

    monkeypatch.setattr("osrag.ui.api.answer", endless)
    call = f"{address}gradio_api/call/chat"
    begun = httpx.post(f"{address}gradio_api/call/v2/chat", json={"question": "q"}).json()["event_id"]
    with httpx.stream("GET", f"{call}/{begun}", timeout=20) as stream:
        assert "event: generating" in next(stream.iter_lines())
    assert gone.wait(20), "the run goes on for nobody"
    monkeypatch.setattr("osrag.ui.api.answer", script)
    script.events = [Done("A lock.", (), "extracts")]
    assert whole(address) == "A lock."


def test_an_index_that_is_replaced_while_it_is_read_is_whole(tmp_path: Path):
    encoder = FakeEncoder()
    identity = EncoderId(name=encoder.name, revision=encoder.revision, dim=encoder.dim)

    def write(turn: int) -> None:
        pages = [PageRef(n + 1, n + 1, str(n + 1)) for n in range(turn % 5 + 1)]
        chunks = [Chunk(f"b#{n}", f"turn {turn}", "b.md", page, n, (), "en") for n, page in enumerate(pages)]
        vectors = encoder.passages([one.text for one in chunks])
        write_collection(
            tmp_path, chunks, vectors, [["turn"]] * len(chunks), of=Chunk, name="textbook", encoder=identity
        )

    write(0)
    held = TextbookSearch(Collection.load(tmp_path, None, of=Chunk), encoder)
    stop = threading.Event()

    def replace() -> None:
        turn = 0
        while not stop.is_set():
            write(turn := turn + 1)

    writer = threading.Thread(target=replace)
    writer.start()
    try:
        for number in range(60):
            opened = Collection.load(tmp_path, None, of=Chunk)
            found = TextbookSearch(opened, encoder).search(f"turn {number}").hits  # by vectors and by keywords
            texts = [one.text for one in opened.chunks()]
            assert len(set(texts)) == 1 and len(texts) == int(texts[0].split()[1]) % 5 + 1
            assert {hit.chunk.text for hit in found} == set(texts)
            assert [hit.chunk.text for hit in held.search(f"turn {number}").hits] == ["turn 0"]
    finally:
        stop.set()
        writer.join()
    assert [one.text for one in held.collection.chunks()] == ["turn 0"], "a search keeps what it began with"


@pytest.mark.slow  # an app in a process of its own
def test_sigterm_ends_an_app_with_status_0_after_its_answers(tmp_path: Path):
    port, go_on = tmp_path / "port", tmp_path / "go on"
    ran = subprocess.Popen([sys.executable, "-m", "tests.faults.served", str(port), str(go_on)], cwd=ROOT)
    try:
        wait_until(lambda: port.exists() or ran.poll() is not None)
        address = port.read_text()
        wait_until(lambda: is_up(address))
        job = Client(address, verbose=False).submit("What is a lock?", api_name="/chat")
        wait_until(lambda: job.outputs() or job.done())
        ran.send_signal(signal.SIGTERM)
        wait_until(lambda: httpx.get(f"{address}readyz", trust_env=False).status_code == 503)
        late = httpx.post(f"{address}gradio_api/call/v2/chat", json={"question": "q"}, trust_env=False)
        assert late.status_code == 429 and ran.poll() is None
        go_on.touch()
        assert job.result(timeout=30)["text"] == "A lock."
        assert ran.wait(30) == 0
    finally:
        ran.kill()
        ran.wait(30)


def is_up(address: str) -> bool:
    try:
        return httpx.get(f"{address}readyz", trust_env=False).status_code == 200
    except httpx.HTTPError:
        return False


def wait_until(true: Callable[[], object], most_s: float = 60) -> None:
    until = time.monotonic() + most_s
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


@pytest.mark.slow  # an app in a process of its own
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_log_on_a_full_disk_costs_its_lines_only(tmp_path: Path):
    port = tmp_path / "port"
    with Path("/dev/full").open("w") as full:
        ran = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.served", str(port)], cwd=ROOT, stdout=full, stderr=full
        )
    try:
        deadline = time.monotonic() + 60
        while not port.exists() and time.monotonic() < deadline and ran.poll() is None:
            time.sleep(0.1)
        assert ran.poll() is None, "the app ended"
        assert whole(port.read_text()) == "A lock."
        assert whole(port.read_text()) == "A lock."
    finally:
        ran.terminate()
        ran.wait(30)
