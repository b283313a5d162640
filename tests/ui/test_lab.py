"""The lab tab without a browser: what its script asks for and gets, its links, and its endpoints."""

import re
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlencode

import pytest
from gradio_client import Client

from osrag.errors import ModelFailed
from osrag.lab.catalog import KINDS
from osrag.lab.exercise import exercise
from osrag.lab.solve import shown
from osrag.ui.admission import RateLimit
from osrag.ui.lab.form import topics, unit_html
from osrag.ui.lab.tab import LabTab, lab_exercise, lab_page, lab_solve
from osrag.ui.scripts import Scripts
from osrag.wording import say
from tests.fakes import ScriptedChat
from tests.ui.test_wiring import VISITOR, handler

LRU = {"kind": "lru", "values": {"frames": "3", "refs": "7,0,1,2,0"}, "lang": "en"}


@pytest.fixture(scope="module")
def calls(parts) -> dict:
    """The functions that the script may call, by name."""
    import gradio as gr

    with gr.Blocks():
        return {function.__name__: function for function in LabTab(parts, Scripts(RateLimit(9), 9)).functions()}


@pytest.mark.parametrize("language", ["zh", "en"])
@pytest.mark.parametrize("name", KINDS)
def test_each_kind_opens_with_an_example(name: str, language: str):
    page = lab_page({"kind": name, "lang": language})
    assert page["kind"] == name and page["faults"] == {}
    fields = set(re.findall(r'id="lb-(\w+)" name="\1"', page["html"]))
    assert fields == set(KINDS[name].parameters.model_fields)
    assert "lb-answer" in page["result"] and 'role="table"' in page["result"]
    assert not re.search(r"\{[a-z_]+\}", page["html"] + page["result"])  # every sentence is filled in


def test_each_topic_has_its_words():
    for language in ("zh", "en"):
        assert len({say(f"lab_topic_{topic}", language) for topic in topics()}) == len(topics())


def test_a_change_changes_the_answer_the_drawing_and_the_link():
    before, after = lab_solve(LRU), lab_solve({**LRU, "values": {**LRU["values"], "frames": "4"}})
    assert "<strong>4" in before["result"] and before["link"] == {"lab": "lru", "frames": "3", "refs": "7,0,1,2,0"}
    assert "frame 3" in after["result"] and "frame 3" not in before["result"]
    assert after["markdown"].startswith("| page |")


@pytest.mark.parametrize("name", KINDS)
def test_a_link_opens_the_same_exercise(name: str):
    for level in ("easy", "hard"):
        first = lab_exercise({"kind": name, "level": level, "seed": 3, "lang": "en", "solve": True})
        query = dict(parse_qsl(urlencode(first["link"])))
        assert lab_page({"kind": query.pop("lab"), "values": query, "lang": "en"})["result"] == first["result"]


def test_a_fault_stands_at_its_field_and_the_rest_of_the_form_stays():
    page = lab_page({"kind": "lru", "values": {"frames": "0", "refs": "1,2,3", "lang": "en"}, "lang": "en"})
    assert page["result"] == "" and page["link"] == {}
    assert list(page["faults"]) == ["frames"] and "at least 1" in page["faults"]["frames"]
    assert 'value="1,2,3"' in page["html"] and 'value="0"' in page["html"]


def test_a_missing_value_is_asked_for():
    assert "fill it in" in lab_solve({"kind": "lru", "values": {"refs": "1,2"}, "lang": "en"})["faults"]["frames"]


def test_a_typing_error_in_a_link_is_told():
    assert "frame" in lab_page({"kind": "lru", "values": {"frame": "3", "refs": "1"}, "lang": "en"})["faults"]
    assert "no exercise type" in lab_page({"kind": "<b>lur", "lang": "en"})["html"]
    assert "<b>lur" not in lab_page({"kind": "<b>lur", "lang": "en"})["html"]


@pytest.mark.parametrize("values", [{"refs": "1," * 100_000, "frames": "3"}, {"refs": "<i>", "frames": "x"}, [1], "no"])
def test_whatever_comes_gets_sentences_and_no_markup(values):
    found = lab_solve({"kind": "lru", "values": values, "lang": "en"})
    assert found["faults"] and found["result"] == ""
    assert "<i>" not in lab_page({"kind": "lru", "values": values, "lang": "en"})["html"]


def test_strange_requests_fall_back_to_the_first():
    assert lab_page({})["kind"] == "lru"
    assert lab_exercise({"kind": "rr", "level": "extreme", "seed": "-4"}) == lab_exercise({"kind": "rr"})


