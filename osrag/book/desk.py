"""A desk: the files that one visitor brought for a session, with the same readers, chunks and search as the book.

    files -> read, of a PDF the first pages before the rest -> chunks -> embed, in reading order -> search

What is embedded can be searched at once. All of it lies in one folder and in memory, and goes with the desk.
"""

import atexit
import errno
import functools
import hashlib
import logging
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock, Semaphore, Thread
from typing import Any, Literal

import numpy as np
from filelock import FileLock, Timeout

from osrag.book.chunking import UNSEARCHED, USUAL, Cut, search_text
from osrag.book.guarded import guarded
from osrag.book.read import PAGE_CHARS, Material, read_material
from osrag.book.search import TextbookSearch
from osrag.book.seen import keep_seen
from osrag.errors import BadDocument, DocumentFault
from osrag.index.collection import Collection
from osrag.index.manifest import DocumentEntry, id_of
from osrag.models.protocols import Encoder, Vectors
from osrag.text import tokens
from osrag.types import Chunk
from osrag.wording import in_full

log = logging.getLogger(__name__)
FIRST_PAGES = 24  # of a PDF, searchable within seconds; a chapter has about as many
WORKERS = 2  # processes that read one PDF
BATCH = 64  # passages that are embedded before they can be searched: some seconds of two cores
LOOK_S = 0.3  # between two looks of whoever watches
SOURCE = "upload/"  # begins the source of a passage, so that no file passes for one of the course
MOST_NAME = 80  # characters of a file's name that are kept; Chinese ones with a number fit the 255 bytes of a disk
FOLDERS, LOCK = "osrag-desks-", ".lock"  # of one process: how its folder's name begins, and what it holds while it runs

State = Literal["waiting", "reading", "embedding", "ready", "failed"]
Why = DocumentFault | Literal["", "stopped", "too_many", "too_large", "too_slow", "server_full", "disk_full"]


@dataclass(frozen=True, slots=True)
class Quota:
    """What one visitor may bring."""

    files: int
    bytes: int  # of all files together
    pages: int  # of all files together
    read_s: float  # for each file


@dataclass(frozen=True, slots=True)
class Brought:
    """One file, and how far it is."""

    name: str
    bytes: int = 0
    state: State = "waiting"
    done: int = 0  # pages read, or passages embedded
    total: int = 0
    pages: int = 0  # that can be searched; of a file without pages, what would be as many
    why: Why = ""  # it failed
    told: tuple[str, ...] = ()  # by its reader: what is wrong with it, or to be noticed


@dataclass(frozen=True, slots=True)
class _Passages:
    """What can be searched of one file, row by row."""

    entry: DocumentEntry
    chunks: tuple[Chunk, ...]
    vectors: Vectors  # (chunks, dim)


class _Ended(Exception):
    """A file is not read to its end."""

    def __init__(self, why: Why, *told: str) -> None:
        super().__init__(why)
        self.why, self.told = why, told


@functools.cache
def _folders() -> tuple[Path, FileLock]:
    """Where the folders of this process's desks lie, and a lock on it, which goes with the process however it ends."""
    folder = Path(tempfile.mkdtemp(prefix=FOLDERS))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    lock = FileLock(folder / LOCK)
    lock.acquire()
    return folder, lock


