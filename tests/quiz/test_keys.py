"""All the usual ways of writing an answer."""

import pytest

from osrag.numbers import chinese_number, quantity
from osrag.quiz.blanks import judge_blanks, matches, split_answer
from osrag.quiz.exercise import Exercise, Option
from osrag.quiz.keys import chosen, read_choice, read_truth

ABCD = tuple(
    Option(key, text)
    for key, text in zip("ABCD", ("short-term scheduling", "长程调度", "中程调度", "disk scheduling"), strict=True)
)


def item(type_, options=ABCD, **fields):
    return Exercise(type=type_, language="zh", question="?", options=options, **fields)


@pytest.mark.parametrize(
    "said",
    [
        "AC",
        "A、C",
        "a c",
        "A,C",
        "ＡＣ",
        "Ａ、Ｃ",
        "ca",
        "C A",
        "A和C",
        "A and C",
        "(A)(C)",
        "[A, C]",
        "a/c",
        "A;C",
        "A\nC",
        "选 A、C",
        "答案是AC",
        "I choose A and C",
        "A+C",
        "A & C",
        "选项A和选项C",
        "1,3",
        "①③",
        "A. short-term scheduling\nC. 中程调度",
        "「A」「C」",
    ],
)
def test_two_keys_are_read(said):
    assert read_choice(said, ABCD) == {"A", "C"}


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("B", "B"),
        ("b.", "B"),
        ("（Ｂ）", "B"),
        ("长程调度", "B"),
        ("B 长程调度", ""),
        ("B. 长程调度", "B"),
        ("选B", "B"),
        ("我选 B", "B"),
        ("The answer is B", "B"),
        ("disk scheduling", "D"),
        ("Disk  Scheduling", "D"),
        ("2", "B"),
        ("②", "B"),
        ("a", "A"),
        ("I pick a", "A"),
        ("第二个", ""),
        ("E", ""),
        ("", ""),
        ("   ", ""),
        ("A lock is held", ""),
        ("不知道", ""),
        ("5", ""),
        ("A. 长程调度", ""),
    ],
)
def test_one_key_is_read_or_nothing(said, key):
    assert read_choice(said, ABCD) == frozenset(key)


def test_a_single_choice_of_two_things_is_none():
    assert chosen(item("single_choice"), "A、B") == frozenset()
    assert chosen(item("multiple_choice"), "A、B") == {"A", "B"}


def test_thirty_options_are_read():
    options = tuple(Option(chr(65 + n) if n < 26 else f"A{chr(65 + n - 26)}", f"text {n}") for n in range(30))
    assert read_choice("Z", options) == {"Z"}
    assert read_choice("AB, Z", options) == {"AB", "Z"}


@pytest.mark.parametrize(
    "said", ["T", "true", "对", "√", "正确", "是", "YES", "✓", "对。", "这句话是对的", "True.", "Ｔ", "答案：对", "1"]
)
def test_true(said):
    assert read_truth(said) == "T"


@pytest.mark.parametrize("said", ["F", "false", "错", "×", "不对", "不正确", "错误", "No", "x", "❌", "说法错误", "0"])
def test_false(said):
    assert read_truth(said) == "F"


@pytest.mark.parametrize("said", ["", "maybe", "对错", "不知道", "true false"])
def test_neither(said):
    assert read_truth(said) == ""


