"""Exercises as people write them down, to `Exercise`.

Two shapes are read: a row with both languages under `zh` and `en` (as in `examples/quiz`), and a flat row of one
language from JSON, CSV or an API call. Flat rows are read leniently: options may be a list or an object, the key a
letter, a word or a list, and field names may be camelCase or Chinese.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from osrag.errors import BadInput
from osrag.nesting import check_nesting, read_json
from osrag.quiz.blanks import BLANK, split_key
from osrag.quiz.exercise import TYPES, Exercise, ExerciseType, Option, RubricPoint
from osrag.quiz.keys import in_order, read_choice, read_truth
from osrag.quiz.programs.program import read_program_fields
from osrag.text import language_of, sentences
from osrag.types import Language
from osrag.wording import Said

MAX_QUESTION = 8000  # characters
MAX_OPTIONS = 60
MAX_POINTS = 200  # of a rubric


def _ours(others: Mapping[Any, str]) -> dict[str, Any]:
    """Our name by every name, ours included; `others` has the others by ours, with blanks between them."""
    return {name: ours for ours, names in others.items() for name in (ours, *names.split())}


# Other names under which people write languages, types and fields; each line begins with ours.
_LANGUAGES: dict[str, Language] = _ours({"zh": "chinese 中文 cn zh-cn", "en": "english 英文"})
_TYPES: dict[ExerciseType, str] = {
    "single_choice": "single choice mcq radio 单选 单选题 选择题",
    "multiple_choice": "multiple multi multi_choice multiple_answer 多选 多选题",
    "true_false": "truefalse tf judge assertion boolean true/false 判断 判断题",
    "fill_blank": "blank fill fill_in fill_in_the_blank cloze 填空 填空题",
    "short_answer": "short open open_ended essay subjective text 简答 简答题 问答题",
    "programming": "code 编程题",
}
# "multiple-choice" is what English calls a choice between several options, of which one is right.
_TYPE_OF: dict[str, ExerciseType] = {**_ours(_TYPES), "multiple-choice": "single_choice"}
_FIELDS = {
    "type": "question_type format 题型",
    "question": "stem title 题目",
    "options": "choices 选项",
    "answer": "key correct_answer correct 答案",
    "student_answer": "student response reply user_answer submitted 学生答案 作答",
    "reference": "reference_answer model_answer desired_answer 参考答案",
    "rubric": "评分标准",
    "chapter": "章",
    "section": "节",
    "difficulty": "难度",
    "knowledge_point": "知识点",
    "explanation": "解析",
    "language": "lang",
    "page_quote": "",
}
_FIELD_OF = _ours(_FIELDS)
_TEXTS = (
    "reference", "id", "chapter", "section", "difficulty", "knowledge_point", "explanation", "page_quote", "check",
)  # fmt: skip
KNOWN_FIELDS = frozenset((*_FIELDS, "id", "check", "structure", "cases", "zh", "en")) - {"student_answer"}


def read_row(row: Mapping[str, Any], *, default_id: str = "") -> tuple[Exercise, ...]:
    """One exercise for each language. Raises BadInput that names the field and what was seen."""
    _check_object(row)
    if isinstance(row.get("zh"), Mapping) or isinstance(row.get("en"), Mapping):
        return _combined(row)
    return (_flat(_renamed(row), default_id),)


def as_row(exercise: Exercise) -> dict[str, Any]:
    """The fields that a bank file has, without those that are empty or lie in files of their own."""
    beside = ("reasons", "hint", "program")
    return {name: value for name, value in asdict(exercise).items() if value and name not in beside}


def read_answered(value: Any, *, answer: Any = None) -> tuple[Exercise, str]:
    """An exercise from outside (an API call, standard input) and the student's answer that stands in it.

    The exercise may be an object of its own under `question` or `item`. Raises BadInput that names the field.
    """
    _check_object(value)
    check_nesting(value)
    outer = _renamed(value)
    inside = (one for one in (outer.get("question"), outer.get("item")) if isinstance(one, Mapping))
    row = _renamed(next(inside, outer))
    given = row.pop("student_answer", outer.get("student_answer", answer))
    exercises = read_row(row)
    exercise = next((one for one in exercises if one.language == row.get("language")), exercises[0])
    if given is None:
        raise BadInput(Said("row_no_answer"), hint=Said("row_no_answer_hint"))
    return exercise, _answer_text(given)


def _check_object(value: Any) -> None:
    if not isinstance(value, Mapping):
        raise BadInput(Said("row_no_object", kind=type(value).__name__))


def _answer_text(value: Any) -> str:
    """A student's answer as text: `true` or `false` for a truth value, the entries of a list with `; ` between."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return "; ".join(_answer_text(part) for part in value)
    return str(value)