def rows_of(name: str, seed: int = 1) -> list[list[str]]:
    made = exercise(KINDS[name], seed, "easy")
    texts = []
    for step in KINDS[name].solve(made.parameters).steps:
        cells = ["" if c is None else " ".join(map(str, c)) if isinstance(c, tuple) else c for c in step.row]
        texts.append([{True: "yes", False: "no"}[c] if isinstance(c, bool) else str(c) for c in cells])
    return [row for row in texts if row]


def test_a_trace_is_graded_up_to_its_first_wrong_cell_with_the_page(calls: dict):
    rows = rows_of("lru")
    asked = {"kind": "lru", "seed": 1, "level": "easy", "lang": "en"}
    right = calls["lab_grade"]({**asked, "rows": rows})
    assert "is-right" in right["html"] and right["row"] is None
    rows[3][2] = "maybe"
    wrong = calls["lab_grade"]({**asked, "rows": rows})
    assert (wrong["row"], wrong["column"]) == (3, 2)
    assert f"3 of {len(rows)}" in wrong["html"] and "maybe" in wrong["html"]
    assert "7.3.4 Least recently used" in wrong["html"]
    text = "\n".join(" | ".join(row) for row in rows)
    assert calls["lab_grade"]({**asked, "text": text})["row"] == 3


def test_a_part_of_a_trace_is_graded_as_far_as_it_goes(calls: dict):
    rows = rows_of("lru")
    found = calls["lab_grade"]({"kind": "lru", "rows": [*rows[:2], *[["", "", "", ""]] * 8], "lang": "en"})
    assert found["row"] == 2 and f"2 of {len(rows)}" in found["html"]


def test_a_wrong_choice_names_its_mistake(calls: dict):
    made = exercise(KINDS["lru"], 1, "easy")
    asked = {"kind": "lru", "seed": 1, "level": "easy", "lang": "en"}
    for place, option in enumerate(made.options):
        html = calls["lab_grade"]({**asked, "choice": place})["html"]
        assert ("The answer is right" in html) is not bool(option.mistake)
        assert ("It looks as if" in html) is bool(option.mistake)
    wrong = next(option for option in made.options if option.mistake)
    assert "It looks as if" in calls["lab_grade"]({**asked, "answer": str(wrong.value)})["html"]
    assert "Nothing to check" in calls["lab_grade"](asked)["html"]


@pytest.mark.parametrize("name", KINDS)
def test_the_shown_answer_of_each_kind_counts_as_right(calls: dict, name: str):
    for language in ("zh", "en"):
        made = exercise(KINDS[name], 2, "medium")
        asked = {"kind": name, "seed": 2, "level": "medium", "lang": language}
        typed = shown(made.answer.value, made.answer.unit, language)
        assert "is-right" in calls["lab_grade"]({**asked, "answer": typed})["html"]


def test_the_voices_are_the_page_and_the_functions(calls: dict):
    html = calls["lab_voices"]({"kind": "lru", "lang": "en"})["html"]
    assert 'data-chunk="os-course-en.pdf#p67-2"' in html and "mm/swap.c:457-458" in html
    assert 'data-chunk="os-course-zh.pdf#p67-2"' in calls["lab_voices"]({"kind": "lru", "lang": "zh"})["html"]


def test_a_link_opens_the_tab(page):
    greet = handler(page, "greet")
    query = {"lab": "lru", "frames": "3", "lang": "en"}
    update = greet.fn(SimpleNamespace(**{**vars(VISITOR), "query_params": query}))
    assert [value.selected for value in update.values() if hasattr(value, "selected")] == ["lab"]
    assert set(update) <= set(greet.outputs)


def test_the_endpoint_solves_and_tells_faults_by_field(address: str):
    client = Client(address, verbose=False)
    found = client.predict("lru", {"frames": 3, "refs": "7,0,1,2"}, "en", api_name="/solve")
    assert found["answer"]["value"] == 4 and found["parameters"]["refs"] == [7, 0, 1, 2] and not found["errors"]
    wrong = client.predict("lru", {"frames": 0}, "en", api_name="/solve")
    assert wrong["answer"] is None and wrong["missing"] == ["refs"] and "at least 1" in wrong["errors"]["frames"]
    with pytest.raises(Exception, match=r"no exercise 'lur'.*lru"):
        client.predict("lur", {}, "en", api_name="/solve")
    with pytest.raises(Exception, match="language: Input should be 'zh' or 'en', got 'fr'"):
        client.predict("lru", {}, "fr", api_name="/solve")


