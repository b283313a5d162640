"""`build textbook --out DIR FILE…`: add, replace, remove and list documents. `build kernel` is in `kernel.py`."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from osrag.cli import kernel
from osrag.cli.console import ProgressBar, show
from osrag.errors import BadDocument
from osrag.settings import Settings

if TYPE_CHECKING:
    from osrag.book.build import BuildReport
    from osrag.index.manifest import DocumentEntry

FILES = "added; a file of the same name is replaced. *.asks.jsonl: questions about the other files"


def add_commands(commands: Any) -> None:
    build = commands.add_parser("build", help="make or change an index")
    kinds = build.add_subparsers(dest="collection", required=True, metavar="COLLECTION")
    book = kinds.add_parser("textbook", help="PDF, Markdown, FAQ and API reference")
    book.add_argument("files", nargs="*", type=Path, metavar="FILE", help=FILES)
    book.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the index")
    book.add_argument("--remove", action="append", default=[], metavar="NAME", help="drop this document")
    book.add_argument("--list", action="store_true", help="show the documents and stop")
    book.add_argument("--json", action="store_true", help="the result as JSON")
    book.add_argument("--fresh", action="store_true", help="begin anew, whatever lies in DIR")
    book.add_argument("--kind", choices=("pdf", "markdown", "faq", "api"), help="instead of detecting it")
    book.add_argument("--language", choices=("zh", "en"), help="instead of detecting it")
    book.add_argument("--category", default="", help="of these files")
    book.add_argument("--licence", default="", help="of the corpus, for the manifest")
    book.set_defaults(run=textbook)
    kernel.add_build(kinds)


def textbook(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.book.asks_index import read_asks_manifest
    from osrag.book.build import BuildOptions, build_textbook, list_documents

    if args.list:
        asks = read_asks_manifest(args.out)
        for entry in (*list_documents(args.out), *(asks.documents if asks else ())):
            _list(entry, as_json=args.json)
        return 0
    from osrag.app.parts import Parts

    progress = ProgressBar()
    options = BuildOptions(
        kind=args.kind, language=args.language, category=args.category, licence=args.licence, fresh=args.fresh
    )
    report = build_textbook(
        args.out,
        args.files,
        Parts(settings, progress=progress).encoder,
        cache_dir=settings.cache_dir,
        remove=args.remove,
        options=options,
        progress=progress,
    )
    _tell(report, as_json=args.json)
    if report.failed and report.manifest is None:
        raise BadDocument("no file could be read, so no index was made", hint="the reasons are above")
    return int(bool(report.failed))


def _list(entry: "DocumentEntry", *, as_json: bool) -> None:
    from osrag.book.asks import is_asks

    if as_json:
        show(entry.model_dump())
        return
    size = f"{entry.pages} pages, " if entry.pages else ""
    about = f"{entry.title} ({entry.language}, {entry.category}; {size}{entry.chunks} chunks)"
    print(f"{entry.name}: {f'{entry.chunks:,} questions' if is_asks(entry.name) else about}")
    for warning in entry.warnings:
        print(f"    {warning}")


def _tell(report: "BuildReport", *, as_json: bool) -> None:
    """The result on stdout; what could not be read, with its reason, on stderr."""
    for name, sentence in report.failed:
        print(f"osrag: {name}: {sentence}" if name not in sentence else f"osrag: {sentence}", file=sys.stderr)
    for warning in report.warnings:
        print(f"osrag: {warning}", file=sys.stderr)
    parts = {name: list(getattr(report, name)) for name in ("added", "replaced", "unchanged", "removed")}
    if as_json:
        counts = report.manifest.counts if report.manifest else {}
        told = {"failed": [list(pair) for pair in report.failed], "embedded": report.embedded, "asks": report.asks}
        show({**parts, **told, "warnings": list(report.warnings), **counts})
        return
    for name, documents in parts.items():
        if documents:
            print(f"{name}: {', '.join(documents)}")
    if report.manifest:
        counts = report.manifest.counts
        asks = f", {report.asks:,} questions" if report.asks else ""
        print(f"the index holds {len(report.manifest.documents)} documents, {counts['chunks']} chunks{asks}")
