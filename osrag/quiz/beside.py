"""Files beside a bank, of a line for each exercise: `{"id": "ch05-001", "zh": {…}, "en": {…}}`.

Reasons and hints are kept in such files, each in a folder and under an ending of its own.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

Line = TypeVar("Line", bound=BaseModel)


def lines_beside(folder: Path, kind: str, of: type[Line], slips: list[str]) -> Iterator[tuple[str, Line]]:
    """(file:line, what stands there) of `folder/kind/*.kind.jsonl`; what cannot be read is named in `slips`."""
    for path in sorted((folder / kind).glob(f"*.{kind}.jsonl")):
        try:
            texts = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            slips.append(f"{path.name}: cannot be read: {error}")
            continue
        for number, text in enumerate(texts, start=1):
            where = f"{path.name}:{number}"
            try:
                yield where, of.model_validate(json.loads(text))
            except (ValidationError, ValueError, RecursionError) as error:
                slips.append(f"{where}: {_what(error)}")


def _what(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first: Any = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return f"not JSON: {error}"
