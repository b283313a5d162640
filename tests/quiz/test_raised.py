"""No order raises a mark, wherever it stands in a partly right answer: all of them, with the real encoder."""

import json
from itertools import product
from pathlib import Path

import pytest

from osrag.evaluate.quiz import share_earned
from osrag.quiz.bank import shipped_bank
from osrag.quiz.grader import Grader
from osrag.text import sentences
from tests.quiz.parts import real_encoder, real_grader
from tests.quiz.test_padding import ANSWERS, ROUNDING

pytestmark = pytest.mark.slow
DATA = Path(__file__).parents[1] / "data"
BANK = {(item.id, item.language): item for item in shipped_bank().exercises()}
EACH = 4  # answers of each language, from all over the file


def rows_of(name):
    return [json.loads(line) for line in (DATA / name).read_text("utf-8").splitlines()]


def eight():
    for language in ("en", "zh"):
        own = [row for row in ANSWERS if row["language"] == language]
        yield from own[:: len(own) // EACH][:EACH]


def behind(answer, order):
    return f"{answer}\n{order}"


def in_front(answer, order):
    return f"{order}\n{answer}"


def in_the_middle(answer, order):
    said = [sentence for line in answer.splitlines() for sentence in sentences(line)]
    half = max(1, len(said) // 2)
    return "\n".join((*said[:half], order, *said[half:]))


def on_the_same_line(answer, order):
    return f"{answer} {order}"


WAYS = (behind, in_front, in_the_middle, on_the_same_line)


def moved(name):
    """(id of the order, id of the question, way, by how much) of every mark that an order of a file moves."""
    cases = [
        (order, row, way)
        for row, order, way in product(eight(), rows_of(name), WAYS)
        if order["language"] == row["language"]
    ]

    grader, read = real_grader(), {}

    def counted(row, answer, by=grader):
        item = BANK[row["id"], row["language"]]
        return by.counted(item, [point.point for point in item.rubric], answer)

    def mark(row, answer):
        item, left = BANK[row["id"], row["language"]], counted(row, answer)
        if (item.name, left) not in read:  # most orders are left out, and what is left has been read
            found = grader.matches_of(item, [point.point for point in item.rubric], left)
            read[item.name, left] = share_earned(item, [one.fraction for one in found])
        return read[item.name, left]

    alone = Grader(real_encoder(), None)  # of its own: it keeps what the encoder only foresees
    asked = [(row, way(row["answer"], order["text"])) for order, row, way in cases]
    real_encoder().foresee(lambda: [counted(*one, alone) for one in asked])
    plain = {row["id"]: mark(row, row["answer"]) for row in eight()}
    marks = [mark(row, answer) - plain[row["id"]] for row, answer in asked]
    return [
        (order["id"], row["id"], way.__name__, round(by, 3))
        for (order, row, way), by in zip(cases, marks, strict=True)
        if abs(by) > 1e-9
    ], len(cases)


def test_no_order_raises_a_mark_or_lowers_it():
    """2,128 marks. `ROUNDING` is what the rounding of points may give or take; the filter needs none of it."""
    changed, of = moved("orders.jsonl")
    assert of >= 4 * len(rows_of("orders.jsonl")) * EACH
    assert not [one for one in changed if one[-1] > 0 or one[-1] < -ROUNDING], changed


def test_few_orders_raise_a_mark_that_nobody_had_seen_when_the_filter_was_written():
    """30 orders in other words and codes: 5 moved a mark when they were first read, none of those in a code."""
    changed, of = moved("orders_held_out.jsonl")
    assert sum(one[-1] > 0 for one in changed) <= 0.05 * of, changed
    assert {one[0].split("-")[1] for one in changed} <= {"code", "ocr"}
