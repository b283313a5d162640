"""Bank files: what is read, what is named, what goes on."""

import json

import pytest

from osrag.errors import BadInput
from osrag.quiz.bank import load_bank, read_file, shipped_bank
from osrag.quiz.rows import read_row, read_rubric

BOTH = {
    "id": "ch01-001",
    "chapter": 1,
    "section": "1.1",
    "type": "single_choice",
    "difficulty": "easy",
    "answer": ["B"],
    "check": "",
    "zh": {
        "question": "哪个？",
        "options": [{"key": "A", "text": "甲"}, {"key": "B", "text": "乙"}],
        "knowledge_point": "点",
        "explanation": "因为",
        "reference": "",
        "rubric": [],
        "page_quote": "引文",
    },
    "en": {
        "question": "Which?",
        "options": [{"key": "A", "text": "one"}, {"key": "B", "text": "two"}],
        "knowledge_point": "point",
        "explanation": "because",
        "reference": "",
        "rubric": [],
        "page_quote": "quote",
    },
}


def test_a_combined_row_is_one_question_in_two_languages():
    zh, en = read_row(BOTH)
    assert (zh.language, en.language) == ("zh", "en") and zh.id == en.id and zh.answer == en.answer == ("B",)
    assert en.knowledge_point == "point" and zh.options[1].text == "乙"


@pytest.mark.parametrize(
    ("row", "kind", "answer"),
    [
        ({"question": "Which?", "options": {"A": "one", "B": "two"}, "answer": "b"}, "single_choice", ("B",)),
        ({"question": "Which?", "options": ["one", "two"], "answer": "two"}, "single_choice", ("B",)),
        ({"question": "Which?", "options": ["A. one", "B. two"], "answer": "AB"}, "multiple_choice", ("A", "B")),
        ({"题目": "哪些？", "A": "甲", "B": "乙", "C": "丙", "答案": "A、C"}, "multiple_choice", ("A", "C")),
        ({"question": "Paging is magic.", "type": "true_false", "answer": False}, "true_false", ("F",)),
        ({"question": "对吗？", "type": "判断题", "answer": "√"}, "true_false", ("T",)),
        ({"Question": "()", "Format": "Fill-in-the-blank", "Answer": "时间片到"}, "fill_blank", ("时间片到",)),
        ({"question": "____ and ____", "answer": "mutex; semaphore"}, "fill_blank", ("mutex", "semaphore")),
        ({"question": "____", "answer": ["PCB|process control block"]}, "fill_blank", ("PCB|process control block",)),
        ({"question": "Why?", "correctAnswer": "Because."}, "short_answer", ()),
    ],
)
def test_flat_rows_as_people_write_them(row, kind, answer):
    (item,) = read_row(row)
    assert (item.type, item.answer) == (kind, answer)


def test_the_answer_of_an_open_question_is_its_reference():
    (item,) = read_row({"question": "Why?", "answer": "Because.", "rubric": ["says because (2 points)", "says why"]})
    assert item.reference == "Because."
    assert [(p.point, p.points) for p in item.rubric] == [("says because", 2.0), ("says why", 1.0)]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"question": " "}, "question: is empty"),
        ({"question": "?", "type": "single_choice", "answer": "A"}, "options: a single_choice has none"),
        ({"question": "?", "options": ["a", "b"], "answer": "E"}, "the key 'E' is no option (the options are A, B)"),
        ({"question": "?", "type": "riddle"}, "type: 'riddle' is not known"),
        ({"question": "?", "options": ["a", ""]}, "options.B: is empty"),
        ({"question": "?", "options": [{"key": "A", "text": "x"}, {"key": "A", "text": "y"}]}, "a key is used twice"),
        ({"question": "?", "type": "true_false", "answer": "perhaps"}, "neither true nor false"),
        ({"question": "?", "rubric": [{"point": "x", "points": "many"}]}, "rubric.1.points"),
        ({"question": "?", "rubric": [{"point": "x", "points": -1}]}, "between 0 and 1000"),
        ({"question": "?", "language": "fr"}, "neither zh nor en"),
        ({"question": "?", "options": [str(n) for n in range(61)]}, "61, at most 60"),
        ({"question": "?", "rubric": [f"point {n}" for n in range(201)]}, "201 points, at most 200"),
        ({"question": "x" * 9000}, "9000 characters"),
        ({**BOTH, "zh": {"options": []}}, "zh.question"),
        ({**BOTH, "anwser": ["B"]}, "anwser"),
        (["not", "an", "object"], "an object with fields"),
    ],
)
def test_a_row_that_cannot_be_used_says_why(row, words):
    with pytest.raises(BadInput) as error:
        read_row(row)
    assert words in error.value.sentence()


