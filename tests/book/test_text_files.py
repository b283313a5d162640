"""Markdown, FAQ and API reference: what is read, and how a file's kind is told."""

from pathlib import Path

import pytest

from osrag.book.document import DocumentKind
from osrag.book.entries import api_fields
from osrag.book.read import detect, read_material
from osrag.errors import BadDocument
from osrag.types import ChunkKind, LineRef

NOTES = """# Course notes

## Chapter 2

### 2.3 Scheduling

The **scheduler** picks a thread
with `pick_next_task()`.

- first
- second
  1. inner

```c
if (x)
    y();
```

| Policy | Preemptive |
|---|---|
| FCFS | no |
"""

FAQ = """# Questions

## Processes

### What is a zombie?

A process that has ended
and was not waited for.

### 什么是孤儿进程？

父进程先结束的进程。
"""

PAIRS = """Q: What is a zombie?
A: A process that has ended.

It still has an entry in the table.

Q: What is an orphan?
A: A process without a parent.
"""

API = """# System calls

## fork

```c
pid_t fork(void);
```

Creates a child process.

**Parameters**

| name | type | description |
|---|---|---|
| – | void | no parameters |

**Returns**

The child's number; 0 in the child.

## kill

```c
int kill(pid_t pid, int sig);
```

Sends a signal.

**参数**

| 名称 | 类型 | 说明 |
|---|---|---|
| pid | pid_t | 目标进程 |
| sig | int | 信号 |

**返回值**

成功时为 0。

**示例**

```c
kill(pid, SIGTERM);
```

**说明**

sig 为 0 时只检查。
"""


def write(tmp_path: Path, text: str, name: str = "file.md") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_markdown_carries_the_heading_path_and_lines(tmp_path: Path) -> None:
    (chunk,) = read_material(write(tmp_path, NOTES)).chunks
    assert chunk.section_path == "Chapter 2 > 2.3 Scheduling"
    assert chunk.title == "Course notes"
    assert chunk.where == LineRef(7, 21)
    assert chunk.text == (
        "The scheduler picks a thread with pick_next_task().\n\n"
        "• first\n\n• second\n\n  1. inner\n\n"
        "if (x)\n    y();\n\n"
        "Policy | Preemptive\nFCFS | no"
    )


def test_chinese_markdown_lines_are_joined_without_blanks(tmp_path: Path) -> None:
    (chunk,) = read_material(write(tmp_path, "进程是程序\n的一次执行。\n")).chunks
    assert chunk.text == "进程是程序的一次执行。"
    assert chunk.language == "zh"


def test_front_matter_names_what_the_text_does_not(tmp_path: Path) -> None:
    front = '---\ntitle: "Lab 4"\nversion: 2026\nurl: https://example.org/lab4\ncategory: lab\n---\n'
    (chunk,) = read_material(write(tmp_path, front + "\nWrite a page fault handler.\n")).chunks
    assert (chunk.title, chunk.version, chunk.url, chunk.category) == (
        "Lab 4",
        "2026",
        "https://example.org/lab4",
        "lab",
    )
    assert chunk.where == LineRef(8, 8)


def test_one_question_with_its_whole_answer_is_one_chunk(tmp_path: Path) -> None:
    english, chinese = read_material(write(tmp_path, FAQ)).chunks
    assert english.text == "What is a zombie?\n\nA process that has ended\nand was not waited for."
    assert (english.kind, english.section, english.where) == (ChunkKind.FAQ, ("Processes",), LineRef(5, 8))
    assert (english.language, chinese.language) == ("en", "zh")


def test_questions_may_stand_in_pairs_of_q_and_a(tmp_path: Path) -> None:
    zombie, orphan = read_material(write(tmp_path, PAIRS)).chunks
    assert zombie.text == "What is a zombie?\n\nA process that has ended.\n\nIt still has an entry in the table."
    assert orphan.where == LineRef(6, 7)


def test_an_api_entry_is_one_chunk(tmp_path: Path) -> None:
    fork, kill = read_material(write(tmp_path, API)).chunks
    assert (fork.kind, fork.section, fork.where) == (ChunkKind.API, ("fork",), LineRef(3, 19))
    assert fork.text.startswith("```c\npid_t fork(void);\n```\n\nCreates a child process.")
    assert fork.text.endswith("The child's number; 0 in the child.")
    assert kill.text.endswith("**示例**\n\n```c\nkill(pid, SIGTERM);\n```\n\n**说明**\n\nsig 为 0 时只检查。")


@pytest.mark.parametrize(
    ("text", "kind"),
    [(NOTES, "markdown"), (FAQ, "faq"), (PAIRS, "faq"), (API, "api"), ("# What now?\n\nText.", "markdown")],
)
def test_the_kind_is_told_by_the_content(tmp_path: Path, text: str, kind: DocumentKind) -> None:
    assert detect(write(tmp_path, text)) == kind


def test_the_kind_can_be_named(tmp_path: Path) -> None:
    material = read_material(write(tmp_path, NOTES), kind="faq")
    assert [chunk.kind for chunk in material.chunks] == [ChunkKind.FAQ]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("notes.md", b"", "notes.md: the file is empty"),
        ("notes.md", b"\x00\x01\x02", "notes.md: this is no text file"),
        ("notes.docx", b"PK\x03\x04", "the archive is damaged"),
        ("notes.xyz", b"words", r"\.xyz is no kind of document"),
        ("notes.md", b"---\ntitle: x\n---\n", "no text in it"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadDocument, match=said):
        read_material(tmp_path / name)


@pytest.mark.parametrize("encoding", ["gb18030", "utf-16"])  # both of Windows Notepad
def test_other_encodings_of_chinese_are_read(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "notes.txt").write_bytes("信号量用于同步。".encode(encoding))
    assert read_material(tmp_path / "notes.txt").chunks[0].text == "信号量用于同步。"


@pytest.mark.parametrize(("language", "number"), [("en", 6), ("zh", 6)])
def test_an_entry_of_the_api_reference_has_its_parts_as_fields(language: str, number: int):
    path = Path(__file__).resolve().parents[2] / "examples" / "api" / f"syscalls.{language}.md"
    chunks = {chunk.section[-1]: chunk for chunk in read_material(path).chunks}
    entry = api_fields(chunks["mmap"].text)
    assert entry.signature == "void *mmap(void *addr, size_t length, int prot, int flags, int fd, off_t offset);"
    assert len(entry.parameters) == number and entry.parameters[1][:2] == ("length", "size_t")
    assert entry.errors == ("ENOMEM", "EACCES", "EINVAL") and "MAP_FAILED" in entry.returns
    assert entry.example.startswith("size_t size") and "MAP_PRIVATE" in entry.notes and "mmap" in entry.description
    assert all(api_fields(chunk.text).signature for chunk in chunks.values())
