"""Which walk-through answers a question.

    question -> signals of every walk -> fitted order -> pair encoder on the first three -> fitted confidence
             -> the walk, or none

Walks that lie close together share words, functions and meaning, so no signal is enough alone: the meaning of a
question finds its neighbours, its rare words tell them apart, and the pair encoder, which knows a prepared question in
other words, reads both texts together. `bench/fit_walks.py` fits the order and the confidence.
"""

import json
import logging
import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from osrag.answer.prepared import JOINED
from osrag.errors import BadIndex
from osrag.index.collection import Collection
from osrag.index.confidence import load_confidence
from osrag.index.manifest import NAME, EncoderId
from osrag.kernel.describe import DATA
from osrag.kernel.store import Floats, Ints, KernelStore
from osrag.kernel.walk_index import FOLDER
from osrag.kernel.walks import BoundWalk, Walk, bind
from osrag.models.protocols import PairEncoder, Vectors
from osrag.text import folded, language_of, tokens
from osrag.types import CodeHit, Language, WalkText

log = logging.getLogger(__name__)
WEIGHTS = DATA / "walk_weights.json"
SIGNALS = ("question", "title", "step", "found", "asked_words", "words")
SAME_WALK = 2  # functions of an answer from which a walk is about the same
READ, READ_TEXTS = 3, 4  # walks that the pair encoder reads, and of each the nearest questions and its title
_NAME = re.compile(r"[a-z][a-z0-9]*(?:[._][a-z0-9]+)+")  # of code or of an interface: cpu.max, drop_caches
OFTEN = 1.2  # texts of a walk with a word that count half; as k1 of BM25, whose usual range is 1.2-2
SURE = 0.65  # confidence from which a walk is the answer; of 305 given so, 282 are, at .8 267 of 282
LIKELY = 0.4  # confidence from which a walk is told as what is probably meant, with the functions that a search finds
NEAR = 0.2  # confidence from which the page leads to a walk that is not given


@dataclass(frozen=True, slots=True)
class FoundWalk:
    """The walk that answers a question, or probably does."""

    bound: BoundWalk
    chance: float  # that it answers
    exact: bool  # the question is one of its own, or its title
    cosine: float  # of its nearest question or title
    named: frozenset[str]  # its functions that the question names; none if it asks for the whole by its title

    @property
    def sure(self) -> bool:
        """Whether it is given as the answer."""
        return self.chance >= SURE


@dataclass(frozen=True, slots=True)
class Told:
    """What a step of some walk-through says of a function."""

    said: str
    when: str  # the condition under which the step is reached; empty without one
    file: str
    lines: tuple[str, ...]


@cache
def weights() -> Mapping[str, float]:
    """Weight of each signal in the order of the walks."""
    held: dict[str, float] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return held


def open_walks(root: Path, encoder: EncoderId, pairs: PairEncoder | None) -> "Walks | None":
    """The walks beside the kernel collections in `root`; None, and the log says why, where they cannot be used."""
    if not (root / FOLDER / NAME).exists():
        return None
    try:
        collection = Collection.load(root / FOLDER, encoder, of=WalkText)
    except BadIndex as error:
        log.warning("walk-throughs are left out: %s", error.sentence())
        return None
    return Walks(collection, pairs) if collection.searchable else None


