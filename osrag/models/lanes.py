"""Several students at one graphics card: who waits together is answered together.

A first question starts at once, alone, in a lane. While all lanes are busy the
others gather, and go as one batch into the lane that comes free: a batch of eight
takes little longer than one, eight threads on one card take eight times as long.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence

from osrag.models.rows import Row


class Lanes:
    """At most `lanes` batches at once, each of at most `rows` rows."""

    def __init__(self, run: Callable[[Sequence[Row]], None], *, lanes: int, rows: int) -> None:
        self._run = run
        self._lanes, self._rows = lanes, rows
        self._lock = threading.Lock()
        self._waiting: deque[Row] = deque()
        self._busy = 0

    def submit(self, row: Row) -> None:
        """Have `row` generated; its text and its errors come through its inbox."""
        with self._lock:
            self._waiting.append(row)
            if self._busy == self._lanes:
                return
            self._busy += 1
        threading.Thread(target=self._work, name="generate", daemon=True).start()

    def _take(self) -> list[Row]:
        """The next batch; an empty one frees the lane."""
        with self._lock:
            batch: list[Row] = []
            while self._waiting and len(batch) < self._rows:
                row = self._waiting.popleft()
                if not row.left.is_set():
                    batch.append(row)
            if not batch:
                self._busy -= 1
            return batch

    def _work(self) -> None:
        while batch := self._take():
            try:
                self._run(batch)
            except BaseException as error:  # noqa: BLE001 - raised again in every reader's thread
                for row in batch:
                    row.inbox.fail(error)
