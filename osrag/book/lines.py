"""Passages of a book as lines that keep their place: paragraph, list, box, and what stands before them.

Chunks that follow each other in a document are joined where they overlap, so that an explanation that runs over the
end of a chunk is read in one piece.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from osrag.answer.statements import MAX_EN, MIN_EN, MIN_ZH, asserted, is_statement
from osrag.book.answers import PreparedAnswer
from osrag.book.chunking import MARKER, name_of
from osrag.text import folded, language_of, sentences
from osrag.types import AnyChunk, Chunk, ChunkKind, Passage

Role = Literal["prose", "definition", "item", "example", "pitfall", "summary", "other"]
ROLES: tuple[Role, ...] = ("prose", "definition", "item", "example", "pitfall", "summary", "other")
SUBCATEGORIES_LEFT_OUT = ("contents", "index", "references", "exercises")
TITLE_CHARS = 80  # of a line that names a box
ITEM_CHARS = 300  # a longer item is cut into its sentences
LONGEST_LIST = 12  # lines; a longer one is not taken whole
_TITLES: dict[Role, re.Pattern[str]] = {
    "definition": re.compile(r"(definition|theorem)\b|(定义|定理)", re.I),
    "pitfall": re.compile(r"(common )?(pitfall|misconception|myth|mistake)s?\b|(常见)?误区|常见错误", re.I),
    "example": re.compile(r"\**example\b|\**(例\s*\d|例子|例题|例[：:]|例$|示例)", re.I),
    "summary": re.compile(r"(chapter )?summary\b|(本章)?(小结|总结)", re.I),
}
# What numbers a figure; the sentences behind it may say in short what pages say at length.
_CAPTION = re.compile(r"^(figure|fig\.|table|图|表)\s*[\d.-]+\s*[:：]\s*", re.I)
_IN_THE_MIDDLE = re.compile(r"([2-9]|1\d)[.)、]|[（(]([2-9]|[b-z])[)）]|[②-⑳]")
_ANNOUNCES = re.compile(r"[:：]$|\bfollowing\b|如下|以下|下列")
# A line that tells what the book will say, or where, and nothing else; or promises a list that is not among the lines.
_TELLS_ZH = "(介绍|讨论|讲|说明|给出|分析|描述|比较|考察|展开)"
_OUTLINES = re.compile(
    rf"[^，。]{{0,8}}([本这下上前后]一?)[章节](?!点).{{0,12}}{_TELLS_ZH}"
    rf"|(下面|以下|接下来)(我们|将|就|先|再|来|分别|依次|逐[个一]|简要|具体)*(看|{_TELLS_ZH})"
    rf"|.{{0,30}}在(第.{{1,6}}[章节]|[下后]一?[章节]|后[面文]|下文)(中|里|再|还|会|将|详细|具体|进一步)*{_TELLS_ZH}"
    r"|(in )?(this|these|the (next|following|previous|last|rest of this)|(a )?later) (chapter|section|part)s?\b(?! of)"
    r"|((first|next|then|now|here|below|finally),? )?(we|I|let us) (will|shall|can|now|next|first|then|also|briefly| )*"
    r"(discuss|describe|look (more closely )?at|examine|introduce|present|explain|turn to|cover|outline|survey)\b"
    r"|.{0,60}\b(discussed|described|covered|explained|introduced|presented|examined) (further |in (more )?detail )?"
    r"(in (section|chapter|part|the next|a later)|below|later|next)\b",
    re.I,
)
_PROMISES = re.compile(
    r"\b(as follows|the following|listed below|shown below)\b[^.]{0,40}[.:]$|(如下|下列)[^，。；]{0,12}[。：]$", re.I
)
_BECAUSE = re.compile(r"(Because (?!of\b)|因为)")
_SENTENCE = re.compile(r"(?![a-z图表]|Fig|Table).+[.。!！][\"'”’」』）)]*$")
_ENDS = re.compile(r"[.。!！?？:：;；][\"'”’」』）)]*$")


@dataclass(frozen=True, slots=True)
class Line:
    """One sentence of a passage, or one item of a list."""

    text: str
    passage: int  # number of the passage
    run: int = 0  # chunks that follow each other in a document make one run
    paragraph: int = 0  # order among all paragraphs
    opens: bool = False  # begins its paragraph
    role: Role = "prose"
    group: int = -1  # the lines of one list, and the line that announces it, share it; -1 for others
    quotable: bool = False  # whole, in the book's own voice, and fit to be shown
    bridges: bool = False  # such a line, or a short or formal one that may stand between two of them
    answer: int = -1  # which prepared answer it is a statement of; -1 for a line of the book
    quote: str = ""  # that bears such a statement out
    level: int = -1  # of an item, how many lists its own lies in; -1 for others
    parent: int = -1  # in a nested list, the line of the item that this one belongs to, among all lines
    nested: bool = False  # of a list that holds lists
    under: str = ""  # names of the items that it belongs to, outermost first

    @property
    def in_context(self) -> str:
        """The text behind what it is about."""
        return f"{self.under}: {self.text}" if self.under else self.text


def lines_of(passages: Sequence[Passage]) -> tuple[Line, ...]:
    """The lines of all passages, run by run; the run of the best passage comes first.

    Exercises and lists of references are left out where there is something else: they ask, or name others' words.
    """
    kept = [one for one in passages if not _is_beside_the_text(one.chunk)] or passages
    out: list[Line] = []
    paragraph = 0
    for run, members in enumerate(_runs(kept)):
        lines: list[Line] = []
        for passage in members:
            fresh = _cut(passage)
            same = _overlap([line.text for line in lines], [line.text for line in fresh])
            lines += fresh[same:]
        for line in _in_trees(list(_grouped(list(_in_roles(lines)), len(out))), len(out)):
            paragraph += line.opens
            out.append(replace(line, run=run, paragraph=paragraph))
    return tuple(out)


def statements_of(answers: Sequence[PreparedAnswer], number_of: Mapping[str, int], after: int) -> tuple[Line, ...]:
    """The statements of prepared answers as lines, a run for each answer, numbered behind the `after` lines of a book.

    `number_of` has the number of the passage of each chunk. Steps are a list, which is taken whole or left.
    """
    return tuple(
        Line(
            text=_alone(one.text),
            passage=number_of[chunk_id],
            run=after + place,
            paragraph=after + 1 + place,
            opens=statement == 0,
            role="item" if answer.kind == "steps" else "prose",
            group=after + place if answer.kind == "steps" else -1,
            quotable=True,
            bridges=True,
            answer=place,
            quote=one.quote,
        )
        for place, answer in enumerate(answers)
        for statement, (one, chunk_id) in enumerate(zip(answer.statements, answer.cites, strict=True))
    )


def _alone(text: str) -> str:
    """A statement without the "because" that answers the question of its own answer; that is not the reader's."""
    opening = _BECAUSE.match(text)
    return text[opening.end()].upper() + text[opening.end() + 1 :] if opening else text


