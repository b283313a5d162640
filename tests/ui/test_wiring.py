"""Which event of the page runs what, what it may change, and what happens when a handler breaks; without a browser."""

import base64
import json
from types import SimpleNamespace

import gradio as gr
import pytest

from osrag.answer.events import Done, Failed, SourceDone, Token, Waiting
from osrag.answer.source import Question
from osrag.quiz.bank import shipped_bank
from osrag.types import EVERYTHING, Turn, Within
from osrag.ui.app import build
from osrag.ui.quiz_view import QuizState
from osrag.ui.state import Conversation
from tests.ui.test_mcp import TOOLS

VISITOR = SimpleNamespace(
    session_hash="a", query_params={}, headers={"accept-language": "en"}, client=SimpleNamespace(host="127.0.0.1")
)
RUNS = [("os-question", "submit"), ("os-send", "click"), ("os-retry", "click")]
CLICKS = ("example_select", "option_select")
SLOW = {"chat", "ask_textbook", "ask_kernel", "judge", "explain"}
GRADES = [("qz-grade", "click"), ("qz-explain", "click"), ("qz-hint", "click"), ("qz-blank", "submit")]


def name_of(component) -> str:
    return component.elem_id or type(component).__name__.lower()


def event(page: gr.Blocks, elem_id: str, kind: str):
    """The one handler of an event of a component."""
    found = [
        fn
        for fn in page.fns.values()
        for target, name in fn.targets
        if name == kind and target in page.blocks and page.blocks[target].elem_id == elem_id and fn.fn is not None
    ]
    (fn,) = found
    return fn


def outputs(fn) -> set[str]:
    return {name_of(component) for component in fn.outputs}


def updates(fn, *values) -> list[dict[str, object]]:
    """What a handler yields, by component; every component must be among the outputs of its event."""
    found = []
    for update in fn.fn(*values):
        assert set(update) <= set(fn.outputs)
        found.append({name_of(component): value for component, value in update.items()})
    return found


def asked(page: gr.Blocks, question: str = "q", state: Conversation | None = None) -> list[dict[str, object]]:
    state = state or Conversation()
    return updates(
        event(page, "os-send", "click"), question, state, "both", "beside", "fast", 0.5, "", "", "en", VISITOR
    )


def visible(update: dict, button: str) -> bool | None:
    return update[button]["visible"] if button in update else None


def test_the_endpoints_are_public_and_all_else_is_private(page: gr.Blocks):
    public = {fn.api_name for fn in page.fns.values() if fn.api_visibility == "public"}
    assert public == TOOLS
    assert not [
        fn for fn in page.fns.values() if fn.api_name in TOOLS and any(isinstance(i, gr.State) for i in fn.inputs)
    ]


@pytest.mark.parametrize(("elem_id", "kind"), RUNS)
def test_a_question_changes_the_conversation_its_evidence_and_the_buttons(page: gr.Blocks, elem_id: str, kind: str):
    fn = event(page, elem_id, kind)
    assert outputs(fn) == {"os-chat", "os-evidence", "os-question", "state", "os-send", "os-stop"}


def test_an_example_asks_its_question_of_its_source(page: gr.Blocks):
    fn = event(page, "os-chat", "example_select")
    assert outputs(fn) == {"os-question", "os-source"}
    assert page.fns[after(page, "example_select")].fn == event(page, "os-send", "click").fn


def test_a_question_below_an_answer_asks_itself_of_the_same_source(page: gr.Blocks):
    fn = event(page, "os-chat", "option_select")
    assert outputs(fn) == {"os-question"}
    assert page.fns[after(page, "option_select")].fn == event(page, "os-send", "click").fn


@pytest.mark.parametrize(
    ("within", "edition", "reach", "source", "part"),
    [
        ("", "", "beside", "auto", EVERYTHING),
        ("kind:faq", "zh", "beside", "textbook", Within(category="faq", language="zh")),
        ("file:os-faq.en.md", "", "beside", "textbook", Within(file="os-faq.en.md")),
    ],
)
def test_a_question_is_kept_within_what_is_chosen(
    page: gr.Blocks, monkeypatch: pytest.MonkeyPatch, within: str, edition: str, reach: str, source: str, part: Within
):
    runs: list[Question] = []
    monkeypatch.setattr("osrag.ui.chat.answer", lambda _, run: iter(runs.append(run) or [Done("", (), "composed")]))
    send = event(page, "os-send", "click")
    updates(send, "What is a page?", Conversation(), "auto", reach, "fast", 0.0, within, edition, "en", VISITOR)
    assert (runs[0].source, runs[0].within) == (source, part)


