"""Blocks to chunks: at most about 1,000 characters, cut at paragraphs, then sentences (C3)."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from osrag.book.document import Block, BlockKind, Document
from osrag.text import language_of, sentences
from osrag.types import HAN, Chunk, ChunkKind, Language, LineRef, PageRef

_HAN_CHAR = re.compile(f"[{HAN}]")
NAME = 40  # weight of the longest name of an item
# What stands before an item of a list.
MARKER = re.compile(r"(\d{1,2}[.)、]|[•\-–]|\*(?![*/])|[（(](\d{1,2}|[a-z])[)）]|[①-⑳])\s*(?=\S)")
_CLAUSE = re.compile(r"(?<=[，；：,;:])")

# Parts of a book that say nothing on their own, or that the search weighs differently.
SUBCATEGORIES = (
    ("contents", re.compile(r"(table of )?contents|目\s*录|list of (figures|tables|listings)", re.IGNORECASE)),
    ("index", re.compile(r"(subject |general )?index|索\s*引", re.IGNORECASE)),
    ("references", re.compile(r"bibliography|references|works cited|参考文献", re.IGNORECASE)),
    (
        "exercises",
        re.compile(r".*\b(exercises|projects|problems|review questions|quiz)\b.*|.*(习\s*题|练\s*习|思考题).*", re.I),
    ),
)
UNSEARCHED = frozenset({"contents", "index"})  # they name every topic and explain none


@dataclass(frozen=True, slots=True)
class Cut:
    """How long chunks are, and how much of one stands in the next again.

    Both are weights: a Han character weighs 2, any other 1, so a Chinese chunk has about 500 characters. Either way a
    chunk of the usual size is 250-350 tokens of e5, which reads 512 and drops the rest.
    """

    limit: int = 1000
    overlap: int = 200


USUAL = Cut()


@dataclass(frozen=True, slots=True)
class Unit:
    """What a chunk is made of: a sentence, a listing, some rows of a table."""

    text: str
    joint: str  # what stands between it and the unit before
    first: int
    last: int
    whole: bool = False  # a listing or table: never repeated as overlap
    opens: bool = False  # begins a paragraph
    under: tuple[str, ...] = ()  # names of the items in whose lists it lies, outermost first

    @property
    def weight(self) -> int:
        return weight(self.text)


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks under one heading."""

    path: tuple[str, ...]
    blocks: tuple[Block, ...]
    place: int  # page or line of its heading


def weight(text: str) -> int:
    """Length in characters, with every Han character counted twice."""
    return len(text) + len(_HAN_CHAR.findall(text))


def search_text(chunk: Chunk) -> str:
    """The text that is embedded and indexed. It begins with the section, whose name a chunk often does not repeat."""
    return f"{chunk.section_path}\n{chunk.text}" if chunk.section else chunk.text


def chunk_document(document: Document, cut: Cut = USUAL) -> list[Chunk]:
    """Chunks in reading order; each says from which page or line to which it goes."""
    seen: Counter[int] = Counter()
    chunks: list[Chunk] = []
    for section in sections(document.blocks):
        units = [*_units(section.blocks, cut)]
        if not units and section.path:
            units = [Unit(section.path[-1], "", section.place, section.place)]
        for group in pack(units, cut):
            first, last = min(unit.first for unit in group), max(unit.last for unit in group)
            seen[first] += 1
            where = PageRef(first, last, document.labels[first - 1]) if document.labels else LineRef(first, last)
            path = (*section.path, *group[0].under)  # the items of a list are about what it is a list of
            text = group[0].text + "".join(unit.joint + unit.text for unit in group[1:])
            language = language_in(" ".join(unit.text for unit in group if not unit.whole), document.language)
            chunks.append(new_chunk(document, text, where, len(chunks), path, language, number=seen[first]))
    # Contents that are most of a document are a book whose headings were not found behind its contents.
    if 2 * sum(chunk.subcategory in UNSEARCHED for chunk in chunks) > len(chunks):
        return [replace(chunk, subcategory="") if chunk.subcategory in UNSEARCHED else chunk for chunk in chunks]
    return chunks


