"""A page over scripted parts in a process of its own; it writes its address into the file that it is given."""

import logging
import sys
import time
from pathlib import Path

from osrag.answer.events import Done
from osrag.files import write_whole
from osrag.ui import api
from osrag.ui.app import build, serve
from osrag.ui.operate import outlive_the_log
from tests.ui.conftest import scripted_parts


def main(file: Path) -> None:
    outlive_the_log()
    logging.basicConfig(level="INFO")

    def answer(_parts, _question):
        logging.getLogger("osrag").warning("a line for the log")
        yield Done("A lock.", (), "extracts")

    api.answer = answer
    parts = scripted_parts(file.parent)
    page = build(parts)
    serve(page, parts.settings.model_copy(update={"port": None}), parts.metrics, block=False)
    write_whole(file, page.local_url)
    time.sleep(300)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
