"""Answers in C through the judge, the ladder of hints and the page, without running them."""

import pytest

from osrag.app.parts import runs_programs
from osrag.errors import BadInput, BadSettings
from osrag.quiz.bank import shipped_bank
from osrag.quiz.explain import explain
from osrag.quiz.programs import sandbox
from osrag.quiz.programs.blocks import as_markdown, blocks
from osrag.quiz.programs.trial import suspect
from osrag.settings import Settings
from osrag.study.ladder import climb
from osrag.study.repetition import Deck, today
from osrag.ui.quiz_view import QuizState, mistake_html, question_html, verdict_html
from tests.quiz.parts import item_of, judge_of

BANK = shipped_bank()
QUEUE = BANK.get("prog-condvar-queue/en")
FIT = BANK.get("prog-fit/zh")
UNKNOWN = "int other(void) { return 0; }\n" + FIT.program.solutions[0]  # right, and not known to be


def last(exercise, answer, tmp_path):
    return list(judge_of(tmp_path).judge(exercise, answer))[-1]


def test_the_reference_of_a_program_earns_full_marks(tmp_path):
    found = last(FIT, FIT.program.solutions[1], tmp_path).judgement
    assert (found.score, found.is_correct, found.decided_by, found.needs_teacher) == (10, True, "code", False)
    assert "没有运行程序" in found.analysis


def test_a_mistake_is_shown_in_the_students_own_line(tmp_path):
    wrong = next(one for one in QUEUE.program.mistakes if one.fails == (1,))
    found = last(QUEUE, wrong.code, tmp_path).judgement
    point = found.points[0]
    assert point.earned == 0 and point.said == "return -1;" and "pthread_mutex_unlock" in point.why
    assert found.score == 8 and found.is_correct
    html = verdict_html(found, busy=False)
    assert "return -1;" in html and "0 / 2" in html


def test_a_known_mistake_is_explained_in_the_language_of_the_exercise(tmp_path):
    told = {FIT: "大小正好合适的空闲区被跳过。", BANK.get("prog-fit/en"): "Skips a hole that fits exactly."}
    for exercise, why in told.items():
        assert last(exercise, exercise.program.mistakes[0].code, tmp_path).judgement.analysis.startswith(why)


def test_what_nobody_can_tell_is_left_open_for_a_teacher(tmp_path):
    step = last(FIT, UNKNOWN, tmp_path)
    found = step.judgement
    assert found.undecided and not found.is_correct and found.needs_teacher and found.score == 0
    html = verdict_html(found, busy=False)
    assert "待定" in html and "请教师看一看" in html and "没有定论" in html
    assert QuizState().with_result(step).mistakes == ()
    assert Deck({}).after(FIT, found, BANK, today(), hinted=False).points == {}


@pytest.mark.parametrize(
    ("reference", "answer", "score", "undecided"),
    [
        (
            "void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }",
            "void swap(int *x, int *y) {\n  int k = *x;\n  *x = *y;\n  *y = k;\n}",
            2,
            False,
        ),
        ("int max(int a, int b) { return a > b ? a : b; }", "int max(int a, int b) { return a<b?a:b; }", 0, True),
        ("int max(int a, int b) { return a > b ? a : b; }", "int m(int a, int b) { return b<a?a:b; }", 2, False),
    ],
)
def test_a_question_from_outside_with_a_reference_in_c(tmp_path, reference, answer, score, undecided):
    row = {"type": "programming", "question": "Write it.", "reference": reference, "rubric": "works (2 points)"}
    found = last(item_of(row), answer, tmp_path).judgement
    assert (found.score, found.undecided, found.decided_by) == (score, undecided, "code")


def test_the_banks_own_reference_earns_full_marks(tmp_path):
    for name in ("ch02-028/en", "ch10-027/zh"):
        exercise = BANK.get(name)
        found = last(exercise, exercise.reference, tmp_path).judgement
        assert found.score == found.full_marks and found.is_correct


def test_words_on_a_question_about_code_are_judged_as_words(tmp_path):
    found = last(BANK.get("ch05-027/en"), "Always lock the account with the smaller id first.", tmp_path).judgement
    assert found.decided_by == "rubric"


def test_two_megabytes_of_source_are_refused_with_a_sentence(tmp_path):
    with pytest.raises(BadInput, match="2000000 characters"):
        last(QUEUE, "int x;\n" + "/" * 1_999_993, tmp_path)
    deep = "int f(void) { return " + "(" * 9000 + "1" + ")" * 9000 + "; }"
    assert all(point.open for point in last(QUEUE, deep, tmp_path).judgement.points)


def test_hints_for_a_program_lead_to_its_first_missing_point(tmp_path):
    judge = judge_of(tmp_path)
    wrong = next(one for one in QUEUE.program.mistakes if one.fails == (2,))
    told = climb(judge, BANK, QUEUE, wrong.code, "point").text
    assert QUEUE.hint.point("2") in told and "No loop checks" in told
    twin = climb(judge, BANK, QUEUE, wrong.code, "twin").text
    assert "```c\n" in twin and "    pthread_mutex_lock" in twin
    solution = climb(judge, BANK, QUEUE, wrong.code, "solution").text
    assert "```c\n" in solution and "\n    while (q->count == 0" in solution
    for rung in ("ask", "page"):
        assert "pthread_cond_wait(" not in climb(judge, BANK, QUEUE, wrong.code, rung).text


def test_code_keeps_its_indentation(tmp_path):
    item = BANK.get("ch13-026/en")
    html = question_html(item, "en")
    assert '<pre class="qz-code"><code>void add_entry(struct list_head *list, int key)\n{\n    struct entry *e;' in html
    assert "<p>The following code" in html
    text = "Two lines:\n\nint f(void)\n{\n    return 1;\n}\n\nand words (a few)."
    assert [code for code, _ in blocks(text)] == [False, True, False]
    assert "```c\nint f(void)\n{\n    return 1;\n}\n```" in as_markdown(text)
    told = list(explain(judge_of(tmp_path), FIT, ""))[-1].text
    assert "\n    for (int i = 0; i < *n; i++) {\n        if" in told
    step = last(FIT, FIT.program.mistakes[0].code, tmp_path)
    assert "<pre" in verdict_html(step.judgement, busy=False)
    assert "int chosen" not in mistake_html(step, "zh", closed=False)
    assert blocks("x = 1; y = 2;") == [(False, "x = 1; y = 2;")]


def test_programs_run_only_where_the_operator_says_so(monkeypatch):
    on, off = Settings(_env_file=None, run_programs=True), Settings(_env_file=None)
    monkeypatch.setattr(sandbox, "missing", lambda: "")
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert runs_programs(on) and not runs_programs(off)
    monkeypatch.setattr(sandbox, "missing", lambda: "there is no /usr/bin/bwrap; install the package bubblewrap")
    with pytest.raises(BadSettings, match="install the package bubblewrap"):
        runs_programs(on)
    monkeypatch.setenv("SPACE_ID", "someone/osrag")
    assert not runs_programs(on)


@pytest.mark.parametrize(
    "answer",
    [
        "__attribute__((constructor)) static void f(void) { }",
        'void f(void) { fopen("/proc/self/mem", "r"); }',
        "void f(void) { setvbuf(stdout, b, _IOFBF, 9); }",
        'void f(void) { __asm__("nop"); }',
        "#define A as ## m\nvoid f(void) { A(1); }",
        "void f(void) { dlsym(0, 0); }",
    ],
)
def test_what_could_forge_a_result_is_noticed(answer):
    assert suspect(answer)
    assert suspect(QUEUE.program.solutions[0]) == ""
