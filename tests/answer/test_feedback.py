"""What visitors say of answers: kept where an operator asked for it, and nowhere else."""

import json

from osrag.app.feedback import feedback_of
from osrag.settings import Settings
from osrag.types import Turn

TURN = Turn("什么是死锁？", "两个进程互相等待。 [1]", sources=("[1] 操作系统 · 5.1 · 第 35 页",))


def test_nothing_is_taken_unless_the_operator_names_a_folder():
    assert feedback_of(Settings(_env_file=None)) is None


def test_each_word_is_a_line_with_the_question_and_its_sources(tmp_path):
    feedback = feedback_of(Settings(_env_file=None, feedback_dir=tmp_path / "said"))
    assert feedback.take(TURN, "wrong") and feedback.take(TURN, "wrong")  # the page sends a word of the form twice
    assert feedback.take(TURN, "good")
    lines = [json.loads(line) for line in (tmp_path / "said" / "feedback.jsonl").read_text("utf-8").splitlines()]
    assert [line["verdict"] for line in lines] == ["wrong", "good"]
    assert lines[0]["question"] == TURN.question and lines[0]["sources"] == list(TURN.sources)


def test_a_folder_that_cannot_be_written_loses_the_word_and_nothing_else(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    assert not feedback_of(Settings(_env_file=None, feedback_dir=tmp_path / "file")).take(TURN, "good")
    assert "cannot be kept" in caplog.text and TURN.question not in caplog.text
