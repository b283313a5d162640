"""How long the lab takes to compute an exercise and to draw its page, for every kind.

    python bench/lab.py [--runs 5]

Prints the median and the slowest kind of each, in milliseconds and as multiples of a baseline of the same run: the
JSON of 10,000 numbers, written and read.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.lab.catalog import KINDS  # noqa: E402
from osrag.lab.exercise import exercise  # noqa: E402
from osrag.ui.lab.tab import lab_page  # noqa: E402


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    baseline = median_ms(lambda: json.loads(json.dumps(list(range(10_000)))), runs)
    made = {name: exercise(kind, 1, "hard") for name, kind in KINDS.items()}
    solved = {name: median_ms(lambda one=one: one.kind.solve(one.parameters), runs) for name, one in made.items()}
    drawn = {name: median_ms(lambda name=name: lab_page({"kind": name, "lang": "zh"}), runs) for name in KINDS}
    print(json.dumps({"baseline_ms": baseline, "solve": told(solved, baseline), "page": told(drawn, baseline)}))


def median_ms(work: Callable[[], object], runs: int) -> float:
    """The median of `runs`, after one that does not count."""
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return round(statistics.median(times), 3)


def told(by_kind: dict[str, float], baseline: float) -> dict[str, object]:
    """The median and the slowest kind, also as multiples of the baseline."""
    slowest = max(by_kind, key=lambda name: by_kind[name])
    median = statistics.median(by_kind.values())
    return {
        "median_ms": round(median, 2),
        "median_times": round(median / baseline, 2),
        "slowest": slowest,
        "slowest_ms": by_kind[slowest],
        "slowest_times": round(by_kind[slowest] / baseline, 2),
    }


if __name__ == "__main__":
    main()
