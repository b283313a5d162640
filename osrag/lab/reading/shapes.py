# ruff: noqa: E501 - a pattern is read best in one line
"""Parameters that are more than one value: processes, matrices, requests, tables, programs."""

from collections.abc import Callable

from osrag.lab.reading import ascii as re
from osrag.lab.reading.asks import asking_sentences
from osrag.lab.reading.cues import LIST, NUMBER, claims, value_of
from osrag.lab.reading.plain import typeset
from osrag.lab.reading.programs import concurrent, program, starts
from osrag.lab.reading.tables import (
    ANY_NUMBER,
    NAME,
    Columns,
    names_in,
    names_of,
    order_of,
    records,
    tables,
    value_in,
    vectors,
)

_TOGETHER = re.compile(
    r"(?:all|together|simultaneous|same time|same instant)[^.。]{0,40}(?:arriv|ready|0\b|time)|arriv\w*[^.。\n]{0,40}(?:time (?:t ?= ?)?0|at 0|t ?= ?0|same time|simultan"
    r"|together|in (?:the|that|this) order)|ready (?:queue|simultan)|(?:ready|available|present|wait\w*|submitted|released)[^.。\n]{0,30}at (?:time )?(?:t ?= ?)?0|\bt ?= ?0(?![.\d])|simultaneously|at time 0|at the same time|同时(?:到达|提交|进入|就绪|在)|(?:都|均|全部)[^。，]{0,8}0 ?时?刻?[^。，]{0,4}(?:到达|就绪)"
    r"|in (?:queue|ready) order|queue order|时刻 ?0|0 ?时刻|就绪队列|几乎同时|(?:依次|先后|按)[^。，]{0,16}(?:到达|进入)",
    re.I,
)


def _rows(columns: Columns, order: tuple[str, ...], text: str) -> str | None:
    """Rows of a name and the columns in this order; None where there is none."""
    present = [columns[role] for role in order if role in columns]
    if not present:
        return None
    names = columns.get("name") or names_of(text, len(present[0]))
    return "; ".join(" ".join(row) for row in zip(names, *present, strict=False))


def jobs(text: str, kind: str = "") -> str | None:
    """Rows of name, arrival, burst and, under priority, its number."""
    wanted = ("arrival", "burst", "priority") if kind == "priority" else ("arrival", "burst")
    columns = records(text, wanted, ("arrival", "burst")) or records(text, wanted, ("burst",))
    columns = columns or _listed_behind(text) or _alike(text)
    if columns and "priority" in wanted and "priority" not in columns:
        ranks = records(text, ("priority",), ("priority",)).get("priority", [])
        columns |= {"priority": ranks} if len(ranks) == len(columns["burst"]) else {}
    if columns and "arrival" not in columns:
        if not _TOGETHER.search(text):
            return None
        columns["arrival"] = ["0"] * len(columns["burst"])
    return _rows(columns, wanted, text)


def _listed_behind(text: str) -> Columns:
    """`processes A, B and C of 4, 6 and 2 ms`: names, and as many numbers close behind them."""
    for match in re.finditer(rf"[^\d.。;；]{{0,30}}?({LIST})", text):
        numbers = re.findall(NUMBER, match[1])
        before = re.split(r"[.。;；]\s*", text[: match.start(1)])[-1]
        if len(names := names_in(before, len(numbers))) == len(numbers):
            return {"name": names, "burst": numbers}
    return {}


def _alike(text: str) -> Columns:
    """`5 processes, each of which needs 6 s`: as many rows."""
    match = re.search(
        rf"(?<![\w.])(\d{{1,2}})\s*(?:个(?:进程|作业|任务)|(?:processes|jobs|tasks|threads))[^.。;；]{{0,100}}?"
        rf"(?:各(?:自|进程)?(?:都)?(?:需要?|要|运行)|每个(?:进程|作业)?(?:都)?(?:需要?|要|运行)|each[^.。;；\d]{{0,16}}?(?:needs?|needing|requir\w+|runs?)(?: to run)?)[^\d.。;；]{{0,12}}({NUMBER})\s*(?:ms|s\b|sec\w*|毫秒|秒|个?时间|units?)",
        text,
        re.I,
    )
    return {"burst": [match[2]] * int(match[1])} if match else {}


def tasks(text: str, kind: str = "") -> str | None:
    """Rows of name, period and run time."""
    columns = records(text, ("period", "burst"), ("period", "burst"))
    plainly = re.sub(r"(?<=[(（,，\s])[A-Za-z]\w?\s*=\s*(?=\d)", "", text)  # (C=1, T=4)
    named = re.search(r"[(（]\s*([CTPcep])\w?\s*(?:=\s*\d+)?\s*[,，]\s*([CTPcep])\w*\s*[)）=]", text)
    pairs = [group for group in vectors(plainly) if len(group) == 2]
    if not columns and len(pairs) >= 2:  # (C, T) = (1, 4), (2, 6)
        first, second = ([*column] for column in zip(*pairs, strict=True))
        runs_first = bool(named and named[1] in "Cce") or order_of(text, ("period", "burst"))[:1] == ["burst"]
        columns = {"period": second if runs_first else first, "burst": first if runs_first else second}
    named_ = re.findall(rf"(?<!\w)({NAME})\s*[:：=]?\s*[(（]", text)
    if columns and "name" not in columns and len(named_) == len(columns["period"]):
        columns["name"] = named_
    return _rows(columns, ("period", "burst"), text)


_RIGHTS = r"[rwx]{1,3}(?!\w)"


