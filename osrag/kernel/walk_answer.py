"""The reply that a walk-through gives: its steps in order with their lines, and the way through them. No model writes.

A question about one part of the mechanism gets the steps that speak of it; the reading path always shows the whole.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from osrag.answer.events import CallPath, PathStep, Said
from osrag.answer.source import Draft
from osrag.answer.view import source_url
from osrag.kernel.code import code_block, quoted_lines
from osrag.kernel.deciding import likeliest
from osrag.kernel.parts import path_text, plain
from osrag.kernel.reading_path import between
from osrag.kernel.store import KernelStore
from osrag.kernel.walk_match import FoundWalk
from osrag.kernel.walks import BoundStep, BoundWalk, Edge, Walk, places
from osrag.types import Chunk, Language, Passage
from osrag.wording import say

MORE_LINES = 2  # of a step's function, besides those that its statement speaks of
MOST_OF_ALL = 0.7  # share of the steps above which all are shown: a reader saves nothing by the part
CALLS = ("start", "call", "inline")  # `inline` is a call through a helper of a header


def walk_draft(
    found: FoundWalk, asked: str, passages: Sequence[Passage], store: KernelStore, language: Language
) -> Draft:
    """The whole reply to what is `asked`.

    `passages` are the functions of the steps and, where the index has it, a page of the book.
    """
    numbers = {passage.chunk.id: passage.number for passage in passages}
    walk, steps = found.bound.walk, found.bound.steps
    path = walk_path(found.bound, numbers, store)
    shown = part(found, path)
    title = walk.title.of(language)
    lead = [say("walk_title", language, title=title, version=store.version)]
    if len(shown) < len(steps):
        lead.append(say("walk_part", language, count=len(shown), total=len(steps), whole=walk_link(walk, language)))
    statements: list[Said] = []
    marked: dict[int, set[int]] = {}
    lines = lines_of(found.bound, asked, store)
    for place in shown:
        step, number = steps[place], numbers[steps[place].chunk.id]
        lead.append(_step(place + 1, step, lines[place], number, store, language))
        told = [step.step.when.of(language)] if step.step.when else []
        statements.append(Said(": ".join([*told, step.step.say.of(language)]), (number,), False))
        marked[number] = marked.get(number, set()) | lines[place]
    pages = [passage for passage in passages if isinstance(passage.chunk, Chunk)]
    ending = [path_text(path, [passage for passage in passages if passage not in pages], store.version, language)]
    ending += (
        say("walk_section", language, section=plain(page.chunk.section[-1]), number=page.number)
        for page in pages
        if isinstance(page.chunk, Chunk)
    )
    return Draft(
        lead="\n\n".join(lead) + "\n",
        cited=tuple(numbers.values()),
        statements=tuple(statements),
        how="prepared",
        ending="\n\n".join(filter(None, ending)),
        path=path,
        marked=tuple((number, tuple(sorted(lines))) for number, lines in marked.items()),
    )


def lines_of(walk: BoundWalk, asked: str, store: KernelStore) -> list[set[int]]:
    """The lines that each step shows: those that it speaks of, and the likeliest others of its function, once."""
    names = set(walk.functions)
    lines = [{*step.lines} for step in walk.steps]
    seen: set[str] = set()
    for place, step in enumerate(walk.steps):
        if step.name not in seen:
            quoted = {
                number for one, some in zip(walk.steps, lines, strict=True) if one.name == step.name for number in some
            }
            best = likeliest(step.chunk, asked, names - {step.name}, store)
            lines[place] |= {*[number for number in best if number not in quoted][:MORE_LINES]}
            seen.add(step.name)
    return lines


def walk_link(walk: Walk, language: Language) -> str:
    """Markdown of a link that asks for a walk by its title."""
    return f"[{plain(walk.title.of(language))}](#walk)"


def part(found: FoundWalk, path: CallPath) -> list[int]:
    """Places of the steps to show: all, or the functions that the question names, what they lead to, and one before.

    All too where a named function is what the whole walk is about, as its title says, or where that is most of it.
    `path` is that of the whole walk.
    """
    names = [step.name for step in found.bound.steps]
    title = found.bound.walk.title.en.lower()
    if not found.named or any(_in_title(name, title) for name in found.named):
        return list(range(len(names)))
    reached = set(found.named)
    for step in path.steps:  # a function stands below the one that leads to it
        if step.called_by in reached:
            reached.add(step.name)
    first = min(names.index(name) for name in found.named)
    shown = [place for place, name in enumerate(names) if place == first - 1 or (place >= first and name in reached)]
    return shown if len(shown) <= MOST_OF_ALL * len(names) else list(range(len(names)))


def _in_title(function: str, title: str) -> bool:
    """Whether a title names a function, with or without what a system call has before it, or the family it is of."""
    words = re.findall(r"\w+", title)
    return function.strip("_").removeprefix("sys_") in words or any("_" in word and word in function for word in words)


def _step(
    number: int, step: BoundStep, lines: Collection[int], passage: int, store: KernelStore, language: Language
) -> str:
    """One step: how and when it is reached, its statement, its lines."""
    url = source_url(step.chunk.source, step.lines[0], store.version)
    reached = [_reached(step.step.edge, store, language)]
    if step.step.when:
        reached.append(when_text(step.step.when.of(language), language))
    condition = "".join(f"*{text}* " for text in filter(None, reached))
    head = f"**{number}.** {condition}[`{step.name}`]({url}) [{passage}]"
    code = code_block(step.chunk, quoted_lines(step.chunk, lines), placed=True)
    return f"{head} {step.step.say.of(language)}\n\n{code}"


def when_text(when: str, language: Language) -> str:
    """The condition of a step; in English it begins a sentence, in Chinese a name such as `mmap` stays as it is."""
    return say("walk_when", language, when=when if language == "zh" else when[0].upper() + when[1:])


def _reached(edge: Edge, store: KernelStore, language: Language) -> str:
    """What leads to a step where no call does."""
    if edge.by:
        return say("walk_start", language, by=edge.by.of(language))
    if edge.kind in CALLS:
        return ""
    line = next(iter(_line_of(edge, store)), 0)
    return say("walk_reached", language, kind=say(f"edge_{edge.kind}", language), origin=edge.origin, line=line)


def _line_of(edge: Edge, store: KernelStore) -> Iterator[int]:
    """The line of the function that leads to a step."""
    for row in store.functions_named(edge.origin):
        yield from places(store.chunk(row), [edge.at])[:1]


def walk_path(walk: BoundWalk, numbers: Mapping[str, int], store: KernelStore) -> CallPath:
    """The functions of a walk, each below the one that leads to it; each stands once, where it comes first.

    A function that the walk leaves out between two of them is named on the way.
    """
    first: dict[str, BoundStep] = {}
    for step in walk.steps:
        first.setdefault(step.name, step)
    below: dict[str, tuple[str, tuple[str, ...]]] = {}  # function -> the one that leads to it, and those between
    for place, (name, step) in enumerate(first.items()):
        below[name] = _before(step.step.edge, list(first)[:place], store)
    steps: list[PathStep] = []

    def put(name: str, depth: int) -> None:
        """Put a function on the path, then what it leads to below it."""
        chunk, (above, via) = first[name].chunk, below[name]
        kind = first[name].step.edge.kind
        shown = "call" if kind in CALLS else kind
        where = chunk.where.first
        steps.append(PathStep(numbers[chunk.id], name, chunk.source, where, depth, above, via, shown))
        for other, (caller, _) in below.items():
            if caller == name:
                put(other, depth + 1)

    for name, (above, _) in below.items():
        if not above:
            put(name, 0)
    edges: dict[tuple[str, str], str] = {}
    for name, (above, via) in below.items():
        names = [*filter(None, (above, *via)), name]
        edges |= {pair: "call" for pair in pairwise(names) if pair not in edges}
    for step in walk.steps:
        edge = step.step.edge
        if edge.kind != "start" and edge.kind != "inline":
            edges[edge.origin, step.name] = edge.kind
    indirect = tuple((*pair, kind) for pair, kind in edges.items() if kind != "call")
    return CallPath(tuple(steps), tuple(edges), indirect)


def _before(edge: Edge, earlier: Sequence[str], store: KernelStore) -> tuple[str, tuple[str, ...]]:
    """The earlier function of the walk from which an edge comes, and the names between the two.

    "" where the call graph joins none of them with it within a few calls.
    """
    if edge.kind == "start":
        return "", ()
    helper = (edge.through,) if edge.kind == "inline" else ()
    if edge.origin in earlier:
        return edge.origin, helper
    targets = store.functions_named(edge.origin)[:1]
    for name in reversed(earlier):
        for start in store.functions_named(name)[:1]:
            via = next((way for target in targets if (way := between(start, target, store)) is not None), None)
            if via is not None:
                return name, (*via, edge.origin, *helper)
    return "", (edge.origin, *helper)
