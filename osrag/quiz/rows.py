"""Rows of a question bank as people write them, to `QuizItem`.

Two shapes: a row with both languages under `zh` and `en` (as in `examples/quiz`), and a flat
row of one language, from JSON, CSV or an API call. Flat rows are read leniently: options may
be a list or an object, the key a letter, a word, or a list; field names may be camelCase.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from osrag.errors import BadInput
from osrag.quiz.aliases import FIELDS, KINDS, LANGUAGES
from osrag.quiz.blanks import BLANK, split_key
from osrag.quiz.key import in_order, key_type, read_choice, read_truth
from osrag.quiz.rubric import plain_text, read_rubric
from osrag.quiz.types import TYPES, Option, QuestionType, QuizItem
from osrag.text import language_of

MAX_QUESTION = 8000
MAX_OPTIONS = 60


class _Wording(BaseModel):
    """One language of a combined row."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(min_length=1)
    options: list[Any] | dict[str, Any] = []
    knowledge_point: str = ""
    explanation: str = ""
    reference: str = ""
    rubric: list[Any] = []
    page_quote: str = ""


class _Combined(BaseModel):
    """A row with both languages, which share everything but the words."""

    model_config = ConfigDict(extra="forbid")

    id: str = Field(min_length=1)
    chapter: int | str = ""
    section: str = ""
    type: str
    difficulty: str = ""
    answer: list[str] | str = []
    check: str = ""
    zh: _Wording | None = None
    en: _Wording | None = None


def read_row(row: Mapping[str, Any], *, default_id: str = "") -> tuple[QuizItem, ...]:
    """One item a language. Raises BadInput that names the field and what was seen."""
    if not isinstance(row, Mapping):
        raise BadInput(f"a question is an object with fields, got {type(row).__name__}")
    if isinstance(row.get("zh"), Mapping) or isinstance(row.get("en"), Mapping):
        return _combined(row)
    return (_flat(row, default_id),)


def _combined(row: Mapping[str, Any]) -> tuple[QuizItem, ...]:
    try:
        found = _Combined.model_validate(dict(row))
    except ValidationError as error:
        raise BadInput(_first(error)) from error
    common = {"id": found.id, "chapter": found.chapter, "section": found.section, "difficulty": found.difficulty}
    items = []
    for language in ("zh", "en"):
        words = found.zh if language == "zh" else found.en
        if words is not None:
            flat = {**common, **words.model_dump(), "type": found.type, "answer": found.answer, "language": language}
            items.append(_flat(flat, found.id))
    return tuple(items)


