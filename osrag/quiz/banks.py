"""The bank that visitors see now: the shipped one, the operator's own, and what an instructor uploads."""

import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from threading import Lock

from osrag.errors import BadInput, BadSettings
from osrag.quiz.bank import Bank, BankFile, load_bank, read_file, shipped_bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.rows import as_row
from osrag.wording import Said

log = logging.getLogger(__name__)
MOST_ROWS = 5000  # of one file; the list of questions on the page bears no more
UPLOADED = "uploaded"  # the folder of uploads inside the operator's
_ODD = re.compile(r"[^\w-]+")  # in the name of a file


class Banks:
    """The bank of now. Safe from several threads: who reads holds a `Bank`, which never changes."""

    def __init__(self, folder: Path | None = None, *, shipped: bool = True) -> None:
        """`folder` has the operator's own files and keeps uploads. Raises BadSettings where there is no such folder."""
        if folder is not None and not folder.is_dir():
            raise BadSettings(f"OSRAG_BANK_DIR: no folder at {str(folder)!r}")
        self._folder, self._shipped = folder, shipped
        self._own = Bank(())
        self._uploads: dict[str, tuple[Exercise, ...]] = {}
        self._joined: Bank | None = None
        self._lock = Lock()

    @property
    def now(self) -> Bank:
        """What is asked of visitors; read on the first use."""
        with self._lock:
            if self._joined is None:
                self._own = load_bank(self._folder, most=MOST_ROWS) if self._folder is not None else self._own
                for slip in self._own.slips:
                    log.warning("OSRAG_BANK_DIR: %s", slip)
                self._uploads = _kept(self._folder)
                self._joined = self._join(self._uploads)
            return self._joined

    def add(self, path: Path) -> BankFile:
        """Take a file in; an earlier one of the same name is replaced.

        Raises BadInput where nothing of it can be used, and where it cannot be kept for the next start.
        """
        name, _ = _ODD.sub("_", path.stem)[:60], self.now
        with self._lock:
            others = {other: given for other, given in self._uploads.items() if other != name}
            taken = {exercise.name for exercise in self._join(others).exercises()}
            read = read_file(path, most=MOST_ROWS, taken=taken)
            if not read.exercises:
                raise BadInput(read.slips[0] if read.slips else Said("bank_none", name=path.name))
            self._uploads = {**others, name: read.exercises}
            self._joined = self._join(self._uploads)
            if self._folder is not None:
                _keep(self._folder, name, read.exercises)
            return read

    def clear(self) -> int:
        """Take all uploaded files out again; how many there were."""
        count = len(self._uploads) if self.now else 0
        with self._lock:
            for file in _files(self._folder):
                file.unlink(missing_ok=True)
            self._uploads = {}
            self._joined = self._join({})
            return count

    def _join(self, uploads: Mapping[str, tuple[Exercise, ...]]) -> Bank:
        shipped, own = shipped_bank() if self._shipped else Bank(()), self._own
        if not own.slips and not len(own) and not uploads:
            return shipped
        given = [exercise for exercises in uploads.values() for exercise in exercises]
        return Bank([*shipped.exercises(), *own.exercises(), *given], [*shipped.slips, *own.slips])


def _files(folder: Path | None) -> list[Path]:
    """What uploads have left in the operator's folder."""
    return sorted((folder / UPLOADED).glob("*.jsonl")) if folder is not None else []


def _kept(folder: Path | None) -> dict[str, tuple[Exercise, ...]]:
    return {file.stem: read_file(file).exercises for file in _files(folder)}


def _keep(folder: Path, name: str, exercises: tuple[Exercise, ...]) -> None:
    """Write an upload as bank rows, so that the next start finds it."""
    file = folder / UPLOADED / f"{name}.jsonl"
    half = file.with_suffix(".part")
    try:
        file.parent.mkdir(exist_ok=True)
        half.write_text("".join(json.dumps(as_row(one), ensure_ascii=False) + "\n" for one in exercises), "utf-8")
        half.replace(file)
    except OSError as error:
        raise BadInput(Said("bank_not_kept", name=file.name, why=error.strerror)) from error
