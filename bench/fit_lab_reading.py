"""Fit what the reader of exercises knows of wordings (osrag/lab/reading/likely.py), and say how often it is right.

    python bench/fit_lab_reading.py [--write]

Fitted on bench/lab_wordings.toml, on the development questions of examples/eval/lab, and on questions to the course and
the kernel as texts that are no exercise. What the numbers of a question mean is told by its parameters: a number that
gives the value of a field is that field. Reported by leaving out a tenth of the development questions at a time, in the
order of the file, so that questions of one hand are left out together. `--write` writes osrag/data/lab_reading.npz
instead, which takes a tenth of the time, and the examples that the chat model reads from
(osrag/lab/reading/by_model.py). Needs the package scipy, which FlagEmbedding of requirements-dev.txt brings.
"""

import argparse
import json
import sys
import tomllib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench.fit_route import asked, prepared, walked  # noqa: E402
from osrag.app.parts import Parts  # noqa: E402
from osrag.evaluate.lab import Question, as_read, read_questions  # noqa: E402
from osrag.lab.catalog import KINDS  # noqa: E402
from osrag.lab.reading.by_model import LONGEST, PROGRAMS  # noqa: E402
from osrag.lab.reading.by_model import PATH as EXAMPLES  # noqa: E402
from osrag.lab.reading.by_model import Example as Shown  # noqa: E402
from osrag.lab.reading.cues import claims, entries_of, value_at  # noqa: E402
from osrag.lab.reading.likely import NONE, NOTHING, PATH, Place, Wording, wording  # noqa: E402
from osrag.lab.reading.plain import plain  # noqa: E402
from osrag.lab.reading.reader import single_fields  # noqa: E402
from osrag.lab.reading.tables import single_values  # noqa: E402
from osrag.models.protocols import TokenEncoder  # noqa: E402
from osrag.settings import load_settings  # noqa: E402

QUESTIONS = ROOT / "examples" / "eval" / "lab" / "questions.jsonl"
WORDINGS = ROOT / "bench" / "lab_wordings.toml"
PENALTY = {"kinds": 3.0, "asks": 3.0, "numbers": 3.0}  # of a squared weight
PARTS = 10
FEW, FEWER = 4, 32  # one in so many of the questions to course and kernel, and of the prepared ones, is no exercise
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Example:
    """A vector, the name that it has, and the names among which it was to be told."""

    vector: npt.NDArray[np.float32]
    name: str
    among: Collection[str]
    question: int = -1  # its place among the development questions; -1 of what is never left out


@dataclass(frozen=True, slots=True)
class Fitted:
    """The names in order, their (dim + 1, names) weights with the bias last, and how vectors are scaled for them."""

    names: list[str]
    weights: Floats
    centre: Floats
    spread: Floats

    def right(self, example: Example) -> bool:
        x = (example.vector - self.centre) / self.spread
        scores = dict(zip(self.names, x @ self.weights[:-1] + self.weights[-1], strict=True))
        return example.name == max(example.among, key=lambda name: scores.get(name, -np.inf))


def fit(examples: Sequence[Example], penalty: float) -> Fitted:
    """A ridge-penalised softmax, of each example over the names among which it stands."""
    from scipy.optimize import minimize

    known = sorted({example.name for example in examples})
    place = {name: at for at, name in enumerate(known)}
    x = np.array([example.vector for example in examples], np.float32)
    centre, spread = x.mean(axis=0), x.std(axis=0) + 1e-6
    x = np.concatenate([(x - centre) / spread, np.ones((len(x), 1), np.float32)], axis=1)
    y = np.array([place[example.name] for example in examples])
    barred = np.ones((len(x), len(known)), bool)
    for row, example in zip(barred, examples, strict=True):
        row[[place[name] for name in example.among if name in place]] = False

    def loss(flat: Floats) -> tuple[float, Floats]:
        w = flat.reshape(x.shape[1], len(known)).astype(np.float32)
        scores = x @ w
        scores[barred] = -np.inf
        scores -= scores.max(axis=1, keepdims=True)
        powers = np.exp(scores)
        sums = powers.sum(axis=1, keepdims=True)
        rows = np.arange(len(y))
        whole = float((np.log(sums[:, 0]) - scores[rows, y]).sum())
        wrong = powers / sums
        wrong[rows, y] -= 1
        slope = x.T @ wrong
        slope[:-1] += 2 * penalty * w[:-1]
        return whole + penalty * float((w[:-1] ** 2).sum()), slope.ravel().astype(np.float64)

    start = np.zeros(x.shape[1] * len(known))
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return Fitted(known, found.reshape(x.shape[1], len(known)), centre, spread)


