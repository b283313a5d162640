"""Train the selector (osrag/book/selector.py) on the prepared answers of the course, and say how well it chooses.

    python -m bench.fit_selector [--write] [--keep FILE]

Every prepared answer is asked for with two of its questions. Of the lines that the search finds, and the statements
of the nearest prepared answers, those that say what a quote of the answer says are right, the others are not. Four
chapters are left out and reported on; then the network is trained on all of them. A copy of every fourth question is
asked as if nothing were prepared, and another in the other language, so that the network learns what to do with books
that have no prepared answers, or exist in one language only. `--keep` keeps what was found between runs.
Needs torch, which requirements-dev.txt brings.
"""

import argparse
import json
import pickle
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from bench.remembering import Remembering
from osrag.answer.judge import number
from osrag.answer.plan import plan_by_rule
from osrag.answer.prepared import PreparedQuestion, PreparedQuestions
from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.book.answers import ANSWERS, PreparedAnswer, answers_of
from osrag.book.lines import Line, lines_of, statements_of
from osrag.book.selector import FAR, PATH, Array, Selector, is_quoted, signals
from osrag.index.manifest import id_of
from osrag.settings import load_settings
from osrag.text import folded
from osrag.types import Language, Passage

ROOT = Path(__file__).resolve().parent.parent
EVAL = ROOT / "examples" / "eval" / "textbook"
LEFT_OUT = ("ch03", "ch06", "ch08", "ch11")  # chapters for validation
UNANSWERED = 0.2  # of the questions that no near answer answers that teach: of a course most are answered
HIDDEN, EPOCHS, BATCH, RATE, DECAY, DROPOUT = 48, 16, 2048, 2e-3, 1e-2, 0.2


@dataclass(frozen=True, slots=True)
class Case:
    """A question with all that may answer it, and what of that does."""

    chapter: str  # "ch05"; "faq-", "api-" of the others
    asked: str
    lines: tuple[Line, ...]
    passages: tuple[Passage, ...]
    near: tuple[tuple[PreparedAnswer, float], ...]
    right: Array  # (lines,) 1 where a quote of the answer stands

    @property
    def usable(self) -> npt.NDArray[np.bool_]:
        """(lines,) whether a line may be shown."""
        return np.array([line.quotable for line in self.lines])

    @property
    def answered(self) -> bool:
        """Whether a prepared answer near the question is the one, by three statements at least; so if none is asked."""
        own = np.array([line.answer >= 0 for line in self.lines])
        return not self.near or bool(self.right[own].sum() >= 3)


class Course:
    """The prepared answers of the shipped index, asked as if one of their questions were new."""

    def __init__(self, parts: Parts) -> None:
        self._search, self._source = parts.textbook, parts.book_source
        self.encoder = Remembering(parts.checker)
        rows = ANSWERS.open(parts.textbook_folder, self._search.collection.manifest, id_of(self._search.encoder))
        assert rows is not None, "the index has no prepared answers"
        self.answers = answers_of(rows.chunks())
        self._asked = [PreparedQuestion(row.text, row.language, row.id) for row in rows.searched()]
        self._kept = rows.dense.vectors()
        self._vectors = self._kept.copy()  # of questions that are taken for new, zeros
        self._questions = PreparedQuestions(self._asked, self._vectors, self.encoder, None, answers={})
        self._chance = random.Random(1)

    def cases(self) -> Iterator[Case]:
        """Two questions of each answer in each language, and the rewordings of `prepared_pairs.jsonl`.

        Of a prepared answer whose question is asked only two other questions stay, or, two times in five, nothing: a
        reader's words are further from the prepared ones than these from each other, and many ask for what is in no
        prepared answer.
        """
        chance = self._chance
        for answer in self.answers.values():
            own = [n for n, one in enumerate(self._asked) if one.answer == answer.id]
            for text in [answer.questions[0], *chance.sample(answer.questions[1:], min(1, len(answer.questions) - 1))]:
                others = [n for n in own if self._asked[n].text != text]
                kept = chance.sample(others, min(2, len(others))) if chance.random() < 0.6 else []
                yield from self._of(text, answer, without=[n for n in own if n not in kept])
        for line in (EVAL / "prepared_pairs.jsonl").read_text("utf-8").splitlines():
            pair = json.loads(line)
            if pair["same"] and pair["set"] == "dev" and (pair["id"], pair["language"]) in self.answers:
                yield from self._of(pair["question"], self.answers[pair["id"], pair["language"]], without=[])

    def _of(self, text: str, answer: PreparedAnswer, *, without: Sequence[int]) -> Iterator[Case]:
        """The case of one question; sometimes as if nothing were prepared, sometimes asked in the other language."""
        source, question, plan = self._source, Question(text), plan_by_rule(text, ())
        passages = number(source.usable(source.search(plan, question), question, judged=True))
        lines = lines_of(passages)
        if not lines:
            return
        language = answer.language
        self._vectors[without] = 0.0
        found = self._questions.near([text], language)
        self._vectors[without] = self._kept[without]
        near = [(self.answers[id_, language], cosines[0]) for id_, cosines, _ in found]
        shown = {passage.chunk.id for passage in passages}
        ids = [id_ for one, _ in near for id_ in one.cites if id_ not in shown]
        cited = number(self._search.hits_at(text, ids, language=None), len(passages) + 1)
        numbers = {one.chunk.id: one.number for one in (*passages, *cited)}
        own = statements_of([one for one, _ in near], numbers, len(lines))
        quotes = [folded(one.quote) for one in answer.statements]

        def right(lines: Sequence[Line]) -> Array:
            return np.array([_bears(line, quotes) for line in lines], np.float32)

        chapter = answer.id[:4]
        yield Case(chapter, text, (*lines, *own), (*passages, *cited), tuple(near), right((*lines, *own)))
        other: Language = "en" if language == "zh" else "zh"
        if self._chance.random() < 1 / 4:
            yield Case(chapter, text, lines, passages, (), right(lines))
        if (answer.id, other) in self.answers and self._chance.random() < 1 / 4:
            spoken = self.answers[answer.id, other].questions[0]
            yield Case(chapter, spoken, lines, passages, (), right(lines))


