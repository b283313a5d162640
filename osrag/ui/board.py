"""The class board in the instructor's part of the quiz tab: tables, a CSV file, drafts for what found no answer."""

import csv
import functools
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from osrag.app.parts import Parts
from osrag.app.unanswered import draft, label
from osrag.errors import OsragError
from osrag.quiz.bank import Bank
from osrag.study.board import LEAST, Board
from osrag.study.repetition import point_of
from osrag.text import clip
from osrag.types import Language
from osrag.ui.admission import MODEL
from osrag.ui.download import SAVE, as_file
from osrag.ui.quiz_view import FORMULA
from osrag.ui.words import QUIET, TELLING, Words, heading, told
from osrag.wording import say

MOST_ROWS = 30  # of a table on the page; the file has all
MOST_OPEN = 10  # questions without an answer that can be drafted at a time


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: what it is about, and in how many sessions it happened, of how many."""

    table: str  # missed, rubric, disagrees, hint, rung, open
    item: str
    name: str
    sessions: int
    of: int | None = None  # sessions that tried it


class BoardView:
    """The components, and what their events do. Make it inside the instructor's part."""

    def __init__(self, parts: Parts, board: Board, words: Words, language: gr.State, opened: gr.State) -> None:
        self._parts, self._board = parts, board
        self._inputs = [opened, language]
        self._left = gr.State(())  # places of questions without an answer
        small: dict[str, Any] = {"size": "sm", "min_width": 120}
        words.make(gr.HTML, {"value": heading("board_label")})
        with gr.Row():
            self._show = words.make(gr.Button, {"value": "board_show"}, elem_id="qz-board-show", **small)
            self._save = words.make(gr.Button, {"value": "board_csv"}, elem_id="qz-board-csv", **small)
        self._html = gr.HTML("", elem_id="qz-board")

        @gr.render(inputs=[self._left, language], triggers=[self._html.change], queue=False)  # type: ignore[untyped-decorator]
        def left(places: Sequence[str], code: Language) -> None:
            for place in places:
                with gr.Row(elem_classes="qz-open"):
                    asked = gr.Textbox(
                        suggested(self._parts, place, code),
                        label=say("board_question", code, section=label(self._parts, place, code)[1] or "–"),
                        scale=4,
                        max_length=300,
                    )
                    button = gr.Button(say("board_draft", code), size="sm", min_width=120)
                button.click(
                    functools.partial(self.drafted, place),
                    [opened, language, asked],
                    None,
                    concurrency_id=MODEL,
                    api_visibility="private",
                )

        self._file = gr.Textbox("", elem_classes="os-hidden", container=False)

    @property
    def drafts(self) -> Path:
        """Where drafts go, to be approved by `osrag prepare FILE --review`."""
        return self._board.file.with_suffix(".answers.jsonl")

    def wire(self) -> None:
        """The events."""
        self._show.click(self.shown, self._inputs, [self._html, self._left], **QUIET)
        self._save.click(self.saved, self._inputs, self._file, **TELLING).then(None, self._file, None, js=SAVE)

    def shown(self, open_: bool, code: Language) -> list[Any]:
        """The tables, and the questions that can be drafted."""
        if not open_:
            return [gr.skip(), gr.skip()]
        try:
            rows = rows_of(self._board, self._parts, code)
        except OsragError as error:
            return [f'<p class="qz-report" role="alert">{escape(told(error, code))}</p>', ()]
        return [board_html(rows, code), tuple(row.item for row in rows if row.table == "open")[:MOST_OPEN]]

    def saved(self, open_: bool, code: Language) -> str:
        """The tables as a CSV file."""
        if not open_:
            return ""
        try:
            return as_file("osrag-class.csv", "text/csv", csv_of(rows_of(self._board, self._parts, code)))
        except OsragError as error:
            gr.Warning(told(error, code))
            return ""

    def drafted(self, place: str, open_: bool, code: Language, question: str) -> None:
        """A draft of an answer to the question, in the file of drafts."""
        if not open_ or not question.strip():
            return
        gr.Info(say("board_drafting", code))
        try:
            count = draft(self._parts, self.drafts, question.strip(), place, code)
        except (OsragError, OSError) as error:
            gr.Warning(told(error, code))
            return
        gr.Info(say("board_drafted" if count else "board_not_drafted", code, file=self.drafts.name))


def suggested(parts: Parts, place: str, language: Language) -> str:
    """A question to begin with; the instructor words it as the class asked it."""
    term, section = label(parts, place, language)
    return say("board_ask", language, about=term or section) if term or section else ""


def rows_of(board: Board, parts: Parts, language: Language) -> list[Row]:
    """All tables, one after the other. Raises OsragError where the file of the board cannot be read."""
    bank = parts.banks.now
    points = {point_of(one, bank) or one.id: one.knowledge_point or one.section or one.id
              for one in bank.exercises() if one.language == language}  # fmt: skip
    tried = {count.item: count.sessions for count in board.counts("tried")}
    rows = [
        Row("missed", one.item, points.get(one.item, one.item), one.sessions, tried.get(one.item))
        for one in board.counts("missed")
    ]
    rows += [Row("rubric", one.item, _point(one.item, bank, language), one.sessions) for one in board.counts("rubric")]
    for place in board.counts("open"):
        name = " · ".join(filter(None, label(parts, place.item, language)))
        rows.append(Row("open", place.item, name or say("board_elsewhere", language), place.sessions))
    names: Mapping[str, str] = {
        one.id: f"{one.id} · {clip(one.question, 60)}" for one in bank.exercises() if one.language == language
    }
    rows += [
        Row("disagrees", one.item, names.get(one.item, one.item), one.sessions) for one in board.counts("disagrees")
    ]
    rows += [Row("hint", one.item, names.get(one.item, one.item), one.sessions) for one in board.counts("hint")]
    rows += [
        Row("rung", one.item, say(f"hint_rung_{one.item}", language), one.sessions) for one in board.counts("rung")
    ]
    return rows


def _point(item: str, bank: Bank, language: Language) -> str:
    """`ID: words of the point` of a point of a rubric."""
    id_, _, number = item.rpartition("#")
    exercise = bank.get(f"{id_}/{language}")
    rubric = exercise.rubric if exercise else ()
    place = int(number) - 1
    return f"{id_}: {clip(rubric[place].point, 80)}" if place < len(rubric) else item


def board_html(rows: Sequence[Row], language: Language) -> str:
    """A table for each kind of count that there is; whose counts they are."""
    tables = []
    for name in dict.fromkeys(row.table for row in rows):
        own = [row for row in rows if row.table == name]
        lines = "".join(
            f"<tr><td>{escape(row.name)}</td><td>{row.sessions}{f' / {row.of}' if row.of else ''}</td></tr>"
            for row in own[:MOST_ROWS]
        )
        tables.append(f"<h4>{escape(say(f'board_{name}', language))}</h4><table>{lines}</table>")
    note = say("board_note" if rows else "board_nothing", language, least=LEAST)
    return f'<div class="qz-board"><p>{escape(note)}</p>{"".join(tables)}</div>'


def csv_of(rows: Sequence[Row]) -> bytes:
    """The rows as a table. A cell that a table program would run as a formula is quoted."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["table", "item", "name", "sessions", "of"])
    for row in rows:
        cells = [row.table, row.item, row.name, str(row.sessions), str(row.of or "")]
        writer.writerow([f"'{cell}" if cell.startswith(FORMULA) else cell for cell in cells])
    return out.getvalue().encode("utf-8-sig")
