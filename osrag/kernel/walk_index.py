"""Walk-throughs beside the kernel collections, built from their files."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from osrag.errors import BadIndex
from osrag.index.build import building, embed, known_vectors
from osrag.index.collection import Collection, write_collection
from osrag.index.dense import Codec
from osrag.index.manifest import DocumentEntry, id_of
from osrag.kernel.store import open_store
from osrag.kernel.walks import Both, Walk, bind, read_walks
from osrag.models.protocols import Encoder
from osrag.text import text_hash, tokens
from osrag.types import Language, Progress, WalkText, silent

FOLDER = "kernel_walks"
LICENCE = "CC BY 4.0; the quoted lines are of the Linux kernel, GPL-2.0-only (see COPYING.GPL-2.0)"
CODEC: Codec = "int8"  # a byte a number, as the other kernel collections
LANGUAGES: tuple[Language, ...] = ("zh", "en")


@dataclass(frozen=True, slots=True)
class WalksReport:
    """What a build took in."""

    walks: int
    steps: int
    warnings: tuple[str, ...]  # walks that are left out, by name, with what does not hold


def build_walks(
    out: Path, files: Sequence[Path], encoder: Encoder, *, cache_dir: Path, progress: Progress = silent
) -> WalksReport:
    """Hold the walks of `files` against the kernel collections in `out`, and store those that hold beside them.

    Raises BadIndex where there are no kernel collections, or those of another encoder.
    """
    store = open_store(out, id_of(encoder))
    walks: dict[str, tuple[str, Walk]] = {}
    warnings: list[str] = []
    documents: list[DocumentEntry] = []
    indexed = tuple(f"{name.replace('_', '/')}/" for name in store.subsystem_names)
    elsewhere: Counter[str] = Counter()  # walks by a folder that they need and the index does not have
    for path in files:
        read = read_walks(path)
        warnings += read.slips
        taken = 0
        for walk in read.walks:
            bound, faults = bind(walk, store)
            outside = [step.file.split("/")[0] for step in walk.step if not step.file.startswith(indexed)]
            if outside:
                elsewhere[outside[0]] += 1
            elif walk.id in walks:
                warnings.append(f"{path.name}: {walk.id}: the id is taken")
            elif bound is None:
                warnings += (f"{path.name}: {fault}" for fault in faults)
            else:
                walks[walk.id] = path.name, walk
                taken += 1
        digest = hashlib.sha256(f"{store.version}\0{text_hash(path.read_text(encoding='utf-8'))}".encode())
        documents.append(DocumentEntry(name=path.name, sha256=digest.hexdigest(), chunks=taken))
    warnings += [
        f"{count} walk-throughs are left out: they need {folder}/, which the index does not have"
        for folder, count in elsewhere.items()
    ]
    _write(out / FOLDER, list(walks.values()), documents, encoder, cache_dir, progress)
    return WalksReport(len(walks), sum(len(walk.step) for _, walk in walks.values()), tuple(warnings))


def _write(
    folder: Path,
    walks: Sequence[tuple[str, Walk]],
    documents: Sequence[DocumentEntry],
    encoder: Encoder,
    cache_dir: Path,
    progress: Progress,
) -> None:
    """One collection: what is searched, then the walks themselves."""
    searched = [row for file, walk in walks for row in _texts(file, walk)]
    kept = [
        WalkText(walk.model_dump_json(by_alias=True, exclude_defaults=True), "", file, walk.id, 0)
        for file, walk in walks
    ]
    with building(folder):
        texts = [row.text for row in searched]
        known = known_vectors(folder, WalkText, lambda row: row.text, id_of(encoder))
        vectors, _ = embed(texts, encoder, cache_dir, known=known, progress=partial(progress, "embed walks"))
        write_collection(
            folder,
            [*searched, *kept],
            vectors,
            [tokens(text) for text in texts],
            of=WalkText,
            name=FOLDER,
            encoder=id_of(encoder),
            documents=documents,
            counts={"walks": len(walks), "steps": sum(len(walk.step) for _, walk in walks)},
            licence=LICENCE,
            codec=CODEC,
        )


def _texts(file: str, walk: Walk) -> Iterator[WalkText]:
    """What a walk is found by."""
    for language in LANGUAGES:
        for text in (*getattr(walk.questions, language), walk.title.of(language)):
            yield WalkText(text, language, file, walk.id, 0)
        for number, step in enumerate(walk.step, start=1):
            yield WalkText(walk_text(step.function, step.say.of(language)), language, file, walk.id, number)


def walk_text(function: str, said: str) -> str:
    """What of a step is embedded."""
    return f"{function}: {said}"


def titles_by_section(root: Path) -> dict[str, list[Both]]:
    """The titles of the walks by the section of the course book that each names; empty without walks."""
    found: dict[str, list[Both]] = {}
    try:
        collection = Collection.load(root / FOLDER, None, of=WalkText)
    except BadIndex:
        return found
    for row in collection.chunks()[collection.searchable :]:
        walk = Walk.model_validate_json(row.text)
        found.setdefault(walk.section, []).append(walk.title)
    return found
