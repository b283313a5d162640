"""`space DIR [--hardware H] [--push OWNER/NAME]`: what is pushed to a Space, assembled and checked."""

import argparse
from pathlib import Path
from typing import Any

from osrag.cli.console import show
from osrag.settings import Settings


def add_commands(commands: Any) -> None:
    space = commands.add_parser("space", help="assemble and check a Hugging Face Space, and push it")
    space.add_argument("folder", type=Path, metavar="DIR", help="an empty folder, or one this command made")
    space.add_argument("--hardware", choices=("cpu-basic", "t4-small", "zero-a10g"), default="cpu-basic")
    space.add_argument("--check", action="store_true", help="only check DIR as it is")
    space.add_argument("--push", metavar="OWNER/NAME", help="upload it, needs HF_TOKEN")
    space.add_argument("--json", action="store_true")
    space.set_defaults(run=run)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """0 when nothing speaks against the Space, 1 with the reasons otherwise."""
    from osrag.space.assemble import assemble, check

    made = check(args.folder) if args.check else assemble(args.folder, args.hardware)
    if args.json:
        show({"files": made.files, "bytes": made.bytes, "largest": made.largest, "problems": list(made.problems)})
    else:
        print(f"{made.folder}: {made.files} files, {made.bytes / 1e6:.1f} MB, the largest is {made.largest}")
        for problem in made.problems:
            print(f"- {problem}")
    if made.problems:
        return 1
    if args.push:
        from osrag.space.push import push

        print(push(made.folder, args.push, args.hardware))
    return 0
