"""What the commands share: JSON lines out, progress bars, questions in."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from osrag.errors import BadInput


def show(value: Mapping[str, Any]) -> None:
    """One JSON object as a line on stdout, at once."""
    print(json.dumps(value, ensure_ascii=False), flush=True)


def add_search_options(parser: argparse.ArgumentParser, *, k: int) -> None:
    parser.add_argument("question", nargs="*", metavar="QUESTION")
    parser.add_argument("--k", type=int, default=k, help=f"hits a question (default {k})")
    parser.add_argument("--json", action="store_true", help="one JSON object a question")
    parser.add_argument("--effort", choices=("fast", "deep"), default="fast")
    parser.add_argument("--batch", type=Path, help="a file with a question a line")
    parser.add_argument("--index", type=Path, help="folder of the index (default: the one that is shipped)")


class ProgressBar:
    """Progress on stderr: a bar on a terminal, a line now and then in a log."""

    def __init__(self) -> None:
        self._bars: dict[str, Any] = {}

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(self, *_: object) -> None:
        """End the bars that an error left open, so that its sentence has a line of its own."""
        for bar in self._bars.values():
            bar.close()
        self._bars.clear()

    def __call__(self, what: str, done: int, total: int) -> None:
        from tqdm import tqdm

        bar = self._bars.get(what)
        if bar is None:
            many = total >= 1_000_000  # bytes rather than things
            interval = 0.2 if sys.stderr.isatty() else 10.0
            bar = tqdm(
                total=total,
                desc=what,
                unit="B" if many else "",
                unit_scale=many,
                file=sys.stderr,
                mininterval=interval,
            )
            self._bars[what] = bar
        bar.total = total
        bar.update(done - bar.n)
        if done >= total:
            bar.close()
            self._bars.pop(what, None)


def questions(batch: Path | None, words: list[str]) -> Iterator[str]:
    """The question of the command line, or one a line from `--batch` (`-` is standard input)."""
    if batch is None:
        if not words:
            raise BadInput("no question was given", hint="write it at the end, or name a file with --batch")
        yield " ".join(words)
        return
    try:
        text = sys.stdin.read() if str(batch) == "-" else batch.read_text(encoding="utf-8")
    except OSError as error:
        raise BadInput(f"cannot read {str(batch)!r}: {error.strerror}", hint="check the path of --batch") from error
    # An empty line stays a question, so that answers and lines keep the same count.
    yield from text.splitlines()
