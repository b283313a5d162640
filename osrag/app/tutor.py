"""The tutor: a model that looks things up by itself before it answers (S2).

The model is given the tools of `app/tools.py`. Every call is an event that the page shows; after at most eight the
model has to answer, and its sentences pass the same check as any other answer. A model that calls no tools, or calls
them badly, leaves the work to the server, whose plan is the usual one: one search for each source, shown as a call.
"""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from osrag.answer.citations import CitationWriter
from osrag.answer.claims import Support, check
from osrag.answer.clock import Clock
from osrag.answer.events import Called, Event, Failed, Retrieved, Said, SourceDone, Token, Waiting
from osrag.answer.plan import plan_by_rule
from osrag.answer.source import Question
from osrag.answer.statements import Evidence
from osrag.answer.view import passage_json
from osrag.answer.workflow import Run, in_turn
from osrag.app.parts import Parts
from osrag.app.tools import Found, Tool, tools
from osrag.errors import BadIndex, BadInput, ModelBusy, ModelFailed, OsragError
from osrag.kernel.claims import CodeEvidence, check_code
from osrag.models.protocols import ChatModel, ChatOptions, Message, ToolCall
from osrag.models.tools import turn
from osrag.prompts import render
from osrag.text import clip
from osrag.types import Chunk, CodeChunk, Passage, SourceName
from osrag.wording import say

log = logging.getLogger(__name__)
MOST_CALLS = 8
CITABLE = 6  # hits of one call that are numbered and shown
TEXT_CHARS = 900  # of one text in a result, as a model reads it
RESULT_CHARS = 6000  # of one result
ANSWER_TOKENS = 900  # of the context that are kept free for the answer
HELD_CHARS = 240  # a shorter text before a call ("Let me look that up.") is not shown
KERNEL = ("definition", "callers", "callees")
# Of a result a model needs what it says and where it stands.
UNREAD = {
    "score", "similarity", "confidence", "timings_ms", "timestamp", "url", "page_label", "first_line", "last_line",
    "kernel_version", "missing", "notes", "query", "kind", "by_pointer",
}  # fmt: skip


def tutored(parts: Parts, question: Question, usual: Sequence[Run]) -> Run:
    """The run of a model with tools.

    The `usual` runs answer, their searches shown as calls, where it calls none or breaks before it answers.
    """

    def run(first_number: int) -> Iterator[Event]:
        chat = parts.chat
        if chat is not None and chat.abilities.calls:
            lesson = _Lesson(parts, question, chat, first_number)
            yield from lesson.run()
            if lesson.answered:
                return
        yield from in_turn([_shown(one, question) for one in usual], question.reply_language, first_number)

    return run


def _shown(run: Run, question: Question) -> Run:
    """A usual run with its search as a call of a tool: the fixed plan."""

    def with_call(first_number: int) -> Iterator[Event]:
        told = False
        for event in run(first_number):
            if isinstance(event, Retrieved) and not told:
                told = True
                yield _search_call(event, question)
            yield event

    return with_call


def _search_call(found: Retrieved, question: Question) -> Called:
    query = " · ".join(found.queries) or question.text
    rows = [
        passage_json(passage, kernel_version=found.version) | {"text": clip(passage.chunk.text, TEXT_CHARS)}
        for passage in found.passages
    ]
    seconds = sum(stage.seconds for stage in found.stages)
    return Called("semantic_search", {"query": query, "source": found.source}, {"hits": rows}, seconds)


