"""One table of tools: what a model may call by itself, and what scripts call over HTTP and MCP (S2).

A tool is a function with type hints and a docstring; its JSON schema, the check of its arguments and its endpoint are
all read off these. Every tool only looks something up or computes it: a document that gives orders can at most have
one more thing looked up.
"""

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, Field, ValidationError, create_model

from osrag.answer.source import asked
from osrag.app.computed import address, read_exercise
from osrag.app.parts import Parts
from osrag.app.plain import code_json, hit_json, reached_json, reading_json, search_json
from osrag.errors import BadInput
from osrag.kernel.code import fields
from osrag.kernel.expand import Reached, callees, callers, definition, piece
from osrag.lab.catalog import KINDS, kind_named
from osrag.lab.solve import Solved, answer_line, as_json, sentence, solve
from osrag.lab.words import word
from osrag.models.protocols import ToolSpec
from osrag.types import AnyChunk, AnyHit, Chunk, CodeChunk, CodeHit, Hit, Language, LineRef, SourceName, Within
from osrag.wording import say

MOST_NAME = 200  # characters of a name of code, which are shorter than 80
MOST_PAGE = 12  # chunks of one page
LAST_PAGE = 10**6  # or line, of a file
MOST_TOLD = 20  # names that a schema tells a model
MOST_VALUES = 60  # of an exercise; the kinds have 15 at most

