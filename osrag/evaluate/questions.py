"""Question files: one JSON object a line."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from osrag.errors import BadInput

Row = TypeVar("Row", bound=BaseModel)


def read_rows(path: Path, kind: type[Row], *, needs: str) -> list[Row]:
    """Raises BadInput, naming the line, for a row that is none of `kind`; `needs` are its fields in words."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise BadInput(f"cannot read {str(path)!r}: {error.strerror}", hint="check the path") from error
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            rows.append(kind.model_validate(json.loads(line)))
        except ValueError as error:  # pydantic's is one too
            raise BadInput(f"{path} line {number}: {error}", hint=f"a row needs {needs}") from error
    return rows