@dataclass
class Desk:
    """The files of one visitor. Safe to use from several threads; one reads at a time."""

    key: str  # that nobody can guess; it begins the id of every passage
    quota: Quota
    encoder: Encoder
    turn: Semaphore = field(default_factory=lambda: Semaphore(1))  # shared by all desks: how many read at once
    cut: Cut = USUAL
    room: Callable[[int], bool] = lambda passages: True  # whether the server has room for so many more
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(dir=_folders()[0])))
    closed: bool = False
    also: list[Path] = field(default_factory=list)  # files outside the folder that go with it
    _files: dict[str, Brought] = field(default_factory=dict)
    _digests: dict[str, str] = field(default_factory=dict)  # of the content of each file, by its name
    _held: dict[str, _Passages] = field(default_factory=dict)
    _joined: tuple[object, Collection[Chunk]] | None = None  # of the state that it was made of
    _searches: dict[bool, TextbookSearch] = field(default_factory=dict)  # alone, and beside the book
    _stopped: bool = False
    _reading: Lock = field(default_factory=Lock)
    _searching: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)  # at the end of the app too

    # -- what lies on it

    @property
    def files(self) -> tuple[Brought, ...]:
        """All files, in the order in which they came."""
        return tuple(self._files.values())

    @property
    def bytes(self) -> int:
        return sum(one.bytes for one in self.files)

    @property
    def pages(self) -> int:
        """Pages that can be searched."""
        return sum(one.pages for one in self.files)

    @property
    def passages(self) -> int:
        """Passages that can be searched."""
        return sum(len(one.chunks) for one in list(self._held.values()))

    @property
    def failed(self) -> bool:
        """Whether files came, and nothing of any of them can be searched or is still to be read."""
        files = self.files
        return bool(files) and not self._held and all(one.state == "failed" for one in files)

    def find(self, chunk_id: str) -> Chunk | None:
        """The passage of an id."""
        return next((one for held in list(self._held.values()) for one in held.chunks if one.id == chunk_id), None)

    def file_of(self, chunk: Chunk) -> Path:
        """The file that a passage stands in."""
        return self.folder / chunk.source.removeprefix(SOURCE)

    # -- bringing files

    def bring(self, paths: Sequence[Path]) -> Generator[tuple[Brought, ...]]:
        """Take copies of files and read them; gives all files of the desk again and again until that is done.

        Whoever closes the iterator stops the reading; what can be searched by then stays.
        """
        for path in paths:
            self._take(path)
        yield self.files
        while not self._reading.acquire(timeout=LOOK_S):  # files that came before
            yield self.files
        self._stopped = False
        worker = Thread(target=self._read_all, name="desk", daemon=True)
        worker.start()
        try:
            while worker.is_alive():
                yield self.files
                worker.join(LOOK_S)
        finally:
            self._stopped = True
            worker.join()
            self._reading.release()
        yield self.files

    def _take(self, path: Path) -> None:
        name = _new_name(path.name, self._files)
        try:
            size, digest = path.stat().st_size, _digest(path)
            if digest in self._digests.values():
                return  # it lies here already, perhaps under another name
            why = self._refused(size)
            if not why:
                _copy(path, self.folder / name)
                self._digests[name] = digest
        except OSError as error:
            size, why = 0, _why_of(error)
        self._files[name] = Brought(name, 0 if why else size, "failed" if why else "waiting", why=why)

    def _refused(self, size: int) -> Why:
        if len(self._digests) >= self.quota.files:
            return "too_many"
        return "too_large" if self.bytes + size > self.quota.bytes else ""

    def _read_all(self) -> None:
        """Runs in a thread: read what waits, one file after the other."""
        for name in [one.name for one in self.files if one.state == "waiting"]:
            try:
                self._read(name)
            except _Ended as ended:
                self._give_up(name, ended.why, *ended.told)
            except BadDocument as error:
                self._give_up(name, error.fault, in_full(error))
            except OSError as error:
                self._give_up(name, _why_of(error))
            except Exception as error:
                log.error("a file of a visitor was not read", exc_info=error)
                self._give_up(name, "bad")
        if self.closed:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _give_up(self, name: str, why: Why, *told: str) -> None:
        """A file that is not read to its end keeps what can be searched of it; else it may come again."""
        self._move(name, state="failed", why=why, told=told)
        if name not in self._held:
            self._move(name, bytes=0)
            self._digests.pop(name, None)
            (self.folder / name).unlink(missing_ok=True)

    def _read(self, name: str) -> None:
        """One file: of a PDF the first pages, then the whole."""
        while not self.turn.acquire(timeout=LOOK_S):
            self._look()
        try:
            until, path = time.monotonic() + self.quota.read_s, self.folder / name
            for first in (FIRST_PAGES, None) if _is_pdf(path) else (None,):
                self._move(name, state="reading", done=0, total=0)
                others = sum(one.pages for one in self.files if one.name != name)
                material = guarded(
                    read_material,
                    path,
                    progress=lambda done, total: self._move(name, done=done, total=total),
                    look=lambda: self._look(until),
                    workers=WORKERS,
                    most_pages=max(0, self.quota.pages - others),
                    first_pages=first,
                    cut=self.cut,
                )
                keep_seen(self.folder, material.document)
                self._embed(name, material, until)
                if material.document.pages < FIRST_PAGES:
                    break
            self._move(name, state="ready", told=material.document.warnings)
        finally:
            self.turn.release()

    def _look(self, until: float | None = None) -> None:
        """Raises _Ended where the reading is not wanted any more, or takes too long."""
        if self._stopped or self.closed:
            raise _Ended("stopped")
        if until is not None and time.monotonic() > until:
            raise _Ended("too_slow")

    def _embed(self, name: str, material: Material, until: float) -> None:
        """Embed what is new, in reading order. Each batch can be searched as soon as it is there."""
        chunks = [self._own(chunk) for chunk in material.chunks if chunk.subcategory not in UNSEARCHED]
        before = self._held.get(name)
        known: dict[str, Vectors] = {}
        if before is not None:
            known = dict(zip(map(search_text, before.chunks), before.vectors, strict=True))
        if not self.room(len(chunks) - len(known)):
            raise _Ended("server_full")
        texts = [search_text(chunk) for chunk in chunks]
        for start in range(0, len(chunks), BATCH):
            self._look(until)
            new = [text for text in texts[start : start + BATCH] if text not in known]
            known.update(zip(new, self.encoder.passages(new), strict=True) if new else ())
            end = min(start + BATCH, len(chunks))
            self._move(name, state="embedding", done=end, total=len(chunks))
            if before is None or end >= min(len(before.chunks), len(chunks)):
                self._publish(name, material, chunks[:end], np.stack([known[text] for text in texts[:end]]))

    def _own(self, chunk: Chunk) -> Chunk:
        """The passage with an id and a source of this desk, under the name of the file, which its visitor knows."""
        return replace(chunk, id=f"{self.key}/{chunk.id}", source=f"{SOURCE}{chunk.source}", title=chunk.source)

    def _publish(self, name: str, material: Material, chunks: Sequence[Chunk], vectors: Vectors) -> None:
        """Let these passages be searched; `vectors` is (chunks, dim)."""
        document = material.document
        entry = DocumentEntry(
            name=f"{SOURCE}{name}",
            sha256=f"{self._digests[name]}:{len(chunks)}",
            chunks=len(chunks),
            title=name,
            language=document.language,
            category=document.category,
            pages=document.pages,
        )
        self._held[name] = _Passages(entry, tuple(chunks), vectors)
        pages = chunks[-1].where.last if document.pages else -(-document.chars // PAGE_CHARS)
        self._move(name, pages=pages)

    def _move(self, name: str, **changed: Any) -> None:
        self._files[name] = replace(self._files[name], **changed)

    def stop(self) -> None:
        """End the reading; what can be searched by now stays."""
        self._stopped = True

    # -- searching it

    def search(self, book: TextbookSearch, *, alone: bool) -> TextbookSearch:
        """The search of these files, beside the book or alone."""
        with self._searching:
            if book.encoder is not self.encoder:
                self._embed_again(book.encoder)
            held = list(self._held.values())
            state = (book.collection, [one.entry for one in held])
            if self._joined is None or self._joined[0] != state:
                self._joined, self._searches = (state, self._with(book.collection, held)), {}
            if alone not in self._searches:
                self._searches[alone] = book.with_second(self._joined[1], alone=alone)
            return self._searches[alone]

    def _embed_again(self, encoder: Encoder) -> None:
        """The index of the course was made anew by another encoder."""
        for name, one in list(self._held.items()):
            vectors = encoder.passages([search_text(chunk) for chunk in one.chunks])
            self._held[name] = replace(one, vectors=vectors)
        self.encoder = encoder

    def _with(self, course: Collection[Chunk], held: Sequence[_Passages]) -> Collection[Chunk]:
        """The passages of the course that are searched, and behind them those of the desk."""
        chunks = [chunk for one in held for chunk in one.chunks]
        vectors = course.dense.vectors()
        if course.dense.dim != self.encoder.dim:  # of an encoder that is not here: the search goes by keywords
            vectors = np.zeros((len(vectors), self.encoder.dim), np.float32)
        return Collection.in_memory(
            [*course.searched(), *chunks],
            np.concatenate([vectors, *(one.vectors for one in held)]),
            [*_words_of(course), *(tokens(search_text(chunk)) for chunk in chunks)],
            of=Chunk,
            name="upload",
            encoder=id_of(self.encoder),
            documents=[*course.manifest.documents, *(one.entry for one in held)],
        )

    # -- the end

    def close(self) -> None:
        """Delete the files; a reading that goes on ends."""
        self.closed = True
        for path in self.also:
            path.unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


@functools.lru_cache(maxsize=1)
def _words_of(course: Collection[Chunk]) -> list[list[str]]:
    """The search tokens of the course, which take seconds and serve all desks."""
    return [tokens(search_text(chunk)) for chunk in course.searched()]


def forget_killed() -> None:
    """Delete the folders of processes that were killed before they could do so themselves."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*"):
        with suppress(Timeout, OSError):  # it runs; or the folder is another user's, or gone by now
            if folder.lstat().st_uid == os.getuid() and (folder / LOCK).is_file():
                with FileLock(folder / LOCK, timeout=0):
                    shutil.rmtree(folder)


def _new_name(name: str, taken: Mapping[str, Any]) -> str:
    """The name of a file on a desk: without a folder, short, and with a number where there is one of that name."""
    path = Path(name.replace("\\", "/"))
    stem, suffix = path.stem[: MOST_NAME - len(path.suffix)], path.suffix
    names = (f"{stem}{f' ({n})' if n > 1 else ''}{suffix}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy(path: Path, to: Path) -> None:
    """A second name for the file where the disk allows it, else a copy."""
    try:
        os.link(path, to)
    except OSError:
        shutil.copyfile(path, to)


def _why_of(error: OSError) -> Why:
    log.warning("a file of a visitor cannot be kept: %s", error.strerror)  # not its name
    return "disk_full" if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else "bad"


def _is_pdf(path: Path) -> bool:
    with path.open("rb") as file:
        return b"%PDF-" in file.read(1024)
