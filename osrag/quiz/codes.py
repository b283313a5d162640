"""Words in a code: what a teacher could read only after decoding it.

An answer counts as it stands, so words in base64, in hexadecimal, percent or escape signs, in rot13 or written
backwards are no part of it, whatever they say. A run is such a code only if it decodes to words: a hash, an address, a
dump or a path decodes to none and stays.
"""

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote_to_bytes

from osrag.text import STOP_EN, whole_words
from osrag.types import HAN

LEAST_HAN, LEAST_WORDS = 4, 3  # of decoded text; two letters in a row are easily chance, three words are not
# Common words ("the", "is") of a text that was turned round, and their share of its words. Too low, and lists of names
# are taken for a code: "on" turned round is "no".
LEAST_COMMON, COMMON_SHARE = 2, 0.2
# Share of the pairs of letters of English that are common ones: .33 or more in 99 of 100 answers, points and orders;
# half of the same texts have .19 or less in rot13. With fewer pairs than `LEAST_PAIRS` a share tells little.
ORDINARY_EN, TURNED_EN, LEAST_PAIRS = 0.4, 0.28, 15
_PAIRS = frozenset(
    re.findall(
        "..", "thheineranreonatenndtiesorteofedisitalarsttontngsehaasouiolevecomedehiriroicneearacelichllbemasiomur"
    )
)
# Share of the characters of Chinese that stand in words of two or more. Real sentences have .5 to .9, turned ones .3.
ORDINARY_ZH, TURNED_ZH, LEAST_TURNED = 0.55, 0.4, 8
_HAN_CHAR = re.compile(f"[{HAN}]")
_LATIN = re.compile(r"[A-Za-z]{2,}")
_ENTITY = re.compile(r"(?:&#x?[0-9A-Fa-f]+;\s?){4,}")
_ESCAPE = re.compile(r"(?:\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\U[0-9A-Fa-f]{8})")
_CLAUSE = re.compile(r"[:：]\s+|[：]")
# Runs, and the bytes that each stands for.
_RUNS: tuple[tuple[re.Pattern[str], Callable[[str], bytes]], ...] = (
    (re.compile(r"(?<![\w+/-])[A-Za-z0-9+/_-]{12,}={0,2}"), lambda run: _from_base64(run)),
    (
        re.compile(r"(?<![0-9A-Fa-f])(?:0x)?(?:[0-9A-Fa-f]{2}[ :,]?){8,}"),
        lambda run: bytes.fromhex(re.sub("^0x|[ :,]", "", run)),
    ),
    (
        re.compile(r"(?<![01])(?:[01]{8} ?){8,}"),
        lambda run: _from_bits(run.replace(" ", "")),
    ),
    (re.compile(r"(?:%[0-9A-Fa-f]{2}[^\s%]*){3,}"), unquote_to_bytes),
)


def in_code(text: str) -> bool:
    """Whether some part of `text` is words in a code."""
    return any(map(_is_words, _decoded(text))) or any(map(_turned, (text, *_CLAUSE.split(text))))


def _decoded(text: str) -> Iterator[str]:
    """What the runs of `text` that may be a code decode to, where that is text."""
    for pattern, bytes_of in _RUNS:
        for run in pattern.findall(text):
            try:
                yield bytes_of(run).decode()
            except (ValueError, OverflowError):  # not such a code after all
                continue
    for run in _ENTITY.findall(text):
        yield html.unescape(run)
    escapes = _ESCAPE.findall(text)
    if len(escapes) >= LEAST_HAN:
        yield "".join(chr(min(int(one[2:], 16), 0x10FFFF)) for one in escapes)


def _from_base64(run: str) -> bytes:
    plain = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True)
    except binascii.Error as error:
        raise ValueError(run) from error


def _from_bits(run: str) -> bytes:
    return int(run, 2).to_bytes(len(run) // 8, "big")


def _is_words(text: str) -> bool:
    """Whether decoded text is something to read."""
    if not all(char.isprintable() or char in "\n\r\t" for char in text):
        return False
    return len(_HAN_CHAR.findall(text)) >= LEAST_HAN or len(_LATIN.findall(text)) >= LEAST_WORDS


def _turned(text: str) -> bool:
    """Whether `text` is in rot13 or backwards: read so it has the words of a sentence, and as it stands it has not."""
    if len(_HAN_CHAR.findall(text)) >= LEAST_TURNED:
        return _share_zh(text) < TURNED_ZH and _share_zh(text[::-1]) > ORDINARY_ZH
    pairs, rotated = _pairs(text), codecs.encode(text, "rot13")
    if len(pairs) >= LEAST_PAIRS and _ordinary(pairs) < TURNED_EN and _ordinary(_pairs(rotated)) > ORDINARY_EN:
        return True
    least = max(LEAST_COMMON, 2 * _common(text) + 1, COMMON_SHARE * len(_LATIN.findall(text)))
    return _common(text[::-1]) >= least


def _pairs(text: str) -> list[str]:
    return [word[n : n + 2] for word in _LATIN.findall(text.lower()) for n in range(len(word) - 1)]


def _ordinary(pairs: list[str]) -> float:
    return sum(pair in _PAIRS for pair in pairs) / max(1, len(pairs))


def _common(text: str) -> int:
    """How many different words of a text stand in every English sentence."""
    return len({word.lower() for word in _LATIN.findall(text)} & STOP_EN)


def _share_zh(text: str) -> float:
    """Share of the Chinese characters that stand in words of two or more."""
    words = [word for word in whole_words(text) if _HAN_CHAR.match(word)]
    return sum(len(word) for word in words if len(word) > 1) / max(1, sum(map(len, words)))
