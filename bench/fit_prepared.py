"""Train the pair encoder that knows a prepared question in other words (osrag/answer/prepared.py), and measure it.

    python bench/fit_prepared.py train FOLDER [--start ADAPTER] [--share .11] [--wordings .3] [--epochs 1] [--all]
                                              [--seconds 480]
    python bench/fit_prepared.py write ADAPTER           as osrag/data/same_question.safetensors
    python -m bench.fit_prepared decide                  weighs it with words: "prepared" in osrag/data/confidence.json
    python bench/fit_prepared.py measure [--adapter FILE] [--held-out] [--show]

`train` goes on where the last run in FOLDER stopped, and writes FOLDER/adapter.safetensors. It learns from the prepared
questions of the course and of the walk-throughs, or a share of them (each against the others of its answer, and against
the nearest answers), from the same with a slip, a word in the other language or key words only, from questions that a
program turned round (another term, number, direction, side of the thing), and from questions about anything else; and
of three answers in four from the development pairs, the hits that were read (`prepared_read.jsonl`) and a share of the
students' wordings (`wordings.jsonl`); with `--all` of every answer, once all is settled. On the
pairs and hits of the fourth `decide` fits and `measure` reports. The pairs that are held out are for the end.
Needs torch, which requirements-dev.txt brings.
"""

import argparse
import json
import math
import random
import re
import shutil
import sys
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402
from safetensors.torch import load_file, save_file  # noqa: E402
from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402

from bench.bert import Bert, compare, norm, shipped  # noqa: E402
from bench.fit_confidence import as_entry, fit, rows_of, write_entry  # noqa: E402
from osrag.answer.prepared import JOINED, READ, PreparedQuestion, PreparedQuestions  # noqa: E402
from osrag.app.parts import Parts  # noqa: E402
from osrag.book.answers import ANSWERS, BookAnswers, PreparedAnswer, answers_of  # noqa: E402
from osrag.glossary import Term, load_glossary  # noqa: E402
from osrag.index.keyword import KeywordIndex  # noqa: E402
from osrag.index.manifest import id_of  # noqa: E402
from osrag.kernel.walk_match import open_walks  # noqa: E402
from osrag.models.e5 import QUERY, E5Encoder, batches  # noqa: E402
from osrag.models.e5_graph import MAPS, UPPER  # noqa: E402
from osrag.models.e5_pairs import E5Pairs, in_first  # noqa: E402
from osrag.models.load import SAME_QUESTION  # noqa: E402
from osrag.settings import load_settings  # noqa: E402
from osrag.text import STOP_EN, tokens  # noqa: E402
from osrag.types import Language  # noqa: E402

RANK = 16  # of the adapters
RATE, BATCH_TOKENS, WARM_UP = 7e-4, 2048, 30
READ_TOKENS = 160  # of a pair
DUPLICATE = 0.975  # cosine above which two answers may be the same one, so that their pair teaches nothing
RIDGE = 10.0  # penalty on the weights of `decide`
MEASURED = 4  # one answer of so many has no part in training with its pairs
# How a question is turned round, and other sides of a thing that may be asked of.
TURNS = ROOT / "bench" / "prepared_turns.tsv"


@dataclass(frozen=True, slots=True)
class Example:
    """A question, the questions of an answer as the pair encoder reads them, and whether they ask the same."""

    text: str
    asked: str
    same: bool


@dataclass(frozen=True, slots=True)
class Asked:
    """Questions that have answers of one kind: of the book, or walk-throughs."""

    questions: tuple[PreparedQuestion, ...]
    vectors: np.ndarray  # (questions, dim)
    section: Mapping[str, str]  # of each answer; terms of one section stand near each other
    told: Mapping[tuple[str, Language], str]  # all words of each answer


@dataclass(frozen=True, slots=True)
class Course:
    """The prepared questions with their vectors, and the pairs that were written to measure them."""

    encoder: E5Encoder
    answers: BookAnswers
    texts: dict[tuple[str, Language], PreparedAnswer]
    book: Asked
    keywords: KeywordIndex  # of the questions of the book
    walks: Asked
    pairs: tuple[dict[str, Any], ...]


def taught(answer: str) -> bool:
    """Whether the pairs about an answer are for training; the same when others are added."""
    return zlib.crc32(answer.encode()) % MEASURED != 0


