"""`quiz check FILE`, `quiz import FILE.csv`, `judge --json`: the question bank and its judge."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from osrag.app.parts import Parts
from osrag.cli.console import STDIN, ProgressBar, complain, origin, read_text, show
from osrag.errors import BadInput
from osrag.evaluate.programs import figures, marked
from osrag.files import write_whole
from osrag.nesting import read_json
from osrag.quiz.bank import read_file, shipped_bank
from osrag.quiz.exchange.write import FORMS
from osrag.quiz.judge import checked
from osrag.quiz.judgement import as_json
from osrag.quiz.programs import sandbox
from osrag.quiz.programs.folder import read_programs
from osrag.quiz.rows import as_row, read_answered
from osrag.settings import Settings
from osrag.wording import say

EXAMPLE = '{"type": "single_choice", "question": "…", "options": {"A": "…"}, "answer": "A", "student_answer": "A"}'


def add_quiz(quiz: argparse.ArgumentParser) -> None:
    """Add the tasks of `quiz`."""
    tasks = quiz.add_subparsers(dest="task", required=True, metavar="TASK")
    check = tasks.add_parser("check", help="say what is wrong in bank files (JSONL, JSON, CSV) or folders of programs")
    check.add_argument("files", nargs="+", type=Path, metavar="FILE")
    check.add_argument(
        "--run", dest="tested", action="store_true", help="compile and test the solutions of programs, in the sandbox"
    )
    check.set_defaults(run=run_check)
    bring = tasks.add_parser("import", help="turn a table (CSV), JSON, Moodle XML or GIFT into bank rows (JSONL)")
    bring.add_argument("file", type=Path, metavar="FILE")
    bring.add_argument("--out", type=Path, metavar="FILE.jsonl", help="default: standard output")
    bring.set_defaults(run=run_import)
    give = tasks.add_parser("export", help="write bank files as Moodle XML, GIFT, QTI 1.2 or an Anki deck")
    give.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: the bank that is shipped")
    give.add_argument("--to", choices=tuple(FORMS), required=True)
    give.add_argument("--lang", choices=("zh", "en"), default="zh", help="which language (default: zh)")
    give.add_argument("--chapter", default="", help="one chapter only")
    give.add_argument("--out", type=Path, required=True, metavar="FILE")
    give.set_defaults(run=run_export)


def add_judge(judge: argparse.ArgumentParser) -> None:
    """Add the options of `judge`."""
    judge.add_argument("--json", action="store_true", help="print the result as JSON (the default prints a summary)")
    judge.add_argument("--stream", action="store_true", help="print every step as a line of JSON")
    judge.add_argument("--file", type=Path, default=STDIN, help="instead of standard input")
    judge.set_defaults(run=run_judge)


def run_check(args: argparse.Namespace, settings: Settings) -> int:
    """1 when a question cannot be used; doubts alone are no error."""
    broken = 0
    for path in args.files:
        if path.is_dir():
            broken += _check_programs(path, run=args.tested)
            continue
        found = read_file(path)
        complain(found.slips, "error")
        complain(found.doubts, "warning")
        broken += len(found.slips)
        counts = {"errors": len(found.slips), "warnings": len(found.doubts)}
        show({"file": str(path), "questions": sum(found.types.values()), "types": found.types, **counts})
    return int(broken > 0)


def _check_programs(folder: Path, *, run: bool) -> int:
    """Check a folder of programming exercises, and mark the solutions in it; how many faults there are."""
    if run and (why := sandbox.missing()):
        raise BadInput(f"programs cannot be run here: {why}", hint="or leave out --run")
    read, slips = read_programs(folder)
    exercises = [one for one in read if one.language == "en"]
    if not read and not slips:
        raise BadInput(f"{str(folder)!r} holds no folder with an exercise.json")
    with ProgressBar() as bar:
        rows = list(marked(exercises, run=run, progress=bar))
    for row in (row for row in rows if row.way == "shipped"):
        if row.slips or row.open:
            wanted, missed, left = (", ".join(map(str, ones)) or "none" for ones in (row.fails, row.missed, row.open))
            slips.append(f"{row.exercise}: {row.solution} should lose {wanted}; loses {missed}, open {left}")
    complain(slips, "error")
    show({"folder": str(folder), "programs": len(exercises), "errors": len(slips), "marked": figures(rows)})
    return len(slips)


def run_import(args: argparse.Namespace, settings: Settings) -> int:
    """Write the rows that can be used; name the others, and say so in the exit code."""
    read = read_file(args.file)
    complain(read.slips, "error")
    lines = "".join(json.dumps(as_row(one), ensure_ascii=False) + "\n" for one in read.exercises)
    if args.out is None:
        sys.stdout.write(lines)
    else:
        try:
            write_whole(args.out, lines)
        except OSError as error:
            raise BadInput(f"cannot write {str(args.out)!r}: {error.strerror}") from error
        show({"file": str(args.out), "questions": len(read.exercises), "errors": len(read.slips)})
    return int(bool(read.slips))


def run_export(args: argparse.Namespace, settings: Settings) -> int:
    """Write a file for another program; what it cannot hold is named, and is no error."""
    read = (
        [one for path in args.files for one in read_file(path).exercises] if args.files else shipped_bank().exercises()
    )
    chosen = [one for one in read if one.language == args.lang and args.chapter in ("", one.chapter)]
    if not chosen:
        raise BadInput(f"no questions in {args.lang!r}{f' of chapter {args.chapter}' if args.chapter else ''}")
    written = FORMS[args.to].write(chosen, say("course_name", args.lang))
    complain(written.lost, "not kept")
    try:
        write_whole(args.out, written.data)
    except OSError as error:
        raise BadInput(f"cannot write {str(args.out)!r}: {error.strerror}") from error
    show({"file": str(args.out), "questions": len(chosen), "not_kept": len(written.lost)})
    return 0


def run_judge(args: argparse.Namespace, settings: Settings) -> int:
    """Print the verdict; an answer that is wrong is no error of the command."""
    exercise, answer = read_answered(_object(args.file))
    checked(exercise, answer)
    parts = Parts(settings, progress=ProgressBar())
    result: dict[str, Any] = {}
    for step in parts.judge.judge(exercise, answer):
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
    """The JSON value of a file or of standard input. Raises BadInput, naming which of the two is at fault."""
    text = read_text(path, option="--file")
    try:
        return read_json(text)
    except BadInput as error:
        raise BadInput(f"{origin(path)} is no question: {error}", hint=f"for example {EXAMPLE}") from error
