"""Prepared answers (`*.answers.jsonl`): written and checked before anyone asks (T11).

A line is one answer, in one language or in both:

    {"id": "ch05-deadlock-what", "section": "5.1", "kind": "what",
     "zh": {"questions": ["什么是死锁？", …], "answer": [{"say": "…", "quote": "…"}, …]},
     "en": {"questions": ["What is a deadlock?", …], "answer": [{"say": "…", "quote": "…"}, …]}}

`say` is what a student reads, in our words or the book's; `quote` is the stretch of that language's edition that bears
it out, word for word (only letters and digits are compared). They lie beside the textbook collection (`answers/`). A
build binds each statement to the chunks that hold its quote. An answer of which one quote stands in no document is
withdrawn: its rows are kept behind the searched ones, until a document has the quote again.
"""

import hashlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, groupby
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import BaseModel, Field, StringConstraints, model_validator

from osrag.answer.prepared import PreparedQuestion, PreparedQuestions
from osrag.book.asks import lines_of
from osrag.errors import BadDocument
from osrag.index.bound import Beside, Bound
from osrag.index.build import HeldDocument
from osrag.index.collection import Collection
from osrag.index.manifest import DocumentEntry
from osrag.models.protocols import Encoder, PairEncoder, Vectors
from osrag.text import folded, language_of
from osrag.types import Chunk, Language, PreparedRow

SUFFIX = ".answers.jsonl"
FORM = (
    'a line is {"id": …, "section": …, "kind": …, "en": {"questions": [question, …], "answer": [{"say", "quote"}, …]}}'
)
MOST = 20_000  # lines of one file; a course has some hundred answers, and every one costs a tenth of a second
LEAST_QUOTE: dict[Language, int] = {"en": 15, "zh": 6}  # letters and digits; fewer stand in too many places
SHOWN = 20  # faults of one file that are named one by one

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Kind = Literal["what", "why", "how", "steps", "compare", "when", "what_if", "list"]


class Statement(BaseModel, extra="forbid", frozen=True):
    """What a student reads, and the stretch of the material that bears it out."""

    say: Text
    quote: Text


class Side(BaseModel, extra="forbid", frozen=True):
    """An answer in one language, with the questions that it answers."""

    questions: tuple[Text, ...] = Field(min_length=1)
    answer: tuple[Statement, ...] = Field(min_length=1)


class AnswerLine(BaseModel, extra="forbid", frozen=True):
    """One line of a file."""

    id: Text
    section: str
    kind: Kind
    zh: Side | None = None
    en: Side | None = None
    draft: bool = False  # as `osrag prepare` writes it; left out until somebody has approved it
    doubts: tuple[str, ...] = ()  # about a draft, for whoever approves it

    @model_validator(mode="after")
    def _in_a_language(self) -> Self:
        """Refuse a line without an answer."""
        if not self.sides:
            raise ValueError("neither zh nor en")
        return self

    @property
    def sides(self) -> dict[Language, Side]:
        """The answer in each language that it is written in."""
        both: dict[Language, Side | None] = {"zh": self.zh, "en": self.en}
        return {language: side for language, side in both.items() if side is not None}


@dataclass(frozen=True, slots=True)
class PreparedAnswer:
    """An answer in one language, as the index holds it."""

    id: str
    language: Language
    kind: str
    section: str
    questions: tuple[str, ...]
    statements: tuple[PreparedRow, ...]

    @property
    def cites(self) -> tuple[str, ...]:
        """The chunk of each statement, as few different ones as will do: the one that holds the most quotes first."""
        holds = Counter(id_ for one in self.statements for id_ in one.chunk_ids)
        return tuple(max(one.chunk_ids, key=holds.__getitem__) for one in self.statements)


@dataclass(frozen=True, slots=True)
class Near:
    """An answer that may hold something of what is asked."""

    answer: PreparedAnswer
    cosines: tuple[float, ...]  # of its nearest question with each text that is asked
    chances: tuple[float, ...]  # that it is the one that each text wants


def read_answers(path: Path) -> HeldDocument[PreparedRow]:
    """The questions and statements of a file.

    A line that is broken, too many, in another language than it says, or a draft is left out, and the warnings name
    it. Raises BadDocument where no line is whole.
    """
    name = path.name
    if not path.is_file():
        raise BadDocument(f"{name}: there is no such file", hint="check the path")
    faults: list[str] = []
    rows: list[PreparedRow] = []
    for count, (number, line) in enumerate(lines_of(path, AnswerLine, FORM, faults), start=1):
        where = f"{name} line {number}: {line.id}"
        if count > MOST:
            faults.append(f"{where} and what follows is left out: a file has at most {MOST:,} answers")
            break
        wrong = ["it is a draft, approve it first"] if line.draft else list(faults_of(line))
        if wrong:
            faults.append(f"{where} is left out: {'; '.join(wrong)}")
            continue
        for language, side in line.sides.items():
            row = PreparedRow("", line.id, language, name, number, line.kind, line.section)
            rows += [replace(row, text=question) for question in side.questions]
            rows += [replace(row, text=one.say, quote=one.quote) for one in side.answer]
    warnings = tuple(_first(faults, f"{name}: and {{}} more lines"))
    if not rows:
        first = f", the first: {warnings[0]}" if warnings else ""
        raise BadDocument(f"{name}: no line holds a prepared answer{first}", hint=FORM)
    digest = hashlib.sha256("\n".join(map(repr, rows)).encode()).hexdigest()
    entry = DocumentEntry(name=name, sha256=digest, chunks=len(_ids(rows)), category="answers", warnings=warnings)
    return HeldDocument(entry, rows)


