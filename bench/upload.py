"""How long a visitor's own file takes until it can be asked: its first pages, and the whole.

    python bench/upload.py [FILE ...] [--pages 300]

Without FILE the course book in English is taken, its pages repeated up to so many. Prints one JSON object:
seconds until the first pages can be searched and until all can, seconds that processors worked (on a busy machine
half of them is what two quiet cores would take), passages, the first question beside the book, and how busy the
machine was before.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.app.parts import Parts  # noqa: E402
from osrag.settings import load_settings  # noqa: E402

FIRST = 20  # pages of the book before it are its title and its contents
BOOK = ROOT / "examples" / "textbook" / "os-course-en.pdf"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    args = parser.parse_args()
    load = os.getloadavg()[0]
    parts = Parts(load_settings(chat_backend="none"))
    parts.book_source  # noqa: B018 - loads the encoder, which a visitor does not wait for
    parts.encoder.passages(["warm"])
    with tempfile.TemporaryDirectory() as folder:
        files = args.files or [repeated(Path(folder) / "book.pdf", args.pages)]
        report = [measured(parts, file, str(number)) for number, file in enumerate(files)]
    print(json.dumps({"load_before": round(load, 2), "cores": os.cpu_count(), "files": report}, indent=1))


def repeated(out: Path, pages: int) -> Path:
    """A PDF of so many pages of the course book."""
    import pypdfium2

    with pypdfium2.PdfDocument(BOOK) as book, pypdfium2.PdfDocument.new() as made:
        text = range(FIRST, len(book))
        while len(made) < pages:
            made.import_pages(book, list(text[: pages - len(made)]))
        made.save(out)
    return out


def cpu_s() -> float:
    """Seconds that processors worked for this process and for those that it started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def measured(parts: Parts, file: Path, session: str) -> dict[str, Any]:
    """What a visitor waits for."""
    desk = parts.desks.open(session)
    assert desk is not None
    start, worked, first = time.perf_counter(), cpu_s(), None
    for (one,) in desk.bring([file]):
        if first is None and one.pages and one.state != "embedding":
            first = time.perf_counter() - start, one.pages
    whole = time.perf_counter() - start
    opened = time.perf_counter()
    parts.with_desk(desk, alone=False).textbook.search("What is a race condition?")
    told = {
        "file": file.name,
        "state": one.state,
        "first_pages": first[1] if first else 0,
        "first_s": round(first[0], 1) if first else None,
        "pages": one.pages,
        "passages": desk.passages,
        "whole_s": round(whole, 1),
        "whole_cpu_s": round(cpu_s() - worked, 1),
        "first_question_beside_s": round(time.perf_counter() - opened, 2),
    }
    parts.desks.close(session)
    return told


if __name__ == "__main__":
    main()
