"""QTI 1.2 as Canvas and others import it, made by `text2qti` from its plain text.

It has one key for a blank and marks no text; a fill-in with several blanks cannot be written.
"""

import io
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from osrag.errors import OsragError
from osrag.quiz.computed import pictures_of
from osrag.quiz.exchange.common import Written, left_out
from osrag.quiz.exercise import TRUE, Exercise
from osrag.wording import say

_MARKUP = re.compile(r"[!-/:-@\[-`{-~]")  # the signs of ASCII; others mean nothing to Markdown


def write_qti(exercises: Sequence[Exercise], title: str) -> Written:
    """A zip file; questions that it cannot hold are left out and named."""
    from text2qti.config import Config
    from text2qti.err import Text2qtiError
    from text2qti.qti import QTI
    from text2qti.quiz import Quiz

    with TemporaryDirectory() as folder:  # text2qti takes pictures from files
        blocks, lost = _blocks(exercises, title, Path(folder))
        try:
            quiz = Quiz("\n\n".join(blocks) + "\n", config=Config())
        except Text2qtiError as error:
            raise OsragError(f"text2qti cannot write these questions: {error}") from error
    out = io.BytesIO()
    QTI(quiz).write(out)
    return Written(out.getvalue(), tuple(lost))


def _blocks(exercises: Sequence[Exercise], title: str, folder: Path) -> tuple[list[str], list[str]]:
    """(the questions as text2qti reads them, what is left out); the drawings come to lie in `folder`."""
    lost: list[str] = []
    blocks = [f"Quiz title: {title}"]
    for exercise in exercises:
        if exercise.type == "fill_blank" and len(exercise.answer) != 1:
            lost.append(f"{exercise.name}: QTI holds one blank, not {len(exercise.answer)}; left out")
            continue
        pictures = pictures_of(exercise)
        for one in pictures:
            (folder / one.name).write_bytes(one.data)
        shown = [f"![{_escaped(one.title)}]({folder / one.name})" for one in pictures]
        blocks.append(_question(exercise, len(blocks), shown))
        text = () if exercise.is_choice or exercise.type == "fill_blank" else ("reference", "rubric")
        lost += left_out(exercise, "hint", "section", "difficulty", "knowledge_point", "chapter", *text)
    return blocks, lost


def _question(exercise: Exercise, number: int, pictures: Sequence[str]) -> str:
    told = {reason.key: reason.text for reason in exercise.reasons}
    rows = [_item(f"{number}.", exercise.question)]
    if exercise.explanation or pictures:
        rows.append(_item("...", exercise.explanation, *pictures))
    if exercise.type == "true_false":
        for key, letter in (("T", "a"), ("F", "b")):
            mark = "*" if key in exercise.answer else ""
            rows.append(_item(f"{mark}{letter})", say("quiz_true" if key == TRUE else "quiz_false", exercise.language)))
            rows += [_item("...", told[key])] if key in told else []
    elif exercise.is_choice:
        several = exercise.type == "multiple_choice"
        for place, option in enumerate(exercise.options):
            ok = option.key in exercise.answer
            letter = chr(97 + place)
            mark = ("[*]" if ok else "[ ]") if several else f"{'*' if ok else ''}{letter})"
            rows.append(_item(mark, option.text))
            rows += [_item("...", told[option.key])] if option.key in told else []
    elif exercise.type == "fill_blank":
        rows += [f"* {variant.strip()}" for variant in exercise.answer[0].split("|")]
    else:
        rows.append("____")
    return "\n".join(rows)


def _item(mark: str, text: str, *markdown: str) -> str:
    """A text and `markdown` behind their mark, every line at the same depth, as text2qti wants it."""
    depth = " " * (len(mark) + 1)
    lines = [*_escaped(text).split("\n"), *markdown]
    return f"{mark} " + f"\n\n{depth}".join(line for line in lines if line.strip())


def _escaped(text: str) -> str:
    """Words that Markdown leaves as they are, as entities; blanks before a line of code hold."""
    text = re.sub(r"(?m)^```.*\n?", "", text)
    text = re.sub(r"(?m)^[ \t]+", lambda found: "\u00a0" * len(found[0].expandtabs(4)), text)
    return _MARKUP.sub(lambda found: f"&#{ord(found[0])};", text)
