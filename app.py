"""Start osrag: settings, parts, page. A Space runs this file; so does `make run`."""

import argparse
import logging
import sys

from osrag.app.parts import Parts
from osrag.book.desk import forget_killed
from osrag.cli.console import ProgressBar
from osrag.errors import OsragError
from osrag.settings import load_settings
from osrag.ui.app import build, serve
from osrag.ui.operate import outlive_the_log


def main() -> int:
    """1 with a sentence on stderr when osrag cannot start."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--share", action="store_true", help="also give a public link for a while")
    parser.add_argument("--port", type=int, help="instead of OSRAG_PORT, GRADIO_SERVER_PORT or 7860")
    args = parser.parse_args()
    outlive_the_log()
    try:
        override = {name: value for name, value in vars(args).items() if value}
        settings = load_settings(**override)
        logging.basicConfig(level=settings.log_level, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
        parts = Parts(settings, progress=ProgressBar(), renew=True)
        parts.prepare()
        forget_killed()
        serve(build(parts), settings, parts.metrics)
    except OsragError as error:
        print(f"osrag: {error.sentence()}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
