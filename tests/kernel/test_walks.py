"""Walk-throughs: read, held against an index, found for a question, and answered without a model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from osrag.answer.events import Retrieved, SourceDone, Token
from osrag.answer.plan import plan_by_rule
from osrag.answer.source import Draft, Question
from osrag.answer.workflow import answer
from osrag.app.parts import Parts
from osrag.cli import main
from osrag.index.manifest import drop_collection, read_manifest
from osrag.kernel.build import build_kernel, copies_of
from osrag.kernel.compose import Composer
from osrag.kernel.search import KernelSearch
from osrag.kernel.source import KernelSource
from osrag.kernel.walk_answer import part, walk_path, when_text
from osrag.kernel.walk_index import FOLDER, build_walks, titles_by_section
from osrag.kernel.walks import Both, bind, places, read_walks
from osrag.settings import Settings
from osrag.types import Chunk, CodeHit, PageRef, Passage
from tests.fakes import FakeEncoder, ScriptedChat
from tests.kernel.tree import FILES, write_tree

WALK = """
[[walk]]
id = "switch"
section = "3.1"
title = { zh = "调度怎样选出并切换任务", en = "How schedule picks a task and switches" }
questions = { zh = ["怎样切换任务？", "schedule 做什么？", "谁选下一个任务？"], en = [
    "How is a task switched to?", "What happens in schedule?", "Who picks the next task?",
] }

[[walk.step]]
function = "try_to_wake_up"
file = "kernel/sched/core.c"
lines = ["resched_curr(p->rq);"]
say = { zh = "唤醒后要求重新调度。", en = "After the wakeup it asks for rescheduling." }
edge = { kind = "start", by = "wake_up_process()" }

[[walk.step]]
function = "schedule"
file = "kernel/sched/core.c"
lines = ["struct task_struct *next = pick_next_task( this_rq());", "context_switch(next);"]
say = { zh = "选出下一个任务并切换。", en = "It picks the next task and switches." }
when = { zh = "当前任务要让出", en = "when the current task gives way" }
edge = { kind = "wakeup", from = "try_to_wake_up", at = "resched_curr(p->rq);" }

[[walk.step]]
function = "fair_pick"
file = "kernel/sched/fair.c"
lines = ["return rb_first(rq);"]
say = { zh = "取红黑树最左的任务。", en = "It takes the leftmost task of the tree." }
edge = { kind = "call", from = "pick_next_task" }

