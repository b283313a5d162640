"""`ask --source textbook|kernel|both QUESTION`: an answer, streamed; with `--json` one event a line."""

import argparse
import time

from osrag.answer.events import Failed, Token, Waiting
from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.app.plain import event_json
from osrag.app.run import answer
from osrag.cli.console import STDIN, ProgressBar, read_text, show
from osrag.settings import Settings


def add_ask(ask: argparse.ArgumentParser) -> None:
    """Add the options of `ask`."""
    ask.add_argument("question", nargs="+", metavar="QUESTION", help="`-` reads it from standard input, say a log")
    ask.add_argument("--source", choices=("textbook", "kernel", "both"), default="textbook")
    ask.add_argument("--effort", choices=("fast", "deep"), help="default: what the machine affords")
    ask.add_argument("--json", action="store_true", help="one event a line, with t in seconds")
    ask.set_defaults(run=run)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """1 when the run failed; what was written before stays."""
    start = time.perf_counter()
    parts = Parts(settings, progress=ProgressBar())
    words = " ".join(args.question)
    question = Question(read_text(STDIN) if words == "-" else words, source=args.source, effort=args.effort)
    failed = False
    for event in answer(parts, question):
        if isinstance(event, Waiting):
            continue
        failed = failed or isinstance(event, Failed)
        if args.json:
            show(event_json(event, time.perf_counter() - start))
        elif isinstance(event, Token):
            print(event.text, end="", flush=True)
        elif isinstance(event, Failed):
            print(f"\n{event.message} {event.hint}", flush=True)
    if not args.json:
        print()
    return int(failed)
