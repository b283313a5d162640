"""`quiz check FILE`, `quiz import FILE.csv`, `judge --json`: the question bank and its judge."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from osrag.cli.console import ProgressBar, show
from osrag.errors import BadInput
from osrag.settings import Settings


def add_commands(commands: Any) -> None:
    quiz = commands.add_parser("quiz", help="check or import a question bank")
    tasks = quiz.add_subparsers(dest="task", required=True, metavar="TASK")
    check = tasks.add_parser("check", help="say what is wrong in bank files (JSONL, JSON, CSV)")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.set_defaults(run=run_check)
    bring = tasks.add_parser("import", help="turn a table (CSV) or JSON into bank rows (JSONL)")
    bring.add_argument("file", type=Path, metavar="FILE")
    bring.add_argument("--out", type=Path, metavar="FILE.jsonl", help="default: standard output")
    bring.set_defaults(run=run_import)
    judge = commands.add_parser("judge", help="judge one answer; a question object on standard input")
    judge.add_argument("--json", action="store_true", help="print the result as JSON (the default prints a summary)")
    judge.add_argument("--stream", action="store_true", help="print every step as a line of JSON")
    judge.add_argument("--file", type=Path, default=Path("-"), help="instead of standard input")
    judge.set_defaults(run=run_judge)


def add_eval(sources: Any) -> None:
    """The source `quiz` of the command `eval`."""
    command = sources.add_parser("quiz", help="agreement with keys and human marks, calibration")
    command.add_argument("file", type=Path, metavar="FILE", help="a bank (JSONL, JSON, CSV) or a CSV of marked answers")
    command.add_argument("--index", type=Path, help="folder of the index")
    command.add_argument("--sample", type=int, default=0, help="only this many choice questions, or marked answers")
    command.add_argument("--covered", type=float, default=0.0, help="only questions whose search is this sure (0-1)")
    command.add_argument("--covered-by", type=Path, metavar="FILE", help="only choice questions that FILE calls stated")
    command.add_argument("--turns", type=int, default=3, help="ask the model this often, the options turned")
    command.add_argument("--plot", type=Path, metavar="FILE.svg", help="picture of the calibration")
    command.add_argument("--rows", action="store_true", help="print a line a question as well")
    command.set_defaults(run=run_eval)


def run_eval(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.app.parts import Parts
    from osrag.evaluate.quiz import evaluate
    from osrag.quiz.judge import Judge

    bar = ProgressBar()
    parts = Parts(settings, progress=bar)
    search = parts.open_textbook(args.index) if args.index else parts.textbook
    judge = Judge(search, parts.checker, parts.chat, settings)
    figures, _ = evaluate(
        judge,
        args.file,
        sample=args.sample,
        least=args.covered,
        covered=args.covered_by,
        turns=args.turns,
        picture=args.plot,
        tell=lambda done, total: bar("questions", done, total),
        each=show if args.rows else lambda row: None,
    )
    show(figures)
    return 0


def run_check(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.quiz.check import check_file

    broken = 0
    for path in args.files:
        found = check_file(path)
        for slip in found.slips:
            print(f"error: {slip}", file=sys.stderr)
        for doubt in found.doubts:
            print(f"warning: {doubt}", file=sys.stderr)
        broken += len(found.slips)
        show(
            {
                "file": str(path),
                "questions": found.questions,
                "types": found.kinds,
                "errors": len(found.slips),
                "warnings": len(found.doubts),
            }
        )
    return int(broken > 0)


def run_import(args: argparse.Namespace, settings: Settings) -> int:
    """Rows that can be used are written; the others are named, and the exit code says so."""
    from osrag.quiz.bank import read_file, to_row

    read = read_file(args.file)
    for slip in read.slips:
        print(f"error: {slip}", file=sys.stderr)
    lines = "".join(json.dumps(to_row(item), ensure_ascii=False) + "\n" for item in read.items)
    if args.out is None:
        sys.stdout.write(lines)
    else:
        try:
            args.out.write_text(lines, encoding="utf-8")
        except OSError as error:
            raise BadInput(f"cannot write {str(args.out)!r}: {error.strerror}") from error
        show({"file": str(args.out), "questions": len(read.items), "errors": len(read.slips)})
    return int(bool(read.slips))


def run_judge(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.app.parts import Parts
    from osrag.quiz.case import read_case
    from osrag.quiz.judge import checked
    from osrag.quiz.judgement import as_json

    item, answer = read_case(_object(args.file))
    checked(item, answer)
    parts = Parts(settings, progress=ProgressBar())
    result: dict[str, Any] = {}
    for step in parts.judge.judge(item, answer):
        result = as_json(step.judgement, step.passages)
        if args.stream:
            show({"stage": step.stage, **result})
    if args.json and not args.stream:
        show(result)
    elif not args.stream:
        for name, value in result.items():
            if value not in ("", [], None) and name != "evidence":
                print(f"{name}: {value}")
    return 0


def _object(path: Path) -> Any:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8")
        return json.loads(text)
    except OSError as error:
        raise BadInput(f"cannot read {str(path)!r}: {error.strerror}") from error
    except json.JSONDecodeError as error:
        raise BadInput(
            f"standard input is not a JSON object: {error.msg} at character {error.pos + 1}",
            hint='for example {"type": "single_choice", "question": "…", "options": {"A": "…"}, "answer": "A", '
            '"student_answer": "A"}',
        ) from error
    except UnicodeDecodeError as error:
        raise BadInput(f"standard input is not UTF-8 at byte {error.start}") from error
