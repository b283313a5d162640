"""The marks of the shipped programs: full for right ones whatever the names, and a point less for each mistake."""

import json
import re
from dataclasses import replace

import pytest

from osrag.cli import main
from osrag.errors import BadInput
from osrag.evaluate.programs import figures, marked
from osrag.quiz.bank import shipped_bank
from osrag.quiz.programs import sandbox
from osrag.quiz.programs.code import Code, text_of, walk
from osrag.quiz.programs.folder import read_program, read_programs
from osrag.quiz.programs.marking import blamed, mark
from osrag.quiz.programs.program import Program
from osrag.quiz.programs.same import _own_names
from osrag.quiz.programs.trial import Trial
from osrag.quiz.rows import read_row
from osrag.settings import ROOT
from osrag.types import silent

BANK = shipped_bank()
PROGRAMS = [one for one in BANK.exercises() if one.program and one.program.tests and one.language == "en"]


def verdicts(exercise, program: Program, code: str, trial: Trial | None = None) -> list[str]:
    return [one.verdict for one in mark(exercise, program, Code(code), trial).points]


def renamed(source: str, given: frozenset[str]) -> str:
    """Every name that the program gives, replaced; functions, types and fields too, but not those that are `given`."""
    code = Code(source)
    own = {name: f"zz{place}" for place, name in enumerate(sorted(_own_names(code) - given))}
    out, at, data = [], 0, source.encode()
    for node in walk(code.tree):
        if node.child_count == 0 and node.end_byte <= len(data) and text_of(node) in own:
            out += [data[at : node.start_byte].decode(), own[text_of(node)]]
            at = node.end_byte
    return "".join([*out, data[at:].decode()])


def reformatted(source: str) -> str:
    """One blank line after every statement, other indentation, no comments."""
    plain = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    return "\n".join(line if line.startswith("#") else line.strip() + "\n" for line in plain.splitlines())


def test_there_are_thirty_programs_in_both_languages():
    assert len(PROGRAMS) >= 30
    for one in PROGRAMS:
        twin = BANK.get(f"{one.id}/zh")
        assert twin is not None and [p.points for p in twin.rubric] == [p.points for p in one.rubric]
        assert replace(twin.program, mistakes=()) == replace(one.program, mistakes=())
        assert all(mistake.why for program in (one.program, twin.program) for mistake in program.mistakes)
        assert one.program.starter and len(one.program.solutions) == 2
        points = {need.point for need in one.program.needs}
        points |= {point for _, ones in one.program.cases for point in ones}
        assert points == set(range(1, len(one.rubric) + 1)), one.id  # nothing is left to nobody


@pytest.mark.parametrize("exercise", PROGRAMS, ids=lambda one: one.id)
def test_right_solutions_earn_everything_whatever_the_names(exercise):
    program = exercise.program
    blind = replace(program, solutions=(), mistakes=())
    given = frozenset(need.first for need in program.needs)  # calls; some are functions of the tests
    for source in program.solutions:
        assert verdicts(exercise, program, source) == ["met"] * len(exercise.rubric)
        by_structure = verdicts(exercise, blind, source)
        assert "missed" not in by_structure
        for changed in (renamed(source, given), reformatted(source)):
            assert changed != source
            assert verdicts(exercise, program, changed) == ["met"] * len(exercise.rubric)
            assert verdicts(exercise, blind, changed) == by_structure


@pytest.mark.parametrize("exercise", PROGRAMS, ids=lambda one: one.id)
def test_wrong_solutions_lose_the_points_that_are_named(exercise):
    for mistake in exercise.program.mistakes:
        for source in (mistake.code, renamed(mistake.code, frozenset())):
            marks = mark(exercise, exercise.program, Code(source), None)
            lost = [point for point, one in enumerate(marks.points, start=1) if one.verdict == "missed"]
            assert lost == sorted(mistake.fails) and marks.known == mistake


def test_what_structure_alone_decides_is_nearly_always_right():
    found = figures([row for row in marked(PROGRAMS, run=False, progress=silent) if row.way == "structure"])[
        "structure"
    ]
    assert found["right_solutions_that_lose"] == 0
    assert found["decided"] >= 120 and found["decided_rightly"] >= 0.99 * found["decided"]
    assert found["wrong_solutions_that_lose_or_wait"] == found["wrong_solutions"]


def test_the_starter_and_an_answer_without_code_earn_nothing():
    for exercise in PROGRAMS:
        for answer in (exercise.program.starter, "", "I would use a lock.", "int x;"):
            assert set(verdicts(exercise, exercise.program, answer)) == {"missed"}


def test_failing_cases_cost_the_fewest_points_that_explain_them():
    assert blamed([(1,), (2, 1)], spared=set(), explained=set()) == {1}
    assert blamed([(4, 1), (2, 1), (5, 1)], spared=set(), explained=set()) == {1}
    assert blamed([(2, 1)], spared=set(), explained=set()) == {2}  # the likeliest of a case stands first
    assert blamed([(2, 1)], spared={2}, explained=set()) == {1}
    assert blamed([(2, 1)], spared={1, 2}, explained=set()) == {2}
    assert blamed([(2, 1), (3,)], spared=set(), explained={1}) == {3}