# Arguments as whoever calls sees them. A limit of length that a setting holds is checked by the tool itself (O3).
Asked = Annotated[str, Field(json_schema_extra={"maxLength": "max_question_chars"})]
Named = Annotated[str, Field(json_schema_extra={"maxLength": MOST_NAME})]
Count = Annotated[int, Field(ge=1, le=20)]
Either = Literal["", "zh", "en"]
# A name that is none gets a sentence with all of them, which a schema alone would not say.
KindName = Annotated[str, Field(json_schema_extra={"enum": list(KINDS)})]
KindOrNone = Annotated[str, Field(json_schema_extra={"enum": ["", *KINDS]})]
Values = Annotated[dict[str, Any], Field(max_length=MOST_VALUES)]


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool returns: plain data, and what of it an answer may cite."""

    told: dict[str, Any]
    hits: tuple[AnyHit, ...] = ()


class Toolbox:
    """The tools over the parts of a running osrag. Safe to call from several threads."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def keyword_search(
        self,
        query: Asked,
        source: SourceName = "textbook",
        k: Count = 5,
        category: Named = "",
        file: Named = "",
        language: Either = "",
    ) -> Found:
        """Find passages that hold the very words of the query: names, error messages, numbers, exact terms.

        Args:
            query: the words
            source: "textbook" (course material) or "kernel" (code of Linux)
            k: how many
            category: of the course material, such as "textbook", "faq", "api" or "notes"; "" takes all
            file: one file of the course material; "" takes all
            language: "zh" or "en", of the course material; "" takes both
        """
        text = self._asked(query)
        if source == "kernel":
            return self._kernel(text, k)
        hits = self._parts.textbook.keyword_search(text, k=k, within=self._within(category, file, language))
        return Found({"query": text, "hits": [hit_json(hit) for hit in hits]}, hits)

    def semantic_search(
        self,
        query: Asked,
        source: SourceName = "textbook",
        k: Count = 5,
        category: Named = "",
        file: Named = "",
        language: Either = "",
    ) -> Found:
        """Find passages by meaning, in either language, best first. Ask in whole words, one notion at a time.

        Args:
            query: what to look for, in Chinese or English
            source: "textbook" (course material) or "kernel" (functions of Linux)
            k: how many
            category: of the course material, such as "textbook", "faq", "api" or "notes"; "" takes all
            file: one file of the course material; "" takes all
            language: "zh" or "en", of the course material; "" takes both
        """
        text = self._asked(query)
        if source == "kernel":
            return self._kernel(text, k)
        result = self._parts.textbook.search(text, k=k, within=self._within(category, file, language))
        return Found(search_json(result), result.hits)

    def get_page_content(self, file: Named, page: Annotated[int, Field(ge=1, le=LAST_PAGE)]) -> Found:
        """All text of one page of the course material, to read on around a passage.

        Args:
            file: file name as in a search result
            page: place of the page in the file, `first_page` of a result; of a text file the line
        """
        search = self._parts.textbook
        chunks = search.page(file, page)[:MOST_PAGE]
        if not chunks:
            names = ", ".join(document.name for document in search.collection.manifest.documents)
            raise BadInput(f"there is no text on page {page} of {file[:MOST_NAME]!r}", hint=f"files: {names}")
        hits = tuple(Hit(chunk, 0.0, 0.0, "page") for chunk in chunks)
        return Found({"file_name": file, "page": page, "chunks": [hit_json(hit) for hit in hits]}, hits)

    def get_chunk_by_id(self, chunk_id: Named) -> Found:
        """The whole text of one passage or piece of code.

        Args:
            chunk_id: as in a search result, such as "os-course-en.pdf#p67-2" or "kernel/fork.c:2000-2400"
        """
        chunk = self._chunk(chunk_id[:MOST_NAME])
        if isinstance(chunk, CodeChunk):
            code = CodeHit(chunk, 0.0, 0.0, "id")
            return Found(code_json(chunk, self._parts.kernel.version), (code,))
        hit = Hit(chunk, 0.0, 0.0, "id")
        return Found(hit_json(hit), (hit,))

    def definition(self, name: Named, file: Named = "") -> Found:
        """The Linux source of a function, structure, macro or table by its name, with true lines and a link.

        Args:
            name: as in the C source, such as "copy_page_range"
            file: "mm/memory.c" where several files have one of this name; "" gives all of them

        Returns:
            found: name, kind, file, lines, description, url and code of each; fields of a structure
        """
        store, name = self._parts.kernel.store, asked(name, MOST_NAME)
        piece(store, name, file)  # says what is near where there is none
        chunks = definition(store, name, file)
        rows = [code_json(chunk, store.version) | {"fields": list(fields(chunk))} for chunk in chunks]
        return Found({"version": store.version, "found": rows}, _code_hits(chunks))

    def callers(self, name: Named, file: Named = "") -> Found:
        """The functions of Linux that call a function, and the tables that hold a pointer to it, with the lines.

        Args:
            name: of the function, such as "wake_up_process"
            file: of the function, where several files have one of this name
        """
        return self._reached(callers, name, file)

    def callees(self, name: Named, file: Named = "") -> Found:
        """What a function of Linux calls, in the order of the calls, with the lines of the calls.

        Args:
            name: of the function, such as "do_exit"
            file: of the function, where several files have one of this name
        """
        return self._reached(callees, name, file)

    def solve(
        self, type: KindOrNone = "", parameters: Values | None = None, language: Language = "en", text: Asked = ""
    ) -> Found:
        """Compute an exercise of operating systems, such as page replacement, scheduling or address translation.

        Args:
            type: the kind of exercise: lru, rr, banker, scan, translate, inode, fork, …; a wrong name lists them all
            parameters: its values by name, as texts or JSON, such as {"frames": 3, "refs": "7,0,1,2"}
            language: "en" or "zh", of the sentences
            text: instead of type and parameters, an exercise in words; compare what it was read as with the text

        Returns:
            type, parameters, rules (conventions), missing and errors by field, steps, and the answer, which is
            null while something is missing or wrong; of a text also its other readings, under also, and the
            numbers that play no part, under unused
        """
        if not text.strip():
            solved = solve(kind_named(type), parameters or {})
            return Found(as_json(solved, language), _computed([solved], language))
        reading = read_exercise(self._asked(text), self._parts)
        all_read = [one.solved() for one in (reading, *reading.also)] if reading else []
        return Found(reading_json(reading, language), _computed(all_read, language))

    def _asked(self, text: str) -> str:
        return asked(text, self._parts.settings.max_question_chars)

    def _within(self, category: str, file: str, language: Either) -> Within:
        return within(self._parts, category, file, language)

    def _kernel(self, query: str, k: int) -> Found:
        """The search of the kernel goes by names and words as well as by meaning, whichever tool asks for it."""
        result = self._parts.kernel.search(query, k=k)
        return Found(search_json(result), result.hits)

    def _reached(self, relation: Callable[..., tuple[Reached, ...]], name: str, file: str) -> Found:
        store, name = self._parts.kernel.store, asked(name, MOST_NAME)
        own = piece(store, name, file)
        found = relation(store, own)
        told = {"version": store.version, "found": reached_json(found, store.version)}
        return Found(told, _code_hits([own, *(one.chunk for one in found)]))

    def _chunk(self, chunk_id: str) -> AnyChunk:
        book = self._parts.textbook.collection
        if (row := book.row_of(chunk_id)) is not None:
            return book.chunk(row)
        if re.fullmatch(r"[\w./-]+:\d+-\d+", chunk_id) and (code := self._parts.kernel.store.with_id(chunk_id)):
            return code
        raise BadInput(f"there is no passage {chunk_id!r}", hint="a search gives the chunk_id of each hit")


