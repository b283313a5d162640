"""The frame table: a column for each reference, as it is drawn at the board."""

from collections.abc import Iterator, Sequence

from osrag.lab.replacement import (
    DRAWN,
    Access,
    Replacing,
    results_of,
)
from osrag.lab.svg import ROW, Box, Figure, Label, Mark, Path, Tone, text_width
from osrag.types import Language

CELL, SIDE = 34.0, 84.0  # pixels: width of a reference's column, and of the column of names
WORDS: dict[str, dict[Language, str]] = {
    "title": {"zh": "{method}，{frames} 个页框", "en": "{method}, {frames} frames"},
    "part": {"zh": "（前 {drawn} 次引用）", "en": " (the first {drawn} references)"},
    "frame": {"zh": "页框 {number}", "en": "frame {number}"},
    "reference": {"zh": "引用", "en": "page"},
    "fault": {"zh": "缺页", "en": "fault"},
    "out": {"zh": "换出", "en": "out"},
    "yes": {"zh": "×", "en": "×"},
    "hit": {"zh": "引用 {page}：命中", "en": "{page}: hit"},
    "fill": {"zh": "引用 {page}：缺页，装入页框 {frame}", "en": "{page}: fault, into frame {frame}"},
    "swap": {"zh": "引用 {page}：缺页，换出 {out}", "en": "{page}: fault, {out} leaves"},
    "total": {"zh": "共引用 {references} 次，缺页 {faults} 次。", "en": "{references} references, {faults} faults."},
    "legend_new": {"zh": "装入", "en": "loaded"},
    "legend_hit": {"zh": "命中", "en": "hit"},
    "legend_bits": {"zh": "括号内：访问位；▸ 指针", "en": "in brackets: accessed bit; ▸ hand"},
    "legend_pairs": {"zh": "括号内：访问位、修改位；▸ 指针", "en": "in brackets: accessed, modified; ▸ hand"},
}
NAMES: dict[str, dict[Language, str]] = {
    "fifo": {"zh": "先进先出（FIFO）", "en": "FIFO"},
    "lru": {"zh": "最近最少使用（LRU）", "en": "LRU"},
    "opt": {"zh": "最优置换（OPT）", "en": "OPT"},
    "clock": {"zh": "时钟算法", "en": "Clock"},
    "enhanced_clock": {"zh": "改进型时钟算法", "en": "Enhanced clock"},
}


def frame_table(given: Replacing, method: str, run: Sequence[Access], before: int, language: Language) -> Figure:
    """A column for each reference: the frames after it, a mark for a fault, and the page that left."""

    def phrase(key: str, **values: object) -> str:
        return WORDS[key][language].format(**values)

    drawn = run[:DRAWN]
    clocked = bool(run[0].bits)
    widest = max(len(_cell(access, slot)) for access in drawn for slot in range(len(access.frames)))
    wide = max(CELL, 7.6 * widest + 14 + 12 * clocked)
    rows, top = given.frames, 10.0
    marks: list[Mark] = [Label(SIDE - 8, top + ROW * 0.68, phrase("reference"), "end", "muted")]
    for slot in range(rows):
        label = phrase("frame", number=slot)
        marks.append(Label(SIDE - 8, top + ROW * (slot + 1.68), label, "end", "muted"))
    for at, key in ((rows + 1, "fault"), (rows + 2, "out")):
        marks.append(Label(SIDE - 8, top + ROW * (at + 0.68), phrase(key), "end", "muted"))
    start = SIDE
    if given.loaded:
        marks += [Box(start, top + ROW * (slot + 1), wide, ROW, str(page)) for slot, page in enumerate(given.loaded)]
        start += wide + 12
    for place, access in enumerate(drawn):
        marks += _column(access, start + place * wide, top, wide, rows, before + place + 1, clocked)
    height = top + ROW * (rows + 3) + 12
    marks += _legend(SIDE, height, method, language)
    title = phrase("title", method=NAMES[method][language], frames=rows)
    if len(run) > DRAWN:
        title += phrase("part", drawn=DRAWN)
    results = results_of(given, run)
    told = [_told(access, language) for access in drawn]
    told.append(phrase("total", references=len(run), faults=results["faults"].value))
    width = max(start + wide * len(drawn), _legend_end(SIDE, method, language)) + 10
    joined = ("；" if language == "zh" else "; ").join(told)
    return Figure(width, height + 34, tuple(marks), title, joined, before + len(run) + 1)


def _told(access: Access, language: Language) -> str:
    key = "hit" if access.hit else "fill" if access.out is None else "swap"
    return WORDS[key][language].format(page=access.page, frame=access.frame, out=access.out)


def _cell(access: Access, slot: int) -> str:
    bits = f"({access.bits[slot]})" if access.bits else ""
    return f"{access.frames[slot]}{bits}"


def _column(access: Access, x: float, top: float, wide: float, rows: int, step: int, clocked: bool) -> Iterator[Mark]:
    yield Label(x + wide / 2, top + ROW * 0.68, str(access.page), "middle", "plain", step)
    for slot in range(rows):
        y = top + ROW * (slot + 1)
        if slot >= len(access.frames):
            yield Box(x, y, wide, ROW, tone="muted", step=step)
            continue
        tone: Tone = "plain" if slot != access.frame else "good" if access.hit else "bad"
        label = ("\u2002" if clocked else "") + _cell(access, slot)
        yield Box(x, y, wide, ROW, label, tone, step)
    if clocked:
        y = top + ROW * (access.hand + 1.5)
        yield Path(((x + 2, y), (x + 10, y)), arrow=True, tone="accent", step=step)
    if not access.hit:
        yield Label(x + wide / 2, top + ROW * (rows + 1.68), "×", "middle", "bad", step)
    if access.out is not None:
        yield Label(x + wide / 2, top + ROW * (rows + 2.68), str(access.out), "middle", "muted", step)


def _legend(x: float, y: float, method: str, language: Language) -> Iterator[Mark]:
    for tone, key in _legend_pieces(method):
        text = WORDS[key][language]
        if tone:
            yield Box(x, y, 16, 16, tone=tone)
            x += 22
        yield Label(x, y + 13, text, tone="muted")
        x += text_width(text) + 16


def _legend_pieces(method: str) -> list[tuple[Tone | None, str]]:
    pieces: list[tuple[Tone | None, str]] = [("bad", "legend_new"), ("good", "legend_hit")]
    if method in ("clock", "enhanced_clock"):
        pieces.append((None, "legend_bits" if method == "clock" else "legend_pairs"))
    return pieces


def _legend_end(x: float, method: str, language: Language) -> float:
    return x + sum(text_width(WORDS[key][language]) + 38 for _, key in _legend_pieces(method))