def _is_beside_the_text(chunk: AnyChunk) -> bool:
    return isinstance(chunk, Chunk) and chunk.subcategory in SUBCATEGORIES_LEFT_OUT


def _runs(passages: Sequence[Passage]) -> list[list[Passage]]:
    """Passages whose chunks follow each other in a document, in its order."""
    runs: list[list[Passage]] = []
    before: Chunk | None = None
    best = {passage.number: rank for rank, passage in enumerate(passages)}
    for passage in sorted(passages, key=lambda one: (one.chunk.source, _position(one))):
        chunk = passage.chunk
        assert isinstance(chunk, Chunk)
        if before and before.source == chunk.source and before.position + 1 == chunk.position:
            runs[-1].append(passage)
        else:
            runs.append([passage])
        before = chunk
    return sorted(runs, key=lambda run: min(best[passage.number] for passage in run))


def _position(passage: Passage) -> int:
    return passage.chunk.position if isinstance(passage.chunk, Chunk) else 0


def _cut(passage: Passage) -> list[Line]:
    """The lines of one passage; titles of boxes stand among them and are not quotable."""
    out: list[Line] = []
    in_quotes = False  # a quotation may be several sentences long
    short = isinstance(passage.chunk, Chunk) and passage.chunk.kind is ChunkKind.FAQ  # its answer may begin with "No."
    for block in passage.chunk.text.split("\n\n"):
        flat = _CAPTION.sub("", " ".join(block.split()), count=1)
        level = (len(block) - len(block.lstrip(" "))) // 2
        if not flat:
            continue
        set_out = "\n" in block.strip() and ("|" in block or "`" in block or "  " in block)  # a table, a listing
        item = not set_out and bool(MARKER.match(flat))
        pieces = [flat] if set_out or (item and len(flat) < ITEM_CHARS) else sentences(flat)
        for place, text in enumerate(pieces):
            said, in_quotes = asserted(text, in_quotes=in_quotes)
            whole = _is_item(text) if item else is_statement(text) or (short and text[-1] in ".。!！")
            fit = said and not set_out and whole
            role: Role = "other" if set_out else "item" if item else "prose"
            bridges = fit or (said and not set_out and bool(_SENTENCE.match(text)) and len(text) <= MAX_EN)
            own = level if item and place == 0 else -1
            out.append(Line(text, passage.number, 0, 0, place == 0, role, -1, fit, bridges, level=own))
    return out


