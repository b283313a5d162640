"""`python -m osrag COMMAND`: results on stdout, progress on stderr, a true exit code."""

import argparse
import logging
import os
import sys
from collections.abc import Collection, Sequence
from pkgutil import resolve_name

from osrag import __version__
from osrag.errors import OsragError
from osrag.settings import load_settings

# Each command: the function of this package that adds its options, and its line in the help. The module of the command
# that was chosen loads alone, so that the help is there at once.
COMMANDS = {
    "ask": ("ask:add_ask", "answer a question from the course book and the kernel source"),
    "search": ("ask:add_search", "find passages of the course book or functions of the kernel"),
    "build": ("build:add_build", "make or change an index"),
    "prepare": ("prepare:add_prepare", "draft answers to questions that a course is asked, for a person to approve"),
    "eval": ("evaluate:add_eval", "measure retrieval on questions with known answers"),
    "quiz": ("quiz:add_quiz", "check or import a question bank"),
    "lab": ("lab:add_lab", "compute an exercise, or read one in words"),
    "judge": ("quiz:add_judge", "judge one answer; a question object on standard input"),
    "fetch": ("operate:add_fetch", "get and check the weights of a profile"),
    "info": ("operate:add_info", "models, index and settings in use"),
    "space": ("operate:add_space", "assemble and check a Hugging Face Space, and push it"),
    "push-index": ("operate:add_push", "publish the index as a data set of the hub"),
    "renew": ("operate:add_renew", "embed an index of another encoder again, without its documents"),
}


def parser(chosen: Collection[str] = COMMANDS.keys()) -> argparse.ArgumentParser:
    """The command line; of the `chosen` commands with the options and `run`, which takes arguments and settings."""
    top = argparse.ArgumentParser(prog="python -m osrag", description=__doc__)
    top.add_argument("--version", action="version", version=f"osrag {__version__}")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, (place, about) in COMMANDS.items():
        command = commands.add_parser(name, help=about)
        if name in chosen:
            resolve_name(f"osrag.cli.{place}")(command)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """0 when all went well, 1 for an error with its sentence on stderr, 2 for wrong usage."""
    words = sys.argv[1:] if argv is None else argv
    args = parser(words[:1]).parse_args(words)
    try:
        settings = load_settings()
        level = settings.log_level if settings.log_level != "INFO" else "WARNING"
        logging.basicConfig(level=level, stream=sys.stderr, format="osrag: %(message)s")
        if getattr(args, "index", None):
            settings = settings.model_copy(update={"index_dir": args.index, "index_repo": ""})
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
