"""A model's reply without what it recites of its own instructions.

A document or an answer may order a model to repeat what it was told. So a run of words that also stands in the
instructions is left out of the reply, wherever the model puts it: prose, a field of JSON, an argument of a tool. Only
the words as they stand are known again, not a translation or a retelling of them.
"""

import re
from collections.abc import Generator, Sequence
from contextlib import closing

from osrag.models.protocols import Message
from osrag.types import HAN

# A run so long is recited: no shorter one is peculiar to instructions. Too few, and answers lose phrases that prompts
# use as well ("in an operating-systems course"); too many, and half a sentence of the prompt is told.
LEAST_WORDS, LEAST_HAN = 7, 12
_WORD = re.compile(rf"[{HAN}]|[A-Za-z0-9_'’]+")
MARK = "\x1e"  # begins the piece that holds calls (tools.py); no model writes this sign
_STRUCTURE = re.compile(r'[{}\[\]":]')  # of JSON, which stays JSON
_EXAMPLE = re.compile(r"^(?:Example|示例|例子|例)\b.*", re.M | re.S)  # a reply may well be like that of the example


class _Instructions:
    """The words of the system messages, without the examples in them."""

    def __init__(self, messages: Sequence[Message]) -> None:
        told = (_EXAMPLE.sub("", message.content) for message in messages if message.role == "system")
        self._texts = [f" {' '.join(word.lower() for word in _WORD.findall(text))} " for text in told]

    def hold(self, run: Sequence[str], *, open_end: bool = False) -> bool:
        """Whether these words stand there one behind the other; with an open end the last may be a part of a word."""
        wanted = f" {' '.join(run)}{'' if open_end else ' '}"
        return any(wanted in text for text in self._texts)


def discreet(pieces: Generator[str, None, None], messages: Sequence[Message]) -> Generator[str, None, None]:
    """The pieces of a reply to `messages`, without what they recite of its instructions.

    Words are held back as long as they may be recited, most often one or two. Calls of tools pass as they are.
    """
    told, held = _Instructions(messages), ""
    with closing(pieces):
        for piece in pieces:
            if not piece or piece.startswith(MARK):
                yield piece
                continue
            shown, held = _settled(held + piece, told, final=False)
            yield shown
    shown, _ = _settled(held, told, final=True)
    if shown:
        yield shown


def without_instructions(text: str, messages: Sequence[Message]) -> str:
    """A whole text without what it recites of the instructions in `messages`."""
    return _settled(text, _Instructions(messages), final=True)[0]


def _settled(text: str, told: _Instructions, *, final: bool) -> tuple[str, str]:
    """What of `text` may be shown, and its end that may still be recited."""
    found = list(_WORD.finditer(text))
    words = [match.group().lower() for match in found]
    # The last word may go on in the next piece.
    whole = len(words) - (not final and bool(words) and found[-1].end() == len(text) and words[-1].isascii())
    out: list[str] = []
    at = place = 0
    while place < len(words):
        end = place
        while end < whole and told.hold(words[place : end + 1]):
            end += 1
        if not final and end == whole and told.hold(words[place:], open_end=whole < len(words)):
            start = found[place].start()
            return "".join((*out, text[at:start])), text[start:]
        if _recited(words[place:end]):
            first, last = found[place].start(), found[end - 1].end()
            out += [text[at:first], *_STRUCTURE.findall(text[first:last])]
            at, place = last, end
        else:
            place += 1
    return "".join((*out, text[at:])), ""


def _recited(run: Sequence[str]) -> bool:
    han = sum(not word.isascii() for word in run)
    return han / LEAST_HAN + (len(run) - han) / LEAST_WORDS >= 1