def new_chunk(
    document: Document,
    text: str,
    where: PageRef | LineRef,
    position: int,
    section: tuple[str, ...],
    language: Language,
    *,
    number: int = 1,
    kind: ChunkKind = ChunkKind.PROSE,
) -> Chunk:
    """A chunk with what the document says of all its chunks; `number` counts those that begin at one place."""
    return Chunk(
        id=f"{document.name}#{'p' if isinstance(where, PageRef) else 'L'}{where.first}-{number}",
        text=text,
        source=document.name,
        where=where,
        position=position,
        section=section,
        language=language,
        kind=kind,
        title=document.title,
        category=document.category,
        subcategory=document.subcategory or (subcategory_of(section) if kind is ChunkKind.PROSE else ""),
        version=document.version,
        url=document.url,
        recognised=_surety(document, where),
    )


def _surety(document: Document, where: PageRef | LineRef) -> float:
    """How sure text recognition was of the pages of a chunk, of the poorest of them; 0 where none was recognised."""
    if not isinstance(where, PageRef):
        return 0.0
    return min(filter(None, map(document.confidence, range(where.first, where.last + 1))), default=0.0)


def sections(blocks: Sequence[Block]) -> Iterator[Section]:
    """Blocks under the path of their headings. A heading with nothing under it is a section without blocks."""
    path: list[tuple[int, str]] = []
    group: list[Block] = []
    place = blocks[0].first if blocks else 1
    for block, after in zip_longest(blocks, blocks[1:]):
        if block.kind is BlockKind.HEADING:
            path = [*(above for above in path if above[0] < block.level), (block.level, block.text)]
            place = block.first
        else:
            group.append(block)
        ends = after is None or after.kind is BlockKind.HEADING
        bare = not group and (after is None or after.level <= block.level)
        if ends and (group or bare):
            yield Section(tuple(title for _, title in path), tuple(group), place)
            group = []


def _units(blocks: Sequence[Block], cut: Cut) -> Iterator[Unit]:
    """The units of a section, each with the items around it."""
    around: list[tuple[int, str]] = []  # level and name
    for block in blocks:
        if block.kind is BlockKind.ITEM:
            around = [one for one in around if one[0] < block.level]
            under = tuple(name for _, name in around if name)
            yield from (replace(unit, under=under) for unit in units_of(block, cut))
            around.append((block.level, name_of(block.text)))
        else:
            yield from units_of(block, cut)


def name_of(item: str) -> str:
    """What an item is about, in a few words before its colon or in all; empty where it is a sentence."""
    name = re.split("[:：(（]", MARKER.sub("", item, count=1), maxsplit=1)[0].strip()
    return name if weight(name) <= NAME and not name.endswith((".", "。")) else ""


def units_of(block: Block, cut: Cut = USUAL) -> list[Unit]:
    """The block in pieces that may stand in different chunks."""
    if block.kind is BlockKind.CODE or (block.kind is BlockKind.FIGURE and weight(block.text) <= cut.limit):
        return [Unit(block.text, "\n\n", block.first, block.last, whole=True, opens=True)]
    if block.kind in (BlockKind.TABLE, BlockKind.FIGURE):
        return list(_rows(block, cut.limit))
    return list(_sentences(block, cut.limit))


def _rows(block: Block, limit: int) -> Iterator[Unit]:
    """A table whole, or in groups of rows, each under the head of the table."""
    head, *rows = block.text.split("\n")
    repeated = [head] if block.kind is BlockKind.TABLE and len(rows) > 1 else []
    group = [head]
    for row in rows:
        if weight("\n".join([*group, row])) > limit:
            yield Unit("\n".join(group), "\n\n", block.first, block.last, whole=True, opens=True)
            group = list(repeated)
        group.append(row)
    yield Unit("\n".join(group), "\n\n", block.first, block.last, whole=True, opens=True)


