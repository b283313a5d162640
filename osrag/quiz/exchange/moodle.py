"""Moodle XML, both ways (docs.moodle.org, "Moodle XML format"; Moodle 4).

A choice is `multichoice` or `truefalse`, a fill-in is `cloze`, a text is `essay` with reference and rubric as the
marker's notes. Chapters are categories; section, difficulty and knowledge point travel as tags, hints as hints, and
the drawings of computed exercises as files of the general feedback.
"""

import base64
import re
from collections.abc import Iterator, Sequence
from html import escape
from itertools import groupby
from typing import Any
from urllib.parse import unquote
from xml.etree.ElementTree import Element, ParseError, SubElement, indent, tostring

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import fromstring

from osrag.errors import BadInput
from osrag.quiz.blanks import BLANK
from osrag.quiz.computed import pictures_of
from osrag.quiz.exchange.common import (
    Written,
    as_html,
    as_text,
    category_of,
    chapter_of,
    fields_of,
    fill,
    id_of,
    left_out,
    marking_scheme,
    read_scheme,
    share_of_marks,
    tags_of,
    unspoken,
)
from osrag.quiz.exercise import FALSE, TRUE, Exercise
from osrag.wording import Said

_CLOZE = re.compile(r"\{\d*:(\w+):((?:\\.|[^}\\])*)\}")
_CLOZE_TEXT = {"SHORTANSWER", "SA", "MW", "SHORTANSWER_C", "SAC", "MWC", "NUMERICAL", "NM"}
_SPECIAL = re.compile(r"([}#~/\"\\])")


def write_moodle(exercises: Sequence[Exercise]) -> Written:
    """A file that Moodle imports: of one language, as a course is; in both, the twins stand in one category."""
    quiz = Element("quiz")
    lost: list[str] = []
    for chapter, group in groupby(exercises, key=lambda one: one.chapter):
        category = SubElement(SubElement(quiz, "question", type="category"), "category")
        _text(category, category_of(chapter))
        for exercise in group:
            _question(quiz, exercise)
            lost += left_out(exercise)
    indent(quiz)
    return Written(tostring(quiz, encoding="utf-8", xml_declaration=True), tuple(lost))


def _question(quiz: Element, exercise: Exercise) -> None:
    kinds = {"true_false": "truefalse", "fill_blank": "cloze", "short_answer": "essay", "programming": "essay"}
    question = SubElement(quiz, "question", type=kinds.get(exercise.type, "multichoice"))
    _text(SubElement(question, "name"), exercise.id or exercise.question[:60])
    asked = _cloze(exercise) if exercise.type == "fill_blank" else as_html(exercise.question)
    _text(SubElement(question, "questiontext", format="html"), asked)
    _feedback(question, exercise)
    if exercise.type != "fill_blank":
        full = sum(point.points for point in exercise.rubric) or 1
        SubElement(question, "defaultgrade").text = f"{full:g}"
    if exercise.id:
        SubElement(question, "idnumber").text = exercise.name
    if exercise.is_choice:
        _answers(question, exercise)
    elif exercise.type != "fill_blank":
        SubElement(question, "responseformat").text = "monospaced" if exercise.type == "programming" else "editor"
        _text(SubElement(question, "graderinfo", format="html"), as_html(marking_scheme(exercise)))
        if exercise.program and exercise.program.starter:
            starter = f"<pre>{escape(exercise.program.starter, quote=False)}</pre>"
            _text(SubElement(question, "responsetemplate", format="html"), starter)
    if exercise.hint and exercise.type in ("single_choice", "multiple_choice"):
        _text(SubElement(question, "hint", format="html"), as_html(exercise.hint.ask))
    tags = SubElement(question, "tags")
    for tag in (*tags_of(exercise), *(["type:programming"] if exercise.type == "programming" else [])):
        _text(SubElement(tags, "tag"), tag)


def _feedback(question: Element, exercise: Exercise) -> None:
    """What is shown after the answer: the explanation, and the drawings of what the lab computes."""
    feedback = SubElement(question, "generalfeedback", format="html")
    pictures = pictures_of(exercise)
    shown = (f'<p><img src="@@PLUGINFILE@@/{one.name}" alt="{escape(one.title)}"></p>' for one in pictures)
    _text(feedback, as_html(exercise.explanation) + "".join(shown))
    for one in pictures:
        file = SubElement(feedback, "file", name=one.name, path="/", encoding="base64")
        file.text = base64.b64encode(one.data).decode()


def _answers(question: Element, exercise: Exercise) -> None:
    told = {reason.key: reason.text for reason in exercise.reasons}
    if exercise.type == "true_false":
        for key, word in ((TRUE, "true"), (FALSE, "false")):
            answer = SubElement(
                question, "answer", fraction="100" if key in exercise.answer else "0", format="moodle_auto_format"
            )
            SubElement(answer, "text").text = word
            _text(SubElement(answer, "feedback", format="html"), as_html(told.get(key, "")))
        return
    SubElement(question, "single").text = "false" if exercise.type == "multiple_choice" else "true"
    SubElement(question, "shuffleanswers").text = "0"
    SubElement(question, "answernumbering").text = "ABCD"
    for option in exercise.options:
        share = share_of_marks(exercise, option.key)
        answer = SubElement(question, "answer", fraction=share, format="html")
        SubElement(answer, "text").text = as_html(option.text)
        _text(SubElement(answer, "feedback", format="html"), as_html(told.get(option.key, "")))


