"""Passages cut into lines that keep their place, and answers put together from them."""

from collections.abc import Sequence

import numpy as np
import pytest

from osrag.book.answers import Near, PreparedAnswer
from osrag.book.compose import DOUBT, FEW, UNREAD_COST, Choice, Composer, parts_of
from osrag.book.lines import Line, lines_of, statements_of
from osrag.book.selector import Selector, found_by, signals
from osrag.types import Chunk, PageRef, Passage, PreparedRow
from tests.fakes import FakeEncoder


class TakesAll(Selector):
    """Finds every line worth saying."""

    def scores(self, seen: np.ndarray) -> np.ndarray:
        return np.ones(len(seen), np.float32)


class TakesNone(Selector):
    """Finds no line worth saying."""

    def scores(self, seen: np.ndarray) -> np.ndarray:
        return np.zeros(len(seen), np.float32)


def passage(number: int, text: str, position: int | None = None, subcategory: str = "") -> Passage:
    place = number * 10 if position is None else position
    chunk = Chunk(
        f"book.pdf#p{place}",
        text,
        "book.pdf",
        PageRef(1, 1, "1"),
        place,
        ("5 Deadlock",),
        "en",
        subcategory=subcategory,
    )
    return Passage(number, chunk, 1.0, 0.8)


FIRST = (
    "Four conditions hold whenever a deadlock occurs, and they are the following ones:\n\n"
    "1. Mutual exclusion: only one thread uses the resource.\n\n2. Hold and wait: a thread holds one and waits."
)
PITFALL = (
    "Pitfall\n\n“A program that does not answer is in a deadlock.” It may wait for a slow disk as well.\n\n"
    "A deadlock is a property of a group of threads. It does not end by itself, whatever happens outside."
)


def test_a_list_is_one_group_with_the_line_that_announces_it() -> None:
    lines = lines_of([passage(1, FIRST)])
    assert len({line.group for line in lines}) == 1 and lines[0].group >= 0
    assert all(line.quotable for line in lines)


NESTED = (
    "• User threads: the kernel does not know of them.\n\n"
    "  • Good: a switch needs no call of the kernel.\n\n  • Bad: one that blocks stops all of its process.\n\n"
    "• Kernel threads: the kernel schedules each by itself."
)


def test_an_item_of_a_nested_list_is_read_with_those_around_it() -> None:
    lines = lines_of([passage(1, NESTED)])
    assert [(line.level, line.parent, line.under) for line in lines] == [
        (0, -1, ""),
        (1, 0, "User threads"),
        (1, 0, "User threads"),
        (0, -1, ""),
    ]
    assert lines[1].in_context == "User threads: • Good: a switch needs no call of the kernel."


def test_a_list_over_two_passages_was_found_by_the_better_one() -> None:
    first, rest = NESTED.split("\n\n", 1)
    cut = [passage(2, f"{first}\n\n  • Known to the library only.", 1), passage(1, rest, 2)]
    assert found_by(lines_of(cut), {1: 1, 2: 2}) == [1] * 5
    flat = [passage(2, FIRST, 1), passage(1, "3. No preemption: nobody takes it away.\n\nIt is rare.", 2)]
    assert found_by(lines_of(flat), {1: 1, 2: 2}) == [1, 1, 1, 1, 1]
    apart = [passage(2, "A thread runs. It has a stack of its own.", 1), passage(1, "A process has threads in it.", 2)]
    assert found_by(lines_of(apart), {1: 1, 2: 2}) == [2, 2, 1]


def test_a_paragraph_of_an_item_belongs_to_it_without_a_full_stop_too() -> None:
    told = NESTED.replace("\n\n• Kernel", "\n\nmany user threads share one kernel thread\n\n• Kernel")
    lines = lines_of([passage(1, told)])
    assert lines[3].text.startswith("many user") and lines[3].parent == 2 and lines[3].bridges


