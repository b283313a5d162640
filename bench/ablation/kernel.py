"""What each rule of kernel search is worth.

The sets: the held-out kernel questions, the 61 of an outside author (skipped where they are not at hand), and
70 questions that name the whole set of functions of a complete answer, written before any rule was switched off.
On these also: which share of the set is among the first ten, whether the two functions that a reply quotes are of
the set, and whether the quoted lines hold the calls from one function of the set to the next. Questions about code
that is not in the index tell what the refusal is worth.
"""

import functools
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.ablation import EVAL, OUTSIDE, ROOT, Area, Rule, Score
from bench.remembering import Remembering
from osrag.evaluate.kernel import KernelQuestion, function_rank, read_questions, says_absent
from osrag.index.confidence import Confidence, load_confidence
from osrag.kernel import query, rank, search
from osrag.kernel.compose import LINES
from osrag.kernel.deciding import deciding_lines
from osrag.kernel.search import SET, KernelSearch
from osrag.models.load import load_encoder
from osrag.settings import load_settings

KERNEL = EVAL / "kernel"
MAIN = 2  # functions of a set that count as its best
NEVER = re.compile(r"(?!)")
NOTHING = Path(os.devnull)


@functools.cache
def _encoder() -> Remembering:
    return Remembering(load_encoder(load_settings()))


def measure() -> Mapping[str, Score]:
    """Every set, with an index that is opened anew."""
    for module in (query, rank, search):
        for value in vars(module).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()
    finder = KernelSearch(ROOT / "index", _encoder())  # type: ignore[arg-type]
    out: dict[str, Score] = {}
    kept: list[bool] = []
    sets = {
        "held out": KERNEL / "held_out.jsonl",
        "outside": OUTSIDE / "kernel" / "questions.jsonl",
        "sets": KERNEL / "ablation.jsonl",
    }
    for name, path in sets.items():
        if not path.is_file():
            continue
        questions = read_questions(path)
        results = [finder.search(one.question) for one in questions]
        ranks = [function_rank(result, one) for result, one in zip(results, questions, strict=True)]
        out[f"{name} @1"] = (sum(place == 1 for place in ranks), len(ranks))
        out[f"{name} @10"] = (sum(place is not None for place in ranks), len(ranks))
        kept += [not says_absent(result) for result in results]
        if name == "sets":
            out |= _of_sets(finder, questions)
    absent = read_questions(KERNEL / "absent.jsonl")
    out["refused"] = (sum(says_absent(finder.search(one.question)) for one in absent), len(absent))
    out["answered"] = (sum(kept), len(kept))
    return out


def _of_sets(finder: KernelSearch, questions: list[KernelQuestion]) -> dict[str, Score]:
    share = mains_right = mains_shown = calls_shown = calls_there = 0.0
    for one in questions:
        names = [hit.chunk.name for hit in finder.search(one.question).grown[:SET]]
        share += len(one.functions.intersection(names)) / len(one.functions)
        mains_right += sum(name in one.functions for name in names[:MAIN])
        mains_shown += len(names[:MAIN])
        for row in (row for name in one.functions for row in finder.store.functions_named(name)[:1]):
            chunk = finder.store.chunk(row)
            inside = [name for name in chunk.calls if name in one.functions]
            lines = deciding_lines(chunk, one.question, one.functions - {chunk.name}, finder.store, most=LINES)
            text = "\n".join(line.text for line in lines)
            calls_there += len(inside)
            calls_shown += sum(bool(re.search(rf"\b{name}\(", text)) for name in inside)
    return {
        "sets, share in ten": (round(share, 2), len(questions)),
        "sets, main": (mains_right, int(mains_shown)),
        "sets, calls quoted": (calls_shown, int(calls_there)),
    }


def _without(*features: str) -> Mapping[str, float]:
    """The weights of the ranking with some of them at zero; the others stay as they were fitted."""
    return {name: 0.0 if name in features else value for name, value in rank.weights().items()}


def _weight_rules() -> tuple[Rule, ...]:
    groups = {name: (name,) for name in rank.FEATURES if name != "suggested"}  # no model adds names here
    groups["all of the file"] = ("file_dense", "file_bridge")
    held = {name: _without(*features) for name, features in groups.items()}
    return tuple(
        Rule(f"feature: {name}", (("osrag.kernel.rank.weights", lambda held=held[name]: held),)) for name in groups
    )


SIGNALS = (("dense", 4.0), ("words", 0.7), ("known", 0.9))  # of a kernel search, and their usual values


def _confidence_without(signal: str, usual: float) -> Callable[[str], Confidence]:
    """The fitted confidence as if a signal always had its usual value."""
    fitted = load_confidence("kernel")
    changed = Confidence(fitted.bias + usual * fitted.weights[signal], {**fitted.weights, signal: 0.0})
    return lambda source: changed


def _rule(name: str, **off: Any) -> Rule:
    """A rule by `module__NAME=value`."""
    return Rule(name, tuple(("osrag.kernel." + key.replace("__", ".", 1), value) for key, value in off.items()))


AREA = Area(
    "kernel",
    (
        *_weight_rules(),
        _rule("question: who calls whom", query___relation=lambda text: ""),
        _rule("question: words guessed from Chinese", query___guessed_meanings=lambda text, terms: []),
        _rule("question: everyday Chinese words (kernel_words.tsv)", query___EVERYDAY=NOTHING),
        _rule("question: English bridge", query___bridge=lambda text, english: text),
        _rule("question: names by the word beside them", query___INTRODUCED=NEVER),
        _rule("scope: renamed functions are followed", search__current_names=lambda text, store: text),
        _rule("scope: subjects that lie outside", query__outside_subjects=lambda: ()),
        _rule("scope: renamed names are missing", query__renamed=lambda: {}),
        *(
            _rule(f"confidence: {name}", search__load_confidence=_confidence_without(name, mean))
            for name, mean in SIGNALS
        ),
        _rule("lines: dull lines left out", code___DULL=NEVER),
        _rule("lines: labels left out", code___LABEL=NEVER),
        _rule("lines: statements whole", code___continues=lambda text: False),
        _rule("lines: conditions above", code__heads=lambda code, at: iter(())),
    ),
    measure,
)