def course() -> Course:
    """From the shipped index."""
    parts = Parts(load_settings(index_dir=ROOT / "index", index_repo=""))
    search = parts.textbook
    rows = ANSWERS.open(parts.textbook_folder, search.collection.manifest, id_of(search.encoder))
    assert rows is not None and search.answers is not None, "the index has no prepared answers"
    assert isinstance(search.encoder, E5Encoder), "the pair encoder stands on the layers of e5"
    texts = dict(answers_of(rows.chunks()))
    book = Asked(
        tuple(PreparedQuestion(row.text, row.language, row.id) for row in rows.searched()),
        rows.dense.vectors(),
        {id_: answer.section for (id_, _), answer in texts.items()},
        {key: " ".join([*one.questions, *(said.text for said in one.statements)]) for key, one in texts.items()},
    )
    pairs = tuple(rows_of("textbook/prepared_pairs"))
    return Course(search.encoder, search.answers, texts, book, rows.keywords, walked(parts), pairs)


def walked(parts: Parts) -> Asked:
    """The questions and titles of the walk-throughs."""
    walks = open_walks(parts.kernel.root, parts.encoder_id, None)
    assert walks is not None, "the index has no walk-throughs"
    told: dict[tuple[str, Language], str] = defaultdict(str)
    for row in walks.texts:
        told[row.walk, row.language] += f" {row.text}"
    asked = [place for place, row in enumerate(walks.texts) if not row.step]
    rows = [walks.texts[place] for place in asked]
    return Asked(
        tuple(PreparedQuestion(row.text, row.language, row.walk) for row in rows),
        walks.vectors[asked],
        {row.walk: row.source for row in rows},
        told,
    )


# -- examples -----------------------------------------------------------------------------------------


