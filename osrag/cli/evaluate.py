"""`eval textbook|kernel|answers|quiz|lab|logs FILE`: figures for questions, exercises or logs with known answers."""

import argparse
from pathlib import Path

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
from osrag.evaluate.measures import read_rows
from osrag.lab.reading import read
from osrag.settings import Settings


def add_eval(command: argparse.ArgumentParser) -> None:
    """Add a sub-command for each source and one for the quiz."""
    sources = command.add_subparsers(dest="source", required=True, metavar="SOURCE")
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


def run_search(args: argparse.Namespace, settings: Settings) -> int:
    """Measure the search of one source; the questions are read before anything loads."""
    parts = Parts(settings, progress=ProgressBar())
    if args.source == "textbook":
        pages = book_questions.read_questions(args.file)
        figures, misses = book_questions.evaluate(parts.textbook, pages, k=args.k)
    elif kernel_sets.has_sets(args.file):
        sets = kernel_sets.read_sets(args.file)
        kept = [one for one in sets if args.part == "all" or one.held_out == (args.part == "held_out")]
        figures, misses = kernel_sets.evaluate(parts.kernel_source, parts.encoder, kept)
    else:
        functions = kernel_questions.read_questions(args.file)
        chat = parts.chat if args.effort == "deep" else None
        figures, misses = kernel_questions.evaluate(parts.kernel, functions, k=args.k, chat=chat)
    for row in [*(misses if args.show_misses else ()), figures]:
        show(row)
    return 0


def run_answers(args: argparse.Namespace, settings: Settings) -> int:
    """Measure what the answers of the book say."""
    rows = read_rows(args.file, key_points.KeyPoints, needs="question and points")
    kept = [row for row in rows if args.part in ("all", row.set)]
    bar = ProgressBar()
    parts = Parts(settings, progress=bar)
    if args.unprepared:
        parts.textbook.answers = None
    figures, misses = key_points.evaluate(
        kept,
        lambda question: answer(parts, question),
        parts.checker,
        tell=lambda done, total: bar("questions", done, total),
    )
    for row in [*(misses if args.show_misses else ()), figures]:
        show(row)
    return 0


def run_quiz(args: argparse.Namespace, settings: Settings) -> int:
    """Measure the judge on a bank or on marked answers."""
    bar = ProgressBar()
    figures, _ = exercises.evaluate(
        Parts(settings, progress=bar).judge,
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


def run_lab(args: argparse.Namespace, settings: Settings) -> int:
    """Measure how exercises in words are read."""
    parts = Parts(settings, progress=ProgressBar())
    questions = lab_questions.read_questions(args.file)
    kept = [one for one in questions if not (args.development and one.held_out)]
    figures, misses = lab_questions.evaluate(
        kept, lambda text: read_exercise(text, parts) if args.model else read(text, parts.checker)
    )
    for row in [*(misses if args.show_misses else ()), figures]:
        show(row)
    return 0


def run_logs(args: argparse.Namespace, settings: Settings) -> int:
    """Measure how error logs are read; the index only tells which functions it has."""
    store = Parts(settings, progress=ProgressBar()).kernel.store
    reports = read_rows(args.file, error_logs.LogReport, needs="id, function and text")
    kept = [one for one in reports if args.part == "all" or one.held_out == (args.part == "held_out")]
    figures, misses = error_logs.evaluate(kept, lambda name: bool(store.functions_named(name)))
    for row in [*(misses if args.show_misses else ()), figures]:
        show(row)
    return 0
