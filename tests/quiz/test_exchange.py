"""The bank in other programs' forms: what goes out comes back, and a second parser reads it too."""

import json
import re
import zipfile
from base64 import b64decode
from dataclasses import replace
from io import BytesIO
from xml.etree import ElementTree

import pytest

from osrag.errors import BadInput
from osrag.quiz.bank import read_file, shipped_bank
from osrag.quiz.computed import pictures_of
from osrag.quiz.exchange.anki import anki_deck
from osrag.quiz.exchange.common import as_html, as_text, marking_scheme, read_scheme
from osrag.quiz.exchange.gift import read_gift, write_gift
from osrag.quiz.exchange.moodle import read_moodle, write_moodle
from osrag.quiz.exchange.qti import write_qti
from osrag.quiz.rows import read_row

BANK = shipped_bank()
ZH = [one for one in BANK.exercises() if one.language == "zh"]
EN = [one for one in BANK.exercises() if one.language == "en"]
KEPT = ("type", "question", "options", "answer", "rubric", "reference", "chapter", "section", "difficulty",
        "knowledge_point", "explanation", "language", "id")  # fmt: skip


def fields(exercise, names=KEPT) -> dict:
    return {name: getattr(exercise, name) for name in names}


def back(rows) -> list:
    out = []
    for where, row in rows:
        assert not isinstance(row, BadInput), (where, row)
        out += read_row(row)
    return out


@pytest.mark.parametrize("exercises", [ZH, EN], ids=["zh", "en"])
def test_the_whole_bank_goes_to_moodle_and_comes_back(exercises):
    written = write_moodle(exercises)
    found = back(read_moodle(written.data))
    assert [fields(one) for one in found] == [fields(one) for one in exercises]
    assert {what.split(": ")[1] for what in written.lost} == {"check", "page_quote", "program"}


@pytest.mark.parametrize("exercises", [ZH, EN], ids=["zh", "en"])
def test_the_bank_goes_to_gift_and_comes_back_but_for_what_is_named(exercises):
    written = write_gift(exercises)
    left = {what.split("/")[0] for what in written.lost if what.endswith("left out")}
    kept = [one for one in exercises if one.id not in left]
    found = back(read_gift(written.data))
    names = [name for name in KEPT if name not in ("rubric", "reference", "type")]
    assert [fields(one, names) for one in found] == [fields(one, names) for one in kept]
    assert all(one.type == "fill_blank" and len(one.answer) != 1 for one in exercises if one.id in left)
    assert any(what.endswith("rubric") for what in written.lost)


def test_a_second_parser_reads_the_gift_file():
    from pygiftparser import parser

    written = write_gift(EN)
    found = parser.parseFile(iter(written.data.decode().splitlines(keepends=True)))
    # It stumbles over an option that begins with an escaped brace, which Moodle reads.
    odd = {one.id for one in EN if any(option.text.startswith("{") for option in one.options)}
    assert {one.title for one in found if not one.valid} == odd
    assert len(found) == len(back(read_gift(written.data)))


def test_a_second_parser_reads_the_moodle_file():
    from moodle_xml_parser.parser import parse_bytes

    found = parse_bytes(write_moodle(EN).data)
    choices = {one.id: one for one in EN if one.type in ("single_choice", "multiple_choice")}
    assert {one.name for one in found["multichoice"]} == choices.keys()
    for one in found["multichoice"]:
        right = [place for place, option in enumerate(one.options) if option.score_fraction > 0]
        exercise = choices[one.name]
        assert right == [place for place, option in enumerate(exercise.options) if option.key in exercise.answer]
    blanks = {one.id: len(one.answer) for one in EN if one.type == "fill_blank"}
    assert {one.name: len(one.gaps) for one in found["cloze"]} == blanks


def test_a_second_parser_reads_the_qti_file():
    from pyslet.qtiv1.item import ResponseLabel
    from pyslet.qtiv1.xml import QTIDocument

    some = EN[:80]  # it takes its time
    written = write_qti(some, "Operating systems")
    with zipfile.ZipFile(BytesIO(written.data)) as packed:
        document = QTIDocument()
        document.read(src=BytesIO(packed.read(quiz_in(packed))))
    (section,) = document.root.Assessment.SectionMixin
    kept = [one for one in some if not (one.type == "fill_blank" and len(one.answer) != 1)]
    assert len(section.SectionItemMixin) == len(kept)
    for item, exercise in zip(section.SectionItemMixin, kept, strict=True):
        offered = len(list(item.Presentation.find_children_depth_first(ResponseLabel)))
        if exercise.is_choice:
            assert offered == (len(exercise.options) or 2), exercise.id


