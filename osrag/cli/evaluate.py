"""`eval all`, and `eval textbook|kernel|answers|quiz|lab|logs FILE`: figures for questions with known answers."""

import argparse
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from osrag.app.computed import read_exercise
from osrag.app.parts import Parts
from osrag.app.run import answer
from osrag.cli.console import ProgressBar, add_index, show
from osrag.evaluate import answers as key_points
from osrag.evaluate import kernel as kernel_questions
from osrag.evaluate import kernel_sets
from osrag.evaluate import lab as lab_questions
from osrag.evaluate import logs as error_logs
from osrag.evaluate import quiz as exercises
from osrag.evaluate import textbook as book_questions
from osrag.evaluate.board import Board
from osrag.evaluate.figures import Row, plain
from osrag.evaluate.measures import read_rows
from osrag.evaluate.report import state
from osrag.evaluate.tasks import Given
from osrag.lab.reading import read
from osrag.settings import Settings


def add_eval(command: argparse.ArgumentParser) -> None:
    """Add a sub-command for each source and one for the quiz."""
    sources = command.add_subparsers(dest="source", required=True, metavar="SOURCE")
    whole = sources.add_parser("all", help="everything that the README claims, as a report; goes on where it stopped")
    whole.add_argument("--out", type=Path, default=Path("report.md"), metavar="REPORT.md", help="JSON lies beside it")
    whole.add_argument("--quick", action="store_true", help="some questions of each set: under ten minutes")
    whole.add_argument("--part", action="append", default=[], metavar="PART", help="only this part; may be repeated")
    whole.add_argument("--data", type=Path, metavar="DIR", help="data of others that are not shipped")
    whole.add_argument("--fresh", action="store_true", help="begin anew")
    add_index(whole)
    whole.set_defaults(run=run_all)
    about = {
        "textbook": "hit@k and MRR for questions with gold_pages",
        "kernel": "function@k, file@k and MRR for questions with gold_functions; for sets, what the answers show",
    }
    for source, what in about.items():
        one = sources.add_parser(source, help=what)
        one.add_argument("file", type=Path, metavar="FILE.jsonl")
        add_index(one)
        one.add_argument("--k", type=int, default=10)
        one.add_argument("--show-misses", action="store_true", help="print what was found instead")
        if source == "kernel":
            one.add_argument("--effort", choices=("fast", "deep"), default="fast")
            one.add_argument("--part", choices=("all", "development", "held_out"), default="all", help="of sets")
        one.set_defaults(run=run_search)
    answers = sources.add_parser("answers", help="answers of the book: key points said, repetitions, seconds")
    answers.add_argument("file", type=Path, metavar="FILE.jsonl")
    add_index(answers)
    answers.add_argument("--part", choices=("all", "dev", "held_out"), default="all", help="as the rows' `set` says")
    answers.add_argument("--unprepared", action="store_true", help="without the prepared answers")
    answers.add_argument("--show-misses", action="store_true", help="print answers that leave a point out")
    answers.set_defaults(run=run_answers)
    quiz = sources.add_parser("quiz", help="agreement with keys and human marks, calibration")
    quiz.add_argument("file", type=Path, metavar="FILE", help="a bank (JSONL, JSON, CSV) or a CSV of marked answers")
    add_index(quiz)
    quiz.add_argument("--sample", type=int, default=0, help="only this many choice questions, or marked answers")
    quiz.add_argument("--covered", type=float, default=0.0, help="only questions whose search is this sure (0-1)")
    quiz.add_argument("--covered-by", type=Path, metavar="FILE", help="only choice questions that FILE calls stated")
    quiz.add_argument("--turns", type=int, default=3, help="ask the model this often, the options turned")
    quiz.add_argument("--plot", type=Path, metavar="FILE.svg", help="picture of the calibration")
    quiz.add_argument("--rows", action="store_true", help="print a line a question as well")
    quiz.set_defaults(run=run_quiz)
    lab = sources.add_parser("lab", help="exercises in words: kind right, all parameters right, wrong results")
    lab.add_argument("file", type=Path, metavar="FILE.jsonl")
    lab.add_argument("--show-misses", action="store_true", help="print what was read instead")
    lab.add_argument("--model", action="store_true", help="the model looks for what is missing, as in the lab")
    lab.add_argument("--development", action="store_true", help="leave out what is held out")
    lab.set_defaults(run=run_lab)
    logs = sources.add_parser("logs", help="error logs: function to blame named first, among three; logs not read")
    logs.add_argument("file", type=Path, metavar="FILE.jsonl")
    add_index(logs)
    logs.add_argument("--show-misses", action="store_true", help="print what was named instead")
    logs.add_argument("--part", choices=("all", "development", "held_out"), default="all", help="by a hash of the id")
    logs.set_defaults(run=run_logs)


