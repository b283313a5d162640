"""What every kind of exercise must keep, for the tests of the topics."""

import xml.etree.ElementTree as ElementTree
from random import Random
from typing import Any, get_args

import pytest

from osrag.lab.exercise import exercise, grade_trace
from osrag.lab.kind import Kind, Level, Solution
from osrag.lab.solve import as_json, as_markdown, link, sentence, solve
from osrag.lab.svg import svg
from osrag.lab.words import table
from osrag.types import Language

LANGUAGES: tuple[Language, ...] = ("zh", "en")
LEVELS: tuple[Level, ...] = get_args(Level)


def solution(kind: Kind[Any], **values: object) -> Solution:
    """The solution of values as a form gives them."""
    solved = solve(kind, values)
    assert solved.solution is not None, (solved.missing, solved.faults)
    return solved.solution


def result(kind: Kind[Any], name: str, **values: object) -> Any:
    """One result of values as a form gives them."""
    return solution(kind, **values).results[name].value


def errors(kind: Kind[Any], **values: object) -> dict[str, str]:
    """Field -> sentence, in English; the Chinese sentence must be there too."""
    solved = solve(kind, values)
    assert all(each.sentence("zh") for each in solved.faults)
    return {each.field: each.sentence("en") for each in solved.faults}


def has_its_words(kind: Kind[Any]) -> None:
    """Every key that a kind uses is in the table of words."""
    words = table()
    fields = kind.parameters.model_fields
    assert kind.name in words["kinds"]
    assert kind.name in words["questions"]
    assert set(fields) <= set(words["fields"])
    asks = get_args(fields["ask"].annotation)
    assert fields["ask"].default == asks[0]
    for name, info in fields.items():
        choices = {arg for arg in get_args(info.annotation) if isinstance(arg, str)}
        assert name == "ask" or choices <= set(words["choices"]), name
    for level in LEVELS:
        made = kind.solve(kind.generate(Random(1), level))
        assert set(made.columns) <= set(words["columns"])
        assert set(asks) <= set(words["results"])
        assert set(asks) >= set(made.results)
        assert {mistake.name for mistake in kind.mistakes} <= set(words["mistakes"])
        assert {step.rule for step in made.steps if step.rule} <= set(words["rules"])
        assert {each.unit for each in made.results.values() if each.unit} <= set(words["units"])


def makes_exercises(kind: Kind[Any], *, options: float = 2.5) -> None:
    """Seeds 0 to 50 give valid exercises that read well, link back and have `options` choices on average."""
    for level in LEVELS:
        counts = []
        for seed in range(51):
            made = exercise(kind, seed, level)
            counts.append(len(made.options))
        again = exercise(kind, 50, level)
        assert again == made
        query = link(kind, made.parameters)
        assert solve(kind, {key: value for key, value in query.items() if key != "lab"}).parameters == made.parameters
        for language in LANGUAGES:
            assert made.question(language)
            assert as_json(solve(kind, made.parameters.model_dump()), language)["answer"]["text"]
            assert all(sentence(step, language) for step in kind.solve(made.parameters).steps)
        assert sum(counts) / len(counts) >= options, (level, counts)


def draws(kind: Kind[Any]) -> None:
    """The figure of each level is well-formed, told in words, and has as many steps as the solution."""
    for level in LEVELS:
        made = kind.solve(kind.generate(Random(3), level))
        for language in LANGUAGES:
            assert as_markdown(made, language).startswith("|")
            if made.figure is None:
                continue
            figure = made.figure(language)
            root = ElementTree.fromstring(svg(figure))
            assert [child.tag.rpartition("}")[2] for child in root[:2]] == ["title", "desc"]
            assert root[0].text
            assert root[1].text
            assert max(mark.step for mark in figure.marks) <= figure.steps == len(made.steps)
            assert all(mark.step >= 0 for mark in figure.marks)


def grades_itself(kind: Kind[Any], level: Level = "hard") -> None:
    """The computed rows, typed in, are a trace without fault; a changed cell is found."""
    made = exercise(kind, 4, level)
    rows = [[_typed(cell) for cell in step.row] for step in kind.solve(made.parameters).steps if step.row]
    assert grade_trace(kind, made.parameters, rows).score == 1
    rows[1][0] = "nonsense"
    assert grade_trace(kind, made.parameters, rows).right == 1


def _typed(cell: object) -> str:
    return " ".join(map(str, cell)) if isinstance(cell, tuple) else "-" if cell is None else str(cell)


def fails(kind: Kind[Any], values: dict[str, Any], field: str, says: str) -> None:
    """The values have a fault at `field` whose sentence says `says`."""
    found = errors(kind, **values)
    assert field in found, found
    assert says in found[field]


def all_said(prefixes: tuple[str, ...], steps: set[str]) -> None:
    """No sentence of a topic is left unsaid by `steps`."""
    mine = {key for key in table()["steps"] if key.startswith(prefixes)}
    if mine != steps:
        pytest.fail(f"unsaid: {mine - steps}; not of the topic: {steps - mine}")
