"""A bilingual glossary of operating-system terms: the second way into the other language."""

import functools
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from osrag.errors import BadInput
from osrag.types import HAN

PATH = Path(__file__).parent / "data" / "glossary.tsv"
_WORD = re.compile(r"[a-z0-9]+(?:[_./+][a-z0-9]+)*")  # a hyphen parts words, so that `page-table` is `page table`


@dataclass(frozen=True, slots=True)
class Term:
    """One notion. The first of each language is the usual name."""

    zh: tuple[str, ...]
    en: tuple[str, ...]
    idents: tuple[str, ...]  # kernel identifiers or parts of them


class Glossary:
    """Finds terms in a text by the longest match, in either language."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self.terms = tuple(terms)
        self._zh: dict[str, list[Term]] = defaultdict(list)
        self._en: dict[tuple[str, ...], list[Term]] = defaultdict(list)
        for term in self.terms:
            for name in term.zh:
                self._zh[name.lower()].append(term)
            for words in dict.fromkeys(map(_words, term.en)):  # once for "thread" and "threads"
                self._en[words].append(term)
        self._longest_zh = max(map(len, self._zh), default=0)
        self._longest_en = max(map(len, self._en), default=0)
        self._begun = {name[:2] for name in self._zh} | {words[0] for words in self._en if words}

    def chinese_terms(self) -> list[str]:
        """Names that a Chinese word splitter should keep whole."""
        return [name for name in self._zh if re.fullmatch(f"[{HAN}]{{2,}}", name)]

    def pieces(self, text: str) -> list[Term | str]:
        """`text` in its order: terms whose name is theirs alone, the longest first, and what stands between them."""
        lower, out, rest, at = text.lower(), list[Term | str](), 0, 0
        matches = [*_WORD.finditer(lower)]
        starts = {match.start(): number for number, match in enumerate(matches)}
        parts = [(singular(match.group()), match.end()) for match in matches]
        while at < len(lower):
            found, end = self._at(lower, at, parts[starts[at] :] if at in starts else [])
            if len(found) == 1:
                out += [text[rest:at], found[0]]
                rest = end
            at = end
        return [piece for piece in (*out, text[rest:]) if piece]

    def _at(self, text: str, at: int, parts: Sequence[tuple[str, int]]) -> tuple[Sequence[Term], int]:
        """The terms of the longest name that begins at a place of `text`, and where the name or one letter ends."""
        words = tuple(word for word, _ in parts[: self._longest_en])
        for size in range(len(words) if words and words[0] in self._begun else 0, 0, -1):
            if terms := self._en.get(words[:size]):
                return terms, parts[size - 1][1]
        longest = min(self._longest_zh, len(text) - at) if text[at : at + 2] in self._begun else 0
        for size in range(longest, 1, -1):
            if terms := self._zh.get(text[at : at + size]):
                return terms, at + size
        return (), parts[0][1] if parts else at + 1

    def find(self, text: str) -> list[Term]:
        """Terms named in `text`, in order of appearance, without repeats."""
        found = [*_longest(text.lower(), self._zh, self._longest_zh)] if re.search(f"[{HAN}]", text) else []
        found += _longest(_words(text), self._en, self._longest_en)
        return list(dict.fromkeys(found))


def _words(text: str) -> tuple[str, ...]:
    """Lower-case words in a rough singular, so that `page tables` finds `page table`."""
    return tuple(map(singular, _WORD.findall(text.lower())))


def singular(word: str) -> str:
    """A word without the ending of its plural, by rules of thumb."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _longest(text: Any, names: Mapping[Any, list[Term]], longest: int) -> list[Term]:
    """The terms whose names stand in `text` (characters or words), the longest name first at each place."""
    found: list[Term] = []
    at = 0
    while at < len(text):
        for size in range(min(longest, len(text) - at), 0, -1):
            terms = names.get(text[at : at + size])
            if terms:
                found += terms
                at += size
                break
        else:
            at += 1
    return found


def parse_glossary(text: str) -> Glossary:
    """Rows `zh<TAB>en<TAB>ident` under a header; variants joined by `|`, identifiers by blanks."""
    terms = []
    for number, line in enumerate(text.splitlines()[1:], start=2):
        if not line.strip():
            continue
        cells = line.split("\t")
        if len(cells) not in (2, 3) or not cells[0] or not cells[1]:
            raise BadInput(f"glossary line {number}: expected zh, en and ident, got {line[:60]!r}")
        zh, en = (tuple(filter(None, (part.strip() for part in cell.split("|")))) for cell in cells[:2])
        terms.append(Term(zh, en, tuple(cells[2].split()) if len(cells) == 3 else ()))
    return Glossary(terms)


@functools.cache
def load_glossary() -> Glossary:
    """The glossary that is shipped."""
    return parse_glossary(PATH.read_text(encoding="utf-8"))