def segments(text: str, kind: str = "") -> str | None:
    """Rows of number, base and length."""
    columns = records(text, ("segment", "base", "length"), ("base", "length"))
    if not columns:
        rows = _listed(re.split("logical address|逻辑地址", text)[0], 3, _RIGHTS)
        gap = r"[^.。;；\d]{1,16}"
        cells = rf"{gap}({ANY_NUMBER}){gap}({ANY_NUMBER})(?!\d)"
        rows = rows or re.findall(rf"(?:segment|段)\s*(\d+){cells}", text, re.I)
        rows = rows or re.findall(rf"(?<!\d)(\d+)\s*号?段{cells}", text)
        if order_of(text, ("base", "length"))[:1] == ["length"]:
            rows = [(number, base, length, *rights) for number, length, base, *rights in rows]
        return "; ".join(" ".join(row) for row in rows) or None
    numbers = columns.pop("segment", None) or [re.sub(r"\D", "", name) for name in columns.get("name", ())]
    numbers = numbers if all(numbers) and numbers else [str(at) for at in range(len(columns["base"]))]
    told = [_allowed(number, text) for number in numbers]
    allowed = {"rights": told} if all(told) else {}
    return _rows(columns | {"name": numbers} | allowed, ("base", "length", "rights"), text)


_ALLOWED = {
    "rw": r"读写|可读可写|读/写|read[- /]?(?:and )?write|R/W",
    "r": r"只读|read[- ]?only",
    "x": r"只?执行|execute[- ]?only",
}


def _allowed(number: str, text: str) -> str:
    """What the row of a segment says may be done with it, as letters; "" where it says nothing."""
    row = re.search(rf"^[ \t|]*{number}[ \t|][^\n]*", text, re.M)
    return next((letters for letters, form in _ALLOWED.items() if row and re.search(form, row[0], re.I)), "")


def programs(text: str, kind: str = "") -> str | None:
    """A name and bursts in turn: `A：计算 30，I/O 40，计算 10`."""
    text = re.sub(r"(设备|device |disk |磁盘|打印机|printer )\d(?=\D)", r"\1", re.sub(r"[\"“”]", " ", text), flags=re.I)
    text = re.sub(r"(?<=[A-Z甲乙丙丁]) ?(?:的活动)?[为是]", "：", text)
    text = re.sub(r"(?<=[A-Z甲乙丙丁])(?:按|的(?:工作)?(?:顺序|次序|过程)(?:为|是)?)", "：", text)
    number = rf"{NUMBER}(?!\s*[道个][^时])(?:\s*(?:ms|毫秒|units?|个?时间单位|s|秒))?"
    found = re.finditer(
        rf"(?<![A-Za-z0-9/])([A-Z]\d?(?!\d)|[甲乙丙丁])(?:\s*依次)?(?:\s*[:：(（]|\s*(?=\d)|\s?(?=先|使用|computes|uses|用|需))((?:[^\d.。;；:：\n]{{0,20}}?{number}(?!\d|\.\d)){{2,8}})",
        text,
    )
    rows = [(match[1], *re.findall(NUMBER, match[2])) for match in found]
    rows = [row for row in rows if len(row) >= 3]
    return "; ".join(" ".join(row) for row in rows) if len(rows) >= 2 else None


_CUE_LIST = r"(?:reference (?:string|sequence)|page references?|references?|sequence|order|string|queue|requests?|access(?:es|ed)?|addresses|pages?|访问序列|引用串|引用序列|页面走向|走向|序列|次序|顺序|依次|请求|访问|队列)"


def _lists(text: str, least: int) -> list[tuple[int, str]]:
    return [
        (m.start(), m[0])
        for m in re.finditer(
            rf"(?<![\w.]){LIST}(?![\w.]*\d)(?!\s*个?\s*(?:page )?(?:frames?|页框|物理块|内存块|页帧|cylinders|tracks))",
            text,
        )
        if len(re.findall(NUMBER, m[0])) >= least
    ]


def _marked(text: str) -> str | None:
    """References of which some write: `1w, 2, 3w`, `读0，写1`, `2(W)`."""
    text = re.sub(r"\b(?:read|write)s? (?=\d)", lambda found: found[0][0], text)
    mark = r"[wWrR写读]"
    one = rf"(?:{mark}\s*\d+|\d+\s*(?:[(（]\s*{mark}\s*[)）]|{mark})?(?![A-Za-z]))"
    runs = re.findall(rf"(?<![\w.])(?:{one}\s*(?:[,，、;→]|->|\s)\s*){{3,}}{one}", text)
    found = re.findall(one, max(runs, key=len, default=""))
    return ",".join(re.sub(r"\D", "", ref) + ("w" if re.search("[wW写]", ref) else "") for ref in found) or None


def refs(text: str, kind: str = "") -> str | None:
    """The list of references: the longest that a word announces; digits in a row where there is no list."""
    if kind == "enhanced_clock":
        return _marked(text)
    if "0x" in text:
        hexes = re.search(r"(?:0x[0-9A-Fa-f]+\s*[,，、\s]\s*){3,}0x[0-9A-Fa-f]+", text)
        if hexes:
            return ",".join(re.findall(r"0x[0-9A-Fa-f]+", hexes[0]))
    if best := _best_list(text, 4):
        return ",".join(str(int(ref)) if ref.isdecimal() else ref for ref in best.split(","))
    run = re.search(r"(?:string|sequence|序列|走向|[引访]\w?用?问?串)[^\d\n]{0,20}(\d{6,})(?!\d)", text, re.I)
    if run:
        return ",".join(run[1])
    letters = re.search(r"(?<!\w)(?:([A-Z]|[a-z])[\s,，、]+){5,}[A-Za-z](?!\w)", text)  # pages with letters: A is 1
    return (
        ",".join(str(ord(page) - ord("A") + 1) for page in re.findall("[A-Z]", letters[0].upper())) if letters else None
    )