@pytest.mark.parametrize(
    ("scores", "told"),
    [([0.5, 0.5, 0.5, 0.1], [0, 1, 2]), ([0.5, 0.0, 0.5, 0.0], [0, 2]), ([0.0, 0.5, 0.0, 0.0], [0, 1])],
    ids=["an item with what lies under it", "without what is aside", "behind what it belongs to"],
)
def test_of_a_nested_list_a_branch_is_taken(scores: list[float], told: list[int]) -> None:
    lines = lines_of([passage(1, NESTED)])
    choice = choice_of(lines, scores)
    choice.add(np.array(scores, np.float32), most=8, windows=1)
    assert choice.order() == told


def test_a_list_without_its_head_is_not_shown() -> None:
    lines = lines_of([passage(1, "3. P4 requests too much and must wait.\n\n4. P0 requests more than it may.")])
    assert not any(line.bridges for line in lines)


def test_a_refuted_quotation_is_not_the_books_word_and_its_box_ends_with_its_paragraph() -> None:
    title, refuted, right, after, _ = lines_of([passage(1, PITFALL)])
    assert not title.quotable and not refuted.quotable
    assert right.role == "pitfall" and right.quotable
    assert after.role == "prose"


def test_neighbouring_chunks_are_joined_where_they_overlap() -> None:
    one = passage(2, "A page fault traps into the kernel. The kernel finds the page on the disk.", 7)
    two = passage(1, "The kernel finds the page on the disk. It reads the page into a free frame.", 8)
    lines = lines_of([two, one])
    assert [line.text[:10] for line in lines] == ["A page fau", "The kernel", "It reads t"]
    assert [line.passage for line in lines] == [2, 2, 1] and {line.run for line in lines} == {0}
    assert not lines[2].opens  # the paragraph goes on


def test_a_chunk_that_begins_inside_an_item_does_not_repeat_its_end() -> None:
    item = "1. The hand passes over the pages in a circle. However, a page that was used since is spared once."
    before = passage(1, f"The clock algorithm is as follows:\n\n{item}\n\n2. The first page not used is taken.", 7)
    inside = f"{item[item.index('However') :]}\n\n2. The first page not used is taken.\n\nIt is near LRU and cheap."
    texts = [line.text for line in lines_of([before, passage(2, inside, 8)])]
    assert [text[:9] for text in texts] == ["The clock", "1. The ha", "2. The fi", "It is nea"]


@pytest.mark.parametrize(
    "text",
    [
        "We discuss three approaches to the problem of deadlocks below.",
        "This section introduces the scheduling algorithms of batch systems.",
        "Page replacement is discussed in Section 7.4, together with its costs.",
        "The conditions that have to hold are the following.",
        "本节介绍处理死锁的几种方法及其优缺点。",
        "下面分别讨论这几种算法的优点和缺点。",
        "死锁的检测算法将在第 5 章详细讨论。",
    ],
)
def test_a_line_that_only_says_what_the_book_will_say_is_no_statement(text: str) -> None:
    told = "A semaphore is an integer." if text[0].isascii() else "信号量是一个整数，只能由两个操作修改。"
    assert not lines_of([passage(1, f"{text} {told}")])[0].quotable


@pytest.mark.parametrize(
    "text",
    [
        "This part of memory belongs to the kernel and no process may read it.",
        "死锁在同一类资源只有一个时等价于环路。",
    ],
)
def test_a_statement_that_sounds_like_one_is_kept(text: str) -> None:
    assert lines_of([passage(1, text)])[0].quotable


@pytest.mark.parametrize(
    ("caption", "told"),
    [
        ("Figure 6.7: To send a message, process A maps the page into process B.", "To send a message, process A maps"),
        ("图 3-2：进程在就绪、运行和阻塞三个状态之间转换。", "进程在就绪、运行和阻塞三个状态之间转换。"),
    ],
)
def test_a_caption_in_whole_sentences_is_a_statement_without_its_number(caption: str, told: str) -> None:
    (line,) = lines_of([passage(1, caption)])
    assert line.quotable and line.text.startswith(told)
    (name,) = lines_of([passage(1, "Figure 4.3: Two threads and a ticket")])
    assert not name.quotable


def test_exercises_and_references_say_nothing_beside_the_text() -> None:
    exercise = passage(1, "Explain why a deadlock occurs in this program.", subcategory="exercises")
    assert {line.passage for line in lines_of([exercise, passage(2, PITFALL)])} == {2}
    assert lines_of([exercise])  # nothing else was found


