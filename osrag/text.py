"""Text as every stage sees it: language, normal form, sentences, search tokens."""

import functools
import hashlib
import logging
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import cast

from osrag.glossary import load_glossary
from osrag.types import HAN, Language

_HAN_CHAR = re.compile(f"[{HAN}]")
_HAN_RUN = re.compile(f"[{HAN}]+")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")
_PARTICLE = re.compile("[的了是吗呢吧什怎哪和与在被把]")  # seldom part of a Chinese term
_SPACES = re.compile(r"\s+")
_TOKEN = re.compile(f"[{HAN}]+|[A-Za-z_][A-Za-z0-9_]*|[0-9]+(?:\\.[0-9]+)?")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")

# A sentence ends at a Chinese stop, or at a Latin one that is followed by a blank and not by
# the rest of an abbreviation or a number ("e.g. x", "3.5", "Fig. 2").
_SENTENCE_END = re.compile(
    r"[。！？]+[”’」』）)]*"
    r"|(?<!\be\.g)(?<!\bi\.e)(?<!\beg)(?<!\bie)(?<!\bcf)(?<!\bvs)(?<!\bFig)(?<!\betc)(?<!\bal)(?<!\bDr)(?<!\bNo)"
    r"[.!?]+[\"'”’)]*(?=\s|$)"
    r"|\n{2,}"
)


def _stop_words(language: Language) -> frozenset[str]:
    """Words that say nothing about the topic of a question."""
    path = Path(__file__).parent / "data" / f"stop_{language}.txt"
    return frozenset(path.read_text(encoding="utf-8").split())


STOP_EN = _stop_words("en")
STOP_ZH = _stop_words("zh")


def normalise(text: str) -> str:
    """NFKC with every run of white space as one blank; the form that is hashed and compared."""
    return _SPACES.sub(" ", unicodedata.normalize("NFKC", text)).strip()


def blank(text: str) -> bool:
    """Whether a reader sees nothing: blanks, and characters without a shape such as the zero-width space."""
    return all(unicodedata.category(char)[0] in "ZCM" for char in text)


def text_hash(text: str) -> str:
    """SHA-256 of the normal form, so that the same passage set in another way is the same."""
    return hashlib.sha256(normalise(text).encode()).hexdigest()


def squeeze(text: str) -> str:
    """NFKC, lower case, without blanks: for finding a quote whatever its line breaks."""
    return _SPACES.sub("", unicodedata.normalize("NFKC", text)).lower()


def folded(text: str) -> str:
    """Letters and digits only: quotation marks and dashes are set in many ways."""
    return "".join(char for char in squeeze(text) if char.isalnum())


def language_of(text: str) -> Language:
    """The language that `text` is in for whoever reads it.

    A Chinese question often carries English terms, an English one seldom Chinese: a Han character counts about as
    much as half a Latin word. But words that only a sentence has ("What is 进程?") tell its language at once.
    """
    han = len(_HAN_CHAR.findall(text))
    words = _LATIN_WORD.findall(text)
    if han and not _PARTICLE.search(text) and sum(word.lower() in STOP_EN for word in words) >= 2:
        return "en"
    return "zh" if han and han >= 0.5 * len(words) else "en"


def sentences(text: str) -> list[str]:
    """Sentences of running text in order, stripped; joined lines are left as they are."""
    out, start = [], 0
    for match in _SENTENCE_END.finditer(text):
        piece = text[start : match.end()].strip()
        if piece:
            out.append(piece)
        start = match.end()
    tail = text[start:].strip()
    return [*out, tail] if tail else out


def identifiers(text: str) -> list[str]:
    """Words that look like code: an underscore, camel case, or a call `name()`."""
    found: dict[str, None] = {}
    for match in re.finditer(r"[A-Za-z_][A-Za-z0-9_]*", text):
        word = match.group()
        called = text[match.end() : match.end() + 1] == "("
        camel = bool(re.search(r"[a-z][A-Z]", word))
        if "_" in word.strip("_") or camel or called or word.startswith("__"):
            found[word] = None
    return list(found)


def _parts(word: str) -> list[str]:
    """`try_to_wakeUp` to `try to wake up`; one part for an ordinary word."""
    return [part.lower() for piece in word.split("_") for part in _CAMEL.findall(piece)]


@functools.cache
def _stem() -> Callable[[str], str]:
    """The stem of an English word."""
    import Stemmer

    return cast("Callable[[str], str]", Stemmer.Stemmer("english").stemWord)


def whole_words(text: str) -> list[str]:
    """The text cut into the longest Chinese words that the dictionary has; what is not Chinese as it stands."""
    _cut()  # the terms of the glossary are words
    import jieba

    return list(jieba.cut(text, HMM=False))


@functools.cache
def _cut() -> Callable[[str], Iterable[str]]:
    """Chinese words, long ones also in pieces. Terms of the glossary are words."""
    import jieba

    jieba.setLogLevel(logging.WARNING)
    for term in load_glossary().chinese_terms():
        jieba.add_word(term, freq=2000)
    return cast("Callable[[str], Iterable[str]]", jieba.cut_for_search)


def tokens(text: str) -> list[str]:
    """Search tokens of mixed Chinese, English and code, in order, repeats kept.

    English words are stemmed; identifiers appear whole and in parts; stop words are left out.
    """
    out: list[str] = []
    stem = _stem()
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        word = match.group()
        if _HAN_RUN.match(word):
            out.extend(piece for piece in _cut()(word) if piece not in STOP_ZH)
            continue
        parts = _parts(word)
        if len(parts) > 1 or "_" in word:
            out.append(word.lower())
        out.extend(stem(part) for part in parts if part not in STOP_EN)
    return out


def clip(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a blank where one is near, with an ellipsis."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    blank = head.rfind(" ")
    return (head[:blank] if blank > limit * 0.6 else head).rstrip() + "…"


def unique(items: Iterable[str]) -> list[str]:
    """Items in first order, without repeats by normal form and case."""
    seen: dict[str, str] = {}
    for item in items:
        seen.setdefault(normalise(item).lower(), item)
    return [item for key, item in seen.items() if key]


def share_of(part: Sequence[str], whole: Iterable[str]) -> float:
    """Share of `part`'s tokens that occur in `whole`; 0 for an empty part."""
    have = set(whole)
    return sum(token in have for token in part) / len(part) if part else 0.0
