"""Prepared answers beside the documents: read, bound to the pages that bear them out, withdrawn, taken out."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from osrag.app.info import collections
from osrag.book import answers
from osrag.book.answers import ANSWERS, PreparedAnswer, answers_of, read_answers
from osrag.book.build import copies_of
from osrag.errors import BadDocument
from osrag.index.manifest import read_manifest
from osrag.types import Language
from tests.book.documents import Documents
from tests.fakes import FakeEncoder

BOOK = """# Disks

A journal records what will be done before it is done. After a crash the journal is read, and what was begun is done.

# Memory

A page fault occurs when the page that is wanted is not in a frame.

# Locks

A spinlock burns the processor while it waits.
"""
BUCH = """# 磁盘

日志在操作之前记下将要做的事。崩溃之后，系统读日志，把开始了的操作做完。
"""
JOURNAL = {
    "id": "journal-what",
    "section": "1",
    "kind": "what",
    "en": {
        "questions": ["What is a journal?", "journal purpose"],
        "answer": [
            {"say": "It is written before the change.", "quote": "A journal records what will be done"},
            {"say": "A crash is repaired from it.", "quote": "After a crash the journal is read"},
        ],
    },
    "zh": {
        "questions": ["日志是什么？"],
        "answer": [
            {"say": "操作之前先记下要做的事。", "quote": "日志在操作之前记下将要做的事"},
            {"say": "崩溃之后靠它把操作做完。", "quote": "系统读日志，把开始了的操作做完"},
        ],
    },
}
SPINLOCK = {
    "id": "spinlock-cost",
    "section": "3",
    "kind": "why",
    "en": {
        "questions": ["Why is a spinlock costly?"],
        "answer": [{"say": "Waiting takes the processor.", "quote": "A spinlock burns the processor"}],
    },
}


class Shelf(Documents):
    def __init__(self, root: Path) -> None:
        super().__init__(root, root / "index" / "textbook")

    def answers(self, rows: Sequence[object] = (JOURNAL, SPINLOCK), name: str = "own.answers.jsonl") -> Path:
        lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
        return self.write(name, "\n".join(lines) + "\n")

    def held(self) -> Mapping[tuple[str, Language], PreparedAnswer]:
        found = ANSWERS.open(self.index, read_manifest(self.index), self.encoder.id)
        return answers_of(found.chunks()) if found is not None else {}


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.fixture
def built(shelf: Shelf) -> Shelf:
    shelf.build(shelf.write("book.md", BOOK), shelf.write("buch.md", BUCH), shelf.answers())
    return shelf


def changed(row: Mapping[str, Any], language: str, **fields: object) -> dict[str, Any]:
    return {**row, language: {**row[language], **fields}}


def test_each_statement_is_bound_to_the_passage_that_bears_it_out(built: Shelf) -> None:
    held = built.held()
    assert set(held) == {("journal-what", "en"), ("journal-what", "zh"), ("spinlock-cost", "en")}
    english = held["journal-what", "en"]
    assert english.questions == ("What is a journal?", "journal purpose")
    assert [one.text for one in english.statements] == [one["say"] for one in JOURNAL["en"]["answer"]]  # type: ignore[index]
    assert {id_ for one in english.statements for id_ in one.chunk_ids} == {"book.md#L3-1"}
    assert held["journal-what", "zh"].statements[0].chunk_ids == ("buch.md#L3-1",)


def test_an_answer_is_found_by_the_words_of_its_statements_at_its_first_question(built: Shelf) -> None:
    found = ANSWERS.open(built.index, read_manifest(built.index), built.encoder.id)
    assert found is not None
    asked = {row.text: found.keywords.scores("crash 崩溃")[at] for at, row in enumerate(found.searched())}
    assert [text for text, score in asked.items() if score > 0] == ["What is a journal?", "日志是什么？"]


def test_bad_lines_are_named_with_file_and_line_and_the_others_count(shelf: Shelf) -> None:
    english = JOURNAL["en"]
    rows = [
        "{no json",
        {**JOURNAL, "zh": english},
        {**SPINLOCK, "draft": True},
        changed(SPINLOCK, "en", answer=[{"say": "It burns.", "quote": "A lock"}]),
        {"id": "x", "section": "1", "kind": "what"},
        changed(SPINLOCK, "en", answer=[{"say": "It {+burns+}.", "quote": "A spinlock burns the processor"}] * 2),
        SPINLOCK,
    ]
    report = shelf.build(shelf.write("book.md", BOOK), shelf.answers(rows))
    said = dict(enumerate(report.warnings, start=1))
    assert report.answers == 1 and not report.failed and len(said) == 6
    assert said[1].startswith("own.answers.jsonl line 1: the line: invalid json")
    assert "line 2: journal-what is left out: zh: the question 'What is a journal?' is in the other language" in said[2]
    assert said[3] == "own.answers.jsonl line 3: spinlock-cost is left out: it is a draft, approve it first"
    assert "line 4" in said[4] and "'A lock' is too short" in said[4]
    assert "marks of an edit are left" in said[6] and "said twice" in said[6]
    assert "line 5: the line: value error, neither zh nor en" in said[5]


def test_a_file_of_a_hundred_thousand_lines_is_cut_and_its_faults_are_counted(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(answers, "MOST", 3)
    many = [changed({**SPINLOCK, "id": f"s{n}"}, "en", questions=[f"Why does lock {n} burn?"]) for n in range(9)]
    file = read_answers(shelf.answers(many))
    assert file.entry.chunks == 3
    (told,) = file.entry.warnings
    assert told.startswith("own.answers.jsonl line 4: s3 and what follows is left out: a file has at most 3 answers")
    broken = read_answers(shelf.answers([SPINLOCK, *["{"] * 50]))
    assert len(broken.entry.warnings) == 21 and broken.entry.warnings[-1].endswith("and 30 more lines")
    with pytest.raises(BadDocument, match="no line holds a prepared answer"):
        read_answers(shelf.answers(["{"] * 3))


def test_of_two_answers_to_one_question_the_second_is_named_and_left_out(shelf: Shelf) -> None:
    twin = changed({**SPINLOCK, "id": "twin"}, "en", questions=["Why is a spinlock COSTLY"])
    again = changed(SPINLOCK, "en", questions=["Why not spin for ever?"])
    report = shelf.build(
        shelf.write("book.md", BOOK), shelf.answers([SPINLOCK]), shelf.answers([twin, again], "b.answers.jsonl")
    )
    assert set(shelf.held()) == {("spinlock-cost", "en")} and report.answers == 1
    asked, taken = report.warnings
    assert asked.startswith(
        "b.answers.jsonl line 1: twin (en) is withdrawn: 'Why is a spinlock COSTLY' is asked in own."
    )
    assert (
        taken == "b.answers.jsonl line 2: spinlock-cost (en) is withdrawn: the id is that of own.answers.jsonl line 1"
    )


def test_a_changed_page_withdraws_its_answers_by_name_and_brings_them_back(built: Shelf) -> None:
    report = built.build(built.write("book.md", BOOK.replace("After a crash", "After a power cut")))
    assert report.answers == 2 and set(built.held()) == {("journal-what", "zh"), ("spinlock-cost", "en")}
    assert report.warnings == (
        "own.answers.jsonl line 1: journal-what (en) is withdrawn: "
        "no document in its language has 'After a crash the journal is read'",
    )
    assert built.build(built.write("book.md", BOOK)).answers == 3
    assert len(built.held()["journal-what", "en"].statements) == 2


def test_the_other_edition_is_not_missed(shelf: Shelf) -> None:
    report = shelf.build(shelf.write("book.md", BOOK), shelf.answers())
    assert report.warnings == () and set(shelf.held()) == {("journal-what", "en"), ("spinlock-cost", "en")}


def test_the_same_files_twice_write_nothing_and_a_file_can_be_removed(built: Shelf) -> None:
    before = {path: path.stat().st_mtime_ns for path in built.index.rglob("*-*.*")}
    report = built.build(built.root / "book.md", built.root / "own.answers.jsonl")
    assert report.unchanged == ("book.md", "own.answers.jsonl") and report.answers == 3
    assert {path: path.stat().st_mtime_ns for path in built.index.rglob("*-*.*")} == before
    assert built.build(remove=["own.answers.jsonl"]).removed == ("own.answers.jsonl",)
    assert built.held() == {} and not list((built.index / "answers").glob("*.parquet"))


def test_they_are_told_by_info_and_renewed_for_another_encoder(built: Shelf, tmp_path: Path) -> None:
    assert collections(tmp_path / "index")["textbook"]["prepared_answers"] == 3
    other = FakeEncoder(name="other", revision="o/1", dim=32)
    place = copies_of(built.index, tmp_path).make(other, lambda *_: None)
    renewed = ANSWERS.open(place, read_manifest(place), other.id)
    assert renewed is not None and renewed.dense.dim == 32 and len(answers_of(renewed.chunks())) == 3
