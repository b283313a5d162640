"""GIFT, both ways (docs.moodle.org, "GIFT format").

A question has one block of answers, so a fill-in with several blanks cannot be written; an essay has no place for its
reference, and there are no pictures. Id and tags stand in a comment above, as Moodle writes them since 3.6.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from osrag.errors import BadInput
from osrag.quiz.blanks import BLANK
from osrag.quiz.exchange.common import (
    Written,
    category_of,
    chapter_of,
    fields_of,
    fill,
    id_of,
    left_out,
    share_of_marks,
    tags_of,
)
from osrag.quiz.exercise import FALSE, TRUE, Exercise
from osrag.wording import Said

_SPECIAL = re.compile(r"([~=#{}:\\])")
_NOTE = re.compile(r"\[(id|tag):([^\]]*)\]")
_TITLE = re.compile(r"^::((?:\\.|[^\\])*?)::", re.S)
_FORMAT = re.compile(r"^\[(html|moodle|plain|markdown)\]")
_BLOCK = re.compile(r"(?<!\\)\{((?:\\.|[^}\\])*)\}", re.S)
_PART = re.compile(r"(?<!\\)([=~])")


def write_gift(exercises: Sequence[Exercise]) -> Written:
    """A GIFT file; questions that it cannot hold are left out and named."""
    lines: list[str] = []
    lost: list[str] = []
    chapter: str | None = None
    for exercise in exercises:
        if exercise.type == "fill_blank" and len(exercise.answer) != 1:
            lost.append(f"{exercise.name}: GIFT holds one blank, not {len(exercise.answer)}; left out")
            continue
        if exercise.is_choice and not exercise.answer:
            lost.append(f"{exercise.name}: no key; left out")
            continue
        if exercise.chapter != chapter:
            chapter = exercise.chapter
            lines.append(f"$CATEGORY: {category_of(chapter)}\n")
        lines.append(_question(exercise))
        essay = () if exercise.is_choice or exercise.type == "fill_blank" else ("reference", "rubric")
        lost += left_out(exercise, "hint", *essay, pictures=False)
    return Written("\n".join(lines).encode(), tuple(lost))


def _question(exercise: Exercise) -> str:
    notes = "".join(f"[tag:{tag}]" for tag in tags_of(exercise) if "]" not in tag)
    head = f"// [id:{exercise.name}] {notes}\n::{_escaped(exercise.id or exercise.question[:60])}::[plain]"
    told = {reason.key: _escaped(reason.text) for reason in exercise.reasons}
    general = f"####{_escaped(exercise.explanation)}" if exercise.explanation else ""
    asked = _escaped(exercise.question)
    if exercise.type == "true_false":
        right, wrong = exercise.answer[0], FALSE if exercise.answer[0] == TRUE else TRUE
        notes = f"#{told.get(wrong, '')}#{told.get(right, '')}" if told else ""
        return f"{head}{asked} {{{right}{notes}{general}}}\n"
    if exercise.type == "fill_blank":
        variants = " ".join(f"={_escaped(part.strip())}" for part in exercise.answer[0].split("|"))
        return f"{head}{fill(asked, lambda: f'{{{variants}{general}}}')}\n"
    if not exercise.is_choice:
        return f"{head}{asked} {{{general}}}\n"
    rows = []
    for option in exercise.options:
        mark = "=" if option.key in exercise.answer else "~"
        if exercise.type == "multiple_choice":
            mark = f"~%{share_of_marks(exercise, option.key)}%"
        why = f"#{told[option.key]}" if option.key in told else ""
        rows.append(f"\t{mark}{_escaped(option.text)}{why}")
    return f"{head}{asked} {{\n" + "\n".join(rows) + (f"\n\t{general}" if general else "") + "\n}\n"


def _escaped(text: str) -> str:
    """The characters that mean something in GIFT with a backslash; a line end as `\\n`."""
    return _SPECIAL.sub(r"\\\1", text).replace("\n", "\\n")


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text).strip()


def read_gift(data: bytes) -> Iterator[tuple[str, dict[str, Any] | BadInput]]:
    """(place, a row as `read_row` takes it, or why there is none) of each question."""
    chapter = ""
    notes: list[tuple[str, str]] = []
    for line, block in _blocks(decoded(data)):
        comments = [row for row in block.split("\n") if row.lstrip().startswith("//")]
        notes += [pair for row in comments for pair in _NOTE.findall(row)]
        text = "\n".join(row for row in block.split("\n") if not row.lstrip().startswith("//")).strip()
        if text.startswith("$CATEGORY:"):
            first, _, text = text.partition("\n")
            chapter = chapter_of(first)
            text = text.strip()
        if not text:
            continue
        named, notes = notes, []
        try:
            row = _row(text)
        except BadInput as error:
            yield f"line {line}", error
            continue
        ids = [id_of(value) for name, value in named if name == "id"]
        shared = {
            "chapter": chapter,
            "id": ids[0] if ids else "",
            **fields_of([value for name, value in named if name == "tag"]),
        }
        yield Said("gift_line", number=line), {name: value for name, value in {**row, **shared}.items() if value}


def decoded(data: bytes) -> str:
    """Text in UTF-8, or in UTF-16 with its mark. Raises BadInput for anything else."""
    name, codec = ("UTF-16", "utf-16") if data[:2] in (b"\xff\xfe", b"\xfe\xff") else ("UTF-8", "utf-8-sig")
    try:
        text = data.decode(codec)
    except UnicodeDecodeError as error:
        text, place = "", error.start
    else:
        place = text.find("\0")  # letters of UTF-16 without its mark
    if place >= 0:
        raise BadInput(Said("gift_encoding", encoding=name, place=place), hint=Said("gift_encoding_hint"))
    return text.replace("\r\n", "\n")


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """(number of its first line, text) of each part between empty lines; those inside braces part nothing."""
    lines: list[str] = []
    start, depth = 1, 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip() and depth <= 0:
            if lines:
                yield start, "\n".join(lines)
            lines, depth = [], 0
            continue
        if not lines:
            start = number
        lines.append(line)
        if not line.lstrip().startswith("//"):
            depth += len(re.findall(r"(?<!\\)\{", line)) - len(re.findall(r"(?<!\\)\}", line))
    if lines:
        yield start, "\n".join(lines)


def _row(text: str) -> dict[str, Any]:
    title = _TITLE.match(text)
    text = text[title.end() :].strip() if title else text
    text = _FORMAT.sub("", text).strip()
    block = _BLOCK.search(text)
    if block is None:
        raise BadInput(Said("gift_no_answers"), hint=Said("gift_no_answers_hint"))
    before, inside, after = text[: block.start()], block[1].strip(), text[block.end() :]
    inside, _, general = inside.partition("####")
    inside = inside.strip()
    row: dict[str, Any] = {"question": _plain(before), "explanation": _plain(general)}
    truth = re.match(r"^(TRUE|T|FALSE|F)\s*(?:#|$)", inside, re.I)
    if truth:
        return {**row, "type": "true_false", "answer": TRUE if truth[1][0].upper() == "T" else FALSE}
    if not inside:
        return {**row, "type": "short_answer"}
    if inside.startswith("#"):
        raise BadInput(Said("exchange_kind", kind="numerical"))
    marks = _PART.split(inside)
    parts = [(mark, body.strip()) for mark, body in zip(marks[1::2], marks[2::2], strict=True)]
    if any("->" in body for _, body in parts):
        raise BadInput(Said("exchange_kind", kind="matching"))
    answers = [(mark, *_weighted(body)) for mark, body in parts]
    if all(mark == "=" for mark, _, _ in answers):
        asked = _plain(f"{before}____{after}" if after.strip() else before)
        asked = asked if BLANK.search(asked) else f"{asked} ____"
        return {**row, "type": "fill_blank", "question": asked, "answer": ["|".join(text for _, _, text in answers)]}
    if after.strip():
        row["question"] = _plain(f"{before}____{after}")
    options = {chr(65 + place): text for place, (_, _, text) in enumerate(answers)}
    right = [chr(65 + place) for place, (mark, share, _) in enumerate(answers) if mark == "=" or share > 0]
    several = all(mark == "~" for mark, _, _ in answers)
    return {**row, "type": "multiple_choice" if several else "single_choice", "options": options, "answer": right}


def _weighted(body: str) -> tuple[float, str]:
    """(share in per cent, words) of an answer, without what is said of it."""
    found = re.match(r"^%(-?\d+(?:\.\d+)?)%", body)
    words = re.split(r"(?<!\\)#", body[found.end() :] if found else body, maxsplit=1)[0]
    return float(found[1]) if found else 0.0, _plain(words)