def test_questions_to_ask_next_stand_below_the_whole_reply_only(page: gr.Blocks, monkeypatch: pytest.MonkeyPatch):
    next_ = ("What is a page?", "What is a frame?")
    done = SourceDone("textbook", "x", (), "prepared", (), further=next_)
    events = [Token("textbook", "Pages."), done, Done("Pages.", (), "prepared", further=next_)]
    monkeypatch.setattr("osrag.ui.chat.answer", lambda *_: iter(events))
    shown = [update["os-chat"][-1]["options"] for update in asked(page) if "os-chat" in update]
    assert shown[:-1] == [[]] * (len(shown) - 1)
    assert shown[-1] == [{"value": "What is a page?"}, {"value": "What is a frame?"}]


def test_answers_wait_in_one_line_and_grading_in_another(page: gr.Blocks):
    asks = {event(page, *one)._id for one in RUNS} | {after(page, kind) for kind in CLICKS}
    asks |= {fn._id for fn in page.fns.values() if fn.api_name in ("chat", "ask_textbook", "ask_kernel")}
    grades = {event(page, *one)._id for one in GRADES}
    grades |= {fn._id for fn in page.fns.values() if fn.api_name in ("judge", "explain")}
    for line, wanted in (("model", asks), ("quiz", grades)):
        assert {fn._id for fn in page.fns.values() if fn.concurrency_id == line} == wanted
    assert all(page.fns[place].queue is not False for place in asks | grades)


def test_more_gradings_than_replies_of_the_model_run_at_once(page: gr.Blocks, parts):
    limits = {fn.concurrency_limit for fn in page.fns.values() if fn.concurrency_id == "quiz"}
    assert min(limits) > parts.settings.slots and len(limits) == 1


def test_stop_and_clear_cancel_every_run_and_no_other(page: gr.Blocks):
    chat = {event(page, *one)._id for one in RUNS}
    chat |= {after(page, kind) for kind in CLICKS}
    assert cancelled(page, "os-stop") == cancelled(page, "os-clear") == chat
    assert cancelled(page, "qz-stop") == {event(page, *one)._id for one in GRADES}


def after(page: gr.Blocks, kind: str) -> int:
    """The run that follows the click on a question in the conversation."""
    click = event(page, "os-chat", kind)
    (run,) = [fn._id for fn in page.fns.values() if fn.trigger_after == click._id]
    return run


def cancelled(page: gr.Blocks, elem_id: str) -> set[int]:
    """The runs that a click cancels; Gradio keeps them at a function of its own on the same event."""
    return {
        place
        for fn in page.fns.values()
        for target, kind in fn.targets
        if kind == "click" and target in page.blocks and page.blocks[target].elem_id == elem_id
        for place in fn.cancels
    }


def test_what_changes_with_the_language_is_an_output_of_the_switch(page: gr.Blocks):
    switch, loads = handler(page, "turn"), handler(page, "greet")
    update = switch.fn("zh", Conversation(), None, QuizState(), VISITOR)
    assert set(update) <= set(switch.outputs)
    named = {name_of(component): value for component, value in update.items()}
    assert named["os-send"]["value"] == "Ask" and named["qz-grade"]["value"] == "Grade"
    assert "After a question" in named["os-evidence"] and "pick" in named["qz-question"].lower()
    kept = switch.fn("zh", Conversation((Turn("q", "a"),)), None, QuizState(), VISITOR)
    assert "os-evidence" not in {name_of(component) for component in kept}  # belongs to an answer
    greeted = loads.fn(SimpleNamespace(**{**vars(VISITOR), "query_params": {"q": "What is a page?"}}))
    assert set(greeted) <= set(loads.outputs)
    (box,) = [value for component, value in greeted.items() if component.elem_id == "os-question"]
    assert box["value"] == "What is a page?" and box["label"] == "Your question"
    plain = loads.fn(SimpleNamespace(**{**vars(VISITOR), "query_params": {}}))
    (box,) = [value for component, value in plain.items() if component.elem_id == "os-question"]
    assert "value" not in box  # what a quick visitor has typed by now stays


