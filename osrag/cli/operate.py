"""What an operator runs: `fetch` and `info` for weights, `renew` and `push-index` for an index, `space` for a Space."""

import argparse
from functools import partial
from pathlib import Path
from typing import get_args

from osrag.app.info import info
from osrag.app.parts import Parts
from osrag.book import build as book_build
from osrag.cli.console import ProgressBar, add_index, show
from osrag.index.hub import kept_folder, push_index
from osrag.kernel import build as kernel_build
from osrag.models.load import foreseen, needed
from osrag.models.store import Store
from osrag.settings import Profile, Settings, load_settings
from osrag.space import HARDWARE, assemble, check, push


def add_fetch(fetch: argparse.ArgumentParser) -> None:
    """Add the option of `fetch`."""
    fetch.add_argument("--profile", choices=get_args(Profile))
    fetch.set_defaults(run=run_fetch)


def run_fetch(args: argparse.Namespace, settings: Settings) -> int:
    """Print the path of each file or folder of weights, fetched where it was not here."""
    if args.profile:
        settings = load_settings(profile=args.profile)
    store = Store(settings)
    for what in needed(settings):
        print(store.path(what, ProgressBar()))
    return 0


def add_info(told: argparse.ArgumentParser) -> None:
    """Add the option of `info`."""
    told.add_argument("--json", action="store_true")
    told.set_defaults(run=run_info)


def run_info(args: argparse.Namespace, settings: Settings) -> int:
    """Print what would run; nothing is loaded."""
    value = info(settings, kept_folder(settings))
    value["notices"] = [notice.text("en") for notice in foreseen(settings)]
    if args.json:
        show(value)
    else:
        for name, part in value.items():
            print(f"{name}: {part}")
    return 0


def add_space(space: argparse.ArgumentParser) -> None:
    """Add the options of `space`."""
    space.add_argument("folder", type=Path, metavar="DIR", help="an empty folder, or one this command made")
    space.add_argument("--hardware", choices=HARDWARE, default="cpu-basic")
    space.add_argument("--check", action="store_true", help="only check DIR as it is")
    space.add_argument("--push", metavar="OWNER/NAME", help="upload it, needs HF_TOKEN")
    space.add_argument("--json", action="store_true")
    space.set_defaults(run=run_space)


def run_space(args: argparse.Namespace, settings: Settings) -> int:
    """0 when nothing speaks against the Space, 1 with the reasons otherwise."""
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
        print(push(made.folder, args.push, args.hardware))
    return 0


def add_push(published: argparse.ArgumentParser) -> None:
    """Add the options of `push-index`."""
    published.add_argument("repo", metavar="OWNER/NAME", help="needs HF_TOKEN with write access")
    add_index(published)
    published.add_argument("--private", action="store_true")
    published.set_defaults(run=run_push)


def run_push(args: argparse.Namespace, settings: Settings) -> int:
    """Print the address of the data set."""
    print(push_index(settings.index_dir, args.repo, private=args.private))
    return 0


def add_renew(renew: argparse.ArgumentParser) -> None:
    """Add the options of `renew`."""
    add_index(renew)
    renew.add_argument("--kernel", action="store_true", help="the kernel collections too (hours without a card)")
    renew.set_defaults(run=run_renew)


def run_renew(args: argparse.Namespace, settings: Settings) -> int:
    """0 when a copy of every collection for the running encoder is there; the index itself is left alone."""
    bar, cache = ProgressBar(), settings.cache_dir
    parts = Parts(settings, progress=bar)
    wanted = [book_build.copies_of(parts.textbook_folder, cache)]
    if args.kernel:
        wanted.append(kernel_build.copies_of(parts.index_dir, cache))
    for copies in wanted:
        if copies.parts:
            made = copies.fitting(parts.encoder_id)
            print(made or copies.make(parts.encoder, partial(bar, f"embed {copies.name}")))
    return 0