def test_true_false_with_options():
    options = (Option("A", "正确"), Option("B", "错误"))
    assert chosen(item("true_false", options), "B") == {"F"}
    assert chosen(item("true_false", options), "对") == {"T"}


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("PCB", "进程控制块|PCB"),
        ("ｐｃｂ", "进程控制块|PCB"),
        ("进程控制块（PCB）", "进程控制块|PCB"),
        ("进程控制块", "进程控制块(PCB)"),
        ("Process  Control Block", "process control block"),
        ("the process control block.", "process control block"),
        ("process-control block", "process control block"),
        ("4 KB", "4096 B"),
        ("4096字节", "4 KB"),
        ("４ＫＢ", "4KB"),
        ("1,024", "1024"),
        ("1 048 576", "1048576"),
        ("2^20", "1048576"),
        ("2**10", "1024"),
        ("50%", "0.5"),
        ("1/2", "0.5"),
        ("0.50", "0.5"),
        ("百分之五十", "50%"),
        ("8 ms", "8|8.0|8 毫秒"),
        ("8毫秒", "8 ms"),
        ("0.008 s", "8 ms"),
        ("三", "3"),
        ("3次", "3"),
        ("十二", "12"),
        ("25万", "250000"),
        ("6 page faults", "6"),
        ("2.5e4", "25000"),
        ("-1", "−1"),
        ("“互斥”", "互斥"),
        ("分时、批处理和实时", "批处理、分时、实时"),
    ],
)
def test_a_blank_is_filled_rightly(said, key):
    assert matches(said, key)


@pytest.mark.parametrize(
    ("said", "key"),
    [
        ("", "PCB"),
        ("  ", "PCB"),
        ("PCBs", "PCB"),
        ("1", "0001"),
        ("8 s", "8 ms"),
        ("4 Kb/s", "4 KB"),
        ("5", "0.5"),
        ("线程", "进程|process"),
        ("4", "4 KB"),
        ("进程或线程", "进程"),
        ("PCB|线程", "PCB"),
        ("2^9999999", "1024"),
        ("1/0", "1"),
        ("分时、批处理", "批处理、分时、实时"),
    ],
)
def test_a_blank_is_filled_wrongly(said, key):
    assert not matches(said, key)


def test_the_unit_behind_the_blank_counts():
    question = "一个进程最多等待____毫秒。"
    for said in ("90", "90 ms", "90毫秒", "0.09 秒", "９０"):
        assert judge_blanks(split_answer(said, 1), ["90"], question) == (True,), said
    assert judge_blanks(split_answer("90 秒", 1), ["90"], question) == (False,)


@pytest.mark.parametrize(
    "said",
    [
        "机制；策略",
        "机制;策略",
        "机制、策略",
        "机制，策略",
        "mechanism, policy",
        "机制 策略",
        "1. 机制 2. 策略",
        "①机制②策略",
        "(1)机制\n(2)策略",
        "机制\n策略",
        "第1空：机制 第2空：策略",
    ],
)
def test_two_blanks_are_split(said):
    key = ["机制|mechanism", "策略|policy"]
    question = "____规定怎样做，____规定做什么。"
    assert judge_blanks(split_answer(said, 2), key, question) == (True, True)


def test_order_matters_unless_the_blanks_are_joined():
    key = ["静态重定位", "动态重定位"]
    said = split_answer("动态重定位；静态重定位", 2)
    assert judge_blanks(said, key, "重定位的方式有____和____两种。") == (True, True)
    assert judge_blanks(said, key, "装入时完成的是____，执行时完成的是____。") == (False, False)


def test_a_missing_blank_is_wrong_and_a_surplus_one_spoils():
    key, question = ["T2", "T4"], "环由____和____组成"
    assert judge_blanks(["T2"], key, question) == (True, False)
    assert not all(judge_blanks(["T2", "T4", "T1"], key, question))
    assert judge_blanks([], key, question) == (False, False)


def test_quantities():
    assert quantity("4 KiB") == quantity("4096 bytes")
    assert quantity("0600") is None and quantity("abc") is None and quantity("") is None


@pytest.mark.parametrize(
    ("numeral", "number"),
    [("零", 0), ("十", 10), ("十二", 12), ("两百五十六", 256), ("四千零九十六", 4096), ("三万", 30_000),
     ("一亿零二万", 100_020_000), ("一二", None), ("万", None), ("十a", None), ("", None)],
)  # fmt: skip
def test_chinese_numerals(numeral, number):
    assert chinese_number(numeral) == number
