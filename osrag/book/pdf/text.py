"""Lines of type to running text: word spaces, hyphens at line ends."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from osrag.book.pdf.page import is_wide

_WORD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
_TAIL = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-\u2010\u00ad]$")
_HEAD = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")
NO_SPACE_AFTER = "—–/（「『《“‘("

Words = Counter[str]  # how often a word stands unbroken in the document, lower case


def count_words(lines: Iterable[str]) -> Words:
    """Words of a document that are not broken at a line end: the judge of every hyphen."""
    words: Words = Counter()
    broken = False  # the line before ended in a hyphen: this one begins with half a word
    for line in lines:
        found = _WORD.findall(line.rstrip("-\u2010\u00ad"))
        found = found[1:] if broken else found
        broken = line.endswith(("-", "\u2010", "\u00ad"))
        words.update(word.lower() for word in (found[:-1] if broken else found))
    return words


def join_lines(lines: Sequence[str], words: Words | None = None) -> str:
    """One text: blanks between Latin lines, none between Chinese ones, hyphens repaired."""
    out = ""
    for line in lines:
        out = join_two(out, line, words)
    return out


def join_two(before: str, after: str, words: Words | None = None) -> str:
    """`before` with `after` set on; never shortens `before` by more than a hyphen."""
    before, after = before.rstrip(), after.lstrip()
    if not before or not after:
        return before + after
    tail = _TAIL.search(before)
    if tail:
        return _without_hyphen(before, tail.group(1), after, words)
    if before[-1] in "-\u2010" and before[-2:-1].isalnum():
        return before + after  # "x86-" "64"
    if is_wide(before[-1]) or is_wide(after[0]):
        # A line end in Chinese text is no blank; beside a Latin word neither side asks for one.
        return before + after
    if before[-1] in NO_SPACE_AFTER and (before[-1] != "–" or before[-2:-1].isdigit()):
        return before + after
    if before[-1] in "./-_?&=#%~" and "://" in before.rsplit(maxsplit=1)[-1]:
        return before + after  # a web address broken at a line end
    return f"{before} {after}"


def _without_hyphen(before: str, tail: str, after: str, words: Words | None) -> str:
    head = _HEAD.match(after)
    if before[-1] == "\u00ad":
        return before[:-1] + after
    if head is None or not head.group()[0].islower():
        return before + after  # "Unix-" "Like", "pre-" "2000"
    first = tail.split("-")[-1]
    joined, kept = (first + head.group()).lower(), f"{tail}-{head.group()}".lower()
    if words is None:
        return before[:-1] + after
    seen_joined, seen_kept = words[joined], words[kept] + words[f"{first}-{head.group()}".lower()]
    if seen_joined or seen_kept:
        return before + after if seen_kept > seen_joined else before[:-1] + after
    if re.fullmatch(f"{first[-1].lower()}(ing|ed|er|en|able)", head.group()):
        return before[:-1] + after  # "stop-" "ping"
    # Never seen whole: a compound when both halves are words of the book ("time-" "sharing").
    both = words[first.lower()] >= 2 and words[head.group().lower()] >= 2 and min(len(first), len(head.group())) > 2
    return before + after if both else before[:-1] + after
