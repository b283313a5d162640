"""Check the question bank, the development and the readers' questions against the book: `python tools/bankcheck.py`.

Reads `examples/quiz/chNN.jsonl`, `examples/eval/textbook/chNN.jsonl` (`--chapter N` looks at one chapter of these)
and the questions of readers and examiners, `examples/textbook/*.asks.jsonl`.
Every slip is one line on standard error; the counts go to standard output. Exit code 1 when there is a slip.
"""

import argparse
import ast
import builtins
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar

from booktext import LANGUAGES, Language, every_paragraph, is_anywhere, is_in_book, section_count, straight
from pydantic import BaseModel, ConfigDict, ValidationError

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.book.asks import AskRow  # noqa: E402
from osrag.errors import BadInput  # noqa: E402
from osrag.lab.catalog import kind_named  # noqa: E402
from osrag.lab.kind import Value  # noqa: E402
from osrag.lab.solve import solve  # noqa: E402
from osrag.text import folded  # noqa: E402

QUIZ = ROOT / "examples" / "quiz"
EVAL = ROOT / "examples" / "eval" / "textbook"
ASKS = ROOT / "examples" / "textbook" / "os-course.asks.jsonl"
FACTS = ROOT / "examples" / "textbook" / "os-course-facts.asks.jsonl"
CHAPTER_FILE = re.compile(r"ch(\d\d)\.jsonl")

LEAST_QUESTIONS = 24  # a chapter
LEAST_EVAL: dict[tuple[Language, Language], int] = {
    ("zh", "zh"): 5,
    ("en", "en"): 5,
    ("zh", "en"): 3,
    ("en", "zh"): 3,
}  # question, book
ALIKE = 0.8  # Jaccard similarity of character 3-grams
COPIED = 0.6  # a development question this close to its quote is not a student's question
BUILTINS = ("abs", "all", "any", "enumerate", "len", "list", "max", "min", "range", "round", "set", "sorted", "sum")


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


Row = TypeVar("Row", bound=BaseModel)


class Option(Strict):
    key: str
    text: str


class RubricPoint(Strict):
    point: str
    points: int


class Wording(Strict):
    """A question in one language."""

    question: str
    options: list[Option]
    knowledge_point: str
    explanation: str
    reference: str
    rubric: list[RubricPoint]
    page_quote: str


class Question(Strict):
    """A row of the bank."""

    id: str
    chapter: int
    section: str
    type: Literal["single_choice", "multiple_choice", "true_false", "fill_blank", "short_answer", "programming"]
    difficulty: Literal["easy", "medium", "hard"]
    answer: list[str]
    check: str
    structure: list[dict[str, str | int]] = []  # of a program; read by osrag/quiz/programs/program.py
    zh: Wording
    en: Wording

    def wording(self, language: Language) -> Wording:
        return self.zh if language == "zh" else self.en


class EvalQuestion(Strict):
    """A development question for retrieval."""

    id: str
    language: Language
    book_language: Language
    question: str
    quote: str
    also: list[str] = []  # of other pages, or of the other edition: each answers the question alone