def _best_list(text: str, least: int) -> str | None:
    """The longest list that a word announces; none that only counts 1, 2, 3 where another is there."""
    text = re.sub(r"(?<=\d) [/|] (?=\d)", ", ", text)
    every = _lists(text, least)
    found = [each for each in every if not _counts(re.findall(NUMBER, each[1]))] or every
    if not found:
        return None
    told = [(start, one) for start, one in found if re.search(_CUE_LIST + r"[^\d]{0,60}$", text[:start], re.I)]
    best = max(told or found, key=lambda each: len(re.findall(NUMBER, each[1])))[1]
    return ",".join(re.findall(NUMBER, best))


def _counts(numbers: list[str]) -> bool:
    return len(numbers) > 4 and numbers == [str(int(float(numbers[0])) + at) for at in range(len(numbers))]


def requests(text: str, kind: str = "") -> str | None:
    """The requested cylinders."""
    return _best_list(text, 3)


_WIDTHS = (16, 20, 22, 24, 32, 36, 39, 46, 48, 57, 64)  # of logical addresses


def level_bits(text: str, kind: str = "") -> str | None:
    """Bits of the indices: `10/10/12`, or the bits told of one after another that leave room for the offset."""
    for match in re.finditer(r"(?<![\d.])\d{1,2}(?:\s*[/|+:]\s*\d{1,2}){1,4}(?![\d.])", text):
        parts = re.findall(r"\d+", match[0])
        if sum(map(int, parts)) in _WIDTHS:
            return ",".join(parts[:-1])
    told = [int(bits) for bits in re.findall(r"(?<![\d.])(\d{1,2})[\s\-]*(?:bits?\b|位)", text)]
    pages = re.search(r"(?<![\w.])(\d+)\s*(?:Ki?B?|K?\s*bytes?|字节)(?:\s*(?:pages?|的页))?", text, re.I)
    index = r"(?:index|table|directory|outer|inner|page (?:number|no)|页目录|页号|外层|内层|页表)"
    if not re.search(index, text, re.I) or not told:
        return None
    whole = max(told)
    parts = [bits for bits in told if bits != whole] if whole * 2 == sum(told) else told
    if len(parts) > 2 and sum(parts) in _WIDTHS:  # all parts are told of, the offset last
        return ",".join(map(str, parts[:-1]))
    for first in range(len(told)):
        for last in range(first + 1, len(told) + 1):
            parts, rest = told[first:last], whole - sum(told[first:last])
            room = rest in told[last:] or (last - first > 1 and (pages or "offset" in text or "偏移" in text))
            if whole not in parts and 8 <= rest <= 22 and room:
                return ",".join(map(str, parts))
    return None


def entries(text: str, kind: str = "") -> str | None:
    """Pairs of page and frame, from a table, arrows or words; `-` where an entry is invalid."""
    if kind == "translate":
        text = _TLB.sub(" ", text)
    widths = level_bits(text) if kind == "translate" else None
    if widths and (rows := _listed(text, widths.count(",") + 2)):  # an index for each level, and the frame
        return "; ".join(map(" ".join, rows))
    columns = records(text, ("page", "frame", "valid"), ("page", "frame"))
    if columns:
        valid = columns.get("valid") or ["1"] * len(columns["page"])
        frames = ["-" if bit == "0" else frame for frame, bit in zip(columns["frame"], valid, strict=True)]
        return "; ".join(" ".join(pair) for pair in zip(columns["page"], frames, strict=True))
    pairs = _mapped(text) or _listed(text, 2)
    if not pairs:  # 第 0、1、2 页装入第 5、10、4 块; pages 0, 1, … in a list of frames
        into = r"[^\d。;；]{0,24}?(?:frames?|页框|物理块|块|帧)[^\d。;；]{0,12}?"
        lists = re.search(
            rf"(?:({LIST})\s*号?页|pages? ({LIST})|(?:pages? |页号?\s*)0(?: ?(?:-|to|至|到) ?\d+)?){into}({LIST})",
            text,
            re.I,
        )
        lists = lists or re.search(rf"({LIST})\s*号?页()[^\d。;；]{{0,24}}({LIST})\s*号?(?:物理块|页框|块|帧)", text)
        frames = re.findall(NUMBER, lists[3]) if lists else []
        pages = re.findall(NUMBER, (lists[1] or lists[2] or "") if lists else "") or list(map(str, range(len(frames))))
        pairs = list(zip(pages, frames, strict=True)) if len(pages) == len(frames) else []
    return "; ".join(" ".join(pair) for pair in pairs) or None


_TLB = re.compile(
    r"(?:TLB|快表)[^.。\d]{0,16}(?:contents?|has|entries|holds|contains|内容|表项|中有)(?:(?!page table|页表的|页表[:：])[\s\S])*",
    re.I,
)


def _tlb(text: str) -> str | None:
    """Pairs of page and frame behind "TLB contents", up to the page table."""
    held = _TLB.search(text)
    return entries(held[0]) if held else None


