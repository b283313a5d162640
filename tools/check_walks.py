"""Check walk-throughs of kernel mechanisms against the indexed source.

    python tools/check_walks.py [FILES; default examples/kernel/walks/*.toml] [--index index]

A file holds walks; a walk is 4 to 10 steps:

    [[walk]]
    id = "scheduler-tick"
    section = "3.6"  # of the course book: the section that teaches the idea
    title = { zh = "时钟节拍怎样导致抢占", en = "How a timer tick leads to preemption" }
    questions = { zh = ["…", "…", "…"], en = ["…", "…", "…"] }

    [[walk.step]]
    function = "scheduler_tick"
    file = "kernel/sched/core.c"
    lines = ["curr->sched_class->task_tick(rq, curr, 0);"]  # what the statement speaks of; blanks do not count
    say = { zh = "…", en = "…" }
    when = { zh = "…", en = "…" }  # the condition under which the step is reached; may be left out
    edge = { kind = "call", from = "update_process_times" }  # what leads here

An edge of kind `call` must be in the call graph; `{ kind = "start", by = "clone()" }` names what enters from outside.
The others are indirect and give the line of `from` that causes them: `{ kind = "pointer", from = "scheduler_tick",
at = "curr->sched_class->task_tick(rq, curr, 0);", through = "fair", entry = ".task_tick = task_tick_fair" }`, where
`through` is the table (or function) whose line `entry` names this function. `inline` is a call through a helper of a
header, which is not indexed: `through` names the helper. Exit code 1 where something is wrong.
"""

import argparse
import collections
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import pyarrow.parquet as pq  # noqa: E402

STEPS = range(4, 11)
LINES = range(1, 6)
INDIRECT = {"pointer", "wakeup", "timer", "work", "thread", "softirq", "interrupt", "rcu", "trap", "signal", "inline"}
SAID = {"en": range(6, 61), "zh": range(10, 131)}  # words; letters in Chinese
Code = dict[str, list[dict[str, Any]]]  # name -> its chunks


def code_of(index: Path) -> Code:
    """Every named chunk of the index."""
    found: Code = collections.defaultdict(list)
    for path in sorted(index.glob("*_chunks/chunks-*.parquet")):
        columns = ["content", "file", "function_name", "calls"]
        for row in pq.read_table(path, columns=columns).to_pylist():
            if row["function_name"]:
                found[row["function_name"]].append({**row, "flat": flat(row["content"])})
    return found


def flat(text: str) -> str:
    """Code without blanks."""
    return "".join(text.split())


def sections_of(index: Path) -> set[str]:
    """Numbers of the sections of the course book."""
    paths = sorted((index / "textbook").glob("chunks-*.parquet"))
    rows = [row for path in paths for row in pq.read_table(path, columns=["section"]).column("section").to_pylist()]
    return {part.split(" ")[0] for row in rows for part in row}


def faults(walk: dict[str, Any], code: Code, sections: set[str]) -> Iterator[str]:
    """Everything that is wrong with a walk."""
    if extra := walk.keys() ^ {"id", "section", "title", "questions", "step"}:
        yield f"fields missing or unknown: {sorted(extra)}"
    if walk["section"] not in sections:
        yield f"the course book has no section {walk['section']!r}"
    for language in ("zh", "en"):
        if len(walk["questions"][language]) < 3 or not walk["title"][language]:
            yield f"{language}: a title and three questions are wanted"
    if len(walk["step"]) not in STEPS:
        yield f"{len(walk['step'])} steps"
    for number, step in enumerate(walk["step"], start=1):
        yield from (f"step {number}, {step['function']}: {what}" for what in _step(step, code))


def _step(step: dict[str, Any], code: Code) -> Iterator[str]:
    own = [chunk for chunk in code.get(step["function"], ()) if chunk["file"] == step["file"]]
    if not own:
        places = [chunk["file"] for chunk in code.get(step["function"], ())]
        yield f"not in {step['file']}; the index has it in {places}"
        return
    if extra := step.keys() - {"function", "file", "lines", "say", "when", "edge"}:
        yield f"unknown fields: {sorted(extra)}"
    if len(step["lines"]) not in LINES:
        yield f"{len(step['lines'])} lines"
    for line in step["lines"]:
        if not any(flat(line) in chunk["flat"] for chunk in own):
            yield f"has no line {line!r}"
    for language, wanted in SAID.items():
        said = step["say"][language]
        length = len(flat(said)) if language == "zh" else len(said.split())
        if length not in wanted:
            yield f"{language}: {length} words in a statement"
    yield from _edge(step["edge"], step["function"], code)


def _edge(edge: dict[str, str], function: str, code: Code) -> Iterator[str]:
    kind = edge["kind"]
    if kind == "start":
        if not edge.get("by"):
            yield "an edge of kind start says `by` what"
        return
    callers = code.get(edge.get("from", ""), [])
    if not callers:
        yield f"the edge comes from {edge.get('from')!r}, which the index does not have"
    elif kind == "call":
        if not any(function in chunk["calls"] for chunk in callers):
            yield f"{edge['from']} does not call it"
    elif kind not in INDIRECT:
        yield f"unknown kind of edge {kind!r}"
    else:
        if not any(flat(edge.get("at", "?")) in chunk["flat"] for chunk in callers):
            yield f"{edge['from']} has no line {edge.get('at')!r}"
        if kind == "pointer" or "entry" in edge:
            tables = code.get(edge.get("through", ""), [])
            if not any(flat(edge.get("entry", "?")) in chunk["flat"] for chunk in tables):
                yield f"{edge.get('through')!r} has no line {edge.get('entry')!r}"
        elif kind == "inline" and not edge.get("through"):
            yield "an inline edge names its helper in `through`"


def main() -> int:
    """Print every fault and the counts; 1 where there is a fault."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--index", type=Path, default=ROOT / "index")
    args = parser.parse_args()
    code, sections = code_of(args.index), sections_of(args.index)
    walks = steps = wrong = 0
    ids: set[str] = set()
    for path in args.files or sorted((ROOT / "examples" / "kernel" / "walks").glob("*.toml")):
        for walk in tomllib.loads(path.read_text(encoding="utf-8")).get("walk", []):
            try:
                found = [*faults(walk, code, sections)]
            except (KeyError, TypeError) as error:
                found = [f"a field is missing or of another form: {error!r}"]
            found += ["its id is taken"] * (walk["id"] in ids)
            ids.add(walk["id"])
            walks, steps, wrong = walks + 1, steps + len(walk.get("step", ())), wrong + len(found)
            for what in found:
                print(f"{path.name}: {walk['id']}: {what}")
    print(f"{walks} walks, {steps} steps, {wrong} faults")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
