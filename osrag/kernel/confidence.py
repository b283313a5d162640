"""What tells how likely it is that kernel hits answer the question."""

from collections.abc import Sequence

from osrag.kernel.describe import BODY, described
from osrag.kernel.describe import WORDS as WORD_FIELD
from osrag.kernel.query import KernelQuestion
from osrag.kernel.rank import FEATURES, Ranked
from osrag.kernel.store import KernelStore
from osrag.text import share_of, tokens
from osrag.types import CodeChunk, CodeHit

TEXT_CHARS = 6000  # of a chunk, searched for words
TOP = 3  # hits that may carry the answer


def signals(ranked: Ranked, store: KernelStore, question: KernelQuestion, hits: Sequence[CodeHit]) -> dict[str, float]:
    """What the confidence of a search rests on.

    `dense`: standard deviations of the best hits above an arbitrary chunk, for the question or its English.
    `words`: the share of the question's words, in English, that the best hits hold.
    `known`: the share of them that the index has at all.
    """
    if not hits or not len(ranked.rows):
        return {"dense": 0.0, "words": 0.0, "known": 0.0}
    columns = [FEATURES.index(name) for name in ("dense", "dense_bridge")]
    dense = float(ranked.features[:TOP, columns].max())
    words = [word.removeprefix(WORD_FIELD) for word in question.words]
    held = {token for hit in hits[:TOP] for token in _held(hit.chunk)}
    known = [store.knows(WORD_FIELD + word) or store.knows(BODY + word) for word in words]
    return {"dense": dense, "words": share_of(words, held), "known": sum(known) / len(known) if known else 0.0}


def _held(chunk: CodeChunk) -> set[str]:
    """Words that a chunk has anywhere."""
    return set(tokens(f"{described(chunk)} {chunk.text[:TEXT_CHARS]}"))
