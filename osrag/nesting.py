"""JSON from outside, before any code walks through it: how deep it may be nested."""

import json
from typing import Any

from osrag.errors import BadInput

MOST_NESTED = 20  # an exercise with its options and rubric has four levels; Python's own stack ends at some hundreds


def read_json(text: str) -> Any:
    """The value that a JSON text holds. Raises BadInput where it is none, is nested too deep, or has a huge number."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadInput(f"not JSON: {error.msg} at line {error.lineno}, character {error.colno}") from error
    except RecursionError:
        raise BadInput(_too_deep()) from None
    except ValueError as error:  # a number of more digits than Python reads
        raise BadInput(f"not JSON that can be read: {str(error).split(';')[0]}") from error
    check_nesting(value)
    return value


def check_nesting(value: Any, most: int = MOST_NESTED) -> None:
    """Raises BadInput for lists and objects inside each other beyond `most`."""
    level = [value]
    for _ in range(most + 1):
        level = [
            part
            for one in level
            if isinstance(one, dict | list)
            for part in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return
    raise BadInput(_too_deep())


def _too_deep() -> str:
    return f"lists and objects are nested more than {MOST_NESTED} deep"