class _Lesson:
    """One run: what was said, called and found so far."""

    def __init__(self, parts: Parts, question: Question, chat: ChatModel, first_number: int) -> None:
        self.answered = False
        self.passages: list[Passage] = []
        self._parts, self._question, self._chat = parts, question, chat
        self._next = first_number
        self._clock = Clock()
        self._tools = tools(parts)
        if question.source == "textbook" or not self._has_kernel():
            self._tools = {name: tool for name, tool in self._tools.items() if name not in KERNEL}
        self._specs = tuple(tool.spec for tool in self._tools.values())
        self._known: dict[str, dict[str, Any]] = {}  # results by call: a repeated one costs nothing
        self._done = 0  # calls
        asked = plan_by_rule(question.text, question.history).standalone
        task = render("tutor", question.reply_language)
        self._messages = [Message("system", task), Message("user", asked)]
        self._source: SourceName = "textbook"  # the part of the reply that the answer stands in
        self._evidence: tuple[int, Callable[[str, tuple[int, ...]], Support]] | None = None

    def run(self) -> Iterator[Event]:
        """Calls and what they found, then the answer; nothing is answered where the model calls nothing or breaks."""
        language = self._question.reply_language
        mark = "kernel_unverified" if self._question.source == "kernel" else "textbook_unverified"
        writer = CitationWriter(self._check, say(mark, language))
        text: list[str] = []
        failure: OsragError | None = None
        try:
            for event in self._turns(writer):
                if isinstance(event, Token):
                    text.append(event.text)
                yield event
        except (ModelFailed, ModelBusy, BadInput) as error:
            log.warning("the tutor broke off: %s", error.sentence())
            failure = error
        tail = writer.finish()
        if not text:
            return
        self.answered = True
        if tail:
            text.append(tail)
            yield Token(self._source, tail)
        self._clock.mark("generate")
        said = tuple(Said(claim, () if on.passage is None else (on.passage,), False) for claim, on in writer.claims)
        yield SourceDone(
            self._source, "".join(text), writer.cited, "generated", self._clock.stages, said, writer.unsupported
        )
        if failure:
            yield Failed(str(failure), failure.hint)

    def _turns(self, writer: CitationWriter) -> Iterator[Event]:
        """Turn after turn of the model until one of them ends without a call."""
        while True:
            may_call = self._done < MOST_CALLS and self._room() > 0
            options = ChatOptions(
                max_tokens=self._question.max_tokens if self._done else ANSWER_TOKENS,
                temperature=min(0.3, self._question.temperature),
                first_token_s=self._question.first_token_s,
                tools=self._specs if may_call else (),
                must_call=self._done == 0,
            )
            held, said = "", False
            with closing(turn(self._chat, self._messages, options)) as pieces:
                while True:
                    try:
                        piece = next(pieces)
                    except StopIteration as end:
                        calls: tuple[ToolCall, ...] = end.value if may_call else ()
                        break
                    held += piece
                    if said or (self.passages and len(held) > HELD_CHARS):
                        said, shown, held = True, writer.feed(held), ""
                        yield self._token(shown) if shown else Waiting()
                    else:
                        yield Waiting()
            if not calls:
                if held and self.passages and (rest := writer.feed(held)):
                    yield self._token(rest)
                return
            self._messages.append(Message("assistant", "", calls))
            for call in calls:
                yield from self._call(call)
            self._clock.mark("tools")

    def _call(self, call: ToolCall) -> Iterator[Event]:
        """Run one call; the model reads what came of it, whatever that is."""
        start = time.perf_counter()
        arguments, known = read_arguments(call.arguments), len(self.passages)
        if self._done >= MOST_CALLS:
            told: dict[str, Any] = {"error": f"no more than {MOST_CALLS} calls; answer from what was found"}
        else:
            self._done += 1
            key = f"{call.name} {json.dumps(arguments, sort_keys=True, ensure_ascii=False)}"
            if key in self._known:
                told = {"note": "this was called before, with the same result"}
            else:
                told = self._known[key] = self._result(call, arguments)
            yield Called(call.name[:80], arguments or {}, told, round(time.perf_counter() - start, 4))
            if len(self.passages) > known:
                yield from self._found()
        text = clip(json.dumps(told, ensure_ascii=False), max(200, min(RESULT_CHARS, 2 * self._room())))
        self._messages.append(Message("tool", text, answers=call.id))

    def _result(self, call: ToolCall, arguments: Mapping[str, Any] | None) -> dict[str, Any]:
        """What the model reads of one call."""
        tool: Tool | None = self._tools.get(call.name)
        if tool is None:
            return {"error": f"there is no tool {call.name[:80]!r}; there are {', '.join(self._tools)}"}
        if arguments is None:
            takes = ", ".join(tool.arguments.model_fields)
            return {"error": f"the arguments are no JSON object; {call.name} takes {takes}"}
        try:
            found = tool.call(arguments)
        except OsragError as error:
            return {"error": error.sentence()}
        told: dict[str, Any] = readable(found.told, self._number(found))
        return told

    def _number(self, found: Found) -> dict[str, int]:
        """The numbers of the passages by chunk; new ones go on from the last."""
        numbers = {passage.chunk.id: passage.number for passage in self.passages}
        for hit in found.hits[:CITABLE]:
            if hit.chunk.id not in numbers:
                numbers[hit.chunk.id] = self._next
                self.passages.append(Passage(self._next, hit.chunk, hit.score, hit.similarity))
                self._next += 1
        return numbers

    def _found(self) -> Iterator[Event]:
        """The passages of each source so far."""
        for source in ("textbook", "kernel"):
            name: SourceName = "kernel" if source == "kernel" else "textbook"
            own = tuple(one for one in self.passages if isinstance(one.chunk, CodeChunk) == (name == "kernel"))
            if own:
                version = self._parts.kernel.version if name == "kernel" else ""
                thought = say("tutor_thought", self._question.reply_language, calls=self._done, kept=len(own))
                yield Retrieved(name, own, thought, version=version)

    def _room(self) -> int:
        """Tokens of the context that results may still take."""
        told = "".join(f"{one.content}{''.join(call.arguments for call in one.calls)}" for one in self._messages)
        specs = json.dumps([[spec.name, spec.about, spec.parameters] for spec in self._specs])
        return self._chat.abilities.context_tokens - self._chat.count_tokens(told + specs) - ANSWER_TOKENS

    def _token(self, text: str) -> Token:
        if self._clock.mark_once("first_token") and all(isinstance(one.chunk, CodeChunk) for one in self.passages):
            self._source = "kernel"
        return Token(self._source, text)

    def _has_kernel(self) -> bool:
        try:
            return self._parts.kernel is not None
        except BadIndex:
            return False

    def _check(self, claim: str, named: tuple[int, ...]) -> Support:
        """Whether a passage of the book, or a function, supports a claim."""
        if self._evidence is None or self._evidence[0] != len(self.passages):
            self._evidence = len(self.passages), self._checker()
        return self._evidence[1](claim, named)

    def _checker(self) -> Callable[[str, tuple[int, ...]], Support]:
        code = CodeEvidence([one for one in self.passages if isinstance(one.chunk, CodeChunk)])
        book = Evidence([one for one in self.passages if isinstance(one.chunk, Chunk)], self._parts.checker)
        asked = self._question.text

        def checked(claim: str, named: tuple[int, ...]) -> Support:
            by_code = check_code(claim, code, question=asked) if code.chunks else Support(None, 0.0, "meaning")
            if by_code.passage is not None or not book.statements:
                return by_code
            return check(claim, book, question=asked, claimed=named)

        return checked


def read_arguments(text: str) -> dict[str, Any] | None:
    """The arguments of a call; small slips of the JSON are forgiven, None where it is no object."""
    import json_repair

    value = json_repair.loads(text) if text.strip() else {}
    return value if isinstance(value, dict) else None


def readable(value: Any, numbers: Mapping[str, int]) -> Any:
    """A result without what no model needs, its texts cut, each passage with its number."""
    if isinstance(value, str):
        return clip(value, TEXT_CHARS)
    if isinstance(value, Mapping):
        said = {name: one for name, one in value.items() if name not in UNREAD and one not in (None, "")}
        kept = {name: readable(one, numbers) for name, one in said.items()}
        number = numbers.get(str(value.get("chunk_id")))
        return {"number": number, **kept} if number else kept
    if isinstance(value, Sequence):
        return [readable(one, numbers) for one in value[: 4 * CITABLE]]
    return value
