"""What the model writes about an exercise, each sentence bound to the book or to the bank's own words.

The same check as in the chat (`answer/support.py`). A sentence that repeats the key, its explanation or the
reference is the teacher's own and stands as it is; one that the book supports gets the number of the passage;
any other one is marked.
"""

import re

from osrag.answer.citations import CitationWriter
from osrag.answer.evidence import Evidence
from osrag.answer.support import Support, check
from osrag.models.protocols import Encoder
from osrag.quiz.evidence import Proof
from osrag.quiz.types import QuizItem
from osrag.text import sentences
from osrag.types import Chunk, PageRef, Passage
from osrag.wording import say

BANK = 0  # in place of a passage number: the bank says so
_BANK_NUMBER = re.compile(rf"\s*\[{BANK}\]")


class Binder:
    """Binds the sentences of one exercise; a sentence is checked once, however often the text grows."""

    def __init__(self, item: QuizItem, proof: Proof, right: str) -> None:
        self._item = item
        self._proof = proof
        self._bank = _bank_evidence(item, right, proof.encoder)
        self._known: dict[str, Support] = {}

    def bind(self, text: str, *, whole: bool = True) -> str:
        """`text` with a citation or a mark after each sentence; the last one is left open unless `whole`."""
        writer = CitationWriter(
            check=lambda sentence, claimed: self.support(sentence), mark=say("unverified", self._item.language)
        )
        out = writer.feed(text) + (writer.finish() if whole else "")
        return _BANK_NUMBER.sub("", out)

    def supported(self, text: str) -> str:
        """The sentences of `text` that have a source, bound; "" when none has."""
        return " ".join(self.bind(one) for one in sentences(text) if self.support(one).passage is not None)

    def support(self, sentence: str) -> Support:
        """By the bank (passage `BANK`), else by the book, else by nothing."""
        if sentence not in self._known:
            question = self._item.question
            found = check(sentence, self._bank, question=question)
            if found.passage is None:
                found = check(sentence, self._proof.evidence, question=question)
            self._known[sentence] = found
        return self._known[sentence]


def _bank_evidence(item: QuizItem, right: str, encoder: Encoder) -> Evidence:
    """The teacher's own words on this exercise as a passage."""
    statement = f"{item.question} {right}" if right else ""
    texts = [statement, item.explanation, item.reference, *(point.point for point in item.rubric)]
    text = "\n\n".join(text for text in texts if text.strip())
    if not text:
        return Evidence((), encoder)
    chunk = Chunk("bank", text, "", PageRef(1, 1, ""), 0, (), item.language)
    return Evidence((Passage(BANK, chunk, 1.0, 1.0),), encoder)