def _sentences(block: Block, limit: int) -> Iterator[Unit]:
    at = 0
    lead = "  " * block.level if block.kind is BlockKind.ITEM else ""
    for sentence in sentences(block.text):
        for piece in _clauses(sentence, limit):
            start = block.text.index(piece, at)
            joint = block.text[at:start] if at else "\n\n"
            at = start + len(piece)
            first, last = block.places(start, at)
            yield Unit(piece if start else lead + piece, joint, first, last, opens=start == 0)


def _clauses(sentence: str, limit: int) -> Iterator[str]:
    """The sentence whole; one that fills more than half a chunk is cut at its commas, or at the limit."""
    group = ""
    for clause in _CLAUSE.split(sentence):
        if group and weight(group + clause) > limit // 2:
            yield from _slices(group, limit)
            group = ""
        group += clause
    if group.strip():
        yield from _slices(group, limit)


def _slices(text: str, limit: int) -> Iterator[str]:
    text = text.strip()
    while weight(text[: limit + 1]) > limit:  # of megabytes without a full stop no more has to be weighed
        end = limit // 2
        blank = text.rfind(" ", end // 2, end)
        end = blank if blank > 0 else end
        yield text[:end].strip()
        text = text[end:].strip()
    if text:
        yield text


def pack(units: Sequence[Unit], cut: Cut = USUAL) -> list[list[Unit]]:
    """Units in groups of about equal weight, at most `cut.limit` unless one listing is longer.

    A group ends at a paragraph where one ends near the goal; the next begins with the last
    sentences of the one before, up to `cut.overlap`.
    """
    total = sum(unit.weight for unit in units)
    if total <= 1.1 * cut.limit:
        return [list(units)] if units else []
    count = -(-(total - cut.overlap) // (cut.limit - cut.overlap))
    groups = _fill(units, _goal(total, count, cut), cut.limit, cut)
    if len(groups) > count:
        # Sentences do not fill a group to the brim; one more group, and all of them even.
        goal = _goal(total, count + 1, cut)
        groups = _fill(units, goal, min(cut.limit, round(1.08 * goal)), cut)
    return groups


def _goal(total: int, count: int, cut: Cut) -> float:
    return (total + (count - 1) * cut.overlap) / count


def _fill(units: Sequence[Unit], goal: float, most: int, cut: Cut) -> list[list[Unit]]:
    groups: list[list[Unit]] = []
    group: list[Unit] = []
    fresh = filled = 0  # units of the group that are no overlap; its weight
    for unit in units:
        announced = bool(group) and group[-1].text.rstrip()[-1:] in ":："  # what follows a colon belongs to it
        paragraph_ends = unit.opens and filled >= 0.8 * goal and not announced
        if fresh and (filled + unit.weight > most or paragraph_ends):
            groups.append(group)
            group = _overlap(group, cut.limit - unit.weight, cut.overlap)
            filled, fresh = sum(one.weight for one in group), 0
        group.append(unit)
        filled += unit.weight
        fresh += 1
    if fresh:
        groups.append(group)
    return groups


def _overlap(group: Sequence[Unit], room: int, overlap: int) -> list[Unit]:
    """The last sentences up to the `overlap`; one long sentence is better than none."""
    tail: list[Unit] = []
    used = 0
    for unit in reversed(group):
        allowed = min(room, overlap if tail else 2 * overlap)
        if unit.whole or used + unit.weight > allowed:
            break
        tail.insert(0, unit)
        used += unit.weight
    return tail


def language_in(prose: str, usual: Language, *, least: int = 40) -> Language:
    """The language of a chunk. With fewer than `least` letters of prose (a listing), it is the document's."""
    return language_of(prose) if len(re.findall(r"\w", prose)) >= least else usual


def subcategory_of(path: Sequence[str]) -> str:
    """The kind of section, from its titles. 目录 as a chapter is the contents; inside one it is a file directory."""
    for depth, title in enumerate(path):
        bare = re.sub(r"^[\d.]+\s*", "", title).strip()
        for name, pattern in SUBCATEGORIES:
            if pattern.fullmatch(bare) and (depth == 0 or name == "exercises"):
                return name
    return ""
