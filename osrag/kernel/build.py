"""The collections of a kernel subsystem: `kernel_files` and `kernel_chunks`, the same for `mm`, `fs`, …

    source -> read -> parse -> describe -> embed (cached by text) -> write -> switch

Each subsystem is apart: adding or changing one leaves the files of the others alone. A build
that is killed leaves the previous index working; the next run goes on from the cache.
"""

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from osrag.errors import BadIndex, BadInput
from osrag.index.cache import EmbeddingCache
from osrag.index.collection import corpus_hash, full_disk_is_no_space, locked, write_collection
from osrag.index.dense import Codec
from osrag.index.manifest import NAME, DocumentEntry, EncoderId, read_manifest
from osrag.kernel.c_source import ParsedFile, chunk_c
from osrag.kernel.describe import DATA, Lore, load_lore
from osrag.kernel.describe_llm import ModelDescriptions, describe_with_model
from osrag.kernel.rows import Row, chunk_rows, embedded_text, file_rows, nothing_written
from osrag.kernel.tree import KernelTree, read_tree
from osrag.models.protocols import ChatModel, Encoder
from osrag.text import text_hash
from osrag.types import ChunkKind, CodeChunk

Progress = Callable[[str, int, int], None]  # what, done, total
RECIPE = "3"  # changes when chunks, descriptions or tokens are made in another way
LICENCE = "GPL-2.0-only (Linux kernel source; see COPYING.GPL-2.0)"
CODEC: Codec = "int8"
FILES, CHUNKS = "_files", "_chunks"  # behind the name of a subsystem
SOURCE = "Linux "  # before the version, in the manifest


@dataclass(frozen=True, slots=True)
class SubsystemReport:
    subsystem: str
    version: str  # of the kernel
    files: int
    chunks: int
    functions: int
    embedded: bool  # False: the index was already that of this source
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Job:
    """What is the same for every subsystem of a build."""

    out: Path
    tree: KernelTree
    encoder: Encoder
    lore: Lore
    recipe: str
    cache: Path
    progress: Progress
    chat: ChatModel | None
    fresh: bool

    @property
    def identity(self) -> EncoderId:
        return EncoderId(name=self.encoder.name, revision=self.encoder.revision, dim=self.encoder.dim)


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def files_name(subsystem: str) -> str:
    return _folder_name(subsystem) + FILES


def chunks_name(subsystem: str) -> str:
    return _folder_name(subsystem) + CHUNKS


def _folder_name(subsystem: str) -> str:
    return subsystem.strip("/").replace("/", "_")


def build_kernel(
    out: Path,
    source: Path,
    subsystems: Sequence[str],
    encoder: Encoder,
    *,
    cache: Path,
    progress: Progress = silent,
    chat: ChatModel | None = None,
    fresh: bool = False,
) -> tuple[SubsystemReport, ...]:
    """`build_tree` of the source at a path."""
    tree = read_source(source, subsystems, progress)
    return build_tree(out, tree, subsystems, encoder, cache=cache, progress=progress, chat=chat, fresh=fresh)


def read_source(source: Path, subsystems: Sequence[str], progress: Progress = silent) -> KernelTree:
    """Debian's .tar.xz or a source directory. Raises BadInput for what cannot be used."""
    size = source.stat().st_size if source.is_file() else 1  # of an archive: its bytes
    progress("read source", 0, size)
    tree = read_tree(source, subsystems, progress=lambda done, _: progress("read source", done, size))
    progress("read source", size, size)
    return tree


def build_tree(
    out: Path,
    tree: KernelTree,
    subsystems: Sequence[str],
    encoder: Encoder,
    *,
    cache: Path,
    progress: Progress = silent,
    chat: ChatModel | None = None,
    fresh: bool = False,
    lore: Lore | None = None,
) -> tuple[SubsystemReport, ...]:
    """Build or bring up to date the collections of `subsystems` under `out`.

    `cache` is the file that keeps embeddings. A subsystem whose index is already that of this
    source and encoder is left alone, unless `fresh`. With `chat` the model describes the
    functions that no note describes (hours; it goes on where it was stopped). `lore` replaces
    what is shipped, for experiments. Raises NoSpace for a full disk.
    """
    recipe = recipe_hash(chat.name if chat else "")
    job = _Job(out, tree, encoder, lore or load_lore(), recipe, cache, progress, chat, fresh)
    return tuple(_build_one(job, name.strip("/")) for name in dict.fromkeys(subsystems))


