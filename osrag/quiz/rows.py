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
from osrag.quiz.blanks import BLANK, split_key
from osrag.quiz.key import in_order, key_type, read_choice, read_truth
from osrag.quiz.types import TYPES, Option, QuestionType, QuizItem, RubricPoint
from osrag.text import language_of
from osrag.types import Language

MAX_QUESTION = 8000
MAX_OPTIONS = 60
_LANGUAGES: dict[str, Language] = {
    "zh": "zh",
    "chinese": "zh",
    "中文": "zh",
    "cn": "zh",
    "zh-cn": "zh",
    "en": "en",
    "english": "en",
    "英文": "en",
}
_TYPES: dict[str, QuestionType] = {
    **{name: name for name in TYPES},
    "single": "single_choice",
    "choice": "single_choice",
    "multiple-choice": "single_choice",
    "mcq": "single_choice",
    "单选": "single_choice",
    "单选题": "single_choice",
    "选择题": "single_choice",
    "radio": "single_choice",
    "multiple": "multiple_choice",
    "multi": "multiple_choice",
    "multi_choice": "multiple_choice",
    "多选": "multiple_choice",
    "多选题": "multiple_choice",
    "multiple_answer": "multiple_choice",
    "truefalse": "true_false",
    "tf": "true_false",
    "judge": "true_false",
    "assertion": "true_false",
    "boolean": "true_false",
    "判断": "true_false",
    "判断题": "true_false",
    "true/false": "true_false",
    "blank": "fill_blank",
    "fill": "fill_blank",
    "fill_in": "fill_blank",
    "fill-in-the-blank": "fill_blank",
    "fill_in_the_blank": "fill_blank",
    "cloze": "fill_blank",
    "填空": "fill_blank",
    "填空题": "fill_blank",
    "short": "short_answer",
    "open": "short_answer",
    "open-ended": "short_answer",
    "essay": "short_answer",
    "subjective": "short_answer",
    "text": "short_answer",
    "简答": "short_answer",
    "简答题": "short_answer",
    "问答题": "short_answer",
    "code": "programming",
    "编程题": "programming",
}
_NAMES = {
    "question_type": "type",
    "questiontype": "type",
    "format": "type",
    "stem": "question",
    "title": "question",
    "题目": "question",
    "题型": "type",
    "选项": "options",
    "choices": "options",
    "key": "answer",
    "correct_answer": "answer",
    "correctanswer": "answer",
    "correct": "answer",
    "答案": "answer",
    "reference_answer": "reference",
    "referenceanswer": "reference",
    "model_answer": "reference",
    "desired_answer": "reference",
    "参考答案": "reference",
    "评分标准": "rubric",
    "章": "chapter",
    "节": "section",
    "难度": "difficulty",
    "知识点": "knowledge_point",
    "knowledgepoint": "knowledge_point",
    "解析": "explanation",
    "lang": "language",
    "pagequote": "page_quote",
}
KNOWN = frozenset(
    [
        "id",
        "type",
        "language",
        "question",
        "options",
        "answer",
        "reference",
        "rubric",
        "chapter",
        "section",
        "difficulty",
        "knowledge_point",
        "explanation",
        "page_quote",
        "check",
        "zh",
        "en",
    ]
)


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
    question = _text(fields.get("question"))
    if not question:
        raise BadInput("question: is empty")
    if len(question) > MAX_QUESTION:
        raise BadInput(f"question: {len(question)} characters, at most {MAX_QUESTION}")
    options = _options(fields)
    kind = _type(fields, question, options)
    answer = _answer(fields.get("answer"), kind, options, question)
    reference = _text(fields.get("reference"))
    if kind in ("short_answer", "programming"):
        reference = reference or (" ".join(answer) if answer else "")
        answer = ()
    kind = key_type(kind, len(answer))
    named = _text(fields.get("language")).lower()
    if named and named not in _LANGUAGES:
        raise BadInput(f"language: {named!r} is neither zh nor en")
    return QuizItem(
        type=kind,
        language=_LANGUAGES[named] if named else language_of(question),
        question=question,
        options=options,
        answer=answer,
        reference=reference,
        rubric=read_rubric(fields.get("rubric")),
        id=_text(fields.get("id")) or default_id,
        chapter=_text(fields.get("chapter")),
        section=_text(fields.get("section")),
        difficulty=_text(fields.get("difficulty")).lower(),
        knowledge_point=_text(fields.get("knowledge_point")),
        explanation=_text(fields.get("explanation")),
        page_quote=_text(fields.get("page_quote")),
    )


