"""What the answers of the book say of what they should: key points that a program can find, repetitions, seconds."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pydantic import BaseModel, Field

from osrag.answer.claims import check
from osrag.answer.events import Done, Event, Failed, Retrieved, Said, SourceDone, Token
from osrag.answer.source import Question
from osrag.answer.statements import Evidence
from osrag.evaluate.figures import Row, Score, share_of_one, took
from osrag.models.protocols import Encoder
from osrag.numbers import numbers_in
from osrag.text import folded, language_of, share_of, tokens
from osrag.types import Passage, Turn

SAME_COSINE, SAME_WORDS = 0.95, 0.75  # from which two statements say the same: across languages, and in one
NEAR = 0.84  # cosine below which a statement is beside every point; a hint for who reads, not a verdict


class Point(BaseModel, extra="ignore"):
    """What a whole answer says: each group of `words` has one of its words in the answer."""

    text: str
    words: list[list[str]]

    def said_in(self, answer: str) -> bool:
        """Whether Markdown says it; the backslashes before its signs are no words."""
        answer = answer.replace("\\", "")
        return all(any(word.lower() in answer.lower() for word in group) for group in self.words)


class KeyPoints(BaseModel, extra="ignore"):
    """A line of the file."""

    id: str
    question: str
    language: str
    points: list[Point] = Field(min_length=1)
    kind: str = ""
    set: str = "dev"
    history: list[str] = Field(default_factory=list)  # questions before this one


def rows(questions: Iterable[KeyPoints], ask: Callable[[Question], Iterator[Event]], encoder: Encoder) -> Iterator[Row]:
    """A row for each answer, in groups by language, by kind of question and by how the answer came about.

    For what a cited passage bears out see `_bears_out`.
    """
    for question in questions:
        start = time.perf_counter()
        first, text, how = 0.0, "", "failed"
        said, passages, marked = list[Said](), dict[int, Passage](), 0
        for event in ask(Question(question.question, history=tuple(Turn(one, "") for one in question.history))):
            match event:
                case Token():
                    first = first or time.perf_counter() - start
                    text += event.text
                case Retrieved():
                    passages |= {passage.number: passage for passage in event.passages}
                case SourceDone():
                    marked += event.unsupported
                case Done():
                    how, said = event.how, list(event.statements)
                case Failed():
                    text += f"\n{event.message}"
                case _:
                    pass
        scores = took(first, "first_") | took(time.perf_counter() - start)
        missing = [point.text for point in question.points if not point.said_in(text)]
        count = len(question.points)
        scores |= {"points_said": (count - len(missing), count), "all_points": share_of_one(not missing)}
        if said:
            scores |= _of_statements(question, said, encoder) | {"marked": (marked, len(said) + marked)}
            scores |= _of_citations(said, passages, encoder)
        note = {"id": question.id, "question": question.question, "missing": missing, "said": text} if missing else {}
        yield Row((question.language, question.kind, how), scores, note)


def _of_statements(question: KeyPoints, said: Sequence[Said], encoder: Encoder) -> dict[str, Score]:
    """How many statements repeat one before them, and how many are near none of the points."""
    own = encoder.passages([one.text for one in said])
    points = encoder.passages([point.text for point in question.points])
    alike = own @ own.T
    repeated = sum(
        any(_same(said[at].text, said[other].text, alike[at, other]) for other in range(at)) for at in range(len(said))
    )
    beside = int(((own @ points.T).max(axis=1) < NEAR).sum())
    return {
        "statements": share_of_one(len(said)),
        "repeated": (repeated, len(said)),
        "near_no_point": (beside, len(said)),
    }


def _of_citations(said: Sequence[Said], passages: Mapping[int, Passage], encoder: Encoder) -> dict[str, Score]:
    """Citation recall and precision (Gao et al., EMNLP 2023): statements with a passage that bears them out, and cited
    passages that bear their statement out.
    """
    borne = [
        [_bears_out(passages[number], one, encoder) for number in one.passages if number in passages] for one in said
    ]
    cited = [held for some in borne for held in some]
    return {
        "citation_recall": (sum(map(any, borne)), len(said)),
        "citation_precision": (sum(cited), len(cited)),
    }


def _bears_out(passage: Passage, one: Said, encoder: Encoder) -> bool:
    """Whether a passage has the very words; or those on which two readers rested the statement, and its numbers.

    Any other sentence is judged by the check that the app itself uses, which goes by words.
    """
    text = passage.chunk.text
    if folded(one.text) in folded(text):
        return True
    if one.quote:
        return folded(one.quote) in folded(text) and {*numbers_in(one.text)} <= {*numbers_in(text)}
    return check(one.text, Evidence([passage], encoder)).passage is not None


def _same(one: str, other: str, cosine: float) -> bool:
    """Whether two statements say the same; the steps of one calculation are near in meaning and are not the same."""
    if language_of(one) != language_of(other):
        return cosine > SAME_COSINE
    return share_of(tokens(one), tokens(other)) > SAME_WORDS