def chosen(texts: list[str], scores: list[float], vectors: np.ndarray | None = None) -> list[str]:
    lines = lines_of([passage(number, text) for number, text in enumerate(texts, start=1)])
    choice = choice_of(lines, scores, vectors)
    choice.add(np.array(scores, np.float32), most=8, windows=4)
    return [lines[at].text for at in choice.order()]


def choice_of(lines: Sequence[Line], scores: list[float], vectors: np.ndarray | None = None) -> Choice:
    """Nothing was taken yet; the lines say different things."""
    apart = np.eye(len(lines), 99, dtype=np.float32) if vectors is None else vectors
    return Choice(lines, apart, np.array(scores, np.float32), UNREAD_COST)


def test_a_list_is_taken_whole() -> None:
    assert len(chosen([FIRST], [0.0, 0.9, 0.0])) == 3


def test_a_line_that_leans_on_another_brings_it() -> None:
    text = "A semaphore counts free places. Therefore wait blocks at zero and post wakes a waiter."
    assert len(chosen([text], [0.0, 0.9])) == 2


@pytest.mark.parametrize(
    "text", ["两者的算法相似，只是时机不同。", "Such a state is not yet a deadlock.", "然后操作系统从磁盘读入这一页。"]
)
def test_a_line_that_leans_does_not_open_an_answer(text: str) -> None:
    assert text not in chosen([text, SEMAPHORE], [0.9, 0.5, 0.1])[:1]


def test_nothing_is_said_twice() -> None:
    same = "A semaphore is an integer that two operations change."
    assert chosen([same, same], [0.9, 0.8]) == [same]
    turned = np.array([[1, 0], [1, 0]], np.float32)  # the same in another language
    assert chosen([same, "信号量是一个只能由两个操作修改的整数。"], [0.9, 0.8], turned) == [same]


def test_items_of_one_list_say_different_things_however_near_they_are() -> None:
    lines = lines_of([passage(1, NESTED)])
    choice = choice_of(lines, [0.9, 0.8, 0.7, 0.9], np.ones((4, 1), np.float32))
    choice.add(np.array([0.9, 0.8, 0.7, 0.9], np.float32), most=8, windows=4)
    assert choice.order() == [0, 1, 2, 3]


def test_only_a_list_and_what_stands_just_before_it_may_be_longer_than_an_answer() -> None:
    prose = " ".join(f"Sentence number {n} tells of a lock that is held." for n in range(4))
    items = "\n\n".join(f"{n}. The step with the number {n} takes some time." for n in range(1, 8))
    lines = lines_of([passage(1, f"{prose}\n\nThe steps are these:\n\n{items}")])

    def taken(most: int) -> list[int]:
        choice = choice_of(lines, [0.9] * len(lines))
        choice.add(np.full(len(lines), 0.9, np.float32), most=most, windows=1)
        return choice.order()

    assert taken(6) == [2, 3, *range(4, 12)]


class TakesThese(Selector):
    """Has a score for each line."""

    def __init__(self, *scores: float) -> None:
        self._scores = np.array(scores, np.float32)

    def scores(self, seen: np.ndarray) -> np.ndarray:
        return self._scores


class Hears:
    """A pair encoder that hears an answer in every line with a word."""

    def __init__(self, word: str) -> None:
        self._word = word
        self.read: list[str] = []

    def scores(self, text: str, others: Sequence[str]) -> np.ndarray:
        self.read += others
        return np.array([4.0 if self._word in other else -6.0 for other in others], np.float32)


def test_what_the_pair_encoder_hears_is_said_and_what_only_looks_near_is_left_out() -> None:
    texts = [
        "A semaphore is an integer number.",
        "A semaphore counts the free places.",
        "The unicorn sleeps in its own queue.",
    ]
    pairs = Hears("unicorn")
    composer = Composer(FakeEncoder(), TakesThese(0.6, 0.6, 0.4), pairs)
    found = composer.compose("Where does a semaphore sleep?", [passage(n, one) for n, one in enumerate(texts, start=1)])
    assert [line.text for line in found] == texts[2:]
    assert set(pairs.read) == {f"5 Deadlock\n{text}" for text in texts}  # each behind the title of its section


