"""`build kernel`, `search kernel`, `eval kernel` as one runs them, with a small tree."""

import json
import lzma
from pathlib import Path

import pytest

from osrag.cli import main
from osrag.index.manifest import NAME, read_manifest
from tests.fakes import FakeEncoder, ScriptedChat
from tests.kernel.tree import FILES, write_archive, write_tree

K2_CHUNK = {"chunk_id", "function_name", "start_line", "end_line", "description", "score", "content"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for everything, and a small encoder."""
    monkeypatch.setenv("OSRAG_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("osrag.models.load.load_encoder", lambda *_: FakeEncoder())
    monkeypatch.setattr("osrag.cli.build.WALKS", tmp_path / "none")  # those of the course are of a larger kernel
    return tmp_path


def run(*words: object) -> int:
    return main([str(word) for word in words])


def build(home: Path, source: Path, *names: str, extra: tuple[str, ...] = ()) -> int:
    wanted = [word for name in names for word in ("--subsystem", name)]
    return run("build", "kernel", "--source", source, *wanted, "--out", home / "index", *extra)


def rows(capsys: pytest.CaptureFixture[str]) -> list[dict]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_from_an_archive_to_functions(home: Path, capsys: pytest.CaptureFixture[str]):
    archive = home / "linux-source-6.1.tar.xz"
    write_archive(archive)
    assert build(home, archive, "kernel", "mm", extra=("--json",)) == 0
    made = rows(capsys)
    assert [(row["subsystem"], row["kernel_version"], row["functions"]) for row in made] == [
        ("kernel", "6.1.192", 6),
        ("mm", "6.1.192", 2),
    ]
    assert run("search", "kernel", "--index", home / "index", "--k", 3, "--json", "what does try_to_wake_up do") == 0
    (found,) = rows(capsys)
    assert {"query", "timestamp", "retrieved_files", "timings_ms"} <= set(found)
    first = found["retrieved_files"][0]["chunks"][0]
    assert set(first) >= K2_CHUNK
    assert first["function_name"] == "try_to_wake_up"


def test_a_batch_is_one_object_a_line(home: Path, capsys: pytest.CaptureFixture[str]):
    build(home, write_tree(home / "tree"), "kernel")
    batch = home / "questions.txt"
    batch.write_text("fair_pick 做什么？\n\nwhat does schedule do\n", encoding="utf-8")
    capsys.readouterr()
    assert run("search", "kernel", "--index", home / "index", "--batch", batch, "--json") == 0
    assert [row["query"] for row in rows(capsys)] == ["fair_pick 做什么？", "", "what does schedule do"]


def test_without_json_it_is_for_a_reader(home: Path, capsys: pytest.CaptureFixture[str]):
    build(home, write_tree(home / "tree"), "mm")
    run("search", "kernel", "--index", home / "index", "brk")
    out = capsys.readouterr().out
    assert "Linux 6.1.192" in out and "mm/memory.c:9-12" in out


def test_the_second_build_says_unchanged(home: Path, capsys: pytest.CaptureFixture[str]):
    source = write_tree(home / "tree")
    build(home, source, "kernel")
    assert "(built)" in capsys.readouterr().out
    assert build(home, source, "kernel") == 0
    assert "(unchanged)" in capsys.readouterr().out


def test_list_and_remove(home: Path, capsys: pytest.CaptureFixture[str]):
    build(home, write_tree(home / "tree"), "kernel", "mm")
    capsys.readouterr()
    assert run("build", "kernel", "--out", home / "index", "--list", "--json") == 0
    assert [row["subsystem"] for row in rows(capsys)] == ["kernel", "mm"]
    before = (home / "index" / "mm_chunks" / NAME).stat().st_mtime_ns
    assert run("build", "kernel", "--out", home / "index", "--remove", "kernel") == 0
    assert sorted(path.name for path in (home / "index").iterdir()) == ["mm_chunks", "mm_files"]
    assert (home / "index" / "mm_chunks" / NAME).stat().st_mtime_ns == before
    assert run("build", "kernel", "--out", home / "index", "--remove", "fs") == 1
    assert "holds no subsystem 'fs'" in capsys.readouterr().err


def test_eval_counts(home: Path, capsys: pytest.CaptureFixture[str]):
    build(home, write_tree(home / "tree"), "kernel", "mm")
    asked = [
        {"question": "what does try_to_wake_up do", "gold_functions": ["try_to_wake_up"],
         "gold_files": ["kernel/sched/core.c"], "language": "en"},
        {"question": "匿名页缺页怎么处理", "gold_functions": ["no_such"],
         "gold_files": ["mm/memory.c"], "language": "zh"},
        {"question": "What does frobnicate_it do?"},
    ]  # fmt: skip
    file = home / "q.jsonl"
    file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in asked), encoding="utf-8")
    capsys.readouterr()
    assert run("eval", "kernel", file, "--index", home / "index", "--show-misses") == 0
    miss, figures = rows(capsys)
    assert miss["gold"] == ["no_such"]
    assert figures["all"]["function@10"] == 0.5 and figures["en"]["mrr"] == 1.0
    assert figures["zh"]["file@5"] == 1.0
    assert figures["absent"] == {"n": 1, "refused": 1.0}


def test_deep_asks_the_model_and_drops_names_it_invented(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    build(home, write_tree(home / "tree"), "kernel", "mm")
    reply = {
        "reasoning": "r",
        "search_keywords": ["anonymous memory"],
        "identifiers": ["do_anonymous_page", "no_such_fn"],
    }
    chat = ScriptedChat([[json.dumps(reply)]])
    monkeypatch.setattr("osrag.models.load.load_chat_with_fallback", lambda *_: (chat, ()))
    capsys.readouterr()
    assert run("search", "kernel", "--index", home / "index", "--effort", "deep", "--json", "malloc 的页在哪里来") == 0
    (found,) = rows(capsys)
    names = [chunk["function_name"] for file in found["retrieved_files"] for chunk in file["chunks"]]
    assert "do_anonymous_page" in names
    assert found["missing"] == []
    assert "suggest" in found["timings_ms"]


# -- bad input: one clear sentence each


def complaint(capsys: pytest.CaptureFixture[str]) -> str:
    lines = [line for line in capsys.readouterr().err.splitlines() if line.startswith("osrag: ")]
    assert len(lines) == 1
    return lines[0]


def test_no_source(home: Path, capsys: pytest.CaptureFixture[str]):
    assert build(home, home / "nowhere.tar.xz", "kernel") == 1
    said = complaint(capsys)
    assert "no kernel source at" in said and "apt install" in said


def test_no_subsystem_is_named(home: Path, capsys: pytest.CaptureFixture[str]):
    assert build(home, write_tree(home / "tree")) == 1
    assert "--subsystem" in complaint(capsys)


def test_an_archive_without_the_subsystem(home: Path, capsys: pytest.CaptureFixture[str]):
    archive = home / "a.tar.xz"
    write_archive(archive, {name: text for name, text in FILES.items() if not name.startswith("kernel/")})
    assert build(home, archive, "kernel") == 1
    said = complaint(capsys)
    assert "no C files under 'kernel'" in said and "mm" in said
    assert not (home / "index").exists()


def test_a_subsystem_that_does_not_exist(home: Path, capsys: pytest.CaptureFixture[str]):
    assert build(home, write_tree(home / "tree"), "kernell") == 1
    assert "no C files under 'kernell'" in complaint(capsys)
    assert build(home, home / "tree", "../etc") == 1
    assert "no directory of a kernel tree" in complaint(capsys)


def test_an_archive_of_something_else(home: Path, capsys: pytest.CaptureFixture[str]):
    archive = home / "a.tar.xz"
    write_archive(archive, {"kernel/a.c": "int f(void) { return 0; }\n"})
    assert build(home, archive, "kernel") == 1
    assert "is no kernel source" in complaint(capsys)


@pytest.mark.parametrize("content", [b"", b"not an archive", lzma.compress(b"not a tar" * 100)])
def test_a_file_that_is_no_archive(home: Path, capsys: pytest.CaptureFixture[str], content: bytes):
    (home / "a.tar.xz").write_bytes(content)
    assert build(home, home / "a.tar.xz", "kernel") == 1
    assert "is no readable source archive" in complaint(capsys)


def test_an_archive_that_was_cut_off(home: Path, capsys: pytest.CaptureFixture[str]):
    archive = home / "a.tar.xz"
    write_archive(archive)
    whole = archive.read_bytes()
    archive.write_bytes(whole[: len(whole) // 2])
    assert build(home, archive, "kernel") == 1
    assert "is no readable source archive" in complaint(capsys)


def test_a_damaged_index(home: Path, capsys: pytest.CaptureFixture[str]):
    build(home, write_tree(home / "tree"), "mm")
    folder = home / "index" / "mm_chunks"
    (folder / read_manifest(folder).files["vectors"]).write_bytes(b"x")
    capsys.readouterr()
    assert run("search", "kernel", "--index", home / "index", "brk") == 1
    assert "is damaged" in complaint(capsys)


def test_an_index_of_another_encoder(home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    build(home, write_tree(home / "tree"), "mm")
    monkeypatch.setattr("osrag.models.load.load_encoder", lambda *_: FakeEncoder(revision="fake-2"))
    capsys.readouterr()
    assert run("search", "kernel", "--index", home / "index", "brk") == 1
    said = complaint(capsys)
    assert "the running encoder is fake" in said and "build kernel" in said and "--subsystem mm" in said


def test_no_index(home: Path, capsys: pytest.CaptureFixture[str]):
    assert run("search", "kernel", "--index", home / "nowhere", "brk") == 1
    assert "no kernel index at" in complaint(capsys)


def test_a_broken_line_of_questions(home: Path, capsys: pytest.CaptureFixture[str]):
    (home / "q.jsonl").write_text('{"question": "a"}\n{"gold_functions": []}\n', encoding="utf-8")
    assert run("eval", "kernel", home / "q.jsonl", "--index", home / "nowhere") == 1
    assert "line 2" in complaint(capsys)
