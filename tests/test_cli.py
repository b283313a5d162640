"""The command line where no source, index or model is needed: what is read, and who is blamed."""

import io
import json
import sys
from pathlib import Path

import pytest

from osrag.cli import main, parser
from osrag.cli.ask import questions


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    (line,) = capsys.readouterr().err.splitlines()
    return line


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"{", "is no question: not JSON"), (b"\xff{}", "is not UTF-8 at byte 0"), (None, "No such file or directory")],
)
def test_a_file_that_cannot_be_judged_is_blamed_itself(content, words: str, tmp_path: Path, capsys):
    path = tmp_path / "case.json"
    if content is not None:
        path.write_bytes(content)
    assert main(["judge", "--file", str(path)]) == 1
    said = complaint(capsys)
    assert str(path) in said and words in said and "standard input" not in said


def test_standard_input_is_blamed_for_its_own_fault(monkeypatch: pytest.MonkeyPatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO("{"))
    assert main(["judge"]) == 1
    said = complaint(capsys)
    assert "standard input is no question: not JSON" in said and "student_answer" in said


def test_a_batch_keeps_its_empty_lines(tmp_path: Path):
    (tmp_path / "q.txt").write_text("a\n\nb\n", encoding="utf-8")
    assert list(questions(tmp_path / "q.txt", [])) == ["a", "", "b"]
    assert list(questions(None, ["what", "is", "it"])) == ["what is it"]


@pytest.mark.parametrize("source", ["textbook", "kernel"])
def test_a_batch_that_cannot_be_read_is_named(source: str, tmp_path: Path, capsys):
    assert main(["search", source, "--batch", str(tmp_path / "none.txt")]) == 1
    assert "--batch" in complaint(capsys)
    (tmp_path / "latin.txt").write_bytes("é".encode("latin-1"))
    assert main(["search", source, "--batch", str(tmp_path / "latin.txt")]) == 1
    assert "is not UTF-8" in complaint(capsys)


def test_no_question_is_said(capsys):
    assert main(["search", "kernel"]) == 1
    assert "no question was given" in complaint(capsys)


def test_every_command_has_its_flags():
    """The commands, sources and flags that scripts and documents rely on."""
    found = {}

    def walk(name: str, one) -> None:
        below = [action for action in one._actions if getattr(action, "choices", None) and action.dest != "help"]
        nested = [action for action in below if hasattr(action.choices, "items")]
        for action in nested:
            for word, command in action.choices.items():
                walk(f"{name} {word}".strip(), command)
        if not nested:
            flags = [flag for action in one._actions for flag in action.option_strings if flag.startswith("--")]
            found[name] = sorted(set(flags) - {"--help"})

    walk("", parser())
    search = ["--batch", "--effort", "--index", "--json", "--k"]
    change = ["--fresh", "--json", "--list", "--out", "--remove"]
    assert found == {
        "ask": ["--effort", "--json", "--source"],
        "search textbook": sorted([*search, "--category", "--file", "--language"]),
        "search kernel": search,
        "build textbook": sorted([*change, "--category", "--kind", "--language", "--licence", "--url", "--version"]),
        "build kernel": sorted([*change, "--describe", "--source", "--subsystem", "--walks"]),
        "eval all": ["--data", "--fresh", "--index", "--out", "--part", "--quick"],
        "eval textbook": ["--index", "--k", "--show-misses"],
        "eval kernel": ["--effort", "--index", "--k", "--part", "--show-misses"],
        "eval answers": ["--index", "--part", "--show-misses", "--unprepared"],
        "eval quiz": ["--covered", "--covered-by", "--index", "--plot", "--rows", "--sample", "--turns"],
        "eval lab": ["--development", "--model", "--show-misses"],
        "eval logs": ["--index", "--part", "--show-misses"],
        "lab": ["--ask", "--exercise", "--json", "--language", "--level", "--list", "--seed", "--svg"],
        "fetch": ["--profile"],
        "info": ["--json"],
        "quiz check": ["--run"],
        "quiz import": ["--out"],
        "quiz export": ["--chapter", "--lang", "--out", "--to"],
        "judge": ["--file", "--json", "--stream"],
        "space": ["--check", "--hardware", "--json", "--push"],
        "prepare": ["--index", "--language", "--most", "--review", "--section"],
            "push-index": ["--index", "--private"],
        "renew": ["--index", "--kernel"],
    }  # fmt: skip


def test_a_bank_goes_to_another_program_and_what_it_cannot_hold_is_named(tmp_path: Path, capsys):
    file = tmp_path / "ch05.gift"
    assert main(["quiz", "export", "--to", "gift", "--lang", "en", "--chapter", "5", "--out", str(file)]) == 0
    told = capsys.readouterr()
    assert "rubric" in told.err and json.loads(told.out)["questions"] == 29
    assert main(["quiz", "import", str(file), "--out", str(tmp_path / "back.jsonl")]) == 0
    assert main(["quiz", "check", str(tmp_path / "back.jsonl")]) == 0
    assert main(["quiz", "export", "--to", "gift", "--chapter", "99", "--out", str(file)]) == 1
    assert "no questions in 'zh' of chapter 99" in capsys.readouterr().err


def test_a_bank_is_checked_and_imported(tmp_path: Path, capsys):
    good = tmp_path / "good.jsonl"
    good.write_text('{"question": "Why?", "reference": "Because."}\n', encoding="utf-8")
    assert main(["quiz", "check", str(good)]) == 0
    assert json.loads(capsys.readouterr().out)["questions"] == 1
    assert main(["quiz", "import", str(good), "--out", str(tmp_path / "no" / "out.jsonl")]) == 1
    assert "cannot write" in capsys.readouterr().err


@pytest.mark.slow
def test_a_search_is_kept_within_a_category_that_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "textbook", "--category", "film", "mmap"]) != 0
    assert "there is no category 'film'" in capsys.readouterr().err
