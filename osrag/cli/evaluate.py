"""`eval textbook FILE.jsonl`: figures for questions with known pages. `eval kernel` is in `kernel.py`."""

import argparse
from pathlib import Path
from typing import Any

from osrag.cli.console import ProgressBar, show
from osrag.settings import Settings


def add_commands(commands: Any) -> None:
    command = commands.add_parser("eval", help="measure retrieval on questions with known answers")
    sources = command.add_subparsers(dest="source", required=True, metavar="SOURCE")
    book = sources.add_parser("textbook", help="hit@k and MRR for questions with gold_pages")
    book.add_argument("file", type=Path, metavar="FILE.jsonl")
    book.add_argument("--index", type=Path, help="folder of the index")
    book.add_argument("--k", type=int, default=10)
    book.add_argument("--show-misses", action="store_true", help="print what was found instead")
    book.set_defaults(run=textbook)
    from osrag.cli import kernel, quiz

    kernel.add_eval(sources)
    quiz.add_eval(sources)


def textbook(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.app.parts import Parts
    from osrag.evaluate.textbook import evaluate, read_questions

    parts = Parts(settings, progress=ProgressBar())
    search = parts.open_textbook(args.index) if args.index else parts.textbook
    report = evaluate(search, read_questions(args.file), k=args.k)
    if args.show_misses:
        for miss in report.misses:
            show(miss)
    show(report.figures)
    return 0
