"""What each endpoint replies with, as JSON schemas: what a client reads under "returns", and what a test holds."""

from typing import Any

Schema = dict[str, Any]
NULL: Schema = {"type": "null"}


def _of(kind: str, said: str) -> Schema:
    return {"type": kind, "description": said}


def text(said: str) -> Schema:
    return _of("string", said)


def number(said: str) -> Schema:
    return _of("number", said)


def whole(said: str) -> Schema:
    return _of("integer", said)


def yes(said: str) -> Schema:
    return _of("boolean", said)


def anything(said: str) -> Schema:
    """An object whose names are not fixed."""
    return _of("object", said)


def many(item: Schema, said: str) -> Schema:
    return {"type": "array", "items": item, "description": said}


def or_null(schema: Schema) -> Schema:
    kind = {name: value for name, value in schema.items() if name != "description"}
    return {"anyOf": [kind, NULL], "description": schema["description"]}


def either(*schemas: Schema, said: str) -> Schema:
    return {"anyOf": list(schemas), "description": said}


def record(said: str = "", /, **fields: Schema) -> Schema:
    """An object with these fields; those whose name ends with `_` are there only where they apply."""
    return {
        "type": "object",
        "properties": {name.removesuffix("_"): schema for name, schema in fields.items()},
        "required": [name for name in fields if not name.endswith("_")],
        **({"description": said} if said else {}),
    }


