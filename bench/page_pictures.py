"""How long the pages of the course book hold up everything else while their pictures are drawn.

    python bench/page_pictures.py [--pages 6]

One thread wakes every 10 ms, as a stream of tokens does, and measures how much later than that it came: while nothing
runs, while one page is drawn, and while several are drawn by as many threads, with the app's lock and without. Prints
one JSON object; times in milliseconds, in seconds where the name says so.
"""

import argparse
import contextlib
import json
import statistics
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.types import Chunk, PageRef  # noqa: E402
from osrag.ui import pages  # noqa: E402

BOOK = ROOT / "examples" / "textbook" / "os-course-en.pdf"
FIRST = 40  # page of the file; the ones after it are text with figures
WAKE_S = 0.01


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=6)
    count = parser.parse_args().pages
    draw(FIRST - 1)  # loads PDFium
    numbers = range(FIRST, FIRST + count)
    report = {"idle": measure(lambda: time.sleep(1)), "one": measure(lambda: draw(FIRST + count))}
    with ThreadPoolExecutor(count) as pool:
        report["with_lock"] = measure(lambda: list(pool.map(draw, numbers)))
        lock, pages.PDFIUM = pages.PDFIUM, contextlib.nullcontext()
        report["without_lock"] = measure(lambda: list(pool.map(draw, numbers)))
        pages.PDFIUM = lock
    print(json.dumps(report))


def draw(number: int) -> None:
    """One page that is in no cache."""
    passage = f"a process {time.perf_counter_ns()}"
    pages.page_pictures(Chunk("", passage, BOOK.name, PageRef(number, number, ""), 0, (), "en"), BOOK)


def measure(work: Callable[[], object]) -> dict[str, float]:
    """How late a thread wakes while `work` runs."""
    late_ms: list[float] = []
    done = threading.Event()

    def wake() -> None:
        while not done.is_set():
            slept = time.perf_counter()
            time.sleep(WAKE_S)
            late_ms.append(1000 * (time.perf_counter() - slept - WAKE_S))

    watch = threading.Thread(target=wake)
    watch.start()
    start = time.perf_counter()
    work()
    work_s = time.perf_counter() - start
    done.set()
    watch.join()
    return {
        "work_s": round(work_s, 2),
        "median": round(statistics.median(late_ms), 1),
        "p95": round(sorted(late_ms)[int(0.95 * len(late_ms))], 1),
        "max": round(max(late_ms), 1),
    }


if __name__ == "__main__":
    main()
