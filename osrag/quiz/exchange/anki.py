"""Exercises as an Anki deck: the question in front; the answer, its reasons, its drawings and the page behind."""

import zlib
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from osrag.quiz.computed import Picture, pictures_of
from osrag.quiz.exchange.common import as_html
from osrag.quiz.exercise import Exercise
from osrag.quiz.judgement import Step, right_answer
from osrag.types import Chunk, PageRef
from osrag.wording import say

MODEL_ID, DECK_ID = 1_692_077_301, 1_692_077_302  # any constants: Anki tells a deck that comes again by them
STYLE = ".card { font-family: sans-serif; font-size: 18px; text-align: left; line-height: 1.5; } small { color: #666; }"


def anki_deck(title: str, notes: Iterable[tuple[Exercise, str]]) -> bytes:
    """An `.apkg` file; of each note the exercise and where to read. A note that comes again is updated, not doubled."""
    import genanki

    model = genanki.Model(
        MODEL_ID,
        "osrag",
        fields=[{"name": "Front"}, {"name": "Back"}],
        templates=[{"name": "osrag", "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr id=answer>{{Back}}"}],
        css=STYLE,
    )
    deck = genanki.Deck(DECK_ID, title)
    pictures: list[Picture] = []
    for exercise, where in notes:
        drawn = pictures_of(exercise)
        pictures += drawn
        name = exercise.name if exercise.id else str(zlib.crc32(exercise.question.encode()))
        tags = [f"osrag::{exercise.section or 'own'}"]
        fields = [_front(exercise), _back(exercise, where, drawn)]
        deck.add_note(genanki.Note(model, fields, guid=genanki.guid_for("osrag", name), tags=tags))
    with TemporaryDirectory() as folder:
        path, media = Path(folder, "osrag.apkg"), {one.name: Path(folder, one.name) for one in pictures}
        for one in pictures:
            media[one.name].write_bytes(one.data)
        genanki.Package(deck, [*media.values()]).write_to_file(path)
        return path.read_bytes()


def page_of(result: Step) -> str:
    """Where the evidence of a result stands: book, section and page; empty where there is none."""
    page = result.passages[0].chunk if result.passages else None
    if not isinstance(page, Chunk) or not isinstance(page.where, PageRef):
        return ""
    number = say("page_label", result.judgement.language, label=page.where.label)
    return f"{page.title or page.source} · {page.section_path} · {number}"


def _front(exercise: Exercise) -> str:
    return "<br>".join(map(as_html, [exercise.question, *(f"{one.key}. {one.text}" for one in exercise.options)]))


def _back(exercise: Exercise, where: str, pictures: Sequence[Picture]) -> str:
    lines = [f"<b>{as_html(right_answer(exercise))}</b>"]
    lines += [as_html(f"{one.key}: {one.text}" if one.key else one.text) for one in exercise.reasons]
    if not exercise.reasons and exercise.explanation:
        lines.append(as_html(exercise.explanation))
    lines += [f'<img src="{one.name}" alt="{escape(one.title)}">' for one in pictures]
    return "<br><br>".join([*lines, *([f"<small>{escape(where)}</small>"] if where else [])])
