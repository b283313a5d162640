"""`eval all`: sets are measured one after the other, go on where they stopped, and absent data is said to be absent."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from osrag.errors import BadInput
from osrag.evaluate import board as boards
from osrag.evaluate.board import Board
from osrag.evaluate.figures import Row, share_of_one
from osrag.evaluate.report import Floor, Part, Report, Set, Value, as_markdown, read_report, readme_table
from osrag.evaluate.tasks import Given, Task, tasks
from osrag.wording import table


def board(tmp_path: Path, **options: Any) -> Board:
    parts = SimpleNamespace(chat=None, index_dir=tmp_path / "index", running=lambda: {"encoder": "e5", "chat": None})
    return Board(Given(parts), tmp_path / "out" / "r.md", tmp_path / "journals", **options)


def use(monkeypatch: pytest.MonkeyPatch, *some: Task) -> None:
    monkeypatch.setattr(boards, "tasks", lambda: some)


def task(rows: Any, *, count: int = 4, name: str = "pages_held_out", **more: Any) -> Task:
    return Task(name.partition("_")[0], name, more.pop("role", "held_out"), lambda given: range(count), rows, **more)


def right(given: Given, items: Sequence[int]) -> Iterator[Row]:
    yield from (Row((), {"hit@1": share_of_one(item > 0)}) for item in items)


def test_a_set_is_measured_with_its_floor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    use(monkeypatch, task(right))
    report = board(tmp_path).run()
    one = report.set("pages_held_out")
    assert one and (one.state, one.questions, one.models) == ("whole", 4, "e5")
    value = one.value("hit@1")
    assert value and (value.value, value.n, value.missed) == (0.75, 4, True)
    assert read_report(tmp_path / "out" / "r.json") == report
    assert "≥ 0.85 ✗" in (tmp_path / "out" / "r.md").read_text(encoding="utf-8")


def test_what_was_stopped_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    asked: list[int] = []

    def broken(given: Given, items: Sequence[int]) -> Iterator[Row]:
        for item in items:
            if item == 2 and len(asked) < 3:
                asked.append(-1)
                raise KeyboardInterrupt
            asked.append(item)
            yield from right(given, [item])

    use(monkeypatch, task(broken))
    with pytest.raises(KeyboardInterrupt):
        board(tmp_path).run()
    journal = tmp_path / "journals" / "pages_held_out.jsonl"
    journal.write_text(journal.read_text(encoding="utf-8") + '{"groups": [], "sco', encoding="utf-8")  # killed here
    report = board(tmp_path).run()
    assert asked == [0, 1, -1, 2, 3]
    assert report.sets[0].state == "whole" and report.sets[0].questions == 4


def test_other_questions_are_measured_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    use(monkeypatch, task(right))
    board(tmp_path).run()
    use(monkeypatch, task(right, count=6))
    assert board(tmp_path).run().sets[0].questions == 6


def test_a_part_alone_leaves_the_others_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    both = task(right), task(right, name="lab_computing")
    use(monkeypatch, *both)
    report = board(tmp_path).run(["lab"])
    assert [one.state for one in report.sets] == ["open", "whole"]
    report = board(tmp_path).run(["pages"])
    assert [one.state for one in report.sets] == ["whole", "whole"]
    with pytest.raises(BadInput, match="no part nothing"):
        board(tmp_path).run(["nothing"])


def test_a_sample_is_said_to_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    use(monkeypatch, task(right, quick=3))
    one = board(tmp_path, quick=True).run().sets[0]
    assert (one.state, one.questions, one.of) == ("sampled", 3, 4)


def test_what_is_absent_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def nowhere(given: Given, items: Sequence[int]) -> Iterator[Row]:
        raise BadInput("no such index")

    model = task(right, name="choice_bank", needs_chat=True)
    data = Task("logs", "logs_public", "outside", lambda given: [given.data("oops")], right)
    use(monkeypatch, task(nowhere), model, data)
    report = board(tmp_path).run()
    assert [one.state for one in report.sets] == ["absent"] * 3
    assert "no such index" in report.sets[0].why and "chat model" in report.sets[1].why
    assert "--data" in report.sets[2].why and "Not measured: needs oops" in as_markdown(report)


def test_times_are_told_of_the_machine_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def timed(given: Given, items: Sequence[int]) -> Iterator[Row]:
        yield from (Row((), {"hit@1": share_of_one(True), "seconds@50": (1.0, 1.0)}) for _ in items)

    use(monkeypatch, task(timed), task(timed, name="speed_book", role="machine"))
    found = [[value.measure for value in one.groups[0].values] for one in board(tmp_path).run().sets]
    assert found == [["hit@1"], ["seconds@50"]]


def test_every_set_has_its_words_and_its_questions_where_they_are_shipped():
    for one in tasks():
        assert f"measured_set_{one.name}" in table() and f"measured_part_{one.part}" in table()
        if one.role != "outside" and "syzkaller" not in one.name and one.name not in OTHERS:
            assert one.items(Given(None)), one.name  # type: ignore[arg-type]


OTHERS = ("logs_public", "grading_human", "grading_human_model")  # need data that is not shipped


def test_the_table_of_the_readme_tells_what_was_not_measured():
    value = Value(measure="hit@1", value=0.9, low=0.8, high=1, n=52, floor=Floor(least=0.95))
    one = Set(part="pages", name="pages_held_out", role="held_out", state="whole",
              groups=(Part(group="all", n=52, values=(value,)),))  # fmt: skip
    first, second, *_ = readme_table(Report(sets=(one,))).splitlines()[2:]
    assert first.endswith("| .900 | .800–1 | 52 | ≥ 0.95, missed |")
    assert second.endswith("| not measured |  |  |  |")


def test_a_report_of_another_form_is_refused(tmp_path: Path):
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"sets": [{"part": "pages"}]}), encoding="utf-8")
    with pytest.raises(BadInput, match="not a report"):
        read_report(path)