def list_subsystems(out: Path) -> tuple[SubsystemReport, ...]:
    """What is built under `out`, by name."""
    reports = []
    for path in sorted(out.glob(f"*{CHUNKS}/{NAME}")):
        held = read_manifest(path.parent)
        counts = held.counts
        reports.append(
            SubsystemReport(
                subsystem=held.collection.removesuffix(CHUNKS),
                version=held.source.removeprefix(SOURCE),
                files=counts.get("files", len(held.documents)),
                chunks=counts["chunks"],
                functions=counts.get("functions", 0),
                embedded=False,
                warnings=(),
            )
        )
    return tuple(reports)


def remove_subsystem(out: Path, subsystem: str) -> None:
    """Drop both collections of a subsystem. Raises BadInput when there is none."""
    folders = [out / files_name(subsystem), out / chunks_name(subsystem)]
    if not any((folder / NAME).is_file() for folder in folders):
        have = ", ".join(one.subsystem for one in list_subsystems(out)) or "none"
        raise BadInput(f"{str(out)!r} holds no subsystem {subsystem!r}", hint=f"it has: {have}")
    for folder in folders:
        with locked(folder):
            (folder / NAME).unlink(missing_ok=True)  # first: without it the rest is no index
        shutil.rmtree(folder)


def recipe_hash(model: str = "") -> str:
    """Of all that makes descriptions beside the source."""
    digest = hashlib.sha256(f"{RECIPE}\0{model}".encode())
    names = ("glossary.tsv", "kernel_notes.tsv", "name_words.tsv")
    for path in [*(DATA / name for name in names), *sorted((DATA / "file_summaries").glob("*.jsonl"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _build_one(job: _Job, subsystem: str) -> SubsystemReport:
    files = job.tree.under(subsystem)
    parsed = _parse(files, subsystem, job.progress)
    documents = _documents(files, parsed, job.recipe)
    counts = _counts(parsed)
    done = not job.fresh and is_current(job.out, subsystem, documents, job.identity)
    if not done:
        chunks = _described(job, subsystem, parsed)
        _write(job, files_name(subsystem), file_rows(files, parsed, job.lore), documents, counts)
        _write(job, chunks_name(subsystem), chunks, documents, counts)
    skipped = [path for path in job.tree.skipped if path.startswith(f"{subsystem}/")]
    return SubsystemReport(
        subsystem=subsystem,
        version=job.tree.version,
        files=len(files),
        chunks=sum(len(one.pieces) for one in parsed.values()),
        functions=counts["functions"],
        embedded=not done,
        warnings=(
            *(f"{entry.name}: {text}" for entry in documents for text in entry.warnings),
            *(f"{path}: too large, left out" for path in skipped),
        ),
    )


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
        # The grammar stumbles over macros in half of all files; it matters where nothing was found.
        lost = one.broken and not any(piece.name for piece in one.pieces)
        broken = f"{one.broken} places do not parse, the first on line {one.first_broken}" if lost else ""
        warnings = tuple(text for text in (one.note, broken) if text)
        entries.append(DocumentEntry(name=path, sha256=digest.hexdigest(), chunks=len(one.pieces), warnings=warnings))
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


def _described(job: _Job, subsystem: str, parsed: Mapping[str, ParsedFile]) -> list[Row]:
    """Rows of all chunks, after the model has described what it is to describe."""
    if job.chat is None:
        return chunk_rows(parsed, job.lore, nothing_written)
    held = ModelDescriptions(job.cache.with_name("descriptions.sqlite"), job.chat.name)
    try:
        pieces = [
            (path, piece)
            for path, one in parsed.items()
            for piece in one.pieces
            if piece.kind is ChunkKind.FUNCTION and piece.name not in job.lore.notes
        ]
        for done, _ in enumerate(describe_with_model(job.chat, held, pieces), start=1):
            job.progress(f"describe {subsystem}", done, len(pieces))
        return chunk_rows(parsed, job.lore, held.find)
    finally:
        held.close()


def _write(
    job: _Job, name: str, rows: Sequence[Row], documents: Sequence[DocumentEntry], counts: Mapping[str, int]
) -> None:
    searched = [row for row in rows if row.tokens]
    with full_disk_is_no_space(job.out), EmbeddingCache(job.cache) as known:
        vectors = known.passages(
            job.encoder,
            [embedded_text(row.chunk) for row in searched],
            progress=lambda done, total: job.progress(f"embed {name}", done, total),
        )
    job.progress(f"write {name}", 0, 1)
    write_collection(
        job.out / name,
        [row.chunk for row in rows],
        vectors,
        [row.tokens for row in searched],
        of=CodeChunk,
        name=name,
        encoder=job.identity,
        documents=documents,
        counts=counts,
        licence=LICENCE,
        source=SOURCE + job.tree.version,
        codec=CODEC,
    )
    job.progress(f"write {name}", 1, 1)