def _combined(row: Mapping[str, Any]) -> tuple[Exercise, ...]:
    """A row with both languages, which share everything but the words. Here every field must be known by our name."""
    wordings = {language: row[language] for language in ("zh", "en") if row.get(language) is not None}
    shared = {name: value for name, value in row.items() if name not in wordings}
    _check_names(row)
    if not shared.get("id"):
        raise BadInput(Said("row_missing", field="id"))
    exercises = []
    for language, words in wordings.items():
        try:
            _check_names(words)
            exercises.append(_flat({**shared, **words, "language": language}))
        except BadInput as error:
            raise BadInput(Said("row_in_language", wording=language, what=error.message), hint=error.hint) from error
    return tuple(exercises)


def _check_names(fields: Any) -> None:
    """Raises BadInput for a field that is not known by our name."""
    _check_object(fields)
    if unknown := [name for name in fields if name not in KNOWN_FIELDS]:
        known = Said("row_fields_hint", fields=", ".join(sorted(KNOWN_FIELDS)))
        raise BadInput(Said("row_no_field", field=unknown[0]), hint=known)


def _flat(fields: Mapping[str, Any], default_id: str = "") -> Exercise:
    """The exercise of one language from fields by our names."""
    question = plain_text(fields.get("question"))
    if not question:
        raise BadInput(Said("row_empty", field="question"))
    if len(question) > MAX_QUESTION:
        raise BadInput(Said("row_long", field="question", seen=len(question), most=MAX_QUESTION))
    options = _options(fields.get("options"))
    kind = _type(fields, question, options)
    answer = _answer(fields.get("answer"), kind, options, question)
    texts: dict[str, Any] = {name: plain_text(fields.get(name)) for name in _TEXTS}
    if kind in ("short_answer", "programming"):
        texts["reference"], answer = texts["reference"] or " ".join(answer), ()
    if kind == "single_choice" and len(answer) > 1:  # whatever it was called
        kind = "multiple_choice"
    named = plain_text(fields.get("language")).lower()
    if named and named not in _LANGUAGES:
        raise BadInput(Said("row_no_language", seen=named))
    language = _LANGUAGES[named] if named else language_of(question)
    texts |= {"id": texts["id"] or default_id, "difficulty": texts["difficulty"].lower()}
    program = read_program_fields(fields) if kind == "programming" else None
    rubric = read_rubric(fields.get("rubric"))
    return Exercise(kind, language, question, options, answer, rubric=rubric, program=program, **texts)