def _mapped(text: str) -> list[tuple[str, ...]]:
    """`page 3 is in frame 12`, `第 3 页映射到页框 12`, `3→12`."""
    none = r"-|–|invalid|无效|不在内存|none"
    into = r"(?:is |are |was )?(?:stored |loaded |mapped |maps )?(?:in(?:to)?|to|at|对应|装入|存放在?|在|映射到|→|->|:)"
    forms = (
        r"(?<![\w])(\d+)\s*号页\s*(?:装|存|放)?(?:在|入|于)\s*第?(\d+)\s*号?(?:物理块|页框|块|帧)",
        rf"(?<![\w])(\d+)\s*号?页\s*[-→:：]+>?\s*(?:第)?(\d+|{none})\s*号?(?:物理)?(?:块|页框|帧)?",
        rf"(?:page|页号?|第)\s*({ANY_NUMBER})\s*(?:号?页)?\s*{into}\s*(?:the |于|到)*(?:page |physical )*(?:frame|页框号?|物理块号?|块号?|帧|第)?\s*({ANY_NUMBER}|{none})",
        rf"(?<![\w])({ANY_NUMBER})\s*(?:→|->|:|=>)\s*(?:frame |页框 ?)?({ANY_NUMBER}|{none})(?![\w])",
    )
    found = [re.findall(form, text, re.I) for form in forms]
    gone = re.findall(rf"(?:page|第)\s*({ANY_NUMBER})\s*页?\s*(?:is |are )?(?:not|in?valid|不在|无效|未)", text, re.I)
    pairs = [*max(found, key=len), *((page, "-") for page in gone)]
    pairs = sorted(dict(pairs).items(), key=lambda pair: int(pair[0], 0)) if gone else pairs
    return [(page, frame if value_in(frame) else "-") for page, frame in pairs]


def _listed(text: str, size: int, more: str = "") -> list[tuple[str, ...]]:
    """Rows of `size` numbers without a header: groups in brackets, lines, or parts of a line: `0 7; 1 5`.

    `more` may stand at the end of each.
    """
    groups = [group for group in vectors(text) if len(group) == size]
    if len(groups) >= 2:
        return groups
    cell = rf"(?:{ANY_NUMBER}|-)"
    row = rf"{cell}(?:[ \t|,，:：]+{cell}){{{size - 1}}}" + (rf"(?:[ \t|,，]+{more})?" if more else "")
    for apart in (r"\s*[;；]\s*", r"[\s|]*\n[\s|]*"):
        if match := re.search(rf"(?<![\w.,，])(?:{row}{apart})+{row}(?!\w)", text):
            return [tuple(re.findall(rf"{cell}|{more}" if more else cell, part)) for part in re.split(apart, match[0])]
    return []


def pairs(text: str, kind: str = "") -> str | None:
    """Logical addresses (segment, offset)."""
    cell = rf"(?:{ANY_NUMBER})"
    worded = re.findall(
        rf"(?:segment(?: number)?|段号?)~({cell})…(?:offset|displacement|偏移量?|段内(?:地址|偏移)|位移)~({cell})"
        .replace("~", r"\s*(?:is|of|为|是|=)?\s*").replace("…", r"[^.。;；\d]{0,16}?"), text, re.I
    )  # fmt: skip
    behind = re.search(r"(?:logical|virtual)? ?address(?:es)?|逻辑地址|虚拟?地址", text, re.I)
    found = worded or [each for each in vectors(text) if len(each) == 2]
    if not found and behind:
        found = _listed(text[behind.end() :], 2, _RIGHTS)
        found = found or re.findall(rf"(?<![\w.])({cell})\s*[,，]\s*({cell})(?![\w.,，]*\d)", text[behind.end() :])
    return "; ".join(" ".join(pair) for pair in found) or None


def addresses(text: str, kind: str = "") -> str | None:
    """Logical addresses, as many as are told of together."""
    plainly = re.sub(r"寄存器[^,，.。;；]*|registers?[^.,;]*", " ", text)
    one = rf"(?:{ANY_NUMBER})"
    form = rf"(?:addresses|address|地址)[^\d.。]{{0,16}}({one}(?:\s*(?:[,，、]|and|和|与|\s)\s*(?:and )?{one})*)(?! ?(?:bits|位))"
    found: list[list[str]] = [re.findall(ANY_NUMBER, match[1]) for match in re.finditer(form, plainly, re.I)]
    if hexes := re.search(r"0x[0-9A-Fa-f]+(?:\s*(?:,|、|and|和)\s*(?:and )?0x[0-9A-Fa-f]+)+", plainly):
        found.append(re.findall(ANY_NUMBER, hexes[0]))
    most = max(map(len, found), default=0)
    return next((",".join(each) for each in found if len(each) == most), None)


def edges(text: str, kind: str = "") -> str | None:
    """`P1→R1` and the like; words as `P1 waits for R1` too."""
    found = re.findall(r"(?<!\w)([A-Z]\w{0,3})\s*(?:→|-+>|=>)\s*([A-Z]\w{0,3})(?!\w)", text)
    if len(found) < 2:  # T1 waits for T2
        found = re.findall(r"(?<!\w)([PT]\d{1,2}) ?(?:waits? for|is waiting for|等待) ?([PT]\d{1,2})(?!\w)", text)
    if len(found) < 2:
        named = re.findall(r"(?<!\w)([PT]\d{1,2})(?!\w)([^PT。?？]{0,80})", text)
        found = []
        for name, part in named or re.findall(r"(?:[Pp]rocess|进程) ?([A-Z])(?!\w)([^.。;；]{0,80})", text):
            for verb, several in re.findall(
                r"(hold\w*(?! nothing)|占有|持有|拥有|wait\w*|want\w*|need\w*|request\w*|等待|申请|请求|需要)"
                r"[^A-Z。.;；]{0,24}([A-Z]\d{0,2}(?!\w)(?:\s*(?:,|、|and|和)\s*[A-Z]\d{0,2}(?!\w))*)",
                part,
            ):
                for held in re.findall(r"[A-Z]\d{0,2}", several):
                    found.append((held, name) if re.match(r"hold|[占持拥]", verb) else (name, held))
        given = re.findall(
            r"(?<!\w)(R\d{0,2})(?!\w)[^PR.。;；?？]{0,16}?(?:(?:allocated|assigned|granted|given) to|held by|分配?给了?)"
            r"[^PR.。;；]{0,8}((?:P\d{1,2}(?! ?(?:正在|又|再)?(?:申请|请求|等待|request|wait|want|need))[\s,、和与and]*)+)", text
        )  # fmt: skip
        found[:0] = [(one, name) for one, names in given for name in re.findall(r"P\d{1,2}", names)]
    numbered = [pair for pair in found if re.search(r"\d", "".join(pair))]  # not the legend: P→R is a request
    pairs = dict.fromkeys(numbered if len(numbered) >= 2 else found)
    return ",".join(f"{one}->{two}" for one, two in pairs) if len(pairs) >= 2 else None