def _first(error: ValidationError) -> str:
    first = error.errors()[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _flat(row: Mapping[str, Any], default_id: str) -> QuizItem:
    fields = _renamed(row)
    question = plain_text(fields.get("question"))
    if not question:
        raise BadInput("question: is empty")
    if len(question) > MAX_QUESTION:
        raise BadInput(f"question: {len(question)} characters, at most {MAX_QUESTION}")
    options = _options(fields)
    kind = _type(fields, question, options)
    answer = _answer(fields.get("answer"), kind, options, question)
    reference = plain_text(fields.get("reference"))
    if kind in ("short_answer", "programming"):
        reference = reference or (" ".join(answer) if answer else "")
        answer = ()
    kind = key_type(kind, len(answer))
    named = plain_text(fields.get("language")).lower()
    if named and named not in LANGUAGES:
        raise BadInput(f"language: {named!r} is neither zh nor en")
    return QuizItem(
        type=kind,
        language=LANGUAGES[named] if named else language_of(question),
        question=question,
        options=options,
        answer=answer,
        reference=reference,
        rubric=read_rubric(fields.get("rubric")),
        id=plain_text(fields.get("id")) or default_id,
        chapter=plain_text(fields.get("chapter")),
        section=plain_text(fields.get("section")),
        difficulty=plain_text(fields.get("difficulty")).lower(),
        knowledge_point=plain_text(fields.get("knowledge_point")),
        explanation=plain_text(fields.get("explanation")),
        page_quote=plain_text(fields.get("page_quote")),
    )


def _renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by our names; `A` to `H` as columns are options."""
    out: dict[str, Any] = {}
    letters: dict[str, Any] = {}
    for name, value in row.items():
        plain = str(name).strip()
        if re.fullmatch(r"(?:option[_ ]?)?[A-H]", plain, re.I) and plain[-1].isalpha():
            if plain_text(value):
                letters[plain[-1].upper()] = value
            continue
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain).lower()
        known = FIELDS.get(snake) or FIELDS.get(plain.lower()) or snake
        if out.get(known) in (None, "", [], {}):
            out[known] = value
    if letters and not out.get("options"):
        out["options"] = letters
    return out


def _options(fields: Mapping[str, Any]) -> tuple[Option, ...]:
    value = fields.get("options")
    if isinstance(value, str):
        value = _from_cell(value)
    if not value:
        return ()
    if isinstance(value, Mapping):
        pairs = [(str(key).strip(), plain_text(text)) for key, text in value.items() if text is not None]
    elif isinstance(value, Sequence):
        pairs = [_option(place, one) for place, one in enumerate(value)]
    else:
        raise BadInput(f"options: a list or an object, got {type(value).__name__}")
    if len(pairs) > MAX_OPTIONS:
        raise BadInput(f"options: {len(pairs)}, at most {MAX_OPTIONS}")
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise BadInput(f"options: a key is used twice in {', '.join(keys)}")
    empty = next((key for key, text in pairs if not text), None)
    if empty is not None:
        raise BadInput(f"options.{empty}: is empty")
    return tuple(Option(key, text) for key, text in pairs)


def _option(place: int, value: Any) -> tuple[str, str]:
    letter = chr(65 + place) if place < 26 else str(place + 1)
    if isinstance(value, Mapping):
        text = plain_text(value.get("text") or value.get("content") or value.get("label"))
        return plain_text(value.get("key") or value.get("id")) or letter, text
    text = plain_text(value)
    labelled = re.match(r"^\s*[(（]?([A-Z])\s*[)）.、:：．]\s*(\S.*)$", text, re.S)
    # "A. pipe" carries its own key; "I. e. …" at place 0 does not.
    return (labelled[1], labelled[2].strip()) if labelled and labelled[1] == letter else (letter, text)


def _from_cell(cell: str) -> Any:
    """Options from one cell of a table: JSON, or `A. …` a line, or parts between bars."""
    text = cell.strip()
    if text[:1] in "[{":
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise BadInput(f"options: not JSON ({error.msg} at character {error.pos})") from error
    parts = re.split(r"\s*[|｜\n]\s*", text) if re.search(r"[|｜\n]", text) else re.split(r"\s*[;；]\s*", text)
    return [part for part in parts if part]


def _type(fields: Mapping[str, Any], question: str, options: Sequence[Option]) -> QuestionType:
    named = plain_text(fields.get("type")).lower()
    if named:
        kind = KINDS.get(named) or KINDS.get(named.replace(" ", "_").replace("-", "_"))
        if kind is None:
            raise BadInput(f"type: {named!r} is not known", hint=f"use one of {', '.join(TYPES)}")
        return kind
    answer = fields.get("answer")
    if options:
        return "multiple_choice" if len(read_choice(plain_text(answer), options)) > 1 else "single_choice"
    if isinstance(answer, bool) or (isinstance(answer, str) and len(answer) <= 5 and read_truth(answer)):
        return "true_false"
    return "fill_blank" if BLANK.search(question) else "short_answer"


def _answer(value: Any, kind: QuestionType, options: Sequence[Option], question: str) -> tuple[str, ...]:
    """The key in our form. Raises BadInput for a key that is no option."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            value = json.loads(value)
        except json.JSONDecodeError:
            value = value.strip()
    if isinstance(value, list | tuple):
        entries = [plain_text(part) for part in value]
    else:
        entries = [plain_text(value)] if plain_text(value) else []
    if not any(entries):
        return ()
    match kind:
        case "single_choice" | "multiple_choice":
            return _choice_key(entries, kind, options)
        case "true_false":
            return _truth_key(entries, options)
        case "fill_blank":
            blanks = len(BLANK.findall(question))
            return tuple(entries) if len(entries) > 1 else split_key(entries[0], blanks)
        case _:
            return tuple(entries)


def _choice_key(entries: Sequence[str], kind: QuestionType, options: Sequence[Option]) -> tuple[str, ...]:
    if not options:
        raise BadInput(f"options: a {kind} has none", hint='give "options", or another "type"')
    keys: set[str] = set()
    for entry in entries:
        found = read_choice(entry, options)
        if not found:
            names = ", ".join(option.key for option in options)
            raise BadInput(f"answer: the key {entry!r} is no option", hint=f"the options are {names}")
        keys |= found
    return in_order(keys, QuizItem(kind, "en", "", options=tuple(options)))


def _truth_key(entries: Sequence[str], options: Sequence[Option]) -> tuple[str, ...]:
    truth = read_truth(entries[0])
    if not truth and options:
        keys = read_choice(entries[0], options)
        texts = [option.text for option in options if option.key in keys]
        truth = read_truth(texts[0]) if len(texts) == 1 else ""
    if not truth:
        raise BadInput(f"answer: {entries[0]!r} is neither true nor false", hint="write T or F")
    return (truth,)
