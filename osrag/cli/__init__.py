"""`python -m osrag COMMAND`: results on stdout, progress on stderr, a true exit code."""

import argparse
import logging
import os
import sys
from collections.abc import Sequence

from osrag import __version__
from osrag.cli import ask, build, evaluate, operate, quiz, search
from osrag.errors import OsragError
from osrag.settings import load_settings


def parser() -> argparse.ArgumentParser:
    """The command line with all its commands; each sets `run`, which takes the arguments and the settings."""
    top = argparse.ArgumentParser(prog="python -m osrag", description=__doc__)
    top.add_argument("--version", action="version", version=f"osrag {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for module in (ask, search, build, evaluate, quiz, operate):
        module.add_commands(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """0 when all went well, 1 for an error with its sentence on stderr, 2 for wrong usage."""
    args = parser().parse_args(argv)
    try:
        settings = load_settings()
        level = settings.log_level if settings.log_level != "INFO" else "WARNING"
        logging.basicConfig(level=level, stream=sys.stderr, format="osrag: %(message)s")
        return int(args.run(args, settings))
    except OsragError as error:
        print(f"osrag: {error.sentence()}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("osrag: stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The program that read our output (head, a pager) is gone; point stdout away, or exiting fails as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
