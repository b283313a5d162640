# ruff: noqa: E501 - a pattern is read best in one line
"""Parameters that are more than one value: processes, matrices, requests, tables, programs."""

from collections.abc import Callable

from osrag.lab.reading import ascii as re
from osrag.lab.reading.cues import LIST, NUMBER, value_of
from osrag.lab.reading.plain import typeset
from osrag.lab.reading.tables import Row, columnwise, items, names_of, respectively, roles, tables, vectors

_TOGETHER = re.compile(
    r"(?:all|together|simultaneous|same time)[^.。]{0,40}(?:arriv|ready|0\b|time)|arriv\w*[^.。\n]{0,40}(?:time 0|at 0|t ?= ?0|same time|simultan"
    r"|together|in (?:the|that|this) order)|ready queue|at time 0|at the same time|同时(?:到达|提交|进入|就绪|在)|(?:都|均|全部)[^。，]{0,8}0 ?时?刻?[^。，]{0,4}(?:到达|就绪)"
    r"|时刻 ?0|0 ?时刻|就绪队列|几乎同时",
    re.I,
)


def jobs(text: str, kind: str = "") -> str | None:
    """Rows of name, arrival, burst and, under priority, its number."""
    wanted = ("arrival", "burst", "priority")
    by_role = columnwise(text, *wanted) or _from_table(text, wanted) or respectively(text, *wanted)
    if "burst" not in by_role or len(by_role["burst"]) < 2:
        by_role = _from_items(text, wanted) or _told(text)
    count = len(by_role.get("burst", ()))
    if not count or (len(by_role.get("arrival", ())) not in (0, count)):
        return None
    if "arrival" not in by_role:
        if not _TOGETHER.search(text):
            return None
        by_role["arrival"] = ["0"] * count
    names = by_role.get("name") or names_of(text, count)
    columns = [names, by_role["arrival"], by_role["burst"]]
    if kind == "priority" and len(by_role.get("priority", ())) == count:
        columns.append(by_role["priority"])
    return "; ".join(" ".join(row) for row in zip(*columns, strict=False))


def _from_table(text: str, wanted: tuple[str, ...]) -> dict[str, list[str]]:
    for table in tables(text):
        lines = table.header.splitlines() or [""]
        header = next((line for line in reversed(lines) if len(roles(line, *wanted)) >= 1), table.header)
        order = list(dict.fromkeys(role for _, _, role in roles(header, *wanted)))
        size = len(table.rows[0].cells)
        if "burst" in order and size >= len(order):
            by_role = {role: [row.cells[place] for row in table.rows] for place, role in enumerate(order)}
            return by_role | {"name": _named(table.rows)}
    return {}


def _named(rows: tuple[Row, ...] | list[Row]) -> list[str]:
    names = [row.name for row in rows]
    return [f"P{name}" if name.isdecimal() else name for name in names] if all(names) else []


def _from_items(text: str, wanted: tuple[str, ...]) -> dict[str, list[str]]:
    rows = items(text, 3, 2, 1) if "prior" in text.lower() or "优先" in text else items(text, 2, 1, 3)
    if not rows:
        return {}
    size = len(rows[0].cells)
    first = re.search(rf"(?<!\w){re.escape(rows[0].name)}\s*[:：=]?\s*[(（<]?\s*{re.escape(rows[0].cells[0])}", text)
    before = text[: first.start()] if first else text
    order = list(dict.fromkeys(role for _, _, role in roles(before, *wanted)))
    order = order or list(dict.fromkeys(role for _, _, role in roles(text, *wanted)))
    if len(order) > size:
        order = [role for role in order if role != "priority"]
    if len(order) != size:
        order = {1: ["burst"], 2: ["arrival", "burst"], 3: ["arrival", "burst", "priority"]}[size]
    if "burst" not in order:
        return {}
    by_role = {role: [row.cells[place] for row in rows] for place, role in enumerate(order)}
    return by_role | {"name": [row.name for row in rows]}


def _told(text: str) -> dict[str, list[str]]:
    """`P1 arrives at 0 and needs 5`."""
    found = re.findall(
        rf"(?<!\w)([A-Z][A-Za-z]?\d{{0,2}})(?![\w])[^.。;；\d]{{0,20}}?(?:arriv|到达)[^.。;；\d]{{0,12}}({NUMBER})[^.。;；\d]{{0,30}}?({NUMBER})",
        text,
    )
    found += (
        []
        if found
        else [
            (name, arrival, burst)
            for name, arrival, burst in re.findall(
                rf"(?<!\w)([A-Z][A-Za-z]?\d{{0,2}})[^.。;；\d]{{0,6}}({NUMBER})[^.。;；\d]{{0,8}}(?:到达)[^.。;；\d]{{0,12}}({NUMBER})",
                text,
            )
        ]
    )
    if len(found) < 2:
        return {}
    names, arrivals, bursts = zip(*found, strict=True)
    return {"name": list(names), "arrival": list(arrivals), "burst": list(bursts)}


