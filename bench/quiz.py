"""Times, prompt tokens and fallbacks of the judge with the real models: `python bench/quiz.py --count 10`.

Takes questions of the shipped bank in turn (both languages, every type, one in five without its key), answers
each with a wrong option or half of the reference, and prints one line a question and the totals as JSON.
`prompt_tokens_new` is what the model reads before the first token of the analysis.
"""

import argparse
import json
import random
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from osrag.app.parts import Parts
from osrag.models.load import load_chat
from osrag.models.usage import Call, UsageMeter
from osrag.quiz.bank import shipped_bank
from osrag.quiz.exercise import Exercise
from osrag.quiz.explain import explain, length
from osrag.quiz.judge import Judge
from osrag.settings import load_settings


def reply_to(item: Exercise) -> str:
    if item.has_key and item.is_choice:
        wrong = [option.key for option in item.options if option.key not in item.answer]
        return wrong[0] if wrong else "F"
    if item.has_key:
        return "; ".join(part.split("|")[0] for part in item.answer)
    return item.reference[: len(item.reference) // 2]


def tokens_before_analysis(calls: Sequence[Call]) -> int:
    total = 0
    for call in calls:
        total += call.prompt_tokens_new
        if call.purpose in ("quiz_analysis", "quiz_text"):
            break
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--explain", type=int, default=2, help="explanations to write as well")
    args = parser.parse_args()
    settings = load_settings()
    usage = UsageMeter()
    parts = Parts(settings)
    judge = Judge(parts.textbook, parts.grader, load_chat(settings, usage=usage), settings)
    items = shipped_bank().exercises()
    kinds = ("single_choice", "true_false", "short_answer", "multiple_choice", "single_choice")
    pick = random.Random(11)
    rows = []
    for turn in range(args.count):
        kind, language = kinds[turn % 5], ("zh", "en")[turn % 2]
        item = pick.choice([one for one in items if one.type == kind and one.language == language])
        if turn % 5 == 4:
            item = replace(item, answer=())
        before = len(usage.last(200))
        start = time.perf_counter()
        first_s = 0.0
        step = None
        for step in judge.judge(item, reply_to(item)):  # noqa: B007
            first_s = first_s or time.perf_counter() - start
        assert step is not None
        calls = usage.last(200)[before:]
        row = {
            "id": item.name,
            "type": kind,
            "verdict_s": round(first_s, 3),
            "whole_s": round(time.perf_counter() - start, 1),
            "key": item.has_key,
            "prompt_tokens_new": tokens_before_analysis(calls),
            "fallback": step.judgement.fallback,
            "correct": step.judgement.is_correct,
        }
        rows.append(row)
        print(json.dumps(row, ensure_ascii=False), flush=True)
    for turn in range(args.explain):
        item = pick.choice([one for one in items if one.language == ("zh", "en")[turn % 2] and one.is_choice])
        start = time.perf_counter()
        found = None
        for found in explain(judge, item, reply_to(item)):  # noqa: B007
            pass
        assert found is not None
        call = usage.last(1)[0]
        told = {
            "explain": item.name,
            "length": length(found.text, item.language),
            "prompt_tokens_new": call.prompt_tokens_new,
            "whole_s": round(time.perf_counter() - start, 1),
            "fallback": found.fallback,
        }
        print(json.dumps(told, ensure_ascii=False), flush=True)
    print(
        json.dumps(
            {
                "questions": len(rows),
                "fallbacks": sum(bool(row["fallback"]) for row in rows),
                "verdict_s_keyed_median": statistics.median(r["verdict_s"] for r in rows if r["key"]),
                "verdict_s_keyed_max": max(r["verdict_s"] for r in rows if r["key"]),
                "prompt_tokens_new_max": max(r["prompt_tokens_new"] for r in rows),
            }
        )
    )


if __name__ == "__main__":
    main()
