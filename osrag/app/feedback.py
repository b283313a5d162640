"""What visitors say of an answer: a line in a file of the operator's, and with it in a data set of the hub.

Off unless `OSRAG_FEEDBACK_DIR` names a folder, since a line holds a question and its answer.
"""

import functools
import json
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from osrag.files import appending
from osrag.settings import Settings
from osrag.types import Turn

log = logging.getLogger(__name__)
Verdict = Literal["good", "bad", "wrong", "incomplete", "wrong_page"]
FILE = "feedback.jsonl"
REPEAT_S = 2.0  # Gradio sends each word of the form twice; the same again within this time is one
MOST_BYTES = 200_000_000  # of the file; beyond it nothing more is taken


@dataclass(frozen=True, slots=True)
class Feedback:
    """Takes feedback into a folder. Safe from several threads."""

    folder: Path
    repo: str = ""
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _last: dict[tuple[Turn, Verdict], float] = field(default_factory=dict)  # what came last, and when

    def take(self, turn: Turn, verdict: Verdict) -> bool:
        """Add a line; False where it cannot be kept (a full disk, a full file), which the log tells."""
        line = {
            "time": datetime.now(UTC).isoformat(timespec="seconds"),
            "verdict": verdict,
            "question": turn.question,
            "answer": turn.answer,
            "sources": list(turn.sources),
        }
        try:
            with self._lock, self._uploading():
                now = time.monotonic()
                if now - self._last.get((turn, verdict), -REPEAT_S) < REPEAT_S:
                    return True
                self.folder.mkdir(parents=True, exist_ok=True)
                file = self.folder / FILE
                if file.exists() and file.stat().st_size > MOST_BYTES:
                    log.warning("%s is full; feedback is not kept", file)
                    return False
                with appending(file) as out:
                    out.write(json.dumps(line, ensure_ascii=False) + "\n")
                self._last.clear()
                self._last[turn, verdict] = now
        except OSError as error:
            log.warning("feedback cannot be kept: %s", error)
            return False
        return True

    @contextmanager
    def _uploading(self) -> Iterator[None]:
        """No upload while a line is written."""
        lock: Any = _scheduler(self.repo, self.folder).lock if self.repo else nullcontext()
        with lock:
            yield


@functools.cache
def _scheduler(repo: str, folder: Path) -> Any:
    """What sends the folder to a private data set of the hub every five minutes."""
    from huggingface_hub import CommitScheduler

    folder.mkdir(parents=True, exist_ok=True)
    return CommitScheduler(repo_id=repo, repo_type="dataset", folder_path=folder, every=5, private=True)


def feedback_of(settings: Settings) -> Feedback | None:
    """None where the operator asked for none."""
    return Feedback(settings.feedback_dir, settings.feedback_repo) if settings.feedback_dir else None