def within(parts: Parts, category: str, file: str, language: Either) -> Within:
    """The part of the course material that is named. Raises BadInput with what there is."""
    documents = parts.textbook.collection.manifest.documents if category or file else ()
    for name, value, known in (
        ("category", category, [document.category for document in documents]),
        ("file", file, [document.name for document in documents]),
    ):
        if value and value not in known:
            raise BadInput(f"there is no {name} {value[:MOST_NAME]!r}", hint=f"there are {', '.join(sorted({*known}))}")
    return Within(category, file, language)


def _code_hits(chunks: list[CodeChunk] | tuple[CodeChunk, ...]) -> tuple[AnyHit, ...]:
    return tuple(CodeHit(chunk, 0.0, 0.0, "name") for chunk in chunks)


def _computed(solved: Sequence[Solved], language: Language) -> tuple[Hit, ...]:
    """What the lab computed, as passages that an answer may cite."""
    hits = []
    for one in solved:
        if one.solution is not None:
            lines = [answer_line(one, language), *(sentence(step, language) for step in one.solution.steps)]
            name, url = word("kinds", one.kind.name, language), address(one)
            where = LineRef(1, len(lines))
            chunk = Chunk(
                url, "\n\n".join(lines), "lab", where, 0, (name,), language, title=say("tab_lab", language), url=url
            )
            hits.append(Hit(chunk, 1.0, 1.0, "computed"))
    return tuple(hits)


# -- the table ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Tool:
    """One row of the table."""

    run: Callable[..., Found]  # a method of `Toolbox`

    @property
    def name(self) -> str:
        return self.run.__name__

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """The arguments as a model of pydantic: what the type hints and the docstring say."""
        hints, told = get_type_hints(self.run, include_extras=True), _told(inspect.getdoc(self.run) or "")
        fields: dict[str, Any] = {}
        for name, parameter in inspect.signature(self.run).parameters.items():
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[name] = (hints[name], Field(default, description=told.get(name, "")))
        return create_model(self.name, __config__={"extra": "forbid"}, **fields)

    @cached_property
    def spec(self) -> ToolSpec:
        """The tool as a model is told of it."""
        schema = self.arguments.model_json_schema()
        about = (inspect.getdoc(self.run) or "").partition("\n\n")[0]
        return ToolSpec(self.name, about, _plain_schema(schema))

    def call(self, given: Mapping[str, Any]) -> Found:
        """Run the tool. Raises BadInput, which names the argument, for what does not fit; and what the tool raises."""
        try:
            read = self.arguments.model_validate(given)
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "the arguments"
            takes = ", ".join(self.arguments.model_fields)
            raise BadInput(f"{place}: {first['msg']}", hint=f"{self.name} takes {takes}") from error
        return self.run(**{name: getattr(read, name) for name in type(read).model_fields})


def tools(parts: Parts) -> dict[str, Tool]:
    """The table, by name."""
    box = Toolbox(parts)
    runs = (
        box.semantic_search, box.keyword_search, box.get_page_content, box.get_chunk_by_id,
        box.definition, box.callers, box.callees, box.solve,
    )  # fmt: skip
    return {run.__name__: Tool(run) for run in runs}


def _told(doc: str) -> dict[str, str]:
    """What a docstring says of each argument."""
    part = doc.partition("Args:")[2].partition("Returns:")[0]
    return dict(re.findall(r"^ +(\w+): (.+)$", part, re.MULTILINE))


def _plain_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema without titles, lengths and the 60 kinds of exercise: they are tokens of every question's prompt."""
    left_out = ("title", "maxLength")
    plain = {name: value for name, value in schema.items() if name not in left_out}
    told = plain.get("properties", {})
    plain["properties"] = {
        name: {k: v for k, v in one.items() if k not in left_out and not (k == "enum" and len(v) > MOST_TOLD)}
        for name, one in told.items()
    }
    return plain