def _renamed(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields by our names, the first that is not empty; columns `A` to `H` are options."""
    out: dict[str, Any] = {}
    letters: dict[str, Any] = {}
    for name, value in row.items():
        plain = str(name).strip()
        if re.fullmatch(r"(?:option[_ ]?)?[A-H]", plain, re.I):
            if plain_text(value):
                letters[plain[-1].upper()] = value
            continue
        snake = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", plain).lower()
        known = _FIELD_OF.get(snake, snake)
        if out.get(known) in (None, "", [], {}):
            out[known] = value
    return out | {"options": out.get("options") or letters}


def _from_json(value: Any) -> Any:
    """The list or object that a cell of a table holds as JSON; anything else as it is."""
    if isinstance(value, str) and value.strip().startswith(("[", "{")):
        with suppress(BadInput):
            return read_json(value)
    return value


def _options(value: Any) -> tuple[Option, ...]:
    value = _from_json(value)
    if isinstance(value, str):  # one `A. …` a line, or parts between bars or semicolons
        if value.strip().startswith(("[", "{")):
            raise BadInput(Said("row_no_json", field="options"))
        separator = r"[|｜\n]" if re.search(r"[|｜\n]", value.strip()) else "[;；]"
        value = [part for part in re.split(separator, value) if part.strip()]
    if not value:
        return ()
    if isinstance(value, Mapping):
        pairs = [(str(key).strip(), plain_text(text)) for key, text in value.items() if text is not None]
    elif isinstance(value, Sequence):
        pairs = [_option(place, one) for place, one in enumerate(value)]
    else:
        raise BadInput(Said("row_options_kind", kind=type(value).__name__))
    if len(pairs) > MAX_OPTIONS:
        raise BadInput(Said("row_many_options", seen=len(pairs), most=MAX_OPTIONS))
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise BadInput(Said("row_key_twice", keys=", ".join(keys)))
    if empty := [key for key, text in pairs if not text]:
        raise BadInput(Said("row_empty", field=f"options.{empty[0]}"))
    return tuple(Option(key, text) for key, text in pairs)


def _option(place: int, value: Any) -> tuple[str, str]:
    """Key and text of the option at `place`, from 0; its letter is the key where it has none of its own."""
    letter = chr(65 + place) if place < 26 else str(place + 1)
    if isinstance(value, Mapping):
        text = plain_text(value.get("text") or value.get("content") or value.get("label"))
        return plain_text(value.get("key") or value.get("id")) or letter, text
    text = plain_text(value)
    labelled = re.match(r"^\s*[(（]?([A-Z])\s*[)）.、:：．]\s*(\S.*)$", text, re.S)
    # "A. pipe" carries its own key; "I. e. …" at place 0 does not.
    return (labelled[1], labelled[2].strip()) if labelled and labelled[1] == letter else (letter, text)


def _type(fields: Mapping[str, Any], question: str, options: Sequence[Option]) -> ExerciseType:
    """The type as it is named, else as the other fields suggest."""
    named = plain_text(fields.get("type")).lower()
    if named:
        kind = _TYPE_OF.get(named) or _TYPE_OF.get(named.replace(" ", "_").replace("-", "_"))
        if kind is None:
            raise BadInput(Said("row_no_type", seen=named), hint=Said("row_types_hint", types=", ".join(TYPES)))
        return kind
    answer = fields.get("answer")
    if options:
        return "multiple_choice" if len(read_choice(plain_text(answer), options)) > 1 else "single_choice"
    if isinstance(answer, bool) or (isinstance(answer, str) and len(answer) <= 5 and read_truth(answer)):
        return "true_false"
    return "fill_blank" if BLANK.search(question) else "short_answer"


def _answer(value: Any, kind: ExerciseType, options: Sequence[Option], question: str) -> tuple[str, ...]:
    """The key in our form. Raises BadInput for a key that is no option."""
    value = _from_json(value)
    entries = [plain_text(part) for part in value] if isinstance(value, list | tuple) else [plain_text(value)]
    if not any(entries):
        return ()
    match kind:
        case "single_choice" | "multiple_choice":
            if not options:
                raise BadInput(Said("row_no_options", kind=kind), hint=Said("row_no_options_hint"))
            found = {entry: read_choice(entry, options) for entry in entries}
            if wrong := [entry for entry, keys in found.items() if not keys]:
                names = ", ".join(option.key for option in options)
                raise BadInput(Said("row_no_option", seen=wrong[0]), hint=Said("row_options_hint", keys=names))
            return in_order(frozenset().union(*found.values()), options)
        case "true_false":
            truth = read_truth(entries[0], options)
            if not truth:
                raise BadInput(Said("row_no_truth", seen=entries[0]), hint=Said("row_truth_hint"))
            return (truth,)
        case "fill_blank" if len(entries) == 1:
            return split_key(entries[0], len(BLANK.findall(question)))
        case _:
            return tuple(entries)


# "Award full points for a correct explanation" says how to mark, not what to look for.
_HOW_TO_MARK = re.compile(
    r"\b(award|assign|deduct|evaluate)\b.{0,60}\b(points?|credit|marks?|correctness)\b"
    r"|\bany (reasonable|realistic|sensible|plausible|correct|valid)\b.{0,120}\b(acceptable|accepted|fine|ok|counts)\b"
    r"|\bis worth \d+ (points?|marks?)\b|\bgrade (by|each|every)\b"
    r"|\b(no|partial|full) (credit|points|marks)\b|\bother answers\b|\banswer must match\b"
    r"|酌情给分|酌情扣分|视情况给分|言之有理即可|合理即可",
    re.I | re.S,
)
_MUST = re.compile(
    r"^(must|should|needs? to|has to) (also )?(mention|include|name|explain|say|state|point out)\s+", re.I
)
_AMOUNT = r"(\d+(?:\.\d+)?)\s*(?:points?|pts?|marks?|分)"
_WORTH = re.compile(
    rf"[(（\[]?\s*(?:[给得]\s*)?{_AMOUNT}\s*[)）\]]?\s*[.。]?$|[(（\[]\s*(\d+(?:\.\d+)?)\s*[)）\]]$", re.I
)
# "2 marks for …", "(1分) …", "+1 …", "Award 1 mark for each of: …": the worth stands first.
_WORTH_FIRST = re.compile(
    rf"^(?:award|give|allow)?\s*(?:[(（\[]\s*)?(?:{_AMOUNT}|\+\s*(\d+(?:\.\d+)?))\s*[)）\]]?\s*"
    r"(?P<each>each\s*)?(?:(?:for|if)\b\s*)?(?P<of>each(?: of)?\b\s*)?[:：\-–—,，]*\s*(?=\S)",
    re.I,
)
_NUMBERING = re.compile(r"^\s*(?:[-*•·–—]\s+|[(（]?(?:\d{1,2}|[a-h]|[ivx]+)[.)）、]\s*(?!\d))", re.I)
# Lines of a marking scheme that no answer could say: its title, its sum, what costs marks.
_NO_POINT = re.compile(
    r"^(?:mark(?:ing)? scheme|rubric|(?:model|sample) answer)\b[^:：]{0,30}[:：]?$|^half marks\b"
    rf"|^(?:total|max(?:imum)?|out of|总分|满分|合计|共)\W*{_AMOUNT}\W*$"
    r"|^(?:评分(?:标准|细则)|得分点|参考答案).{0,16}$"
    r"|\b(?:deduct|loses?) \d|^(?:do not|don't) (?:accept|award)|扣\s*\d*\s*分$",
    re.I,
)
_FULL = re.compile(r"^full (?:marks|credit|points)\b[^:：]{0,12}[:：]\s*", re.I)
_LISTED = re.compile(r"\s*[;；,，、]\s*(?:and\b\s*)?")


def read_rubric(value: Any) -> tuple[RubricPoint, ...]:
    """Points from objects, from strings ("names all four (2)"), or from one text with a point in each line.

    Lines that only tell the marker how to mark are left out: no answer could say them. Raises BadInput for a point
    without text and for a worth that is not between 0 and 1000.
    """
    value = _from_json(value)
    if not value:
        return ()
    if isinstance(value, str):
        value = [point for line in re.split(r"[\n|]+", value) for point in _of_scheme(line)]
    if isinstance(value, Mapping):
        value = [{"point": point, "points": points} for point, points in value.items()]
    if not isinstance(value, Sequence):
        raise BadInput(Said("row_rubric_kind", kind=type(value).__name__))
    if len(value) > MAX_POINTS:
        raise BadInput(Said("row_many_points", seen=len(value), most=MAX_POINTS))
    points = (_point(place, one) for place, one in enumerate(value, start=1))
    return tuple(point for point in points if point.point and not read_truth(point.point.strip(".。")))


def _of_scheme(line: str) -> list[Any]:
    """The points of one line of a marking scheme."""
    line = _FULL.sub("", _NUMBERING.sub("", line.strip()))
    if not line.strip(" ;；-*•") or _NO_POINT.search(line):
        return []
    first = _WORTH_FIRST.match(line)
    if first is None:
        return [part for part in re.split(r"(?<=[;；])", line) if part.strip(" ;；")]
    worth, rest = first[1] or first[2], line[first.end() :].strip(" .。")
    listed = _LISTED.split(rest) if first["each"] or first["of"] else [rest]
    return [{"point": point, "points": worth} for point in listed if point]


def _point(place: int, value: Any) -> RubricPoint:
    """One point with what an answer should say: "Must mention fsync. Grade by skill." is "fsync."."""
    if isinstance(value, Mapping):
        text = plain_text(value.get("point") or value.get("text") or value.get("criterion") or value.get("description"))
        worth = next((value[name] for name in ("points", "score", "weight", "max") if value.get(name) is not None), 1)
    else:
        text, worth = plain_text(value).strip(" ;；-*•\t"), 1
        tail = _WORTH.search(text)
        if tail and text[: tail.start()].strip():  # `names all four (2 points)`, `说出四个条件（2分）`
            text, worth = text[: tail.start()].strip(" :：,，"), tail[1] or tail[2]
    try:
        points = float(worth)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadInput(Said("row_no_number", place=place, seen=str(worth)[:80])) from error
    if not text:
        raise BadInput(Said("row_empty", field=f"rubric.{place}.point"))
    if not 0 < points <= 1000:
        raise BadInput(Said("row_points_range", place=place, seen=points))
    if _HOW_TO_MARK.search(text):
        text = " ".join(sentence for sentence in sentences(text) if not _HOW_TO_MARK.search(sentence))
    return RubricPoint(_MUST.sub("", text), points)


def plain_text(value: Any) -> str:
    """A cell as text, with "T" or "F" for a truth value and "" for nothing."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "T" if value else "F"
    if isinstance(value, list | tuple):
        return " ".join(plain_text(part) for part in value)
    return str(value).replace("\r\n", "\n").strip()