def processes(text: str, kind: str = "") -> str | None:
    """Processes that are named with letters alone."""
    return ",".join(dict.fromkeys(re.findall(r"(?:[Pp]rocess|进程) ?([A-Z])(?!\w)", text))) or None


def units(text: str, kind: str = "") -> str | None:
    """Instances of each resource: `R1 has 2 instances`, `R1 和 R2 都只有一个实例`."""
    found: dict[str, str] = {}
    name = r"(?<![\w→>])(R\d{1,2})(?!\w)"
    for match in re.finditer(
        rf"((?:{name}(?:\s*(?:[,，、]|and|和|\s)\s*)*)+)[^.。;；\d→>R]{{0,16}}?(\d+|一|one|a single)\s*(?:个|units?|instances?|copies)",
        text,
    ):
        value = match[3] if match[3].isdecimal() else "1"
        for each in re.findall(r"R\d{1,2}", match[1]):
            found.setdefault(each, value)
    found |= dict(re.findall(r"(?<!\w)(R\d{1,2})\s*(?:=|has|have|有)\s*(\d+)(?!\w)", text))
    single = r"(?:a single|one|1|一个?|1个)[^.。;；]{0,8}(?:instance|unit|copy|实例|个)[^.。;；]{0,16}(?:each|every)|(?:每[种类个]|各)[^.。;；]{0,12}(?:只有|均为|都?有|为)(?:一|1)个"
    if not found and re.search(single, text, re.I):
        found = dict.fromkeys(sorted(set(re.findall(r"(?<!\w)R\d{1,2}(?!\w)", text))), "1")
    return ",".join(f"{each}={value}" for each, value in found.items()) or None


def links(text: str, kind: str = "") -> str | None:
    """Entries of a FAT."""
    end = r"(?:-1|end|eof|eoc|null|结束|文件尾|EOF|0xFFF\w*)"
    found = re.findall(
        rf"(?<![\w])(?:FAT)?\s*\[?(\d+)\]?(?:号表?项)?(?:的内容)?\s*(?:→|->|=|:|：|指向|为|是|points to)\s*(\d+|{end})",
        text,
        re.I,
    )
    if len(found) < 2:
        across = [
            re.findall(rf"\d+|{end}", line)
            for line in text.splitlines()
            if re.match(r"[\s|]*(?:block|entry|index|next|簇|块|表项|下一|FAT)", line, re.I)
        ]
        across = [cells for cells in across if len(cells) >= 2]
        if len(across) == 2 and len(across[0]) == len(across[1]):
            found = list(zip(*across, strict=True))
    if len(found) < 2:
        found = re.findall(rf"^[ \t|]*(\d+)[ \t|]+(\d+|{end})[ \t|]*$", text, re.I | re.M)
    if len(found) < 2 and (chain := _chain(text)):
        found = list(zip(chain, [*chain[1:], "end"], strict=True))
    return ",".join(f"{at}={to if to.isdecimal() else 'end'}" for at, to in found) if len(found) >= 2 else None


def _chain(text: str) -> list[str]:
    """The blocks of a linked file in order: `依次存放在 50、121、75 号磁盘块上`, `stored in blocks 50, 121 and 75`."""
    match = re.search(
        rf"({LIST})\s*(?:号|这些)?(?:磁盘|物理|盘)*块|(?:in|blocks?|块)[^\d.。;；]{{0,16}}({LIST})", text, re.I
    )
    return re.findall(NUMBER, match[1] or match[2]) if match and re.search(r"link|链", text, re.I) else []


def extents(text: str, kind: str = "") -> str | None:
    """Triples of first block in the file, length and first block on disk."""
    rows = [row for table in tables(text) for row in table.rows]
    order = r"[(（][^()（）]*?(?:on disk|disk block|磁盘|盘上|物理)[^()（）]*(?:length|count|长度|块数)"
    swapped = re.search(order, text, re.I)  # where the place on disk is told before the length
    found = _listed(text, 3) or [row.cells if len(row.cells) == 3 else (row.name, *row.cells) for row in rows]
    rows_ = [(group[0], group[2], group[1]) if swapped else group for group in found if len(group) == 3]
    return "; ".join(map(" ".join, rows_)) or None


