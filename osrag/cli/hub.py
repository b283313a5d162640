"""`push-index OWNER/NAME`: publish the index as a data set. `renew`: embed it again for the running encoder."""

import argparse
from pathlib import Path
from typing import Any

from osrag.cli.console import ProgressBar
from osrag.settings import Settings


def add_commands(commands: Any) -> None:
    push = commands.add_parser("push-index", help="publish the index as a data set of the hub")
    push.add_argument("repo", metavar="OWNER/NAME", help="needs HF_TOKEN with write access")
    push.add_argument("--index", type=Path, metavar="DIR", help="default: OSRAG_INDEX_DIR")
    push.add_argument("--private", action="store_true")
    push.set_defaults(run=run_push)
    renew = commands.add_parser("renew", help="embed an index of another encoder again, without its documents")
    renew.add_argument("--index", type=Path, metavar="DIR", help="default: the index in use")
    renew.set_defaults(run=run_renew)


def run_push(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.index.hub import push_index

    print(push_index(args.index or settings.index_dir, args.repo, private=args.private))
    return 0


def run_renew(args: argparse.Namespace, settings: Settings) -> int:
    """0 when a copy for the running encoder is there; the index itself is left alone."""
    from osrag.index.renew import fitting, renew
    from osrag.ingest.chunking import search_text
    from osrag.parts import Parts
    from osrag.shelf import own_folder
    from osrag.types import Chunk

    bar = ProgressBar()
    parts = Parts(settings, progress=bar)
    folder = own_folder(args.index or parts.index_dir)
    place = fitting(folder, parts.encoder_id, settings.cache_dir)
    if place is None:
        place = renew(
            folder,
            parts.encoder,
            of=Chunk,
            text=search_text,
            cache_dir=settings.cache_dir,
            progress=lambda done, total: bar("embed", done, total),
        )
    print(place)
    return 0
