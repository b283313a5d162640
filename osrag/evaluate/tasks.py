"""What `eval all` measures: each set of questions, how it is read, and how a question becomes a row of figures."""

import functools
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.app.run import answer
from osrag.book.build import COLLECTION, build_textbook
from osrag.book.search import TextbookSearch
from osrag.errors import BadIndex, BadInput
from osrag.evaluate import answers, claims, kernel, kernel_sets, lab, logs, prepared, quiz, routing, speed, textbook
from osrag.evaluate.figures import Row
from osrag.evaluate.measures import read_rows
from osrag.evaluate.report import Role
from osrag.index.manifest import read_manifest
from osrag.lab.reading import read
from osrag.models.protocols import Encoder
from osrag.quiz.bank import shipped_bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.judge import Judge
from osrag.settings import ROOT
from osrag.types import Language, SourceName, Turn

EVAL = ROOT / "examples" / "eval"
# What decides how a document becomes chunks, in osrag/book.
READERS = ("pdf/*.py", "formats/*.py", "chunking.py", "document.py", "glyphs.py", "markdown.py", "ocr.py", "read.py")
LOGS = ROOT / "examples" / "logs"
CHOICES = 60  # questions of the bank that the model is asked without their key; all 300 take an hour
HEARD = 200  # marked answers that the model hears
BUSY_TYPES = ("single_choice", "true_false", "short_answer", "multiple_choice", "fill_blank")  # of timed exercises


@dataclass(frozen=True, slots=True)
class Given:
    """What the sets are measured with: the parts of the running profile, and a folder of data of others."""

    parts: Parts
    outside: Path | None = None

    def data(self, name: str) -> Path:
        """A file of others. Raises BadInput where it is not at hand."""
        if self.outside is None:
            raise BadInput(f"needs {name}, which is not shipped", hint="name its folder with --data")
        path = self.outside / name
        if not path.exists():
            raise BadInput(f"{name} is not in the folder of --data")
        return path


@dataclass(frozen=True, slots=True)
class Task:
    """One set of questions. `rows` gives one row for each of the items, in their order."""

    part: str
    name: str
    role: Role
    items: Callable[[Given], Sequence[Any]]
    rows: Callable[[Given, Sequence[Any]], Iterator[Row]]
    quick: int = 0  # questions of `--quick`; all of them for 0
    needs_chat: bool = False


