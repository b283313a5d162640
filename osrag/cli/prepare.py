"""`prepare`: drafts of prepared answers by the chat model of this machine, and what a person must decide about them."""

import argparse
from pathlib import Path

from osrag.app.parts import Parts
from osrag.book.asks import ASKS
from osrag.book.prepare import review, tasks, write_drafts
from osrag.cli.console import ProgressBar, add_index
from osrag.errors import ModelNotFound
from osrag.index.manifest import id_of
from osrag.settings import Settings


def add_prepare(prepare: argparse.ArgumentParser) -> None:
    """Add the options of `prepare`."""
    prepare.add_argument("file", type=Path, metavar="FILE.answers.jsonl", help="written on, where it exists")
    prepare.add_argument("--section", default="", metavar="HEADING", help="only sections that begin so: 6, 6.2, Memory")
    prepare.add_argument("--language", choices=("zh", "en"), help="only documents in this language")
    prepare.add_argument("--most", type=int, metavar="N", help="stop after so many questions")
    prepare.add_argument("--review", action="store_true", help="show the drafts of FILE with their doubts, and stop")
    add_index(prepare)
    prepare.set_defaults(run=run_prepare)


def run_prepare(args: argparse.Namespace, settings: Settings) -> int:
    """Drafts are appended one by one, so that a run that was stopped goes on where it was."""
    if args.review:
        print("\n".join(review(args.file)))
        return 0
    with ProgressBar() as progress:
        parts = Parts(settings, progress=progress)
        if parts.chat is None:
            raise ModelNotFound("`prepare` needs a chat model", hint="OSRAG_PROFILE=retrieval has none")
        search = parts.textbook
        asks = ASKS.open(parts.textbook_folder, search.collection.manifest, id_of(search.encoder))
        chunks = [chunk for chunk in search.collection.searched() if args.language in (None, chunk.language)]
        wanted = tasks(chunks, asks.searched() if asks else (), only=args.section)[: args.most]
        written, sure = write_drafts(args.file, wanted, parts.chat, parts.checker, progress)
    print(f"{len(wanted)} questions; {written} new drafts, {sure} of them without a doubt")
    print(f"next: python -m osrag prepare {args.file} --review")
    return 0
