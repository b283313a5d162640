"""`push-index OWNER/NAME`: publish the index as a data set. `renew`: embed it again for the running encoder."""

import argparse
from functools import partial
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
    renew.add_argument("--kernel", action="store_true", help="the kernel collections too (hours without a card)")
    renew.set_defaults(run=run_renew)


def run_push(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.index.hub import push_index

    print(push_index(args.index or settings.index_dir, args.repo, private=args.private))
    return 0


def run_renew(args: argparse.Namespace, settings: Settings) -> int:
    """0 when a copy of every collection for the running encoder is there; the index itself is left alone."""
    from osrag.app.parts import Parts
    from osrag.app.shelf import own_folder
    from osrag.index.renew import fitting, renew_textbook
    from osrag.kernel.renew import collections, renew_kernel

    bar = ProgressBar()
    parts = Parts(settings, progress=bar)
    root = args.index or parts.index_dir
    cache = settings.cache_dir
    folder, told = own_folder(root), partial(bar, "embed textbook")
    book = fitting(folder, parts.encoder_id, cache) or renew_textbook(
        folder, parts.encoder, cache_dir=cache, progress=told
    )
    print(book)
    if args.kernel and collections(root):
        print(renew_kernel(root, parts.encoder, cache_dir=cache, progress=bar))
    return 0
