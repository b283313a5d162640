"""`lab KIND …`, `lab --ask TEXT`, `lab --list`, `lab --exercise KIND`: exercises that are computed."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any, get_args

from osrag.app.computed import read_on
from osrag.app.parts import Parts
from osrag.cli.console import show
from osrag.errors import BadInput
from osrag.lab.catalog import KINDS, kind_named
from osrag.lab.exercise import exercise
from osrag.lab.fields import as_text
from osrag.lab.kind import Kind, Level
from osrag.lab.reading import read
from osrag.lab.reading.by_model import doubtful
from osrag.lab.solve import Solved, answer_line, as_json, as_markdown, label, read_as, shown, solve
from osrag.lab.svg import svg as drawing
from osrag.lab.words import word
from osrag.models.store import Store
from osrag.settings import Settings
from osrag.types import Language
from osrag.wording import say


def add_lab(command: argparse.ArgumentParser) -> None:
    """Add the options of `lab`; those of a kind are added when it is known."""
    command.add_argument("kind", nargs="?", metavar="KIND", help="what to compute; `lab KIND --help` lists its options")
    what = command.add_mutually_exclusive_group()
    what.add_argument("--ask", metavar="TEXT", help="read an exercise in words and compute it")
    what.add_argument("--list", action="store_true", help="the kinds of exercises")
    what.add_argument("--exercise", metavar="KIND", help="make an exercise")
    command.add_argument("--seed", type=int, default=0, help="of the exercise")
    command.add_argument("--level", choices=get_args(Level), default="easy", help="of the exercise")
    _add_output(command)
    # What is left belongs to the kind.
    command.add_argument("options", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    command.set_defaults(run=run_lab)


def _add_output(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print one JSON object")
    command.add_argument("--svg", type=Path, metavar="FILE", help="write the drawing")
    command.add_argument("--language", choices=("zh", "en"), help="of the answer (default: en, or that of the text)")


def run_lab(args: argparse.Namespace, settings: Settings) -> int:
    """0 when something was computed or listed, 1 when something is missing or wrong."""
    if args.list:
        for kind in KINDS.values():
            print(f"{kind.name:20} {word('kinds', kind.name, args.language or 'en')}")
        return 0
    if args.exercise is not None:
        return _exercise(args)
    if args.ask is not None:
        return _ask(args, settings)
    if args.kind is None:
        raise BadInput("say what to compute", hint="`osrag lab --list` lists the kinds")
    return _compute(kind_named(args.kind), args)


def options_of(kind: Kind[Any]) -> argparse.ArgumentParser:
    """The command line of a kind: an option for each of its parameters."""
    options = argparse.ArgumentParser(
        prog=f"python -m osrag lab {kind.name}", description=word("kinds", kind.name, "en")
    )
    for name, field in kind.parameters.model_fields.items():
        choices = [each for each in get_args(field.annotation) if isinstance(each, str)]
        default = "" if field.is_required() else f" (default: {as_text(field.default) or 'none'})"
        among = f": {', '.join(choices)}" if choices else ""
        text = f"{label(name, 'en')}{among}{default}".replace("%", "%%")
        options.add_argument(f"--{name.replace('_', '-')}", dest=f"field_{name}", metavar="VALUE", help=text)
    _add_output(options)
    return options


def _compute(kind: Kind[Any], args: argparse.Namespace) -> int:
    given = options_of(kind).parse_args(args.options)
    values = {name: getattr(given, f"field_{name}") for name in kind.parameters.model_fields}
    solved = solve(kind, values)
    language: Language = given.language or args.language or "en"
    return _show(solved, language, in_json=given.json or args.json, svg=given.svg or args.svg)


def _exercise(args: argparse.Namespace) -> int:
    made = exercise(kind_named(args.exercise), args.seed, args.level)
    language: Language = args.language or "en"
    if args.json:
        answer = {"value": made.answer.value, "unit": made.answer.unit}
        given = made.parameters.model_dump()
        options = [shown(option.value, made.answer.unit, language) for option in made.options]
        show({"type": made.kind.name, "question": made.question(language), "parameters": given}
             | {"options": options, "answer": answer})  # fmt: skip
    else:
        print(made.question(language))
    return 0


def _ask(args: argparse.Namespace, settings: Settings) -> int:
    parts = Parts(settings)
    reading = read(args.ask, parts.checker)
    if reading is not None and doubtful(reading) and Store(settings).present("chat"):
        print("osrag: not all is sure; the model reads it again", file=sys.stderr)
        reading = read_on(reading, args.ask, parts)
    language: Language = args.language or ("zh" if any("\u4e00" <= char <= "\u9fff" for char in args.ask) else "en")
    if reading is None:
        if args.json:
            show({"type": None, "parameters": {}, "rules": {}, "missing": [], "steps": [], "answer": None})
            return 1
        raise BadInput("this is no exercise that the lab can read", hint="`osrag lab --list` lists the kinds")
    if args.json:
        also = [as_json(each.solved(), language) for each in reading.also]
        show(as_json(reading.solved(), language) | ({"also": also} if also else {}) | {"unused": list(reading.unused)})
        return 0
    codes = [_show(each.solved(), language, in_json=False, svg=args.svg) for each in (reading, *reading.also)]
    if reading.unused:
        print(f"osrag: {say('lab_unused', language, numbers=', '.join(reading.unused))}", file=sys.stderr)
    return max(codes)


def _show(solved: Solved, language: Language, *, in_json: bool, svg: Path | None) -> int:
    """What was read, the steps as a table and the answer; faults and missing fields on stderr."""
    if svg is not None and solved.solution is not None and solved.solution.figure is not None:
        try:
            svg.write_text(drawing(solved.solution.figure(language)), encoding="utf-8")
        except OSError as error:
            raise BadInput(f"cannot write {str(svg)!r}: {error.strerror}") from error
    if in_json:
        print(json.dumps(as_json(solved, language), ensure_ascii=False))
    else:
        print(word("kinds", solved.kind.name, language))
        for name, text in (*read_as(solved, language, rules=False), *read_as(solved, language, rules=True)):
            print(f"  {name}: {text}")
        if solved.solution is not None and solved.answer is not None:
            print(f"\n{as_markdown(solved.solution, language)}\n")
            print(answer_line(solved, language))
    for fault in solved.faults:
        print(f"osrag: {fault.sentence(language)}", file=sys.stderr)
    if solved.missing:
        print(f"osrag: missing: {', '.join(label(name, language) for name in solved.missing)}", file=sys.stderr)
    return int(solved.solution is None)