def _cloze(exercise: Exercise) -> str:
    """The question with a field for each blank; every variant of the key is right."""
    keys = iter(exercise.answer)

    def field() -> str:
        variants = [_SPECIAL.sub(r"\\\1", part.strip()) for part in next(keys, "").split("|")]
        return "{1:SHORTANSWER:" + "~".join(f"={one}" for one in variants) + "}" if any(variants) else ""

    return as_html(fill(exercise.question, field))


def _text(parent: Element, text: str) -> None:
    SubElement(parent, "text").text = text


def read_moodle(data: bytes) -> Iterator[tuple[str, dict[str, Any] | BadInput]]:
    """(place, a row for `read_row`, or why there is none) of each question. Raises BadInput for no such file."""
    try:
        quiz = fromstring(data)
    except DefusedXmlException as error:
        raise BadInput(Said("moodle_entities")) from error
    except (ParseError, ValueError) as error:
        raise BadInput(Said("moodle_no_xml", why=error), hint=Said("moodle_hint")) from error
    if quiz.tag != "quiz":
        raise BadInput(Said("moodle_other", tag=quiz.tag), hint=Said("moodle_hint"))
    chapter = ""
    for number, question in enumerate(quiz.findall("question"), start=1):
        kind = question.get("type", "")
        if kind == "category":
            chapter = chapter_of(question.findtext("category/text") or "")
            continue
        name = question.findtext("name/text") or ""
        called = name.strip()[:40]
        where = Said("moodle_named" if called else "moodle_question", number=number, name=called)
        try:
            _check_pictures(question)
            row = _row(kind, question)
        except BadInput as error:
            yield where, error
            continue
        idnumber = (question.findtext("idnumber") or "").strip()
        id_ = id_of(idnumber) or (name.strip() if re.fullmatch(r"[\w.-]{1,40}", name.strip()) else "")
        shared = {
            "chapter": chapter,
            "id": id_,
            "explanation": as_text(question.findtext("generalfeedback/text") or ""),
        }
        tags = _tags(question)
        yield where, {name: value for name, value in {**row, **shared, **fields_of(tags)}.items() if value}


def _check_pictures(question: Element) -> None:
    """Raises BadInput for a question or an option that shows a picture without words in its place."""
    texts = [question.find("questiontext/text"), *question.findall("answer/text")]
    names = [name for one in texts if one is not None for name in unspoken(one.text or "")]
    held = {file.get("name") for file in question.iter("file")}
    if names:
        there = unquote(names[0].rsplit("/", 1)[-1]) in held
        shows = Said("moodle_picture" if there else "moodle_picture_missing", name=names[0])
        raise BadInput(shows, hint=Said("moodle_picture_hint"))


def _tags(question: Element) -> list[str]:
    return [(tag.text or "").strip() for tag in question.findall("tags/tag/text")]


def _row(kind: str, question: Element) -> dict[str, Any]:
    asked = question.findtext("questiontext/text") or ""
    answers = [
        (as_text(one.findtext("text") or ""), float(one.get("fraction") or 0)) for one in question.findall("answer")
    ]
    match kind:
        case "multichoice":
            options = [text for text, _ in answers]
            letters = [chr(65 + place) for place, (_, share) in enumerate(answers) if share > 0]
            single = (question.findtext("single") or "true").strip() in ("true", "1")
            best = max((share for _, share in answers), default=0)
            if single:
                letters = [chr(65 + place) for place, (_, share) in enumerate(answers) if share == best > 0][:1]
            type_ = "single_choice" if single else "multiple_choice"
            keyed = {chr(65 + place): text for place, text in enumerate(options)}
            return {"type": type_, "question": as_text(asked), "options": keyed, "answer": letters}
        case "truefalse":
            right = next((text.strip().lower() for text, share in answers if share > 0), "")
            return {"type": "true_false", "question": as_text(asked), "answer": TRUE if right == "true" else FALSE}
        case "shortanswer" | "numerical":
            text = as_text(asked)
            text = text if BLANK.search(text) else f"{text} ____"
            return {
                "type": "fill_blank",
                "question": text,
                "answer": ["|".join(one for one, share in answers if share >= 100)],
            }
        case "cloze":
            return _blanks(as_text(asked))
        case "essay":
            reference, rubric = read_scheme(as_text(question.findtext("graderinfo/text") or ""))
            type_ = "programming" if "type:programming" in _tags(question) else "short_answer"
            points = [{"point": one.point, "points": one.points} for one in rubric]
            return {"type": type_, "question": as_text(asked), "reference": reference, "rubric": points}
    raise BadInput(Said("exchange_kind", kind=kind or "nothing"))


def _blanks(text: str) -> dict[str, Any]:
    keys: list[str] = []

    def blank(match: re.Match[str]) -> str:
        if match[1].upper() not in _CLOZE_TEXT:
            raise BadInput(Said("moodle_cloze", kind=match[1]))
        parts = re.findall(r"(?:^|~)(=|%100%)((?:\\.|[^~\\])*)", match[2])
        keys.append("|".join(re.sub(r"\\(.)", r"\1", re.split(r"(?<!\\)#", part)[0]) for _, part in parts))
        return "____"

    asked = _CLOZE.sub(blank, text)
    if not keys:
        raise BadInput(Said("moodle_no_cloze"))
    return {"type": "fill_blank", "question": asked, "answer": keys}
