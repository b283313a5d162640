"""The values that flow from corpus to page. All frozen; higher scores are better."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Language = Literal["zh", "en"]
HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Chinese characters, for a class of a regular expression
Effort = Literal["fast", "deep", "tutor"]  # "tutor": the model calls tools by itself (S2)
SourceName = Literal["textbook", "kernel"]
SourceChoice = Literal["auto", "textbook", "kernel", "both"]  # what a visitor asks for; "auto": the question decides

Progress = Callable[[str, int, int], None]  # what is being done, how much of it is done, how much there is in all


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True, slots=True)
class PageRef:
    """Pages of a PDF: the place in the file and the label printed on the page."""

    first: int  # 1-based place in the file
    last: int  # inclusive
    label: str  # printed on `first`: "xii", "21"; the place itself when nothing is printed


@dataclass(frozen=True, slots=True)
class LineRef:
    """Lines of a text file."""

    first: int  # 1-based
    last: int  # inclusive


class ChunkKind(StrEnum):
    """What a chunk holds; retrieval weighs kinds apart."""

    PROSE = "prose"
    FAQ = "faq"
    API = "api"
    FUNCTION = "function"
    STRUCT = "struct"
    ENUM = "enum"
    MACRO = "macro"
    TABLE = "table"
    OTHER = "other"  # the text between definitions, kept so that a file can be joined again


@dataclass(frozen=True, slots=True)
class Chunk:
    """One passage of the course material that a student can be sent to."""

    id: str  # "os-course-zh.pdf#p12-3"; survives a rebuild of the same document
    text: str
    source: str  # file name inside the corpus
    where: PageRef | LineRef
    position: int  # 0-based order inside the document
    section: tuple[str, ...]  # heading path, outermost first
    language: Language
    kind: ChunkKind = ChunkKind.PROSE
    title: str = ""  # title of the document
    category: str = ""  # "textbook", "faq", "api", "notes"
    subcategory: str = ""
    version: str = ""
    url: str = ""
    recognised: float = 0.0  # how sure text recognition was of its pages; 0 for text that nobody had to recognise

    @property
    def section_path(self) -> str:
        return " > ".join(self.section)


class Origin(StrEnum):
    """Where the description of a piece of code comes from; the most careful writer first."""

    NOTE = "note"  # data/kernel_notes.tsv
    MODEL = "model"  # a chat model wrote it while the index was built
    COMMENT = "comment"  # the programmer's comment above the code
    SUMMARY = "summary"  # a clause of the summary of its file; of a file: its written summary
    CODE = "code"  # nobody wrote one: it lists what can be read off the code


@dataclass(frozen=True, slots=True)
class CodeChunk:
    """One piece of a kernel source file, or a whole file (no text and no name) with its summary."""

    id: str  # "kernel/sched/core.c:4010-4120"
    text: str
    source: str  # path inside the kernel tree
    where: LineRef
    kind: ChunkKind
    name: str  # of the function, struct, enum, macro or table; "" for the rest
    en: str = ""  # what it is for, in English
    zh: str = ""  # the same in Chinese; "" where nobody wrote it
    terms: tuple[str, str] = ("", "")  # terms of the glossary, English and Chinese, that the search finds it by
    origin: Origin = Origin.CODE
    calls: tuple[str, ...] = ()
    called_by: tuple[str, ...] = ()

    @property
    def description(self) -> str:
        """What it is for, on a line in English and a line in Chinese, as far as there are both."""
        return "\n".join(filter(None, (self.en, self.zh)))


AnyChunk = Chunk | CodeChunk


@dataclass(frozen=True, slots=True)
class Ask:
    """A question of a student or an examiner, written beforehand, and the chunks that answer it.

    Such questions are searched beside the text, because students who do not know a term ask in other words.
    """

    text: str
    language: Language
    source: str  # file of questions: "os-course.asks.jsonl"
    quotes: tuple[str, ...]  # from the text that answers; they find the chunks when a document changes
    chunk_ids: tuple[str, ...] = ()  # empty while no document of the index has a quote
    answer: str = ""  # of an examiner's question: the fact that the quotes state


@dataclass(frozen=True, slots=True)
class PreparedRow:
    """A question that has a prepared answer or, where it has a `quote`, a statement of that answer.

    All rows of one answer in one language have its `id`. The statements stand in the order in which they are read.
    """

    text: str  # the question, or what a student reads
    id: str  # of the answer: "ch05-deadlock-what"
    language: Language
    source: str  # file of prepared answers: "ch05.answers.jsonl"
    line: int  # in that file, 1-based
    kind: str  # "what", "steps", "compare", …
    section: str  # of the book: "5.1"
    quote: str = ""  # from the text that bears the statement out
    chunk_ids: tuple[str, ...] = ()  # that hold the quote; empty while no document of the index has it


@dataclass(frozen=True, slots=True)
class WalkText:
    """A text by which a walk-through of the kernel is found; or, kept behind these, the walk itself."""

    text: str  # a question or the title, a statement, or the whole walk as JSON
    language: str  # "" of the walk itself
    source: str  # file of walks: "faults.toml"
    walk: str  # its id
    step: int  # number of the statement's step; 0: a question or the title


@dataclass(frozen=True, slots=True)
class Within:
    """The part of the course material that a search looks at; an empty field sets no limit."""

    category: str = ""  # "textbook", "faq", "api", "notes"
    file: str = ""  # file name inside the corpus
    language: Language | Literal[""] = ""


EVERYTHING = Within()


@dataclass(frozen=True, slots=True)
class Hit:
    """A textbook chunk found by a search.

    `score` ranks hits of one search and has no scale of its own; `similarity`
    is the encoder's cosine with the question, the one number that compares
    between questions (T7's threshold applies to it).
    """

    chunk: Chunk
    score: float
    similarity: float
    found_by: str  # "dense", "keyword", "fusion", "faq"


@dataclass(frozen=True, slots=True)
class CodeHit:
    """A kernel chunk found by a search; scores as in `Hit`."""

    chunk: CodeChunk
    score: float
    similarity: float
    found_by: str


AnyHit = Hit | CodeHit


@dataclass(frozen=True, slots=True)
class Passage:
    """A hit as an answer cites it: `[number]`."""

    number: int  # 1-based, unique inside one answer
    chunk: AnyChunk
    score: float
    similarity: float


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a run, for the line of times under an answer."""

    name: str  # a key of the interface table, e.g. "search", "generate"
    seconds: float
    note: str = ""  # "5 of 8 relevant"


@dataclass(frozen=True, slots=True)
class Turn:
    """One finished exchange of a conversation."""

    question: str
    answer: str
    below: str = ""  # what stands below the answer on the page: how it came about, links to other sources
    sources: tuple[str, ...] = ()  # what the answer cites, a line each
    own: bool = False  # material that the visitor brought was searched
