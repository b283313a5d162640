"""Fit which lines of a composed answer are left out as beside the question (osrag/data/confidence.json).

    python -m bench.fit_beside [--write]

The lines of the answers to development questions were read one by one (`examples/eval/textbook/beside.jsonl`). Said is
how many are beside the question, and how many of the others are left out, by a model that did not see the question.
Lines that are no longer chosen teach nothing; what is chosen and was not read is counted.
"""

import argparse
import json

import numpy as np

from bench.fit_confidence import as_entry, fit, rows_of, write_entry
from osrag.answer.judge import number
from osrag.answer.plan import plan_by_rule
from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.book.compose import ON
from osrag.settings import load_settings
from osrag.types import Turn

NAME, RIDGE, FOLDS = "on_the_matter", 1.0, 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    read = {(one["id"], one["text"]): one["beside"] for one in rows_of("textbook/beside")}
    asked = {one["id"]: one for one in rows_of("textbook/key_points")}
    source = Parts(load_settings(chat_backend="none")).book_source
    seen, on, of = [], [], []
    unread = 0
    for id_ in dict.fromkeys(id_ for id_, _ in read):
        question = Question(
            asked[id_]["question"], history=tuple(Turn(one, "") for one in asked[id_].get("history", ()))
        )
        plan = plan_by_rule(question.text, question.history)
        passages = number(source.usable(source.search(plan, question), question, judged=True))
        near, cited = source.near(plan.standalone, passages, question.reply_language)
        choice = source.composer.choose(plan.standalone, passages, near, cited)
        for at, signals in choice.seen().items():
            beside = read.get((id_, choice.lines[at].text))
            unread += beside is None
            if beside is not None:
                seen.append(signals)
                on.append(not beside)
                of.append(id_)
    names = tuple(seen[0])
    x, y = np.array([[one[name] for name in names] for one in seen]), np.array(on, float)
    folds = np.unique(of, return_inverse=True)[1] % FOLDS
    chance = np.zeros(len(y))
    for fold in range(FOLDS):
        weights, bias = fit(x[folds != fold], y[folds != fold], ridge=RIDGE)
        chance[folds == fold] = 1 / (1 + np.exp(-(x[folds == fold] @ weights + bias)))
    kept = chance >= ON
    print(f"{len(y)} lines that were read, {unread} that were not; beside the question {1 - y.mean():.3f}")
    print(f"kept {kept.sum()}, beside {1 - y[kept].mean():.3f}; of those on it {kept[y == 1].mean():.3f} are kept")
    weights, bias = fit(x, y, ridge=RIDGE)
    entry = as_entry(names, weights, bias)
    print(json.dumps(entry))
    if args.write:
        write_entry(NAME, entry)


if __name__ == "__main__":
    main()