def test_where_no_line_answers_surely_the_answer_is_still_a_stretch_and_not_a_single_line() -> None:
    text = "A semaphore counts free places. Waiting threads sleep in a queue. The kernel wakes the oldest sleeper."
    composer = Composer(FakeEncoder(), TakesThese(0.02, 0.02, 0.02), Hears("unicorn"))
    assert len(composer.compose("Why are there semaphores?", [passage(1, text)], few=True)) == FEW


def test_the_pair_encoder_reads_a_statement_behind_the_question_of_its_answer() -> None:
    pairs, answer = Hears(""), prepared("what", ("V wakes a waiter.", "V wakes one"))
    near = [Near(answer, (0.9,), (0.1,))]
    Composer(FakeEncoder(), TakesAll({}), pairs).choose("What does V do?", [passage(1, SEMAPHORE)], near, ())
    assert f"{answer.questions[0]}\nV wakes a waiter." in pairs.read


@pytest.mark.parametrize(("chance", "reads"), [(0.9, False), (0.6, True)])
def test_nothing_is_read_where_a_prepared_answer_stands_alone(chance: float, reads: bool) -> None:
    pairs, answer = Hears(""), prepared("what", ("V wakes a waiter.", "V wakes one"))
    Composer(FakeEncoder(), TakesAll({}), pairs).choose(
        "What does V do?", [passage(1, SEMAPHORE)], [Near(answer, (0.9,), (chance,))], ()
    )
    assert bool(pairs.read) is reads


def test_an_answer_that_may_miss_the_question_is_one_short_stretch_of_the_book() -> None:
    texts = [
        "A semaphore counts free places. Waiting threads sleep in a queue.",
        "A mutex belongs to one thread. The kernel wakes the oldest sleeper.",
        "Barriers hold all threads. Monitors hide their lock.",
    ]
    passages = [passage(n, text) for n, text in enumerate(texts, start=1)]
    composer = Composer(FakeEncoder(), TakesThese(*[0.9] * len(lines_of(passages))))
    whole, few = (composer.compose("Why are there semaphores?", passages, few=few) for few in (False, True))
    assert len(whole) > FEW >= len(few) and len({line.run for line in few}) == 1


def test_what_says_little_is_left_out() -> None:
    text = "A semaphore is an integer that two operations change."
    assert chosen([text, "Bananas grow in warm countries near the sea."], [0.9, 0.01]) == [text]


def test_parts_that_name_their_topic_are_questions_of_their_own() -> None:
    assert parts_of("什么是死锁？什么是 TLB？") == ("什么是死锁？", "什么是 TLB？")
    assert parts_of("What is deadlock? 信号量有什么用？") == ("What is deadlock?", "信号量有什么用？")
    assert parts_of("什么是死锁？怎么预防？") == ("什么是死锁？", "怎么预防？ (死锁)")
    assert parts_of("死锁") == ()
    assert parts_of("What is the principle of least privilege? Give an example.") == ()
    assert parts_of("Describe the clock algorithm. Why not use real LRU?") == (
        "Describe the clock algorithm.",
        "Why not use real LRU?",
    )


def test_what_is_told_before_a_question_belongs_to_it() -> None:
    assert parts_of("I press a key. How does it get to my program?") == ()
    assert parts_of("A process forks. Who frees its PCB? What is a zombie?") == (
        "A process forks. Who frees its PCB?",
        "What is a zombie?",
    )


def test_a_part_without_a_term_of_the_glossary_is_one_where_it_stands_alone() -> None:
    assert parts_of("为什么不能从阻塞直接变成运行？就绪态能直接变阻塞吗") == (
        "为什么不能从阻塞直接变成运行？",
        "就绪态能直接变阻塞吗",
    )
    assert parts_of("Why? Really?") == ()


def test_the_clauses_of_a_sentence_that_ask_are_parts_with_the_topic_of_the_first() -> None:
    assert parts_of("TLB 是什么，为什么能加快地址转换", clauses=True) == ("TLB 是什么", "为什么能加快地址转换 (TLB)")
    assert parts_of("缓冲区溢出攻击的原理和防御措施", clauses=True) == (
        "缓冲区溢出攻击的原理",
        "缓冲区溢出攻击的防御措施",
    )
    assert parts_of("What is a deadlock, and how can it be broken?", clauses=True) == (
        "What is a deadlock",
        "how can it be broken? (deadlock)",
    )