def tasks() -> tuple[Task, ...]:
    """All of them, in the order of the report."""
    return (
        Task("pages", "pages_held_out", "held_out", _pages("held_out"), _book_rows),
        Task("pages", "pages_development", "development", _pages("ch*", "ablation"), _book_rows, 80),
        Task("pages", "pages_material", "held_out", _material_pages, _outside_rows, 40),
        Task("pages", "pages_outside", "outside", _outside_pages, _outside_rows, 40),
        Task("functions", "functions_held_out", "held_out", _functions("held_out"), _kernel_rows),
        Task("functions", "functions_development", "development", _functions("dev", "ablation"), _kernel_rows, 80),
        Task("functions", "functions_outside", "outside", _outside_functions, _kernel_rows),
        Task("sets", "sets_held_out", "held_out", _sets(held_out=True), _set_rows, 20),
        Task("sets", "sets_development", "development", _sets(held_out=False), _set_rows, 20),
        Task("answers", "answers_held_out", "held_out", _key_points("held_out"), _answer_rows, 20),
        Task("answers", "answers_unprepared", "held_out", _key_points("held_out"), _unprepared_rows, 20),
        Task("answers", "answers_development", "development", _key_points("dev"), _answer_rows, 20),
        Task("claims", "claims_labelled", "development", _claims, _claim_rows, 60),
        Task("refusal", "refusal_off_topic", "held_out", _off_topic, _book_rows),
        Task("refusal", "refusal_kernel", "held_out", _no_code, _kernel_rows),
        Task("refusal", "refusal_near", "development", _near_topic, _book_rows),
        Task("prepared", "prepared_held_out", "held_out", _pairs("held_out"), _pair_rows, 60),
        Task("prepared", "prepared_development", "development", _pairs("dev"), _pair_rows, 60),
        Task("routing", "routing_course", "held_out", _course_questions, _routed("textbook"), 40),
        Task("routing", "routing_kernel", "held_out", _kernel_questions, _routed("kernel"), 40),
        Task("routing", "routing_students", "held_out", _students_questions, _place_rows),
        Task("logs", "logs_syzkaller", "held_out", _syzkaller(held_out=True), _log_rows),
        Task("logs", "logs_syzkaller_development", "development", _syzkaller(held_out=False), _log_rows),
        Task("logs", "logs_samples", "development", lambda given: logs.read_folder(LOGS), _log_rows),
        Task("logs", "logs_public", "development", lambda given: logs.read_folder(given.data("oops")), _log_rows),
        Task("grading", "grading_held_out", "held_out", _labelled("points_held_out"), _point_rows, 20),
        Task("grading", "grading_development", "development", _labelled("points"), _point_rows, 20),
        Task("grading", "grading_class", "held_out", _class, _class_rows, 3),
        Task("grading", "grading_human", "held_out", _marked, _mark_rows, 100),
        Task("lab", "lab_reading_held_out", "held_out", _exercises(held_out=True), _lab_rows),
        Task("lab", "lab_reading_development", "development", _exercises(held_out=False), _lab_rows, 80),
        Task("lab", "lab_computing", "development", _exercises(), lambda given, items: lab.computed(items)),
        Task("choice", "choice_keys", "development", _keyed, lambda given, items: quiz.key_rows(items)),
        Task("choice", "choice_bank", "development", _bank_choices, _choice_rows, 8, needs_chat=True),
        Task("choice", "choice_outside", "outside", _outside_choices, _choice_rows, 4, needs_chat=True),
        Task("speed", "speed_start", "machine", lambda given: (None,), lambda given, items: _start()),
        Task("speed", "speed_book", "machine", _timed_book, _waiting, 10),
        Task("speed", "speed_kernel", "machine", _timed_kernel, _waiting, 10),
        Task("speed", "speed_search", "machine", _functions("held_out"), _timed_search),
        Task("speed", "speed_quiz", "machine", _timed_quiz, _timed_verdicts, 4),
        Task("speed", "speed_memory", "machine", lambda given: (None,), _memory),
    )


# -- the book


def _pages(*names: str) -> Callable[[Given], Sequence[Any]]:
    def items(given: Given) -> Sequence[Any]:
        paths = [path for name in names for path in sorted((EVAL / "textbook").glob(f"{name}.jsonl"))]
        return [one for path in paths for one in textbook.read_questions(path) if one.is_answerable]

    return items


def _off_topic(given: Given) -> Sequence[Any]:
    """Every second question: the others fitted the confidence and the pair encoder."""
    return textbook.read_questions(EVAL / "textbook" / "off_topic.jsonl")[1::2]


def _near_topic(given: Given) -> Sequence[Any]:
    return [one for one in textbook.read_questions(EVAL / "textbook" / "ablation.jsonl") if not one.is_answerable]


def _book_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    return textbook.rows(given.parts.textbook, items)


def _outside_pages(given: Given) -> Sequence[Any]:
    return textbook.read_questions(given.data("books/pageqa.jsonl"))


def _material_pages(given: Given) -> Sequence[Any]:
    return textbook.read_questions(EVAL / "material" / "pages.jsonl")


def _outside_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    """The same search over other documents, each alone, as somebody has one who brings it."""
    for book, asked in groupby(items, lambda one: one.book):  # in their order: a run goes on by their number
        settings = given.parts.settings.model_copy(update={"index_dir": index_of(given, book), "index_repo": ""})
        yield from textbook.rows(Parts(settings).textbook, list(asked))


def index_of(given: Given, book: str) -> Path:
    """The folder of an index of a document of others, made where it is not there: some minutes for 600 pages.

    It is kept beside the cache, and made anew after a change of the code that reads or cuts a document.
    """
    cache = given.parts.settings.cache_dir
    index = cache / "outside" / f"{given.parts.encoder.revision}-{readers_digest()}" / book
    if book not in _documents_in(index / COLLECTION):
        build_textbook(index / COLLECTION, [given.data(f"books/{book}")], given.parts.encoder, cache_dir=cache)
    return index


