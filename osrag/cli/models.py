"""`fetch`: get the weights. `info`: what this machine would run, and with which index."""

import argparse
from typing import Any

from osrag.cli.console import ProgressBar, show
from osrag.settings import Settings, load_settings


def add_commands(commands: Any) -> None:
    fetch = commands.add_parser("fetch", help="get and check the weights of a profile")
    fetch.add_argument("--profile", choices=("auto", "cpu", "gpu", "zerogpu", "endpoint", "retrieval"))
    fetch.set_defaults(run=run_fetch)
    info = commands.add_parser("info", help="models, index and settings in use")
    info.add_argument("--json", action="store_true")
    info.set_defaults(run=run_info)


def run_fetch(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.models.load import needed, needed_from_hub
    from osrag.models.snapshot import Snapshots
    from osrag.models.store import Store

    if args.profile:
        settings = load_settings(profile=args.profile)
    store = Store(settings)
    for name in needed(settings):
        print(store.path(name, ProgressBar()))
    for model in needed_from_hub(settings):
        print(Snapshots(settings).path(model, ProgressBar()))
    return 0


def run_info(args: argparse.Namespace, settings: Settings) -> int:
    from osrag.app.info import info
    from osrag.index.hub import kept_folder
    from osrag.models.fallback import foreseen

    value = info(settings, kept_folder(settings))
    value["notices"] = [notice.text("en") for notice in foreseen(settings)]
    if args.json:
        show(value)
    else:
        for name, part in value.items():
            print(f"{name}: {part}")
    return 0