def quanta(text: str, kind: str = "") -> str | None:
    """Time slices of the queues, the last perhaps unlimited; each told apart, or all in a list."""
    text = re.sub(r"(?<=\d)\s*ms\b|(?<=\d)\s*毫秒", "", text)
    by_level = re.findall(r"(?:第?[1-5]级(?:队列)?|(?<!\w)Q[0-5])[^\d。;；]{0,16}?(\d+)(?![\d级个])", text)
    slices = rf"(?:quanta|quantum|slices?|时间片)[^\d.。;；]{{0,24}}({LIST}(?:,\s*inf)?|{NUMBER}(?:,\s*inf)?)(?![\d级])"
    told = [re.findall(rf"{NUMBER}|inf", match[1]) for match in re.finditer(slices, text, re.I)]
    longest = max(told, key=len, default=[])
    values = longest if len(longest) > 1 else [number for each in told for number in each]
    values = by_level if len(by_level) > max(1, len(values)) else values
    last = r"(?:last|lowest|third|final|bottom|queue [2-9]|Q[2-9]|最后|最低|第?[三3四4]级)[^.。;；]{0,40}(?:FCFS|first[- ]come|unlimited|to completion|先来先服务|不限)"
    each = r"(?:各级|每[级个]|each|every|all)[^.。;；]{0,20}(?:FCFS|first[- ]come|先来先服务)"
    if values and values[-1] != "inf" and re.search(last, text, re.I) and not re.search(each, text, re.I):
        values.append("inf")
    return ",".join(values) or None


_REWRITTEN = re.compile(r"rewrit|chang|updat|replac|becomes|改写|改为|修改|更新|变为", re.I)


def blocks(part: str) -> Callable[[str, str], str | None]:
    """Binary contents of blocks; where one is rewritten, the old and the new content stand last."""

    def read(text: str, kind: str = "") -> str | None:
        found = re.findall(r"(?<![\w.])[01]{3,}(?!\w|\.\d)", text)
        if not found:  # hexadecimal
            found = [
                f"{int(one, 16):0{4 * len(one)}b}" for one in re.findall(r"(?<!\w)0x([0-9A-Fa-f]{1,8})(?!\w)", text)
            ]
        if len(found) > 3 and _REWRITTEN.search(text) and found[-2] in found[:-2]:
            parts: dict[str, str] = {"blocks": ",".join(found[:-2]), "old": found[-2], "new": found[-1]}
            return parts[part]
        return ",".join(found) if part == "blocks" and len(found) >= 2 else None

    return read


def shares(text: str, kind: str = "") -> str | None:
    """Availabilities of parts in percent."""
    found = re.findall(rf"({NUMBER})\s*%", text)
    listed = re.search(rf"(?:availabilit\w*|可用性|可用度)[^\d.。;；]{{0,24}}({LIST})", text, re.I)
    return ",".join(found or (re.findall(NUMBER, listed[1]) if listed else [])) or None


_NICE = r"(?<![\w.])[-+]?\d+(?![\w.]*\d)"


def nices(text: str, kind: str = "") -> str | None:
    """Nice values, which may be negative: a list, or told one by one."""
    lists = re.findall(
        rf"nice[^.。\d\-+]{{0,24}}({_NICE}(?:\s*(?:[,，、]|and|和|\s)\s*(?:and |和)?{_NICE})*)", text, re.I
    )
    found = [re.findall(_NICE, each) for each in lists]
    values = max(found, key=len, default=[])
    if len(values) == 1:  # each by itself, the same task perhaps twice
        values = list(dict.fromkeys(one[0] for one in found))
    return ",".join(value.lstrip("+") for value in values) or None


def heads(text: str, kind: str = "") -> str | None:
    """Surfaces: those of a platter for each platter."""
    platters = re.search(r"(\d+) (?:[\w-]+ )?platters?(?!s)|(\d+)个?盘片", text)
    each = re.search(
        r"(?:each|per platter|每个?盘?片)[^.。;；\d]{0,16}(\d+)[^.。;；\d]{0,12}(?:surfaces|heads|盘?面|磁头)", text
    )
    each = each or re.search(r"(\d+) (?:\w+ )?(?:surfaces|heads)(?: each| per platter)", text)
    if platters and not each and re.search(r"double[- ]sided|双面", text):
        return str(int(platters[1] or platters[2]) * 2)
    if platters and each:
        return str(int(platters[1] or platters[2]) * int(each[1]))
    return value_of("heads", kind, text)


def operated(names: str, text: str) -> str | None:
    """The operations of `6P, 4V, 9P` that have one of these names, in all."""
    found = re.findall(rf"(?<![\w.])(\d+)\s*(?:{names})(?!\w)", text)
    return str(sum(map(int, found))) if len(found) >= 2 else None


def task(text: str, kind: str = "") -> str | None:
    """Which of the tasks is asked about: the third, that of nice 5."""
    ordinals = ("first", "second", "3th", "4th", "5th")
    if match := re.search(
        rf"the ({'|'.join(ordinals)}) (?:task|process)|第([1-9一二三四五])个(?:任务|进程)|(?:task|任务) ?([1-9])(?!\d)",
        text,
        re.I,
    ):
        told = match[1] or match[2] or match[3]
        return (
            told
            if told.isdecimal()
            else str(ordinals.index(told.lower()) + 1 if match[1] else "一二三四五".index(told) + 1)
        )
    asked = re.findall(
        rf"(?:task|process|任务|进程)[^.。,，?？]{{0,12}}nice(?: value)?(?: of)? ?({_NICE})|nice ?({_NICE})(?:的)? ?(?:task|process|任务|进程)",
        text,
        re.I,
    )
    values = (nices(text) or "").split(",")
    value = next((one or two for one, two in reversed(asked)), "")
    return str(values.index(value) + 1) if values.count(value) == 1 else None


_SIZED = r"\d+(?:\.\d+)?\s*[KM]?i?B?(?![\w])"
_HOLES = r"(?:free (?:list|memory|areas?|regions?)|regions? of|holes?|partitions?|blocks?|空闲(?:分?区|块)?|分区|块)"


