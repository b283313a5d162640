"""Walk-throughs beside the kernel collections: built from their files, and found for a question.

A question is compared with the questions, titles and statements of all walks, and what the search found for it with
the functions of each. A fitted model (`bench/fit_walks.py`) says whether the walk that comes out first answers it.
"""

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from osrag.errors import BadIndex
from osrag.index.build import building, embed
from osrag.index.collection import Collection, write_collection
from osrag.index.confidence import load_confidence
from osrag.index.dense import Codec
from osrag.index.manifest import NAME, DocumentEntry, EncoderId, id_of
from osrag.kernel.store import Floats, Ints, KernelStore, open_store
from osrag.kernel.walks import Both, BoundWalk, Walk, bind, read_walks
from osrag.models.protocols import Encoder, Vectors
from osrag.text import folded, text_hash, tokens
from osrag.types import CodeHit, Language, Progress, WalkText, silent

log = logging.getLogger(__name__)
FOLDER = "kernel_walks"
LICENCE = "CC BY 4.0; the quoted lines are of the Linux kernel, GPL-2.0-only (see COPYING.GPL-2.0)"
CODEC: Codec = "int8"  # a byte a number, as the other kernel collections
LANGUAGES: tuple[Language, ...] = ("zh", "en")
SURE = 0.65  # confidence from which a walk is the answer; lower, and more questions get a walk beside the question
ONE_STEP = 0.03  # by which a question is nearer to one statement than to all questions of the walk if it asks for that
SAME_WALK = 2  # functions of an answer from which a walk is about the same
NEAR = 0.94  # cosine from which a question counts as one of the walk's own in other words


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
    for path in files:
        read = read_walks(path)
        warnings += read.slips
        taken = 0
        for walk in read.walks:
            bound, faults = bind(walk, store)
            if walk.id in walks:
                warnings.append(f"{path.name}: {walk.id}: the id is taken")
            elif bound is None:
                warnings += (f"{path.name}: {fault}" for fault in faults)
            else:
                walks[walk.id] = path.name, walk
                taken += 1
        digest = hashlib.sha256(f"{store.version}\0{text_hash(path.read_text(encoding='utf-8'))}".encode())
        documents.append(DocumentEntry(name=path.name, sha256=digest.hexdigest(), chunks=taken))
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
        vectors, _ = embed(texts, encoder, cache_dir, progress=partial(progress, "embed walks"))
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


@dataclass(frozen=True, slots=True)
class FoundWalk:
    """The walk that answers a question."""

    bound: BoundWalk
    exact: bool  # the question is one of its own, or its title
    cosine: float  # of its nearest question or title
    part: int | None  # the step that the question is about, where it is about one and not about the whole


@dataclass(frozen=True, slots=True)
class Told:
    """What a step of some walk-through says of a function."""

    said: str
    when: str  # the condition under which the step is reached; empty without one
    file: str
    lines: tuple[str, ...]


def open_walks(root: Path, encoder: EncoderId) -> "Walks | None":
    """The walks beside the kernel collections in `root`; None, and the log says why, where they cannot be used."""
    if not (root / FOLDER / NAME).exists():
        return None
    try:
        collection = Collection.load(root / FOLDER, encoder, of=WalkText)
    except BadIndex as error:
        log.warning("walk-throughs are left out: %s", error.sentence())
        return None
    return Walks(collection) if collection.searchable else None


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


