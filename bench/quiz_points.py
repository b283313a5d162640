"""How well the judge of a text answer tells what is said from what is not, and how near the whole mark comes.

    python bench/quiz_points.py [LABELS.jsonl] [--model] [--rows]

A line of LABELS.jsonl (default: examples/eval/quiz/points.jsonl, on which choices are made) is an answer to a question
of the bank in a student's own words, with how much of each point of the rubric it says (1, 0.5, 0). Prints, by
language, the mean fraction of points said, said in half and not said, the area under the curve (a said point against
one that is not) and the mean error of the mark, in shares of full marks, with its sign where it leans. `--model` asks
the chat model, too: about 1.3 s a point on two cores.
"""

import argparse
import json
import sys
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from osrag.evaluate.quiz import share_earned
from osrag.models.load import load_chat, load_encoder
from osrag.models.protocols import ChatOptions
from osrag.quiz.bank import shipped_bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.grader import Grader
from osrag.quiz.written import chances
from osrag.settings import load_settings

Judged = tuple[Exercise, list[float], list[float]]  # a question, the labels of its points, the fractions given
FILE = Path(__file__).resolve().parent.parent / "examples" / "eval" / "quiz" / "points.jsonl"


def area(given: np.ndarray, said: np.ndarray) -> float:
    pairs = list(product(given[said == 1], given[said == 0]))
    return float(np.mean([(a > b) + 0.5 * (a == b) for a, b in pairs])) if pairs else 0.0


def figures(told: list[Judged]) -> dict[str, float]:
    """How near the fractions of many answers come to their labels."""
    said = np.concatenate([labels for _, labels, _ in told])
    given = np.concatenate([fractions for _, _, fractions in told])
    errors = np.array([share_earned(item, fractions) - share_earned(item, labels) for item, labels, fractions in told])
    found = {name: given[said == one].mean() for name, one in (("said", 1), ("half", 0.5), ("not said", 0))}
    found |= {"area": area(given, said), "point error": np.abs(given - said).mean()}
    found |= {"mark error": np.abs(errors).mean(), "leans": errors.mean()}
    counts = {"answers": len(told), "points": len(said)}
    return counts | {name: round(float(value), 3) for name, value in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("labels", type=Path, nargs="?", default=FILE)
    parser.add_argument("--model", action="store_true")
    parser.add_argument("--rows", action="store_true", help="print every answer with its fractions, too")
    args = parser.parse_args()
    settings = load_settings()
    grader, chat = Grader(load_encoder(settings)), load_chat(settings) if args.model else None
    items = {(item.id, item.language): item for item in shipped_bank().exercises()}
    judges: dict[str, list[Judged]] = {}
    for line in args.labels.read_text("utf-8").splitlines():
        row = json.loads(line)
        item = items[row["id"], row["language"]]
        points = [point.point for point in item.rubric]
        matches = grader.matches(item, points, row["answer"])
        told = {"encoder and words": [match.fraction for match in matches]}
        if chat is not None:
            alone = told["encoder and words"]
            heard = dict(chances(chat, item, points, alone, row["answer"], ChatOptions(first_token_s=120)))
            told["model"] = [heard.get(place, 0.5) for place in range(len(points))]
            told["together"] = grader.with_model(matches, heard, rubric=True)
        for name, fractions in told.items():
            judges.setdefault(name, []).append((item, row["said"], fractions))
        if args.rows:
            rounded = {name: np.round(values, 2).tolist() for name, values in told.items()}
            print(json.dumps({**row, **rounded}, ensure_ascii=False), flush=True)
    if chat is not None:
        chat.close()
    for name, answers in judges.items():
        for language in ("zh", "en"):
            found = figures([one for one in answers if one[0].language == language])
            print(json.dumps({"judge": name, "language": language, **found}))


if __name__ == "__main__":
    main()
