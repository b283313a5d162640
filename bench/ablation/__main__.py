"""Prints one Markdown table for each area: the figures as they are, then with each rule switched off."""

import argparse
import sys
from collections.abc import Mapping
from importlib import import_module

from bench.ablation import Area, Score, switched_off

AREAS = ("book", "kernel", "claims", "quiz_evidence", "logs", "readers")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.ablation", description=__doc__)
    parser.add_argument("--area", choices=AREAS, action="append", help="default: all")
    parser.add_argument("--rule", action="append", help="only rules with this name")
    args = parser.parse_args()
    for name in args.area or AREAS:
        show(import_module(f"bench.ablation.{name}").AREA, args.rule)
    return 0


def show(area: Area, only: list[str] | None) -> None:
    """Measure an area and print its table, a line as soon as it is known."""
    before = area.measure()
    print(f"\n## {area.name}\n\n| rule off | " + " | ".join(before) + " | worth at most |")
    print("|---" * (len(before) + 2) + "|")
    print("| none | " + " | ".join(f"{right:g} of {asked}" for right, asked in before.values()) + " | |", flush=True)
    for rule in area.rules:
        if only and rule.name not in only:
            continue
        with switched_off(rule):
            after = area.measure()
        cells = [f"{after[key][0]:g} ({after[key][0] - before[key][0]:+g})" for key in before]
        print(f"| {rule.name} | " + " | ".join(cells) + f" | {_worth(before, after):+.1f} % |", flush=True)


def _worth(before: Mapping[str, Score], after: Mapping[str, Score]) -> float:
    """What the rule adds on the set where it helps most, in questions of a hundred."""
    return max(100 * (before[key][0] - after[key][0]) / before[key][1] for key in before)


if __name__ == "__main__":
    sys.exit(main())