class Writer:
    """Makes the examples of one kind of answers."""

    def __init__(self, course: Course, asked: Asked, *, every: bool, share: float = 1.0) -> None:
        self._course, self._from = course, asked
        self._every = every  # pair, also those of the answers that measure
        self._share = share  # of the prepared questions that teach
        self._random = random.Random(5)
        self._own: dict[tuple[str, Language], list[int]] = defaultdict(list)
        for number, one in enumerate(asked.questions):
            self._own[one.answer, one.language].append(number)
        self._ids = np.array([one.answer for one in asked.questions])
        glossary = load_glossary()
        self._terms = [glossary.find(one.text) for one in asked.questions]
        near: dict[str, dict[Term, None]] = defaultdict(dict)  # section -> terms that stand near each other
        for one, terms in zip(asked.questions, self._terms, strict=True):
            near[asked.section[one.answer]].update(dict.fromkeys(terms))
        self._near = {section: list(terms) for section, terms in near.items()}
        self._forms: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)  # by kind and language
        for line in TURNS.read_text(encoding="utf-8").splitlines()[1:]:
            kind, language, pattern, words = line.split("\t")
            self._forms[kind, language].append((pattern, words))

    def examples(self) -> list[Example]:
        """What the questions themselves teach, and those about anything else."""
        numbers = range(len(self._from.questions))
        taught = [number for number in numbers if self._random.random() < self._share]
        found = [example for number in taught for example in self._of(number)]
        found += [example for one in rows_of("textbook/off_topic")[::2] for example in self._of_anything_else(one)]
        return [example for example in found if example.asked]

    def of_pairs(self) -> list[Example]:
        """What the pairs that were written and the hits that were read teach."""
        read = ({**one, "same": one["fits"]} for one in rows_of("textbook/prepared_read"))
        pairs = [*(pair for pair in self._course.pairs if pair["set"] == "dev"), *read]
        return [example for pair in pairs for example in self._of_pair(pair) if example.asked]

    def of_wordings(self, share: float) -> list[Example]:
        """What a share of the students' wordings teaches, which no index holds."""
        pairs = ({**one, "same": True} for one in rows_of("textbook/wordings") if self._random.random() < share)
        return [example for pair in pairs for example in self._of_pair(pair) if example.asked]

    def _of(self, number: int) -> Iterator[Example]:
        """What one prepared question teaches."""
        one, draw = self._from.questions[number], self._random
        cosines = self._from.vectors @ self._from.vectors[number]
        cosines[number] = -1.0
        other: Language = "en" if one.language == "zh" else "zh"
        language = one.language if draw.random() < 0.85 else other
        own = self._asked(one.answer, language, cosines, skip=number)
        yield Example(one.text, own, same=True)
        if draw.random() < 0.5:
            yield Example(self._disguised(one, self._terms[number]), own, same=True)
        near = [name for name in self._nearest(cosines, 7) if name[0] != one.answer and name[1] < DUPLICATE]
        for name, _ in [*near[:2], *draw.sample(near[2:], min(1, len(near[2:])))]:
            yield Example(one.text, self._asked(name, language, cosines), same=False)
        if draw.random() < 0.15:
            far = str(draw.choice(self._ids))
            yield Example(one.text, self._asked(far, one.language, cosines), same=far == one.answer)
        turned = self._turned(one, self._terms[number])
        if turned and draw.random() < 0.7:
            yield Example(turned, self._asked(one.answer, one.language, cosines), same=False)
        side = self._other_side(one, self._terms[number])
        if side and draw.random() < 0.35:
            yield Example(side, self._asked(one.answer, one.language, cosines), same=False)

    def _of_pair(self, pair: dict[str, Any]) -> Iterator[Example]:
        """What a written pair teaches; the others only measure.

        An answer that lies nearer than the right one may fit as well, so it teaches nothing.
        """
        if not self._every and not taught(pair["id"]):
            return
        cosines = self._from.vectors @ self._course.encoder.queries([pair["question"]])[0]
        for _ in range(2):
            yield Example(pair["question"], self._asked(pair["id"], pair["language"], cosines), pair["same"])
        near = self._nearest(cosines, 5) if pair["same"] else []
        own = dict(near).get(pair["id"], -1.0)
        others = [name for name, cosine in near if name != pair["id"] and cosine < own]
        for name in others[:3]:
            yield Example(pair["question"], self._asked(name, pair["language"], cosines), same=False)

    def _of_anything_else(self, one: dict[str, Any]) -> Iterator[Example]:
        """No answer fits a question about anything but operating systems."""
        cosines = self._from.vectors @ self._course.encoder.queries([one["question"]])[0]
        for name, _ in self._nearest(cosines, 4):
            yield Example(one["question"], self._asked(name, one["language"], cosines), same=False)

    def _nearest(self, cosines: np.ndarray, count: int) -> list[tuple[str, float]]:
        """The nearest answers with their cosine."""
        best: dict[str, float] = {}
        for number in np.argsort(-cosines)[: 12 * count]:
            best.setdefault(str(self._ids[number]), float(cosines[number]))
        return list(best.items())[:count]

    def _asked(self, answer: str, language: Language, cosines: np.ndarray, *, skip: int = -1) -> str:
        """Some questions of an answer, as the pair encoder reads them."""
        own = [number for number in self._own[answer, language] if number != skip]
        own.sort(key=lambda number: -cosines[number])
        count = self._random.choice([1, 2, 3, READ])
        return JOINED.join(self._from.questions[number].text for number in own[:count])

    def _disguised(self, one: PreparedQuestion, terms: Sequence[Term]) -> str:
        """The same question with a slip, a term in the other language, or as key words."""
        draw, text = self._random, one.text
        match draw.randrange(3):
            case 0 if len(text) > 6:
                at = draw.randrange(1, len(text) - 2)
                return draw.choice([text[:at] + text[at + 1 :], text[:at] + text[at + 1] + text[at] + text[at + 2 :]])
            case 1 if terms:
                term = draw.choice(terms)
                here, there = (term.zh, term.en) if one.language == "zh" else (term.en, term.zh)
                return replaced(text, here, there[0]) or text
            case _:
                words = re.findall(r"[\w'-]+", text) if one.language == "en" else tokens(text)
                return " ".join(word for word in words if word.lower() not in STOP_EN)

    def _turned(self, one: PreparedQuestion, terms: Sequence[Term]) -> str | None:
        """A question that looks alike and asks something else."""
        draw, text, language = self._random, one.text, one.language
        ways = [0, 1, 2]
        draw.shuffle(ways)
        for way in ways:
            if way == 0 and terms:
                others = [term for term in self._near[self._from.section[one.answer]] if term not in terms]
                term = draw.choice(terms)
                if others:
                    new = draw.choice(others)
                    here, there = (term.zh, new.zh) if language == "zh" else (term.en, new.en)
                    if turned := replaced(text, here, there[0]):
                        return turned
            if way == 1 and (found := list(re.finditer(r"\d+", text))):
                number = draw.choice(found)
                value = int(number.group())
                new_value = draw.choice([value + 1, value * 2, value + 3])
                return f"{text[: number.start()]}{new_value}{text[number.end() :]}"
            if way == 2:
                fitting = [turn for turn in self._forms["turn", language] if re.search(turn[0], text)]
                if fitting:
                    pattern, new_words = draw.choice(fitting)
                    return re.sub(pattern, new_words, text, count=1)
        return None

    def _other_side(self, one: PreparedQuestion, terms: Sequence[Term]) -> str | None:
        """A question about another side of the thing, where the answer says nothing of that side."""
        told = self._from.told[one.answer, one.language]
        sides = [form for form, words in self._forms["side", one.language] if not re.search(words, told, re.I)]
        if not terms or not sides:
            return None
        near = [term for term in self._near[self._from.section[one.answer]] if term not in terms] or list(terms)
        named = [(term.zh if one.language == "zh" else term.en)[0] for term in (terms[0], self._random.choice(near))]
        return self._random.choice(sides).format(*named)