def faults_of(line: AnswerLine) -> Iterator[str]:
    """What is wrong with an answer, whatever the material says."""
    for language, side in line.sides.items():
        said = [one.say for one in side.answer]
        for question in side.questions:
            if language_of(question) != language:
                yield f"{language}: the question {question!r} is in the other language"
        if language_of(" ".join(said)) != language:
            yield f"{language}: the answer is in the other language"
        for repeated, count in Counter(map(folded, said)).items():
            if count > 1:
                yield f"{language}: said twice: {repeated!r}"
        for one in side.answer:
            if "{+" in one.say or "[-" in one.say:
                yield f"{language}: marks of an edit are left in {one.say!r}"
            if len(folded(one.quote)) < LEAST_QUOTE[language]:
                yield f"{language}: the quote {one.quote!r} is too short to be found again"


def bind(rows: Sequence[PreparedRow], chunks: Sequence[Chunk]) -> Bound[PreparedRow]:
    """Answers whose statements were all found in documents of their language; the others are named.

    Of two answers to one question, and of two with one id, the second is left out.
    """
    places = {language: _Places([c for c in chunks if c.language == language]) for language in ("zh", "en")}
    lines: dict[str, str] = {}  # id -> where it stands first
    asked: dict[str, str] = {}  # folded question -> the same
    searched: list[PreparedRow] = []
    behind: list[PreparedRow] = []
    kept: list[PreparedRow] = []
    faults: dict[str, list[str]] = {}  # by file
    order = {name: place for place, name in enumerate(dict.fromkeys(row.source for row in rows))}
    # An index holds questions before statements.
    rows = sorted(rows, key=lambda row: (order[row.source], row.line, row.language))
    for (source, line, id_, language), group in groupby(rows, lambda row: (row.source, row.line, row.id, row.language)):
        where, own = f"{source} line {line}", list(group)
        questions = [row for row in own if not row.quote]
        bound = [replace(row, chunk_ids=places[language].of(row.quote)) for row in own if row.quote]
        keys = {folded(row.text).lower(): row for row in questions}
        lost = [row.quote for row in bound if not row.chunk_ids]
        taken = [key for key in keys if asked.get(key, where) != where]
        wrong = ""
        if lines.setdefault(id_, where) != where:
            wrong = f"the id is that of {lines[id_]}"
        elif taken:
            wrong = f"{keys[taken[0]].text!r} is asked in {asked[taken[0]]} as well"
        elif lost:
            wrong = f"no document in its language has {', '.join(map(repr, lost))}"
        if wrong:
            if not lost or places[language]:  # an index often holds one edition of two
                faults.setdefault(source, []).append(f"{where}: {id_} ({language}) is withdrawn: {wrong}")
            kept += [*questions, *(replace(row, chunk_ids=()) for row in bound)]
            continue
        asked |= dict.fromkeys(keys, where)
        searched += questions
        behind += bound
    counts = {"answers": len(_ids(rows)), "bound": len(_ids(searched))}
    warnings = chain.from_iterable(_first(own, f"{name}: and {{}} more answers") for name, own in faults.items())
    return Bound(tuple(searched), (*behind, *kept), counts, tuple(warnings))


def answers_of(rows: Iterable[PreparedRow]) -> Mapping[tuple[str, Language], PreparedAnswer]:
    """The whole answers among the rows of a collection, by id and language."""
    by_line: dict[tuple[str, int, Language], list[PreparedRow]] = {}
    for row in rows:
        by_line.setdefault((row.source, row.line, row.language), []).append(row)
    whole = (own for own in by_line.values() if all(row.chunk_ids for row in own if row.quote))
    return {(own[0].id, own[0].language): _whole(own) for own in whole}


def _whole(rows: Sequence[PreparedRow]) -> PreparedAnswer:
    first = rows[0]
    questions = tuple(row.text for row in rows if not row.quote)
    statements = tuple(row for row in rows if row.quote)
    return PreparedAnswer(first.id, first.language, first.kind, first.section, questions, statements)


