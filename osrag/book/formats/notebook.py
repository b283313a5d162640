"""Jupyter notebooks: text, code and what the code printed; the place of a block is the number of its cell."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from osrag.book.document import Block, BlockKind, Document
from osrag.book.formats.html import document_of
from osrag.book.markdown import blocks_of, read_text
from osrag.errors import BadDocument
from osrag.types import Language
from osrag.wording import Said

MOST_OUTPUT = 2000  # characters of what one cell printed: a log of a training explains nothing


def read_notebook(path: Path, *, language: Language | None = None) -> Document:
    """Read an .ipynb; nothing in it is run. Raises BadDocument where it is no notebook."""
    try:
        notebook = json.loads(read_text(path))
        sheets = notebook.get("worksheets") or [notebook]  # format 3 has sheets
        cells = [cell for sheet in sheets for cell in sheet["cells"]]
        blocks = tuple(block for number, cell in enumerate(cells, start=1) for block in _cell(cell, number))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        damaged = Said("doc_notebook_damaged", name=path.name, why=type(error).__name__)
        raise BadDocument(damaged, hint=Said("doc_do_again"), fault="damaged") from error
    return document_of(path.name, "notebook", blocks, "", language)


def _cell(cell: dict[str, Any], number: int) -> Iterator[Block]:
    """A cell of Markdown as its blocks; one of code with what it printed."""
    source = _joined(cell.get("source", cell.get("input", "")))
    if cell["cell_type"] in ("markdown", "heading"):
        sign = "#" * int(cell.get("level", 1)) + " " if cell["cell_type"] == "heading" else ""
        yield from (replace(block, first=number, last=number) for block in blocks_of(sign + source))
        return
    if source.strip():
        yield Block(BlockKind.CODE, source.rstrip("\n"), number, number)
    for output in cell.get("outputs", ()):
        printed = _joined(output.get("text") or output.get("data", {}).get("text/plain", ""))
        if printed.strip():
            yield Block(BlockKind.CODE, printed.rstrip("\n")[:MOST_OUTPUT], number, number)


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)
