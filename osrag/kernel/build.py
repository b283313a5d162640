"""The collections of a kernel subsystem: `kernel_files` and `kernel_chunks`, the same for `mm`, `fs`, …

    source -> read -> parse -> describe -> embed (kept by text) -> write -> switch

Each subsystem stands alone: adding or changing one leaves the files of the others as they are.
"""

import hashlib
import shutil
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from osrag.errors import BadIndex, BadInput
from osrag.index.build import building, embed, known_vectors
from osrag.index.collection import corpus_hash, locked, write_collection
from osrag.index.dense import Codec
from osrag.index.manifest import NAME, DocumentEntry, EncoderId, Manifest, drop_collection, id_of, read_manifest
from osrag.index.renew import Copies, Part
from osrag.kernel.c_source import ParsedFile, chunk_c
from osrag.kernel.describe import DATA, FileSummary, Lore, load_lore, useful
from osrag.kernel.describe_llm import ModelDescriptions, Undescribed, describe_with_model, of_file, of_function
from osrag.kernel.rows import Row, chunk_rows, embedded_text, file_rows
from osrag.kernel.store import CHUNKS, FILES
from osrag.kernel.tree import KernelTree, read_tree
from osrag.kernel.walk_index import FOLDER as WALKS
from osrag.models.protocols import ChatModel, Encoder
from osrag.text import text_hash
from osrag.types import ChunkKind, CodeChunk, Origin, Progress, WalkText, silent

RECIPE = "3"  # raise it when chunks, descriptions or tokens are made in another way: indexes are then built anew
LICENCE = "GPL-2.0-only (Linux kernel source; see COPYING.GPL-2.0)"
CODEC: Codec = "int8"  # a byte a number: the vectors of `kernel` stay under the 10 MB of a file (C8)
SOURCE = "Linux "  # before the version, in the manifest


@dataclass(frozen=True, slots=True)
class SubsystemReport:
    """What an index holds of a subsystem after a build."""

    subsystem: str
    version: str  # of the kernel
    files: int
    chunks: int
    functions: int
    embedded: bool = False  # False: the index was already that of this source
    warnings: tuple[str, ...] = ()


def names_of(subsystem: str) -> tuple[str, str]:
    """The folders of a subsystem: "net_ipv4_files" for the summaries of its files, "net_ipv4_chunks" for its code."""
    name = subsystem.strip("/").replace("/", "_")
    return name + FILES, name + CHUNKS


def copies_of(root: Path, cache_dir: Path) -> Copies:
    """All kernel collections under `root`, for another encoder. A damaged one is left out: the search reports it.

    The two subsystems that are shipped have some 27,000 texts. A large encoder needs a minute for them on a
    graphics card and hours on a processor.
    """
    found: list[Part[CodeChunk] | Part[WalkText]] = []
    encoders = []
    for folder in sorted(path.parent for part in (CHUNKS, FILES) for path in root.glob(f"*{part}/{NAME}")):
        try:
            encoders.append(read_manifest(folder).encoder)
        except BadIndex:
            continue
        found.append(Part(folder.name, CodeChunk, embedded_text))
    try:
        if read_manifest(root / WALKS).encoder in encoders:
            found.append(Part(WALKS, WalkText, lambda row: row.text))
    except BadIndex:
        pass
    return Copies("kernel", root, tuple(found), cache_dir)


def build_kernel(
    out: Path,
    source: Path | KernelTree,
    subsystems: Sequence[str],
    encoder: Encoder,
    *,
    cache_dir: Path,
    progress: Progress = silent,
    chat: ChatModel | None = None,
    fresh: bool = False,
    lore: Lore | None = None,
) -> tuple[SubsystemReport, ...]:
    """Build or bring up to date the collections of `subsystems` under `out`.

    A subsystem whose index is already that of this source and encoder is left alone, unless `fresh`. With
    `chat` the model describes the functions and files that nobody wrote about: that takes hours, and a build that was
    stopped goes on where it was. `lore` replaces what is shipped, for experiments. Raises NoSpace, ModelFailed,
    and BadInput for a source that cannot be used.
    """
    tree = source if isinstance(source, KernelTree) else read_tree(source, subsystems, progress)
    recipe = _recipe_hash(chat.name if chat else "")
    build = _Build(out, tree, encoder, cache_dir, progress, chat, fresh, lore or load_lore(), recipe)
    return tuple(build.subsystem(name.strip("/")) for name in dict.fromkeys(subsystems))