def replaced(text: str, names: Sequence[str], new: str) -> str | None:
    """`text` with the longest of `names` that is in it replaced; None where none is."""
    for name in sorted(names, key=len, reverse=True):
        found = re.search(re.escape(name), text, re.I)
        if found:
            return text[: found.start()] + new + text[found.end() :]
    return None


# -- training -----------------------------------------------------------------------------------------


class Trained(nn.Module):
    """The layers of the encoder with trainable adapters beside the upper ones."""

    def __init__(self, bert: Bert) -> None:
        super().__init__()
        self._bert = bert
        total = len(bert.layers)
        self._trained = range(total - UPPER, total)
        self.parts = nn.ParameterDict()
        for index in self._trained:
            for part in MAPS:
                rows, columns = bert.layers[index][part][0].shape
                self.parts[f"{index}_{part}_down"] = nn.Parameter(torch.randn(RANK, columns) / math.sqrt(columns))
                self.parts[f"{index}_{part}_up"] = nn.Parameter(torch.zeros(rows, RANK))
        # Begins as the cosine of both means, about where the encoder finds two questions alike.
        self.head = nn.Linear(2 * bert.width, 1)
        with torch.no_grad():
            self.head.weight.zero_()
            self.head.weight[0, : bert.width] = 20.0
            self.head.bias.fill_(-18.0)

    def begin_with(self, adapter: Path) -> None:
        """Go on from an adapter."""
        held = load_file(adapter)
        head = {name: held.pop(f"head.{name}") for name in ("weight", "bias")}
        self.head.load_state_dict(head)
        self.parts.load_state_dict({name.replace(".", "_"): value.float() for name, value in held.items()})

    def forward(self, ids: torch.Tensor, kept: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
        """(pairs,) log odds, of (pairs, tokens) ids, which of them are not padding, and which are of the first text."""
        bert = self._bert
        with torch.inference_mode():
            below = bert.states(ids, kept, bert.layers[: self._trained[0]])
        hidden = below.clone().to(bert.dtype)
        for index in self._trained:
            hidden = self._layer(hidden, index, kept[:, None, None, :])
        return compare(hidden.float(), first, kept & ~first, (self.head.weight, self.head.bias))

    def _layer(self, hidden: torch.Tensor, index: int, mask: torch.Tensor) -> torch.Tensor:
        """As `Bert._forward`, with the adapters beside the maps: so their gradients stay small."""
        layer, heads = self._bert.layers[index], self._bert.heads
        texts, length, width = hidden.shape
        qkv = self._map(hidden, index, "qkv").view(texts, length, 3, heads, width // heads).permute(2, 0, 3, 1, 4)
        query, key, value = qkv
        # Torch's own attention takes half of a step going back; these three products a tenth.
        odds = (query / math.sqrt(width // heads)) @ key.transpose(2, 3)
        mixed = odds.masked_fill(~mask, -math.inf).softmax(3) @ value
        mixed = mixed.transpose(1, 2).reshape(hidden.shape)
        hidden = norm(hidden + self._map(mixed, index, "out"), layer["out_norm"])
        inner = self._map(functional.gelu(self._map(hidden, index, "inner")), index, "outer")
        return norm(hidden + inner, layer["outer_norm"])

    def _map(self, value: torch.Tensor, index: int, part: str) -> torch.Tensor:
        down, up = (self.parts[f"{index}_{part}_{which}"].to(value.dtype) for which in ("down", "up"))
        added = functional.linear(functional.linear(value, down), up)
        return functional.linear(value, *self._bert.layers[index][part]) + added


def train(
    folder: Path, seconds: float, *, begin: Path | None, epochs: float, every: bool, share: float, wordings: float
) -> None:
    """Go on with the training in `folder` for so long, or `begin` it with an adapter. The last line says how far."""
    start, known = time.monotonic(), course()
    torch.manual_seed(0)
    known.encoder.tokenizer.enable_truncation(READ_TOKENS)
    of_book = Writer(known, known.book, every=every, share=share)
    of_walks = Writer(known, known.walks, every=every, share=share)
    examples = [
        *of_book.examples(),
        *of_book.of_pairs(),
        *of_book.of_wordings(wordings),
        *of_walks.examples(),
    ]
    random.Random(5).shuffle(examples)
    print(f"{len(examples)} examples, {np.mean([one.same for one in examples]):.2f} of them the same", flush=True)
    labels = torch.tensor([float(one.same) for one in examples])
    asked = [(one.text, one.asked) for one in examples]
    left = seconds - (time.monotonic() - start)
    go_on(folder, known.encoder, asked, labels, torch.ones_like(labels), begin=begin, epochs=epochs, seconds=left)


def go_on(
    folder: Path,
    encoder: E5Encoder,
    pairs: Sequence[tuple[str, str]],
    labels: torch.Tensor,
    weights: torch.Tensor,
    *,
    begin: Path | None,
    epochs: float,
    seconds: float,
) -> None:
    """Go on with the training of an adapter in `folder` for so long, and write it there.

    `labels` and `weights` are (pairs,): how far each is one, 0-1, and how much that counts.
    """
    start = time.monotonic()
    encodings = encoder.tokenizer.encode_batch_fast([(QUERY + text, other) for text, other in pairs])
    model = Trained(shipped())
    optimiser = torch.optim.AdamW(model.parameters(), lr=RATE, weight_decay=0.01)
    lengths = [len(encoding.ids) for encoding in encodings]
    order = [batch for epoch in range(math.ceil(epochs)) for batch in shuffled(lengths, epoch)]
    order = order[: round(len(order) * epochs / math.ceil(epochs))]
    if begin is not None:
        model.begin_with(begin)
    step, place = 0, folder / "training.pt"
    if place.exists():
        held = torch.load(place)
        model.load_state_dict(held["model"])
        optimiser.load_state_dict(held["optimiser"])
        step = held["step"]
    print(f"{step} of {len(order)} steps", flush=True)
    running = 0.0
    while step < len(order) and time.monotonic() - start < seconds:
        batch = order[step]
        for group in optimiser.param_groups:
            group["lr"] = RATE * min(1.0, (step + 1) / WARM_UP) * max(0.02, 1 - step / len(order))
        chosen = [encodings[place] for place in batch]
        ids, sizes = encoder.padded(chosen)
        kept = np.arange(ids.shape[1]) < sizes[:, None]
        logits = model(*(torch.from_numpy(one) for one in (ids, kept, in_first(chosen, ids.shape[1]))))
        loss = functional.binary_cross_entropy_with_logits(logits, labels[batch], weight=weights[batch])
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step, running = step + 1, 0.97 * running + 0.03 * loss.item() if running else loss.item()
        if step % 50 == 0:
            print(f"step {step}, loss {running:.3f}, {time.monotonic() - start:.0f} s", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    torch.save({"model": model.state_dict(), "optimiser": optimiser.state_dict(), "step": step}, place)
    write(model, folder / "adapter.safetensors")
    print(f"{step} of {len(order)} steps")


def shuffled(lengths: Sequence[int], epoch: int) -> list[list[int]]:
    """Batches of like lengths in an arbitrary order."""
    draw = random.Random(epoch)
    order = list(range(len(lengths)))
    draw.shuffle(order)
    found: list[list[int]] = []
    for start in range(0, len(order), 2048):
        group = order[start : start + 2048]
        found += [[group[n] for n in batch] for batch in batches([lengths[n] for n in group], BATCH_TOKENS)]
    draw.shuffle(found)
    return found


def write(model: Trained, out: Path) -> None:
    """The adapter as osrag reads it."""
    values = {name.replace("_", "."): value.detach().half().contiguous() for name, value in model.parts.items()}
    save_file(values | {f"head.{name}": value.detach() for name, value in model.head.named_parameters()}, out)


# -- figures ------------------------------------------------------------------------------------------


def matcher(known: Course, adapter: Path) -> PreparedQuestions:
    """The prepared questions with the pair encoder of a file."""
    texts: dict[str, str] = defaultdict(str)
    for (id_, _), answer in known.texts.items():
        texts[id_] += " ".join(statement.text for statement in answer.statements)
    pairs = E5Pairs(known.encoder, adapter)
    book = known.book
    return PreparedQuestions(
        book.questions, book.vectors, known.encoder, pairs, answers=texts, keywords=known.keywords.scores
    )


def untaught(known: Course) -> list[dict[str, Any]]:
    """Development rows about answers whose pairs trained nothing, and questions about anything else."""
    rows = [one for one in known.pairs if one["set"] == "dev"] + rows_of("textbook/prepared_read")
    return [one for one in rows if not taught(one["id"])] + rows_of("textbook/off_topic")[1::2]


def decide(adapter: Path) -> None:
    """Fit what the pair encoder, the cosine, words and terms are worth together, and write it.

    On development pairs and hits that were read, of answers whose pairs trained nothing, and on questions about
    anything else.
    """
    known = course()
    asked = matcher(known, adapter)
    fits = {(one["question"], one["id"]): one["fits"] for one in rows_of("textbook/prepared_read")}
    signals, right = [], []
    for one in untaught(known):
        for id_, seen in asked.evidence(one["question"], one["language"]):
            fitting = fits.get((one["question"], id_), one.get("same") if id_ == one.get("id") else None)
            if fitting is None and (one.get("same") is False or "fits" in one):
                continue  # a near miss of one answer may be a question of another
            signals.append(seen)
            right.append(bool(fitting))
    names = tuple(signals[0])
    weights, bias = fit(
        np.array([[one[name] for name in names] for one in signals]),
        np.array(right, float),
        ridge=RIDGE,
    )
    write_entry("prepared", as_entry(names, weights, bias, digits=3))


def measure(adapter: Path, *, held_out: bool, show: bool) -> None:
    """Hits by threshold: on pairs that nothing was trained on, on hits that were read, on questions about anything.

    A near miss that gets another answer is right where that one fits, which has to be read (`--show`).
    """
    known = course()
    asked = matcher(known, adapter)
    asked_for = [one for one in known.pairs if one["set"] == "held_out"] if held_out else untaught(known)
    read = {(one["question"], one["id"]): one["fits"] for one in rows_of("textbook/prepared_read")}
    best = ((asked.best(one["question"], one["language"]), one) for one in asked_for)
    found = [(hit.id, hit.chance, one) for hit, one in best if hit]
    wanted = sum(one.get("same", False) for one in asked_for)
    for threshold in np.arange(0.5, 0.96, 0.05):
        kinds = Counter(kind(answer, one, read) for answer, score, one in found if score > threshold)
        row = {"threshold": round(float(threshold), 2), "recall": round(kinds["right"] / wanted, 3)}
        print(json.dumps(row | dict(sorted(kinds.items()))))
    for answer, score, one in sorted(found, key=lambda row: -row[1]) if show else ():
        first = known.texts[answer, one["language"]].questions[0]
        print(f"{score:5.2f} {kind(answer, one, read)} | {one['question']} | {answer}: {first}")


def kind(answer: str, one: dict[str, Any], read: Mapping[tuple[str, str], bool]) -> str:
    """What a hit is: right, wrong, or one that nobody has read yet."""
    if "same" in one and answer == one["id"]:
        return "right" if one["same"] else "wrong"
    if "answerable" in one:
        return "wrong"
    fits = read.get((one["question"], answer))
    return "unread" if fits is None else "right by reading" if fits else "wrong by reading"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=("train", "write", "decide", "measure"))
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--start", type=Path)
    parser.add_argument("--epochs", type=float, default=3.0)
    parser.add_argument("--share", type=float, default=1.0, help="of the prepared questions that teach")
    parser.add_argument("--wordings", type=float, default=1.0, help="of the students' wordings that teach")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--adapter", type=Path, default=SAME_QUESTION)
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    if args.task == "train":
        train(
            args.folder,
            args.seconds,
            begin=args.start,
            epochs=args.epochs,
            every=args.all,
            share=args.share,
            wordings=args.wordings,
        )
    elif args.task == "write":
        shutil.copyfile(args.folder, SAME_QUESTION)
    elif args.task == "decide":
        decide(args.adapter)
    else:
        measure(args.adapter, held_out=args.held_out, show=args.show)


if __name__ == "__main__":
    main()
