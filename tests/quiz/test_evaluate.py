"""Figures of the evaluation, checked by hand."""

import json

import pytest

from osrag.cli import main
from osrag.errors import BadInput
from osrag.evaluate.figures import plain
from osrag.evaluate.measures import agreement, bins, ece, reliability_svg
from osrag.evaluate.quiz import (
    LabelledAnswer,
    choice_rows,
    is_marked,
    key_rows,
    picture,
    point_rows,
    read_bank,
    read_marked,
    reference_rows,
)
from osrag.quiz.bank import shipped_bank
from tests.quiz.parts import CHOICE, TEXT_EN, judge_of, option


def test_calibration_error_by_hand():
    # Two answers at .9, one right: gap .4. Two at .5, one right: gap 0. Mean weighted by count: .2.
    assert ece([0.9, 0.9, 0.5, 0.5], [True, False, True, False]) == pytest.approx(0.2)
    assert ece([], []) == 0
    assert [one.count for one in bins([1.0, 0.0], [True, False])] == [1, 1]


def test_the_plot_is_a_picture():
    svg = reliability_svg([0.9, 0.2], [True, False])
    assert "ECE" in svg and svg.startswith("<svg")


def test_agreement_by_hand():
    found = agreement([1.0, 0.5, 0.0], [1.0, 0.5, 0.3])
    assert found["mae"] == 0.1 and found["within_a_tenth"] == pytest.approx(0.6667)
    assert agreement([1, 1], [0, 1])["pearson"] == 0.0


def test_marked_answers_are_read(tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("id,question,desired_answer,student_answer,score_avg\n1,Q,R,S,2.5\n")
    assert is_marked(path) and read_marked(path)[0].mark == 0.5
    path.write_text("id,question,desired_answer,student_answer,score_avg\n1,Q,R,S,much\n")
    with pytest.raises(BadInput, match=r"m\.csv:2"):
        read_marked(path)


def test_a_set_is_evaluated(tmp_path):
    path = tmp_path / "b.jsonl"
    rows = [CHOICE, {**TEXT_EN, "reference": "mutual exclusion, hold and wait, circular wait"}]
    path.write_text("\n".join(map(json.dumps, rows)))
    judge = judge_of(tmp_path / "i", belief=option("long-term scheduler"))
    bank = read_bank(path)
    assert plain(key_rows(bank.keyed))["all"] == {"n": 1, "key_is_right": 1, "another_is_wrong": 1}
    (choice,) = choice_rows(judge, bank.choice)
    assert plain([choice])["all"]["with_evidence"] == 1 and plain([choice])["all"]["fallbacks"] == 0
    assert choice.note["model"] and "1 answers" in picture([choice])
    assert plain(reference_rows(judge, bank.texts))["all"]["n"] == 1


def test_only_questions_that_the_book_states_are_asked_where_a_reader_says_which(tmp_path):
    path, labels = tmp_path / "set.jsonl", tmp_path / "labels.jsonl"
    path.write_text("\n".join(json.dumps({**CHOICE, "id": name}) for name in ("a", "b", "c")))
    labels.write_text('{"id": "set:1", "label": "stated"}\n{"id": "set:2", "label": "worked"}\n')
    judge = judge_of(tmp_path / "i", belief=option("long-term scheduler"))
    rows = choice_rows(judge, read_bank(path, covered=labels).choice)
    assert [row.note["id"] for row in rows] == ["b/en"]
    labels.write_text('{"id": "other:1", "label": "stated"}\n')
    with pytest.raises(BadInput, match="names no question"):
        read_bank(path, covered=labels)


def test_marks_of_labelled_answers_stand_beside_the_labels(tmp_path):
    exercise = shipped_bank().exercises()
    item = next(one for one in exercise if one.type == "short_answer" and one.language == "en" and len(one.rubric) > 1)
    silent = LabelledAnswer(id=item.id, language="en", answer="?", said=[0.0] * len(item.rubric))
    (row,) = point_rows(judge_of(tmp_path / "i"), [silent], exercise)
    assert row.scores["mae"] == row.scores["pearson"] and row.scores["mae"][1] == 0
    assert row.scores["not_said_earns"][1] == len(item.rubric) and row.scores["said_earns"] == (0, 0)


def test_commands(tmp_path, capsys):
    good, bad = tmp_path / "g.csv", tmp_path / "b.jsonl"
    good.write_text("question,A,B,answer\nWhich?,one,two,B\n")
    bad.write_text('{"question": "x"\n')
    assert main(["quiz", "check", str(good)]) == 0
    assert main(["quiz", "check", str(good), str(bad)]) == 1
    assert "b.jsonl:1" in capsys.readouterr().err
    out = tmp_path / "out.jsonl"
    assert main(["quiz", "import", str(good), "--out", str(out)]) == 0
    assert json.loads(out.read_text())["answer"] == ["B"]
    assert main(["quiz", "check", str(out)]) == 0
    assert main(["quiz", "check", str(tmp_path / "none.csv")]) == 1