class Slips:
    """What was found, in order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def add(self, where: str, what: str) -> None:
        self.lines.append(f"{where}: {what}")


# ---------------------------------------------------------------- one question


def lab(kind: str, ask: str = "", /, **given: object) -> Value:
    """What the lab computes for an exercise; `ask` is the kind's usual one where it is not said.

    Raises ValueError with a sentence for what is missing or wrong.
    """
    solved = solve(kind_named(kind), given | ({"ask": ask} if ask else {}))
    if solved.answer is None:
        raise ValueError("; ".join([*solved.missing, *(fault.sentence("en") for fault in solved.faults)]))
    return solved.answer.value


def close(value: float, expected: float, tolerance: float = 0.005) -> bool:
    """Whether a computed value is what the book prints, rounded."""
    return abs(value - expected) <= tolerance


def check_expression(expression: str) -> str:
    """What is wrong with a `check`; empty when it is True and uses only arithmetic and the lab.

    For example `lab('rr', 'average_turnaround', jobs='P1 0 6; P2 1 4', quantum=2) == 9`.
    """
    allowed = {"lab": lab, "close": close} | {name: getattr(builtins, name) for name in BUILTINS}
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError as error:
        return f"check cannot be read: {error.msg}"
    nodes = list(ast.walk(tree))
    local = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    local |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    if unknown := used - local - set(allowed):
        return f"check uses {', '.join(sorted(unknown))}"
    if any(isinstance(node, ast.Attribute) and node.attr.startswith("_") for node in nodes):
        return "check reaches for a private attribute"
    if not any(isinstance(node, ast.Compare | ast.Call) for node in nodes):
        return "check computes nothing"
    try:
        value = eval(compile(tree, "check", "eval"), {"__builtins__": {}, **allowed})
    except (ArithmeticError, BadInput, LookupError, TypeError, ValueError) as error:
        return f"check raises {error!r}"
    return "" if value is True else f"check gives {value!r}"


def check_question(question: Question, slips: Slips) -> None:
    """Everything that can be said about a row alone."""
    where = question.id
    if not re.fullmatch(rf"ch{question.chapter:02}-\d{{3}}", where):
        slips.add(where, "the id is not of this chapter")
    _check_answer(question, slips)
    if question.check and (wrong := check_expression(question.check)):
        slips.add(where, wrong)
    for language in LANGUAGES:
        _check_wording(question, language, slips)
    section = re.fullmatch(rf"{question.chapter}\.(\d+)", question.section)
    if section is None or not 1 <= int(section[1]) <= section_count(question.chapter, "zh"):
        slips.add(where, f"section {question.section!r} is not in the chapter")


def _check_answer(question: Question, slips: Slips) -> None:
    keys, answer = [option.key for option in question.zh.options], question.answer
    match question.type:
        case "single_choice" | "multiple_choice":
            if keys != ["A", "B", "C", "D"] or [option.key for option in question.en.options] != keys:
                slips.add(question.id, "options are not A to D in both languages")
            if sorted(set(answer)) != answer or not set(answer) <= set(keys):
                slips.add(question.id, f"key {answer} is not among the options, or not in order")
            if (question.type == "single_choice") != (len(answer) == 1):
                slips.add(question.id, f"{len(answer)} keys in a {question.type}")
        case "true_false":
            if answer not in (["T"], ["F"]) or keys:
                slips.add(question.id, "a true_false has the key T or F and no options")
        case "fill_blank":
            for language in LANGUAGES:
                blanks = len(re.findall(r"_{3,}", question.wording(language).question))
                if blanks != len(answer) or not all(answer):
                    slips.add(question.id, f"{language}: {blanks} blanks (____), {len(answer)} answers")
        case "short_answer" | "programming":
            if answer or keys:
                slips.add(question.id, "an open question has neither key nor options")


def _check_wording(question: Question, language: Language, slips: Slips) -> None:
    words, where = question.wording(language), f"{question.id} {language}"
    for name in ("question", "knowledge_point", "explanation"):
        if not getattr(words, name).strip():
            slips.add(where, f"{name} is empty")
    if len({straight(option.text) for option in words.options}) != len(words.options):
        slips.add(where, "two options are the same")
    quote = words.page_quote
    if not is_in_book(quote, question.chapter, language):
        slips.add(where, f"quote is not in the chapter: {quote[:70]!r}")
    elif len(quote) < 20 if language == "zh" else len(quote.split()) < 12:
        slips.add(where, f"quote is short: {quote!r}")
    if question.type in ("short_answer", "programming"):
        total = sum(point.points for point in words.rubric)
        if not (2 <= len(words.rubric) <= 5 and 4 <= total <= 10):
            slips.add(where, f"rubric of {len(words.rubric)} points worth {total}")
        if not words.reference.strip():
            slips.add(where, "no model answer")
        if [point.points for point in question.zh.rubric] != [point.points for point in question.en.rubric]:
            slips.add(where, "the rubrics of the two languages differ")
    elif words.rubric:
        slips.add(where, "only an open question has a rubric")


# ---------------------------------------------------------------- many questions


def grams(text: str) -> frozenset[str]:
    """Character 3-grams of the letters and digits of a text."""
    letters = "".join(sign for sign in straight(text).casefold() if sign.isalnum())
    return frozenset(letters[i : i + 3] for i in range(max(1, len(letters) - 2)))


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard similarity."""
    return len(one & other) / len(one | other)