def meanings(question: Question, text: str, places: Sequence[Place]) -> dict[Place, tuple[str, set[str]]]:
    """What each number of the plain `text` means, and what it might mean; one that may be of two fields is left out."""
    assert question.type is not None
    kind = question.type
    names = {name: field for field in single_fields(kind) for name in entries_of(field, kind)}
    found: dict[Place, set[str]] = {place: set() for place in places}
    for field in single_fields(kind):
        if field not in question.parameters:
            continue
        value = as_read(kind, field, question.parameters[field])
        for spots, name in _said(kind, field, value, text, places):
            for spot in spots:
                found[spot].add(name)
    return {
        place: (min(one, default=NOTHING), {NOTHING, *names})
        for place, one in found.items()
        if len({names[name] for name in one}) < 2
    }


def _said(kind: str, field: str, value: str, text: str, places: Sequence[Place]) -> list[tuple[Sequence[Place], str]]:
    """The numbers that say the value of a field, and as what; of several that do, the one beside its name."""
    entries = entries_of(field, kind)
    said: list[tuple[Sequence[Place], str]] = []
    for name, entry in entries.items():
        if entry["measure"] in ("list", "vector"):
            numbers = value.split(",")
            runs = (places[at : at + len(numbers)] for at in range(len(places) - len(numbers) + 1))
            said += [(run, name) for run in runs if [as_read(kind, field, text[a:b]) for a, b in run] == numbers]
        else:
            said += [
                ([place], name)
                for place in places
                if (one := value_at(text, place[0], entry)) and as_read(kind, field, one) == value
            ]
    beside = max(
        (
            claim
            for claim in claims(field, kind, text, single_values(text))
            if as_read(kind, field, claim.value) == value
        ),
        key=lambda claim: claim.weight,
        default=None,
    )
    named = [one for one in said if beside and one[0][0][0] < beside.end and beside.start < one[0][-1][1]]
    return named or said


def examples() -> tuple[str, Mapping[str, list[Example]]]:
    """The name of the encoder, and the examples of each model."""
    encoder = Parts(load_settings()).checker
    assert isinstance(encoder, TokenEncoder), "the models stand on the tokens of e5"
    written = tomllib.loads(WORDINGS.read_text(encoding="utf-8"))
    other = [*asked("textbook/*.jsonl"), *asked("kernel/*.jsonl")][::FEW]
    other += [*prepared()[::FEWER], *walked()[::FEWER]]
    found: dict[str, list[Example]] = {"kinds": [], "asks": [], "numbers": []}
    every = [*KINDS, NONE]

    def seen(text: str) -> tuple[str, Wording]:
        clear = plain(text)
        return clear, wording(clear, encoder)

    for at, question in enumerate(one for one in read_questions(QUESTIONS) if not one.held_out):
        clear, looks = seen(question.text)
        found["kinds"].append(Example(looks.whole, question.type or NONE, every, at))
        if question.type is None:
            continue
        if "ask" in question.parameters:
            found["asks"].append(Example(looks.asking, question.parameters["ask"], _asks(question.type), at))
        for place, (name, among) in meanings(question, clear, [*looks.numbers]).items():
            found["numbers"].append(Example(looks.numbers[place], name, among, at))
    for kind, texts in (*written["kinds"].items(), (NONE, dict.fromkeys(other))):
        found["kinds"] += [Example(seen(text)[1].whole, kind, every) for text in texts]
    for kinds, clauses in written["asks"].items():
        known = {ask for kind in kinds.split() for ask in _asks(kind)}
        found["asks"] += [Example(seen(text)[1].asking, ask, known) for ask, texts in clauses.items() for text in texts]
    return encoder.name, found


def _asks(kind: str) -> tuple[Any, ...]:
    return get_args(KINDS[kind].parameters.model_fields["ask"].annotation)


def write_examples(path: Path) -> None:
    """The development questions with all of their parameters, as the model sees them."""
    lines = [
        Shown(type=one.type, text=text, parameters=one.parameters).model_dump_json() + "\n"
        for one in read_questions(QUESTIONS)
        if one.type is not None and not one.held_out and not one.missing and not PROGRAMS & one.parameters.keys()
        for text in [plain(one.text)]
        if len(text) <= LONGEST
    ]
    path.write_text("".join(lines), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write osrag/data/lab_reading.npz")
    args = parser.parse_args()
    encoder, models = examples()
    fitted: dict[str, npt.NDArray[np.generic]] = {"encoder": np.array(encoder)}
    for model, known in models.items():
        if args.write:
            found = fit(known, PENALTY[model])
            fitted |= {model: found.weights.astype(np.float16), f"{model}_names": np.array(found.names)}
            fitted |= {f"{model}_{part}": getattr(found, part).astype(np.float16) for part in ("centre", "spread")}
            continue
        count, right = max(one.question for one in known) + 1, 0
        for part in range(PARTS):
            left_out = range(part * count // PARTS, (part + 1) * count // PARTS)
            rest = fit([one for one in known if one.question not in left_out], PENALTY[model])
            right += sum(rest.right(one) for one in known if one.question in left_out)
        of = sum(one.question >= 0 for one in known)
        print(json.dumps({"fitted": model, "examples": len(known), "right_left_out": right / of}))
    if args.write:
        np.savez_compressed(PATH, **fitted)  # type: ignore[arg-type]
        write_examples(EXAMPLES)


if __name__ == "__main__":
    main()
