"""How well each judge of a text answer tells points that are said from points that are not.

    python bench/quiz_points.py

examples/eval/quiz/points.jsonl has answers to questions of the bank in a student's own words, and for each point of
the rubric how much of it they say (1, 0.5, 0). Prints the mean fraction of points said and not said, and the area
under the curve (a said point against one that is not), by encoder and words, by the model, and together.
"""

import json
import sys
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from osrag.models.load import load_chat, load_encoder
from osrag.quiz.bank import from_row, shipped_bank
from osrag.quiz.grader import Grader
from osrag.quiz.heard import heard
from osrag.settings import load_settings

FILE = Path(__file__).resolve().parent.parent / "examples" / "eval" / "quiz" / "points.jsonl"


def area(given: np.ndarray, said: np.ndarray) -> float:
    pairs = list(product(given[said == 1], given[said == 0]))
    return float(np.mean([(a > b) + 0.5 * (a == b) for a, b in pairs])) if pairs else 0.0


def main() -> None:
    settings = load_settings()
    grader, chat = Grader(load_encoder(settings)), load_chat(settings)
    assert chat is not None
    items = {(item.id, item.language): item for item in map(from_row, shipped_bank().rows)}
    judges: dict[str, list[tuple[str, float, float]]] = {"encoder and words": [], "model": [], "together": []}
    for line in FILE.read_text("utf-8").splitlines():
        row = json.loads(line)
        item = items[row["id"], row["language"]]
        points = [point.point for point in item.rubric]
        matches = grader.points(item.question, points, row["answer"], reference=item.reference)
        alone = [match.fraction for match in matches]
        chances = dict(heard(chat, item, points, alone, row["answer"], first_token_s=120))
        both = grader.with_model(matches, chances, rubric=True)
        told = {"words": alone, "model": [*chances.values()], "together": both}
        rounded = {name: np.round(values, 2).tolist() for name, values in told.items()}
        print(json.dumps({**row, **rounded}, ensure_ascii=False), flush=True)
        for place, said in enumerate(row["said"]):
            judges["encoder and words"].append((item.language, said, alone[place]))
            judges["model"].append((item.language, said, chances.get(place, 0.5)))
            judges["together"].append((item.language, said, both[place]))
    chat.close()
    for name, told in judges.items():
        for language in ("zh", "en"):
            said = np.array([one[1] for one in told if one[0] == language])
            given = np.array([one[2] for one in told if one[0] == language])
            figures = {"said": given[said == 1].mean(), "not said": given[said == 0].mean(), "area": area(given, said)}
            print(json.dumps({"judge": name, "language": language, "points": len(said),
                              **{key: round(float(value), 3) for key, value in figures.items()}}))  # fmt: skip


if __name__ == "__main__":
    main()
