"""Every action as a named endpoint and an MCP tool (U6). The docstrings of `Endpoints` are what a tool user reads."""

import base64
import binascii
import inspect
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, get_type_hints

import gradio as gr
from pydantic import Field, WithJsonSchema

from osrag.answer.events import Done, Failed, Retrieved, SourceDone, Waiting
from osrag.answer.source import Question, asked
from osrag.answer.view import passage_json
from osrag.app.info import info as describe
from osrag.app.parts import Parts
from osrag.app.plain import event_json, exercise_json, grade_json, search_json
from osrag.app.run import answer
from osrag.app.tools import Asked, Either, KindName, Named, Tool, Values, tools, within
from osrag.app.voices import voices
from osrag.book.desk import Brought, Desk
from osrag.errors import BadInput
from osrag.lab.catalog import kind_named
from osrag.lab.exercise import exercise, grade_trace
from osrag.lab.kind import Level
from osrag.lab.solve import as_json, solve
from osrag.models.sources import writing
from osrag.quiz.exercise import TYPES
from osrag.quiz.explain import explained
from osrag.quiz.judge import MAX_ANSWER, judged
from osrag.quiz.rows import MAX_OPTIONS, MAX_POINTS, MAX_QUESTION
from osrag.types import Effort, Language, SourceChoice, Turn
from osrag.ui.admission import (
    LAB,
    MODEL,
    QUIZ,
    QUIZ_AT_ONCE,
    SEARCH,
    RateLimit,
    address_of,
    answers_at_once,
    gone,
    session_of,
)
from osrag.ui.arguments import Refused, checked, schemas, spend
from osrag.ui.guard import MOST_BODY
from osrag.ui.material import AT_ONCE as READ_AT_ONCE
from osrag.ui.material import UPLOAD, state_text
from osrag.ui.replies import REPLIES
from osrag.ui.scripts import MOST_CELLS, MOST_ROWS
from osrag.ui.state import Conversation, Conversations
from osrag.wording import say

Reply = dict[str, Any]
AT_ONCE = 4  # searches, and exercises that are computed
MOST_CHARS = 200_000  # of all arguments of a call, beside a pasted log: a long answer and its exercise have 50,000
MOST_SEED = 10**9
MOST_CONVERSATION = 80  # characters of the name of a conversation, which has 16
PROGRAM = "program/"  # begins the session of a desk that a program opened: a page's session is no name of one
KEPT_CONVERSATIONS = 1000  # a few kilobytes each
KEPT_OF_ADDRESS = 200  # of them

# Arguments as a client sees them. A limit of length that a setting holds is checked by the run itself (O3).
AskedOrLog = Annotated[str, Field(json_schema_extra={"maxLength": "max_log_chars"})]
Chat = Annotated[str, Field(max_length=MOST_CONVERSATION)]
FileName = Annotated[str, Field(pattern=r"^[^/\\\x00-\x1f]{1,80}$", max_length=80)]
Content = Annotated[str, Field(json_schema_extra={"maxLength": MOST_BODY, "contentEncoding": "base64"})]
Seed = Annotated[int, Field(ge=0, le=MOST_SEED)]
Share = Annotated[float, Field(ge=0, le=1)]
Answer = Annotated[str, Field(json_schema_extra={"maxLength": MAX_ANSWER})]
Trace = Annotated[
    list[Annotated[list[Any], Field(max_length=MOST_CELLS)]],
    Field(max_length=MOST_ROWS),
]
# Read leniently (osrag/quiz/rows.py); this is how to write it.
TEXT = {"type": "string", "maxLength": MOST_CHARS}
ROW = {
    "question": {"type": "string", "maxLength": MAX_QUESTION, "description": "what is asked"},
    "type": {"enum": list(TYPES), "description": "what is left out is told by the other fields"},
    "options": {
        "type": "array",
        "items": TEXT,
        "maxItems": MAX_OPTIONS,
        "description": "of a choice, without their letters",
    },
    "answer": {**TEXT, "description": "the key, such as AC, T or the words for the blanks"},
    "reference": {**TEXT, "description": "a model answer"},
    "rubric": {
        "type": "array",
        "items": TEXT,
        "maxItems": MAX_POINTS,
        "description": "such as: names mutual exclusion (2)",
    },
    "language": {"enum": ["zh", "en"], "description": "of the question; else its own"},
}
Row = Annotated[
    dict[str, Any],
    WithJsonSchema({"type": "object", "properties": ROW, "additionalProperties": True}),
]