class BookAnswers:
    """The prepared answers of one index, and which of them a question wants. Safe to call from several threads."""

    def __init__(self, collection: Collection[PreparedRow], encoder: Encoder, pairs: PairEncoder | None) -> None:
        self._answers = answers_of(collection.chunks())
        rows, vectors = collection.searched(), collection.dense.vectors()
        order = sorted(range(len(rows)), key=lambda place: rows[place].language)  # of one language next to each other
        rows, vectors = [rows[place] for place in order], vectors[order]
        asked = [PreparedQuestion(row.text, row.language, row.id) for row in rows]
        texts: dict[str, str] = {}
        for answer in self._answers.values():
            texts[answer.id] = " ".join([texts.get(answer.id, ""), *(one.text for one in answer.statements)])
        words, places = collection.keywords, np.array(order, dtype=np.int64)
        self._questions = PreparedQuestions(
            asked, vectors, encoder, pairs, answers=texts, keywords=lambda text: words.scores(text)[places]
        )
        cites = {key: dict.fromkeys(answer.cites) for key, answer in self._answers.items()}
        self._vectors: dict[Language, Vectors] = {}
        # The place of a question among those of its language, and a chunk that its answer cites.
        self.leads: dict[Language, tuple[tuple[int, str], ...]] = {}
        first = 0
        for language, group in groupby(rows, key=lambda row: row.language):
            of_rows = [cites[row.id, language] for row in group]
            self._vectors[language] = vectors[first : first + len(of_rows)]
            self.leads[language] = tuple((place, id_) for place, ids in enumerate(of_rows) for id_ in ids)
            first += len(of_rows)

    def cosines(self, vector: Vectors, language: Language) -> Vectors | None:
        """(questions,) of the vector (dim,) of a question with the prepared ones in `language`; None without any."""
        own = self._vectors.get(language)
        return None if own is None else own @ vector

    def match(self, text: str, language: Language) -> PreparedAnswer | None:
        """The answer in `language` that `text` asks for in other words; None where none is surely the one."""
        found = self._questions.match(text, language)
        return self._answers.get((found, language)) if found is not None else None

    def chance(self, text: str, language: Language) -> float:
        """0-1, that one of the answers in `language` is what `text` asks for."""
        return self._questions.chance(text, language)

    def covers(self, text: str, language: Language) -> float | None:
        """0-1, that the answers in `language` speak of what `text` asks; None where that is unknown."""
        return self._questions.covers(text, language)

    def nearest(self, text: str, language: Language) -> dict[str, float]:
        """What `covers` rests on."""
        return self._questions.nearest(text, language)

    def near(self, texts: Sequence[str], language: Language) -> tuple[Near, ...]:
        """The answers in `language` that are nearest to each of `texts`, each once."""
        found = self._questions.near(texts, language)
        return tuple(Near(self._answers[id_, language], cosines, chances) for id_, cosines, chances in found)

    def further(self, answer: PreparedAnswer, count: int) -> tuple[str, ...]:
        """Prepared questions to ask next: those nearest to the ones of `answer`, in its language."""
        return tuple(self._questions.others(answer.id, answer.language, count))


class _Places:
    """Where quotes stand in chunks: one long text, so that thousands of quotes are found in seconds."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        texts = [folded(chunk.text) for chunk in chunks]
        self._ids = [chunk.id for chunk in chunks]
        self._text = "\n".join(texts)
        self._starts = list(accumulate((len(text) + 1 for text in texts), initial=0))

    def __bool__(self) -> bool:
        return bool(self._ids)

    def of(self, quote: str) -> tuple[str, ...]:
        """Ids of the chunks that hold `quote`; two that overlap may both hold it."""
        wanted, found, at = folded(quote), [], -1
        while (at := self._text.find(wanted, at + 1)) >= 0:
            found.append(self._ids[bisect_right(self._starts, at) - 1])
        return tuple(dict.fromkeys(found))


def _ids(rows: Iterable[PreparedRow]) -> set[tuple[str, Language]]:
    return {(row.id, row.language) for row in rows}


def _first(faults: Sequence[str], more: str) -> Iterator[str]:
    """The first faults, and how many there are beside them."""
    yield from faults[:SHOWN]
    if len(faults) > SHOWN:
        yield more.format(len(faults) - SHOWN)


def _words(bound: Bound[PreparedRow]) -> list[str]:
    """The text of each question; of the first of an answer in a language also that of its statements."""
    told: dict[tuple[str, Language], str] = defaultdict(str)
    for row in bound.kept:
        if row.chunk_ids:
            told[row.id, row.language] += f" {row.text}"
    return [row.text + told.pop((row.id, row.language), "") for row in bound.searched]


ANSWERS = Beside("answers", "prepared answers", SUFFIX, PreparedRow, read_answers, lambda row: row.text, _words, bind)