def test_a_broken_line_is_named_and_the_rest_works(tmp_path):
    path = tmp_path / "b.jsonl"
    good = json.dumps(BOTH, ensure_ascii=False)
    path.write_text(
        f'{good}\n{{"question": "cut\n\n{json.dumps({"question": "?", "type": "riddle"})}\n', encoding="utf-8"
    )
    read = read_file(path)
    assert len(read.exercises) == 2
    assert [str(slip).split(":")[:2] for slip in read.slips] == [["b.jsonl", "2"], ["b.jsonl", "4"]]
    bank = load_bank(tmp_path)
    assert len(bank) == 1 and len(bank.slips) == 2 and bank.find("en") == ["ch01-001/en"]


def test_csv_as_a_table_program_writes_it(tmp_path):
    path = tmp_path / "b.csv"
    path.write_text(
        "\ufeffid,type,question,A,B,C,D,answer,rubric\n"
        'q1,单选,"哪个，\n是对的？",甲,乙,丙,丁,C,\n'
        "q2,short_answer,Why?,,,,,Because.,names it (2 points)|says why (3)\n"
        "q3,single_choice,Which?,one,two,,,E,\n"
        "q4,single_choice,Which?,one,two,,,A,,,too,many\n",
        encoding="utf-8",
    )
    read = read_file(path)
    assert [item.id for item in read.exercises] == ["q1", "q2"]
    assert read.exercises[0].question == "哪个，\n是对的？" and read.exercises[0].answer == ("C",)
    assert [point.points for point in read.exercises[1].rubric] == [2.0, 3.0]
    assert (
        len(read.slips) == 2 and "'E' is no option" in str(read.slips[0]) and "more than columns" in str(read.slips[1])
    )


def test_files_that_are_no_bank(tmp_path):
    for name, text, words in (("a.doc", "x", "is not read"), ("a.json", "{", "not JSON"), ("a.csv", "", "empty")):
        (tmp_path / name).write_text(text, encoding="utf-8")
        with pytest.raises(BadInput, match=words):
            read_file(tmp_path / name)
    (tmp_path / "a.jsonl").write_bytes("题".encode("gbk"))
    with pytest.raises(BadInput, match="UTF-8"):
        read_file(tmp_path / "a.jsonl")
    with pytest.raises(BadInput, match="cannot read"):
        read_file(tmp_path / "none.jsonl")


