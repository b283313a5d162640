"""`push-index OWNER/NAME`: publish the index as a data set of the hub."""

import argparse
from pathlib import Path
from typing import Any

from osrag.settings import Settings


def add_commands(commands: Any) -> None:
    push = commands.add_parser("push-index", help="publish the index as a data set of the hub")
    push.add_argument("repo", metavar="OWNER/NAME", help="needs HF_TOKEN with write access")
    push.add_argument("--index", type=Path, metavar="DIR", help="default: OSRAG_INDEX_DIR")
    push.add_argument("--private", action="store_true")
    push.set_defaults(run=run)


def run(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.index.hub import push_index

    print(push_index(args.index or settings.index_dir, args.repo, private=args.private))
    return 0
