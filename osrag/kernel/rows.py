"""Parsed kernel files to rows of the collections: chunks with descriptions, callers and tokens."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from osrag.kernel.c_source import ParsedFile, Piece
from osrag.kernel.describe import (
    Lore,
    Pair,
    chunk_tokens,
    describe,
    file_tokens,
    search_text,
    summarise_file,
)
from osrag.text import clip
from osrag.types import ChunkKind, CodeChunk, LineRef

EMBED_CHARS = 600  # of a description; the encoder cuts soon after
CALLERS = 30  # kept with a chunk; `mutex_lock` has hundreds

Written = Callable[[str, Piece], Pair | None]  # what a model wrote about a piece of a file


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the chunk and its tokens. No tokens: kept, not searched."""

    chunk: CodeChunk
    tokens: list[str]


def chunk_rows(parsed: Mapping[str, ParsedFile], lore: Lore, written: Written | None = None) -> list[Row]:
    """The chunks of all files: those to be searched first, the text between them behind."""
    callers = resolve_callers(parsed)
    searched: list[Row] = []
    kept: list[Row] = []
    for path, one in parsed.items():
        ids: Counter[str] = Counter()  # two macros may stand on one line
        for piece in one.pieces:
            place = f"{path}:{piece.first}-{piece.last}"
            ids[place] += 1
            chunk = CodeChunk(
                id=place if ids[place] == 1 else f"{place}#{ids[place]}",
                text=piece.text,
                source=path,
                where=LineRef(piece.first, piece.last),
                kind=piece.kind,
                name=piece.name,
                calls=piece.calls,
                called_by=tuple(callers.get((path, piece.name), ()))[:CALLERS],
            )
            if piece.name:
                chunk = describe(chunk, piece, lore, written(path, piece) if written else None)
                searched.append(Row(chunk, chunk_tokens(piece, search_text(chunk))))
            else:
                kept.append(Row(chunk, []))
    return [*searched, *kept]


def embedded_text(chunk: CodeChunk) -> str:
    """What of a chunk or file is embedded: its English search text."""
    return clip(search_text(chunk)[0], EMBED_CHARS)


def resolve_callers(parsed: Mapping[str, ParsedFile]) -> dict[tuple[str, str], list[str]]:
    """(file, function) -> names of its callers; a call means the definition in the same file where there is one."""
    defined: dict[str, set[str]] = defaultdict(set)
    for path, one in parsed.items():
        for piece in one.pieces:
            if piece.name:
                defined[piece.name].add(path)
    callers: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
    for path, one in parsed.items():
        for piece in one.pieces:
            for name in piece.calls:
                places = defined.get(name, set())
                for place in {path} if path in places else places:
                    callers[place, name][piece.name] = None
    return {key: list(names) for key, names in callers.items()}


def file_rows(files: Mapping[str, bytes], parsed: Mapping[str, ParsedFile], lore: Lore) -> list[Row]:
    """One row for each file: its summary, written where somebody wrote one, else made from the code."""
    calls = Counter(name for one in parsed.values() for piece in one.pieces for name in piece.calls)
    rows = []
    for path, one in parsed.items():
        text = files[path].decode("utf-8", "replace")
        summary = lore.files.get(path) or summarise_file(path, text, [p for p in one.pieces if p.name], calls)
        chunk = CodeChunk(
            id=path,
            text="",
            source=path,
            where=LineRef(1, max(1, text.count("\n"))),
            kind=ChunkKind.OTHER,
            name="",
            en=summary.en,
            zh=summary.zh,
            origin=summary.origin,
        )
        rows.append(Row(chunk, file_tokens(path, summary.en, summary.zh)))
    return rows