def quiz_in(packed: zipfile.ZipFile) -> str:
    return [name for name in packed.namelist() if "text2qti_assessment" in name and "meta" not in name][-1]


def test_drawings_of_computed_exercises_travel_behind_the_answer(tmp_path):
    pictures = {one.id: found for one in EN if (found := pictures_of(one))}
    drawn = [one for one in EN if one.id in pictures]
    assert len(drawn) > 40
    names = {picture.name for found in pictures.values() for picture in found}
    moodle = ElementTree.fromstring(write_moodle(EN).data)
    assert {file.get("name") for file in moodle.iter("file")} == names
    for question in moodle.iter("question"):
        feedback = question.find("generalfeedback")
        for file in feedback.findall("file") if feedback is not None else ():
            assert f'src="@@PLUGINFILE@@/{file.get("name")}"' in feedback.findtext("text")
            ElementTree.fromstring(b64decode(file.text))
        assert "<img" not in (question.findtext("questiontext/text") or "")  # it would show the solution
    with zipfile.ZipFile(BytesIO(write_qti(EN, "OS").data)) as packed:
        shown = re.findall(r"/(images/osrag-[\w-]+\.svg)", packed.read(quiz_in(packed)).decode())
        assert set(shown) <= set(packed.namelist())
        kept = [one for one in drawn if one.type != "fill_blank" or len(one.answer) == 1]
        assert len(shown) == sum(len(pictures[one.id]) for one in kept)
    with zipfile.ZipFile(BytesIO(anki_deck("OS", [(one, "") for one in drawn]))) as packed:
        assert set(json.loads(packed.read("media")).values()) == names
    lost = {what.split("/")[0] for what in write_gift(EN).lost if what.endswith(": picture")}
    assert lost == {one.id for one in kept}


@pytest.mark.parametrize(
    ("picture", "file", "words"),
    [
        ('<img src="@@PLUGINFILE@@/a.png">', "", "'@@PLUGINFILE@@/a.png', which is not in the file either"),
        ('<img src="@@PLUGINFILE@@/a.png">', '<file name="a.png">aGk=</file>', "'@@PLUGINFILE@@/a.png': "),
        ('<img src="@@PLUGINFILE@@/a.png" alt="a graph">', "", ""),
    ],
)
def test_a_picture_that_no_words_stand_for_leaves_its_question_out(tmp_path, picture: str, file: str, words: str):
    text = f"<questiontext><text><![CDATA[Which is it? {picture}]]></text>{file}</questiontext>"
    path = tmp_path / "q.xml"
    path.write_text(
        f'<quiz><question type="truefalse">{text}<answer fraction="100"><text>true</text></answer></question></quiz>'
    )
    read = read_file(path)
    assert len(read.exercises) == (not words)
    assert not words or "shows the picture" in read.slips[0]
    assert words.removesuffix(": ") in "".join(read.slips)


def test_moodle_gets_whole_marks_for_the_right_answers_and_never_more():
    for question in ElementTree.fromstring(write_moodle(EN).data).findall("question"):
        shares = [float(one.get("fraction")) for one in question.findall("answer")]
        if question.get("type") in ("multichoice", "truefalse"):
            assert sum(share for share in shares if share > 0) == pytest.approx(100, abs=0.01)
            assert all(-100 <= share <= 100 for share in shares)
        if question.get("type") != "category":
            assert question.findtext("name/text") and question.findtext("questiontext/text")
            assert len(question.findtext("idnumber")) <= 100


def test_qti_holds_every_question_that_it_can():
    written = write_qti(ZH, "操作系统")
    left = sum(what.endswith("left out") for what in written.lost)
    with zipfile.ZipFile(BytesIO(written.data)) as packed:
        tree = ElementTree.fromstring(packed.read(quiz_in(packed)))
    items = [one for one in tree.iter() if one.tag.endswith("}item")]
    assert len(items) == len(ZH) - left and 0 < left < 30
    texts = " ".join(as_text(one.text or "") for one in tree.iter() if one.tag.endswith("}mattext"))
    for exercise in ZH[:40]:
        if exercise.type != "fill_blank":
            assert "".join(exercise.question.split()) in "".join(texts.split()), exercise.id