def _bears(line: Line, quotes: Sequence[str]) -> bool:
    """Whether a line says what an answer says: it stands in one of its quotes, or is a statement of the same quote."""
    text = folded(line.quote or line.text)
    return any(is_quoted(text, quote) for quote in quotes)


@dataclass(frozen=True, slots=True)
class Seen:
    """The lines of a case that may be shown, as the network reads them."""

    signals: Array  # (lines, signals)
    right: Array  # (lines,)


def seen(case: Case, encoder: Remembering) -> Seen:
    """What the network reads of a case."""
    vectors = encoder.passages([line.in_context for line in case.lines])
    query = encoder.queries([case.asked])[0]
    read = signals(case.asked, query, case.lines, vectors, case.passages, case.near)
    return Seen(read[case.usable], case.right[case.usable])


def train(chosen: Sequence[Seen]) -> dict[str, Array]:
    """The weights of a `Selector`."""
    import torch
    from torch import nn

    torch.manual_seed(0)
    read = np.concatenate([case.signals for case in chosen])
    mean, deviation = read.mean(axis=0), read.std(axis=0) + 1e-6
    inputs = torch.tensor(np.clip((read - mean) / deviation, -FAR, FAR))
    right = torch.tensor(np.concatenate([case.right for case in chosen]))
    first, last = nn.Linear(inputs.shape[1], HIDDEN), nn.Linear(HIDDEN, 1)
    net = nn.Sequential(first, nn.ReLU(), nn.Dropout(DROPOUT), last)
    adam = torch.optim.AdamW(net.parameters(), lr=RATE, weight_decay=DECAY)
    for _ in range(EPOCHS):
        for batch in torch.randperm(len(right)).split(BATCH):
            adam.zero_grad()
            nn.functional.binary_cross_entropy_with_logits(net(inputs[batch])[:, 0], right[batch]).backward()
            adam.step()
    weights = {
        "in": first.weight.T,
        "in_bias": first.bias,
        "out": last.weight[0],
        "out_bias": last.bias,
    }
    return {"mean": mean, "deviation": deviation} | {name: one.detach().numpy() for name, one in weights.items()}


def report(selector: Selector, held: Sequence[Seen]) -> str:
    """Mean average precision, and the share of right lines among the five best."""
    precisions, recalls = [], []
    for case in held:
        right = case.right[np.argsort(-selector.scores(case.signals))]
        so_far = np.cumsum(right) / np.arange(1, len(right) + 1)
        precisions.append(float((so_far * right).sum() / right.sum()))
        recalls.append(float(right[:5].sum() / min(5, right.sum())))
    return f"average precision {np.mean(precisions):.3f}, right among the best five {np.mean(recalls):.3f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help=f"write {PATH.relative_to(ROOT)}")
    parser.add_argument("--keep", type=Path, help="file that keeps the lines between runs")
    args = parser.parse_args()
    course = Course(Parts(load_settings()))
    if args.keep and args.keep.is_file():
        found, course.encoder.held = pickle.loads(args.keep.read_bytes())  # our own file
    else:
        found = list(course.cases())
        for case in found:
            course.encoder.passages([line.in_context for line in case.lines])
        if args.keep:
            args.keep.write_bytes(pickle.dumps((found, course.encoder.held)))
    chance = random.Random(3)
    kept = [case for case in found if case.answered or chance.random() < UNANSWERED]
    read = [(case.chapter, seen(case, course.encoder)) for case in kept]
    read = [(chapter, one) for chapter, one in read if one.right.any()]
    held = [one for chapter, one in read if chapter in LEFT_OUT]
    rest = [one for chapter, one in read if chapter not in LEFT_OUT]
    print(f"{len(rest)} questions to train on, {len(held)} left out: {report(Selector(train(rest)), held)}")
    if args.write:
        weights = train([one for _, one in read])
        np.savez_compressed(PATH, **{name: one.astype(np.float32) for name, one in weights.items()})
        print(f"wrote {PATH.relative_to(ROOT)}", file=sys.stderr)


if __name__ == "__main__":
    main()
