"""Model pieces to checked Markdown, append-only: a citation or a mark after each claim.

The model's own `[n]` is not a citation yet: it is taken out of the stream, and the number a student sees is
that of a passage which passed the check (T6). An index of code, as in `fd[0]`, stays where it is.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from osrag.answer.claims import Support
from osrag.text import tokens

Check = Callable[[str, tuple[int, ...]], Support]  # a claim, and the passages that the model names for it

FENCE = "```"
# In brackets of any kind that models write, and ranges as well: [3], [1, 2], [1-3], 【3】, ［3］.
_NUMBERS = re.compile(r"\s*[\[【［](\d+(?:\s*[,，、–-]\s*\d+)*)[\]】］]")
_HELD = re.compile(r"\s*([\[【［][\d,，、–\s-]*)?$|`{1,2}$")  # may still become numbers, or a fence
# What an index stands behind: a name of code, but not an acronym of prose, as in "每个进程有自己的 PCB[1]".
_INDEXED = re.compile(r"(?<![A-Za-z0-9_])(?![A-Z]{2,}$)[A-Za-z_][A-Za-z0-9_]*(?:\[\w*\])*$")
_END_ZH = "。！？"
_END_EN = ".!?"
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|cf|vs|Fig|etc|al|Dr|No)\.$")


@dataclass(slots=True)
class CitationWriter:
    """Feed pieces, show what comes back; `finish()` once at the end."""

    check: Check
    mark: str
    drops_code: bool = False  # the model's code blocks are left out: the server quotes the code itself (K4)
    claims: list[tuple[str, Support]] = field(default_factory=list)
    _held: str = ""  # read but not shown yet
    _sentence: str = ""  # shown, not yet checked
    _named: tuple[int, ...] = ()  # passages that the model names for this sentence
    _in_block: bool = False
    _in_ticks: bool = False

    def feed(self, piece: str) -> str:
        """Text that may be shown now."""
        self._held += piece
        return self._drain(final=False)

    def finish(self) -> str:
        """What was held back, with the last citation."""
        return self._drain(final=True) + self._close()

    def _drain(self, *, final: bool) -> str:
        """Show as much of the held text as is settled; all of it when it is `final`."""
        out: list[str] = []
        while self._held:
            if self._held.startswith(FENCE):
                out.append(self._fence())
                continue
            numbers = None if self._in_code() else _NUMBERS.match(self._held)
            if numbers:
                self._named += tuple(int(n) for n in re.findall(r"\d+", numbers.group(1)))
                self._held = self._held[numbers.end() :]
                continue
            if not final and _HELD.match(self._held):
                break
            if not self._in_block and self._ends_sentence():
                out.append(self._close())
            char, self._held = self._held[0], self._held[1:]
            if self._in_block:
                out.append("" if self.drops_code else char)
                continue
            self._sentence += char
            self._in_ticks = char != "\n" and self._in_ticks != (char == "`")
            out.append(char)
        return "".join(out)

    def _in_code(self) -> bool:
        """Whether a bracket here would be part of the code."""
        attached = self._held[0] == "[" and bool(_INDEXED.search(self._sentence))
        return self._in_block or self._in_ticks or attached

    def _fence(self) -> str:
        """Pass the beginning or the end of a code block."""
        self._held = self._held[len(FENCE) :]
        self._in_block = not self._in_block
        return "" if self.drops_code else f"{self._close() if self._in_block else ''}{FENCE}"

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

    def _close(self) -> str:
        """Check the sentence that just ended; the citation or mark to show after it."""
        text, named = self._sentence.strip(), self._named
        self._sentence, self._named, self._in_ticks = "", (), False
        if not is_claim(text):
            return ""
        support = self.check(text, named)
        self.claims.append((text, support))
        return f" {self.mark}" if support.passage is None else f" [{support.passage}]"

    @property
    def cited(self) -> tuple[int, ...]:
        """Numbers of the passages that support a claim, in the order of the claims."""
        return tuple(dict.fromkeys(s.passage for _, s in self.claims if s.passage is not None))

    @property
    def unsupported(self) -> int:
        """How many claims were marked."""
        return sum(support.passage is None for _, support in self.claims)


def is_claim(text: str) -> bool:
    """Whether a sentence states something: a lead-in, a heading or a question does not."""
    plain = text.strip(" *_#>-`")
    if not plain or plain[-1] in ":：?？":
        return False
    return len(set(tokens(plain))) >= 3