WHERE = {
    "first_page": or_null(whole("place of its first page in the file, from 1")),
    "last_page": or_null(whole("place of its last page")),
    "page_label": or_null(text("what is printed on the first page")),
    "first_line": or_null(whole("of a text file, its first line")),
    "last_line": or_null(whole("its last line")),
}
SCORES = {
    "score": number("the higher, the better, within this reply"),
    "similarity": number("to the question by meaning, 0 to 1; 0 where nothing was compared"),
}
API = anything("of a system call or library function: its entry in parts")
HIT = {
    "chunk_id": text("the name of the passage, as get_chunk_by_id takes it"),
    "file_name": text("the file it stands in"),
    "section": text("chapter and sections, with > between"),
    **WHERE,
    "version": text("of the material, where it says so"),
    "url": text("where it can be read in the net, if anywhere"),
    **SCORES,
    "text": text("the passage"),
    "api_": API,
}
CODE = {
    "chunk_id": text("file:first-last line"),
    "name": text("of the function, structure, macro or table"),
    "kind": text("function, struct, macro, …"),
    "file": text("path in the kernel tree"),
    "first_line": whole("its first line"),
    "last_line": whole("its last line"),
    "description": text("what it does, in both languages"),
    "url": text("the line in the source on the net"),
}
SOURCE = text("the text of it")
BOOK_PASSAGE = {
    "number": whole("its [number] in the answer; 0 before it is cited"),
    **{name: HIT[name] for name in ("chunk_id", "file_name", "section", "version", "url", "text")},
    **WHERE,
    **SCORES,
    "title": text("of the file"),
    "recognised": or_null(number("of a scan, how surely its text was read")),
    "language": text("zh or en"),
    "kind": text("what the passage is: text, code, table, api, …"),
    "api_": API,
}
FUNCTION = {  # where code is told beside passages, or as a file's
    "function_name": CODE["name"],
    "kind": CODE["kind"],
    "start_line": CODE["first_line"],
    "end_line": CODE["last_line"],
    "description": CODE["description"],
}
CODE_PASSAGE = {
    **{name: BOOK_PASSAGE[name] for name in ("number", "chunk_id", "file_name", "score", "similarity", "text", "url")},
    **FUNCTION,
}
PASSAGE = either(record(**BOOK_PASSAGE), record(**CODE_PASSAGE), said="of the book, or of the kernel")
TIMES = anything("milliseconds by stage")
CONVERSATION = text("its name, to go on with; empty where there is none")
CONFIDENCE = number("that the best hit answers, 0 to 1")
SEARCH = {
    "query": text("what was searched for"),
    "hits": many(record(**HIT), "best first"),
    "confidence_": CONFIDENCE,
    "timings_ms_": TIMES,
}
KERNEL_SEARCH = {
    "query": SEARCH["query"],
    "timestamp": text("when, in ISO 8601"),
    "retrieved_files": many(
        record(
            source_file=text("path in the kernel tree"),
            md_summary=text("what the file is for"),
            similarity=SCORES["similarity"],
            chunks=many(
                record(
                    chunk_id=CODE["chunk_id"],
                    **FUNCTION,
                    **SCORES,
                    content=SOURCE,
                ),
                "its functions that were found, best first",
            ),
        ),
        "by file, best first",
    ),
    "kernel_version": text("of the tree"),
    "confidence": CONFIDENCE,
    "missing": many(anything("a name and those near it"), "names that the question has and the kernel has not"),
    "notes": many(text("a sentence"), "about the search"),
    "timings_ms": TIMES,
}
EITHER_SEARCH = either(record(**SEARCH), record(**KERNEL_SEARCH), said="of the book, or of the kernel")
ANSWER = {
    "question": text("as it was asked"),
    "answer": text("Markdown, citations as [number]"),
    "passages": many(PASSAGE, "what the answer may cite"),
    "cited": many(whole("a number"), "the passages that it does cite"),
    "refused": yes("the material has no answer"),
    "how": text("generated, extracts, prepared, refused, …"),
    "statements": many(anything("a sentence with the passage behind it"), "what the answer says, and what supports it"),
    "error": text("why it broke off; empty when all is well"),
    "kernel_version_": text("where the kernel was asked"),
    "calls_": many(many(text("a function"), "caller and callee"), "calls between the functions that were found"),
}
COMPUTED = record(
    value=either(
        *({"type": kind} for kind in ("number", "string", "boolean", "null")), many({}, ""), said="as it was computed"
    ),
    unit=text("of the value"),
    text=text("as a student would write it"),
)
SOLVED = {
    "type": or_null(text("the kind of exercise; null where a text is none")),
    "parameters": anything("its values by name"),
    "rules": anything("the conventions that were followed, by name"),
    "missing": many(text("a name"), "values that are needed"),
    "errors": anything("by value, what is wrong with it"),
    "steps": many(record(text=text("the step"), row_=anything("its line of the table, by column")), "the way"),
    "answer": or_null({**COMPUTED, "description": "null while something is missing or wrong"}),
}
READING = {**SOLVED, "also_": many(record(**SOLVED), "other ways to read a text")}
READING |= {"unused_": many(text("a number"), "of the text that play no part")}
POINT = record(
    point=text("what is asked for"),
    points=number("its marks"),
    earned=number("those that were given"),
    studentWords=text("the words of the answer for it"),
    proof=text("the sentence of the book"),
    passage=or_null(whole("the number of that passage")),
    seen=text("why"),
    open=yes("it could not be decided"),
)
JUDGED = {
    "stage": text("done"),
    "questionId": text("of the exercise"),
    "type": text("as it was read"),
    "isCorrect": or_null(yes("null where it could not be decided")),
    "confidence": number("of the verdict, 0 to 1"),
    "reasoning": text("why"),
    "correctAnswer": text("what would be right"),
    "analysis": text("why that is right"),
    "knowledgePoint": text("what it is about"),
    "score": number("marks that were given"),
    "fullMarks": number("marks that can be had"),
    "decidedBy": text("key, rubric, model, …"),
    "readAs": many(text("an entry"), "how the answer was read, where that is not plain"),
    "modelAnswer": text("what the model would answer"),
    "modelIsCorrect": or_null(yes("whether the model holds the answer right")),
    "disagreement": yes("key and model differ"),
    "fallback": yes("a smaller means had to serve"),
    "fallbackReason": text("why"),
    "needsTeacher": yes("somebody should look at it"),
    "undecided": yes("there is no verdict"),
    "note": text("what a student should know of the verdict"),
    "optionAnalysis_": many(record(key=text("of the option"), text=text("about it")), "of a choice"),
    "answerQuality_": text("of a written answer, in words"),
    "improvementSuggestions_": text("what is missing"),
    "points_": many(POINT, "by point of the rubric"),
    "blanks_": many(yes("it is right"), "of an answer to blanks, by blank"),
    "evidence": many(PASSAGE, "passages of the book on it"),
    "seconds": anything("by stage"),
}
FILE = record(
    name=text("of the file"),
    state=text("waiting, reading, embedding, ready or failed"),
    done=whole("pages read, or passages embedded"),
    total=whole("of so many"),
    pages=whole("that can be searched"),
    why=text("why it failed"),
    says=many(text("a sentence"), "about it"),
)
MATERIAL = record(material=text("the name to ask with"), files=many(FILE, "in the order in which they came"))
EXERCISE = {
    "type": text("the kind"),
    "level": text("easy, medium or hard"),
    "seed": whole("the same gives the same exercise"),
    "question": text("in words"),
    "parameters": SOLVED["parameters"],
    "columns": many(text("a heading"), "of the table of its steps"),
    "options": many(
        record(value={}, text=text("as shown"), right=yes("it is the answer"), mistake=text("that leads to it")),
        "of a choice",
    ),
    "answer": COMPUTED,
}
GRADE = {
    "right": or_null(whole("steps before the first wrong one; null with wrong parameters")),
    "total_": whole("steps"),
    "score_": number("0 to 1"),
    "first_wrong_": or_null(
        record(
            "the first wrong step",
            row=whole("from 1"),
            column=text("its heading"),
            seen=text("what stands there"),
            expected=text("what should"),
            why=text("how the step goes"),
            rule=text("the convention behind it"),
        )
    ),
    "section_": text("of the course book"),
    "page_": text("printed on it"),
    "errors_": SOLVED["errors"],
    "missing_": SOLVED["missing"],
}
FOUND = many(record(**CODE, by_pointer=yes("a pointer leads there"), lines=many(
    record(line=whole("its number"), text=text("of it")), "that lead there")), "in order")  # fmt: skip
