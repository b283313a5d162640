"""Drafts of prepared answers: a model chooses and words statements, a person approves them (T11).

    readers' questions, or headings -> sentences of their passages -> model -> checks -> a line of *.answers.jsonl

The model names sentences by number, so that every quote is the document's own words. Each statement is held against
its passage by the check that answers go through; what it finds stands in the draft as a doubt.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import BaseModel, Field

from osrag.answer.claims import check
from osrag.answer.statements import Evidence
from osrag.book.answers import AnswerLine, Kind, Side, Statement, faults_of
from osrag.book.asks import lines_of
from osrag.errors import ModelFailed
from osrag.files import appending
from osrag.models.protocols import ChatModel, ChatOptions, Encoder, Message
from osrag.models.structured import ask
from osrag.prompts import render
from osrag.text import folded
from osrag.types import Ask, Chunk, ChunkKind, Language, Passage, Progress, silent

PASSAGES = 2  # of one question that the model reads
SENTENCES = 24  # shown to the model; more confuse a small one
EACH = 2  # questions of readers that are taken from one section
REPLY_TOKENS = 500
_NUMBER = re.compile(r"\d+(\.\d+)*")


class Chosen(BaseModel, extra="ignore"):
    """One statement, as the model words it."""

    sentence: int
    say: str


class Reply(BaseModel, extra="ignore"):
    """What the model makes of a question."""

    kind: Kind
    statements: list[Chosen] = Field(max_length=8)


@dataclass(frozen=True, slots=True)
class Task:
    """A question, and the passages that its answer is to be made of."""

    question: str
    language: Language
    section: str
    passages: tuple[Passage, ...]
    quotes: tuple[str, ...] = ()  # stretches that answer it, as far as its writer named some

    @property
    def id(self) -> str:
        """The same for the same question, so that a run goes on where the last one stopped."""
        return f"{self.language}-{hashlib.sha256(self.question.encode()).hexdigest()[:12]}"


def tasks(chunks: Sequence[Chunk], asks: Sequence[Ask], *, only: str = "") -> list[Task]:
    """Questions about each section: those of readers, or the heading where nobody asked any.

    `only` is the beginning of a section's heading: "6", "6.2", "Memory".
    """
    by_id = {chunk.id: chunk for chunk in chunks}
    sections: dict[tuple[str, tuple[str, ...]], list[Chunk]] = {}
    for chunk in chunks:
        if chunk.section and chunk.kind is not ChunkKind.FAQ and any(one.startswith(only) for one in chunk.section):
            sections.setdefault((chunk.source, chunk.section), []).append(chunk)
    found: list[Task] = []
    for (_, path), own in sections.items():
        ids, language = {chunk.id for chunk in own}, own[0].language
        # One question of each teaching point: its other questions ask for the same page in another way.
        points = {
            one.quotes: one for one in asks if not one.answer and one.language == language and ids & {*one.chunk_ids}
        }
        asked = [
            (one.text, [by_id[id_] for id_ in one.chunk_ids if id_ in ids], one.quotes) for one in points.values()
        ][:EACH]
        number = _NUMBER.match(path[-1])
        section = number.group() if number else path[-1]
        for text, near, quotes in asked or [(_NUMBER.sub("", path[-1], count=1).strip(), own, ())]:
            passages = tuple(Passage(n, chunk, 0.0, 0.0) for n, chunk in enumerate(near[:PASSAGES], start=1))
            found.append(Task(text, language, section, passages, quotes))
    return found


def write_drafts(
    out: Path, wanted: Sequence[Task], chat: ChatModel, encoder: Encoder, progress: Progress = silent
) -> tuple[int, int]:
    """Append a draft of each task to `out`; those that it holds already are left as they are.

    Returns how many were written, and how many of them without a doubt. A question for which the model found nothing
    is asked again by the next run. Raises ModelFailed where the model dies.
    """
    known = {line.id for _, line in read(out)[0]} if out.exists() else set()
    left = [task for task in wanted if task.id not in known]
    written = sure = 0
    with appending(out) as file:
        for done, task in enumerate(left):
            progress("draft", len(wanted) - len(left) + done, len(wanted))
            line = draft(task, chat, encoder)
            if line is not None:
                file.write(line.model_dump_json(exclude_defaults=True) + "\n")
                file.flush()
                written, sure = written + 1, sure + (not line.doubts)
    progress("draft", len(wanted), len(wanted))
    return written, sure


def draft(task: Task, chat: ChatModel, encoder: Encoder) -> AnswerLine | None:
    """What the model makes of one task, with every doubt about it; None where it chose no sentence."""
    evidence = Evidence(task.passages, encoder)
    sentences = [one for one in evidence.statements if one.quotable][:SENTENCES]
    shown = "\n".join(f"{number}. {one.text}" for number, one in enumerate(sentences, start=1))
    messages = [
        Message("system", render("prepare", task.language)),
        Message("user", render("prepare_case", task.language, question=task.question, sentences=shown)),
    ]
    try:
        reply = ask(chat, messages, Reply, ChatOptions(max_tokens=REPLY_TOKENS, temperature=0.0, purpose="prepare"))
    except ModelFailed:
        return None
    doubts: list[str] = []
    chosen: list[Statement] = []
    for one in reply.statements:
        if not 1 <= one.sentence <= len(sentences) or not one.say.strip():
            doubts.append(f"the model names sentence {one.sentence}; there are {len(sentences)}")
            continue
        sentence = sentences[one.sentence - 1]
        support = check(one.say, alone(sentence.text, task.passages[0], encoder), question=task.question)
        if support.passage is None:
            doubts.append(f"not supported ({support.reason}): {one.say}")
        chosen.append(Statement(say=one.say, quote=sentence.text))
    if not chosen:
        return None
    if len(chosen) < 2:
        doubts.append("one statement only")
    said = folded("".join(one.quote for one in chosen))
    if task.quotes and not any(folded(quote) in said for quote in task.quotes):
        doubts.append("leaves out what the question was written for")
    side = Side(questions=(task.question,), answer=tuple(chosen))
    zh, en = (side if task.language == language else None for language in ("zh", "en"))
    line = AnswerLine(id=task.id, section=task.section, kind=reply.kind, zh=zh, en=en, draft=True)
    return line.model_copy(update={"doubts": (*doubts, *faults_of(line))})


def alone(sentence: str, passage: Passage, encoder: Encoder) -> Evidence:
    """One sentence as evidence: what a statement says must stand in the sentence that it quotes, not beside it."""
    return Evidence([replace(passage, chunk=replace(passage.chunk, text=sentence))], encoder)


def read(path: Path) -> tuple[list[tuple[int, AnswerLine]], list[str]]:
    """The answers of a file with their line numbers, and a sentence about each line that cannot be read."""
    faults: list[str] = []
    return list(lines_of(path, AnswerLine, "run `osrag prepare` again", faults)), faults


def review(path: Path) -> Iterator[str]:
    """What a person must decide about the drafts of a file: those with doubts first."""
    lines, faults = read(path)
    yield from faults
    drafts = [(number, line) for number, line in lines if line.draft]
    for number, line in sorted(drafts, key=lambda one: not one[1].doubts):
        for side in line.sides.values():
            yield f"{path.name}:{number}: {side.questions[0]}"
            yield from (f"    {one.say}\n        “{one.quote}”" for one in side.answer)
        yield from (f"    ? {doubt}" for doubt in line.doubts)
    doubtful = sum(bool(line.doubts) for _, line in drafts)
    yield f"{len(drafts)} drafts, {doubtful} with doubts. Approve one by taking its draft and doubts out of the line."