def tasks(text: str, kind: str = "") -> str | None:
    """Rows of name, period and run time."""
    wanted = ("period", "burst")
    by_role = columnwise(text, *wanted) or _from_table(text, wanted)
    if not by_role:
        rows = items(text, 2)
        if rows:
            order = list(dict.fromkeys(role for _, _, role in roles(text, *wanted)))
            order = order if len(order) == 2 else ["period", "burst"]
            by_role = {role: [row.cells[place] for row in rows] for place, role in enumerate(order)}
            by_role["name"] = [row.name for row in rows]
    if not by_role:
        each = re.findall(
            rf"(?<!\w)([A-Z][A-Za-z]?\d{{0,2}})(?!\w)[^.。;；\d]{{0,16}}?(period|周期|\bT|\bp)\w*[^.。;；\d]{{0,6}}({NUMBER})[^.。;；\d]{{0,40}}?({NUMBER})",
            text,
            re.I,
        )
        if len(each) >= 2:
            by_role = {"name": [e[0] for e in each], "period": [e[2] for e in each], "burst": [e[3] for e in each]}
    if not by_role:
        by_role = respectively(text, *wanted)
    if len(by_role.get("period", ())) < 1 or len(by_role.get("period", ())) != len(by_role.get("burst", ())):
        return None
    names = by_role.get("name") or names_of(text, len(by_role["period"]))
    return "; ".join(" ".join(row) for row in zip(names, by_role["period"], by_role["burst"], strict=False))


def programs(text: str, kind: str = "") -> str | None:
    """A name and bursts in turn: `A：计算 30，I/O 40，计算 10`."""
    number = rf"{NUMBER}(?:\s*(?:ms|毫秒|units?|个?时间单位|s|秒))?"
    word = r"(?:再|然后|最后|先|then|and|finally|first|comput(?:es?|ing)|cpu|processor|print(?:s|ing)?|reads?|I/O|input|output|on the|for|of|计算|打印|输入|输出|使用|运行|处理器|处理机|设备|访问|执行|磁盘|需要?|用|依次|个?时间单位|→|->|[\s,，、:：(（)）])*"
    found = re.finditer(
        rf"(?<![A-Za-z0-9/])([A-Z]\d?|J\d|P\d|[甲乙丙丁])\s*[:：(（]?\s*(?:程序|作业|job)?\s*((?:{word}{number}(?![\d.])){{2,8}})",
        text,
    )
    rows = [(match[1], *re.findall(NUMBER, match[2])) for match in found]
    rows = [row for row in rows if len(row) >= 3]
    return "; ".join(" ".join(row) for row in rows) if len(rows) >= 2 else None


_MATRICES = ("allocation", "maximum", "need", "request", "available", "total")


def matrices(text: str) -> dict[str, str]:
    """Allocation, maximum, need, request, available, total and the names of the processes, as far as they stand there."""
    found = _grouped_rows(text) or _number_rows(text) or {}
    if "allocation" not in found:
        found |= _sections(text)
    if "allocation" in found:
        width = len(found["allocation"].split(";")[0].split())
        for role in ("available", "total"):
            if role not in found and (vector := _vector(text, role, width)):
                found[role] = vector
    return found


def _wanted(header: str) -> list[str]:
    return list(dict.fromkeys(role for _, _, role in roles(header, *_MATRICES)))


def _grouped_rows(text: str) -> dict[str, str] | None:
    """`P0 (0,1,0) (7,5,3)`: a row has a group for each matrix."""
    found = re.finditer(
        r"(?<![\w])([A-Z]\w?\d*)\s*[:：|]?\s*((?:[(（\[<][\d,，、\s]+[)）\]>]\s*[|,，、;；]?\s*){2,4})", text
    )
    rows = [(match.start(), match[1], vectors(match[2])) for match in found]
    if len(rows) < 2:
        return None
    order = _wanted(text[: rows[0][0]]) or _wanted(text)
    order = [role for role in order if role != "total"]
    if len(order) > len(rows[-1][2]):
        order = [role for role in order if role not in ("available",)]
    return _by_order([(name, groups) for _, name, groups in rows], order)


