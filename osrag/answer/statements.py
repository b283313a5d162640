"""The sentences of the passages of one answer, with their vectors.

Made once per answer and used twice: to choose the key sentences that open the reply
and go into the prompt, and to check what the model then writes.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from osrag.models.protocols import Encoder, Vectors
from osrag.text import HAN, language_of, sentences, share_of, tokens
from osrag.types import Language, Passage

# A key sentence is a statement that makes sense alone. Shorter ones are headings and fragments,
# longer ones are tables and code that the splitter could not cut.
MIN_EN, MAX_EN = 30, 420
MIN_ZH, MAX_ZH = 10, 200
OTHER_LANGUAGE = 0.5  # what a sentence in the other language is worth less
_DENIAL = re.compile(
    r"不对|不正确|不准确|不成立|不是|错误|错的|有误|误解|误以为|"
    r"\b(?:wrong|false|incorrect|mistaken?|misleading|myth|not true|is not|are not|does not hold)\b",
    re.I,
)
_STATEMENT_END = re.compile(r"[.。!！][\"'”’」』）)]*$")
_LABEL = re.compile(
    r"^(figure|fig\.|table|listing|example|exercise|chapter|problem|solution)\s+[\dA-Z]|^(图|表|例|习题|第)\s*\d",
    re.I,
)
_ODD = re.compile(f"[^\\w\\s{HAN},.;:!?'\"()“”‘’，。；：！？、（）《》—\\-]")


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    passage: int  # number of the passage it stands in
    index: int  # order among all sentences of the evidence
    quotable: bool  # a whole statement, fit to be shown alone
    tokens: tuple[str, ...]
    asserted: str  # what the book itself says: without the wrong answers that it quotes


class Evidence:
    """Sentences of `passages`, in order, and what each is worth to the question."""

    def __init__(self, passages: Sequence[Passage], encoder: Encoder) -> None:
        self.passages = {passage.number: passage for passage in passages}
        self.sentences = _split(passages)
        # (sentences, dim) float32, unit rows
        self.vectors: Vectors = (
            encoder.passages([sentence.text for sentence in self.sentences])
            if self.sentences
            else np.zeros((0, encoder.dim), dtype=np.float32)
        )
        self.encoder = encoder

    def worth(self, query: Vectors, query_tokens: Sequence[str], *, language: Language) -> Vectors:
        """(sentences,) how much each sentence says about the question; higher is better.

        The cosine carries meaning, the shared words precision; the passage's rank breaks ties.
        e5's cosines all lie in .7-.9, so they are stretched to the range of this evidence first. A
        sentence in the other language is quoted when the student's own has nothing near.
        """
        if not self.sentences:
            return np.zeros(0, dtype=np.float32)
        cosines = self.vectors @ query
        meaning = (cosines - cosines.min()) / (float(cosines.max() - cosines.min()) or 1.0)
        words = np.array([share_of(query_tokens, s.tokens) for s in self.sentences], dtype=np.float32)
        order = {number: rank for rank, number in enumerate(self.passages)}
        rank = np.array([1 / (1 + order[s.passage]) for s in self.sentences], dtype=np.float32)
        return np.asarray(meaning + 0.6 * words + 0.35 * rank - self.foreign(language), dtype=np.float32)

    def foreign(self, language: Language) -> Vectors:
        """(sentences,) what is taken off those that are not in `language`."""
        other = np.array([language_of(s.text) != language for s in self.sentences], dtype=np.float32)
        return np.asarray(OTHER_LANGUAGE * other, dtype=np.float32)

    def key_sentences(self, worth: Vectors, *, count: int) -> list[Sentence]:
        """The `count` best quotable sentences that do not say the same, in order of worth."""
        chosen: list[Sentence] = []
        for index in np.argsort(-worth):
            sentence = self.sentences[int(index)]
            if not sentence.quotable or len(chosen) == count:
                continue
            repeats = any(
                float(self.vectors[sentence.index] @ self.vectors[other.index]) > 0.96
                or share_of(sentence.tokens, other.tokens) > 0.8
                for other in chosen
            )
            if not repeats:
                chosen.append(sentence)
        return chosen


def _split(passages: Sequence[Passage]) -> tuple[Sentence, ...]:
    """Sentences of all passages; what two overlapping passages share is kept once."""
    out: list[Sentence] = []
    seen: set[str] = set()
    for passage in passages:
        in_quotes = False  # a quotation may be several sentences long
        for text in sentences(passage.chunk.text):
            flat = " ".join(text.split())
            said, in_quotes = asserted(flat, in_quotes=in_quotes)
            if flat in seen:
                continue
            seen.add(flat)
            fit = bool(said) and is_statement(flat)
            out.append(Sentence(flat, passage.number, len(out), fit, tuple(tokens(flat)), said))
    return tuple(out)


def asserted(text: str, *, in_quotes: bool = False) -> tuple[str, bool]:
    """What a sentence says in the book's own voice, and whether a quotation is open at its end.

    A course book quotes wrong answers: a sentence that is a quotation from end to end asserts
    nothing, and of "“Each miss is a page fault” is wrong" the quotation is not asserted.
    """
    kept: list[str] = []
    quoted = 0
    for char in text:
        if char in "“「":
            in_quotes = True
        elif char in "”」":
            in_quotes = False
        elif in_quotes:
            quoted += char.isalnum()
        else:
            kept.append(char)
    own = "".join(kept).strip()
    if not quoted:
        return text, in_quotes
    if not any(char.isalnum() for char in own):
        return "", in_quotes
    return (own if _DENIAL.search(own) else text), in_quotes


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


def select_passages(evidence: Evidence, worth: Vectors, *, budget: int, count_tokens: Callable[[str], int]) -> str:
    """The best sentences and the ones that follow them, by passage, in the order of the book.

    An explanation tends to stand in the sentence after the one that matches the question.
    """
    chosen: set[int] = set()
    spent = 0
    # Tables and code mislead a small model; they go in only when there is nothing else.
    prose = {sentence.index for sentence in evidence.sentences if sentence.quotable}
    usable = prose or {sentence.index for sentence in evidence.sentences}
    for index in np.argsort(-worth):
        for near in (int(index), int(index) + 1):
            if near in chosen or near not in usable or int(index) not in usable:
                continue
            if evidence.sentences[near].passage != evidence.sentences[int(index)].passage:
                continue
            cost = count_tokens(evidence.sentences[near].text) + 2
            if spent + cost <= budget:
                chosen.add(near)
                spent += cost
        if spent > budget * 0.93:
            break
    return "\n".join(_passage_lines(evidence, chosen))


def _passage_lines(evidence: Evidence, chosen: set[int]) -> list[str]:
    lines = []
    for number in evidence.passages:
        parts: list[str] = []
        last = None
        for sentence in evidence.sentences:
            if sentence.passage == number and sentence.index in chosen:
                if last is not None and sentence.index != last + 1:
                    parts.append("…")
                parts.append(sentence.text)
                last = sentence.index
        if parts:
            lines.append(f"[{number}] {' '.join(parts)}")
    return lines
