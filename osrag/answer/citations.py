"""Model pieces to checked Markdown, append-only: a citation or a mark after each sentence.

The model's own `[n]` is a claim, not a citation: it is taken out of the stream, and the
number the reader sees is that of a passage which passed the check (T6).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from osrag.answer.support import Support
from osrag.text import tokens

Check = Callable[[str, tuple[int, ...]], Support]

MARK = {"zh": "〔书中未见依据〕", "en": "[not found in the book]"}
_CLAIM = re.compile(r"\s*\[(\d+(?:\s*[,，、]\s*\d+)*)\]")
_HELD = re.compile(r"\s*(\[[\d,，、\s]*)?$")  # may still become a claim
_END_ZH = "。！？"
_END_EN = ".!?"
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|cf|vs|Fig|etc|al|Dr|No)\.$")


@dataclass(slots=True)
class CitationWriter:
    """Feed pieces, show what comes back; `finish()` once at the end."""

    check: Check
    mark: str
    sentences: list[tuple[str, Support]] = field(default_factory=list)
    _held: str = ""  # read but not shown yet
    _sentence: str = ""  # shown, not yet checked
    _claimed: tuple[int, ...] = ()
    _in_code: bool = False

    def feed(self, piece: str) -> str:
        """Text that may be shown now."""
        self._held += piece
        return self._drain(final=False)

    def finish(self) -> str:
        return self._drain(final=True) + self._close()

    def _drain(self, *, final: bool) -> str:
        out: list[str] = []
        while self._held:
            claim = _CLAIM.match(self._held)
            if claim:
                self._claimed += tuple(int(n) for n in re.findall(r"\d+", claim.group(1)))
                self._held = self._held[claim.end() :]
                continue
            if not final and _HELD.match(self._held):
                break
            char = self._held[0]
            if self._ends_sentence() and not self._in_code:
                out.append(self._close())
            self._held = self._held[1:]
            self._sentence += char
            out.append(char)
            self._toggle_code()
        return "".join(out)

    def _ends_sentence(self) -> bool:
        """Whether a sentence ended just before the held text."""
        done, nxt = self._sentence.rstrip("”’」』）)\"'"), self._held[0]
        if not done:
            return False
        if nxt == "\n":
            return True
        if done[-1] in _END_ZH:
            return nxt not in "”’」』）)" + _END_ZH
        return done[-1] in _END_EN and nxt.isspace() and not _ABBREVIATION.search(done)

    def _toggle_code(self) -> None:
        if self._sentence.endswith("```"):
            self._in_code = not self._in_code
            self._sentence = ""

    def _close(self) -> str:
        """Check the sentence that just ended; the citation or mark to show after it."""
        text, claimed = self._sentence.strip(), self._claimed
        self._sentence, self._claimed = "", ()
        if not is_claim(text):
            return ""
        support = self.check(text, claimed)
        self.sentences.append((text, support))
        return f" {self.mark}" if support.passage is None else f" [{support.passage}]"

    @property
    def cited(self) -> tuple[int, ...]:
        return tuple(dict.fromkeys(s.passage for _, s in self.sentences if s.passage is not None))

    @property
    def unsupported(self) -> int:
        return sum(support.passage is None for _, support in self.sentences)


def is_claim(text: str) -> bool:
    """Whether a sentence states something: a lead-in, a heading or a question does not."""
    plain = text.strip(" *_#>-`")
    if not plain or plain[-1] in ":：?？":
        return False
    return len(set(tokens(plain))) >= 3
