"""From a request to its events: which source answers, and what is said where one is missing."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from osrag.answer.events import Done, Failed, Said, event_name
from osrag.answer.source import Draft, Question
from osrag.app.metrics import Metrics
from osrag.app.plain import event_json
from osrag.app.route import Router
from osrag.app.run import answer, routed
from osrag.errors import BadIndex
from osrag.evaluate.routing import place_of, placed, rows
from osrag.quiz.bank import shipped_bank
from osrag.quiz.banks import Banks
from osrag.settings import Settings
from osrag.study.limits import Limits
from osrag.types import Chunk, Hit, PageRef, Turn
from tests.fakes import FakeEncoder, ScriptedChat

LOG = (Path(__file__).parents[2] / "examples" / "logs" / "divide-error.txt").read_text(encoding="utf-8")


class Book:
    """A source that finds one passage and quotes it."""

    name, version, judges_passages = "textbook", "", False
    chunk = Chunk("b#1", "From the book.", "b.pdf", PageRef(1, 1, "1"), 0, (), "en")

    def search(self, plan, question):
        return [Hit(self.chunk, 1.0, 0.9, "fusion")]

    def prepared(self, plan, question):
        return None

    def chance_of_prepared(self, plan, question):
        return 0.0

    def usable(self, found, question, *, judged):
        return found

    def thought(self, plan, passages, language):
        return "book"

    def draft(self, question, plan, found, passages, chat):
        return Draft("From the book.", (1,), (Said("From the book.", (1,), True),))


class NoKernel(SimpleNamespace):
    """Parts without a kernel index or a model."""

    metrics = Metrics()

    def in_linux(self, passages, question):
        return ((1, "How Linux does it"),)

    @property
    def kernel(self):
        raise BadIndex("no kernel index at 'index'", hint="build one: python -m osrag build kernel")

    @property
    def textbook(self):
        raise BadIndex("no index at 'index/textbook'", hint="build one: python -m osrag build textbook")

    kernel_source = kernel


@pytest.fixture
def parts():
    checker = FakeEncoder("small")
    shared = {"settings": Settings(), "chat": None, "limits": Limits(), "banks": Banks(), "checker": checker}
    return NoKernel(book_source=Book(), desk=None, **shared)


def kinds(events) -> list[str]:
    return [event_name(event) for event in events]


def test_without_a_kernel_index_the_reply_says_how_to_make_one(parts):
    events = list(answer(parts, Question("调度器怎样选择进程？", source="kernel")))
    assert kinds(events) == ["code_retrieval", "code_description_chunk", "code_done", "done"]
    assert "没有内核索引" in events[-1].text and "`python -m osrag build kernel`" in events[-1].text


def test_without_a_kernel_index_the_book_still_answers_both(parts):
    events = list(answer(parts, Question("How does the scheduler choose?", source="both")))
    assert kinds(events)[:4] == ["retrieval", "answer_chunk", "textbook_done", "code_retrieval"]
    assert isinstance(events[-1], Done) and events[-1].how == "extracts"
    assert events[-1].statements == (Said("From the book.", (1,), True),)
    assert events[-1].text.index("From the book") < events[-1].text.index("Related source code")


class Walked(Book):
    """A kernel with a walk-through for every question."""

    name, version, chunk = "kernel", "6.1.192", replace(Book.chunk, text="Code.")

    def walked(self, plan, question):
        return True

    def draft(self, question, plan, found, passages, chat):
        return Draft("A walk-through.", (2,), ())


def test_what_was_written_for_the_question_comes_before_what_is_put_together(parts, monkeypatch):
    monkeypatch.setattr(NoKernel, "kernel_source", Walked())
    parts.book_source.encoder = SimpleNamespace(name="another")  # with which the router leaves both
    code, text = "How does Linux split a VMA?", "What happens to an orphan?"
    auto, both, open_to_all = (
        list(answer(parts, Question(text, source=source)))[-1].text
        for text, source in ((code, "auto"), (code, "both"), (text, "auto"))
    )
    assert auto.startswith("A walk-through.") and auto.endswith("### What the course book says\n\nFrom the book.")
    assert both.startswith("From the book.")  # who asks for both gets the book first
    assert open_to_all.startswith("From the book.") and "A walk-through." in open_to_all  # so does who names no code


@pytest.mark.parametrize("source", ["textbook", "kernel", "both"])
def test_a_log_is_read_as_one_whatever_the_source(parts, source):
    events = list(answer(parts, Question(LOG, source=source, language="zh")))
    assert kinds(events)[0] == "code_retrieval"
    assert "## 问题分析" in events[-1].text


def test_a_log_may_be_longer_than_a_question(parts):
    assert len(LOG * 3) > parts.settings.max_question_chars
    assert isinstance(list(answer(parts, Question(LOG * 3)))[-1], Done)
    failed = list(answer(parts, Question("why " * 2000)))[-1]
    assert isinstance(failed, Failed) and "4000" in failed.message


def test_the_json_of_an_event_has_the_name_and_the_fields_of_its_source(parts):
    book, code = (
        event_json(next(answer(parts, Question("How does the scheduler choose?", source=source))), 0.25)
        for source in ("textbook", "kernel")
    )
    fields = {"type", "t", "passages", "thought", "queries", "stages"}
    assert set(book) == fields | {"in_linux"} and book["type"] == "retrieval" and book["t"] == 0.25
    assert book["in_linux"] == ((1, "How Linux does it"),)
    assert set(code) == fields | {"version", "path", "marked"} and code["type"] == "code_retrieval"
    assert book["passages"][0]["chunk_id"] == "b#1"


def test_an_exercise_is_computed_and_shows_what_it_was_read_as(parts):
    question = Question("A process has 3 frames. How many page faults do FIFO and LRU have on 7,0,1,2,0,3,0,4?")
    events = list(answer(parts, question))
    done = events[-1]
    assert isinstance(done, Done) and done.how == "computed"
    assert [said.text for said in done.statements] == ["Number of page faults: 7", "Number of page faults: 6"]
    assert "Reference string: 7,0,1,2,0,3,0,4; Frames: 3" in done.text
    assert "(?lab=lru&refs=7,0,1,2,0,3,0,4&frames=3)" in done.text
    assert "(1 more rows" not in done.text and done.text.count("| page | frames | fault | evicted |") == 2
    assert "were not used" not in done.text
    (*_, more) = answer(parts, Question(f"{question.text} The disk has 40 tracks."))
    assert more.text.startswith("Please check: these numbers of the exercise were not used: 40.")


def test_an_exercise_without_a_number_is_asked_for_it_and_nothing_is_assumed(parts):
    events = list(answer(parts, Question("LRU 置换，引用串 1,2,3,4,1,2，缺页几次？")))
    assert events[-1].how == "extracts" and "页框数" in events[0].text and "?lab=lru&refs=1,2,3,4,1,2" in events[0].text


def test_what_the_model_finds_of_an_exercise_is_to_be_checked_and_not_computed(parts):
    text = "LRU on the references 1,2,3,4,1,2; memory has room for 3 of them. How many page faults?"
    parts.chat = ScriptedChat([['{"frames": "3"}']])
    note, *_, done = answer(parts, Question(text))
    assert done.how == "extracts"
    assert "The model reads it as Frames: 3" in note.text and "&frames=3" in note.text


def test_a_question_to_the_kernel_is_no_exercise(parts):
    text = "3 frames, LRU, references 7, 0, 1, 2, 0, 3: how many page faults?"
    assert list(answer(parts, Question(text, source="kernel")))[-1].how == "refused"


class Choosing:
    """A router that always chooses the same."""

    def __init__(self, source):
        self.source, self.asked = source, []

    def choose(self, text, encoder, *, prepared, walked, silent):
        self.asked.append(text)
        return self.source


@pytest.mark.parametrize(
    ("chosen", "first"), [("textbook", "retrieval"), ("both", "retrieval"), ("kernel", "retrieval")]
)
def test_where_the_question_decides_the_book_answers_what_the_kernel_cannot(parts, monkeypatch, chosen, first):
    parts.book_source.encoder = None
    monkeypatch.setattr("osrag.app.run.router", lambda: Choosing(chosen))
    events = list(answer(parts, Question("How does the scheduler choose?", source="auto")))
    assert kinds(events)[0] == first and events[-1].how == "extracts"  # there is no kernel index here


def test_the_source_of_a_follow_up_is_chosen_by_the_whole_question(parts, monkeypatch):
    chooses = Choosing("textbook")
    parts.book_source.encoder = None
    monkeypatch.setattr("osrag.app.run.router", lambda: chooses)
    turns = (Turn("What is a semaphore?", "A counter."),)
    list(answer(parts, Question("Why is it needed?", source="auto", history=turns)))
    assert "semaphore" in chooses.asked[0]


# As the words sound, a name of code, a prepared answer and a walk-through weigh.
WEIGHTS = {"sound": 1.0, "name": 1.0, "linux": 0.5, "code": 0.0, "prepared": -0.5, "walked": 2.5, "bias": 0.0}


def ways(*told: str):
    """What `Router.choose` may ask, and what of it was asked."""
    asked: list[str] = []

    def way(name: str):
        return lambda: asked.append(name) or name in told

    return asked, {name: way(name) for name in ("prepared", "walked", "silent")}


@pytest.mark.parametrize(
    ("sound", "text", "told", "source"),
    [
        (1.5, "What does it check?", (), "kernel"),
        (-1.0, "What does it check?", (), "textbook"),
        (-0.7, "What does it check?", (), "both"),  # an answer too many costs less than the wrong one alone
        (-1.0, "What does it check?", ("walked",), "kernel"),  # a walk-through covers it
        (0.0, "What does it check?", (), "both"),
        (0.0, "What does do_exit() check?", (), "kernel"),
        (0.3, "How does Linux choose?", (), "kernel"),
        (0.1, "How does Linux choose?", ("prepared",), "both"),
        (-2.5, "How does it choose?", ("walked",), "both"),
    ],
)
def test_how_a_question_sounds_and_what_is_written_decide_together(monkeypatch, sound, text, told, source):
    monkeypatch.setattr(Router, "sound", lambda *_: sound)
    _, own = ways(*told)
    assert Router("fake", None, 0.0, WEIGHTS).choose(text, FakeEncoder(), **own) == source


@pytest.mark.parametrize(("sound", "wanted"), [(9.0, []), (-9.0, []), (0.0, ["walked", "prepared", "silent"])])
def test_what_cannot_change_the_choice_is_not_asked(monkeypatch, sound, wanted):
    monkeypatch.setattr(Router, "sound", lambda *_: sound)
    asked, own = ways()
    Router("fake", None, 0.0, WEIGHTS).choose("How is a victim chosen?", FakeEncoder(), **own)
    assert asked == wanted


def test_where_only_the_kernel_has_an_answer_it_speaks(monkeypatch):
    monkeypatch.setattr(Router, "sound", lambda *_: -0.7)
    _, own = ways("silent")
    assert Router("fake", None, 0.0, WEIGHTS).choose("How is a victim chosen?", FakeEncoder(), **own) == "kernel"


class FindsNothing(Book):
    """A kernel that refuses every question."""

    def usable(self, found, question, *, judged):
        return []


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("What does pthread_cond_signal do?", "textbook"),  # the page of the book names it
        ("What does usb_submit_urb do?", "kernel"),
        ("What does the kernel do?", "kernel"),  # its refusal says what is not there
        ("What does a hypervisor do?", "textbook"),
    ],
)
def test_the_book_answers_for_what_it_alone_knows(text, source):
    book = Book()
    book.chunk = replace(Book.chunk, text="pthread_cond_signal wakes a waiter.")
    there = SimpleNamespace(book_source=book, kernel_source=FindsNothing(), desk=None)
    book.encoder = None
    assert routed(there, Question(text, source="auto"), by=Choosing("kernel")).source == source


def test_a_log_and_an_exercise_are_known_by_their_form_and_the_rest_is_chosen(parts):
    parts.book_source.encoder = None
    wanted = {
        LOG: "log",
        "3 frames, LRU, references 7, 0, 1, 2, 0, 3: how many page faults?": "lab",
        "Why fork?": "both",
    }
    assert {text: place_of(parts, text, Choosing("both")) for text in wanted} == wanted


def test_a_question_for_both_is_right_only_where_both_answer(parts):
    parts.book_source.encoder = None
    asked = placed(["What is fork, and how does Linux do it?"], "both")
    right, wrong = (next(rows(parts, asked, by=Choosing(source))).scores for source in ("both", "kernel"))
    assert right == {"right": (1, 1), "both": (0, 1), "wrong_source": (0, 1)}
    assert wrong == {"right": (0, 1), "both": (0, 1), "wrong_source": (1, 1)}


def test_an_exercise_is_computed_where_the_question_decides(parts):
    text = "3 frames, LRU, references 7, 0, 1, 2, 0, 3: how many page faults?"
    assert list(answer(parts, Question(text, source="auto")))[-1].how == "computed"


def test_an_exercise_that_is_kept_back_gets_a_hint_and_the_way_to_the_quiz(parts):
    item = shipped_bank().get("ch05-001/en")
    parts.limits.switch("hints")
    parts.judge = None  # a prepared hint needs none
    *_, done = answer(parts, Question(f"{item.question} A, B, C or D?"))
    assert item.hint.ask in done.text and "(?quiz=ch05-001)" in done.text and done.how == "refused"
    parts.limits.switch("off")
    *_, done = answer(parts, Question(item.question))
    assert item.hint.ask not in done.text and "switched hints" in done.text