[[walk.step]]
function = "context_switch"
file = "kernel/sched/core.c"
lines = ["switch_to(next);"]
say = { zh = "切换寄存器。", en = "It switches the registers." }
edge = { kind = "call", from = "schedule" }
"""
PAGE = Chunk("b#1", "Scheduling.", "os-course-en.pdf", PageRef(9, 9, "1"), 0, ("3 CPU", "3.1 Scheduling"), "en")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base: Path = tmp_path_factory.mktemp("kernel")
    build_kernel(base / "index", write_tree(base / "tree"), ["kernel", "mm"], FakeEncoder(), cache_dir=base / "cache")
    return base


def walks_of(base: Path, text: str):
    """What a build says about a file with this text."""
    file = base / "some.toml"
    file.write_text(text, encoding="utf-8")
    return build_walks(base / "index", [file], FakeEncoder(), cache_dir=base / "cache")


def test_a_build_embeds_only_what_is_new(built, tmp_path):
    assert walks_of(built, WALK).warnings == ()
    encoder, file = FakeEncoder(), built / "some.toml"
    file.write_text(WALK.replace("It switches the registers.", "It loads the next stack."), encoding="utf-8")
    build_walks(built / "index", [file], encoder, cache_dir=tmp_path)  # on a machine with an empty cache
    assert encoder.embedded == ["context_switch: It loads the next stack."]


@pytest.fixture
def search(built: Path) -> KernelSearch:
    assert walks_of(built, WALK).warnings == ()
    return KernelSearch(built / "index", FakeEncoder())


def run(search, text: str, chat=None, **more):
    source = KernelSource(search, lambda section, language: PAGE if section == "3.1" else None)
    return list(answer(source, Question(text, **more), chat))


def test_a_step_is_bound_to_the_true_lines_of_its_function(search, built):
    (walk,) = read_walks(built / "some.toml").walks
    bound, faults = bind(walk, search.store)
    assert not faults
    file = FILES["kernel/sched/core.c"].split("\n")
    assert [file[line - 1].strip() for line in bound.steps[1].lines] == [
        "struct task_struct *next = pick_next_task(this_rq());",
        "context_switch(next);",
    ]


def test_a_line_that_occurs_twice_is_sought_after_the_one_before(search):
    chunk = search.store.chunk(search.store.functions_named("schedule")[0])
    chunk = replace(chunk, text="void f(void)\n{\n\tg();\n\th();\n\tg();\n}\n")
    first = chunk.where.first
    assert places(chunk, ["g();"]) == (first + 2,)
    assert places(chunk, ["h();", "g();"]) == (first + 3, first + 4)
    assert places(chunk, ["gone();", "h();"]) == (first + 3,)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"fair_pick"', '"fair_select"', "step 3, fair_select: not in kernel/sched/fair.c; the index has fair_pick"),
        ('file = "kernel/sched/fair.c"', 'file = "kernel/sched/rt.c"', "the index has kernel/sched/fair.c"),
        ("return rb_first(rq);", "return rb_last(rq);", "has no line 'return rb_last(rq);'"),
        ('from = "pick_next_task"', 'from = "context_switch"', "context_switch does not call it"),
        ('from = "pick_next_task"', 'from = "gone"', "is reached from 'gone', which the index does not have"),
        (', at = "resched_curr(p->rq);"', "", "an edge of kind wakeup says at"),
        ('kind = "wakeup"', 'kind = "magic"', "walk: switch: step.1.edge.kind"),
        ("[[walk]]", "[[walk", "some.toml: "),
    ],
)
def test_what_does_not_hold_is_left_out_by_name_and_the_rest_works(built, right, wrong, said):
    other = WALK.replace('"switch"', '"other"').replace("switches", "goes on")
    report = walks_of(built, WALK.replace(right, wrong, 1) + (other if right != "[[walk]]" else ""))
    assert report.walks == (1 if right != "[[walk]]" else 0)
    assert said.replace("walk: ", "") in " ".join(report.warnings)


def test_walks_of_a_folder_that_the_index_lacks_are_counted_in_one_sentence(built):
    elsewhere = WALK.replace('file = "kernel/sched/fair.c"', 'file = "block/bio.c"')
    report = walks_of(built, elsewhere + elsewhere.replace('"switch"', '"other"'))
    assert report.warnings == ("2 walk-throughs are left out: they need block/, which the index does not have",)


def test_a_file_of_proc_that_a_walk_speaks_of_is_not_missing(built):
    asked = "What happens after 1 is written to /proc/sys/kernel/switch_now?"
    assert [one.what for one in KernelSearch(built / "index", FakeEncoder()).search(asked).missing] == ["switch_now"]
    walks_of(built, WALK.replace("Who picks the next task?", "What does /proc/sys/kernel/switch_now do?"))
    assert KernelSearch(built / "index", FakeEncoder()).search(asked).missing == ()


def test_its_own_question_gets_the_walk_at_once_and_no_model_is_asked(search):
    chat = ScriptedChat([["never said"]])
    events = run(search, "how is a task switched to", chat, effort="deep")
    done, found = events[-1], [event for event in events if isinstance(event, Retrieved)][-1]
    text = "".join(event.text for event in events if isinstance(event, Token))
    assert isinstance(done, SourceDone) and done.how == "prepared" and not chat.asked
    assert text.startswith("**How schedule picks a task and switches** (Linux 6.1.192")
    assert text.index("**1.** *Entered from wake_up_process().*") < text.index("**2.** *Reached by a wakeup, line ")
    assert "*When the current task gives way:* [`schedule`](https://elixir" in text
    line = FILES["kernel/sched/fair.c"].split("\n").index("\treturn rb_first(rq);") + 1
    assert f"/* kernel/sched/fair.c:{line} */\n    return rb_first(rq);" in text
    assert [said.passages for said in done.statements] == [(1,), (2,), (3,), (4,)]
    assert done.statements[1].text == "when the current task gives way: It picks the next task and switches."
    assert line in dict(found.marked)[3]
    assert "3.1 Scheduling [5]" in text and found.passages[4].chunk is PAGE


def test_what_enters_a_walk_is_said_in_the_language_of_the_question(built):
    walks_of(built, WALK.replace('by = "wake_up_process()"', 'by = { zh = "驱动的代码", en = "code of a driver" }'))
    search = KernelSearch(built / "index", FakeEncoder())
    for question, said in (
        ("怎样切换任务？", "*入口：驱动的代码。*"),
        ("How is a task switched to?", "*Entered from code of a driver.*"),
    ):
        assert said in "".join(event.text for event in run(search, question) if isinstance(event, Token))


def test_the_path_has_the_steps_and_what_lies_between_and_marks_what_is_no_call(search):
    events = run(search, "How is a task switched to?")
    path = [event for event in events if isinstance(event, Retrieved)][-1].path
    assert [(step.name, step.depth, step.via, step.kind) for step in path.steps] == [
        ("try_to_wake_up", 0, (), "call"),
        ("schedule", 1, (), "wakeup"),
        ("fair_pick", 2, ("pick_next_task",), "call"),
        ("context_switch", 2, (), "call"),
    ]
    assert path.indirect == (("try_to_wake_up", "schedule", "wakeup"),)
    assert {("schedule", "pick_next_task"), ("pick_next_task", "fair_pick")} <= {*path.edges}
    assert "- ⇢ a wakeup [`schedule`]" in events[-1].text


def test_of_two_things_that_a_question_joins_the_one_that_is_not_indexed_is_named_and_the_other_told(search):
    done = run(search, "How is a task or timerfd switched to?")[-1]
    assert done.how == "prepared" and "timerfd is not in the index" in done.text


def test_a_walk_that_answers_is_given_although_the_question_speaks_of_a_program(built, search):
    sure = KernelSearch(built / "index", FakeEncoder(), pairs=Says(300))
    hows = [run(sure, f"{OTHER_WORDS} In {where}")[-1].how for where in ("docker", "ext4", "Windows")]
    assert hows == ["prepared", "refused", "refused"]


def test_the_reply_is_in_the_language_of_the_question(search):
    text = run(search, "谁选下一个任务？")[-1].text
    assert (
        when_text("mmap 之后", "zh") == "条件：mmap 之后。" and when_text("mmap is called", "en") == "Mmap is called:"
    )
    assert "*条件：当前任务要让出。*" in text and "取红黑树最左的任务。" in text


class Says:
    """A pair encoder that says the same of every text."""

    def __init__(self, log_odds: float) -> None:
        self.log_odds = log_odds

    def scores(self, text, others):
        return np.full(len(others), self.log_odds, np.float32)


OTHER_WORDS = "Who picks the next task that schedule switches to?"


def test_a_question_that_names_functions_gets_their_steps_what_they_lead_to_and_one_before(search):
    found = search.with_walk(search.search("Who picks the next task?")).walk
    numbers = {chunk.id: number for number, chunk in enumerate(found.bound.functions.values(), start=1)}
    path = walk_path(found.bound, numbers, search.store)
    assert part(found, path) == [0, 1, 2, 3]
    assert part(replace(found, named=frozenset({"schedule"})), path) == [0, 1, 2, 3]  # the title names it
    assert part(replace(found, named=frozenset({"fair_pick"})), path) == [1, 2]
    assert part(replace(found, named=frozenset({"try_to_wake_up"})), path) == [0, 1, 2, 3]  # which lead to all


def test_a_part_leads_to_the_whole_by_its_title(built, search):
    text = WALK.replace("What happens in schedule?", "What happens in context_switch?")
    assert walks_of(built, text).warnings == ()
    told = run(search, "What happens in context_switch?")[-1].text
    assert "These are the 2 steps of 4 that the question is about." in told
    assert "[How schedule picks a task and switches](#walk)" in told and "**4.** [`context_switch`]" in told
    assert "that the question is about" not in run(search, "How schedule picks a task and switches")[-1].text


def test_a_question_in_other_words_gets_the_walk_where_the_pair_encoder_agrees(built, search):
    how = {
        odds: run(KernelSearch(built / "index", FakeEncoder(), pairs=Says(odds)), OTHER_WORDS)[-1].how
        for odds in (300, -300)
    }
    assert how == {300: "prepared", -300: "refused"}
    assert run(search, OTHER_WORDS)[-1].how == "refused"  # without a pair encoder


def test_an_answer_without_a_walk_leads_to_the_nearest(built, search, monkeypatch):
    monkeypatch.setattr("osrag.kernel.walk_match.LIKELY", 2.0)
    near = KernelSearch(built / "index", FakeEncoder(), pairs=Says(300))
    far = KernelSearch(built / "index", FakeEncoder(), pairs=Says(-300))
    for text, how in ((OTHER_WORDS, "refused"), ("What does pick_next_task do?", "composed")):
        done = run(near, text)[-1]
        assert done.how == how and "The nearest walk-through: [How schedule picks" in done.text
        assert "The nearest walk-through" not in run(far, text)[-1].text


def test_a_walk_that_is_only_likely_is_told_as_such_and_the_functions_found_follow(built, search, monkeypatch):
    monkeypatch.setattr("osrag.kernel.walk_match.SURE", 2.0)
    near = KernelSearch(built / "index", FakeEncoder(), pairs=Says(300))
    question = Question("What does do_anonymous_page do when a task is switched to?")
    done = run(near, question.text)[-1]
    assert done.how == "composed" and "may not be all that is meant" in done.text
    order = ["[`schedule`]", "**Also concerned**", "[`do_anonymous_page`]"]
    assert sorted(order, key=done.text.index) == order
    assert not KernelSource(near).walked(plan_by_rule(question.text, ()), question)


def test_beside_a_walk_stands_only_what_a_call_joins_with_it(search):
    def of(name: str, score: float) -> Passage:
        return Passage(1, search.store.chunk(search.store.functions_named(name)[0]), score, score)

    composer = Composer("asked", frozenset(), {}, search.graph, "en")
    draft = Draft("", (), how="prepared")
    own = [of("schedule", 1.0)]
    others = [of("do_anonymous_page", 0.9), of("pick_next_task", 0.6)]
    lead = composer.beside(draft, own, others, sure=True).lead
    assert "pick_next_task" in lead and "do_anonymous_page" not in lead
    assert "do_anonymous_page" in composer.beside(draft, own, others, sure=False).lead


def test_beside_a_walk_a_call_that_joins_counts_more_than_a_little_more_chance(search):
    def hit(name: str, chance: float) -> CodeHit:
        return CodeHit(search.store.chunk(search.store.functions_named(name)[0]), chance, chance, "graph")

    functions = {"schedule": hit("schedule", 1.0).chunk}
    grown = (hit("do_anonymous_page", 0.3), hit("context_switch", 0.2))
    order = KernelSource(search)._joined_first(grown, functions)
    assert [one.chunk.name for one in order] == ["context_switch", "do_anonymous_page"]


def test_another_question_is_searched_as_before(search):
    done = run(search, "What does do_anonymous_page allocate?")[-1]
    assert done.how == "composed" and "do_anonymous_page" in done.text


def test_the_nearest_walks_speak_for_their_functions(search):
    near = search.near.near(search.encoder.queries(["It takes the leftmost task of the tree."])[0])
    names = {search.store.names[row] for row in near.rows}
    assert names == {"try_to_wake_up", "schedule", "fair_pick", "context_switch"}
    assert search.store.names[max(near.said, key=near.said.__getitem__)] == "fair_pick"


def test_an_index_without_walks_answers_as_before(built):
    drop_collection(built / "index" / FOLDER)
    search = KernelSearch(built / "index", FakeEncoder())
    assert run(search, "How is a task switched to?")[-1].how == "composed"
    assert titles_by_section(built / "index") == {}


def test_walks_of_another_kernel_version_are_not_answered(built, search):
    changed = {**FILES, "kernel/sched/fair.c": FILES["kernel/sched/fair.c"].replace("rb_first", "rb_next")}
    tree = write_tree(built / "newer", changed)
    build_kernel(built / "index", tree, ["kernel"], FakeEncoder(), cache_dir=built / "cache")
    assert run(search, "How is a task switched to?")[-1].how == "composed"
    build_kernel(built / "index", built / "tree", ["kernel"], FakeEncoder(), cache_dir=built / "cache")
    assert run(search, "How is a task switched to?")[-1].how == "prepared"


def test_a_copy_for_another_encoder_has_the_walks(built, search, tmp_path):
    new = FakeEncoder(name="new", revision="new-1", dim=48)
    place = copies_of(built / "index", tmp_path).make(new, lambda *_: None)
    assert read_manifest(place / FOLDER).encoder == new.id
    assert run(KernelSearch(place, new), "How is a task switched to?")[-1].how == "prepared"


def test_the_command_adds_walks_to_an_index_and_names_what_is_wrong(built, monkeypatch, capsys):
    monkeypatch.setenv("OSRAG_CACHE_DIR", str(built / "cache"))
    monkeypatch.setattr("osrag.models.load.load_encoder", lambda *_: FakeEncoder())
    file = built / "walks.toml"
    file.write_text(WALK + WALK.replace('"switch"', '"old"').replace("rb_first", "rb_gone"), encoding="utf-8")
    out = ["build", "kernel", "--out", str(built / "index")]
    assert main([*out, "--walks", str(file)]) == 0
    said = capsys.readouterr()
    assert said.out == "walk-throughs: 1 with 4 steps, 1 left out\n"
    assert "walks.toml: old: step 3, fair_pick: has no line 'return rb_gone(rq);'" in said.err
    assert main([*out, "--walks", str(built / "nowhere")]) == 1
    assert [one.en for one in titles_by_section(built / "index")["3.1"]] == ["How schedule picks a task and switches"]


def test_a_page_of_the_course_book_leads_to_the_walk_that_is_nearest_to_the_question():
    def both(text):
        return Both(zh=text, en=text)

    parts = Parts(Settings())
    titles = {"3.1": [both("How the idle loop waits"), both("How schedule picks a task"), both("How a task yields")]}
    parts.__dict__["walk_titles"] = titles
    passages = [Passage(3, PAGE, 1.0, 0.9), Passage(4, replace(PAGE, source="another.pdf"), 1.0, 0.9)]
    assert parts.in_linux(passages, Question("Which task does the scheduler pick?")) == (
        (3, "How schedule picks a task"),
    )
    assert parts.in_linux(passages, Question("What is a semaphore?")) == ()