@pytest.mark.parametrize(
    "question",
    [
        "父进程打开文件后 fork，父子各写一些，结果怎样？",
        "分页和分段的区别",
        "进程的状态和线程的状态有什么区别？",
        "Which is faster, a mutex or a semaphore, and by how much?",
        "If a page is dirty, what does the kernel do with it?",
    ],
)
def test_a_sentence_that_tells_a_story_or_compares_is_one_question(question: str) -> None:
    assert parts_of(question, clauses=True) == ()


def test_each_part_gets_an_answer() -> None:
    texts = [
        "A deadlock is a group of threads that wait for each other for ever.",
        "A semaphore is an integer that two operations change.",
    ]
    composer = Composer(FakeEncoder(), Selector.load())
    lines = composer.compose("What is a deadlock? What is a semaphore?", [passage(1, texts[0]), passage(2, texts[1])])
    assert [line.text for line in lines] == texts


def prepared(kind: str, *statements: tuple[str, str]) -> PreparedAnswer:
    """An answer of (statement, quote) pairs that stand on page 1."""
    rows = tuple(
        PreparedRow(say, "a", "en", "a.answers.jsonl", 1, kind, "5", quote, ("book.pdf#p10",))
        for say, quote in statements
    )
    return PreparedAnswer("a", "en", kind, "5", ("What is a semaphore?",), rows)


SEMAPHORE = "A semaphore is an integer that two operations change. Nothing else may read it."


def test_a_statement_and_the_sentence_that_it_quotes_are_not_both_taken() -> None:
    lines = lines_of([passage(1, SEMAPHORE)])
    own = ("One number with P and V is a semaphore.", "A semaphore is an integer that two operations change")
    lines += statements_of([prepared("what", own)], {"book.pdf#p10": 1}, len(lines))
    choice = choice_of(lines, [0.8, 0.0, 0.9])
    choice.add(np.array([0.8, 0.0, 0.9], np.float32), most=8, windows=4)
    assert [lines[at].text for at in choice.order()] == [own[0]]


def test_statements_in_own_words_come_before_the_books() -> None:
    lines = lines_of([passage(1, SEMAPHORE)])
    lines += statements_of([prepared("what", ("V wakes a waiter.", "V wakes one"))], {"book.pdf#p10": 1}, len(lines))
    choice = choice_of(lines, [0.9, 0.0, 0.8])
    choice.add(np.array([0.9, 0.0, 0.8], np.float32), most=8, windows=4)
    assert [lines[at].text[:6] for at in choice.order()] == ["V wake", "A sema"]


def test_a_prepared_statement_that_leans_is_given_behind_the_one_before_it_or_not_at_all() -> None:
    texts = ["Avoidance looks ahead.", "Bananas are yellow.", "Both use one algorithm.", "Detection looks back."]
    lines = statements_of([prepared("compare", *((text, text) for text in texts))], {"book.pdf#p10": 1}, 0)

    def given(scores: list[float], most: int) -> list[str]:
        choice = choice_of(lines, scores)
        choice.give(0, most=most)
        return [lines[at].text for at in choice.order()]

    assert given([0.8, 0.1, 0.9, 0.7], 3) == texts[:3]
    assert given([0.8, 0.0, 0.1, 0.7], 2) == [texts[0], texts[3]]
    assert given([0.1, 0.1, 0.1, 0.1], 4) == texts


def test_of_two_prepared_answers_that_begin_alike_the_second_gives_what_does_not_lean_on_its_beginning() -> None:
    texts = ["A deadlock is a set of threads that wait.", "It ends with one of them.", "Bananas grow.", "Rivers flow."]
    answers = [prepared("what", (texts[0], texts[0])), prepared("how", *((text, text) for text in texts))]
    vectors = np.eye(5, 99, dtype=np.float32)[[0, 0, 1, 2, 3]]
    choice = choice_of(statements_of(answers, {"book.pdf#p10": 1}, 0), [1.0] * 5, vectors)
    choice.give(0, most=8)
    choice.give(1, most=2)
    assert choice.order() == [0, 3, 4]


