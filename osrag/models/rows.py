"""Replies that one `generate` makes side by side: each row has its own sampling, grammar, text and end."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from osrag.models.protocols import ChatOptions
from osrag.models.relay import Inbox
from osrag.models.weigh import TOP, spread

TOP_K = 20  # as the makers of Qwen3 recommend
REPLACEMENT = "\ufffd"  # what half a character decodes to
HALF_CHARACTER = 4  # tokens that a character may take
MINUS_INFINITY = float("-inf")


@dataclass(slots=True)
class Row:
    """One reply in the making. The reader sets `left` to stop it."""

    ids: list[int]  # the prompt
    options: ChatOptions
    max_new: int
    inbox: Inbox[str] = field(default_factory=Inbox)
    left: threading.Event = field(default_factory=threading.Event)
    generated: int = 0
    ended: str = "stopped"  # "done", "length" once it is known

    @property
    def over(self) -> bool:
        return self.left.is_set() or self.ended != "stopped"


class Detokenizer:
    """Tokens to text, piece by piece: a character is given out when it is whole."""

    def __init__(self, decode: Callable[[list[int]], str]) -> None:
        self._decode = decode
        self._ids: list[int] = []
        self._first = self._read = 0  # the window that is decoded again, and what of it was given out

    def push(self, token: int) -> str:
        self._ids.append(token)
        known = self._decode(self._ids[self._first : self._read])
        text = self._decode(self._ids[self._first :])
        if text.endswith(REPLACEMENT) and len(self._ids) - self._read < HALF_CHARACTER:
            return ""
        # The blank before a word belongs to its token: decode each with the one before it.
        self._first, self._read = self._read, len(self._ids)
        return text[len(known) :]


class UntilStop:
    """Gives text out until one of the stop strings; holds back what may be the head of one."""

    def __init__(self, stop: Sequence[str]) -> None:
        self._stop = [word for word in stop if word]
        self._held = ""
        self.hit = False

    def feed(self, text: str) -> str:
        if not self._stop:
            return text
        self._held += text
        places = [self._held.find(word) for word in self._stop]
        found = [place for place in places if place >= 0]
        if found:
            self.hit = True
            return self._held[: min(found)]
        keep = max(_overlap(self._held, word) for word in self._stop)
        out, self._held = self._held[: len(self._held) - keep], self._held[len(self._held) - keep :]
        return out

    def flush(self) -> str:
        return "" if self.hit else self._held


def _overlap(text: str, word: str) -> int:
    """Length of the longest end of `text` that begins `word`."""
    return next((size for size in range(min(len(word) - 1, len(text)), 0, -1) if text.endswith(word[:size])), 0)


@dataclass(slots=True)
class Pen:
    """What writes one row: sampling, then text into the inbox. Called once a step."""

    row: Row
    ends: frozenset[int]
    decode: Callable[[list[int]], str]
    grammar: Any = None  # an xgrammar.GrammarMatcher
    _generator: torch.Generator | None = None
    _chances: str = ""  # of the choices, where chances are asked for and not words
    _text: Detokenizer = field(init=False)
    _stop: UntilStop = field(init=False)

    def __post_init__(self) -> None:
        self._text = Detokenizer(self.decode)
        self._stop = UntilStop(self.row.options.stop)

    def choose(self, scores: torch.Tensor, bitmask: Any) -> int:
        """The next token of this row from its `scores` (vocabulary,)."""
        if self.row.options.choices:
            best, places = torch.softmax(scores.float(), dim=-1).topk(min(TOP, scores.shape[-1]))
            words = [self.decode([place]) for place in places.tolist()]
            self._chances = spread(zip(words, best.tolist(), strict=True), self.row.options.choices)
            return int(places[0])
        if self.grammar is not None:
            import xgrammar

            self.grammar.fill_next_token_bitmask(bitmask, 0)
            scores = scores[None, :].float()
            xgrammar.apply_token_bitmask_inplace(scores, bitmask.to(scores.device))
            scores = scores[0]
        token = pick(scores, self.row.options, self._seeded(scores.device))
        if self.grammar is not None and not self.grammar.is_terminated():
            self.grammar.accept_token(token)
        return token

    def write(self, token: int) -> None:
        """Take in the chosen token; sets how the row ended when it did."""
        row = self.row
        row.generated += 1
        if row.options.choices:
            row.inbox.put(self._chances)
            return self._finish("done")
        if token in self.ends:
            return self._finish("done")
        if text := self._stop.feed(self._text.push(token)):
            row.inbox.put(text)
        if self._stop.hit or (self.grammar is not None and self.grammar.is_terminated()):
            return self._finish("done")
        if row.generated >= row.max_new:
            return self._finish("length")
        return None

    def _finish(self, how: str) -> None:
        if rest := self._stop.flush():
            self.row.inbox.put(rest)
        self.row.ended = how
        self.row.inbox.end()

    def _seeded(self, device: torch.device) -> torch.Generator | None:
        if self.row.options.seed is None:
            return None
        if self._generator is None:
            self._generator = torch.Generator(device).manual_seed(self.row.options.seed)
        return self._generator


def pick(scores: torch.Tensor, options: ChatOptions, generator: torch.Generator | None) -> int:
    """Sample from `scores` (vocabulary,): the `TOP_K` best, of them those that hold `top_p` of the mass."""
    if options.temperature <= 0:
        return int(scores.argmax())
    best, places = scores.float().topk(min(TOP_K, scores.shape[-1]))
    chances = torch.softmax(best / options.temperature, dim=-1)
    before = chances.cumsum(-1) - chances
    chances = torch.where(before < options.top_p, chances, 0.0)
    return int(places[torch.multinomial(chances, 1, generator=generator)])
