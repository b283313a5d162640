"""What each rule of book search is worth.

The sets: the held-out course questions, 84 new ones (`ablation.jsonl`, written from random passages of all chapters
before any rule was switched off), both on the shipped index; those of them that are asked in the other language, on
one edition alone; and, where they are at hand, 100 questions on an index of two unrelated books, which ABLATION_BOOKS
names. The last set is not quite clean: the weight of keywords and the place for the other language were once chosen
with it in sight. The refusal is measured on the off-topic questions (half of them fitted the confidence) and on 24
new ones, some of them near the subject; "answered" counts all questions that have an answer and are not refused.
An FAQ entry must be the first hit for its own question (H4).

Gone after the first run, each worth less than two in a hundred on every set or, beside the others, nothing: everyday
words, coverage, the penalties for exercises and tables, a second place for the other language, the blended scores of
two editions, the bonus for FAQ entries, a keyword weight of its own across languages, a cap on the terms.
"""

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from bench.ablation import EVAL, OUTSIDE, ROOT, Area, Rule, Score
from bench.remembering import Remembering
from osrag.book.asks import ASKS
from osrag.book.search import TextbookSearch
from osrag.evaluate.measures import hit_rate
from osrag.evaluate.textbook import Located, PageQuestion, located, rank_of, read_questions
from osrag.glossary import Glossary
from osrag.index.collection import Collection
from osrag.index.confidence import REFUSE
from osrag.models.load import load_encoder
from osrag.settings import load_settings
from osrag.types import Ask, Chunk, ChunkKind

TEXTBOOK = EVAL / "textbook"
SHIPPED = ROOT / "index" / "textbook"
BOOKS = Path(os.environ.get("ABLATION_BOOKS", "/tmp/books")) / "textbook"
PAGE_QUESTIONS = OUTSIDE / "books" / "pageqa.jsonl"


@functools.cache
def _encoder() -> Remembering:
    return Remembering(load_encoder(load_settings()))


@functools.cache
def _loaded(folder: Path) -> tuple[Collection[Chunk], Collection[Ask] | None]:
    collection = Collection.load(folder, None, of=Chunk)
    return collection, ASKS.open(folder, collection.manifest, collection.manifest.encoder)


@functools.cache
def _questions(path: Path, folder: Path) -> tuple[list[Located], list[PageQuestion]]:
    """The questions of a file that the index answers, and those that it must refuse."""
    questions = read_questions(path)
    search = TextbookSearch(_loaded(folder)[0], _encoder())  # type: ignore[arg-type]
    answerable = [question for question in questions if question.is_answerable]
    return located(search, answerable), [question for question in questions if not question.is_answerable]


def measure() -> Mapping[str, Score]:
    """Every set, with searches that are made anew."""
    collection, asks = _loaded(SHIPPED)
    shipped = TextbookSearch(collection, _encoder(), asks=asks)  # type: ignore[arg-type]
    held_out, _ = _questions(TEXTBOOK / "held_out.jsonl", SHIPPED)
    new, new_absent = _questions(TEXTBOOK / "ablation.jsonl", SHIPPED)
    _, off_topic = _questions(TEXTBOOK / "off_topic.jsonl", SHIPPED)
    across = [one for one in (*held_out, *new) if one.question.language != one.question.book_language]
    answered: list[bool] = []
    out = _ranked("held out", shipped, held_out, answered) | _ranked("new", shipped, new, answered)
    out |= _ranked("across, one edition", shipped, across, [], one_edition=True)
    if PAGE_QUESTIONS.is_file() and BOOKS.is_dir():
        books = TextbookSearch(_loaded(BOOKS)[0], _encoder())  # type: ignore[arg-type]
        out |= _ranked("two books", books, _questions(PAGE_QUESTIONS, BOOKS)[0], answered)
    out["answered"] = (sum(answered), len(answered))
    for name, questions in (("off topic refused", off_topic), ("new refused", new_absent)):
        refused = [shipped.search(one.question, k=1).confidence < REFUSE for one in questions]
        out[name] = (sum(refused), len(refused))
    entries = [chunk for chunk in collection.chunks() if chunk.kind is ChunkKind.FAQ]
    first = [shipped.search(chunk.text.split("\n")[0], k=1).hits[0].chunk.id == chunk.id for chunk in entries]
    return {**out, "FAQ @1": (sum(first), len(first))}


def _ranked(
    name: str, search: TextbookSearch, asked: Sequence[Located], answered: list[bool], *, one_edition: bool = False
) -> dict[str, Score]:
    """Right pages first and among the first five; `answered` grows by whether each question is not refused."""
    ranks = []
    for one in asked:
        language = one.question.book_language if one_edition else None
        result = search.search(one.question.question, k=5, language=language)  # type: ignore[arg-type]
        ranks.append(rank_of(one, result.hits))
        answered.append(result.confidence >= REFUSE)
    return {f"{name} @{cut}": (round(hit_rate(ranks, cut) * len(ranks)), len(ranks)) for cut in (1, 5)}


class _NoTerms(Glossary):
    """A glossary that finds nothing."""

    def __init__(self) -> None:
        super().__init__(())


SEARCH, RANK, ASKED = "osrag.book.search", "osrag.book.rank", "osrag.book.asked"
RANKER = "osrag.book.ranker"
AREA = Area(
    "book",
    (
        Rule("keywords beside the cosine", ((f"{SEARCH}.KEYWORD_WEIGHT", 0.0),)),
        Rule("cosines standardised by language", ((f"{SEARCH}.standardised", lambda cosines: cosines),)),
        Rule(
            "glossary, across languages and for the confidence",
            (("osrag.book.understood.load_glossary", _NoTerms),),
        ),
        Rule("share of the rest of the section", ((f"{RANK}.SECTION_WEIGHT", 0.0),)),
        Rule("head on different pages", ((f"{SEARCH}.pages_apart", lambda order, page: order),)),
        Rule("one place for the other language", ((f"{SEARCH}.with_other_language", lambda order, other: order),)),
        Rule("readers' questions", ((f"{SEARCH}.Asked.scores", lambda self, *of: np.zeros_like(of[-1])),)),
        Rule("keywords of readers' questions", ((f"{ASKED}.KEYWORD_WEIGHT", 0.0),)),
        Rule("the ranker", ((f"{RANKER}.SHARE", 0.0),)),
        Rule("entries and labs that are named", ((f"{SEARCH}.WANTED", 0.0),)),
        Rule("less for a passage without readers' questions", ((f"{ASKED}.UNASKED", 0.0),)),
    ),
    measure,
)
