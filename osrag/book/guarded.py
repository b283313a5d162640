"""A document is read in a process of its own, with limits, so that no file can take the machine or end a build.

A page may unpack to gigabytes, or take hours to lay out, and a parser may meet what its authors never saw. The system
bounds the memory of the process, a clock ends one that gives no sign of life, and whatever breaks is a BadDocument.
"""

import os
import resource
import signal
import stat
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from osrag.errors import BadDocument
from osrag.wording import Said

MEMORY_BYTES = 4 << 30  # address space; text recognition needs 2 GB of it, a book of 700 pages 0.6 GB
SILENT_S = 180.0  # for 64 pages, and for the layout of all; they take 10 s and 20 s, of 700 pages, and more when busy
LOOK_S = 0.3  # between two looks at whether the reading is still wanted
SMALL_BYTES = 200_000  # a text file up to here is read at once: none was found that takes more than five seconds
TEXTS = frozenset({".md", ".markdown", ".mdown", ".txt", ".text"})
Progress = Callable[[int, int], None]
T = TypeVar("T")


def guarded(
    read: Callable[..., T],
    path: Path,
    *,
    progress: Progress,
    look: Callable[[], None] = lambda: None,
    silent_s: float = SILENT_S,
    memory_bytes: int = MEMORY_BYTES,
    **options: Any,
) -> T:
    """`read(path, progress=…, **options)` within limits of memory and time. Raises BadDocument for all that goes wrong.

    `read` is a function of a module, so that the other process finds it. `look` is called all the while; what it raises
    ends the reading.
    """
    refuse_special(path)
    if path.suffix.lower() in TEXTS and path.is_file() and path.stat().st_size <= SMALL_BYTES:
        return _read(read, path, options, progress)
    context = get_context("spawn")  # a forked process that had threads may hang
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(theirs, read, path, options, memory_bytes))
    child.start()
    theirs.close()
    try:
        found: T = _result(path, ours, progress, look, silent_s)
        return found
    finally:
        with suppress(ProcessLookupError):
            os.killpg(child.pid or 0, signal.SIGKILL)  # it leads a group: its own workers go with it
        child.kill()
        child.join()
        ours.close()


def refuse_special(path: Path) -> None:
    """Raises BadDocument for a pipe, a socket or a device, which may never end."""
    with suppress(OSError):
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            raise BadDocument(Said("doc_pipe", name=path.name), hint=Said("doc_do_copy"))


def _result(path: Path, ours: Connection, progress: Progress, look: Callable[[], None], silent_s: float) -> Any:
    """What the process sends: pages done, then what was read or what is wrong with the file."""
    heard = time.monotonic()
    while True:
        look()
        if not ours.poll(min(LOOK_S, silent_s)):
            if time.monotonic() - heard < silent_s:
                continue
            raise BadDocument(
                Said("doc_silent", name=path.name, seconds=f"{silent_s:.0f}"),
                hint=Said("doc_do_simpler"),
                fault="heavy",
            )
        try:
            what, value = ours.recv()
        except EOFError:
            raise BadDocument(
                Said("doc_broke_down", name=path.name), hint=Said("doc_do_print"), fault="damaged"
            ) from None
        heard = time.monotonic()
        if what == "read":
            return value
        if what == "bad":
            raise BadDocument(value[0], hint=value[1], fault=value[2])
        progress(*value)


def _child(
    theirs: Connection, read: Callable[..., Any], path: Path, options: dict[str, Any], memory_bytes: int
) -> None:
    """Runs in the process: read, and send what comes of it."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    try:
        theirs.send(("read", _read(read, path, options, lambda *pages: theirs.send(("pages", pages)))))
    except BadDocument as error:
        theirs.send(("bad", (error.message, error.hint, error.fault)))


def _read(read: Callable[..., T], path: Path, options: dict[str, Any], progress: Progress) -> T:
    """What `read` gives. Raises BadDocument, also for what no reader foresaw."""
    try:
        return read(path, progress=progress, **options)
    except BadDocument:
        raise
    except MemoryError:
        raise BadDocument(Said("doc_memory", name=path.name), hint=Said("doc_do_split"), fault="heavy") from None
    except Exception as error:
        broke = Said("doc_unforeseen", name=path.name, why=f"{type(error).__name__}: {str(error)[:80]}")
        raise BadDocument(broke, hint=Said("doc_do_print")) from error
