"""A page over scripted parts in a process of its own; it writes its address into the file that it is given.

With a second file it is served as `app.py` serves, and its answers wait until that file is there.
"""

import logging
import sys
import time
from pathlib import Path

from osrag.answer.events import Done, Token, Waiting
from osrag.files import write_whole
from osrag.ui import api
from osrag.ui.app import build, serve
from osrag.ui.operate import outlive_the_log
from tests.e2e.conftest import free_port
from tests.ui.conftest import scripted_parts


def main(file: Path, go_on: Path | None = None) -> None:
    outlive_the_log()
    logging.basicConfig(level="INFO")

    def answer(_parts, _question):
        logging.getLogger("osrag").warning("a line for the log")
        yield Token("textbook", "A lock")
        while go_on is not None and not go_on.exists():
            time.sleep(0.05)
            yield Waiting()
        yield Done("A lock.", (), "extracts")

    api.answer = answer
    parts = scripted_parts(file.parent)
    page = build(parts)
    if go_on is not None:
        port = free_port()
        write_whole(file, f"http://127.0.0.1:{port}/")
        serve(page, parts.settings.model_copy(update={"port": port}), parts.metrics)
        return
    serve(page, parts.settings.model_copy(update={"port": None}), parts.metrics, block=False)
    write_whole(file, page.local_url)
    time.sleep(300)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
