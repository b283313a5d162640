"""An answer put together along the call graph: its set of functions, their lines, what it does not know."""

import json
from pathlib import Path

import pytest

from osrag.answer.events import NO_PATH, Retrieved, SourceDone, Token
from osrag.answer.source import Question
from osrag.answer.workflow import answer
from osrag.evaluate.figures import plain
from osrag.evaluate.kernel_sets import SetQuestion, has_sets, read_sets, rows
from osrag.kernel.build import build_kernel
from osrag.kernel.code import all_lines
from osrag.kernel.compose import Composer
from osrag.kernel.deciding import OF_LINE, deciding_lines
from osrag.kernel.grow import LINKED, OF_WALKS, OWN, fitted
from osrag.kernel.reading_path import with_calls
from osrag.kernel.search import KernelSearch
from osrag.kernel.source import KernelSource
from osrag.kernel.walk_match import Told
from osrag.types import Passage
from tests.fakes import FakeEncoder

MAKEFILE = "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 192\nEXTRAVERSION =\n"
ALARM = """\
/* Alarms that ring after a while. */

/* Ring an alarm: wake who waits for it. */
static void alarm_ring(struct timer_list *timer)
{
	struct alarm *alarm = from_timer(alarm, timer, timer);

	if (alarm->owner &&
		!alarm->silent) {
		alarm_wake_owner(alarm);
	}
}

static void alarm_wake_owner(struct alarm *alarm)
{
	alarm->rung = true;
	ring_bell(alarm->owner);
}

static void alarm_drop(struct alarm *alarm)
{
	free_bell(alarm);
}

/* Set an alarm: it rings after a while. */
int alarm_set(struct alarm *alarm, int ms)
{
	int err;

	err = alarm_check(alarm);
	if (err) {
		alarm_drop(alarm);
		return -EINVAL;
	}
	timer_setup(&alarm->timer, alarm_ring, 0);
	LOCK_CONTENDED(alarm, alarm_lock);
	alarm->ops->start(alarm, ms);
	return 0;
}

static void alarm_lock(struct alarm *alarm)
{
	alarm->locked = 1;
}

static int alarm_check(struct alarm *alarm)
{
	return alarm->owner ? 0 : -1;
}

static void soft_start(struct alarm *alarm, int ms)
{
	mod_timer(&alarm->timer, ms);
}

static const struct alarm_ops soft_ops = {
	.start = soft_start,
};
"""
# The same on a machine of another kind; it comes first in the alphabet.
SMALL = "int egg_boil(struct alarm *alarm)\n{\n\t/* no\n\t * time\n\t * at\n\t * all */\n\treturn 0;\n}\n"
BREAKFAST = "int breakfast(void)\n{\n\treturn egg_boil(0);\n}\n"
STUB = "static inline int alarm_check(struct alarm *alarm)\n{\n\treturn 0;\n}\n"
USE = "/* Boil an egg. */\nint egg_boil(struct alarm *alarm)\n{\n\treturn alarm_check(alarm);\n}\n"
FILES = {
    "Makefile": MAKEFILE,
    "kernel/alarm.c": ALARM,
    "kernel/a_stub.h": STUB,
    "kernel/egg.c": USE,
    "kernel/cold/tiny.c": SMALL,
    "kernel/cold/meal.c": BREAKFAST,
}


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> KernelSearch:
    base: Path = tmp_path_factory.mktemp("kernel")
    for name, text in FILES.items():
        path = base / "tree" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    build_kernel(base / "index", base / "tree", ["kernel"], FakeEncoder(), cache_dir=base / "cache")
    return KernelSearch(base / "index", FakeEncoder())


def row(search: KernelSearch, name: str) -> int:
    return search.store.functions_named(name)[0]


def names(search: KernelSearch, rows: list[int]) -> list[str]:
    return [search.store.names[one] for one in rows]


def test_pointers_are_found_in_tables_and_where_they_are_handed_on(search):
    graph = search.graph
    assert set(names(search, graph.pointed_to(row(search, "alarm_set")))) == {"alarm_ring", "alarm_lock", "soft_start"}
    assert graph.kind(row(search, "alarm_set"), row(search, "alarm_lock")) == "macro"
    assert names(search, graph.pointing(row(search, "alarm_ring"))) == ["alarm_set"]
    assert graph.kind(row(search, "alarm_set"), row(search, "alarm_ring")) == "timer"
    assert graph.kind(row(search, "alarm_set"), row(search, "soft_start")) == "pointer"


def test_a_call_in_a_block_that_gives_up_is_told_apart(search):
    targets = [row(search, name) for name in ("alarm_check", "alarm_drop")]
    assert names(search, list(search.graph.failing(row(search, "alarm_set"), targets))) == ["alarm_drop"]


def test_what_stands_in_for_code_that_is_not_configured_is_not_meant(search):
    """`add_to_swap` of a header, which does nothing, was taken for the real one."""
    (called,) = search.graph.callees(row(search, "egg_boil"))
    assert search.store.file_name(called) == "kernel/alarm.c"


def test_of_two_functions_of_one_name_that_of_most_machines_is_meant(search):
    (called,) = search.graph.callees(row(search, "breakfast"))
    assert search.store.file_name(called) == "kernel/egg.c"
    text, _, _ = run(search, "What does egg_boil do?")
    assert "kernel/egg.c:" in text and "Functions of this name are also in `kernel/cold/tiny.c`." in text


