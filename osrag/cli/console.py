"""What the commands share: JSON lines out, progress bars, text in."""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from osrag.errors import BadInput

STDIN = Path("-")


def show(value: Mapping[str, Any]) -> None:
    """Print one JSON object as a line on stdout, at once."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def complain(lines: Iterable[object], kind: str = "osrag") -> None:
    """Print lines on stderr, each with its kind in front."""
    for line in lines:
        print(f"{kind}: {line}", file=sys.stderr)


def read_text(path: Path, *, option: str = "") -> str:
    """The text of a file, or of standard input where the path is `-`. Raises BadInput, naming which of the two it was.

    `option` is the option of the command line that named the path, for the hint.
    """
    try:
        return sys.stdin.read() if path == STDIN else path.read_text(encoding="utf-8")
    except OSError as error:
        hint = f"check the path of {option}" if option else ""
        raise BadInput(f"cannot read {str(path)!r}: {error.strerror}", hint=hint) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"{origin(path)} is not UTF-8 at byte {error.start}") from error


def origin(path: Path) -> str:
    """What an error calls the place a text came from."""
    return "standard input" if path == STDIN else str(path)


def add_index(command: argparse.ArgumentParser) -> None:
    """Add `--index`, which takes the place of the setting before the command runs."""
    command.add_argument("--index", type=Path, metavar="DIR", help="folder of the index (default: OSRAG_INDEX_DIR)")


class ProgressBar:
    """Progress on stderr: a bar on a terminal, a line now and then in a log."""

    def __init__(self) -> None:
        self._bars: dict[str, Any] = {}

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *_: object) -> None:
        """Close the bars that an error left open, so that its sentence has a line of its own."""
        for bar in self._bars.values():
            bar.close()
        self._bars.clear()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Move the bar named `what` to `done` of `total`; a total of a million or more counts bytes."""
        from tqdm import tqdm

        if what not in self._bars:
            unit: dict[str, Any] = {"unit": "B", "unit_scale": True} if total >= 1_000_000 else {"unit": ""}
            pause_s = 0.2 if sys.stderr.isatty() else 10.0
            self._bars[what] = tqdm(desc=what, file=sys.stderr, mininterval=pause_s, **unit)
        bar = self._bars[what]
        bar.total = total
        bar.update(done - bar.n)
        if done >= total:
            self._bars.pop(what).close()
