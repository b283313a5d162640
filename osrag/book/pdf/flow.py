"""Parts of pages to blocks of the document: a paragraph that goes on behind a drawing or overleaf is one."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from osrag.book.document import FLOATS, Block, BlockKind
from osrag.book.pdf.lines import Line
from osrag.book.pdf.parts import Part
from osrag.book.pdf.text import Words, join_lines, join_two


def blocks_of(parts: Sequence[Part], words: Words) -> Iterator[Block]:
    """Blocks in reading order; a paragraph that goes on behind a drawing or over the page is one."""
    at = 0
    taken: set[int] = set()
    for at, part in enumerate(parts):
        if at in taken:
            continue
        if part.piece is None or part.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM):
            yield _single(part)
            continue
        chain = [part]
        look = at
        while (follow := _continuation(parts, look, taken)) is not None:
            taken.add(follow)
            chain.append(parts[follow])
            look = follow
        yield _joined(chain, words)


def _single(part: Part) -> Block:
    if part.piece is None:
        return Block(part.kind, part.text, part.page, part.page, part.level)
    lines = part.piece.lines
    if part.kind is BlockKind.CODE:
        text = code_text(lines)
    elif part.kind is BlockKind.FIGURE:
        text = "\n".join(" | ".join(cell.text for cell in line.cells) for line in lines)
    else:
        text = join_lines([line.text for line in lines])
    return Block(part.kind, text, part.page, part.page)


def _continuation(parts: Sequence[Part], at: int, taken: set[int]) -> int | None:
    """The part that goes on with the paragraph `at`, behind floats, on the same or the next page."""
    part = parts[at]
    if part.piece is None:
        return None
    text = part.piece.lines[-1].text
    if not part.piece.full and not (part.piece.nearly and text[-1:] in "/,，、-"):
        return None
    if re.search(r"[.!?。！？][\"'”’)）]*$", text):
        return None
    for other in range(at + 1, min(at + 40, len(parts))):
        follow = parts[other]
        if other in taken or follow.kind in FLOATS or _floating_code(parts, other, part.page):
            continue
        if follow.kind is not BlockKind.PARAGRAPH or follow.piece is None or follow.page > part.page + 6:
            return None
        first, last = follow.piece.lines[0], part.piece.lines[-1]
        if len(follow.piece.lines) == 1 and not follow.piece.full and not first.text[:1].islower() and _label(first):
            continue  # words of a drawing in the type of the text
        new_place = follow.page != part.page or first.column != last.column or other > at + 1
        like = any(abs(run.size - other.size) < 0.3 for run in first.runs for other in last.runs)
        if not new_place or not like:
            return None
        return other if _goes_on(text, first.text) else None
    return None


def _floating_code(parts: Sequence[Part], at: int, page: int) -> bool:
    """A listing in a figure: with a caption, or alone between two pages of text."""
    if parts[at].kind is not BlockKind.CODE:
        return False
    after = parts[at + 1] if at + 1 < len(parts) else None
    captioned = after is not None and after.kind is BlockKind.CAPTION and after.page == parts[at].page
    return captioned or parts[at].page != page


def _label(line: Line) -> bool:
    return len(line.text) < 40 and not re.search(r"[.!?。！？,，;；:：]", line.text)


def _goes_on(before: str, after: str) -> bool:
    if before[-1:] in ":：":
        return after[:1].islower()
    if re.match(r"[\u3400-\u9fff]", after):
        return bool(re.search(r"[\u3400-\u9fff,，、；]$", before)) or before[-1:].isalnum()
    return after[:1].islower() or before.endswith(("-", ",", "，")) or before[-1:].isalnum()


def _joined(chain: Sequence[Part], words: Words) -> Block:
    text = ""
    turns: list[tuple[int, int]] = []
    for part in chain:
        assert part.piece is not None
        if text and part.page != (turns[-1][1] if turns else chain[0].page):
            first = part.piece.lines[0].text
            text = join_two(text, first, words)
            turns.append((len(text) - len(first.strip()), part.page))
            rest = part.piece.lines[1:]
        else:
            rest = part.piece.lines
        for line in rest:
            text = join_two(text, line.text, words)
    bulleted = chain[0].piece is not None and chain[0].piece.lines[0].bullet
    if bulleted:
        text = f"• {text}"
        turns = [(offset + 2, page) for offset, page in turns]
    return Block(chain[0].kind, text, chain[0].page, chain[-1].page, turns=tuple(turns))


def code_text(lines: Sequence[Line]) -> str:
    """A listing with its indentation and blank lines."""
    left = min(line.x0 for line in lines)
    runs = [run for line in lines for run in line.runs if run.mono] or [run for line in lines for run in line.runs]
    widths = sorted((run.x1 - run.x0) / max(1, len(run.text)) for run in runs)
    advance = max(1.0, widths[len(widths) // 2])
    steps = sorted(b.base - a.base for a, b in pairwise(lines) if b.base > a.base)
    usual = steps[len(steps) // 3] if steps else 0.0
    out = [lines[0].code(left, advance)]
    for before, line in pairwise(lines):
        if usual and line.base - before.base > 1.6 * usual:
            out.append("")
        out.append(line.code(left, advance))
    return "\n".join(out)
