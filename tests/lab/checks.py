"""What every kind of exercise must do, for the tests of the topics."""

import xml.etree.ElementTree as ET
from typing import Any

from osrag.lab.exercise import exercise
from osrag.lab.kind import Kind, Level
from osrag.lab.solve import as_json, as_markdown, label, link, sentence, shown, solve
from osrag.lab.svg import svg
from osrag.lab.words import table, word
from osrag.types import Language

LANGUAGES: tuple[Language, ...] = ("zh", "en")
LEVELS: tuple[Level, ...] = ("easy", "medium", "hard")


def check_generated(kind: Kind[Any], seeds: range, *, options: float = 0.9) -> None:
    """Each seed makes a valid exercise that reads in both languages; most (`options`) have a distractor."""
    with_choice = 0
    for level in LEVELS:
        for seed in seeds:
            made = exercise(kind, seed, level)
            again = solve(kind, {name: value for name, value in link(kind, made.parameters).items() if name != "lab"})
            assert again.parameters == made.parameters, (level, seed, again.faults, again.missing)
            assert again.answer == made.answer
            with_choice += len(made.options) > 1
            for language in LANGUAGES:
                assert made.question(language)
    assert with_choice >= options * 3 * len(seeds), with_choice


def check_told(kind: Kind[Any], parameters: Any) -> None:
    """Steps, tables, results, rules and the figure read in both languages."""
    solution = kind.solve(parameters)
    solved = solve(kind, parameters.model_dump())
    assert solved.parameters == parameters
    for language in LANGUAGES:
        for step in solution.steps:
            assert sentence(step, language)
            assert not step.rule or word("rules", step.rule, language)
            assert not step.row or len(step.row) == len(solution.columns)
        assert as_markdown(solution, language)
        assert as_json(solved, language)["answer"]["text"]
        for name, result in solution.results.items():
            assert word("results", name, language) and shown(result.value, result.unit, language)
        for name in kind.parameters.model_fields:
            assert label(name, language) != name or name == "c"
        for mistake in kind.mistakes:
            assert word("mistakes", mistake.name, language)
        assert word("kinds", kind.name, language)
        if solution.figure is not None:
            figure = solution.figure(language)
            root = ET.fromstring(svg(figure))
            assert root[0].tag.endswith("title") and root[0].text
            assert root[1].tag.endswith("desc") and root[1].text
            assert figure.steps == len(solution.steps)


def check_choices(kind: Kind[Any]) -> None:
    """Every choice of a rule has words."""
    for name, field in kind.parameters.model_fields.items():
        extra = field.json_schema_extra
        if isinstance(extra, dict) and extra.get("rule"):
            for choice in getattr(field.annotation, "__args__", ()):
                assert str(choice) in table()["choices"] or not isinstance(choice, str), (name, choice)


def faults(kind: Kind[Any], **values: Any) -> dict[str, str]:
    """The English sentence of each faulty field."""
    return {fault.field: fault.sentence("en") for fault in solve(kind, values).faults if fault.sentence("zh")}
