"""`search textbook QUESTION`: hits as JSON. `search kernel` is in `kernel.py`."""

import argparse
from typing import TYPE_CHECKING, Any

from osrag.cli import kernel
from osrag.cli.console import ProgressBar, add_search_options, questions, show
from osrag.settings import Settings

if TYPE_CHECKING:
    from osrag.book.search import SearchResult
    from osrag.types import Hit


def add_commands(commands: Any) -> None:
    search = commands.add_parser("search", help="find passages of the course book or functions of the kernel")
    sources = search.add_subparsers(dest="source", required=True, metavar="SOURCE")
    book = sources.add_parser("textbook", help="passages with book, section and page")
    add_search_options(book, k=8)
    book.set_defaults(run=search_textbook)
    kernel.add_search(sources)


def search_textbook(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.app.parts import Parts
    from osrag.book.rounds import find

    parts = Parts(settings, progress=ProgressBar())
    search = parts.open_textbook(args.index) if args.index else parts.textbook
    chat = parts.chat if args.effort == "deep" else None
    for question in questions(args.batch, args.question):
        result = find(search, question, k=args.k, chat=chat)
        if args.json:
            show(as_json(result))
        else:
            _print(result)
    return 0


def as_json(result: "SearchResult") -> dict[str, Any]:
    return {
        "query": result.query,
        "hits": [hit_json(hit) for hit in result.hits],
        "confidence": round(result.confidence, 3),
        "timings_ms": {name: round(ms, 2) for name, ms in result.timings_ms.items()},
    }


def hit_json(hit: "Hit") -> dict[str, Any]:
    from osrag.types import PageRef

    where = hit.chunk.where
    return {
        "chunk_id": hit.chunk.id,
        "file_name": hit.chunk.source,
        "section": hit.chunk.section_path,
        "first_page": where.first if isinstance(where, PageRef) else None,
        "last_page": where.last if isinstance(where, PageRef) else None,
        "page_label": where.label if isinstance(where, PageRef) else None,
        "first_line": None if isinstance(where, PageRef) else where.first,
        "last_line": None if isinstance(where, PageRef) else where.last,
        "score": round(hit.score, 4),
        "similarity": round(hit.similarity, 4),
        "text": hit.chunk.text,
    }


def _print(result: "SearchResult") -> None:
    from osrag.text import clip
    from osrag.types import PageRef

    print(f"{result.query}  ({result.timings_ms['total']:.0f} ms)")
    for place, hit in enumerate(result.hits, start=1):
        where = hit.chunk.where
        at = f"p. {where.label}" if isinstance(where, PageRef) else f"lines {where.first}-{where.last}"
        print(f"{place:2}. {hit.score:6.3f}  {hit.chunk.source} {at}  {hit.chunk.section_path}")
        print(f"    {clip(' '.join(hit.chunk.text.split()), 160)}")
