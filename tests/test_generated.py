"""Generated input, mostly bad, for every reader: some 2,400 cases, the same on each run.

A file comes from a good one of its kind by cutting, turning and planting bytes; a text and an argument come from what
has broken programs before. Whatever comes, the reply is a value or one sentence of osrag's own.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from osrag.book.document import SeenLine
from osrag.book.read import kind_named, read_material, readers
from osrag.errors import BadDocument, BadInput, OsragError
from osrag.kernel.logs.read import read_log
from osrag.lab.catalog import KINDS
from osrag.lab.reading import read
from osrag.lab.solve import solve
from osrag.quiz.bank import SUFFIXES, read_file
from tests.generated import CASES, HOSTILE, Mutation, mutated, mutated_inside, mutations, texts, values
from tests.office import make_epub, make_slides, make_word, paragraph
from tests.pdfs import lines, make_pdf

DOCUMENTS: dict[str, Callable[[Path], object]] = {
    "a.pdf": lambda path: make_pdf(
        path, [lines(40, 60, ["A lock is held by one thread.", "It waits."])], title="Locks"
    ),
    "a.docx": lambda path: make_word(path, paragraph("Locks", "1"), paragraph("A lock is held by one thread.")),
    "a.pptx": lambda path: make_slides(path, [[(0, 0, "Locks"), (0.1, 0.3, "A lock is held by one thread.")]]),
    "a.epub": lambda path: make_epub(path, "<h1>Locks</h1><p>A lock is held by one thread.</p>"),
    "a.html": lambda path: path.write_text("<html><body><h1>Locks</h1><table><tr><td>a</td></tr></table><p>A lock."),
    "a.ipynb": lambda path: path.write_text(
        json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Locks\n", "A lock."], "metadata": {}}]})
    ),
    "a.md": lambda path: path.write_text(
        "---\ntitle: Locks\n---\n# Locks\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```c\nx();\n```\n"
    ),
    "faq.md": lambda path: path.write_text("# FAQ\n\n## What is a lock?\n\nA lock.\n\n## What is a key?\n\nA key.\n"),
    "api.md": lambda path: path.write_text(
        "# API\n\n## open\n\n`int open(const char *p, int f);`\n\nOpens.\n\n## read\n\n`int read(int fd);`\n\nReads.\n"
    ),
}


def picture(path: Path) -> None:
    """A picture with a dark bar, in the form that its name says; a TIFF has two pages."""
    page = Image.new("RGB", (60, 40), "white")
    page.paste((0, 0, 0), (10, 10, 50, 14))
    more: dict[str, object] = {"save_all": True, "append_images": [page]} if path.suffix.startswith(".tif") else {}
    page.save(path, **more)


FIRST = {"pdf": "a.pdf", "word": "a.docx", "slides": "a.pptx", "epub": "a.epub", "html": "a.html"}
FIRST |= {"notebook": "a.ipynb", "markdown": "a.md"}
NAMES = [*DOCUMENTS, *(f"b{suffix}" for reader in readers().values() for suffix in reader.suffixes)]


def make(path: Path) -> None:
    """A good document of that name."""
    kind = kind_named(path.suffix)
    DOCUMENTS.get(path.name, picture if kind == "picture" else DOCUMENTS[FIRST[str(kind)]])(path)


@pytest.mark.parametrize("name", NAMES)
def test_a_changed_document_is_read_or_refused_in_words(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    """Every suffix that a reader takes is tried; 60 changes of one file of each kind, 20 of the others."""
    line = SeenLine("A lock is held by one thread.", 0.9, 5, 5, 55, 15)
    monkeypatch.setattr("osrag.book.formats.picture.recognise", lambda *_: (line,))
    path = tmp_path / name
    make(path)
    good = path.read_bytes()
    read_material(path)  # the seed itself is good

    @settings(CASES, max_examples=60 if name in DOCUMENTS or name in ("b.png", "b.tif") else 20)
    @given(mutations, st.integers(0, 20))
    def holds(changes: list[Mutation], inside: int) -> None:
        path.write_bytes(mutated_inside(good, changes, inside) if good[:2] == b"PK" else mutated(good, changes))
        try:
            material = read_material(path)
        except BadDocument as error:
            assert error.sentence()
            return
        for chunk in material.chunks:
            assert chunk.text.strip() and 1 <= chunk.where.first <= chunk.where.last
            chunk.text.encode("utf-8")  # no half characters: they would break the index

    holds()


BANKS = {
    ".jsonl": '{"id": "q1", "question": "A lock?", "type": "judge", "answer": "T"}\n{"id": "q2", "question": "B?"}\n',
    ".json": '[{"id": "q1", "question": "A lock?", "options": ["yes", "no"], "answer": "A"}]',
    ".csv": "id,question,type,A,B,answer\nq1,A lock?,single_choice,yes,no,A\n",
    ".gift": "::q1:: A lock? {=yes ~no}\n\n::q2:: A key? {T}\n",
    ".txt": "::q1:: A lock? {=yes ~no}\n",
    ".xml": '<?xml version="1.0"?><quiz><question type="truefalse"><name><text>q1</text></name><questiontext>'
    '<text>A lock?</text></questiontext><answer fraction="100"><text>true</text></answer></question></quiz>',
}


def test_every_kind_of_bank_is_tried():
    assert set(BANKS) == set(SUFFIXES)


@pytest.mark.parametrize("suffix", BANKS)
def test_a_changed_bank_is_read_or_refused_in_words(tmp_path: Path, suffix: str):
    path = tmp_path / f"bank{suffix}"

    @settings(CASES, max_examples=60)
    @given(mutations)
    def holds(changes: list[Mutation]) -> None:
        path.write_bytes(mutated(BANKS[suffix].encode(), changes))
        try:
            bank = read_file(path)
        except BadInput as error:
            assert error.sentence()
            return
        assert all(exercise.id and exercise.question for exercise in bank.exercises)

    holds()


@settings(CASES, max_examples=60)
@given(values)
def test_a_row_of_a_bank_may_hold_anything(tmp_path_factory: pytest.TempPathFactory, value):
    path = tmp_path_factory.mktemp("bank") / "bank.jsonl"
    path.write_text(json.dumps({"id": "q", "question": "A lock?", "options": value, "answer": value, "rubric": value}))
    read_file(path)


LOG = (
    "BUG: KASAN: use-after-free in remove_wait_queue+0x10/0x20 kernel/sched/wait.c:50\nCall Trace:\n do_exit+0x1/0x2\n"
)


@settings(CASES, max_examples=100)
@given(mutations)
def test_any_text_is_a_log_or_none(changes: list[Mutation]):
    read_log(mutated(LOG.encode(), changes).decode("utf-8", "replace"))


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS.keys())
def test_a_computed_exercise_names_what_is_wrong_with_any_values(kind):
    fields = list(kind.parameters.model_fields)

    @settings(CASES, max_examples=12)
    @given(st.fixed_dictionaries({}, optional=dict.fromkeys(fields, values)))
    def holds(given_values) -> None:
        try:
            solved = solve(kind, given_values)
        except OsragError:
            return
        assert solved.solution or solved.missing or solved.faults

    holds()


EXERCISES = ("LRU, 3 frames, 7 0 1 2 0 3", "P1 0 5, P2 1 3, P3 2 8, SRTF", "磁头 53，SCAN：98 183 37")


@settings(CASES, max_examples=40)
@given(texts, st.sampled_from(EXERCISES))
def test_any_text_is_an_exercise_in_words_or_none(text: str, exercise: str):
    read(f"{exercise} {text}")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("exercise", EXERCISES, ids=range(len(EXERCISES)))
def test_each_text_that_broke_programs_is_an_exercise_in_words_or_none(text: str, exercise: str):
    read(f"{exercise} {text}")
