"""The collections of a kernel subsystem: `kernel_files` and `kernel_chunks`, the same for `mm`, `fs`, …

    source -> read -> parse -> describe -> embed (cached by text) -> write -> switch

Each subsystem is apart: adding or changing one leaves the files of the others alone. A build
that is killed leaves the previous index working; the next run goes on from the cache.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from osrag.errors import BadIndex
from osrag.index.cache import EmbeddingCache
from osrag.index.collection import corpus_hash, full_disk_is_no_space, write_collection
from osrag.index.dense import Codec
from osrag.index.manifest import DocumentEntry, EncoderId, read_manifest
from osrag.ingest.c_source import ParsedFile, Piece, chunk_c
from osrag.ingest.describe import describe, is_useful, summarise_file
from osrag.ingest.describe_lore import DATA, FileSummary, Lore, load_lore
from osrag.ingest.describe_tokens import chunk_tokens, file_tokens
from osrag.ingest.kernel_tree import KernelTree, read_tree
from osrag.models.protocols import Encoder
from osrag.text import clip, text_hash
from osrag.types import ChunkKind, CodeChunk, LineRef

Progress = Callable[[str, int, int], None]  # what, done, total
RECIPE = "1"  # changes when chunks, descriptions or tokens are made in another way
LICENCE = "GPL-2.0-only (Linux kernel source; see COPYING.GPL-2.0)"
EMBED_CHARS = 600  # of a description; the encoder cuts soon after
CALLERS = 30  # kept with a chunk; `mutex_lock` has hundreds
CODEC: Codec = "int8"


@dataclass(frozen=True, slots=True)
class SubsystemReport:
    subsystem: str
    version: str
    files: int
    chunks: int
    functions: int
    embedded: bool  # False: the index was already that of this source
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Row:
    chunk: CodeChunk
    english: str  # what is embedded
    tokens: list[str]


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def files_name(subsystem: str) -> str:
    return f"{subsystem.strip('/').replace('/', '_')}_files"


def chunks_name(subsystem: str) -> str:
    return f"{subsystem.strip('/').replace('/', '_')}_chunks"


def build_kernel(
    out: Path,
    source: Path,
    subsystems: Sequence[str],
    encoder: Encoder,
    *,
    cache: Path,
    progress: Progress = silent,
    fresh: bool = False,
) -> tuple[SubsystemReport, ...]:
    """Build or bring up to date the collections of `subsystems` under `out`.

    `source` is Debian's .tar.xz or a source directory, `cache` the file that keeps embeddings.
    A subsystem whose index is already that of this source and encoder is left alone, unless
    `fresh`. Raises BadInput for a source that cannot be used, NoSpace for a full disk.
    """
    progress("read source", 0, 1)
    tree = read_tree(source, subsystems)
    progress("read source", 1, 1)
    lore = load_lore()
    recipe = recipe_hash()
    return tuple(
        _build_one(out, tree, name, encoder, lore, recipe, cache, progress, fresh) for name in dict.fromkeys(subsystems)
    )


def recipe_hash() -> str:
    """Of all that makes descriptions beside the source."""
    digest = hashlib.sha256(RECIPE.encode())
    names = ("glossary.tsv", "kernel_notes.tsv", "name_words.tsv")
    for path in [*(DATA / name for name in names), *sorted((DATA / "file_summaries").glob("*.jsonl"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _build_one(
    out: Path,
    tree: KernelTree,
    subsystem: str,
    encoder: Encoder,
    lore: Lore,
    recipe: str,
    cache: Path,
    progress: Progress,
    fresh: bool,
) -> SubsystemReport:
    files = tree.under(subsystem)
    parsed = _parse(files, subsystem, progress)
    documents = _documents(files, parsed, recipe)
    warnings = tuple(f"{entry.name}: {text}" for entry in documents for text in entry.warnings)
    warnings += tuple(f"{path}: too large, left out" for path in tree.skipped if path.startswith(f"{subsystem}/"))
    counts = _counts(parsed)
    identity = EncoderId(name=encoder.name, revision=encoder.revision, dim=encoder.dim)
    done = not fresh and is_current(out, subsystem, documents, identity)
    if not done:
        summaries, rows = describe_files(files, parsed, lore)
        held = {"documents": documents, "licence": LICENCE, "source": f"Linux {tree.version}", "counts": counts}
        _write_files(out, subsystem, summaries, files, encoder, identity, cache, held, progress)
        _write_chunks(out, subsystem, rows, parsed, encoder, identity, cache, held, progress)
    total = sum(len(one.pieces) for one in parsed.values())
    return SubsystemReport(subsystem, tree.version, len(files), total, counts["functions"], not done, warnings)


def is_current(out: Path, subsystem: str, documents: Sequence[DocumentEntry], encoder: EncoderId) -> bool:
    """Whether both collections of the subsystem hold these documents, by this encoder."""
    wanted = corpus_hash(documents)
    for name in (files_name(subsystem), chunks_name(subsystem)):
        try:
            manifest = read_manifest(out / name)
        except BadIndex:
            return False
        if manifest.corpus_hash != wanted or manifest.encoder != encoder:
            return False
    return True


def _parse(files: Mapping[str, bytes], subsystem: str, progress: Progress) -> dict[str, ParsedFile]:
    parsed = {}
    for number, (path, data) in enumerate(files.items(), start=1):
        parsed[path] = chunk_c(data)
        if number % 20 == 0 or number == len(files):
            progress(f"parse {subsystem}", number, len(files))
    return parsed


def _documents(files: Mapping[str, bytes], parsed: Mapping[str, ParsedFile], recipe: str) -> list[DocumentEntry]:
    entries = []
    for path, data in files.items():
        one = parsed[path]
        digest = hashlib.sha256(f"{recipe}\0{path}\0{text_hash(data.decode('utf-8', 'replace'))}".encode())
        named = any(piece.name for piece in one.pieces)
        broken = f"{one.broken} places do not parse, the first on line {one.first_broken}" if one.broken else ""
        warnings = [text for text in (one.note, broken if one.broken and not named else "") if text]
        entries.append(
            DocumentEntry(name=path, sha256=digest.hexdigest(), chunks=len(one.pieces), warnings=tuple(warnings))
        )
    return entries


def _counts(parsed: Mapping[str, ParsedFile]) -> dict[str, int]:
    kinds = Counter(piece.kind for one in parsed.values() for piece in one.pieces)
    return {
        "files": len(parsed),
        "functions": kinds[ChunkKind.FUNCTION],
        "structs": kinds[ChunkKind.STRUCT],
        "enums": kinds[ChunkKind.ENUM],
        "macros": kinds[ChunkKind.MACRO],
        "tables": kinds[ChunkKind.TABLE],
    }


def describe_files(
    files: Mapping[str, bytes], parsed: Mapping[str, ParsedFile], lore: Lore
) -> tuple[list[FileSummary], list[_Row]]:
    """Summaries of the files, and the chunks: those to be searched first, the rest behind them."""
    callers = resolve_callers(parsed)
    degree = Counter({name: len(by) for (_, name), by in callers.items()})
    summaries: list[FileSummary] = []
    searched: list[_Row] = []
    kept: list[_Row] = []
    for path, one in parsed.items():
        summary = lore.files.get(path)
        if summary is None:
            text = files[path].decode("utf-8", "replace")
            summary = summarise_file(path, text, [piece for piece in one.pieces if piece.name], degree)
        summaries.append(summary)
        ids: Counter[str] = Counter()
        for piece in one.pieces:
            row = _row(piece, path, lore, callers, ids)
            (searched if piece.name and is_useful(row.chunk.description) else kept).append(row)
    return summaries, [*searched, *kept]


def _row(
    piece: Piece, path: str, lore: Lore, callers: Mapping[tuple[str, str], Sequence[str]], ids: Counter[str]
) -> _Row:
    called_by = tuple(callers.get((path, piece.name), ()))[:CALLERS] if piece.name else ()
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
        called_by=called_by,
    )
    if not piece.name:
        return _Row(chunk, "", [])
    description = describe(piece, path, lore, callers=called_by)
    described = CodeChunk(
        chunk.id, chunk.text, path, chunk.where, chunk.kind, chunk.name, description.text, piece.calls, called_by
    )
    return _Row(described, clip(description.en, EMBED_CHARS), chunk_tokens(piece, description))


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


def _write_files(
    out: Path,
    subsystem: str,
    summaries: Sequence[FileSummary],
    files: Mapping[str, bytes],
    encoder: Encoder,
    identity: EncoderId,
    cache: Path,
    held: Mapping[str, object],
    progress: Progress,
) -> None:
    chunks = [
        CodeChunk(
            id=summary.file,
            text="",
            source=summary.file,
            where=LineRef(1, max(1, files[summary.file].count(b"\n"))),
            kind=ChunkKind.OTHER,
            name="",
            description="\n".join(part for part in (summary.en, summary.zh) if part),
        )
        for summary in summaries
    ]
    words = [file_tokens(summary.file, summary.en, summary.zh) for summary in summaries]
    texts = [clip(summary.en, EMBED_CHARS) for summary in summaries]
    _write(out, files_name(subsystem), chunks, texts, words, encoder, identity, cache, held, progress)


def _write_chunks(
    out: Path,
    subsystem: str,
    rows: Sequence[_Row],
    parsed: Mapping[str, ParsedFile],
    encoder: Encoder,
    identity: EncoderId,
    cache: Path,
    held: Mapping[str, object],
    progress: Progress,
) -> None:
    searched = [row for row in rows if row.tokens]
    texts = [row.english for row in searched]
    words = [row.tokens for row in searched]
    chunks = [row.chunk for row in rows]
    _write(out, chunks_name(subsystem), chunks, texts, words, encoder, identity, cache, held, progress)


def _write(
    out: Path,
    name: str,
    chunks: Sequence[CodeChunk],
    texts: Sequence[str],
    words: Sequence[Sequence[str]],
    encoder: Encoder,
    identity: EncoderId,
    cache: Path,
    held: Mapping[str, object],
    progress: Progress,
) -> None:
    with full_disk_is_no_space(out), EmbeddingCache(cache) as known:
        vectors = known.passages(encoder, texts, progress=lambda done, total: progress(f"embed {name}", done, total))
    progress(f"write {name}", 0, 1)
    write_collection(
        out / name,
        chunks,
        vectors,
        words,
        of=CodeChunk,
        name=name,
        encoder=identity,
        codec=CODEC,
        **held,  # type: ignore[arg-type]
    )
    progress(f"write {name}", 1, 1)
