"""Fit the confidence of kernel search (osrag/kernel/confidence.py) and say how well it refuses.

    python bench/fit_kernel_confidence.py --index index

Answerable: the development questions of the kernel. Not answerable: questions about code that is not in the
index (examples/eval/kernel/absent.jsonl) and about anything but operating systems (the course book's
off_topic.jsonl). Half of each is fitted on, the other half reported. Never run it on the held-out questions.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from fit_confidence import fit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.kernel.search import KernelSearch  # noqa: E402
from osrag.models.load import load_encoder  # noqa: E402
from osrag.settings import load_settings  # noqa: E402

EVAL = ROOT / "examples" / "eval"
ANSWERABLE = [EVAL / "kernel" / "dev.jsonl"]
ABSENT = [EVAL / "kernel" / "absent.jsonl", EVAL / "textbook" / "off_topic.jsonl"]


def features(search: KernelSearch, paths: list[Path]) -> tuple[np.ndarray, np.ndarray]:
    """(questions, 3) signals, and (questions,) whether the search names something that is not there."""
    rows, named = [], []
    for path in paths:
        for line in path.read_text("utf-8").splitlines():
            question = json.loads(line)["question"]
            found = search.signals(question)
            rows.append([found.dense, found.words, found.known])
            named.append(bool(search.search(question).missing))
    return np.array(rows), np.array(named)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--index", type=Path, default=Path("index"))
    search = KernelSearch(parser.parse_args().index, load_encoder(load_settings()))
    good, good_named = features(search, ANSWERABLE)
    bad, bad_named = features(search, ABSENT)
    x, y = np.vstack([good[::2], bad[::2]]), np.r_[np.ones(len(good[::2])), np.zeros(len(bad[::2]))]
    coefficients, bias = fit(x, y)
    print(json.dumps({"BIAS": round(bias, 2), "DENSE, WORDS, KNOWN": [round(c, 2) for c in coefficients]}))
    for name, part in (("fitted", 0), ("held out", 1)):
        kept, held = good[part::2] @ coefficients + bias, bad[part::2] @ coefficients + bias
        for cut in (0.3, 0.5, 0.7):
            limit = np.log(cut / (1 - cut))
            said = (held < limit) | bad_named[part::2]
            row = {
                "half": name,
                "cut": cut,
                "answered": round(float(((kept >= limit) & ~good_named[part::2]).mean()), 3),
                "refused_by_score": round(float((held < limit).mean()), 3),
                "refused_or_named_as_missing": round(float(said.mean()), 3),
            }
            print(json.dumps(row))


if __name__ == "__main__":
    main()
