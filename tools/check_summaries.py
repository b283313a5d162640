"""Check the written kernel data against the source they describe.

`python tools/check_summaries.py SOURCE` takes an unpacked Linux tree of the version that the summaries
were written for and looks at `osrag/data/file_summaries/*.jsonl` and `osrag/data/glossary.tsv`:
every C file and header of a subsystem has one row, every name in a summary occurs in its file, lengths
are sensible, and every identifier of the glossary occurs somewhere in the tree's core. Exit code 1 when
something is wrong.
"""

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

DATA = Path(__file__).resolve().parent.parent / "osrag" / "data"
SUBSYSTEMS = ("kernel", "mm")
GLOSSARY_ROOTS = (*SUBSYSTEMS, "include", "fs", "ipc")  # where a glossary identifier may come from
ENGLISH_WORDS = (8, 110)
CHINESE_CHARACTERS = (11, 200)
MIN_CODE_LINES = 1  # a header that only includes others needs no summary

COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
PATH = re.compile(r"[\w.]+(?:/[\w.\-]+)+|\b[\w\-]+\.[ch]\b")
NAME = re.compile(r"(?<![A-Za-z0-9_])([A-Za-z_][A-Za-z0-9_]*)(\(\))?")
WORD = re.compile(r"[A-Za-z_]\w*")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
SYSCALL = re.compile(r"SYSCALL_DEFINE\d\(\s*(\w+)")


class Summary(BaseModel):
    """One row of `file_summaries/*.jsonl`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str  # path in the source tree: "kernel/sched/core.c"
    en: str
    zh: str


def source_files(root: Path, subsystem: str) -> set[str]:
    """The C files of a subsystem, and its headers that hold more than include lines."""
    found = set()
    for path in (root / subsystem).rglob("*.[ch]"):
        code = COMMENT.sub("", path.read_text(encoding="utf-8", errors="replace"))
        lines = [line for line in code.splitlines() if line.strip() and not line.lstrip().startswith("#include")]
        if path.suffix == ".c" or len(lines) >= MIN_CODE_LINES:
            found.add(path.relative_to(root).as_posix())
    return found


def read_rows(path: Path) -> Iterator[Summary]:
    """The rows of one file; a row that does not parse ends the check."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            yield Summary.model_validate_json(line)
        except ValidationError as error:
            raise SystemExit(f"{path.name}:{number}: {error}") from error


def names_in(text: str) -> set[str]:
    """What a summary presents as a name of the code: it has an underscore or is followed by ()."""
    plain = PATH.sub(" ", text)
    return {match[1] for match in NAME.finditer(plain) if match[2] or "_" in match[1]}


def slips(row: Summary, root: Path) -> Iterator[str]:
    """What is wrong with one row."""
    path = root / row.file
    if not path.is_file():
        yield "no such file"
        return
    words = set(WORD.findall(path.read_text(encoding="utf-8", errors="replace")))
    for name in sorted((names_in(row.en) | names_in(row.zh)) - words):
        yield f"{name} does not occur in the file"
    if CHINESE.search(row.en):
        yield "Chinese in the English text"
    english, chinese = len(row.en.split()), len(CHINESE.findall(row.zh))
    if not ENGLISH_WORDS[0] <= english <= ENGLISH_WORDS[1]:
        yield f"{english} English words"
    if not CHINESE_CHARACTERS[0] <= chinese <= CHINESE_CHARACTERS[1]:
        yield f"{chinese} Chinese characters"


def check_summaries(root: Path) -> int:
    """Report on every subsystem; the number of slips."""
    wrong = 0
    for subsystem in SUBSYSTEMS:
        rows = list(read_rows(DATA / "file_summaries" / f"{subsystem}.jsonl"))
        needed = source_files(root, subsystem)
        counts = Counter(row.file for row in rows)
        found = [f"{file}: no summary" for file in sorted(needed - counts.keys())]
        found += [f"{file}: {count} rows" for file, count in counts.items() if count > 1]
        found += [f"{row.file}: {slip}" for row in rows for slip in slips(row, root)]
        print(*found, sep="\n", end="\n" if found else "")
        names = sum(len(names_in(row.en) | names_in(row.zh)) for row in rows)
        sizes = sum(len(row.en.split()) for row in rows), sum(len(CHINESE.findall(row.zh)) for row in rows)
        print(
            f"{subsystem}: {len(rows)} rows for {len(needed)} files "
            f"({sum(row.file.endswith('.c') for row in rows)} .c), {names} names, mean {sizes[0] / len(rows):.0f} "
            f"English words and {sizes[1] / len(rows):.0f} Chinese characters, {len(found)} slips"
        )
        wrong += len(found)
    return wrong


def tree_words(root: Path) -> set[str]:
    """Every word of the core of the tree, its parts, and `sys_name` for each system call."""
    words: set[str] = set()
    for path in (path for top in GLOSSARY_ROOTS for path in (root / top).rglob("*.[ch]")):
        text = path.read_text(encoding="utf-8", errors="replace")
        words.update(WORD.findall(text))
        words.update(f"sys_{name}" for name in SYSCALL.findall(text))
    return words | {part for word in words for part in word.lower().split("_")}


def doubles(values: Iterable[str]) -> list[str]:
    """The values that occur more than once, whatever their case."""
    return sorted(value for value, count in Counter(value.lower() for value in values).items() if count > 1)


def check_glossary(root: Path) -> int:
    """Report on the glossary; the number of slips."""
    head, *lines = (DATA / "glossary.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines]
    found = [] if head == "zh\ten\tident" else [f"header {head!r}"]
    found += [f"{line!r}: not three columns" for line, row in zip(lines, rows, strict=True) if len(row) != 3]
    rows = [row for row in rows if len(row) == 3]
    for column, language in enumerate(("zh", "en")):
        variants = [variant for row in rows for variant in row[column].split("|")]
        found += [f"{language}: empty variant" for variant in variants if not variant.strip()]
        found += [f"{language} twice: {variant}" for variant in doubles(variants)]
    words = tree_words(root)
    found += [f"{name} is not in the source" for row in rows for name in row[2].split() if name not in words]
    print(*found, sep="\n", end="\n" if found else "")
    identifiers = {name for row in rows for name in row[2].split()}
    print(f"glossary: {len(rows)} entries, {len(identifiers)} identifiers, {len(found)} slips")
    return len(found)


def main() -> int:
    """Exit code: 1 when anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=Path, help="an unpacked Linux source tree")
    root = parser.parse_args().source
    if not (root / "kernel" / "sched").is_dir():
        parser.error(f"{root} is not a Linux source tree")
    return 1 if check_summaries(root) + check_glossary(root) else 0


if __name__ == "__main__":
    sys.exit(main())