def list_subsystems(out: Path) -> tuple[SubsystemReport, ...]:
    """What is built under `out`, by name."""
    return tuple(_report(read_manifest(path.parent)) for path in sorted(out.glob(f"*{CHUNKS}/{NAME}")))


def _report(held: Manifest) -> SubsystemReport:
    """What the manifest of the chunks of a subsystem tells."""
    return SubsystemReport(
        subsystem=held.collection.removesuffix(CHUNKS),
        version=held.source.removeprefix(SOURCE),
        files=held.counts["files"],
        chunks=held.counts["chunks"],
        functions=held.counts["functions"],
        warnings=tuple(f"{entry.name}: {text}" for entry in held.documents for text in entry.warnings),
    )


def remove_subsystem(out: Path, subsystem: str) -> None:
    """Drop both collections of a subsystem. Raises BadInput when there is none."""
    folders = [out / name for name in names_of(subsystem)]
    if not any((folder / NAME).is_file() for folder in folders):
        have = ", ".join(one.subsystem for one in list_subsystems(out)) or "none"
        raise BadInput(f"{str(out)!r} holds no subsystem {subsystem!r}", hint=f"it has: {have}")
    for folder in folders:
        with locked(folder):
            drop_collection(folder)
        shutil.rmtree(folder)


def _recipe_hash(model: str) -> str:
    """The hash of everything, beside the source, that descriptions are made of."""
    digest = hashlib.sha256(f"{RECIPE}\0{model}".encode())
    names = ("glossary.tsv", "kernel_notes.tsv", "name_words.tsv")
    for path in [*(DATA / name for name in names), *sorted((DATA / "file_summaries").glob("*.jsonl"))]:
        digest.update(path.read_bytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class _Build:
    """One run; holds what is the same for every subsystem."""

    out: Path
    tree: KernelTree
    encoder: Encoder
    cache_dir: Path
    progress: Progress
    chat: ChatModel | None
    fresh: bool
    lore: Lore
    recipe: str

    def subsystem(self, name: str) -> SubsystemReport:
        """Bring one subsystem up to date."""
        files = self.tree.under(name)
        parsed: dict[str, ParsedFile] = {}
        for path, data in files.items():
            parsed[path] = chunk_c(data)
            self.progress(f"parse {name}", len(parsed), len(files))
        documents = _documents(files, parsed, self.recipe)
        counts = _counts(parsed)
        files_name, chunks_name = names_of(name)
        with building(self.out / chunks_name):
            fits = not self.fresh and _is_current(self.out, name, corpus_hash(documents), id_of(self.encoder))
            if not fits:
                chunks, summaries = self._described(name, files, parsed)
                self._write(files_name, summaries, documents, counts)
                self._write(chunks_name, chunks, documents, counts)
            report = _report(read_manifest(self.out / chunks_name))
        skipped = (f"{path}: too large, left out" for path in self.tree.skipped if path.startswith(f"{name}/"))
        return replace(report, subsystem=name, embedded=not fits, warnings=(*report.warnings, *skipped))

    def _described(
        self, subsystem: str, files: Mapping[str, bytes], parsed: Mapping[str, ParsedFile]
    ) -> tuple[list[Row], list[Row]]:
        """Rows of all chunks and of all files, after the model has described what it is to describe."""
        if self.chat is None:
            return chunk_rows(parsed, self.lore), file_rows(files, parsed, self.lore)
        with closing(ModelDescriptions(self.cache_dir / "descriptions.sqlite", self.chat.name)) as held:
            functions = [
                of_function(path, piece)
                for path, one in parsed.items()
                for piece in one.pieces
                if piece.kind is ChunkKind.FUNCTION and piece.name not in self.lore.notes
            ]
            self._ask(self.chat, held, f"describe {subsystem}", functions)
            chunks = chunk_rows(parsed, self.lore, lambda path, piece: held.find(of_function(path, piece)))
            known: dict[str, list[tuple[str, str]]] = defaultdict(list)
            for row in chunks:
                if row.chunk.kind is ChunkKind.FUNCTION:
                    known[row.chunk.source].append((row.chunk.name, row.chunk.en))
            summaries = [row.chunk for row in file_rows(files, parsed, self.lore) if row.chunk.origin is Origin.CODE]
            unwritten = [of_file(one.source, one.en, known[one.source]) for one in summaries]
            self._ask(self.chat, held, f"summarise {subsystem}", unwritten)
            found = {one.file: held.find(one) for one in unwritten}
        written = {
            path: FileSummary(path, *pair, Origin.MODEL) for path, pair in found.items() if pair and useful(pair[0])
        }
        return chunks, file_rows(files, parsed, replace(self.lore, files={**self.lore.files, **written}))

    def _ask(self, chat: ChatModel, held: ModelDescriptions, step: str, asked: Sequence[Undescribed]) -> None:
        for done, _ in enumerate(describe_with_model(chat, held, asked), start=1):
            self.progress(step, done, len(asked))

    def _write(
        self, name: str, rows: Sequence[Row], documents: Sequence[DocumentEntry], counts: Mapping[str, int]
    ) -> None:
        """Embed and write one collection."""
        searched = [row for row in rows if row.tokens]
        texts = [embedded_text(row.chunk) for row in searched]
        known = known_vectors(self.out / name, CodeChunk, embedded_text, id_of(self.encoder))
        progress = partial(self.progress, f"embed {name}")
        vectors, _ = embed(texts, self.encoder, self.cache_dir, known=known, progress=progress)
        self.progress(f"write {name}", 0, 1)
        write_collection(
            self.out / name,
            [row.chunk for row in rows],
            vectors,
            [row.tokens for row in searched],
            of=CodeChunk,
            name=name,
            encoder=id_of(self.encoder),
            documents=documents,
            counts=counts,
            licence=LICENCE,
            source=SOURCE + self.tree.version,
            codec=CODEC,
        )
        self.progress(f"write {name}", 1, 1)


def _is_current(out: Path, subsystem: str, corpus: str, encoder: EncoderId) -> bool:
    """Whether both collections of the subsystem hold this corpus, by this encoder."""
    try:
        held = [read_manifest(out / name) for name in names_of(subsystem)]
    except BadIndex:
        return False
    return all(manifest.corpus_hash == corpus and manifest.encoder == encoder for manifest in held)


def _documents(files: Mapping[str, bytes], parsed: Mapping[str, ParsedFile], recipe: str) -> list[DocumentEntry]:
    """The entries of the source files in the manifest, with a warning where nothing could be read."""
    entries = []
    for path, data in files.items():
        one = parsed[path]
        digest = hashlib.sha256(f"{recipe}\0{path}\0{text_hash(data.decode('utf-8', 'replace'))}".encode())
        sha256 = digest.hexdigest()
        entries.append(DocumentEntry(name=path, sha256=sha256, chunks=len(one.pieces), warnings=one.warnings))
    return entries


def _counts(parsed: Mapping[str, ParsedFile]) -> dict[str, int]:
    """Files, and chunks by their kind, for the manifest."""
    kinds = Counter(piece.kind for one in parsed.values() for piece in one.pieces)
    named = (ChunkKind.FUNCTION, ChunkKind.STRUCT, ChunkKind.ENUM, ChunkKind.MACRO, ChunkKind.TABLE)
    return {"files": len(parsed), **{f"{kind}s": kinds[kind] for kind in named}}
