"""Times of the stages of one run."""

import time

from osrag.types import Stage


class Clock:
    """Marks the ends of stages; a stage lasts from the mark before it."""

    def __init__(self) -> None:
        self._last = time.perf_counter()
        self._stages: dict[str, Stage] = {}

    @property
    def stages(self) -> tuple[Stage, ...]:
        return tuple(self._stages.values())

    def mark(self, name: str, note: str = "") -> None:
        """End of stage `name`. A stage that comes again is added up."""
        now = time.perf_counter()
        before = self._stages.get(name)
        seconds = now - self._last + (before.seconds if before else 0.0)
        self._stages[name] = Stage(name, round(seconds, 4), note or (before.note if before else ""))
        self._last = now

    def mark_once(self, name: str) -> bool:
        """Mark a stage that ends once; whether this was its end."""
        if name in self._stages:
            return False
        self.mark(name)
        return True