def handler(page: gr.Blocks, name: str):
    (fn,) = [one for one in page.fns.values() if getattr(one.fn, "__name__", "") == name]
    return fn


def test_a_question_streams_into_its_bubble_and_is_kept(page: gr.Blocks, script):
    script.events = [
        Waiting(),
        Token("textbook", "Yes, "),
        Token("textbook", "it is."),
        Done("Yes, it is.", (), "extracts"),
    ]
    seen = asked(page, "Is it?", Conversation((Turn("before", "said"),)))
    (request,) = script.requests
    assert (request.text, request.source, request.effort, request.threshold) == ("Is it?", "both", "fast", 0.5)
    assert [turn.question for turn in request.history] == ["before"]
    assert visible(seen[0], "os-send") is False and visible(seen[0], "os-stop") is True
    assert "After a question" in seen[0]["os-evidence"]  # the cards of the question before go with the links to them
    assert seen[0]["os-question"] == "" and seen[0]["state"].turns[-1].answer == "(stopped)"
    shown = [one["os-chat"][-1]["content"] for one in seen if "os-chat" in one][1:]
    assert [text.partition("\n\n<span")[0] for text in shown] == ["Yes, ", "Yes, it is.", "Yes, it is."]
    assert "Writing…" in shown[0] and "Writing…" not in shown[-1]
    assert visible(seen[-1], "os-send") is True and visible(seen[-1], "os-stop") is False
    assert seen[-2]["state"].turns == (Turn("before", "said"), Turn("Is it?", "Yes, it is."))


def test_a_run_that_fails_before_its_first_word_is_no_turn(page: gr.Blocks, script):
    script.events = [Failed("the question is empty", "")]
    seen = asked(page)
    assert "the question is empty" in seen[-2]["os-chat"][-1]["content"] and seen[-2]["state"].turns == ()


def test_asking_again_takes_the_last_question_and_what_was_before_it(page: gr.Blocks, script):
    script.events = [Done("", (), "extracts")]
    state = Conversation((Turn("one", "1"), Turn("two", "2")))
    controls = "kernel", "beside", "deep", 0.0, "", "", "en", VISITOR
    updates(event(page, "os-retry", "click"), state, *controls)
    (request,) = script.requests
    assert (request.text, request.source, request.effort) == ("two", "kernel", "deep")
    assert [turn.question for turn in request.history] == ["one"]
    assert len(updates(event(page, "os-retry", "click"), Conversation(), *controls)) == 1


@pytest.mark.parametrize("before", [[], [Token("textbook", "Half an answer")]])
def test_when_a_handler_breaks_the_student_reads_a_sentence_and_may_ask_again(page, script, caplog, before):
    script.events = [*before, RuntimeError("boom")]
    seen = asked(page)
    said = seen[-2]["os-chat"][-1]["content"]
    assert "Something unexpected happened" in said and "boom" not in said
    assert not before or said.startswith("Half an answer")
    assert visible(seen[-1], "os-send") is True and visible(seen[-1], "os-stop") is False
    assert "Traceback" in caplog.text and "boom" in caplog.text


def test_too_many_questions_are_refused_with_the_seconds_to_wait(parts, script, monkeypatch):
    script.events = [Done("", (), "extracts")]
    monkeypatch.setattr(parts, "settings", parts.settings.model_copy(update={"requests_per_minute": 1}))
    page = build(parts)
    asked(page)
    with pytest.warns(UserWarning, match=r"At most 1 questions a minute.*Please wait \d+ seconds"):
        seen = asked(page)
    assert len(seen) == 1 and "os-send" not in seen[0]


@pytest.mark.parametrize("button", ["qz-grade", "qz-explain"])
def test_when_grading_breaks_the_button_returns(page: gr.Blocks, parts, caplog, monkeypatch, button: str):
    monkeypatch.setattr(parts, "judge", SimpleNamespace(), raising=False)  # has nothing that a run needs
    item = shipped_bank().get(shipped_bank().find("en")[0])
    with pytest.warns(UserWarning, match="Something unexpected happened"):
        seen = updates(event(page, button, "click"), item, QuizState(), "en", VISITOR, "A", [], "", "")
    assert visible(seen[0], "qz-grade") is False and visible(seen[-1], "qz-grade") is True
    assert visible(seen[0], "qz-working") is True and visible(seen[-1], "qz-working") is False
    assert "Traceback" in caplog.text