def _renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    """Fields by our names; `A` to `H` as columns are options."""
    out: dict[str, Any] = {}
    letters: dict[str, Any] = {}
    for name, value in row.items():
        plain = str(name).strip()
        if re.fullmatch(r"(?:option[_ ]?)?[A-H]", plain, re.I) and plain[-1].isalpha():
            if _text(value):
                letters[plain[-1].upper()] = value
            continue
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain).lower()
        known = _NAMES.get(snake) or _NAMES.get(plain.lower()) or snake
        if out.get(known) in (None, "", [], {}):
            out[known] = value
    if letters and not out.get("options"):
        out["options"] = letters
    return out


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, list | tuple):
        return " ".join(_text(part) for part in value)
    return str(value).replace("\r\n", "\n").strip()


def _options(fields: Mapping[str, Any]) -> tuple[Option, ...]:
    value = fields.get("options")
    if isinstance(value, str):
        value = _from_cell(value)
    if not value:
        return ()
    if isinstance(value, Mapping):
        pairs = [(str(key).strip(), _text(text)) for key, text in value.items() if text is not None]
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
        text = _text(value.get("text") or value.get("content") or value.get("label"))
        return _text(value.get("key") or value.get("id")) or letter, text
    text = _text(value)
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
    named = _text(fields.get("type")).lower()
    if named:
        kind = _TYPES.get(named) or _TYPES.get(named.replace(" ", "_").replace("-", "_"))
        if kind is None:
            raise BadInput(f"type: {named!r} is not known", hint=f"use one of {', '.join(TYPES)}")
        return kind
    answer = fields.get("answer")
    if options:
        return "multiple_choice" if len(read_choice(_text(answer), options)) > 1 else "single_choice"
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
        entries = [_text(part) for part in value]
    else:
        entries = [_text(value)] if _text(value) else []
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


def read_rubric(value: Any) -> tuple[RubricPoint, ...]:
    """Points from objects, from strings ("names all four (2)"), or from one text with a point a line."""
    if not value:
        return ()
    if isinstance(value, str):
        text = value.strip()
        if text.startswith("["):
            try:
                return read_rubric(json.loads(text))
            except json.JSONDecodeError:
                pass  # a text that begins with a bracket: "[2 points] names all four"
        value = [line for line in re.split(r"[\n|]+|(?<=[;；])", text) if line.strip(" ;；-*•")]
    if isinstance(value, Mapping):
        value = [{"point": point, "points": points} for point, points in value.items()]
    if not isinstance(value, Sequence):
        raise BadInput(f"rubric: a list of points, got {type(value).__name__}")
    return tuple(_point(place, one) for place, one in enumerate(value, start=1))


def _point(place: int, value: Any) -> RubricPoint:
    if isinstance(value, Mapping):
        text = _text(value.get("point") or value.get("text") or value.get("criterion") or value.get("description"))
        worth = next((value[name] for name in ("points", "score", "weight", "max") if value.get(name) is not None), 1)
    else:
        text, worth = _worth_inside(_text(value))
    try:
        points = float(worth)
    except (TypeError, ValueError) as error:
        raise BadInput(f"rubric.{place}.points: {worth!r} is no number") from error
    if not text:
        raise BadInput(f"rubric.{place}.point: is empty")
    if not 0 < points <= 1000:
        raise BadInput(f"rubric.{place}.points: {points:g} does not lie between 0 and 1000")
    return RubricPoint(text, points)


def _worth_inside(text: str) -> tuple[str, float]:
    """`names all four (2 points)`, `说出四个条件（2分）`, `2: names all four`."""
    text = text.strip(" ;；-*•\t")
    tail = re.search(r"[(（\[]?\s*(\d+(?:\.\d+)?)\s*(?:points?|pts?|marks?|分)\s*[)）\]]?\s*[.。]?$", text, re.I)
    tail = tail or re.search(r"[(（\[]\s*(\d+(?:\.\d+)?)\s*[)）\]]$", text)
    if tail and text[: tail.start()].strip():
        return text[: tail.start()].strip(" :：,，"), float(tail[1])
    return text, 1.0