def test_an_answer_has_room_whatever_the_steps_before_it_took() -> None:
    steps = prepared("steps", *((text, f"quote {text}") for text in LOCKS))
    reasons = prepared("why", *((f"Reason {number} is a river.", f"because {number}") for number in range(4)))
    lines = statements_of([steps, reasons], {"book.pdf#p10": 1}, 0)
    choice = choice_of(lines, [1.0] * 9, np.eye(9, 99, dtype=np.float32))
    choice.give(0, most=4)  # steps are whole
    choice.give(1, most=5)
    assert choice.order() == [0, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("question", "whole", "of_two", "quote"),
    [
        (
            "How do paging, segmentation and swapping differ?",
            "Paging cuts memory evenly, segmentation by meaning, and swapping moves whole processes out.",
            "Paging and segmentation both translate addresses.",
            "translate addresses",
        ),
        (  # things of one kind by their short names
            "死锁预防、死锁避免和死锁检测有什么不同",
            "预防是事先规定规则，避免是每次分配前检查，检测是允许死锁发生而事后解除。",
            "Detection is used where there is neither prevention nor avoidance.",
            "is used",
        ),
    ],
)
def test_what_speaks_of_all_that_is_compared_comes_first(question: str, whole: str, of_two: str, quote: str) -> None:
    composer = Composer(FakeEncoder(), TakesAll({}))
    part = prepared("compare", (of_two, quote))
    found = composer.compose(question, [passage(1, whole)], [Near(part, (0.9,), (0.6,))])
    assert [line.text for line in found] == [whole, part.statements[0].text]


@pytest.mark.parametrize(("chance", "lines"), [(0.6, 2), (0.8, 1)])
def test_a_likely_prepared_answer_stands_alone(chance: float, lines: int) -> None:
    composer = Composer(FakeEncoder(), TakesAll({}))
    near = Near(prepared("what", ("A semaphore counts units.", "counts units")), (0.9,), (chance,))
    found = composer.compose("What is a semaphore?", [passage(1, "The kernel has many locks of other kinds.")], [near])
    assert len(found) == lines and found[0].text == "A semaphore counts units."


def test_prepared_steps_are_taken_whole_and_cite_their_passage() -> None:
    answer = prepared("steps", ("First read the journal.", "read the journal"), ("Then do it again.", "do it again"))
    composer = Composer(FakeEncoder(), Selector.load())
    near = [Near(answer, (0.99,), (0.0,))]
    found = composer.compose("How is the journal read?", [passage(1, SEMAPHORE)], near)
    own = [line for line in found if line.answer >= 0]
    assert [line.text for line in own] in ([], ["First read the journal.", "Then do it again."])
    assert {line.passage for line in own} <= {1}


LOCKS = [f"Statement {word} tells of locks." for word in ("one", "two", "three", "four", "five")]


def test_a_prepared_answer_that_a_question_likely_wants_comes_whole_and_first() -> None:
    composer = Composer(FakeEncoder(), TakesNone({}))
    answer = prepared("what", *((text, f"quote {text}") for text in LOCKS))
    likely, unlikely = ([Near(answer, (0.9,), (chance,))] for chance in (0.6, 0.1))
    assert [line.text for line in composer.compose("Locks?", [passage(1, SEMAPHORE)], likely)] == LOCKS
    assert [line.text for line in composer.compose("Locks?", [passage(1, SEMAPHORE)], unlikely)] != LOCKS


@pytest.mark.parametrize(("chance", "count"), [(0.6, 8), (0.7, 10)])
def test_the_prepared_answers_of_the_parts_are_joined_whole_where_they_are_surely_wanted(chance, count) -> None:
    composer = Composer(FakeEncoder(), TakesAll({}))
    first = prepared("what", *((text, f"quote {text}") for text in LOCKS))
    second = prepared("how", *((f"Bread {n} is baked in an oven at {n} degrees.", f"oven {n}") for n in range(5)))
    near = [Near(first, (0.9,) * 3, (0.0, chance, 0.0)), Near(second, (0.9,) * 3, (0.0, 0.0, chance))]
    found = composer.compose("What is a deadlock and how is a semaphore used?", [passage(1, SEMAPHORE)], near)
    assert [line.text for line in found[:5]] == LOCKS
    assert len(found) == count and all(line.text.startswith("Bread") for line in found[5:])