QUEUE = next(one for one in PROGRAMS if one.id == "prog-condvar-queue")
BLIND = replace(QUEUE.program, solutions=(), mistakes=())


def test_a_race_that_no_test_shows_still_loses_its_point():
    wrong = next(one for one in QUEUE.program.mistakes if one.fails == (2,))
    passing = Trial("ran", passed=tuple(name for name, _ in BLIND.cases if not name.startswith("!")))
    marks = mark(QUEUE, BLIND, Code(wrong.code), passing).points
    assert [one.verdict for one in marks] == ["met", "missed", "met", "met", "met"]
    assert "pthread_cond_wait" in Code(wrong.code).line(marks[1].line)


def test_a_call_that_is_missing_while_all_tests_pass_is_left_to_a_teacher():
    source = QUEUE.program.solutions[0].replace("pthread_cond_broadcast", "wake_every_one_of")
    passing = Trial("ran", passed=tuple(name for name, _ in BLIND.cases if not name.startswith("!")))
    assert verdicts(QUEUE, BLIND, source, passing) == ["met", "met", "met", "open", "met"]
    assert verdicts(QUEUE, BLIND, source) == ["met", "met", "open", "missed", "met"]


def test_tests_that_were_not_reached_tell_nothing():
    stopped = Trial("stopped", passed=("first-in-first-out",), failed=(("put-waits-while-full", ""),), ended="time")
    source = QUEUE.program.solutions[1]
    assert verdicts(QUEUE, BLIND, source, stopped) == ["met", "met", "missed", "open", "met"]


def test_the_banks_older_questions_in_c_go_the_same_way():
    older = [one for one in BANK.exercises() if one.type == "programming" and not one.program.tests]
    assert len({one.id for one in older}) == 4
    for one in older:
        assert set(verdicts(one, replace(one.program, solutions=(one.reference,)), one.reference)) == {"met"}
        assert "missed" not in verdicts(one, one.program, one.reference)


def test_a_folder_of_programs_is_checked_from_the_command_line(capsys, monkeypatch, tmp_path):
    for name in ("prog-fifo-lru", "prog-clock"):
        (tmp_path / name).symlink_to(ROOT / "examples" / "quiz" / "programs" / name)
    folder = str(tmp_path)
    assert main(["quiz", "check", folder]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["programs"] == 2 and set(told["marked"]) == {"structure", "shipped"}
    monkeypatch.setattr(sandbox, "missing", lambda: "there is no /usr/bin/bwrap")
    assert main(["quiz", "check", "--run", folder]) != 0
    assert "there is no /usr/bin/bwrap" in capsys.readouterr().err


def test_a_program_that_cannot_be_read_is_named(tmp_path):
    folder = tmp_path / "programs" / "one"
    folder.mkdir(parents=True)
    row = {"id": "one", "en": {"question": "Write f.", "rubric": [{"point": "It works", "points": 1}]}}
    texts = {"starter.c": "int f(void);", "reference.c": "int f(void) { return 1; }", "test.c": "int main(void) {}"}
    for name, text in texts.items():
        (folder / name).write_text(text)

    def slip(**more) -> str:
        (folder / "exercise.json").write_text(json.dumps({**row, **more}))
        return " ".join(read_programs(tmp_path / "programs")[1])

    assert slip() == ""
    assert "structure.0.calls.name" in slip(structure=[{"point": 1, "needs": "calls"}])
    assert "point 2 of a rubric of 1" in slip(structure=[{"point": 2, "needs": "calls", "name": "fork"}])
    assert "cases" in slip(cases={"a": "b"})
    (folder / "wrong.json").write_text('{"wrong_1.c": {"fails": [1], "why": "x"}}')
    assert "wrong_1.c: cannot be read" in slip()
    (folder / "wrong.json").write_text("[]")
    assert "wrong.json: an object is expected" in slip()
    (folder / "reference.c").write_text(" " * 300_000)
    with pytest.raises(BadInput, match="300,000 bytes"):
        read_program(folder)


def test_a_question_from_outside_may_say_what_a_parser_sees():
    row = {"type": "programming", "question": "Wait.", "rubric": "waits in a loop", "language": "en",
           "structure": [{"point": 1, "needs": "loop_around", "call": "pthread_cond_wait"}]}  # fmt: skip
    (exercise,) = read_row(row)
    assert verdicts(exercise, exercise.program, "void f(void) { if (n) pthread_cond_wait(&c, &m); }") == ["missed"]
    assert verdicts(exercise, exercise.program, "void g(void) { while (n) pthread_cond_wait(&c, &m); }") == ["met"]
