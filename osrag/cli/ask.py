"""`ask`: an answer, streamed; `search`: the passages or functions that fit a question. Both as text or as JSON."""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from osrag.answer.events import Called, Failed, Token, Waiting
from osrag.answer.plan import plan
from osrag.answer.source import Question, Source
from osrag.answer.view import place_of
from osrag.app.parts import Parts
from osrag.app.plain import event_json, search_json
from osrag.app.run import answer
from osrag.app.tools import within
from osrag.book.search import SearchResult
from osrag.cli.console import STDIN, ProgressBar, add_index, read_text, show
from osrag.errors import BadInput
from osrag.kernel.search import KernelResult
from osrag.settings import Settings
from osrag.text import clip
from osrag.types import EVERYTHING, CodeHit, Effort, Hit, SourceChoice


def add_ask(ask: argparse.ArgumentParser) -> None:
    """Add the options of `ask`."""
    ask.add_argument("question", nargs="+", metavar="QUESTION", help="`-` reads it from standard input, say a log")
    ask.add_argument("--source", choices=get_args(SourceChoice), default="auto")
    ask.add_argument("--effort", choices=get_args(Effort), help="default: what the machine affords")
    ask.add_argument("--json", action="store_true", help="one event a line, with t in seconds")
    ask.set_defaults(run=run_ask)


def run_ask(args: argparse.Namespace, settings: Settings) -> int:
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
        elif isinstance(event, Called):
            print(f"{event.name} {dict(event.arguments)}", file=sys.stderr, flush=True)
        elif isinstance(event, Token):
            print(event.text, end="", flush=True)
        elif isinstance(event, Failed):
            print(f"\n{event.message} {event.hint}", flush=True)
    if not args.json:
        print()
    return int(failed)


def add_search(search: argparse.ArgumentParser) -> None:
    """Add a sub-command for each source."""
    sources = search.add_subparsers(dest="source", required=True, metavar="SOURCE")
    about = {"textbook": ("passages with book, section and page", 8), "kernel": ("functions with file and lines", 10)}
    for source, (what, k) in about.items():
        one = sources.add_parser(source, help=what)
        one.add_argument("question", nargs="*", metavar="QUESTION")
        one.add_argument("--k", type=int, default=k, help=f"hits a question (default {k})")
        one.add_argument("--json", action="store_true", help="one JSON object a question")
        one.add_argument("--effort", choices=("fast", "deep"), default="fast")
        one.add_argument("--batch", type=Path, help="a file with a question a line")
        if source == "textbook":
            one.add_argument("--category", default="", help="only this category: textbook, faq, api, notes, …")
            one.add_argument("--file", default="", help="only this file of the material")
            one.add_argument("--language", default="", choices=("zh", "en"), help="only passages in this language")
        add_index(one)
        one.set_defaults(run=run_search)


def run_search(args: argparse.Namespace, settings: Settings) -> int:
    """Print the hits of every question; the questions are read before anything loads."""
    wanted = list(questions(args.batch, args.question))
    parts = Parts(settings, progress=ProgressBar())
    part = within(parts, args.category, args.file, args.language) if args.source == "textbook" else EVERYTHING
    source: Source[Any] = parts.book_source if args.source == "textbook" else parts.kernel_source
    chat = parts.chat if args.effort == "deep" else None
    for question in wanted:
        start = time.perf_counter()
        planned = plan(args.source, question, (), chat)
        suggest_ms = 1000 * (time.perf_counter() - start)
        result = source.search(planned, Question(question, passages=args.k, within=part))
        if chat is not None:
            timings = {**result.timings_ms, "suggest": suggest_ms, "total": suggest_ms + result.timings_ms["total"]}
            result = replace(result, timings_ms=timings)
        if args.json:
            show(search_json(result))
        else:
            _print(result)
    return 0


def questions(batch: Path | None, words: list[str]) -> Iterator[str]:
    """The question of the command line, or one a line from `--batch` (`-` is standard input)."""
    if batch is not None:
        # An empty line stays a question, so that answers and lines keep the same count.
        yield from read_text(batch, option="--batch").splitlines()
    elif words:
        yield " ".join(words)
    else:
        raise BadInput("no question was given", hint="write it at the end, or name a file with --batch")


def _print(result: SearchResult | KernelResult) -> None:
    """The hits as text: two lines for each, then the notes of a search of the kernel."""
    kernel = f"Linux {result.version}, " if isinstance(result, KernelResult) else ""
    print(f"{result.query}  ({kernel}{result.timings_ms['total']:.0f} ms)")
    hits: Sequence[Hit | CodeHit] = result.hits
    for place, hit in enumerate(hits, start=1):
        title, text = _told(hit)
        print(f"{place:2}. {hit.score:6.3f}  {title}")
        print(f"    {clip(' '.join(text.split()), 160)}")
    for note in result.notes if isinstance(result, KernelResult) else ():
        print(f"    {note}")


def _told(hit: Hit | CodeHit) -> tuple[str, str]:
    """Where a hit stands, and what it says."""
    if isinstance(hit, CodeHit):
        chunk = hit.chunk
        return f"{chunk.name}  {chunk.source}:{chunk.where.first}-{chunk.where.last}", chunk.description
    return f"{hit.chunk.source} {place_of(hit.chunk, 'en')}  {hit.chunk.section_path}", hit.chunk.text