def told(rows: Iterable[Row], *, misses: bool, about: Mapping[str, Any] | None = None) -> int:
    """Print the figures of the rows by group, and before them what was missed."""
    held = list(rows)
    for row in held if misses else ():
        if row.note:
            show(row.note)
    show({"questions": len(held), **(about or {}), **plain(held)})
    return 0


def run_search(args: argparse.Namespace, settings: Settings) -> int:
    """Measure the search of one source; the questions are read before anything loads."""
    parts = Parts(settings, progress=ProgressBar())
    rows: Iterable[Row]
    if args.source == "textbook":
        pages = book_questions.read_questions(args.file)
        rows = book_questions.rows(parts.textbook, pages, k=args.k)
    elif kernel_sets.has_sets(args.file):
        sets = kernel_sets.read_sets(args.file)
        kept = [one for one in sets if args.part == "all" or one.held_out == (args.part == "held_out")]
        rows = kernel_sets.rows(parts.kernel_source, parts.encoder, kept)
    else:
        functions = kernel_questions.read_questions(args.file)
        chat = parts.chat if args.effort == "deep" else None
        rows = kernel_questions.rows(parts.kernel, functions, k=args.k, chat=chat)
    return told(rows, misses=args.show_misses)


def run_answers(args: argparse.Namespace, settings: Settings) -> int:
    """Measure what the answers of the book say."""
    questions = read_rows(args.file, key_points.KeyPoints, needs="question and points")
    kept = [row for row in questions if args.part in ("all", row.set)]
    bar = ProgressBar()
    parts = Parts(settings, progress=bar)
    if args.unprepared:
        parts.textbook.answers = None
    rows = key_points.rows(kept, lambda question: answer(parts, question), parts.checker)
    return told(counted(rows, len(kept), bar), misses=args.show_misses)


def counted(rows: Iterable[Row], total: int, bar: ProgressBar) -> Iterator[Row]:
    """The rows, told to a progress bar."""
    for done, row in enumerate(rows, start=1):
        bar("questions", done, total)
        yield row


def run_quiz(args: argparse.Namespace, settings: Settings) -> int:
    """Measure the judge on a bank or on marked answers."""
    bar = ProgressBar()
    judge = Parts(settings, progress=bar).judge
    if exercises.is_marked(args.file):
        marked = exercises.sampled(exercises.read_marked(args.file), args.sample)
        return told(counted(exercises.marked_rows(judge, marked), len(marked), bar), misses=args.rows)
    bank = exercises.read_bank(args.file, covered=args.covered_by)
    asked = exercises.sampled(bank.choice, args.sample) if judge.chat else []
    choice = []
    for row in counted(exercises.choice_rows(judge, asked, least=args.covered, turns=args.turns), len(asked), bar):
        choice.append(row)
        if args.rows:
            show(row.note)
    if args.plot and choice:
        args.plot.write_text(exercises.picture(choice), encoding="utf-8")
    rows = [*exercises.key_rows(bank.keyed), *choice, *exercises.reference_rows(judge, bank.texts)]
    return told(rows, misses=False, about={"file": args.file.name, "broken_rows": bank.broken})


def run_lab(args: argparse.Namespace, settings: Settings) -> int:
    """Measure how exercises in words are read."""
    parts = Parts(settings, progress=ProgressBar())
    questions = lab_questions.read_questions(args.file)
    kept = [one for one in questions if not (args.development and one.held_out)]
    rows = lab_questions.rows(
        kept, lambda text: read_exercise(text, parts) if args.model else read(text, parts.checker)
    )
    return told(rows, misses=args.show_misses)


def run_logs(args: argparse.Namespace, settings: Settings) -> int:
    """Measure how error logs are read; the index only tells which functions it has."""
    store = Parts(settings, progress=ProgressBar()).kernel.store
    reports = read_rows(args.file, error_logs.LogReport, needs="id, function and text")
    kept = [one for one in reports if args.part == "all" or one.held_out == (args.part == "held_out")]
    return told(error_logs.rows(kept, lambda name: bool(store.functions_named(name))), misses=args.show_misses)


def run_all(args: argparse.Namespace, settings: Settings) -> int:
    """Measure the sets of the report, and print how each of them stands."""
    with ProgressBar() as bar:
        given = Given(Parts(settings, progress=bar), args.data)
        kept = settings.cache_dir / "eval"
        board = Board(given, args.out, kept, quick=args.quick, fresh=args.fresh, tell=bar)
        report = board.run(args.part)
    for one in report.sets:
        print(f"{one.name}: {state(one, 'en')}")
    return 0