DEFINED = many(record(**CODE, code=SOURCE, fields=many(text("a name"), "of a structure")), "of all that have the name")
VERSION = text("of the kernel tree")
INFO = {
    "version": text("of osrag"),
    "profile": text("as it is set"),
    "effort": text("as it is set"),
    "threshold": number("similarity below which passages are not used"),
    "models": anything("each model of the profile, and whether it is here"),
    "collections": anything("each index: counts, encoder, source, licence"),
    "running": anything("names of the models that serve"),
    "notices": anything("in zh and en: what was replaced by what, and why"),
    "messages": whole("of the conversation"),
    "conversation": CONVERSATION,
}
# An event of a run has fields of its own (docs/architecture.md, "Events"); these all have.
EVENT = {
    **record(type=text("of the event"), t=number("seconds since the start"), conversation=CONVERSATION),
    "additionalProperties": True,
}

REPLIES: dict[str, Schema] = {
    "chat": EVENT,
    "ask_textbook": record(**ANSWER),
    "ask_kernel": record(**ANSWER),
    "search_textbook": record(**SEARCH),
    "search_kernel": record(**KERNEL_SEARCH),
    "keyword_search": EITHER_SEARCH,
    "semantic_search": EITHER_SEARCH,
    "get_page_content": record(
        file_name=HIT["file_name"], page=whole("of the file"), chunks=many(record(**HIT), "in their order")
    ),
    "get_chunk_by_id": either(record(**HIT), record(**CODE, code=SOURCE), said="of the book, or of the kernel"),
    "definition": record(version=VERSION, found=DEFINED),
    "callers": record(version=VERSION, found=FOUND),
    "callees": record(version=VERSION, found=FOUND),
    "judge": record(**JUDGED),
    "explain": record(
        questionId=JUDGED["questionId"],
        explanation=text("Markdown, citations as [number]"),
        fallback=text("why a smaller means had to serve; empty where none had to"),
        passages=many(PASSAGE, "what it cites"),
    ),
    "solve": record(**READING),
    "exercise": record(**EXERCISE),
    "grade_trace": record(**GRADE),
    "add_material": MATERIAL,
    "material": MATERIAL,
    "remove_material": record(removed=many(text("a name"), "the files that are gone")),
    "set_threshold": record(threshold=number("as it is now"), conversation=CONVERSATION),
    "clear": record(cleared=whole("messages that are forgotten"), conversation=CONVERSATION),
    "info": record(**INFO),
}
