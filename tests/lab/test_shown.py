"""No result of an exercise in words stands without what it was read as."""

from pathlib import Path

from osrag.app.computed import told
from osrag.evaluate.lab import read_questions
from osrag.lab.catalog import KINDS
from osrag.lab.reading import read
from osrag.lab.solve import answer_line, read_as, solve
from osrag.ui.lab.tab import pasted

QUESTIONS = Path(__file__).parents[2] / "examples" / "eval" / "lab" / "questions.jsonl"
ONE_IN = 60  # of the development questions


def test_every_result_of_a_text_has_all_that_was_read_before_it() -> None:
    solved = [
        reading.solved()
        for question in [one for one in read_questions(QUESTIONS) if not one.held_out][::ONE_IN]
        if (reading := read(question.text)) is not None
    ]
    computed = [each for each in solved if each.answer is not None]
    assert len(computed) > 15
    for each in computed:
        reply = told(each, "en").replace("\\", "")
        parameters = [pair for rules in (False, True) for pair in read_as(each, "en", rules=rules)]
        places = [reply.index(f"{name}: {value}".replace("\\", "")) for name, value in parameters]
        assert places and max(places) < reply.rindex(answer_line(each, "en"))


def test_a_pasted_text_fills_the_form_before_anything_is_computed() -> None:
    found = pasted(read("FIFO with 3 frames, references 1,2,3,4,1,2,5. How many faults?"), "en")
    first = found["readings"][0]
    assert first["values"] == {"refs": "1,2,3,4,1,2,5", "frames": "3", "ask": "faults"} and "result" not in found


def test_a_result_has_its_name_without_an_article() -> None:
    found = solve(KINDS["translate"], {"address": "5000", "entries": "1 9"})
    assert answer_line(found, "en") == "Physical address: 37768"