def sizes(text: str, kind: str = "") -> str | None:
    """Sizes of free blocks, in order of address: the first list behind their name."""
    if match := _holes(text):
        return ",".join(_in_bytes(match["sizes"], text[match.end() :]))
    return _in_bytes(match["sizes"], "")[0] if (match := _whole(text)) else None


def _whole(text: str) -> re.Match[str] | None:
    """The whole memory, where it is one hole."""
    return re.search(
        rf"(?:memory|内存|主存|用户区|空间)[^\d.。;；]{{0,24}}(?P<sizes>{_SIZED})[^.。;；]{{0,24}}(?:empty|free|空)",
        text,
        re.I,
    )


def _holes(text: str) -> re.Match[str] | None:
    apart = r"\s*(?:[,，、→]|->|and|和|\s)\s*(?:and |和)?"
    one = rf"{_SIZED}(?!\s*(?:个|processes|requests))"
    return re.search(rf"{_HOLES}[^\d;；。]{{0,60}}(?P<sizes>{one}(?:{apart}{one})+)", text, re.I)


def _in_bytes(part: str, rest: str) -> list[str]:
    """Sizes as numbers; a unit behind the last counts for all."""
    found = re.findall(r"(\d+(?:\.\d+)?)\s*([KM])?", part, re.I)
    behind = re.match(r"\s*(?:\(|（)?(?:in |单位[:：为]*)?([KM])", rest, re.I)
    shared = found[-1][1] or (behind[1] if behind else "")
    factors = {"": 1, "K": 1 << 10, "M": 1 << 20}
    return [str(round(float(number) * factors[(unit or shared).upper()])) for number, unit in found]


_AFTER = re.compile(r"\bafter\b(?P<done>[^.?,;]{1,60})|(?P<then>[^,，。;；?？]{1,40}?)(?:之后|以后|后)", re.I)


def operations(text: str, kind: str = "") -> str | None:
    """Requests and releases in order, up to the one after which the question looks: `just after B was released`."""
    for sentence in asking_sentences(text):
        after = _AFTER.search(sentence)
        names = re.findall(r"(?<!\w)[A-Z]\d{0,2}(?!\w)", after["done"] or after["then"]) if after else []
        rest = _all_operations(text.replace(sentence, " "), kind) if len(names) == 1 else None
        if after and rest:
            steps = rest.split("; ")
            released = re.search(r"free|releas|return|释放|回收|归还", after[0], re.I)
            last = f"{names[0]} -" if released else next((one for one in steps if one.startswith(f"{names[0]} ")), "")
            if last in steps:
                return "; ".join(steps[: steps.index(last) + 1])
    return _all_operations(text, kind)


def _all_operations(text: str, kind: str) -> str | None:
    """Requests and releases in order: `A 100 KB`, `释放 B`, `C -`, `212K, 417K`."""
    holes = _holes(text) or _whole(text) if kind == "fit" else None
    for field in ("memory_size", "smallest") if kind == "buddy" else ():
        if whole := max(claims(field, kind, text), key=lambda one: one.weight, default=None):
            text = text[: whole.start] + " " + text[whole.end :]
    begin = r"asks? for|requests?|process\w*|jobs?|arriv\w*|申请|请求|作业|进程|分配(?!器|方|算|策)|allocat(?!ors?\b)\w*|释放"
    start = holes or re.search(rf"(?:{begin})(?![^.。]{{0,30}}(?:holes|空闲))", text, re.I)
    part = text
    if start:
        named = re.search(r"(?<!\w)[A-Z]\w?\d{0,2}\s*$", text[: start.start()])  # A 申请 100 KB
        part = text[start.end() if holes else named.start() if named else start.start() :]
        part = part if re.search(_SIZED, part) else text
    part = re.sub(r"\d+\s*(?:个|次|道|项|processes|requests|jobs)", " ", part)
    part = re.sub(
        r"(?:作业|进程|[Jj]ob|[Pp]rocess) ?(\d{1,2})(?![\d.]|\s*[KM])\s*(?:要|需要?|申请|请求|wants|needs)?",
        r" J\1 ",
        part,
    )
    part = re.sub(r"(?<!\w)([A-Z]\d?) and ([A-Z]\d?) (?=(?:are|have been|is) )", r"\1 returned, \2 ", part)
    name = r"[A-Z]\w?\d{0,2}"
    done = r"(?i:free[sd]?|releas\w*|returns?|returned|deallocat\w*|finish\w*|terminat\w*|exits?|completes?|释放|回收|归还|完成|结束|撤离)"
    token = re.compile(
        rf"(?:{done})(?: of|了)?(?: the)?\s*(?P<again>{_SIZED})|(?:{done})(?: of|了)?\s*[(（]?(?:its |the )?(?:process |block |memory |作业|进程)*(?:of |by )?(?P<freed>{name})(?!\w)"
        rf"|(?<!\w)(?P<done>{name})\s*(?:-(?!\d)|(?:is |are |was |then |has |been |被|已)*(?:{done}))"
        rf"|(?:(?<!\w)(?P<name>{name})\s*[:：=(（]?\s*(?:申请|请求|装入|分配|占用|要|requests?|asks for|for|needs|wants|alloc\w*|需要)?\s*[(（]?\s*(?:了)?\s*)?(?<![\w.])(?P<size>{_SIZED})"
        rf"(?:\s*[^\s\d,，;；。.]{{0,2}}\s*(?:for|by|from|给)\s*(?:process )?(?P<owner>{name})(?!\w))?"
    )
    found: list[str] = []
    shared = _unit_of(text) if re.search(_SIZED, part) else ""
    for match in token.finditer(part):
        if freed := match["freed"] or match["done"]:
            found.append(f"{freed} -")
        elif match["again"]:  # the request of this size is released
            sizes_ = [each.split()[-1] for each in found]
            again = "".join(re.match(r"([\d.]+)\s*([KM]?)", match["again"], re.I).groups()).upper()  # type: ignore[union-attr]
            if again in sizes_:
                found.append(f"free R{sizes_.index(again) + 1}")
        else:
            number, unit = re.match(r"([\d.]+)\s*([KM]?)", match["size"], re.I).groups()  # type: ignore[union-attr]
            owner = match["name"] or match["owner"]
            found.append(f"{owner} " * bool(owner) + number + (unit or shared).upper())
    if not any(one[0].isalpha() for one in found) and (names := names_in(text, len(found))):
        found = [f"{name} {one}" for name, one in zip(names, found, strict=True)]  # P and Q ask for 33K and 10K
    told = [one for one in found if one[0].isalpha()]  # where requests are named, what has no name is none
    return "; ".join(told if len(told) >= 2 else found) or None


