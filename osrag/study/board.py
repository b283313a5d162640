"""Counts for the instructor of a class: in how many sessions a point was missed, a hint taken, a question left open.

No text of a student is stored, only names that the bank, the book and the glossary have. Who was counted already is
known by a hash of the session with a salt that is drawn for the day. When a day has passed, its salt and its hashes are
deleted; a count of fewer than `LEAST` sessions goes with them, and none is ever shown.
"""

import hashlib
import logging
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Literal

from osrag.errors import OsragError
from osrag.quiz.bank import Bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.judgement import Judgement
from osrag.quiz.written import MET
from osrag.study.ladder import Rung
from osrag.study.repetition import point_of

log = logging.getLogger(__name__)
# What is counted, and of what: a knowledge point that was tried, and missed; a point of a rubric that was missed
# (`ID#2`); an exercise on which key and model differ, or a hint was taken; a rung; where a question was left open.
Kind = Literal["tried", "missed", "rubric", "disagrees", "hint", "rung", "open"]
LEAST = 5  # sessions behind a number
KEPT_DAYS = 200  # a term
WAIT_S = 2.0  # for another process that writes
_TABLES = """
create table if not exists salts (day text primary key, salt blob not null);
create table if not exists seen
    (day text, kind text, item text, who blob, primary key (day, kind, item, who)) without rowid;
create table if not exists counts
    (day text, kind text, item text, sessions integer, primary key (day, kind, item)) without rowid;
"""
_COUNTS = """
select item, sum(sessions) as n from (
    select item, sessions from counts where kind = :kind
    union all
    select item, count(*) from seen where kind = :kind group by day, item having count(*) >= :least
) group by item order by n desc, item
"""


@dataclass(frozen=True, slots=True)
class Count:
    """In how many sessions something happened; a session that lasts over midnight counts on both days."""

    item: str
    sessions: int


@dataclass(frozen=True, slots=True)
class Board:
    """The counts in a file, which several processes may share. Each use opens it anew."""

    file: Path
    today: Callable[[], date] = lambda: datetime.now(UTC).date()

    def note(self, session: str, happened: Iterable[tuple[Kind, str]]) -> None:
        """Count what happened in a session, each thing once a day. A file that cannot be written is told in the log."""
        rows = list(dict.fromkeys(happened))
        if not rows or not session:
            return
        try:
            with self._opened() as db:
                day = self._begun(db)
                (salt,) = db.execute("select salt from salts where day = ?", (day,)).fetchone()
                who = hashlib.blake2b(session.encode(), key=salt, digest_size=16).digest()
                db.executemany("insert or ignore into seen values (?, ?, ?, ?)", [(day, *row, who) for row in rows])
        except (OSError, sqlite3.Error) as error:
            log.warning("the class board is not kept: %s", error)

    def counts(self, kind: Kind) -> list[Count]:
        """What `LEAST` sessions or more of one day have in common, added up over days, the most frequent first.

        Raises OsragError where the file cannot be read.
        """
        try:
            with self._opened() as db:
                self._begun(db)
                rows = db.execute(_COUNTS, {"kind": kind, "least": LEAST})
                return [Count(item, sessions) for item, sessions in rows]
        except (OSError, sqlite3.Error) as error:
            raise OsragError(f"{self.file.name}: the class board cannot be read: {error}") from error

    def _begun(self, db: sqlite3.Connection) -> str:
        """The day, with a salt of its own; what is left of earlier days are counts of `LEAST` and more."""
        day = self.today().isoformat()
        db.execute("insert or ignore into salts values (?, ?)", (day, secrets.token_bytes(32)))
        db.execute(
            "insert or ignore into counts select day, kind, item, count(*) from seen where day < ? "
            "group by day, kind, item having count(*) >= ?",
            (day, LEAST),
        )
        for table in ("seen", "salts"):
            db.execute(f"delete from {table} where day < ?", (day,))
        db.execute("delete from counts where day < ?", ((self.today() - timedelta(days=KEPT_DAYS)).isoformat(),))
        return day

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """The file inside one transaction."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(self.file, timeout=WAIT_S, isolation_level=None)) as db:
            db.executescript(f"pragma secure_delete = on; {_TABLES}")
            db.execute("begin immediate")
            try:
                yield db
            except BaseException:
                db.execute("rollback")
                raise
            db.execute("commit")


def of_answer(judgement: Judgement, bank: Bank) -> list[tuple[Kind, str]]:
    """What an answer to an exercise of the bank adds; nothing of one that a student typed in."""
    exercise = judgement.exercise
    if bank.get(exercise.name) is None:
        return []
    point = point_of(exercise, bank) or exercise.id
    found: list[tuple[Kind, str]] = [("tried", point)]
    if not judgement.is_correct:
        found.append(("missed", point))
    if judgement.disagrees:
        found.append(("disagrees", exercise.id))
    if len(judgement.points) == len(exercise.rubric):
        rows = enumerate(judgement.points, start=1)
        found += [
            ("rubric", f"{exercise.id}#{number}")
            for number, row in rows
            if row.earned < MET * row.points and not row.open
        ]
    return found


def of_hint(exercise: Exercise, rung: Rung, bank: Bank) -> list[tuple[Kind, str]]:
    """What a hint adds; nothing where its exercise was typed in."""
    return [] if bank.get(exercise.name) is None else [("hint", exercise.id), ("rung", rung)]