def test_check_names_what_misleads(tmp_path):
    path = tmp_path / "b.jsonl"
    rows = [
        {"id": "a", "question": "?", "options": ["same", "same "], "anwser": "A"},
        {"id": "a", "question": "The id is taken: why?"},
        {"id": "b", "question": "____", "answer": ["x", "y"]},
        {"id": "c", "question": "Why?"},
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    read = read_file(path)
    assert len(read.exercises) == 3 and read.slips == ("b.jsonl:2: the id 'a' (en) is that of b.jsonl:1",)
    said = "\n".join(read.doubts)
    for words in (
        "did you mean 'answer'",
        "two options say the same",
        "no key",
        "1 blanks",
        "neither reference",
    ):
        assert words in said


def test_the_shipped_bank_is_whole():
    bank = shipped_bank()
    assert len(bank) >= 200 and bank.slips == ()
    for language in ("zh", "en"):
        assert len(bank.find(language)) == len(bank)
        assert bank.values("knowledge_point", language)
    name = bank.pick(bank.find("zh", chapter="3", type="true_false"), seed=1)
    assert name and bank.get(name).chapter == "3"
    assert bank.get("none/zh") is None and bank.pick([]) is None


def test_a_rubric_that_only_says_how_to_mark_names_no_point():
    assert read_rubric("Award full points for a correct explanation, partial credit otherwise.") == ()
    assert read_rubric("Award 1 point for False. Longer explanations may get no credit.") == ()
    assert read_rubric("Grade by understanding.") == read_rubric("Any reasonable idea is acceptable.") == ()
    (said,) = read_rubric("Must mention dirty data and metadata. Grade by understanding.")
    assert said.point == "dirty data and metadata."
    assert [point.points for point in read_rubric("names hold and wait (2 points)|gives an example (1 point)")] == [
        2,
        1,
    ]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ('{"question": ' + "[" * 30 + "]" * 30 + "}", "nested more than 20 deep"),
        ('{"question": ' + "[" * 90_000 + "]" * 90_000 + "}", "nested more than 20 deep"),
        ('{"question": "Why?", "points": ' + "9" * 5000 + "}", "not JSON that can be read: Exceeds the limit"),
    ],
    ids=["nested", "nested beyond the parser", "digits"],
)
def test_a_row_that_no_parser_bears_is_a_slip_and_the_rest_works(tmp_path, row: str, words: str):
    good = '{"question": "Why paging?", "reference": "No gaps."}'
    (tmp_path / "b.jsonl").write_text(f"{row}\n{good}\n", encoding="utf-8")
    read = read_file(tmp_path / "b.jsonl")
    assert len(read.exercises) == 1 and [words in slip for slip in read.slips] == [True]
    (tmp_path / "b.json").write_text(f"[{row}, {good}]", encoding="utf-8")
    with pytest.raises(BadInput, match=words):
        read_file(tmp_path / "b.json")
    (tmp_path / "b.csv").write_text('question,options\nWhich?,"' + "[" * 90_000 + '"\n', encoding="utf-8")
    assert len(read_file(tmp_path / "b.csv").slips) == 1


def test_a_rubric_point_of_more_than_any_float_is_refused():
    with pytest.raises(BadInput, match=r"rubric\.1\.points: '1000"):
        read_row({"question": "Why?", "rubric": [{"point": "says why", "points": 10**400}]})


SCHEME_EN = """Marking scheme (total 6 marks):
2 marks for explaining that a ready process is chosen
1 mark: names the ready queue
Award 1 mark for each of: mutual exclusion; hold and wait
(a) 3 pts - computes 10
+1 mentions the TLB
Full marks: defines thrashing
Deduct 1 mark for spelling.
Total: 6 marks"""
SCHEME_ZH = """评分标准（满分6分）：
1. 答出互斥给2分
2.（2分）说明循环等待
3、指出占有并等待，得1分
错别字扣1分
共5分"""


@pytest.mark.parametrize(
    ("scheme", "points"),
    [
        (
            SCHEME_EN,
            [
                ("explaining that a ready process is chosen", 2),
                ("names the ready queue", 1),
                ("mutual exclusion", 1),
                ("hold and wait", 1),
                ("computes 10", 3),
                ("mentions the TLB", 1),
                ("defines thrashing", 1),
            ],
        ),
        (SCHEME_ZH, [("答出互斥", 2), ("说明循环等待", 2), ("指出占有并等待", 1)]),
        ("total time 10\n共5轮", [("total time 10", 1), ("共5轮", 1)]),  # a sum that an answer gives
    ],
)
def test_a_marking_scheme_is_read_for_what_it_is(scheme: str, points: list[tuple[str, float]]) -> None:
    assert [(one.point, one.points) for one in read_rubric(scheme)] == points
