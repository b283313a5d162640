"""What a run or a search found as plain data, for the command line and the API."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from osrag.answer.events import Event, Retrieved, SourceDone, event_name
from osrag.answer.view import passage_json, source_url
from osrag.book.entries import api_fields
from osrag.book.search import SearchResult
from osrag.kernel.expand import Reached
from osrag.kernel.search import KernelResult
from osrag.lab.exercise import Exercise, TraceGrade
from osrag.lab.kind import Level
from osrag.lab.reading import Reading
from osrag.lab.solve import as_json, sentence, shown
from osrag.lab.words import table, word
from osrag.types import Chunk, ChunkKind, CodeChunk, Hit, Language, PageRef, Passage
from osrag.wording import say

HIT_FIELDS = (
    "chunk_id", "file_name", "section", "first_page", "last_page", "page_label", "first_line", "last_line", "version",
    "url", "score", "similarity", "text",
)  # fmt: skip


def event_json(event: Event, seconds: float) -> dict[str, Any]:
    """An event as one flat object: `type` (U7), `t` (seconds since the start of the run), then its fields."""
    value = asdict(event)
    source = value.pop("source", "")
    if isinstance(event, Retrieved):
        value["passages"] = [passage_json(passage, kernel_version=event.version) for passage in event.passages]
        if source == "textbook":
            for name in ("version", "path", "marked"):
                del value[name]
        else:
            del value["in_linux"]
    if isinstance(event, SourceDone):
        value["refused"] = event.refused
    return {"type": event_name(event), "t": round(seconds, 3), **value}


def search_json(result: SearchResult | KernelResult) -> dict[str, Any]:
    """A search as one object; that of the kernel lists its functions by file (K2)."""
    if isinstance(result, KernelResult):
        return result.to_dict()
    return {
        "query": result.query,
        "hits": [hit_json(hit) for hit in result.hits],
        "confidence": round(result.confidence, 3),
        "timings_ms": {name: round(ms, 2) for name, ms in result.timings_ms.items()},
    }


def hit_json(hit: Hit) -> dict[str, Any]:
    """A hit as a search shows it: a passage without a number."""
    told = passage_json(Passage(0, hit.chunk, hit.score, hit.similarity))
    row = {name: told[name] for name in HIT_FIELDS}
    return row | {"api": asdict(api_fields(hit.chunk.text))} if hit.chunk.kind is ChunkKind.API else row


def code_json(chunk: CodeChunk, version: str) -> dict[str, Any]:
    """A piece of kernel code as one object, with its whole text."""
    return {
        "chunk_id": chunk.id,
        "name": chunk.name,
        "kind": chunk.kind.value,
        "file": chunk.source,
        "first_line": chunk.where.first,
        "last_line": chunk.where.last,
        "description": chunk.description,
        "url": source_url(chunk.source, chunk.where.first, version),
        "code": chunk.text,
    }


def reached_json(found: Iterable[Reached], version: str) -> list[dict[str, Any]]:
    """Pieces of code without their text, each with the lines that lead to it: `{"line", "text"}`."""
    return [
        {name: value for name, value in code_json(one.chunk, version).items() if name != "code"}
        | {"by_pointer": one.indirect, "lines": [{"line": line.number, "text": line.text} for line in one.lines]}
        for one in found
    ]


def exercise_json(made: Exercise, level: Level, seed: int, language: Language) -> dict[str, Any]:
    """An exercise as one object, with its answer, and the mistake behind each wrong option."""
    columns = made.kind.solve(made.parameters).columns
    options = [
        {
            "value": option.value,
            "text": shown(option.value, made.answer.unit, language),
            "right": not option.mistake,
            "mistake": table()["mistakes"].get(option.mistake, {}).get(language, option.mistake),
        }
        for option in made.options
    ]
    return {
        "type": made.kind.name,
        "level": level,
        "seed": seed,
        "question": made.question(language),
        "parameters": made.parameters.model_dump(mode="json"),
        "columns": [word("columns", key, language) for key in columns],
        "options": options,
        "answer": {
            "value": made.answer.value,
            "unit": made.answer.unit,
            "text": shown(made.answer.value, made.answer.unit, language),
        },
    }


def reading_json(found: Reading | None, language: Language) -> dict[str, Any]:
    """What a text was read as, and its answer; `type` is None where no exercise was recognised."""
    if found is None:
        nothing: dict[str, Any] = {
            "parameters": {},
            "rules": {},
            "missing": [],
            "steps": [],
            "answer": None,
            "also": [],
            "unused": [],
        }
        return {"type": None, **nothing, "errors": {"text": say("lab_read_as_none", language)}}
    also = [as_json(one.solved(), language) for one in found.also]
    return {**as_json(found.solved(), language), "also": also, "unused": list(found.unused)}


def grade_json(grade: TraceGrade, page: Chunk | None, language: Language) -> dict[str, Any]:
    """The grade of a trace as one object; `first_wrong` is None where all rows are right."""
    wrong: dict[str, Any] | None = None
    if grade.step is not None:
        values = {name: shown(value, "", language) for name, value in grade.step.values.items()}
        wrong = {
            "row": grade.right + 1,
            "column": word("columns", grade.column, language),
            "seen": grade.seen,
            "expected": shown(grade.expected, "", language),
            "why": sentence(grade.step, language),
            "rule": word("rules", grade.step.rule, language, **values) if grade.step.rule else "",
        }
    at = page.where if page is not None else None
    return {
        "right": grade.right,
        "total": grade.total,
        "score": round(grade.score, 3),
        "first_wrong": wrong,
        "section": page.section_path if page is not None else "",
        "page": at.label if isinstance(at, PageRef) else "",
    }
