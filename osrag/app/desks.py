"""The desks of all visitors: one for each session, what the server holds at most, and when a desk goes."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock, Semaphore, Thread

from osrag.book.chunking import USUAL, Cut
from osrag.book.desk import Desk, Quota
from osrag.models.protocols import Encoder
from osrag.settings import Settings

READ_AT_ONCE = 1  # files: reading one takes two processes, and up to 2 GB where text is recognised
MOST_PASSAGES = 30_000  # of all visitors; one has up to 20 kB of memory with what is made to search it
GONE_S = 60.0  # from when the page went away; one whose connection was lost for a moment is back within that
SWEEP_S = 15.0  # between two looks for desks that go
SHARE = 0.5  # of the desks for one address: a class behind one is served, and nobody alone shuts out the others


@dataclass
class _Kept:
    """A desk, whose it is, when it was used last, and when its page went away."""

    desk: Desk
    address: str
    used: float
    gone: float | None = None


@dataclass
class Desks:
    """The desks by session. Safe to use from several threads."""

    quota: Quota
    most: int  # at the same time; 0 takes no files
    idle_s: float
    encoder: Callable[[], Encoder]
    cut: Cut = USUAL  # of the files into passages
    clock: Callable[[], float] = time.monotonic
    _kept: dict[str, _Kept] = field(default_factory=dict)
    _turn: Semaphore = field(default_factory=lambda: Semaphore(READ_AT_ONCE))
    _lock: Lock = field(default_factory=Lock)
    _sweeper: Thread | None = None

    def of(self, session: str) -> Desk | None:
        """The desk of a session that does something; None where it brought nothing, or the desk is gone."""
        with self._lock:
            kept = self._kept.get(session)
            if kept is None:
                return None
            kept.used, kept.gone = self.clock(), None
            return kept.desk

    def open(self, session: str, address: str = "") -> Desk | None:
        """The desk of a session, a new one where there is none; None where there is no room for one more.

        One address has its share. A desk whose files all failed makes room.
        """
        encoder = self.encoder()
        if session and self._full(address):
            with self._lock:
                of_no_use = [name for name, kept in self._kept.items() if kept.desk.failed and name != session]
            for name in of_no_use:
                self.close(name)
        with self._lock:
            if session not in self._kept and session and not self._full(address):
                desk = Desk(secrets.token_urlsafe(16), self.quota, encoder, self._turn, self.cut, self._has_room)
                self._kept[session] = _Kept(desk, address, self.clock())
                if self._sweeper is None:
                    self._sweeper = Thread(target=self._sweep, name="desks", daemon=True)
                    self._sweeper.start()
        return self.of(session)

    def with_key(self, key: str) -> Desk | None:
        """The desk of a key, which only the visitor's own page was told."""
        with self._lock:
            desks = [kept.desk for kept in self._kept.values()]
        return next((desk for desk in desks if secrets.compare_digest(desk.key.encode(), key.encode())), None)

    def busy(self, session: str) -> None:
        """The desk of a session reads: it is not idle, though its page may be gone."""
        with self._lock:
            if session in self._kept:
                self._kept[session].used = self.clock()

    def gone(self, session: str) -> None:
        """The page of a session went away."""
        with self._lock:
            if session in self._kept:
                self._kept[session].gone = self.clock()

    def close(self, session: str) -> None:
        """Delete the desk of a session."""
        with self._lock:
            kept = self._kept.pop(session, None)
        if kept is not None:
            kept.desk.close()

    def sweep(self) -> None:
        """Delete the desks whose time is over."""
        now = self.clock()
        with self._lock:
            over = [
                session
                for session, kept in self._kept.items()
                if now - kept.used > self.idle_s or (kept.gone is not None and now - kept.gone > GONE_S)
            ]
        for session in over:
            self.close(session)

    def _sweep(self) -> None:
        while True:
            time.sleep(SWEEP_S)
            self.sweep()

    def _full(self, address: str) -> bool:
        """Whether there is no room for one more desk; without an address, of all visitors together."""
        own = sum(kept.address == address for kept in list(self._kept.values())) if address else 0
        return len(self._kept) >= self.most or own >= max(1, SHARE * self.most)

    def _has_room(self, passages: int) -> bool:
        with self._lock:
            return passages + sum(kept.desk.passages for kept in self._kept.values()) <= MOST_PASSAGES


def desks_of(settings: Settings, encoder: Callable[[], Encoder]) -> Desks:
    """The desks as the operator wants them."""
    quota = Quota(
        settings.upload_files, settings.upload_mb * 1_000_000, settings.upload_pages, 60 * settings.upload_minutes
    )
    cut = Cut(settings.chunk_chars, settings.chunk_overlap)
    return Desks(quota, settings.upload_visitors, 60 * settings.upload_idle_minutes, encoder, cut)