@functools.cache
def readers_digest() -> str:
    """Changes with the code that makes chunks of a document."""
    folder = ROOT / "osrag" / "book"
    files = sorted(file for pattern in READERS for file in folder.glob(pattern))
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def _documents_in(folder: Path) -> set[str]:
    try:
        return {document.name for document in read_manifest(folder).documents}
    except BadIndex:
        return set()


def _key_points(part: str) -> Callable[[Given], Sequence[Any]]:
    return lambda given: [one for one in _all_key_points() if one.set == part]


def _all_key_points() -> list[answers.KeyPoints]:
    return read_rows(EVAL / "textbook" / "key_points.jsonl", answers.KeyPoints, needs="question and points")


def _answer_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    return answers.rows(items, partial(answer, given.parts), given.parts.checker)


def _unprepared_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    with without_prepared(given.parts.textbook):
        yield from _answer_rows(given, items)


class without_prepared:
    """A search that knows no prepared answers, while it lasts."""

    def __init__(self, search: TextbookSearch) -> None:
        self._search, self._held = search, search.answers

    def __enter__(self) -> None:
        self._search.answers = None

    def __exit__(self, *_: object) -> None:
        self._search.answers = self._held


def _pairs(part: str) -> Callable[[Given], Sequence[Any]]:
    path = EVAL / "textbook" / "prepared_pairs.jsonl"
    return lambda given: [one for one in read_rows(path, prepared.Pair, needs="id and question") if one.set == part]


def _pair_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    held = given.parts.textbook.answers
    if held is None:
        raise BadInput("the index has no prepared answers")

    def match(text: str, language: Language) -> str | None:
        found = held.match(text, language)
        return found.id if found else None

    read = read_rows(EVAL / "textbook" / "prepared_read.jsonl", prepared.Read, needs="id, question and fits")
    return prepared.rows(items, match, prepared.fits_of(read))


# -- the kernel


def _functions(*names: str) -> Callable[[Given], Sequence[Any]]:
    return lambda given: [one for name in names for one in kernel.read_questions(EVAL / "kernel" / f"{name}.jsonl")]


def _outside_functions(given: Given) -> Sequence[Any]:
    return kernel.read_questions(given.data("kernel/questions.jsonl"))


def _no_code(given: Given) -> Sequence[Any]:
    """Every second question: the others fitted the confidence."""
    both = ("kernel/absent.jsonl", "textbook/off_topic.jsonl")
    return [one for name in both for one in kernel.read_questions(EVAL / name)][1::2]


def _kernel_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    return kernel.rows(given.parts.kernel, items)


def _sets(*, held_out: bool) -> Callable[[Given], Sequence[Any]]:
    path = EVAL / "kernel" / "sets.jsonl"
    return lambda given: [one for one in kernel_sets.read_sets(path) if one.held_out == held_out]


def _set_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    return kernel_sets.rows(given.parts.kernel_source, given.parts.encoder, items)


def _syzkaller(*, held_out: bool) -> Callable[[Given], Sequence[Any]]:
    def items(given: Given) -> Sequence[Any]:
        path = given.data("oops/syzkaller_dev.jsonl")
        return [one for one in read_rows(path, logs.LogReport, needs="id and text") if one.held_out == held_out]

    return items


def _log_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    store = given.parts.kernel.store
    return logs.rows(items, lambda name: bool(store.functions_named(name)))


# -- both


def _claims(given: Given) -> Sequence[Any]:
    return read_rows(EVAL / "claims.jsonl", claims.Claim, needs="source, chunk_ids, claim and label")


def _claim_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    parts = given.parts
    return claims.rows(items, parts.textbook.collection, parts.kernel, parts.checker)


def _course_questions(given: Given) -> Sequence[Any]:
    return [
        *(one.question for one in _pages("held_out")(given)),
        *(one.question for one in _key_points("held_out")(given)),
    ]


def _kernel_questions(given: Given) -> Sequence[Any]:
    return [
        *(one.question for one in _functions("held_out")(given)),
        *(one.question for one in _sets(held_out=True)(given)),
    ]