@pytest.mark.parametrize(
    "text",
    ["a < b && `x_y`\nnext", "```\nint a;\n  if (b)\n```\nafter", "&lt; stays", "plain", "x**2 {y} ~z = #w : \\n"],
)
def test_a_text_survives_html_and_gift(text: str):
    assert as_text(as_html(text)) == text
    (exercise,) = read_row({"question": f"Is {text}?", "type": "true_false", "answer": "T", "id": "q"})
    ((_, row),) = read_gift(write_gift([exercise]).data)
    assert row["question"] == f"Is {text}?"


def test_a_scheme_keeps_its_points():
    (one,) = [exercise for exercise in EN if exercise.id == "ch01-025"]
    assert read_scheme(marking_scheme(one)) == (one.reference, list(one.rubric))
    assert read_scheme("Just a reference.") == ("Just a reference.", [])


def test_questions_of_another_hand_are_read_leniently():
    gift = """// a comment
::Who?:: Who's buried in Grant's tomb? {=no one#nobody is ~Grant ~%50%Napoleon}

What is two plus two? {=four =4}

Mahatma {~Ghandi =Gandhi ~Modi} was born in India.

The sun rises in the east.{T}

Match. {=a -> b =c -> d}

Number. {#3.14:0.01}

No block
"""
    rows = list(read_gift(gift.encode("utf-16")))
    good = [row for _, row in rows if not isinstance(row, BadInput)]
    assert [row["type"] for row in good] == ["single_choice", "fill_blank", "single_choice", "true_false"]
    assert good[1]["answer"] == ["four|4"] and good[2]["question"] == "Mahatma ____ was born in India."
    bad = {where: str(row) for where, row in rows if isinstance(row, BadInput)}
    assert list(bad) == ["line 10", "line 12", "line 14"] and "matching" in bad["line 10"]


def test_a_moodle_file_of_another_hand_names_what_it_cannot_read(tmp_path):
    xml = """<quiz><question type="category"><category><text>$course$/OS</text></category></question>
    <question type="shortanswer"><name><text>n</text></name><questiontext format="html"><text><![CDATA[<p>2 + 2 is
    <img src="@@PLUGINFILE@@/x.png" alt="a sum"></p>]]></text></questiontext>
    <answer fraction="100"><text>4</text></answer><answer fraction="50"><text>four</text></answer></question>
    <question type="matching"><name><text>m</text></name></question>
    <question type="cloze"><questiontext><text>{1:MULTICHOICE:=a~b}</text></questiontext></question></quiz>"""
    (_, first), *rest = read_moodle(xml.encode())
    (exercise,) = read_row(first)
    assert exercise.answer == ("4",) and "a sum" in exercise.question
    assert ["'matching'" in str(rest[0][1]), "MULTICHOICE" in str(rest[1][1])] == [True, True]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"<quiz>", "not XML"),
        (b"<html/>", "no Moodle"),
        (b'<!DOCTYPE q [<!ENTITY a "b"><!ENTITY c "&a;&a;">]><quiz>&c;</quiz>', "entities"),
        (b'<!DOCTYPE q [<!ENTITY a SYSTEM "file:///etc/passwd">]><quiz>&a;</quiz>', "entities"),
    ],
)
def test_a_broken_or_hostile_file_is_refused_in_a_sentence(tmp_path, data: bytes, what: str):
    path = tmp_path / "quiz.xml"
    path.write_bytes(data)
    with pytest.raises(BadInput, match=what):
        read_file(path)


def test_a_bank_file_may_be_moodle_or_gift(tmp_path):
    (tmp_path / "a.xml").write_bytes(write_moodle(EN[:3]).data)
    (tmp_path / "b.gift").write_bytes(write_gift(EN[3:5]).data)
    assert [one.id for one in read_file(tmp_path / "a.xml").exercises] == [one.id for one in EN[:3]]
    assert len(read_file(tmp_path / "b.gift").exercises) == 2


def test_html_in_a_question_stays_text():
    evil = replace(EN[0], question="Is <script>alert(1)</script> & <b>this</b> run?")
    (row,) = [row for _, row in read_moodle(write_moodle([evil]).data)]
    assert row["question"] == evil.question
    assert "<script" not in json.dumps(as_html(evil.question))


def test_a_choice_without_a_key_is_named_and_left_out_of_gift():
    (open_,) = read_row({"id": "q", "type": "true_false", "question": "Is it so?", "language": "en"})
    written = write_gift([open_, EN[0]])
    assert written.lost[0] == "q/en: no key; left out" and len(back(read_gift(written.data))) == 1