def test_the_path_has_what_the_lines_that_are_shown_call(search):
    chunk = search.store.chunk(row(search, "alarm_set"))
    number = next(line.number for line in all_lines(chunk) if "alarm_check" in line.text)
    passage = [Passage(1, chunk, 1.0, 0.9)]
    likely = {"alarm_check", "alarm_drop"}
    assert with_calls(NO_PATH, [(1, (number,))], passage, search.graph, likely).edges == (("alarm_set", "alarm_check"),)
    assert with_calls(NO_PATH, [(1, (number - 1,))], passage, search.graph, likely).edges == ()
    assert with_calls(NO_PATH, [(1, (number,))], passage, search.graph, {"alarm_drop"}).edges == ()


def test_the_set_grows_to_what_the_best_hit_reaches(search):
    found = search.search("How does alarm_set work?", k=1)
    assert [hit.chunk.name for hit in found.hits] == ["alarm_set"]
    assert {"alarm_set", "alarm_check", "alarm_ring", "soft_start"} <= {hit.chunk.name for hit in found.grown}
    assert [hit.score for hit in found.grown] == sorted((hit.score for hit in found.grown), reverse=True)


def test_the_fitted_numbers_are_those_of_the_features():
    own, *later = (len(stage["weights"]) for stage in fitted()["functions"])
    assert own == len(OWN) and later == [len(OWN) + len(LINKED)] * 2
    assert len(fitted()["lines"]["weights"]) == len(OF_LINE) and len(fitted()["walks"]["weights"]) == len(OF_WALKS)


def test_a_deciding_line_stands_under_its_whole_condition(search):
    chunk = search.store.chunk(row(search, "alarm_ring"))
    lines = deciding_lines(chunk, "who is woken?", {"alarm_wake_owner"}, search.store, most=1)
    assert [line.text.strip() for line in lines] == [
        "static void alarm_ring(struct timer_list *timer)",
        "if (alarm->owner &&",
        "!alarm->silent) {",
        "alarm_wake_owner(alarm);",
    ]
    file = ALARM.split("\n")
    assert all(file[line.number - 1] == line.text for line in lines)


def test_a_function_that_the_question_names_is_shown_with_its_neighbours(search):
    text, _, _ = run(search, "What does alarm_set do?")
    assert "Set an alarm: it rings after a while. Calls `alarm_check`." in text  # not what runs when the check failed


def run(search: KernelSearch, question: str):
    events = list(answer(KernelSource(search), Question(question), None))
    shown = [event for event in events if isinstance(event, Retrieved)][-1]
    return "".join(event.text for event in events if isinstance(event, Token)), shown, events[-1]


def test_an_answer_is_composed_in_the_order_of_the_calls(search):
    text, shown, done = run(search, "What does alarm_set do to set an alarm?")
    assert isinstance(done, SourceDone) and done.how == "composed"
    assert text.index("[`alarm_set`]") < text.index("[`alarm_ring`]")
    assert "*Not called directly: `alarm_set` leads here by a timer.* [`alarm_ring`]" in text
    assert ("alarm_set", "alarm_ring", "timer") in shown.path.indirect
    assert ("alarm_set", "alarm_drop") not in shown.path.edges  # only where something failed
    assert "Nothing in the index calls `alarm_set`" in text  # what the graph does not know is said
    assert {one.passages[0] for one in done.statements} <= set(done.cited)


def test_a_condition_in_chinese_ends_its_emphasis(search):
    told = {"alarm_set": Told("装入定时器。", "设置了闹钟", "kernel/alarm.c", ())}
    composer = Composer("闹钟", frozenset(), told, search.graph, "zh")
    passage = Passage(1, search.store.chunk(row(search, "alarm_set")), 0.5, 0.5)
    assert "*条件：设置了闹钟。* 装入定时器。" in composer.part(passage, frozenset()).said


def test_sets_are_measured_on_the_answer_that_is_shown(search, tmp_path):
    one = {
        "id": "s1", "language": "en", "question": "What does alarm_set do to set an alarm?", "kind": "detail",
        "functions": ["alarm_set", "alarm_ring", "lost"], "steps": ["alarm_set⇢alarm_ring", "alarm_ring→lost"],
        "points": ["Set an alarm: it rings after a while.", "Bananas are yellow and grow in the south."],
        "lines": {"alarm_set": ["timer_setup(&alarm->timer, alarm_ring, 0);"], "lost": ["x = 1;"]},
    }  # fmt: skip
    file = tmp_path / "sets.jsonl"
    file.write_text(json.dumps(one, ensure_ascii=False), encoding="utf-8")
    assert has_sets(file) and not has_sets(tmp_path / "none")
    (question,) = read_sets(file)
    assert isinstance(question, SetQuestion) and not question.held_out
    (row,) = rows(KernelSource(search), FakeEncoder(), [question])
    told = row.note
    assert (told["functions"], told["edges"], told["lines"]) == (pytest.approx(2 / 3), 0.5, 0.5)
    assert told["no_function"] == ["lost"] and told["no_line"] == ["lost: x = 1;"]
    assert plain([row])["composed"]["n"] == 1 and told["how"] == "composed"