def _unit_of(text: str) -> str:
    """K or M where all sizes of the text are told in it, as in `(KB)`."""
    units = {unit.upper() for unit in re.findall(r"(?<![A-Za-z])([KM])i?B?(?![A-Za-z])", text, re.I)}
    return units.pop() if len(units) == 1 else ""


_LEVELS = {
    "single": r"singl[ey](?:-level)?|(?:one|first|1st|1)[- ]level|(?:一|1|单)[级次重]|单",
    "double": r"doubl[ey]|(?:two|second|2nd|2)[- ]level|(?:二|2|两|双)[级次重]|双",
    "triple": r"tripl[ey]|(?:three|third|3rd|3)[- ]level|(?:三|3)[级次重]",
}


def indirect(level: str) -> Callable[[str, str], str | None]:
    """How many indirect pointers of a level there are; none where only other levels are told of."""

    def read(text: str, kind: str = "") -> str | None:
        name = r"(?:indirect|间接|间[址指]|索引)"
        count = r"(?:(?P<no>no|without|没有|无)|(?<![第\d])(?P<before>\d+|one|an?))?[\s\-]*(?:个|项)?(?:地址项|指针|是|为|的)*\s*"
        each = r"[^\d.。;；]{0,30}?(?:各(?:有|占)?|[项针址块])\s*(?P<after>\d+)\s*[个项]"
        counts: dict[str, str] = {}
        several = re.search(r"[一1][次级]?[/、,，和][二2两][次级]?(?:[/、,，和]([三3]))?[次级]?间[接址]", text)
        if several:  # 一/二/三次间接各一
            return "1" if level != "triple" or several[1] else "0"
        for one, forms in _LEVELS.items():
            if re.search(rf"(?:\bno|without|没有|无)[^,，。;；\d]{{1,10}}(?:{forms})", text, re.I):
                counts[one] = "0"
            for found in re.finditer(rf"{count}(?:{forms})", text, re.I):
                rest = re.split(r"[。;；]|\.\s", text[found.end() :])[0]
                if not re.match(rf".{{0,60}}?{name}", rest, re.S):
                    continue
                behind = None if found["before"] else re.match(each, rest)
                told = "0" if found["no"] else found["before"] or (behind["after"] if behind else "1")
                counts.setdefault(one, told if told.isdecimal() else "1")
        bare = re.search(r"(\d+|one|an?)\s*(?:个)?\s*(?:indirect|间接)", text, re.I)
        if bare:
            counts.setdefault("single", bare[1] if bare[1].isdecimal() else "1")
        return counts.get(level, "0") if counts else None

    return read


SHAPES: dict[str, Callable[[str, str], str | None]] = {
    "jobs": jobs,
    "tasks": tasks,
    "programs": programs,
    "refs": refs,
    "requests": requests,
    "level_bits": level_bits,
    "entries": entries,
    "segments": segments,
    "translate.tlb": lambda text, kind: _tlb(text),
    "segments.addresses": pairs,
    "relocation.addresses": addresses,
    "edges": edges,
    "resource_graph.units": units,
    "resource_graph.processes": processes,
    "links": links,
    "disk_address.heads": heads,
    "disk_size.heads": heads,
    "semaphore_value.p_count": lambda text, kind: operated("P|wait|down", text) or value_of("p_count", kind, text),
    "semaphore_value.v_count": lambda text, kind: operated("V|signal|up", text) or value_of("v_count", kind, text),
    "extents": extents,
    "quanta": quanta,
    "raid_parity.blocks": blocks("blocks"),
    "raid_parity.old_block": blocks("old"),
    "raid_parity.new_block": blocks("new"),
    "parts": shares,
    "nices": nices,
    "cfs_shares.task": task,
    "holes": sizes,
    "operations": operations,
    "inode.single": indirect("single"),
    "inode.double": indirect("double"),
    "inode.triple": indirect("triple"),
    "segments.entries": lambda text, kind: (
        "; ".join(" ".join(row) for row in _listed(text.partition("页表")[2], 3)) or None
    ),
    "program": program,
    "concurrent": concurrent,
    "semaphores": lambda text, kind: starts(text, True),
    "variables": lambda text, kind: starts(text, False),
}
BY_TYPESET = {"program", "concurrent", "semaphores", "variables"}  # numbers in words stay as they are


def shaped(field: str, kind: str, text: str, original: str) -> str | None:
    """The parameter `field` of `kind`, which has a shape of its own."""
    shape = SHAPES.get(f"{kind}.{field}") or SHAPES[field]
    return shape(typeset(original) if field in BY_TYPESET else text, kind)