class Endpoints:
    """One method for each endpoint. None takes a `gr.State`: over MCP Gradio shares it between all clients."""

    def __init__(self, parts: Parts, limit: RateLimit) -> None:
        self._parts = parts
        self._limit = limit
        most = parts.settings.searches_per_minute, parts.settings.visitors_per_address
        self._looks = RateLimit(*most, refused=parts.metrics.refused("too_often"))
        self._kept = Conversations(KEPT_CONVERSATIONS, KEPT_OF_ADDRESS)

    def add(self, page: gr.Blocks) -> None:
        """Add all of them to the page that is being built."""
        settings = self._parts.settings
        slots, table = settings.slots, tools(self._parts)
        looks = [tool for name, tool in table.items() if name != "solve"]
        lines: dict[tuple[str | None, int], tuple[Callable[..., Any], ...]] = {
            (MODEL, answers_at_once(slots, self._parts.chat)): (self.chat, self.ask_textbook, self.ask_kernel),
            (QUIZ, QUIZ_AT_ONCE * slots): (self.judge, self.explain),
            (SEARCH, AT_ONCE): (self.search_textbook, self.search_kernel, *map(self._endpoint, looks)),
            (LAB, AT_ONCE): (self._endpoint(table["solve"]), self.exercise, self.grade_trace),
            (UPLOAD, READ_AT_ONCE): (self.add_material,),
            (None, AT_ONCE): (self.material, self.remove_material, self.set_threshold, self.clear, self.info),
        }  # fmt: skip
        for (line, at_once), runs in lines.items():
            limit = self._limit if line in (MODEL, QUIZ, UPLOAD) else self._looks
            most = {MODEL: settings.max_log_chars, UPLOAD: MOST_BODY}.get(line or "", 0)
            for run in runs:
                behind = checked(run, limit, most + MOST_CHARS)
                made = gr.api(behind, api_name=run.__name__, concurrency_id=line, concurrency_limit=at_once)
                shown = page.fns[made["id"]].inputs
                for component, (name, schema) in zip(shown, schemas(run, settings).items(), strict=True):
                    component.label, component._api_info = name, schema
                (reply,) = page.fns[made["id"]].outputs
                reply.label, reply._api_info = "reply", REPLIES[run.__name__]

    def _endpoint(self, tool: Tool) -> Callable[..., Reply]:
        """A tool as an endpoint: the same name, arguments and words, and the request that Gradio passes."""
        own = list(inspect.signature(tool.run).parameters.values())
        needed = [one for one in own if one.default is one.empty]
        sent_by = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=gr.Request)

        def run(request: gr.Request, **given: Any) -> Reply:
            if tool.name == "solve" and given.get("text", "").strip():
                spend(self._limit, request)  # a model may look for what the grammar does not find
            return tool.run(**given).told

        run.__name__, run.__doc__ = tool.name, tool.run.__doc__
        hints = get_type_hints(tool.run, include_extras=True)
        run.__annotations__ = {**hints, "request": gr.Request, "return": Reply}
        order = [*needed, sent_by, *(one for one in own if one not in needed)]
        run.__signature__ = inspect.Signature(order, return_annotation=Reply)  # type: ignore[attr-defined]
        return run

    def chat(
        self,
        question: AskedOrLog,
        request: gr.Request,
        effort: Effort = "fast",
        source: SourceChoice = "auto",
        conversation: Chat = "",
        material: Chat = "",
        alone: bool = False,
    ) -> Iterator[Reply]:
        """Ask inside a conversation; a follow-up may say "it". Streams the events of the run.

        Args:
            question: the question, in Chinese or English, or an error log
            effort: "fast", "deep" or "tutor" (the model looks things up with tools; each call is an event `tool_call`)
            source: "auto" (the question decides), "textbook", "kernel" or "both"
            conversation: the `conversation` of an earlier reply, to go on with it; "" begins a new one
            material: the `material` of a reply of add_material, to ask those files beside the course book
            alone: ask the files of `material` only

        Returns:
            the last event: `text` is the whole answer in Markdown, `conversation` the name to go on with
        """
        parts = self._with(material, alone)
        name, before = self._named(conversation, request, begin=True)
        run = Question(question, threshold=before.threshold, history=before.turns, source=source, effort=effort)
        start = time.perf_counter()
        for event in answer(parts, run):
            if isinstance(event, Waiting):
                if gone():
                    return
                continue
            if isinstance(event, Done):
                kept = (self._kept.get(name) or before).with_turn(Turn(question, event.text))
                self._kept.put(name, kept, address_of(request))
            yield {**event_json(event, time.perf_counter() - start), "conversation": name}

    def ask_textbook(
        self,
        question: AskedOrLog,
        request: gr.Request,
        effort: Effort = "fast",
        category: Named = "",
        file: Named = "",
        language: Either = "",
        material: Chat = "",
        alone: bool = False,
    ) -> Reply:
        """Answer a question about operating systems from the course book.

        Args:
            question: the question, in Chinese or English
            effort: "fast" (one model call), "deep" (the model also plans the search and judges passages) or "tutor"
                (the model looks things up with tools)
            category: of the material to answer from, such as "textbook", "faq", "api" or "notes"; "" takes all
            file: one file of the material; "" takes all
            language: "zh" or "en", of the material; "" takes both
            material: the `material` of a reply of add_material, to ask those files beside the course book
            alone: ask the files of `material` only

        Returns:
            the answer in Markdown, with the cited passages (book, section, page) and any error
        """
        parts = self._with(material, alone)
        part = within(parts, category, file, language)
        return self._whole(Question(question, effort=effort, within=part), parts)

    def ask_kernel(self, question: AskedOrLog, request: gr.Request, effort: Effort = "fast") -> Reply:
        """Explain Linux kernel code: quoted functions with true lines, what they do, and the order to read them in.

        A pasted error log (oops, panic, lockdep, OOM, compiler error) is analysed instead.

        Args:
            question: the question, in Chinese or English, or an error log
            effort: "fast" (one model call), "deep" (the model also suggests names of code and judges what was found)
                or "tutor" (the model looks things up with tools)

        Returns:
            the answer in Markdown, with the functions, their lines, links to the source and any error
        """
        return self._whole(Question(question, source="kernel", effort=effort), self._parts)

    def search_textbook(
        self,
        question: Asked,
        request: gr.Request,
        k: Annotated[int, Field(ge=1, le=20)] = 8,
        category: Named = "",
        file: Named = "",
        language: Either = "",
        material: Chat = "",
        alone: bool = False,
    ) -> Reply:
        """Find passages of the course book, best first, with book, section, page and score.

        Args:
            question: what to search for, in Chinese or English
            k: how many passages
            category: of the material, such as "textbook", "faq", "api" or "notes"; "" takes all
            file: one file of the material; "" takes all
            language: "zh" or "en", of the material; "" takes both
            material: the `material` of a reply of add_material, to ask those files beside the course book
            alone: ask the files of `material` only
        """
        text = asked(question, self._parts.settings.max_question_chars)
        parts = self._with(material, alone)
        part = within(parts, category, file, language)
        return search_json(parts.textbook.search(text, k=k, within=part))

    def search_kernel(self, question: Asked, request: gr.Request, k: Annotated[int, Field(ge=1, le=30)] = 10) -> Reply:
        """Find functions of the Linux kernel, best first, by file, with lines, description and code.

        Args:
            question: what to search for, in Chinese or English, or the name of a function
            k: how many functions
        """
        text = asked(question, self._parts.settings.max_question_chars)
        return search_json(self._parts.kernel.search(text, k=k))

    def judge(self, question: Row, student_answer: Answer, request: gr.Request) -> Reply:
        """Judge a student's answer to an exercise: verdict, confidence, reasons, points and the pages behind them.

        Args:
            question: an object with question, type, options, answer (the key), reference and rubric; all but
                the question itself may be left out
            student_answer: what the student answered, such as "AC", "对" or a text
        """
        return deque(judged(self._parts.judge, question, student_answer), maxlen=1).pop()

    def explain(self, question: Row, request: gr.Request, student_answer: Answer = "") -> Reply:
        """Explain an exercise: why the right answer is right, each option, the student's mistake, what to read.

        Args:
            question: an object as for judge
            student_answer: what the student answered, if anything
        """
        return explained(self._parts.judge, question, student_answer)

    def exercise(
        self, type: KindName, request: gr.Request, level: Level = "easy", seed: Seed = 1, language: Language = "en"
    ) -> Reply:
        """Make an exercise with pleasant numbers, its answer and options. The same seed gives the same exercise.

        Args:
            type: the kind of exercise, as for solve
            level: "easy", "medium" or "hard"
            seed: a whole number; another one gives a twin
            language: "en" or "zh"
        """
        return exercise_json(exercise(kind_named(type), seed, level), level, seed, language)

    def grade_trace(
        self,
        type: KindName,
        parameters: Values,
        rows: Trace,
        request: gr.Request,
        language: Language = "en",
    ) -> Reply:
        """Grade a student's trace of an exercise up to its first wrong step.

        Args:
            type: the kind of exercise, as for solve
            parameters: its values by name, as for solve
            rows: the student's table, a list of cells for each step; an empty cell means "none"
            language: "en" or "zh"

        Returns:
            right, total and score; first_wrong with its row, column, expected value, reason and rule, or null; the
            section and page of the course book. With wrong parameters: errors and missing by field
        """
        kind = kind_named(type)
        solved = solve(kind, parameters)
        if solved.parameters is None:
            told = as_json(solved, language)
            return {"right": None, "errors": told["errors"], "missing": told["missing"]}
        cells = [[str(cell) for cell in row] for row in rows]
        page = voices(self._parts, kind, language).page
        return grade_json(grade_trace(kind, solved.parameters, cells), page, language)

    def add_material(
        self, name: FileName, content: Content, request: gr.Request, material: Chat = ""
    ) -> Iterator[Reply]:
        """Bring a file of your own, to ask it beside the course book or alone. Streams how far its reading is.

        Args:
            name: its name, such as "chapter-3.pdf": PDF, Word, PowerPoint, a picture, HTML, EPUB, notebook, Markdown
            content: its bytes in base64
            material: the `material` of an earlier reply, to lay the file beside those; "" begins anew

        Returns:
            the last state: `material` is the name to ask with, which nobody can guess; `files` as for material
        """
        try:
            data = base64.b64decode(content, validate=True)
        except (binascii.Error, ValueError):
            raise BadInput("the content is no base64", hint="encode the bytes of the file in it") from None
        if material:
            self._desk(material)
        material = material or secrets.token_urlsafe(12)
        desk = self._parts.desks.open(PROGRAM + material, address_of(request))
        if desk is None:
            raise Refused(say("own_no_room", "en"), "failed")
        with writing(desk.folder), TemporaryDirectory(dir=desk.folder.parent) as folder:
            file = Path(folder) / name.encode(errors="replace").decode()
            file.write_bytes(data)
            before: tuple[Brought, ...] = ()
            with closing(desk.bring([file])) as steps:
                for files in steps:
                    if gone():
                        return
                    self._parts.desks.busy(PROGRAM + material)
                    if files != before:
                        yield material_json(material, desk)
                    before = files

    def material(self, material: Chat, request: gr.Request) -> Reply:
        """How far the files are that add_material was given.

        Args:
            material: the `material` of a reply of add_material

        Returns:
            `files`, each with its name, its state ("waiting", "reading", "embedding", "ready", "failed"), how much of
            it is done, how many pages can be searched, why it failed, and sentences about it
        """
        return material_json(material, self._desk(material))

    def remove_material(self, material: Chat, request: gr.Request) -> Reply:
        """Delete all files that add_material was given. Without this they go after an hour without a question.

        Args:
            material: the `material` of a reply of add_material
        """
        files = self._desk(material).files
        self._parts.desks.close(PROGRAM + material)
        return {"removed": [one.name for one in files]}

    def _desk(self, material: str) -> Desk:
        desk = self._parts.desks.of(PROGRAM + material)
        if desk is None:
            raise Refused(f"there is no material {material!r} (any more); bring the files again", "bad_input")
        return desk

    def _with(self, material: str, alone: bool) -> Parts:
        """The parts that answer: with the files of `material` where it is named."""
        if not material:
            return self._parts
        desk = self._desk(material)
        if not desk.passages:
            raise Refused(f"nothing of the material {material!r} can be searched yet", "bad_input")
        return self._parts.with_desk(desk, alone=alone)

    def set_threshold(self, threshold: Share, request: gr.Request, conversation: Chat = "") -> Reply:
        """Set the similarity (0 to 1) below which passages are not used in a conversation.

        Args:
            threshold: 0 sets no limit
            conversation: the `conversation` of an earlier reply; "" begins a new one
        """
        name, kept = self._named(conversation, request, begin=True)
        self._kept.put(name, replace(kept, threshold=threshold), address_of(request))
        return {"threshold": threshold, "conversation": name}

    def clear(self, request: gr.Request, conversation: Chat = "") -> Reply:
        """Forget what was said in a conversation; its threshold stays.

        Args:
            conversation: the `conversation` of an earlier reply
        """
        name, kept = self._named(conversation, request)
        if kept.turns:
            self._kept.put(name, replace(kept, turns=()), address_of(request))
        return {"cleared": kept.messages, "conversation": name}

    def info(self, request: gr.Request, conversation: Chat = "") -> Reply:
        """Collections and sizes, models, profile; threshold of a conversation, and how many messages it holds.

        Args:
            conversation: the `conversation` of an earlier reply
        """
        parts = self._parts
        name, kept = self._named(conversation, request)
        return {
            **describe(parts.settings, parts.index_dir),
            "running": parts.running(),
            "notices": {"zh": parts.status("zh"), "en": parts.status("en")},
            "threshold": parts.settings.threshold if kept.threshold is None else kept.threshold,
            "messages": kept.messages,
            "conversation": name,
        }

    def _named(self, conversation: str, request: gr.Request, *, begin: bool = False) -> tuple[str, Conversation]:
        """The conversation that a caller means, with its name; a new one where none is named and `begin` is set.

        A caller of Gradio's own client has one session, and with it one conversation, without naming it.
        Others have to name theirs.
        """
        kept = self._kept.get(conversation)
        if conversation and kept is None:
            raise Refused(
                f'there is no conversation {conversation!r} (any more); leave it "" to begin a new one', "bad_input"
            )
        name = conversation or session_of(request)
        if begin and not name:
            name = secrets.token_urlsafe(12)  # nobody can guess it
            self._kept.put(name, Conversation(), address_of(request))
        return name, self._kept.get(name) or Conversation()

    def _whole(self, question: Question, parts: Parts) -> Reply:
        """A run as one object, for callers that do not stream."""
        reply: Reply = {"question": question.text, "answer": "", "passages": [], "cited": []}
        reply |= {"refused": False, "how": "", "statements": [], "error": ""}
        found: dict[str, list[Reply]] = {}  # by source: an answer may rest on both
        for event in answer(parts, question):
            match event:
                case Retrieved():
                    version = event.version
                    found[event.source] = [passage_json(one, kernel_version=version) for one in event.passages]
                    reply["passages"] = [one for part in found.values() for one in part]
                    if event.source == "kernel":
                        reply |= {"kernel_version": version, "calls": [list(edge) for edge in event.path.edges]}
                case SourceDone():
                    reply |= {"answer": event.text, "cited": list(event.cited), "refused": event.refused}
                    reply |= {"how": event.how, "statements": [asdict(said) for said in event.statements]}
                case Failed():
                    reply["error"] = f"{event.message} {event.hint}".strip()
                case _ if gone():
                    break
        return reply


def material_json(material: str, desk: Desk) -> Reply:
    """The files of a desk, each with its state."""
    shown = ("name", "state", "done", "total", "pages", "why")
    files = [
        {name: getattr(one, name) for name in shown} | {"says": [state_text(one, "en"), *one.told]}
        for one in desk.files
    ]
    return {"material": material, "files": files}