def _routed(wanted: SourceName) -> Callable[[Given, Sequence[Any]], Iterator[Row]]:
    return lambda given, items: _place_rows(given, routing.placed(items, wanted))


def _students_questions(given: Given) -> Sequence[Any]:
    rows = read_rows(EVAL / "routing.jsonl", routing.PlacedQuestion, needs="question and source")
    return [one for one in rows if one.held_out]


def _place_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    return routing.rows(given.parts, items)


# -- the quiz


def _labelled(name: str) -> Callable[[Given], Sequence[Any]]:
    path = EVAL / "quiz" / f"{name}.jsonl"
    return lambda given: read_rows(path, quiz.LabelledAnswer, needs="id, language, answer and said")


def _point_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    return quiz.point_rows(_silent(given), items, shipped_bank().exercises())


def _class(given: Given) -> Sequence[Any]:
    path = EVAL / "quiz" / "marked_held_out.jsonl"
    return read_rows(path, quiz.MarkedQuestion, needs="question, rubric and answers")


def _class_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    return quiz.class_rows(_silent(given), items)


def _silent(given: Given) -> Judge:
    """The judge without the chat model."""
    parts = given.parts
    return Judge(parts.textbook, parts.grader, None, parts.settings)


def _marked(given: Given) -> Sequence[Any]:
    return quiz.set_aside(quiz.read_marked(given.data("asag/mohler_dataset_edited.csv")))[1]


def _mark_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    return quiz.marked_rows(_silent(given), items)


def _keyed(given: Given) -> list[Exercise]:
    return [one for one in shipped_bank().exercises() if one.has_key]


def _bank_choices(given: Given) -> Sequence[Any]:
    return quiz.sampled([one for one in _keyed(given) if one.is_choice], CHOICES)


def _outside_choices(given: Given) -> Sequence[Any]:
    """The choice questions of others that somebody found stated in the course book."""
    covered = EVAL / "quiz" / "covered.jsonl"
    known = {row.id.rpartition(":")[0] for row in read_rows(covered, quiz.Coverage, needs="id and label")}
    paths = [path for path in sorted(given.data("questions").glob("*.jsonl")) if path.stem in known]
    return [one for path in paths for one in quiz.read_bank(path, covered=covered).choice]


def _choice_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    return quiz.choice_rows(given.parts.judge, items)


# -- the lab


def _exercises(*, held_out: bool | None = None) -> Callable[[Given], Sequence[Any]]:
    path = EVAL / "lab" / "questions.jsonl"
    return lambda given: [one for one in lab.read_questions(path) if held_out is None or one.held_out == held_out]


def _lab_rows(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    encoder: Encoder = given.parts.checker
    return lab.rows(items, lambda text: read(text, encoder))


# -- the machine


def _start() -> Iterator[Row]:
    yield speed.start_row()


def _timed_book(given: Given) -> Sequence[Any]:
    rows = quiz.sampled([one for one in _all_key_points() if one.set == "dev"], 30)
    return [Question(one.question, history=tuple(Turn(text, "") for text in one.history)) for one in rows]


def _timed_kernel(given: Given) -> Sequence[Any]:
    return [Question(one.question, source="kernel") for one in quiz.sampled(_sets(held_out=False)(given), 30)]


def _waiting(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    given.parts.prepare()
    return speed.waits(partial(answer, given.parts), items)


def _timed_search(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    """With another number of hits than the ranks are measured with, so that no result comes from the cache."""
    return kernel.rows(given.parts.kernel, items, k=max(kernel.CUTS) + 1)


def _timed_quiz(given: Given) -> Sequence[Any]:
    bank = shipped_bank().exercises()
    return [next(one for one in bank if one.type == kind and one.language == language)
            for kind in BUSY_TYPES for language in ("zh", "en")]  # fmt: skip


def _timed_verdicts(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    given.parts.judge.warm_up()
    return speed.verdicts(given.parts.judge, items)


def _memory(given: Given, items: Sequence[Any]) -> Iterator[Row]:
    given.parts.prepare()
    yield speed.memory_row()