def test_nothing_is_graded_before_a_question_is_picked(page: gr.Blocks):
    (only,) = updates(event(page, "qz-grade", "click"), None, QuizState(), "en", VISITOR, None, [], "", "")
    assert set(only) == {"state"}


@pytest.mark.parametrize("answer", [None, ""])
def test_no_answer_is_not_graded_as_a_wrong_one(page: gr.Blocks, answer: str | None, monkeypatch):
    told: list[str] = []
    monkeypatch.setattr("osrag.ui.quiz.gr.Info", told.append)
    item = shipped_bank().get("ch05-001/en")
    seen = updates(event(page, "qz-grade", "click"), item, QuizState(), "en", VISITOR, answer, [], "", "", "")
    assert len(told) == 1 and told[0].startswith("Choose or write an answer first")
    assert not any("state" in update or "qz-verdict" in update for update in seen)
    assert visible(seen[-1], "qz-grade") is True


def test_a_question_that_was_picked_shows_the_input_that_fits_it(page: gr.Blocks):
    bank = shipped_bank()
    fits = {
        "single_choice": "qz-radio",
        "multiple_choice": "qz-boxes",
        "fill_blank": "qz-blank",
        "short_answer": "qz-text",
    }
    for kind, elem_id in fits.items():
        fn = event(page, "qz-pick", "input")
        update = fn.fn(bank.find("en", type=kind)[0], "en", QuizState())
        assert set(update) == set(fn.outputs)
        shown = {name_of(component): value for component, value in update.items()}
        assert [name for name in fits.values() if shown[name]["visible"]] == [elem_id]


def test_a_question_stands_ready_and_a_link_names_one(page: gr.Blocks):
    loads = handler(page, "greet")
    for query, text in (({"quiz": "ch05-001", "lang": "en"}, "not a necessary condition"), ({"lang": "en"}, "qz-tags")):
        greeted = loads.fn(SimpleNamespace(**{**vars(VISITOR), "query_params": query}))
        assert text in next(value for part, value in greeted.items() if part.elem_id == "qz-question")


def test_a_conversation_is_exported_with_what_it_cites(page: gr.Blocks):
    exports = [fn.fn for fn in page.fns.values() if getattr(fn.fn, "__name__", "") == "exported"]
    export = next(one for one in exports if one.__module__ == "osrag.ui.chat")
    turn = Turn("What is a page?", "A piece of memory. [1]", " *how*", ("[1] Book · 6.2 · p. 40",))
    name, link = json.loads(export(Conversation((turn,)), "en"))
    text = base64.b64decode(link.split(",")[1]).decode()
    assert name == "osrag.md" and "## What is a page?" in text and text.endswith("- [1] Book · 6.2 · p. 40")
    assert "*how*" not in text and export(Conversation(), "en") == ""


def test_a_thumb_and_a_word_are_kept_where_the_operator_asked_for_them(parts, tmp_path):
    parts = SimpleNamespace(**{**vars(parts), "settings": parts.settings.model_copy(update={"feedback_dir": tmp_path})})
    judged = next(fn.fn for fn in build(parts).fns.values() if getattr(fn.fn, "__name__", "") == "judged")
    state = Conversation((Turn("a", "b"), Turn("c", "d")))
    for liked in (True, "页码不对", "Incomplete", "nothing like it"):
        judged(state, "en", SimpleNamespace(index=3, liked=liked))
    lines = [json.loads(line) for line in (tmp_path / "feedback.jsonl").read_text().splitlines()]
    assert [line["verdict"] for line in lines] == ["good", "wrong_page", "incomplete"]
    assert {line["question"] for line in lines} == {"c"}


def test_what_is_wrong_with_ones_own_question_is_told_in_the_language_of_the_page(page, monkeypatch):
    told: list[str] = []
    monkeypatch.setattr("osrag.ui.quiz.gr.Warning", told.append)
    own = next(fn.fn for fn in page.fns.values() if getattr(fn.fn, "__name__", "") == "own")
    own("zh", QuizState(), "single_choice", "", "", "", "", "")
    own("en", QuizState(), "single_choice", "", "", "", "", "")
    assert told == ["question：是空的", "question: is empty"]


def test_without_a_folder_nothing_is_asked_of_a_visitor(page: gr.Blocks):
    assert not [fn for fn in page.fns.values() if getattr(fn.fn, "__name__", "") == "judged"]
