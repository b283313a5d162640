"""Types of parameters that can be read from a form, a link or a command line, and written back.

Each type takes its Python value or its text: `7,0,1,2` for numbers, `P1 0 5; P2 1 3` for rows, `1 0 2; 2 1 1` for a
matrix, `4K` for bytes, `0.2 us` for a time. `as_text` gives the text back.
"""

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationInfo
from pydantic_core import PydanticCustomError

BYTE_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40, "p": 1 << 50}
NANOSECONDS = {"ns": 1.0, "us": 1e3, "μs": 1e3, "µs": 1e3, "ms": 1e6, "s": 1e9}
DIGITS = 30  # of a size
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgtp]?)(?:i?b|字节|bytes?)?\s*", re.IGNORECASE)
_TIME = re.compile(r"\s*(\d+(?:\.\d+)?(?:e\d+)?)\s*(ns|us|μs|µs|ms|s)?\s*", re.IGNORECASE)
_APART = re.compile(r"[\s,，、]+")


def fault(key: str, **values: Any) -> PydanticCustomError:
    """An error whose sentence is `words.errors[key]`, for validators to raise."""
    return PydanticCustomError("lab", "{key}", {"key": key, **values})


def absent(name: str) -> PydanticCustomError:
    """For a validator: this field is needed here and was not given, so that the form asks for it."""
    return PydanticCustomError("missing", "{name}", {"name": name})


def needed(value: Any, info: ValidationInfo, *asks: str) -> Any:
    """`value`, or `absent` where one of `asks` is asked for and nothing was given. The field follows `ask`."""
    if value in (None, (), "") and info.data.get("ask") in asks:
        raise absent(str(info.field_name))
    return value


def _split(text: str) -> list[str]:
    return [part for part in _APART.split(text.strip(" \t\n()[]{}<>（）")) if part]


def _number(text: str) -> int:
    try:
        return int(text) if text.isdecimal() else int(text, 0)  # 0432 is a decimal number here
    except ValueError:
        raise fault("not_a_number", seen=text[:20]) from None


def _numbers(value: Any) -> Any:
    return tuple(_number(part) for part in _split(value)) if isinstance(value, str) else value


def _words(value: Any) -> Any:
    return tuple(_split(value)) if isinstance(value, str) else value


def _rows(value: Any) -> Any:
    if isinstance(value, list | tuple):  # of JSON, where a cell may be a number
        return tuple(tuple(map(str, row)) if isinstance(row, list | tuple) else row for row in value)
    if not isinstance(value, str):
        return value
    return tuple(tuple(_split(row)) for row in re.split(r"[;；\n]", value) if row.strip())


def _matrix(value: Any) -> Any:
    rows = tuple(tuple(_number(part) for part in row) for row in _rows(value)) if isinstance(value, str) else value
    if isinstance(rows, list | tuple) and len({len(row) for row in rows if isinstance(row, list | tuple)}) > 1:
        raise fault("uneven_rows")
    return rows


def size(text: str) -> int | None:
    """The bytes that a text says, as 4096, 4K or 4 KiB; None where it says no size."""
    match = _SIZE.fullmatch(text)
    if match is None or len(match[1]) > DIGITS:
        return None
    unit = BYTE_UNITS[match[2].lower()]
    return int(match[1]) * unit if match[1].isdecimal() else round(float(match[1]) * unit)


def _bytes(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    if value.strip().lower().startswith("0x"):
        return _number(value.strip())
    if (read := size(value)) is None:
        raise fault("not_a_size", seen=value[:20])
    return read


def _time(unit: str) -> Callable[[Any], Any]:
    """Reads a time; a bare number is in `unit`, and so is the value."""

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        match = _TIME.fullmatch(value)
        if match is None:
            raise fault("not_a_time", seen=value[:20])
        written = (match[2] or unit).lower()
        return float(match[1]) if written == unit else float(match[1]) * NANOSECONDS[written] / NANOSECONDS[unit]

    return read


Numbers = Annotated[tuple[int, ...], BeforeValidator(_numbers)]
Words = Annotated[tuple[str, ...], BeforeValidator(_words)]
Rows = Annotated[tuple[tuple[str, ...], ...], BeforeValidator(_rows)]
Matrix = Annotated[tuple[tuple[int, ...], ...], BeforeValidator(_matrix)]
Bytes = Annotated[int, BeforeValidator(_bytes)]  # K, KB and KiB are all 1,024, as in the course book
Nanoseconds = Annotated[float, BeforeValidator(_time("ns"))]
Milliseconds = Annotated[float, BeforeValidator(_time("ms"))]  # of disks: a bare 8 is 8 ms


def grouped(number: int) -> str:
    """A number with its digits in groups of three, as the book prints it."""
    return f"{number:,}".replace(",", " ") if abs(number) >= 10_000 else str(number)


def size_text(number: int) -> str:
    """Bytes in the largest unit that divides them: 4 MiB, 100 B."""
    for unit, factor in reversed(BYTE_UNITS.items()):
        if factor > 1 and number >= factor and number % factor == 0:
            return f"{grouped(number // factor)} {unit.upper()}iB"
    return f"{grouped(number)} B"


def as_text(value: Any) -> str:
    """A parameter as the form and the link show it; reading it again gives the same value."""
    if isinstance(value, tuple):
        if value and isinstance(value[0], tuple):
            return "; ".join(" ".join(as_text(part) for part in row) for row in value)
        return ",".join(as_text(part) for part in value)
    if isinstance(value, float):
        return f"{value:.12g}"
    return "" if value is None else str(value)
