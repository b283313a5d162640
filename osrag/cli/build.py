"""`build textbook --out DIR FILE…`: add, replace, remove and list documents."""

import argparse
from pathlib import Path
from typing import Any

from osrag.settings import Settings


def add_commands(commands: Any) -> None:
    build = commands.add_parser("build", help="make or change an index")
    kinds = build.add_subparsers(dest="collection", required=True, metavar="COLLECTION")
    book = kinds.add_parser("textbook", help="PDF, Markdown, FAQ and API reference")
    book.add_argument("files", nargs="*", type=Path, metavar="FILE")
    book.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the index")
    book.add_argument("--remove", action="append", default=[], metavar="NAME", help="drop this document")
    book.add_argument("--list", action="store_true", help="show the documents and stop")
    book.add_argument("--kind", choices=("pdf", "markdown", "faq", "api"), help="instead of detecting it")
    book.add_argument("--language", choices=("zh", "en"), help="instead of detecting it")
    book.set_defaults(run=textbook)


def textbook(args: argparse.Namespace, settings: Settings) -> int:
    raise NotImplementedError
