"""The statements of the passages of one answer, with their vectors.

Made once per answer and used twice: to choose the statements that open the reply and go into the prompt, and to check
the claims that the model then makes.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from osrag.models.protocols import Encoder, Vectors
from osrag.text import language_of, sentences, share_of, tokens
from osrag.types import HAN, Language, Passage

# Characters of a statement that makes sense alone. Shorter sentences are headings and fragments, longer ones are
# tables and code that the splitter could not cut.
MIN_EN, MAX_EN = 30, 420
MIN_ZH, MAX_ZH = 10, 200
# Beside the meaning, on a scale of 0 to 1 in one answer; fixed on the development questions.
WORDS_WEIGHT, RANK_WEIGHT = 0.6, 0.35
OTHER_LANGUAGE = 0.5  # taken off a statement in the other language: quoted when the student's own has nothing near
SAME_COSINE, SAME_WORDS = 0.96, 0.8  # from which two statements say the same
_STATEMENT_END = re.compile(r"[.。!！][\"'”’」』）)]*$")
_LABEL = re.compile(
    r"^(figure|fig\.|table|listing|example|exercise|chapter|problem|solution)\s+[\dA-Z]|^(图|表|例|习题|第)\s*\d",
    re.I,
)
_ODD = re.compile(f"[^\\w\\s{HAN},.;:!?'\"()“”‘’，。；：！？、（）《》—\\-]")


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence of a source."""

    text: str
    passage: int  # number of the passage it stands in
    index: int  # order among all statements of the evidence
    quotable: bool  # whole, and fit to be shown alone
    tokens: tuple[str, ...]
    asserted: bool  # by the source itself; not, where it is a quotation from end to end


class Evidence:
    """The statements of `passages`, in order, each kept once."""

    def __init__(self, passages: Sequence[Passage], encoder: Encoder) -> None:
        self.passages = {passage.number: passage for passage in passages}
        self.statements = _split(passages)
        # (statements, dim) float32, unit rows
        self.vectors: Vectors = (
            encoder.passages([statement.text for statement in self.statements])
            if self.statements
            else np.zeros((0, encoder.dim), dtype=np.float32)
        )
        self.encoder = encoder

    def scores(self, query: Vectors, query_tokens: Sequence[str], *, language: Language) -> Vectors:
        """(statements,) how much each says about the question; higher is better.

        The cosine carries meaning, the shared words precision; the passage's rank breaks ties. The cosines of e5 all
        lie in .7-.9, so they are stretched to the range of this evidence first.
        """
        if not self.statements:
            return np.zeros(0, dtype=np.float32)
        cosines = self.vectors @ query
        meaning = (cosines - cosines.min()) / (float(cosines.max() - cosines.min()) or 1.0)
        words = np.array([share_of(query_tokens, s.tokens) for s in self.statements], dtype=np.float32)
        order = {number: rank for rank, number in enumerate(self.passages, start=1)}
        rank = np.array([1 / order[s.passage] for s in self.statements], dtype=np.float32)
        foreign = np.array([language_of(s.text) != language for s in self.statements], dtype=np.float32)
        total = meaning + WORDS_WEIGHT * words + RANK_WEIGHT * rank - OTHER_LANGUAGE * foreign
        return np.asarray(total, dtype=np.float32)

    def best(self, scores: Vectors, *, count: int) -> list[Statement]:
        """The `count` quotable statements with the highest `scores` that do not say the same, best first."""
        chosen: list[Statement] = []
        for index in np.argsort(-scores):
            statement = self.statements[int(index)]
            if len(chosen) == count:
                break
            if statement.quotable and not any(self._say_the_same(statement, other) for other in chosen):
                chosen.append(statement)
        return chosen

    def _say_the_same(self, one: Statement, other: Statement) -> bool:
        """Whether a student who read one of the two learns nothing from the other."""
        cosine = float(self.vectors[one.index] @ self.vectors[other.index])
        return cosine > SAME_COSINE or share_of(one.tokens, other.tokens) > SAME_WORDS

    def excerpt(self, scores: Vectors, *, budget: int, count_tokens: Callable[[str], int]) -> str:
        """The statements with the highest `scores` and the ones that follow them, as lines `[1] … `, for a prompt.

        At most `budget` tokens, in the order of the source. An explanation tends to stand in the sentence after the
        one that matches the question. Tables and code mislead a small model; they go in only when nothing else is.
        """
        chosen: set[int] = set()
        spent = 0
        usable = {s.index for s in self.statements if s.quotable} or {s.index for s in self.statements}
        for index in map(int, np.argsort(-scores)):
            for near in (index, index + 1):
                if near in chosen or near not in usable or index not in usable:
                    continue
                if self.statements[near].passage != self.statements[index].passage:
                    continue
                cost = count_tokens(self.statements[near].text) + 2
                if spent + cost <= budget:
                    chosen.add(near)
                    spent += cost
            if spent > budget * 0.93:
                break
        return "\n".join(self._lines(chosen))

    def _lines(self, chosen: set[int]) -> Iterator[str]:
        """A line for each passage with chosen statements; an ellipsis stands where some are left out."""
        for number in self.passages:
            own = [s for s in self.statements if s.passage == number and s.index in chosen]
            parts = [f"{'… ' if s.index - 1 not in chosen and s is not own[0] else ''}{s.text}" for s in own]
            if parts:
                yield f"[{number}] {' '.join(parts)}"


def _split(passages: Sequence[Passage]) -> tuple[Statement, ...]:
    """The statements of all passages; what two overlapping passages share is kept once."""
    out: list[Statement] = []
    seen: set[str] = set()
    for passage in passages:
        in_quotes = False  # a quotation may be several sentences long
        for text in sentences(passage.chunk.text):
            flat = " ".join(text.split())
            said, in_quotes = asserted(flat, in_quotes=in_quotes)
            if flat in seen:
                continue
            seen.add(flat)
            fit = said and is_statement(flat)
            out.append(Statement(flat, passage.number, len(out), fit, tuple(tokens(flat)), said))
    return tuple(out)


def asserted(text: str, *, in_quotes: bool = False) -> tuple[bool, bool]:
    """Whether a sentence speaks in the source's own voice, and whether a quotation is open at its end.

    A course book quotes wrong answers: a sentence that is a quotation from end to end asserts nothing.
    """
    own = quoted = False
    for char in text:
        if char in "“「”」":
            in_quotes = char in "“「"
        elif char.isalnum():
            quoted |= in_quotes
            own |= not in_quotes
    return own or not quoted, in_quotes


def is_statement(text: str) -> bool:
    """Whether a sentence is a whole statement of prose: no heading, caption, question, code or formula."""
    zh = language_of(text) == "zh"
    low, high = (MIN_ZH, MAX_ZH) if zh else (MIN_EN, MAX_EN)
    if not low <= len(text) <= high or not _STATEMENT_END.search(text) or _LABEL.search(text):
        return False
    if not zh and not (text[0].isupper() or text[0] in "\"'“‘("):
        return False  # the tail of a sentence whose head is on another page
    letters = sum(char.isalpha() for char in text)
    return letters > 0.55 * len(text.replace(" ", "")) and len(_ODD.findall(text)) <= 0.04 * len(text) + 1
