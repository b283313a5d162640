"""Python's `re` where \\w, \\d and \\b know ASCII alone: in `有3个` the 3 begins a word, as it does in `has 3`."""

import re
from collections.abc import Callable, Iterator
from re import Match as Match
from re import Pattern as Pattern
from typing import Any

I, M, S = re.I, re.M, re.S  # noqa: E741 - as in re
escape = re.escape


def compile(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """As re.compile; Python keeps what was compiled."""
    return re.compile(pattern, flags | re.ASCII)


def search(pattern: str, text: str, flags: int = 0) -> re.Match[str] | None:
    """As re.search."""
    return compile(pattern, flags).search(text)


def match(pattern: str, text: str, flags: int = 0) -> re.Match[str] | None:
    """As re.match."""
    return compile(pattern, flags).match(text)


def fullmatch(pattern: str, text: str, flags: int = 0) -> re.Match[str] | None:
    """As re.fullmatch."""
    return compile(pattern, flags).fullmatch(text)


def findall(pattern: str, text: str, flags: int = 0) -> list[Any]:
    """As re.findall; tuples where the pattern has several groups."""
    return compile(pattern, flags).findall(text)


def finditer(pattern: str, text: str, flags: int = 0) -> Iterator[re.Match[str]]:
    """As re.finditer."""
    return compile(pattern, flags).finditer(text)


def sub(pattern: str, new: str | Callable[[re.Match[str]], str], text: str, flags: int = 0) -> str:
    """As re.sub."""
    return compile(pattern, flags).sub(new, text)


def split(pattern: str, text: str, flags: int = 0) -> list[str]:
    """As re.split."""
    return compile(pattern, flags).split(text)
