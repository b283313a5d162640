"""Questions about the book (`*.asks.jsonl`), each with a quote from the text that answers it.

{"quotes": ["a stretch of the text that answers"], "asks": ["a question", "the same in other words"]}
{"quotes": ["a stretch that states one fact"], "facts": [["a question of an examiner", "its answer"]]}

They lie beside the textbook collection as a collection of their own (`asks/`). A build binds each by its
quotes to the chunks that answer it, and binds all anew when a document is added, replaced or removed. Questions
whose quotes stand in no document are kept behind the searched rows. They are searched by the textbook's encoder,
and only while they are bound to the corpus that lies beside them.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Self, TypeVar

from pydantic import BaseModel, Field, StringConstraints, ValidationError, model_validator

from osrag.book.markdown import read_text
from osrag.errors import BadDocument
from osrag.index.bound import Beside, Bound
from osrag.index.build import HeldDocument
from osrag.index.manifest import DocumentEntry
from osrag.text import clip, folded, language_of, normalise
from osrag.types import Ask, Chunk, ChunkKind

SUFFIX = ".asks.jsonl"
FORM = 'a line is {"quotes": ["text of the book", …], "asks": ["question", …]}, or "facts": [["question", "answer"], …]'
SEEN = 60  # characters of a broken line that are shown
# The fewest letters of a quote, and of the first half of one, that are looked for: fewer stand in too many places.
LEAST, LEAST_OF_HALF = 4, 6
SHOWN = 3  # quotes without a document that a warning names

RowT = TypeVar("RowT", bound=BaseModel)
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]


class AskRow(BaseModel, extra="forbid", frozen=True):
    """One teaching point: quotes from every edition that has it, and questions about it."""

    quotes: tuple[Text, ...] = Field(min_length=1)
    asks: tuple[Text, ...] = ()  # by students
    facts: tuple[tuple[Text, Text], ...] = ()  # by examiners: question and answer

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        """Refuse a row without a question."""
        if not self.asks and not self.facts:
            raise ValueError("neither asks nor facts")
        return self


def read_asks(path: Path) -> HeldDocument[Ask]:
    """The distinct questions of a file, each with the quotes of all its rows.

    A broken line is left out and named in the warnings. Raises BadDocument where no line is whole.
    """
    name = path.name
    if not path.is_file():
        raise BadDocument(f"{name}: there is no such file", hint="check the path")
    warnings: list[str] = []
    rows = [row for _, row in lines_of(path, AskRow, FORM, warnings)]
    if not rows:
        first = f", the first: {warnings[0]}" if warnings else ""
        raise BadDocument(f"{name}: no line holds questions{first}", hint=FORM)
    quotes: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        for question, answer in (*((ask, "") for ask in row.asks), *row.facts):
            quotes.setdefault((normalise(question), normalise(answer)), {}).update(dict.fromkeys(row.quotes))
    asks = [Ask(text, language_of(text), name, tuple(found), answer=answer) for (text, answer), found in quotes.items()]
    digest = hashlib.sha256("\n".join(row.model_dump_json() for row in rows).encode()).hexdigest()
    entry = DocumentEntry(name=name, sha256=digest, chunks=len(asks), category="asks", warnings=tuple(warnings))
    return HeldDocument(entry, asks)


def lines_of(path: Path, of: type[RowT], form: str, warnings: list[str]) -> Iterator[tuple[int, RowT]]:
    """The lines of a file that can be read, with their numbers; a sentence about each other goes into `warnings`."""
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, of.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            what = f"{'.'.join(map(str, first['loc'])) or 'the line'}: {first['msg'].lower()}"
            warnings.append(f"{path.name} line {number}: {what}: {clip(line.strip(), SEEN)} (left out; {form})")


def ask_text(ask: Ask) -> str:
    """What of a question is embedded: of an examiner's also the answer, which is what the options of others name."""
    return f"{ask.text} {ask.answer}".strip()


def bind(asks: Sequence[Ask], chunks: Sequence[Chunk]) -> Bound[Ask]:
    """`asks` bound to the chunks that hold one of their quotes, and a warning for each file whose quotes none holds.

    The questions of an FAQ are searched with them.
    """
    texts = {chunk.id: folded(chunk.text) for chunk in chunks}
    quotes = dict.fromkeys(quote for ask in asks for quote in ask.quotes)
    places = {quote: _places(texts, folded(quote)) for quote in quotes}
    bound = [
        replace(ask, chunk_ids=tuple(dict.fromkeys(id_ for quote in ask.quotes for id_ in places[quote])))
        for ask in asks
    ]
    found, lost = ([ask for ask in bound if bool(ask.chunk_ids) == placed] for placed in (True, False))
    searched = (*found, *questions_of_faq(chunks))
    return Bound(searched, tuple(lost), {"asks": len(bound), "bound": len(found)}, tuple(_unplaced(lost)))


def _places(texts: Mapping[str, str], quote: str) -> list[str]:
    """Ids of the folded `texts` that have `quote`; where the end of a page or chunk cuts it, its first half."""
    for part, least in ((quote, LEAST), (quote[: len(quote) // 2], LEAST_OF_HALF)):
        if len(part) >= least and (found := [id_ for id_, text in texts.items() if part in text]):
            return found
    return []


def questions_of_faq(chunks: Sequence[Chunk]) -> list[Ask]:
    """The questions of an FAQ. They are compared without their answers."""
    heads = [(chunk, chunk.text.partition("\n")[0]) for chunk in chunks if chunk.kind is ChunkKind.FAQ]
    return [Ask(head, language_of(head), chunk.source, (), (chunk.id,)) for chunk, head in heads]


def _unplaced(lost: Sequence[Ask]) -> Iterator[str]:
    """A sentence for each file about its quotes that stand in no document.

    A question whose other quote was found is not named: an index often holds one edition of several.
    """
    for name in dict.fromkeys(ask.source for ask in lost):
        own = [ask for ask in lost if ask.source == name]
        quotes = list(dict.fromkeys(quote for ask in own for quote in ask.quotes))
        shown = ", ".join(f"{quote!r}" for quote in quotes[:SHOWN])
        yield (
            f"{name}: {len(own)} questions are kept but not searched, no document has their "
            f"{len(quotes)} quotes: {shown}{', …' if len(quotes) > SHOWN else ''}"
        )


def _words(bound: Bound[Ask]) -> list[str]:
    """The text of each question that is searched."""
    return [ask_text(ask) for ask in bound.searched]


ASKS = Beside("asks", "students' questions", SUFFIX, Ask, read_asks, ask_text, _words, bind)