def test_the_endpoint_makes_exercises_and_grades_traces(address: str):
    client = Client(address, verbose=False)
    made = client.predict("lru", "easy", 1, "en", api_name="/exercise")
    assert made == client.predict("lru", "easy", 1, "en", api_name="/exercise")
    assert made["question"] != client.predict("lru", "easy", 2, "en", api_name="/exercise")["question"]
    assert [option["right"] for option in made["options"]].count(True) == 1
    rows = rows_of("lru")
    grade = client.predict("lru", made["parameters"], rows, "en", api_name="/grade_trace")
    assert grade["score"] == 1 and grade["first_wrong"] is None and grade["page"] == "61"
    rows[1][0] = "99"
    wrong = client.predict("lru", made["parameters"], rows, "en", api_name="/grade_trace")["first_wrong"]
    assert (wrong["row"], wrong["seen"]) == (2, "99") and wrong["why"]
    assert client.predict("lru", {"frames": 0}, rows, "en", api_name="/grade_trace")["missing"] == ["refs"]
    with pytest.raises(Exception, match="level: Input should be 'easy', 'medium' or 'hard'"):
        client.predict("lru", "extreme", 1, "en", api_name="/exercise")


EXERCISE = "A process has 3 frames. How many page faults does LRU have on the reference string 7, 0, 1, 2, 0, 3?"


def called(parts, name, asked):
    """What a function of the page gives that needs the app."""
    return next(one for one in LabTab(parts, Scripts(RateLimit(9), 9)).functions() if one.__name__ == name)(asked)


def test_a_unit_stands_apart_from_its_label():
    assert (
        unit_html("time", "zh") == "<small>（时间单位）</small>"
        and unit_html("time", "en") == " <small>(time units)</small>"
    )
    assert unit_html("", "zh") == unit_html("count", "en") == ""


def test_a_pasted_exercise_fills_the_form(parts):
    found = called(parts, "lab_read", {"text": EXERCISE, "lang": "en"})
    (first,) = found["readings"]
    assert first["kind"] == "lru" and first["needs"] == []
    assert "Frames: 3" in found["html"]
    assert "<strong>5" in lab_page({**first, "lang": "en"})["result"]


def test_several_readings_are_offered_and_a_missing_value_is_asked_for(parts):
    found = called(
        parts,
        "lab_read",
        {"text": "How many page faults do FIFO and LRU have on the reference string 7, 0, 1, 2, 0, 3?", "lang": "en"},
    )
    assert {one["kind"] for one in found["readings"]} == {"fifo", "lru"} and found["html"].count("data-reading") == 2
    page = lab_page({**found["readings"][0], "lang": "en"})
    assert page["result"] == "" and "fill it in" in page["faults"]["frames"]


UNCLEAR = "For the references 7,0,1,2,0,3 find the page faults under LRU; memory has room for 3 of them."


def test_the_model_reads_on_where_a_value_was_not_found(parts, monkeypatch):
    first = called(parts, "lab_read", {"text": UNCLEAR, "lang": "en"})
    assert first["doubtful"] and "once more" in first["html"]
    assert not called(parts, "lab_read", {"text": EXERCISE, "lang": "en"})["doubtful"]
    for chat, needs in ((ScriptedChat([['{"frames": "3"}']]), []), (ScriptedChat([[ModelFailed("gone")]]), ["frames"])):
        monkeypatch.setattr(parts, "chat", chat, raising=False)
        found = called(parts, "lab_read_on", {"text": UNCLEAR, "lang": "en"})
        assert found["readings"][0]["needs"] == needs
        assert "once more" not in found["html"]


def test_numbers_that_play_no_part_are_told(parts):
    found = called(parts, "lab_read", {"text": f"{EXERCISE} The disk has 40 tracks.", "lang": "en"})
    assert "were not used: 40." in found["html"]


def test_what_a_text_must_give_is_not_assumed_later():
    asked = {"kind": "scan", "values": {"requests": "5,9", "start": "7"}, "needs": ["direction"], "lang": "en"}
    assert list(lab_solve(asked)["faults"]) == ["direction"]
    assert lab_solve({**asked, "values": {**asked["values"], "direction": "down"}})["faults"] == {}


def test_a_text_that_is_no_exercise_is_told(parts):
    found = called(parts, "lab_read", {"text": "Good morning <b>", "lang": "en"})
    assert found["readings"] == [] and "No exercise" in found["html"]


def test_the_endpoint_reads_a_text(address: str):
    client = Client(address, verbose=False)
    found = client.predict(text=EXERCISE, api_name="/solve")
    assert found["type"] == "lru" and found["answer"]["value"] == 5 and found["also"] == []
    nothing = client.predict(text="Good morning", api_name="/solve")
    assert nothing["type"] is None and nothing["answer"] is None and nothing["errors"]["text"]