def _is_item(text: str) -> bool:
    """Whether an item says something: it needs no full stop, but more than a word."""
    bare = MARKER.sub("", text, count=1)
    low = MIN_ZH if language_of(text) == "zh" else MIN_EN
    letters = sum(char.isalpha() for char in bare)
    return len(bare) >= low and letters > 0.55 * len(bare.replace(" ", "")) and bare[-1] not in ":：?？"


def _overlap(before: Sequence[str], after: Sequence[str]) -> int:
    """How many lines at the head of `after` stand at the end of `before` again, which may have cut them otherwise."""
    told = folded("".join(before))
    return next((n for n in range(len(after), 0, -1) if told.endswith(folded("".join(after[:n])))), 0)


def _in_roles(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines with the box that they stand in. A box is the paragraph behind its title, and the list behind that."""
    box: Role = "prose"
    body = 0  # paragraphs of the box so far
    for line in lines:
        title = _title(line)
        if title:
            box, body = title, 0
            yield replace(line, role="other", quotable=False, bridges=False)
            continue
        if line.opens and line.role == "prose":
            body += 1
            if body > 1 and box != "summary":
                box = "prose"
        yield line if box == "prose" or line.role == "other" else replace(line, role=box)


def _title(line: Line) -> Role | None:
    """The box that a line names, if it does; "prose" for another heading, which ends a box."""
    if not line.opens or len(line.text) > TITLE_CHARS or _ENDS.search(line.text) or line.role == "item":
        return None
    return next((role for role, pattern in _TITLES.items() if pattern.match(line.text)), None)


def _grouped(lines: list[Line], first: int) -> Iterator[Line]:
    """Lines with their lists marked: items behind each other, and the line that announces them."""
    group = [-1] * len(lines)
    torn: set[int] = set()
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and MARKER.match(lines[end].text) and lines[end].role not in ("other", "summary"):
            end += 1
            while end < len(lines) and not lines[end].opens:  # the rest of a long item
                end += 1
        lead = next((n for n in range(at - 1, max(at - 3, -1), -1) if lines[n].role != "other"), -1)
        start = lead if lead >= 0 and _ANNOUNCES.search(lines[lead].text) else at
        if 2 <= end - at <= LONGEST_LIST:
            for n in range(start, end):
                group[n] = first + at
        if _IN_THE_MIDDLE.match(lines[at].text):  # its head is in a chunk that was not found
            torn.update(range(at, end))
        at = max(end, at + 1)
    for at, (line, own) in enumerate(zip(lines, group, strict=True)):
        if at in torn:
            line = replace(line, quotable=False, bridges=False)
        listed = own >= 0 and line.role != "other"
        if listed and line.text[-1:] in ":：":
            line = replace(line, quotable=True, bridges=True)
        elif not listed and (_OUTLINES.match(line.text) or _PROMISES.search(line.text)):
            line = replace(line, quotable=False, bridges=False)
        yield replace(line, group=own)


def _in_trees(lines: list[Line], first: int) -> Iterator[Line]:
    """Lines with the nested lists marked; `first` is the place of the first. Each line knows the item it belongs to.

    A paragraph between two items belongs to the one before it, and so do the further sentences of an item.
    """
    at = 0
    while at < len(lines):
        end = at
        while end < len(lines) and (lines[end].level >= 0 or (end > at and _goes_on(lines, end))):
            end += 1
        if end - at > 1 and max(line.level for line in lines[at:end]) > 0:
            yield from _tree(lines[at:end], first + at)
            at = end
        else:
            yield from lines[at : max(end, at + 1)]
            at = max(end, at + 1)


def _goes_on(lines: Sequence[Line], at: int) -> bool:
    """Whether a line behind an item belongs to the list: it goes on the item, or an item comes after its paragraph."""
    if lines[at].role == "other":
        return False
    after = next((line for line in lines[at + 1 :] if line.opens), None)
    return not lines[at].opens or (after is not None and after.level >= 0)


def _tree(lines: Sequence[Line], first: int) -> Iterator[Line]:
    """The lines of one nested list. A short item says something by what lies under it, and notes have no full stops."""
    around: list[tuple[int, int, str]] = []  # level, place and name of the items around
    for at, line in enumerate(lines):
        if line.level >= 0:
            around = [one for one in around if one[0] < line.level]
        under = " ".join(name for _, _, name in around if name)
        parent = first + around[-1][1] if around else -1
        yield replace(line, group=-1, parent=parent, nested=True, under=under, bridges=True)
        if line.level >= 0:
            around.append((line.level, at, name_of(line.text)))
