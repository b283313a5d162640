"""What each rule is worth: switch one off, measure again.

    python -m bench.ablation [--area book|kernel|claims|quiz|logs] [--rule NAME]

A rule is a hand-set weight, word list, penalty or group of patterns. An area knows its rules and how to measure them
on question sets that were not used to choose them. A rule that is worth less than two questions in a hundred on every
set is deleted from the code; what stays has its line in docs/experiments/ablation.md.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EVAL = ROOT / "examples" / "eval"
OUTSIDE = ROOT.parent / "shared" / "eval"  # of others; not shipped, and left out where it is absent

Score = tuple[float, int]  # questions right (a fraction where marks are graded), questions asked
Measure = Callable[[], Mapping[str, Score]]  # by question set


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: which names to replace, by what, so that it does nothing."""

    name: str
    off: tuple[tuple[str, Any], ...]  # ("osrag.book.search.EVERYDAY_WEIGHT", {"same": 0.0, "cross": 0.0})


@dataclass(frozen=True, slots=True)
class Area:
    """Rules that are measured on the same question sets."""

    name: str
    rules: tuple[Rule, ...]
    measure: Measure  # run anew after each switch: nothing may be cached between two calls but embeddings


@contextmanager
def switched_off(rule: Rule) -> Iterator[None]:
    """Replace each name of the rule; put the old values back at the end.

    A target is "package.module.NAME" or "package.module.Class.name". Raises AttributeError for one that is gone, so
    that the table cannot speak of a rule that the code no longer has.
    """
    saved: list[tuple[Any, str, Any]] = []
    try:
        for target, value in rule.off:
            owner, name = _owner(target)
            saved.append((owner, name, getattr(owner, name)))
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in reversed(saved):
            setattr(owner, name, value)


def _owner(target: str) -> tuple[Any, str]:
    path, name = target.rsplit(".", 1)
    try:
        return import_module(path), name
    except ModuleNotFoundError:
        module, cls = path.rsplit(".", 1)
        return getattr(import_module(module), cls), name