class Walks:
    """The walks of one index. Read-only, safe for several threads."""

    def __init__(self, collection: Collection[WalkText]) -> None:
        rows = collection.chunks()
        self.texts, kept = rows[: collection.searchable], rows[collection.searchable :]
        self.walks = tuple(Walk.model_validate_json(row.text) for row in kept)
        self._functions = [{step.function for step in walk.step} for walk in self.walks]
        number = {walk.id: place for place, walk in enumerate(self.walks)}
        self._vectors: Vectors = collection.dense.vectors()  # (texts, dim)
        self._walk_of: Ints = np.array([number[row.walk] for row in self.texts], dtype=np.int64)  # (texts,)
        self._step_of: Ints = np.array([row.step for row in self.texts], dtype=np.int64)  # (texts,)
        self._exact = {folded(row.text): number[row.walk] for row in self.texts if not row.step}

    def find(self, question: str, vector: Vectors, hits: Sequence[CodeHit], store: KernelStore) -> FoundWalk | None:
        """The walk that answers `question` with its `vector` (dim,); `hits` are what the search found for it."""
        cosines = self.cosines(vector)
        place = self._exact.get(folded(question))
        exact = place is not None
        if place is None:
            model = load_confidence("walks")
            sure = {place: model(signals) for place, signals in self.candidates(cosines, hits).items()}
            place = max(sure, key=sure.__getitem__, default=None)
            if place is None or sure[place] < SURE:
                return None
        bound, faults = bind(self.walks[place], store)
        if bound is None:
            log.warning("a walk-through is of another kernel: %s", "; ".join(faults))
            return None
        own = self._walk_of == place
        asked = float(cosines[own & (self._step_of == 0)].max())
        said = [float(cosines[own & (self._step_of == n)].max()) for n in range(1, len(bound.steps) + 1)]
        best = int(np.argmax(said))
        about_one = not exact and said[best] > asked + ONE_STEP and bound.steps[best].name == hits[0].chunk.name
        return FoundWalk(bound, exact, asked, best if about_one else None)

    def told(self, names: AbstractSet[str], vector: Vectors, language: Language) -> dict[str, Told]:
        """What the steps say of functions: of each, the step nearest to the question with this `vector` (dim,).

        A walk with one of the functions alone is about something else, and so is what it says of that one.
        """
        near = [len(own & names) >= SAME_WALK for own in self._functions]
        found: dict[str, Told] = {}
        for at in np.argsort(-self.cosines(vector), kind="stable").tolist():
            row = self.texts[at]
            if row.step and row.language == language and near[self._walk_of[at]]:
                step = self.walks[self._walk_of[at]].step[row.step - 1]
                if step.function in names and step.function not in found:
                    when = step.when.of(language) if step.when else ""
                    found[step.function] = Told(step.say.of(language), when, step.file, step.lines)
        return found

    def cosines(self, vector: Vectors) -> Floats:
        """(texts,) of all texts with a question."""
        return np.asarray(self._vectors @ vector, dtype=np.float32)

    def candidates(self, cosines: Floats, hits: Sequence[CodeHit]) -> Mapping[int, Mapping[str, float]]:
        """What speaks for each walk that may answer, by its number. `cosines` (texts,) with the question.

        A walk may answer if it has the function that the search found first, or if one of its questions is very near.
        `question_ahead`, `step_ahead`: by how much the cosine of its nearest question, and of its nearest statement, is
        above that of every other walk. `found`: the share of the hits that are its functions, the first counting most.
        """
        asked, said = (self._best(cosines, rows) for rows in (self._step_of == 0, self._step_of > 0))
        worth = {hit.chunk.name: 1 / rank for rank, hit in enumerate(hits, start=1)}
        first = next(iter(worth), "")
        return {
            place: {
                "question_ahead": float(asked[place] - np.delete(asked, place).max(initial=0.0)),
                "step_ahead": float(said[place] - np.delete(said, place).max(initial=0.0)),
                "found": sum(worth.get(name, 0.0) for name in own) / sum(worth.values()),
            }
            for place, own in enumerate(self._functions)
            if first in own or (first and asked[place] >= NEAR)
        }

    def _best(self, cosines: Floats, rows: npt.NDArray[np.bool_]) -> Floats:
        """(walks,) the best cosine of the texts in `rows` of each walk."""
        best = np.full(len(self.walks), -1.0, dtype=np.float32)
        np.maximum.at(best, self._walk_of[rows], cosines[rows])
        return best
