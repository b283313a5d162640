"""The quiz as HTML: what a student wrote is shown, never run."""

import csv
import io
from dataclasses import replace

from osrag.quiz.bank import shipped_bank
from osrag.quiz.judgement import Judgement, PointResult, Step, right_answer
from osrag.quiz.rows import read_row
from osrag.quiz.written import by_name
from osrag.study.ladder import Help
from osrag.ui.quiz_view import (
    QuizState,
    cited_in,
    closed_html,
    csv_of,
    filter_choices,
    hints_text,
    mistake_html,
    question_html,
    tally,
    verdict_html,
)

EVIL = "<script>alert(1)</script>"
(ITEM,) = read_row({"id": "q", "question": f"Why? {EVIL}", "reference": "Because."})


def result(correct, answer="x", item=ITEM):
    return Step("done", Judgement(item, answer, correct, 0.9, "key", correct_answer="Because."), ())


def test_a_right_answer_that_is_kept_back_stands_nowhere():
    state = QuizState().with_result(result(False), closed=True)
    assert "Because" not in mistake_html(state.mistakes[0], "en", closed=True)
    assert "Because" not in csv_of(state.results, state.closed)
    again = state.with_result(result(False))
    assert again.closed == frozenset() and "Because" in csv_of(again.results, again.closed)


def test_nothing_that_was_typed_becomes_markup():
    judged = Judgement(ITEM, EVIL, False, 0.5, "rubric", analysis=EVIL, suggestions=EVIL, correct_answer=EVIL,
                       points=(PointResult(EVIL, 2, 1, EVIL, EVIL, 1),))  # fmt: skip
    for html in (question_html(ITEM, "en"), verdict_html(judged, busy=True)):
        assert "<script" not in html and "&lt;script" in html


def test_the_verdict_comes_first_and_citations_are_links():
    judged = Judgement(ITEM, "a", False, 0.5, "rubric", analysis="See [2].", points=(PointResult("p", 2, 1, "said"),))
    html = verdict_html(judged, busy=False)
    assert html.index("qz-head") < html.index("qz-points") < html.index("See")
    assert '<a href="#ev-2">' in html and "let a teacher look" in html


def test_what_options_and_points_refer_to_is_cited():
    points = (PointResult("p", 2, 1, "said", "Proof.", 3), PointResult("q", 2, 1, "said"))
    judged = Judgement(ITEM, "a", False, 0.5, "key", analysis="See [2].", option_analysis=(("A", "No. [1]"),))
    assert cited_in(judged) == {1, 2} and cited_in(replace(judged, points=points)) == {1, 2, 3}


def test_what_was_not_said_is_named_once():
    points = (PointResult("the first reason", 2, 0, ""), PointResult("the second", 2, 0, ""))
    judged = Judgement(ITEM, "a", False, 0.5, "rubric", points=points)
    listed, more = (replace(judged, suggestions=text) for text in (by_name(judged)[1], "Read on from there."))
    assert verdict_html(listed, busy=False).count("the first reason") == 1
    assert "Read on from there." in verdict_html(more, busy=False)


def test_a_chinese_line_has_chinese_marks():
    (item,) = read_row({"id": "q", "question": "为什么____，____？", "answer": ["因为", "所以"], "type": "fill_blank"})
    judged = Judgement(item, "不知道", False, 1.0, "key", correct_answer=right_answer(item))
    html = mistake_html(Step("done", judged, ()), "zh", closed=False)
    assert "你的答案：不知道" in html and "正确答案：因为；所以" in html


def test_a_mark_that_a_teacher_should_look_at_is_not_praised():
    sure, unsure = (Judgement(ITEM, "a", True, value, "rubric") for value in (0.9, 0.25))
    assert "excellent" in verdict_html(sure, busy=False) and "excellent" not in verdict_html(unsure, busy=False)


def test_a_mistake_that_was_mended_is_none():
    state = QuizState(results=(result(False), result(True)))
    assert state.mistakes == ()
    assert len(QuizState(results=(result(True), result(False))).mistakes) == 1


def test_results_are_a_table_without_formulas():
    rows = list(csv.reader(io.StringIO(csv_of([result(False, "=1+1"), result(True, 'a "b",\nc')]))))
    assert rows[1][3] == "'=1+1" and rows[2][3] == 'a "b",\nc' and rows[0][0] == "id"
    assert "data:text/csv" in tally(QuizState(results=(result(True),)), "en")
    assert "data:" not in tally(QuizState(), "en")


def test_filters_offer_the_bank_in_order():
    chapters = [value for _, value in filter_choices(shipped_bank(), "chapter", "zh")]
    assert chapters[:4] == ["", "1", "2", "3"] and "10" in chapters


def test_a_claim_that_nothing_supports_is_marked_as_in_an_answer():
    judged = Judgement(ITEM, "a", False, 0.5, "rubric", analysis="Odd. [not found in the book]")
    assert '<span class="unverified">[not found in the book]</span>' in verdict_html(judged, busy=False)


def test_a_judged_exercise_that_the_lab_computes_opens_there():
    bank = shipped_bank()
    item = bank.get("ch03-017/en")
    judged = Judgement(item, "T", False, 1.0, "key")
    assert 'href="?lab=rr&amp;jobs=P1' in verdict_html(judged, busy=False)
    assert "?lab=" not in verdict_html(judged, busy=True)  # nothing is given away before the last step


def test_a_typed_exercise_opens_in_the_lab_as_it_reads():
    text = "3 frames, LRU, references 7, 0, 1, 2, 0, 3: how many page faults?"
    (item,) = read_row({"question": text, "reference": "5"})
    assert "?lab=lru" in verdict_html(Judgement(item, "4", False, 1.0, "rubric"), busy=False)


def test_a_check_that_cannot_be_read_gives_no_link():
    for check in ("lab(", "lab()", "lab(7)", "lab('nothing', x=1) == 2", "lab('lru', frames=0, refs='1')", "(" * 500):
        (item,) = read_row({"id": "q", "question": "Why?", "reference": "Because.", "check": check})
        assert "?lab=" not in verdict_html(Judgement(item, "", False, 1.0, "rubric"), busy=False)


def test_a_verdict_whose_answer_is_kept_back_says_how_right_and_nothing_of_the_key():
    judged = Judgement(ITEM, "a", False, 0.5, "key", correct_answer="Because.", analysis="It is Because.")
    html = closed_html(judged)
    assert "is-wrong" in html and "Because" not in html and "keeps the answer" in html


def test_only_the_citations_of_the_hint_whose_pages_are_shown_are_links():
    climbed = (
        Help("page", "Read it. [1]"),
        Help("twin", f"So. [2] {EVIL}", lab=(("lab", "lru"), ("frames", "3"))),
    )
    text = hints_text(climbed, "en", beside=True)
    assert "[1]" not in text and "(#ev-2)" in text and "(?lab=lru&frames=3)" in text and "<script" not in text
    assert "#ev-" not in hints_text(climbed, "en", beside=False)


def test_the_code_of_a_hint_is_shown_as_it_stands():
    code = "#include <stdio.h>\nint f(int n) { return (a)[1] < n; }"
    for beside in (True, False):
        text = hints_text((Help("twin", f"1 < 2\n\n```c\n{code}\n```"),), "en", beside=beside)
        assert code in text and "1 &lt; 2" in text
