"""The keyword fields of a code chunk. One index holds them all; a prefix keeps them apart.

A question asks each field with its own words: `z:` only with Chinese, `b:` also with the
kernel identifiers that the glossary knows for a term.
"""

import re

from osrag.kernel.c_source import Piece
from osrag.kernel.describe_lore import Pair
from osrag.text import HAN, tokens

EXACT, WORDS, CHINESE, BODY = "=", "d:", "z:", "b:"
BODY_WORDS = 400  # distinct identifiers of a piece; only a few interpreters have more
_HAN = re.compile(f"[{HAN}]")
_NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
_WORD = re.compile(r"[A-Za-z_]\w{2,}")


def chunk_tokens(piece: Piece, search_text: Pair) -> list[str]:
    """Tokens of all fields of a piece; `search_text` is English and Chinese."""
    out = [EXACT + name.lower() for name in (piece.name, *piece.aliases)]
    out += [WORDS + token for token in tokens(search_text[0])]
    out += chinese_tokens(search_text[1])
    code = _NO_CODE.sub(" ", piece.text)
    words = list(dict.fromkeys(_WORD.findall(code)))[:BODY_WORDS]
    body = dict.fromkeys(token for word in words for token in (word.lower(), *tokens(word)))
    return out + [BODY + token for token in body]


def file_tokens(file: str, en: str, zh: str) -> list[str]:
    """Tokens of a file: its summary and the words of its path."""
    path = re.sub(r"[/_.\-]", " ", file)
    return [*(WORDS + token for token in tokens(f"{en} {path}")), *chinese_tokens(zh)]


def chinese_tokens(text: str) -> list[str]:
    return [CHINESE + token for token in tokens(text) if _HAN.search(token)]
