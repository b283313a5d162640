"""What the forms share: the bytes that are written and what they leave out, HTML of a text and back."""

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html.parser import HTMLParser

from osrag.quiz.blanks import BLANK
from osrag.quiz.computed import PICTURES, pictures_of
from osrag.quiz.exercise import Exercise, RubricPoint

_FENCE = re.compile(r"```\w*\n(.*?)\n?```\n?", re.S)
_LINE = re.compile(r"_{3,}")
_CODE = re.compile(r"`([^`\n]+)`")
_BLOCK = {"p", "div", "li", "ul", "ol", "table", "tr", "h1", "h2", "h3", "h4", "pre"}
_RUBRIC = re.compile(r"^- (.*) \((\d+(?:\.\d+)?)\)$")
TAGS = ("section", "difficulty", "knowledge_point", "language")  # fields that travel as tags, `section:5.2`
TOP = "$course$/top/osrag"  # the category of everything
_CHAPTER = re.compile(r"/(?:Chapter|第)\s*(\w+)\s*章?$")
NEVER = ("check", "page_quote", "program")  # fields that no other program has a place for


@dataclass(frozen=True, slots=True)
class Written:
    """A file, and one line for everything that it could not hold: `ch05-001/en: hint`."""

    data: bytes
    lost: tuple[str, ...] = ()


def left_out(exercise: Exercise, *fields: str, pictures: bool = True) -> Iterator[str]:
    """A line for each of these fields, and of those that no form has, that an exercise has a value in.

    One more for its drawings where the form holds no `pictures`.
    """
    if not pictures and pictures_of(exercise):
        yield f"{exercise.name}: picture"
    for field in (*fields, *NEVER):
        if getattr(exercise, field):
            yield f"{exercise.name}: {field}"


def category_of(chapter: str) -> str:
    """The Moodle category of a chapter."""
    return f"{TOP}/Chapter {chapter}" if chapter else TOP


def chapter_of(category: str) -> str:
    """The chapter that a category names; empty where it names none."""
    found = _CHAPTER.search(category.strip())
    return found[1] if found else ""


def id_of(name: str) -> str:
    """The id in `ch05-001/en`; any other name as it is."""
    return re.sub(r"/(zh|en)$", "", name)


def share_of_marks(exercise: Exercise, key: str) -> str:
    """What choosing an option brings, in per cent: right ones share 100, wrong ones of several cost it."""
    count = len(exercise.answer)
    wrong = -100 / max(1, len(exercise.options) - count) if exercise.type == "multiple_choice" else 0
    return f"{100 / count if key in exercise.answer else wrong:.5f}".rstrip("0").rstrip(".")


def tags_of(exercise: Exercise) -> list[str]:
    """Fields as tags."""
    return [f"{field}:{value}" for field in TAGS if (value := getattr(exercise, field))]


def fields_of(tags: list[str]) -> dict[str, str]:
    """Tags as fields; other people's tags are left alone."""
    pairs = (tag.partition(":") for tag in tags)
    return {name: value for name, _, value in pairs if name in TAGS and value}


def fill(question: str, with_: Callable[[], str]) -> str:
    """The question with what `with_` gives in the place of each blank; an empty `fork()` is one only without ____."""
    mark = _LINE if _LINE.search(question) else BLANK
    return mark.sub(lambda found: with_() or found[0], question)


def as_html(text: str) -> str:
    """A text as HTML: `code` and fenced blocks as such, line ends kept."""
    out, start = [], 0
    for block in _FENCE.finditer(text):
        out += [_inline(text[start : block.start()]), f"<pre>{html.escape(block[1], quote=False)}</pre>"]
        start = block.end()
    return "".join([*out, _inline(text[start:])])


def _inline(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", html.escape(text, quote=False)).replace("\n", "<br>")


def unspoken(markup: str) -> list[str]:
    """The addresses of pictures in HTML that have no alternative text."""
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return reader.unspoken


def as_text(markup: str) -> str:
    """What HTML says, as `as_html` took it: line ends, `code`, fenced blocks; pictures by their alternative text.

    A drawing of ours says nothing: it is drawn again from its exercise.
    """
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    return re.sub(r"\n{3,}", "\n\n", "".join(reader.parts)).strip()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.unspoken: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "style"):
            self._silent += 1
        elif tag == "pre":
            self._block("```\n")
        elif tag == "code":
            self.parts.append("`")
        elif tag == "br":
            self.parts.append("\n")
        elif tag == "img":
            self._picture(dict(attrs))
        elif tag in _BLOCK:
            self._block("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._silent = max(0, self._silent - 1)
        elif tag == "pre":
            self._block("```\n")
        elif tag == "code":
            self.parts.append("`")
        elif tag in _BLOCK:
            self._block("")

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)

    def _picture(self, attrs: dict[str, str | None]) -> None:
        source, alt = attrs.get("src") or "", attrs.get("alt") or ""
        if source.rsplit("/", 1)[-1].startswith(PICTURES):
            return
        self.parts.append(alt)
        self.unspoken += [] if alt.strip() else [source]

    def _block(self, mark: str) -> None:
        joined = "".join(self.parts)
        self.parts.append(("\n" if joined and not joined.endswith("\n") else "") + mark)


def marking_scheme(exercise: Exercise) -> str:
    """Reference and rubric as one text for a marker: the reference, an empty line, `- point (2)` for each point."""
    points = "\n".join(f"- {point.point} ({point.points:g})" for point in exercise.rubric)
    return "\n\n".join(filter(None, [exercise.reference, points]))


def read_scheme(text: str) -> tuple[str, list[RubricPoint]]:
    """(reference, rubric) of such a text; a text without points is a reference."""
    points: list[RubricPoint] = []
    lines = text.split("\n")
    while lines and (found := _RUBRIC.match(lines[-1].strip())):
        points.insert(0, RubricPoint(found[1], float(found[2])))
        lines.pop()
    return "\n".join(lines).strip(), points
