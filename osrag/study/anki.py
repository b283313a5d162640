"""Mistakes as an Anki deck: the question in front; the answer, its reasons and the page behind."""

import zlib
from collections.abc import Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from osrag.quiz.judgement import Step, right_answer
from osrag.types import Chunk, Language, PageRef
from osrag.wording import say

MODEL_ID, DECK_ID = 1_692_077_301, 1_692_077_302  # any constants: Anki tells a deck that comes again by them
STYLE = ".card { font-family: sans-serif; font-size: 18px; text-align: left; line-height: 1.5; } small { color: #666; }"


def anki_deck(mistakes: Sequence[Step], language: Language) -> bytes:
    """An `.apkg` file with a note for each mistake. A mistake that was exported before is updated, not doubled."""
    import genanki

    model = genanki.Model(
        MODEL_ID,
        "osrag",
        fields=[{"name": "Front"}, {"name": "Back"}],
        templates=[{"name": "osrag", "qfmt": "{{Front}}", "afmt": "{{FrontSide}}<hr id=answer>{{Back}}"}],
        css=STYLE,
    )
    deck = genanki.Deck(DECK_ID, say("anki_deck", language))
    for mistake in mistakes:
        exercise = mistake.judgement.exercise
        name = exercise.name if exercise.id else str(zlib.crc32(exercise.question.encode()))
        tags = [f"osrag::{exercise.section or 'own'}"]
        deck.add_note(
            genanki.Note(model, [front(mistake), back(mistake)], guid=genanki.guid_for("osrag", name), tags=tags)
        )
    with TemporaryDirectory() as folder:
        path = Path(folder, "osrag.apkg")
        genanki.Package(deck).write_to_file(path)
        return path.read_bytes()


def front(mistake: Step) -> str:
    """HTML of the question with its options."""
    exercise = mistake.judgement.exercise
    return "<br>".join(map(_html, [exercise.question, *(f"{one.key}. {one.text}" for one in exercise.options)]))


def back(mistake: Step) -> str:
    """HTML of the answer, the prepared reasons and the page to read."""
    exercise, lines = mistake.judgement.exercise, []
    lines.append(f"<b>{_html(right_answer(exercise) or mistake.judgement.correct_answer)}</b>")
    lines += [_html(f"{one.key}: {one.text}" if one.key else one.text) for one in exercise.reasons]
    if not exercise.reasons and exercise.explanation:
        lines.append(_html(exercise.explanation))
    page = mistake.passages[0].chunk if mistake.passages else None
    if isinstance(page, Chunk) and isinstance(page.where, PageRef):
        where = say("page_label", exercise.language, label=page.where.label)
        lines.append(f"<small>{_html(f'{page.title or page.source} · {page.section_path} · {where}')}</small>")
    return "<br><br>".join(lines)


def _html(text: str) -> str:
    return escape(text).replace("\n", "<br>")