def check_alike(texts: Iterable[tuple[str, str]], slips: Slips) -> None:
    """No two of the (id, text) pairs may say the same."""
    seen: list[tuple[str, frozenset[str]]] = []
    for where, text in texts:
        mine = grams(text)
        for other, theirs in seen:
            if (score := similarity(mine, theirs)) > ALIKE:
                slips.add(where, f"is like {other} ({score:.2f})")
        seen.append((where, mine))


def check_spread(chapter: int, questions: Sequence[Question], slips: Slips) -> None:
    """Enough questions, and no favourite key."""
    where = f"ch{chapter:02}"
    if len(questions) < LEAST_QUESTIONS:
        slips.add(where, f"{len(questions)} questions, fewer than {LEAST_QUESTIONS}")
    keys = Counter(question.answer[0] for question in questions if question.type == "single_choice")
    if keys and (set(keys) != set("ABCD") or max(keys.values()) > 0.5 * keys.total()):
        slips.add(where, f"single-choice keys are badly spread: {dict(sorted(keys.items()))}")
    truths = {question.answer[0] for question in questions if question.type == "true_false"}
    if len(truths) == 1:
        slips.add(where, f"every true_false is {truths.pop()}")


def check_eval(chapter: int, rows: Sequence[EvalQuestion], slips: Slips) -> None:
    """The development questions of a chapter."""
    counts = Counter((row.language, row.book_language) for row in rows)
    for pair, least in LEAST_EVAL.items():
        if counts[pair] < least:
            slips.add(f"ch{chapter:02}", f"{counts[pair]} development questions {'→'.join(pair)}, fewer than {least}")
    for row in rows:
        if not row.id.startswith(f"os-ch{chapter:02}-"):
            slips.add(row.id, "the id is not of this chapter")
        if not is_in_book(row.quote, chapter, row.book_language):
            slips.add(row.id, f"quote is not in the {row.book_language} chapter: {row.quote[:70]!r}")
        for other in row.also:
            if not is_anywhere(other):
                slips.add(row.id, f"further quote is not in the book: {other[:70]!r}")
        if len({straight(quote) for quote in (row.quote, *row.also)}) != 1 + len(row.also):
            slips.add(row.id, "the same quote twice")
        if similarity(grams(row.question), grams(row.quote)) > COPIED:
            slips.add(row.id, "the question copies its quote")


# ---------------------------------------------------------------- files


def read(path: Path, model: type[Row], slips: Slips) -> Iterator[Row]:
    """The rows of a file that fit the schema; the others are slips."""
    for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1):
        try:
            yield model.model_validate_json(line)
        except ValidationError as error:
            first = error.errors()[0]
            slips.add(f"{path.name}:{number}", f"{'.'.join(map(str, first['loc']))}: {first['msg']}")


def files_of(folder: Path, only: Sequence[int]) -> dict[int, Path]:
    """The files of a folder by chapter."""
    found = {int(match[1]): path for path in folder.glob("ch*.jsonl") if (match := CHAPTER_FILE.fullmatch(path.name))}
    return {chapter: found[chapter] for chapter in sorted(found) if not only or chapter in only}


def check_bank(only: Sequence[int], slips: Slips) -> list[Question]:
    """All questions of the bank that could be read."""
    bank: list[Question] = []
    for chapter, path in files_of(QUIZ, only).items():
        questions = list(read(path, Question, slips))
        for question in questions:
            check_question(question, slips)
            if question.chapter != chapter:
                slips.add(question.id, f"stands in {path.name}")
        check_spread(chapter, questions, slips)
        bank += questions
    for repeated in [name for name, times in Counter(question.id for question in bank).items() if times > 1]:
        slips.add(repeated, "the id is used twice")
    for language in LANGUAGES:
        texts = ((f"{question.id} {language}", _whole(question.wording(language))) for question in bank)
        check_alike(texts, slips)
    return bank


