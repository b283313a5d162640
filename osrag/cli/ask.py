"""`ask --source textbook|kernel|both QUESTION`: an answer, streamed; with `--json` one event a line."""

import argparse
import sys
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from osrag.cli.console import ProgressBar, show
from osrag.settings import Settings

if TYPE_CHECKING:
    from osrag.answer.events import Event


def add_commands(commands: Any) -> None:
    ask = commands.add_parser("ask", help="answer a question from the course book and the kernel source")
    ask.add_argument("question", nargs="+", metavar="QUESTION", help="`-` reads it from standard input, say a log")
    ask.add_argument("--source", choices=("textbook", "kernel", "both"), default="textbook")
    ask.add_argument("--effort", choices=("fast", "deep"), help="default: what the machine affords")
    ask.add_argument("--json", action="store_true", help="one event a line, with t in seconds")
    ask.set_defaults(run=run)


def run(args: argparse.Namespace, settings: Settings) -> int:
    start = time.perf_counter()
    from osrag.answer.events import AnswerChunk, CodeDescriptionChunk, Failed, Waiting
    from osrag.app.parts import Parts
    from osrag.app.run import Request, answer

    parts = Parts(settings, progress=ProgressBar())
    words = " ".join(args.question)
    request = Request(sys.stdin.read() if words == "-" else words, source=args.source, effort=args.effort)
    failed = False
    for event in answer(parts, request):
        if isinstance(event, Waiting):
            continue
        failed = failed or isinstance(event, Failed)
        if args.json:
            show(event_json(event, time.perf_counter() - start))
        elif isinstance(event, AnswerChunk | CodeDescriptionChunk):
            print(event.text, end="", flush=True)
        elif isinstance(event, Failed):
            print(f"\n{event.message} {event.hint}", flush=True)
    if not args.json:
        print()
    return int(failed)


def event_json(event: "Event", seconds: float) -> dict[str, Any]:
    """An event as one flat object: `type`, `t` (seconds since the start of the run), then its fields."""
    from osrag.answer.view import passage_json

    value = asdict(event)
    if "passages" in value:
        version = str(value.get("version", ""))
        passages = event.passages  # type: ignore[union-attr]
        value["passages"] = [passage_json(passage, kernel_version=version) for passage in passages]
    return {"type": value.pop("type"), "t": round(seconds, 3), **value}