def _by_order(rows: list[tuple[str, list[tuple[str, ...]]]], order: list[str]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for place, role in enumerate(order):
        if all(len(groups) > place for _, groups in rows):
            if role not in ("available", "total"):
                found[role] = "; ".join(" ".join(groups[place]) for _, groups in rows)
        elif len(rows[0][1]) > place:
            found[role] = ",".join(rows[0][1][place])
    if "allocation" not in found or len(found) < 2:
        return None
    return found | {"names": ",".join(name for name, _ in rows)}


def _number_rows(text: str) -> dict[str, str] | None:
    """`P0 0 1 0 7 5 3`: the numbers of a row are shared among the columns of the header."""
    for table in tables(text):
        order = _wanted(table.header)
        if "allocation" not in order or len(order) < 2:
            continue
        size = len(table.rows[-1].cells)
        whole = [role for role in order if role not in ("available", "total")]
        width = size // len(whole)
        if size % len(whole) or not all(row.name for row in table.rows):
            continue
        rows = [
            (row.name, [row.cells[at : at + width] for at in range(0, len(row.cells), width)]) for row in table.rows
        ]
        if len(table.rows[0].cells) == size:
            order = whole
        named = [(f"P{name}" if name.isdecimal() else name, groups) for name, groups in rows]
        if found := _by_order(named, order):
            return found
    return None


def _sections(text: str) -> dict[str, str]:
    """A matrix behind each name: `Allocation: P0 (0,1,0), P1 (2,0,0)`, `Max = [[7,5,3],[3,2,2]]`, `Need is 1 0; 0 2`."""
    found: dict[str, str] = {}
    spots = roles(text, *_MATRICES)
    for place, (_, end, role) in enumerate(spots):
        part = text[end : spots[place + 1][0] if place + 1 < len(spots) else len(text)]
        if role in found or role in ("available", "total"):
            continue
        named = re.findall(rf"([A-Z]\w?\d*)\s*[:：=]?\s*[(（\[<]?\s*({NUMBER}(?:\s*[,，、\s]\s*{NUMBER})*)(?!\w)", part)
        named = [(name, re.findall(NUMBER, cells)) for name, cells in named]
        groups = [list(group) for group in vectors(part)]
        lines = [re.findall(NUMBER, line) for line in re.split(r"[;；\n]", re.split(r"[。?？]|\.\s", part)[0])]
        lines = [line for line in lines if line]
        if len(named) >= 2 and len({len(cells) for _, cells in named}) == 1:
            found[role] = "; ".join(" ".join(cells) for _, cells in named)
            found.setdefault("names", ",".join(name for name, _ in named))
        elif len(groups) >= 2 and len({len(group) for group in groups[:2]}) == 1:
            groups = [group for group in groups if len(group) == len(groups[0])]
            found[role] = "; ".join(" ".join(group) for group in groups)
        elif len(lines) >= 2 and len({len(line) for line in lines}) == 1:
            found[role] = "; ".join(" ".join(line) for line in lines)
        elif len(spots) > 1 and (match := re.match(rf"[^\d。.;；\n]{{0,40}}({LIST})", part)):
            found[role] = "; ".join(re.findall(NUMBER, match[1]))  # one resource, a number for each process
    return found


def _vector(text: str, role: str, width: int) -> str | None:
    ahead = re.search(rf"({NUMBER})\s*(?:\w+\s+){{0,2}}(?:available|free)", text)
    if ahead and (width, role) == (1, "available"):
        return str(ahead[1])
    for _, end, _ in roles(text, role):
        match = re.match(
            rf"[^\d.。;；\n]{{0,40}}?({NUMBER}(?:\s*[,，、\s]\s*{NUMBER}){{{width - 1}}})(?!\s*[,，、]?\s*\d)",
            text[end:],
        )
        if match:
            return ",".join(re.findall(NUMBER, match[1]))
        labelled = re.match(rf"[^.。;；\n]{{0,30}}?((?:[A-Z]\w?\s*[=:：]\s*\d+\s*[,，、]?\s*){{{width}}})", text[end:])
        if labelled:
            return ",".join(re.findall(r"[=:：]\s*(\d+)", labelled[1]))
    return None


def asking(text: str) -> dict[str, str]:
    """The process that requests, and what."""
    vector = rf"[^\d.。;；?？\n]{{0,30}}?[(（\[<]?\s*({NUMBER}(?:\s*[,，、]\s*{NUMBER})*)"
    name = r"(?<!\w)([A-Z]\w?\d+|[A-Z])(?!\w)"
    for form in (
        rf"{name}[^.。;；?？\d]{{0,24}}?(?:requests?|asks? for|请求|申请|提出|发出)(?:资源)?{vector}",
        rf"requests?(?: of| from| by)? (?:process )?{name}{vector}",
        rf"Request_?\(?{name}?\)?\s*=?{vector}",
        rf"request (?:for )?{vector}[^.。;；?？\d]{{0,20}}(?:by|from|of|process) (?:process )?{name}",
    ):
        if match := re.search(form, text, re.I if "equest" in form[:12] else 0):
            one, two = match[1] or "", match[2] or ""
            return (
                {"process": one, "request": ",".join(re.findall(NUMBER, two))}
                if not one[:1].isdigit()
                else {"process": two, "request": ",".join(re.findall(NUMBER, one))}
            )
    return {}


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


def refs(text: str, kind: str = "") -> str | None:
    """The list of references: the longest that a word announces; digits in a row where there is no list."""
    if kind == "enhanced_clock":
        marked = re.findall(r"(?<![\w.])(\d+)\s*[(（]?\s*([wWrR写读]?)[)）]?(?=\s*[,，、;\s。.]|$)", _best_marked(text))
        return (
            ",".join(page + ("w" if mark in "wW写" and mark else "") for page, mark in marked)
            if len(marked) >= 4
            else None
        )
    if "0x" in text:
        hexes = re.search(r"(?:0x[0-9A-Fa-f]+\s*[,，、\s]\s*){3,}0x[0-9A-Fa-f]+", text)
        if hexes:
            return ",".join(re.findall(r"0x[0-9A-Fa-f]+", hexes[0]))
    best = _best_list(text, 4)
    if best:
        return best
    run = re.search(r"(?:string|sequence|序列|走向|引用串)[^\d\n]{0,20}(\d{6,})(?!\d)", text, re.I)
    return ",".join(run[1]) if run else None


def _best_marked(text: str) -> str:
    runs = re.findall(r"(?:\d+\s*[(（]?[wWrR写读]?[)）]?\s*(?:[,，、;]|\s)\s*){3,}\d+\s*[(（]?[wWrR写读]?[)）]?", text)
    return max(runs, key=len, default="")


def _best_list(text: str, least: int) -> str | None:
    found = _lists(text, least)
    if not found:
        return None
    told = [(start, one) for start, one in found if re.search(_CUE_LIST + r"[^\d]{0,60}$", text[:start], re.I)]
    best = max(told or found, key=lambda each: len(re.findall(NUMBER, each[1])))[1]
    return ",".join(re.findall(NUMBER, best))


def requests(text: str, kind: str = "") -> str | None:
    """The requested cylinders."""
    return _best_list(text, 3)


def level_bits(text: str, kind: str = "") -> str | None:
    """Bits of the indices: `10-bit outer index`, `页目录号 10 位`, `10/10/12`."""
    if match := re.search(
        r"(?<!\d)(\d{1,2})\s*[/|+:-]\s*(\d{1,2})(?:\s*[/|+:-]\s*(\d{1,2}))?(?:\s*[/|+:-]\s*(\d{1,2}))?(?!\d)", text
    ):
        parts = [part for part in match.groups() if part]
        if len(parts) >= 2 and sum(map(int, parts)) in (16, 20, 22, 24, 32, 36, 39, 48):
            return ",".join(parts[:-1])
    index = r"(?:index|table|directory|level|outer|inner|first|second|top|page number|page(?!s))"
    found = [m[1] for m in re.finditer(rf"(\d{{1,2}})[\s\-]*bits?[^.。,，;\d]{{0,20}}{index}", text, re.I)]
    found = found or [
        m[1]
        for m in re.finditer(
            r"(?:页目录|目录|页号|外层|内层|[一二三1-4]级)(?:号|页号|索引|下标|项)?[^。，；、\d]{0,8}(\d{1,2})\s*位",
            text,
        )
    ]
    found = found or [
        m[1]
        for m in re.finditer(
            r"(\d{1,2})\s*位(?:是|为|的)?(?:页目录|目录|外层|内层|[一二三1-4]级)?(?:页号|页表|索引|下标)", text
        )
    ]
    return ",".join(found) if found else None


def page_size_by_offset(text: str) -> str | None:
    """The size that a stated number of offset bits gives."""
    match = re.search(
        r"(\d{1,2})[\s\-]*bits?[^.。,，;\d]{0,16}offset|offset[^.。,，;\d]{0,16}?(\d{1,2})[\s\-]*bits|(?:偏移量?|页内地址|偏移地址)[^。，；\d]{0,8}(\d{1,2})\s*位|(\d{1,2})\s*位(?:是|为|的)?(?:页内)?偏移",
        text,
        re.I,
    )
    bits = next((part for part in match.groups() if part), None) if match else None
    return str(1 << int(bits)) if bits and int(bits) < 40 else None


_N = r"(?:0x[0-9A-Fa-f]+|\d+)"


def entries(text: str, kind: str = "", part: str = "") -> str | None:
    """Pairs of page and frame, from a table, arrows or words; `-` where an entry is invalid."""
    none = r"(?:-|–|invalid|无效|不在内存|none|x(?=\s))"
    worded = re.findall(
        rf"(?:page|页号?|第)\s*({_N})\s*(?:页)?\s*(?:is |are |was )?(?:in|to|at|对应|装入|存放在?|在|映射到|→|->|:|：)\s*(?:the )?(?:page )?(?:frame|页框号?|物理块号?|块号?|帧|第)?\s*({_N}|{none})",
        text,
        re.I,
    )
    arrows = re.findall(rf"(?<![\w])({_N})\s*(?:→|->|:|：|=>)\s*(?:frame |页框 ?)?({_N}|{none})(?![\w])", text)
    pairs = worded if len(worded) >= 2 else arrows if len(arrows) >= 1 else worded
    if not pairs:
        pairs = _entry_table(text)
    if not pairs:
        group = [
            each for each in vectors(re.sub(r"0x[0-9A-Fa-f]+", lambda m: str(int(m[0], 16)), text)) if len(each) == 2
        ]
        pairs = [(each[0], each[1]) for each in group] if len(group) >= 2 and kind == "translate" else []
    if not pairs and (
        match := re.search(
            rf"(?:pages? 0[^.。]{{0,40}}?(?:frames?|物理块号?|页框号?|块)[^\d]{{0,12}}|页号?\s*0[^.。]{{0,60}}?(?:页框|物理块|块|帧)号?(?:中|为|是|分别为|分别是|[^\d]){{0,8}})({LIST})",
            text,
        )
    ):
        frames = re.findall(NUMBER, match[1])
        pairs = [(str(page), frame) for page, frame in enumerate(frames)]
    return "; ".join(f"{page} {frame if re.fullmatch(_N, frame) else '-'}" for page, frame in pairs) or None


def _entry_table(text: str) -> list[tuple[str, str]]:
    lines = [line for line in text.splitlines() if line.strip()]
    across = {}
    for line in lines:
        if match := re.match(
            rf"[\s|]*(page(?: number| no\.?)?|页号|frame(?: number| no\.?)?|页框号?|物理块号?|块号|帧号)[\s|:：]+((?:(?:{_N}|-)[\s|,，、]*){{2,}})$",
            line,
            re.I,
        ):
            across["page" if re.match(r"page|页号", match[1], re.I) else "frame"] = re.findall(rf"{_N}|-", match[2])
    if len(across) == 2 and len(across["page"]) == len(across["frame"]):
        return list(zip(across["page"], across["frame"], strict=True))
    rows = []
    for line in lines:
        if match := re.fullmatch(
            rf"[\s|]*({_N})[\s|,，:：]+({_N}|-|invalid|无效)[\s|]*(?:[01]|valid|有效|invalid|无效)?[\s|]*", line, re.I
        ):
            gone = re.search(r"invalid|无效|[\s|]0[\s|]*$", line[match.end(2) :])
            rows.append((match[1], "-" if gone else match[2]))
    return rows if len(rows) >= 2 else []


def segments(text: str, kind: str = "") -> str | None:
    """Rows of number, base and length, whatever the order of the columns."""
    rows = []
    for line in text.splitlines():
        cells = re.findall(r"0x[0-9A-Fa-f]+|\d+K?", line)
        if len(cells) == 3 and not re.search(r"[A-Za-z\u4e00-\u9fff]{3,}", re.sub(r"0x\w+", "", line)):
            rows.append(cells)
    if len(rows) < 2:
        rows = [
            [m[1], m[2], m[3]]
            for m in re.finditer(
                rf"(?:segment|段)\s*({_N})\s*[:：]?[^.。;；\d]{{0,16}}({_N})[^.。;；\d]{{0,16}}({_N})", text, re.I
            )
        ]
    rows = rows or [list(each) for each in _triples(text)]
    if len(rows) < 1:
        return None
    base = re.search(r"base|start|基址|基地址|始址|起始|首址", text, re.I)
    length = re.search(r"length|limit|size|段长|长度|限长|界限", text, re.I)
    swapped = base is not None and length is not None and length.start() < base.start()
    return "; ".join(f"{number} {two} {one}" if swapped else f"{number} {one} {two}" for number, one, two in rows)


def pairs(text: str, kind: str = "") -> str | None:
    """Logical addresses (segment, offset)."""
    found = re.findall(rf"[(（<\[]\s*({_N})\s*[,，、]\s*({_N})\s*[)）>\]]", text)
    found = found or re.findall(
        r"(?:segment|段号?)\s*(\d+)[^.。;；\d]{0,16}(?:offset|偏移|段内地址)[^.。;；\d]{0,8}(\d+)", text, re.I
    )
    return "; ".join(" ".join(pair) for pair in found) or None


def addresses(text: str, kind: str = "") -> str | None:
    """Several logical addresses."""
    match = re.search(
        rf"(?:addresses|address|地址)[^\d.。]{{0,16}}({_N}(?:\s*(?:[,，、]|and|和|与|\s)\s*(?:and )?{_N})*)(?! ?(?:bits|位))",
        re.sub(r"寄存器[^，。；]*|registers?[^.,;]*", " ", text),
        re.I,
    )
    return ",".join(re.findall(_N, match[1])) if match else None


def edges(text: str, kind: str = "") -> str | None:
    """`P1→R1` and the like; words as `P1 waits for R1` too."""
    found = re.findall(r"(?<!\w)([A-Z]\w{0,3})\s*(?:→|-+>|=>)\s*([A-Z]\w{0,3})(?!\w)", text)
    if len(found) < 2:
        found = []
        for one, verb, two in re.findall(
            r"(?<!\w)([A-Z]\d{1,2})\s*(holds?|is holding|占有|waits? for|is waiting for|requests?|等待|申请|请求)\s*(?:an instance of |one unit of )?([A-Z]\d{1,2})(?!\w)",
            text,
        ):
            found.append((two, one) if re.match(r"hold|is hold|占", verb) else (one, two))
    return ",".join(f"{one}->{two}" for one, two in found) if len(found) >= 2 else None


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
    return ",".join(f"{each}={value}" for each, value in found.items()) or None


def links(text: str, kind: str = "") -> str | None:
    """Entries of a FAT."""
    end = r"(?:-1|end|eof|eoc|null|结束|文件尾|EOF|0xFFF\w*)"
    found = re.findall(rf"(?<![\w])(?:FAT)?\s*\[?(\d+)\]?\s*(?:→|->|=|:|：|指向|points to)\s*(\d+|{end})", text, re.I)
    if len(found) < 2:
        across = [
            re.findall(rf"\d+|{end}", line)
            for line in text.splitlines()
            if re.match(r"[\s|]*(?:block|entry|index|next|簇|块|表项|下一|FAT)", line, re.I)
        ]
        across = [cells for cells in across if len(cells) >= 2]
        if len(across) == 2 and len(across[0]) == len(across[1]):
            found = list(zip(*across, strict=True))
    return ",".join(f"{at}={to if to.isdecimal() else 'end'}" for at, to in found) if len(found) >= 2 else None


def extents(text: str, kind: str = "") -> str | None:
    """Triples of first block in the file, length and first block on disk."""
    found: list[tuple[str, ...]] = [group for group in vectors(text) if len(group) == 3]
    rows = [row for table in tables(text) for row in table.rows]
    found = found or [row.cells if len(row.cells) == 3 else (row.name, *row.cells) for row in rows]
    found = [group for group in found if len(group) == 3] or _triples(text)
    return "; ".join(" ".join(group) for group in found) or None


def _triples(text: str) -> list[tuple[str, ...]]:
    """Rows of three numbers on one line, apart by semicolons."""
    match = re.search(r"(?:\d+ +\d+ +\d+\s*[;；]\s*)+\d+ +\d+ +\d+", text)
    return [tuple(re.findall(r"\d+", row)) for row in re.split("[;；]", match[0])] if match else []


def quanta(text: str, kind: str = "") -> str | None:
    """Time slices of the queues, the last perhaps unlimited."""
    match = re.search(
        rf"(?:quanta|quantum|slices?|时间片)[^\d]{{0,24}}({NUMBER}(?:\s*(?:ms|[,，、/]|and|和|\s)\s*(?:and |和)?{NUMBER})*)",
        text,
        re.I,
    )
    if match is None:
        return None
    values = re.findall(NUMBER, match[1])
    if re.search(
        r"(?:last|lowest|third|final|queue 3|最后|最低|第[三3]级)[^.。]{0,30}(?:FCFS|first[- ]come|unlimited|to completion|先来先服务|不限)",
        text,
        re.I,
    ):
        values.append("inf")
    return ",".join(values)


def blocks(text: str, kind: str = "") -> str | None:
    """Binary contents of blocks."""
    found = re.findall(r"(?<![\d.])[01]{3,}(?![\d.])", text)
    return ",".join(found) if len(found) >= 2 else None


def shares(text: str, kind: str = "") -> str | None:
    """Availabilities of parts in percent."""
    found = re.findall(rf"({NUMBER})\s*%", text)
    return ",".join(found) if found else None


def nices(text: str, kind: str = "") -> str | None:
    """Nice values, which may be negative."""
    match = re.search(
        r"nice[^.。\d\-+]{0,24}([-+]?\d+(?:\s*(?:[,，、]|and|和|\s)\s*(?:and |和)?[-+]?\d+)*)", text, re.I
    )
    return ",".join(part.lstrip("+") for part in re.findall(r"[-+]?\d+", match[1])) if match else None


def sizes(text: str, kind: str = "") -> str | None:
    """Sizes of free blocks, in order of address."""
    one = r"\d+(?:\.\d+)?\s*[KM]?i?B?"
    match = re.search(
        rf"(?:holes?|partitions?|blocks?|空闲(?:分?区|块)?|分区)[^\d;；。]{{0,60}}({one}(?:\s*(?:[,，、]|and|和|\s)\s*(?:and |和)?{one}(?![\w])){{1,}})",
        text,
        re.I,
    )
    if match is None:
        return None
    rest = text[match.end() : match.end() + 14]
    return _in_bytes(re.findall(one, match[1]), rest)


def _in_bytes(found: list[str], rest: str) -> str:
    """Sizes as numbers; a unit behind the last counts for all."""
    units = [re.search("[KM]", one, re.I) for one in found]
    shared = units[-1] or re.match(r"\s*(?:\(|（)?(?:in )?([KM])", rest, re.I)
    factors = {"K": 1 << 10, "M": 1 << 20}
    told = []
    for one, unit in zip(found, units, strict=True):
        letter = unit or shared
        factor = factors[(letter[1] if letter.re.groups else letter[0]).upper()] if letter else 1
        told.append(str(round(float(re.match(NUMBER, one)[0]) * factor)))  # type: ignore[index]
    return ",".join(told)


def operations(text: str, kind: str = "") -> str | None:
    """Requests and releases in order: `A 100 KB`, `释放 B`, `212K, 417K`."""
    start = [
        m.end()
        for m in re.finditer(
            r"(?:requests?|process\w*|jobs?|arriv\w*|申请|请求|作业|进程|allocat\w*)(?![^.。]{0,30}(?:holes|空闲))",
            text,
            re.I,
        )
    ]
    sized = r"\d+(?:\.\d+)?\s*[KM]?i?B?"
    free = re.search(
        rf"(?:holes?|partitions?|空闲)[^.。;；\d]{{0,60}}(?:{sized}\s*(?:[,，、]|and|和|\s)\s*)+{sized}", text, re.I
    )
    part = text[free.end() :] if kind == "fit" and free else text[start[0] :] if start else text
    name = r"[A-Z]\w?\d{0,2}|J\d|P\d"
    size = r"(\d+)\s*([KM])?i?B?(?![\w])"
    token = re.compile(
        rf"(?:(?:free|releas\w*|释放|回收|归还)\s*(?:了)?\s*(?:process |block |作业|进程)?(?P<freed>{name})(?!\w))|(?:(?<!\w)(?P<freed2>{name})\s*(?:is |are |then |被)*(?:freed|released|释放|finishes|完成|结束|terminates|exits))|(?:(?<![\w])(?P<name>{name})\s*[:：=(（]?\s*(?:申请|请求|requests?|asks for|needs|需要)?\s*)?(?<![\w.]){size}"
    )
    found, shared = [], "KB" if re.search(r"\d\s*K", part) else ""
    for match in token.finditer(part):
        if freed := match["freed"] or match["freed2"]:
            found.append(f"{freed} -")
        else:
            unit = match[5] or (shared[:1] if shared else "")
            found.append(f"{match['name']} {match[4]}{unit}" if match["name"] else f"{match[4]}{unit}")
    return "; ".join(found) or None


def program(text: str, kind: str = "") -> str | None:
    """C text with fork: from its first statement to its last brace or semicolon."""
    first = re.search(
        r"#include|\b(?:int|void)\s+main|\b(?:int|pid_t)\s+\w+\s*(?:=|;|,)|\b(?:for|while|if)\s*\(|\bfork\s*\(\s*\)\s*(?:;|&&|\|\|)|\bprintf\s*\(|\w+\s*=\s*fork",
        text,
    )
    if first is None or "fork" not in text:
        return None
    part = text[first.start() :]
    last = max(part.rfind(";"), part.rfind("}"))
    code = re.sub(r"```\w*", "", part[: last + 1])
    return re.sub(r"^\s*#include[^\n]*$", "", code, flags=re.M).strip() or None


_STATEMENT = r"(?:[A-Za-z_]\w*\s*\([^()]*\)|[A-Za-z_]\w*\s*(?:=|\+=|-=|\+\+|--)[^;；\n。|]*|(?:enter|leave)\s+\w+)"


def concurrent(text: str, kind: str = "") -> str | None:
    """Programs of processes, one a line or part: `P1: P(S); x = x + 1; V(S)`."""
    found = re.findall(
        rf"(?:^|[\n|。.;；:：?？]\s*|\|\|\s*)\s*(?:process |进程)?([A-Z][A-Za-z]?\w{{0,3}})\s*[:：]\s*\{{?\s*((?:{_STATEMENT}\s*[;；]?\s*)+)",
        text,
    )
    found = [(name, body) for name, body in found if re.search(r"[()=+]", body)]
    told = [
        f"{name}: {'; '.join(part.strip() for part in re.split(r'[;；]', body) if part.strip())}"
        for name, body in found
    ]
    return " || ".join(told) if len(told) >= 2 else None


def starts(text: str, semaphore: bool) -> str | None:
    """Initial values of semaphores, or of shared variables."""
    program_ = concurrent(text) or ""
    used = set(re.findall(r"(?:P|V|wait|signal|down|up)\s*\(\s*&?(\w+)\s*\)", program_))
    assigned = set(re.findall(r"(?<!\w)([A-Za-z_]\w*)\s*(?:=|\+=|-=|\+\+|--)", program_))
    before = text
    found: dict[str, str] = {}
    for group in re.finditer(
        r"((?:(?<!\w)[A-Za-z_]\w*\s*(?:=|,|，|、|and|和)?\s*)+?)(?:=|(?:的?初值)?(?:都|均|both|all)?(?:是|为|设为|initially|initiali[sz]ed to|are|is|starts? (?:at|with))+)\s*(\d+)",
        before,
    ):
        for name in re.findall(r"[A-Za-z_]\w*", group[1]):
            if name in (used if semaphore else assigned - used):
                found.setdefault(name, group[2])
    return ",".join(f"{name}={value}" for name, value in found.items()) or None


SHAPES: dict[str, Callable[[str, str], str | None]] = {
    "jobs": jobs,
    "tasks": tasks,
    "programs": programs,
    "refs": refs,
    "requests": requests,
    "level_bits": level_bits,
    "entries": entries,
    "segments": segments,
    "segments.addresses": pairs,
    "relocation.addresses": addresses,
    "edges": edges,
    "resource_graph.units": units,
    "links": links,
    "extents": extents,
    "quanta": quanta,
    "raid_parity.blocks": blocks,
    "parts": shares,
    "nices": nices,
    "holes": sizes,
    "operations": operations,
    "program": program,
    "concurrent": concurrent,
    "semaphores": lambda text, kind: starts(text, True),
    "variables": lambda text, kind: starts(text, False),
}
BY_TYPESET = {"program", "concurrent", "semaphores", "variables"}  # numbers in words stay as they are


def shaped(field: str, kind: str, text: str, original: str) -> str | None:
    """The parameter `field` of `kind`, where it has a shape of its own; else by its forms."""
    shape = SHAPES.get(f"{kind}.{field}") or SHAPES.get(field)
    if shape is None:
        return value_of(field, kind, text)
    return shape(typeset(original) if field in BY_TYPESET else text, kind)
