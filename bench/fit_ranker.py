"""Train the ranker (osrag/book/ranker.py) on the readers' questions of the course, and say how well it ranks.

    OMP_NUM_THREADS=1 python -m bench.fit_ranker [--write]

Every question of a reader or an examiner is to be nearer to the passages that answer it than to all others of a
language. Four chapters are left out and reported on: for students' questions, the share of which the first passage,
or one of the first five, is right by the cosine alone, then by the map; then the map is trained on all chapters.
Needs torch, which requirements-dev.txt brings.
"""

import argparse
import re
import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import Parameter
from torch.nn.functional import normalize

from osrag.app.parts import Parts
from osrag.book.asks import ASKS
from osrag.book.ranker import PATH, SHARE
from osrag.book.sections import COURSE_BOOK
from osrag.index.manifest import id_of
from osrag.settings import ROOT, load_settings
from osrag.types import Ask, Chunk, Language

LEFT_OUT = (3, 6, 8, 11)  # chapters for validation
RANK, EPOCHS, BATCH, RATE, WARM_UP = 64, 8, 512, 1e-3, 20
FIRST_SCALE = 30.0  # of the cosines in the softmax; trained with the map
LANGUAGES: tuple[Language, ...] = ("zh", "en")


@dataclass(frozen=True)
class Course:
    """The questions that a passage of the course book answers, and all passages."""

    asks: tuple[Ask, ...]
    chapters: npt.NDArray[np.int64]  # (asks,)
    questions: torch.Tensor  # (asks, dim)
    passages: torch.Tensor  # (passages, dim)
    languages: dict[Language, torch.Tensor]  # (passages,) whether it is in the language
    right: torch.Tensor  # (asks, passages) whether it answers


def course(parts: Parts) -> Course:
    """From the shipped index."""
    collection = parts.textbook.collection
    rows = ASKS.open(parts.textbook_folder, collection.manifest, id_of(parts.textbook.encoder))
    assert rows is not None, "the index has no readers' questions"
    chunks, asks, vectors = collection.searched(), rows.searched(), rows.dense.vectors()
    found: list[tuple[int, list[int], int]] = []  # place of the question, rows of its passages, chapter
    for place, ask in enumerate(asks):
        own = [row for row in map(collection.row_of, ask.chunk_ids) if row is not None and row < len(chunks)]
        chapters = [chapter_of(chunks[row]) for row in own if chunks[row].source.startswith(COURSE_BOOK)]
        if chapters:
            found.append((place, own, chapters[0]))
    right = torch.zeros(len(found), len(chunks), dtype=torch.bool)
    for number, (_, own, _) in enumerate(found):
        right[number, own] = True
    places = [place for place, _, _ in found]
    return Course(
        tuple(asks[place] for place in places),
        np.array([chapter for _, _, chapter in found]),
        torch.tensor(np.asarray(vectors[places], np.float32)),
        torch.tensor(collection.dense.vectors()),
        {language: torch.tensor([chunk.language == language for chunk in chunks]) for language in LANGUAGES},
        right,
    )


def chapter_of(chunk: Chunk) -> int:
    """The first number in the headings above a passage."""
    number = re.search(r"\d+", chunk.section_path)
    return int(number.group()) if number else 0


class Map(torch.nn.Module):
    """What is trained; it begins as no map at all."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.down = Parameter(torch.randn(dim, RANK) * 0.05)
        self.up = Parameter(torch.zeros(RANK, dim))
        self.scale = Parameter(torch.tensor(FIRST_SCALE).log())

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        """(texts, dim) unit rows."""
        return normalize(vectors + vectors @ self.down @ self.up, dim=1)


def train(one: Course, chosen: npt.NDArray[np.int64]) -> Map:
    """The map that ranks the passages for the `chosen` questions; both languages are ranked apart, as in a search."""
    torch.manual_seed(0)
    moved = Map(one.passages.shape[1])
    adam = torch.optim.AdamW(moved.parameters(), lr=RATE, weight_decay=0.0)
    batches = [batch for _ in range(EPOCHS) for batch in torch.randperm(len(chosen)).split(BATCH)]
    for step, batch in enumerate(batches):
        for group in adam.param_groups:
            group["lr"] = RATE * min(1, (step + 1) / WARM_UP) * (0.5 + 0.5 * np.cos(np.pi * step / len(batches)))
        rows = torch.tensor(chosen)[batch]
        scores = moved(one.questions[rows]) @ one.passages.T * moved.scale.exp()
        loss = torch.zeros(())
        for own in one.languages.values():
            right = one.right[rows][:, own]
            answered = right.any(dim=1)
            chances = torch.log_softmax(scores[answered][:, own], dim=1)
            loss = loss - chances.masked_fill(~right[answered], -torch.inf).logsumexp(dim=1).mean()
        adam.zero_grad()
        loss.backward()
        adam.step()
    return moved


def report(one: Course, chosen: npt.NDArray[np.int64], moved: Map | None) -> str:
    """The share of the `chosen` questions of which the first passage, or one of the first five, is right."""
    told = []
    for asked in LANGUAGES:
        rows = np.array([row for row in chosen if one.asks[row].language == asked and not one.asks[row].answer])
        with torch.no_grad():
            vectors = one.questions[rows]
            vectors = vectors if moved is None else (1 - SHARE) * vectors + SHARE * moved(vectors)
            for language, own in one.languages.items():
                right, scores = one.right[rows][:, own], vectors @ one.passages[own].T
                best = scores.masked_fill(~right, -torch.inf).amax(dim=1, keepdim=True)
                ranks = (scores >= best).sum(dim=1)[right.any(dim=1)]
                shares = "/".join(f"{float((ranks <= cut).float().mean()):.3f}" for cut in (1, 5))
                told.append(f"{asked}->{language} {shares}")
    return ", ".join(told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {PATH.relative_to(ROOT)}")
    args = parser.parse_args()
    parts = Parts(load_settings(index_dir=ROOT / "index", index_repo=""))
    one = course(parts)
    left_out = np.isin(one.chapters, LEFT_OUT)
    rest, held = np.flatnonzero(~left_out), np.flatnonzero(left_out)
    print(f"{len(rest)} questions to train on; chapters left out, first / first five:")
    print(f"by cosine: {report(one, held, None)}")
    print(f"by the map: {report(one, held, train(one, rest))}")
    if args.write:
        moved = train(one, np.arange(len(one.asks)))
        down, up = (value.detach().numpy().astype(np.float16) for value in (moved.down, moved.up))
        np.savez_compressed(PATH, encoder=np.array(parts.textbook.encoder.name), down=down, up=up)
        print(f"wrote {PATH.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
