"""Check that kernel chunks are right: against ctags, against the bytes of each file, and in an index.

    python tools/check_chunks.py --source TREE [--index index] [--subsystem kernel --subsystem mm]

TREE is an unpacked Linux source. Every file is cut; joined, its chunks must be the file, byte for byte, and
each chunk's text must be the lines it names. Functions, structs and enums are compared with what Universal
Ctags finds in the same files: a parser of its own that shares no code with this one. With `--index` the rows
of the index that is shipped are joined and compared with the files as well. Exit code 1 when a file does not
come back or more than 1 in 1,000 functions is not found.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.index.collection import Collection  # noqa: E402
from osrag.kernel.build import chunks_name  # noqa: E402
from osrag.kernel.c_source import ParsedFile, chunk_c  # noqa: E402
from osrag.types import ChunkKind, CodeChunk  # noqa: E402

ALLOWED_MISS = 0.001
# What ctags takes for a function of that name: the macro in front of the real one.
MACRO_CALL = re.compile(r"(?:COMPAT_|NOTRACE_)?(?:SYSCALL|BPF_CALL)\w*|[A-Z][A-Z0-9_]+|\w*initcall|__init")
KINDS = {"function": ChunkKind.FUNCTION, "struct": ChunkKind.STRUCT, "union": ChunkKind.STRUCT, "enum": ChunkKind.ENUM}
SYSCALL = re.compile(r"^SYSCALL_DEFINE\d\(\s*(\w+)", re.M)


@dataclass(frozen=True)
class Tag:
    """A definition that ctags found."""

    file: str
    name: str
    kind: str
    first: int  # line of the name
    last: int  # line of the closing brace


def ctags(tree: Path, files: list[str]) -> list[Tag]:
    command = ["ctags", "--output-format=json", "--fields=+neK", "--languages=C", "--langmap=C:.c.h"]
    command += ["--kinds-C=fsug", "-L", "-", "-f", "-"]
    run = subprocess.run(command, input="\n".join(files), cwd=tree, capture_output=True, text=True, check=True)
    tags = []
    for line in run.stdout.splitlines():
        row = json.loads(line)
        if row.get("_type") == "tag" and row["kind"] in KINDS and "scope" not in row:
            tags.append(Tag(row["path"], row["name"], row["kind"], row["line"], row.get("end", row["line"])))
    return tags


def come_back(tree: Path, parsed: dict[str, ParsedFile]) -> list[str]:
    """Problems with bytes and lines of the pieces."""
    found = []
    for file, one in parsed.items():
        source = (tree / file).read_bytes()
        encoding = "latin-1" if "Latin-1" in one.note else "utf-8"
        if "".join(piece.text for piece in one.pieces).encode(encoding) != source:
            found.append(f"{file}: the chunks joined are not the file")
        lines = source.decode(encoding).split("\n")
        for piece in one.pieces:
            shown = "\n".join(lines[piece.first - 1 : piece.last])
            if piece.text.rstrip("\n") not in shown:
                found.append(f"{file}:{piece.first}-{piece.last} {piece.name}: other lines")
    return found


def compare(tags: list[Tag], parsed: dict[str, ParsedFile]) -> tuple[dict[str, dict[str, int]], list[str]]:
    """Counts by kind: found, of these with the same last line, not found; and a line for each that is not."""
    by_name = defaultdict(list)
    for file, one in parsed.items():
        for piece in one.pieces:
            for name in (piece.name, *piece.aliases):
                by_name[file, name].append(piece)
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    lost = []
    for tag in tags:
        if tag.name.startswith("__anon") or (tag.kind == "function" and MACRO_CALL.fullmatch(tag.name)):
            continue
        count = counts[tag.kind]
        count["ctags"] += 1
        around = [piece for piece in by_name[tag.file, tag.name] if piece.first <= tag.first <= piece.last]
        if around:
            count["found"] += 1
            count["same last line"] += any(piece.last == tag.last for piece in around)
        else:
            count["not found"] += 1
            lost.append(f"{tag.kind} {tag.name} at {tag.file}:{tag.first}-{tag.last}")
    return {kind: dict(count) for kind, count in counts.items()}, lost


def system_calls(tree: Path, parsed: dict[str, ParsedFile]) -> tuple[int, list[str]]:
    """How many SYSCALL_DEFINEn there are; those that are not found as `sys_name` and as `name`."""
    total, lost = 0, []
    for file, one in parsed.items():
        functions = [piece for piece in one.pieces if piece.kind is ChunkKind.FUNCTION]
        for name in SYSCALL.findall((tree / file).read_text("utf-8", "replace")):
            total += 1
            if not any(piece.name == f"sys_{name}" and name in piece.aliases for piece in functions):
                lost.append(f"{name} in {file}")
    return total, lost


def index_comes_back(tree: Path, index: Path, subsystem: str) -> list[str]:
    """Files that the rows of an index, joined, do not give back."""
    held = Collection.load(index / chunks_name(subsystem), None, of=CodeChunk)
    rows = defaultdict(list)
    for chunk in held.chunks():
        rows[chunk.source].append(chunk)
    found = []
    for file, chunks in rows.items():
        chunks.sort(key=lambda chunk: (chunk.where.first, chunk.where.last))
        source = (tree / file).read_bytes()
        text = "".join(chunk.text for chunk in chunks)
        if source not in (text.encode("utf-8"), text.encode("latin-1", "replace")):
            found.append(f"{file}: the rows of the index joined are not the file")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, required=True, metavar="TREE")
    parser.add_argument("--index", type=Path)
    parser.add_argument("--subsystem", action="append", default=[])
    parser.add_argument("--show", type=int, default=20, help="lines of each kind of problem")
    args = parser.parse_args()
    names = args.subsystem or ["kernel", "mm"]
    paths = [path for name in names for path in sorted((args.source / name).rglob("*.[ch]")) if not path.is_symlink()]
    parsed = {path.relative_to(args.source).as_posix(): chunk_c(path.read_bytes()) for path in paths}
    wrong = come_back(args.source, parsed)
    for name in names if args.index else ():
        wrong += index_comes_back(args.source, args.index, name)
    counts, lost = compare(ctags(args.source, list(parsed)), parsed)
    calls, lost_calls = system_calls(args.source, parsed)
    kinds: dict[str, int] = defaultdict(int)
    for one in parsed.values():
        for piece in one.pieces:
            kinds[piece.kind.value] += 1
    print(f"{len(parsed)} files, chunks: {dict(kinds)}")
    print(f"bytes and lines: {len(wrong)} problems")
    for kind, count in counts.items():
        print(f"{kind}: {count}")
    print(f"system calls: {calls}, not found under both names: {len(lost_calls)}")
    for line in [*wrong[: args.show], *lost[: args.show], *lost_calls[: args.show]]:
        print("  ", line)
    functions = counts.get("function", {})
    too_many = functions.get("not found", 0) > ALLOWED_MISS * functions.get("ctags", 1)
    return int(bool(wrong) or too_many or bool(lost_calls))


if __name__ == "__main__":
    raise SystemExit(main())