def check_development(only: Sequence[int], slips: Slips) -> list[EvalQuestion]:
    """All development questions that could be read."""
    everything: list[EvalQuestion] = []
    for chapter, path in files_of(EVAL, only).items():
        rows = list(read(path, EvalQuestion, slips))
        check_eval(chapter, rows, slips)
        everything += rows
    for repeated in [name for name, times in Counter(row.id for row in everything).items() if times > 1]:
        slips.add(repeated, "the id is used twice")
    for language in LANGUAGES:
        check_alike(((row.id, row.question) for row in everything if row.language == language), slips)
    return everything


@cache
def _letters() -> str:
    """Letters and digits of both editions, in order."""
    return folded("\n".join(every_paragraph()))


def check_asks(path: Path, slips: Slips) -> list[AskRow]:
    """All rows of questions that could be read: a quote from each edition a row, a fact in each language or none.

    Two points may share a question: then both pages answer it.
    """
    rows: list[AskRow] = []
    for number, row in enumerate(read(path, AskRow, slips), start=1):
        where = f"{path.name} row {number}"
        rows.append(row)
        if len(row.quotes) != len(LANGUAGES):
            slips.add(where, f"{len(row.quotes)} quotes, where each edition has one")
        for quote in row.quotes:
            if folded(quote) not in _letters():  # cells of a table and blanks are set otherwise in print
                slips.add(where, f"quote is not in the book: {quote[:70]!r}")
        questions = [*row.asks, *(question for question, _ in row.facts)]
        if len({straight(question) for question in questions}) != len(questions):
            slips.add(where, "the same question twice")
        if row.facts and len(row.facts) != len(LANGUAGES):
            slips.add(where, f"{len(row.facts)} facts, where each language has one")
    return rows


def _whole(words: Wording) -> str:
    return " ".join([words.question, *sorted(option.text for option in words.options)])


def report(bank: Sequence[Question], development: Sequence[EvalQuestion], asks: Sequence[AskRow] = ()) -> str:
    """Counts as text."""
    lines = []
    for chapter in sorted({question.chapter for question in bank}):
        mine = [question for question in bank if question.chapter == chapter]
        kinds = Counter(question.type for question in mine)
        checked = sum(bool(question.check) for question in mine)
        each = ", ".join(f"{kind} {kinds[kind]}" for kind in sorted(kinds))
        lines.append(f"ch{chapter:02}: {len(mine)} questions, {checked} recomputed ({each})")
    keys = Counter(question.answer[0] for question in bank if question.type == "single_choice")
    levels = Counter(question.difficulty for question in bank)
    pairs = Counter(f"{row.language}→{row.book_language}" for row in development)
    lines += [
        f"bank: {len(bank)} questions; keys {dict(sorted(keys.items()))}; {dict(sorted(levels.items()))}",
        f"development: {len(development)} questions; {dict(sorted(pairs.items()))}",
        f"readers: {sum(len(row.asks) for row in asks)} questions about {sum(bool(row.asks) for row in asks)} points",
        f"examiners: {sum(bool(row.facts) for row in asks)} facts",
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description="Check the question bank against the book.")
    parser.add_argument("--chapter", type=int, action="append", default=[], help="only this chapter")
    only = parser.parse_args().chapter
    slips = Slips()
    bank = check_bank(only, slips)
    development = check_development(only, slips)
    asks = [row for path in (ASKS, FACTS) for row in check_asks(path, slips)]
    print(report(bank, development, asks))
    for line in slips.lines:
        print(line, file=sys.stderr)
    return 1 if slips.lines or not bank else 0


if __name__ == "__main__":
    raise SystemExit(main())
