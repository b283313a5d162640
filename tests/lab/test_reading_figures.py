"""How well exercises are read, as `eval lab` tells it."""

from osrag.evaluate.figures import plain
from osrag.evaluate.lab import Question, computed, rows
from osrag.lab.reading import read

LRU = "For the pages 7, 0, 1, 2, 0 under LRU{frames}, how many page faults are there?"
STATED = {"refs": "7,0,1,2,0", "ask": "faults"}


def test_a_missing_value_is_right_where_it_is_asked_for() -> None:
    silent = Question(text=LRU.format(frames=""), type="lru", parameters=STATED, missing=("frames",))
    assumed = silent.model_copy(update={"text": LRU.format(frames=" with 3 frames")})
    found = list(rows([silent, assumed], read))
    counted = {"n": 2, "type": 1.0, "parameters": 0.5, "parameters_among": 0.5, "wrong_results": 0.5}
    assert plain(found)["development"] == counted
    assert [row.note["text"] for row in found if row.note] == [assumed.text]


def test_what_is_computed_is_held_against_the_answer() -> None:
    right = Question(text=LRU, type="lru", parameters={**STATED, "frames": "3"}, answer=4)
    wrong, silent = right.model_copy(update={"answer": 5}), right.model_copy(update={"missing": ("frames",)})
    figures = plain(computed([right, wrong, silent]))
    assert figures["all"] == {"n": 2, "right": 0.5} and figures["left_out"] == {"n": 1}


def test_a_program_is_compared_without_its_white_space_or_by_its_answer() -> None:
    fork = Question(
        text="main() {\n    fork();\n    fork();\n}\nHow many processes are there, the first included?",
        type="fork",
        parameters={"program": "main() { fork(); fork(); }", "ask": "processes"},
        answer=4,
    )
    shared = Question(
        text="The shared variable x starts at 0.\nP1: x = x + 1\nP2: x = x + 2\nFind all possible final values.",
        type="semaphores",
        parameters={"variables": "x=0", "concurrent": "A: x = x + 1; || B: x = x + 2;", "ask": "final_values"},
        answer=[1, 2, 3],
    )
    found = list(rows([fork, shared], read))
    assert plain(found)["development"]["parameters"] == 1.0 and not any(row.note for row in found)


def test_a_number_may_be_written_in_another_way() -> None:
    text = "页面大小为4KB，页表：0→2，1→5。逻辑地址1A3CH的物理地址是多少？"
    values = {"address": "0x1A3C", "page_size": "4096", "entries": "0 2; 1 5", "ask": "physical"}
    question = Question(text=text, type="translate", parameters=values, answer="0x5A3C")
    assert not next(rows([question], read)).note