class Walks:
    """The walks of one index. Read-only, safe for several threads.

    Without `pairs` only a question in the very words of a walk is recognised.
    """

    def __init__(self, collection: Collection[WalkText], pairs: PairEncoder | None) -> None:
        self._pairs = pairs
        rows = collection.chunks()
        self.texts, kept = rows[: collection.searchable], rows[collection.searchable :]
        self.walks = tuple(Walk.model_validate_json(row.text) for row in kept)
        self._functions = [frozenset(step.function for step in walk.step) for walk in self.walks]
        number = {walk.id: place for place, walk in enumerate(self.walks)}
        titles = {(walk.id, title) for walk in self.walks for title in (walk.title.zh, walk.title.en)}
        self._keywords = collection.keywords
        self.vectors: Vectors = collection.dense.vectors()  # (texts, dim)
        self._walk_of: Ints = np.array([number[row.walk] for row in self.texts], dtype=np.int64)  # (texts,)
        self._step_of: Ints = np.array([row.step for row in self.texts], dtype=np.int64)  # (texts,)
        file_of = {row.walk: row.source for row in self.texts}
        self._files = np.array([file_of[walk.id] for walk in self.walks])  # walks of one topic share a file
        self._is_title = np.array([(row.walk, row.text) in titles for row in self.texts])
        self._told = {name for row in self.texts for name in _NAME.findall(row.text.lower())}
        self._exact = {folded(row.text): at for at, row in enumerate(self.texts) if not row.step}

    def find(self, question: str, vector: Vectors, hits: Sequence[CodeHit], store: KernelStore) -> FoundWalk | None:
        """The walk that answers `question` with its `vector` (dim,); `hits` are what the search found for it."""
        cosines = self.cosines(vector)
        text = self._exact.get(folded(question))
        if text is not None:
            place, chance = int(self._walk_of[text]), 1.0
        else:
            place, chance = self.best(question, cosines, hits)
            if chance < LIKELY:
                return None
        bound, faults = bind(self.walks[place], store)
        if bound is None:
            log.warning("a walk-through is of another kernel: %s", "; ".join(faults))
            return None
        whole = text is not None and self._is_title[text]
        asked = float(cosines[(self._walk_of == place) & (self._step_of == 0)].max())
        words = re.findall(r"[A-Za-z_]\w*", question, re.ASCII)  # such as kswapd, which a search takes for a word
        named = frozenset() if whole else (_named(hits) | {*words}) & self._functions[place]
        return FoundWalk(bound, chance, text is not None, asked, named)

    def chance(self, question: str, vector: Vectors, hits: Sequence[CodeHit]) -> float:
        """0-1, that a walk answers `question`."""
        return 1.0 if folded(question) in self._exact else self.best(question, self.cosines(vector), hits)[1]

    def near(self, question: str, vector: Vectors, hits: Sequence[CodeHit]) -> Walk | None:
        """The walk that may help with `question`, where none answers it."""
        place, sure = self.best(question, self.cosines(vector), hits)
        return self.walks[place] if sure >= NEAR else None

    def mentions(self, name: str) -> bool:
        """Whether any walk speaks of a name of code or of an interface, such as drop_caches."""
        return name.lower() in self._told

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
        return np.asarray(self.vectors @ vector, dtype=np.float32)

    def best(self, question: str, cosines: Floats, hits: Sequence[CodeHit]) -> tuple[int, float]:
        """The first walk in the fitted order, and how likely it is that it answers the question."""
        if self._pairs is None:
            return 0, 0.0
        scores = self.signals(question, cosines, hits) @ np.array([weights()[name] for name in SIGNALS])
        evidence = self.evidence(scores, self.same(question, scores, cosines), hits)
        return int(np.argmax(scores)), load_confidence("walks")(evidence)

    def same(self, question: str, scores: Floats, cosines: Floats) -> Floats:
        """(READ,) log odds of the pair encoder that the first walks by their `scores` (walks,) ask the same."""
        assert self._pairs is not None
        language = language_of(question)
        own_language = np.array([row.language == language and not row.step for row in self.texts])
        texts = []
        for place in np.argsort(-scores, kind="stable")[:READ]:
            (own,) = np.nonzero((self._walk_of == place) & own_language)
            nearest = own[np.argsort(-cosines[own], kind="stable")[:READ_TEXTS]]
            texts.append(JOINED.join(self.texts[at].text for at in nearest))
        return self._pairs.scores(question, texts)

    def signals(self, question: str, cosines: Floats, hits: Sequence[CodeHit]) -> Floats:
        """(walks, SIGNALS) what speaks for each walk. `cosines` (texts,).

        `question`, `title`, `step`: the cosine of the nearest of them. `found`: the share of the hits that are its
        functions, the first counting most. `asked_words`, `words`: the share of the question's words that its
        questions hold, and that any of its texts hold, the rare ones counting most.
        """
        worth = {hit.chunk.name: 1 / rank for rank, hit in reversed(list(enumerate(hits, start=1)))}
        total = sum(worth.values()) or 1.0
        found = [sum(worth.get(name, 0.0) for name in own) / total for own in self._functions]
        asked = self._step_of == 0
        columns = [
            self._best(cosines, asked),
            self._best(cosines, self._is_title),
            self._best(cosines, ~asked),
            np.array(found, dtype=np.float32),
            *self._words(question),
        ]
        return np.stack(columns, axis=1)

    def evidence(self, scores: Floats, same: Floats, hits: Sequence[CodeHit]) -> Mapping[str, float]:
        """What speaks for the first walk by its score (walks,). `same` (READ,) is what the pair encoder says.

        `ahead`: its score above that of the second. `apart`: above that of the first one of another topic.
        `kin`: whether the second is of its own topic, where a part of the question may lie.
        `score`: its score. `strange`: the share of the functions that the question names that are not its own.
        `same`, `same_ahead`: the log odds of the pair encoder, and by how much they are above the others that it read.
        """
        place = int(np.argmax(scores))
        second = float(np.delete(scores, place).max(initial=0.0))
        rival = float(scores[self._files != self._files[place]].max(initial=0.0))
        best = float(scores[place])
        named = _named(hits)
        return {
            "ahead": best - second,
            "apart": best - rival,
            "kin": float(second > rival),
            "score": best,
            "strange": len(named - self._functions[place]) / max(1, len(named)),
            "same": float(same[0]),
            "same_ahead": float(same[0] - same[1:].max(initial=0.0)),
        }

    def _best(self, cosines: Floats, rows: npt.NDArray[np.bool_]) -> Floats:
        """(walks,) the best cosine of the texts in `rows` of each walk."""
        best = np.full(len(self.walks), -1.0, dtype=np.float32)
        np.maximum.at(best, self._walk_of[rows], cosines[rows])
        return best

    def _words(self, question: str) -> tuple[Floats, Floats]:
        """(walks,) twice: the share of the question's words in the questions of each walk, and in all its texts.

        A word counts by its rarity among the walks; in all texts also by how often it is there.
        """
        asked, all_texts = (np.zeros(len(self.walks), dtype=np.float32) for _ in range(2))
        total = 0.0
        for word in dict.fromkeys(tokens(question)):
            rows = self._keywords.rows_of(word)
            counts = np.bincount(self._walk_of[rows], minlength=len(self.walks))
            among = int(np.count_nonzero(counts))
            rarity = float(np.log1p((len(self.walks) - among + 0.5) / (among + 0.5)))
            in_asked = np.bincount(self._walk_of[rows[self._step_of[rows] == 0]], minlength=len(self.walks))
            asked += rarity * (in_asked > 0)
            all_texts += rarity * counts / (counts + OFTEN)
            total += rarity
        return asked / max(total, 1.0), all_texts / max(total, 1.0)


def _named(hits: Sequence[CodeHit]) -> frozenset[str]:
    """The functions that a question names, by what the search found for it."""
    return frozenset(hit.chunk.name for hit in hits if hit.found_by == "name")
