"""Figures and their intervals, checked by hand."""

import numpy as np
import pytest

from osrag.evaluate.figures import Row, compared, groups_of, interval, plain, share_of_one, took


def test_rows_become_figures_by_group():
    rows = [
        Row(("zh",), {"said": (1, 2)}),
        Row(("en",), {"said": (2, 2), "refused": share_of_one(True)}),
        Row(("absent",), {"refused": share_of_one(False)}, alone=True),
    ]
    assert plain(rows) == {
        "all": {"n": 2, "said": 0.75, "refused": 1.0},
        "zh": {"n": 1, "said": 0.5},
        "en": {"n": 1, "said": 1.0, "refused": 1.0},
        "absent": {"n": 1, "refused": 0.0},
    }


def test_a_measure_of_nothing_is_left_out():
    assert plain([Row((), {"half": (0, 0)})]) == {"all": {"n": 1}}


def test_marks_are_compared_and_times_are_told_by_percentile():
    rows = [Row((), {**compared(given, human), **took(given)}) for given, human in ((0, 0.3), (0.5, 0.5), (1, 1))]
    found = plain(rows)["all"]
    assert found["mae"] == 0.1 and found["pass_agrees"] == 1 and found["pearson"] > 0.9
    assert found["mae_of_median"] == pytest.approx((0.2 + 0 + 0.5) / 3, abs=1e-4)
    assert found["seconds@50"] == 0.5 and found["seconds@95"] == pytest.approx(0.95)


def test_the_interval_of_a_share_is_about_that_of_the_binomial():
    pairs = np.array([[1.0, 1.0]] * 80 + [[0.0, 1.0]] * 20)
    low, high = interval(pairs)
    assert low == pytest.approx(0.72, abs=0.02) and high == pytest.approx(0.88, abs=0.02)
    assert interval(pairs) == (low, high)  # the same draws each time
    assert interval(np.array([[1.0, 1.0]] * 5)) == (1, 1)


def test_the_interval_belongs_to_its_value():
    group, *_ = groups_of([Row((), {"right": share_of_one(n % 3 > 0)}) for n in range(90)])
    (figure,) = group.figures
    assert figure.low < figure.value < figure.high and figure.questions == 90