def test_a_bare_reply_and_a_because_do_not_open_an_answer() -> None:
    assert chosen(["不是。时间片越短，上下文切换占的比例越大，响应越快。"], [0.9, 0.9]) == [
        "时间片越短，上下文切换占的比例越大，响应越快。"
    ]
    answer = prepared("why", ("Because the head moves slowly.", "the head moves slowly"))
    assert [line.text for line in statements_of([answer], {"book.pdf#p10": 1}, 0)] == ["The head moves slowly."]


@pytest.mark.parametrize(
    "question", ["What is a deadlock? What is a semaphore?", "What is a deadlock, and what is a semaphore?"]
)
def test_the_first_part_leaves_room_for_the_second(question: str) -> None:
    texts = [" ".join(f"Deadlock number {n} holds the disk for minutes." for n in range(9)), SEMAPHORE]
    composer = Composer(FakeEncoder(), TakesAll({}))
    found = composer.compose(question, [passage(1, texts[0]), passage(2, texts[1])])
    assert 2 <= sum("Deadlock" in line.text for line in found) <= 6


def test_without_prepared_answers_a_line_counts_for_a_third_as_if_its_passage_were_found_first() -> None:
    texts = ["A semaphore is an integer number.", "Trains run on rails of steel all day."]
    passages, encoder = [passage(n, text) for n, text in enumerate(texts, start=1)], FakeEncoder()
    lines, query = lines_of(passages), encoder.queries(["What is a semaphore?"])[0]
    vectors = encoder.passages(texts)
    seen, first = (
        signals("What is a semaphore?", query, lines, vectors, passages, ranked=ranked) for ranked in (True, False)
    )
    told = np.flatnonzero((seen != first).any(axis=0))  # by the signals of the rank
    assert (first[:, told] == 1).all()

    class TrustsTheFirst(Selector):
        def scores(self, seen: np.ndarray) -> np.ndarray:
            return np.asarray((seen[:, told] == 1).all(axis=1), np.float32)

    choice = Composer(encoder, TrustsTheFirst({})).choose("What is a semaphore?", passages, (), ())
    assert choice.scores.tolist() == pytest.approx([1, DOUBT])
    likely = [Near(prepared("what", ("Bread is baked.", "is baked")), (0.9,), (0.0,))]
    choice = Composer(encoder, TrustsTheFirst({})).choose("What is a semaphore?", passages, likely, ())
    assert choice.scores[:2].tolist() == [1, 0]


def test_the_trained_weights_fit_the_signals() -> None:
    passages = [passage(1, FIRST), passage(2, PITFALL)]
    lines, encoder = lines_of(passages), FakeEncoder()
    vectors = encoder.passages([line.text for line in lines])
    seen = signals("Which conditions hold?", encoder.queries(["Which conditions hold?"])[0], lines, vectors, passages)
    scores = Selector.load().scores(seen)
    assert scores.shape == (len(lines),) and ((scores >= 0) & (scores <= 1)).all()


def test_where_each_part_has_its_answer_another_one_for_the_whole_is_not_given() -> None:
    question = "What is a spinlock? Why does it burn time?"
    first, second, third = (prepared("what", (text, f"quote {text}")) for text in LOCKS[:3])
    chances = {"first": (0.3, 0.1, 0.9), "second": (0.3, 0.7, 0.1), "third": (0.8, 0.2, 0.3)}  # of text and parts
    near = [
        Near(one, (0.9, 0.9, 0.9), chances[name])
        for name, one in {"first": first, "second": second, "third": third}.items()
    ]
    found = Composer(FakeEncoder(), TakesNone({})).compose(question, [passage(1, SEMAPHORE)], near)
    assert [line.text for line in found] == [LOCKS[1], LOCKS[0]]  # in the order of the parts
