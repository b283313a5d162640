"""Parsed kernel files to rows of the collections: chunks with descriptions, callers and tokens."""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from osrag.kernel.c_source import ParsedFile, Piece
from osrag.kernel.describe import describe, is_useful, summarise_file
from osrag.kernel.describe_lore import FileSummary, Lore, Pair
from osrag.kernel.describe_tokens import chunk_tokens, file_tokens
from osrag.text import clip
from osrag.types import ChunkKind, CodeChunk, LineRef

EMBED_CHARS = 600  # of a description; the encoder cuts soon after
CALLERS = 30  # kept with a chunk; `mutex_lock` has hundreds

Written = Callable[[str, Piece], Pair | None]  # what a model wrote about a piece of a file


@dataclass(frozen=True, slots=True)
class Row:
    """One row: the chunk, what of it is embedded, its tokens. No tokens: kept, not searched."""

    chunk: CodeChunk
    english: str
    tokens: list[str]


def nothing_written(file: str, piece: Piece) -> Pair | None:
    """No model wrote anything."""
    return None


def chunk_rows(parsed: Mapping[str, ParsedFile], lore: Lore, written: Written = nothing_written) -> list[Row]:
    """The chunks of all files: those to be searched first, the rest behind them."""
    callers = resolve_callers(parsed)
    searched: list[Row] = []
    kept: list[Row] = []
    for path, one in parsed.items():
        ids: Counter[str] = Counter()
        for piece in one.pieces:
            row = _row(piece, path, lore, callers.get((path, piece.name), ()), ids, written)
            (searched if row.tokens else kept).append(row)
    return [*searched, *kept]


def _row(piece: Piece, path: str, lore: Lore, callers: Sequence[str], ids: Counter[str], written: Written) -> Row:
    place = f"{path}:{piece.first}-{piece.last}"
    ids[place] += 1
    chunk = CodeChunk(
        id=place if ids[place] == 1 else f"{place}#{ids[place]}",
        text=piece.text,
        source=path,
        where=LineRef(piece.first, piece.last),
        kind=piece.kind,
        name=piece.name,
        description="",
        calls=piece.calls,
        called_by=tuple(callers)[:CALLERS],
    )
    if not piece.name:
        return Row(chunk, "", [])
    made = describe(piece, path, lore, callers=callers, written=written(path, piece))
    tokens = chunk_tokens(piece, made) if is_useful(made.text) else []
    return Row(replace(chunk, description=made.text), clip(made.en, EMBED_CHARS), tokens)


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
    """One row a file: its summary, written where somebody wrote one, else made from the code."""
    calls = Counter(name for one in parsed.values() for piece in one.pieces for name in piece.calls)
    rows = []
    for path, one in parsed.items():
        text = files[path].decode("utf-8", "replace")
        summary = lore.files.get(path) or summarise_file(path, text, [p for p in one.pieces if p.name], calls)
        rows.append(_file_row(summary, text.count("\n")))
    return rows


def _file_row(summary: FileSummary, lines: int) -> Row:
    chunk = CodeChunk(
        id=summary.file,
        text="",
        source=summary.file,
        where=LineRef(1, max(1, lines)),
        kind=ChunkKind.OTHER,
        name="",
        description="\n".join(part for part in (summary.en, summary.zh) if part),
    )
    return Row(chunk, clip(summary.en, EMBED_CHARS), file_tokens(summary.file, summary.en, summary.zh))
