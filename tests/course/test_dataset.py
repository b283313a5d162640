"""The public set of questions is what its builder makes, loads, and stands in the kernel that it names."""

import json
import sys

import pytest
import yaml

from osrag.settings import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import dataset

sys.path.remove(str(ROOT / "tools"))
CARD = (ROOT / "datasets" / "README.md").read_text(encoding="utf-8")


def test_the_files_are_those_that_the_builder_makes():
    for path, text in dataset.files().items():
        assert path.read_text(encoding="utf-8") == text, path


def test_every_function_call_and_line_stands_in_the_shipped_kernel():
    assert list(dataset.faults(dataset.shipped_store())) == []


def test_there_are_enough_questions_in_both_languages():
    rows = {name: [row for _, row in made] for name, made in
            (("kernel", dataset.kernel_rows()), ("course", dataset.course_rows()))}  # fmt: skip
    assert len(rows["kernel"]) >= 100 and len(rows["course"]) >= 100
    assert all(row["functions"] and row["steps"] for row in rows["kernel"])
    for row in rows["kernel"]:
        assert any("\u4e00" <= sign <= "\u9fff" for sign in row["question_zh"]), row["id"]
        assert not any("\u4e00" <= sign <= "\u9fff" for sign in row["question_en"]), row["id"]
    for found in rows.values():
        assert len({row["id"] for row in found}) == len(found)


def test_the_card_names_every_file():
    card = yaml.safe_load(CARD.split("---")[1])
    named = {one["path"] for config in card["configs"] for one in config["data_files"]}
    assert named == {path.relative_to(dataset.OUT).as_posix() for path in dataset.files()}
    assert card["license"] == "cc-by-4.0" and set(card["language"]) == {"zh", "en"}


@pytest.mark.parametrize("name", ["kernel", "course"])
def test_each_row_has_the_same_columns_of_the_same_kind(name):
    columns = set()
    for path in sorted((dataset.OUT / name).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            columns.add(tuple((key, type(value).__name__) for key, value in json.loads(line).items()))
    assert len(columns) == 1
