"""Tables and lists of a question: what each name has of each role, in whatever layout it was written or pasted.

A role is what a column holds (arrival, run time, base, …); its words stand under `roles` in `data/lab_reading.toml`.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from osrag.lab.fields import size
from osrag.lab.reading import ascii as re
from osrag.lab.reading.cues import LIST, NUMBER, pattern, words

Columns = dict[str, list[str]]  # by role, equally long; "name" is the name of each row

ANY_NUMBER = rf"0x[0-9A-Fa-f]+|{NUMBER}"
NAME = r"(?:(?:JOB|Job|TASK|Task)\d{1,2}|[ptj]\d{1,2}|[A-Z][A-Za-z]?_?\d{1,3}|[A-Z]|[甲乙丙丁戊])"
_UNIT = r"(?:[num]?s|µs|sec(?:onds?)?|[KMG]i?B?|B|bytes?|毫秒|微秒|秒|分钟?|小时|字节|字|个?时间单位|units?|h|min)"
_CELL = re.compile(rf"({ANY_NUMBER})\s*{_UNIT}?|-{{1,2}}|—|(invalid|无效)", re.I)
_BETWEEN = r"\s*(?:[,，、/]|and|和|与|\s)\s*(?:and|和|与)?\s*"


_OWN_LINE = re.compile(
    rf"^([^\d\n,，。;；|]{{2,24}})\n(?=(?:(?:{NAME}|{NUMBER})[ \t]+)+(?:{NAME}|{NUMBER})[ \t]*$)", re.M
)  # a role above its list


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: its name and its numbers as they stand."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Lines of one shape, and the lines above them."""

    header: str
    rows: tuple[Row, ...]


def records(text: str, wanted: tuple[str, ...], needed: tuple[str, ...]) -> Columns:
    """The columns `wanted` that the text holds, in the first layout that has all those `needed`; else nothing."""
    for layout in (_across, _down, _bracketed, _respectively, _row_by_row, _in_brackets):
        found = layout(text, wanted)
        if all(len(found.get(role, ())) >= 2 for role in needed) and len({*map(len, found.values())}) == 1:
            return found
    return {}


def roles(text: str, *names: str) -> list[tuple[int, int, str]]:
    """Where names of columns stand, in order: start, end and role; of overlapping ones the longer."""
    spots = [
        (match.start(), match.end(), role)
        for role in names
        for form in words()["roles"][role]
        for match in pattern(form).finditer(text)
    ]
    spots.sort(key=lambda spot: (spot[0], -spot[1]))
    kept: list[tuple[int, int, str]] = []
    for spot in spots:
        if not kept or spot[0] >= kept[-1][1]:
            kept.append(spot)
    return kept


def order_of(text: str, wanted: tuple[str, ...]) -> list[str]:
    """The roles in the order in which the text names them, each once."""
    return list(dict.fromkeys(role for _, _, role in roles(text, *wanted)))


# ---- lines


def cells_of(line: str) -> list[str]:
    """The cells of a line: between bars or tabs, else between wide gaps, else its words; units stay with numbers."""
    line = re.sub(r"(?<=\d)\s*[(（][^()（）\d]+[)）]", "  ", line.strip().strip("|").strip())  # 10 (highest)
    for apart in (r"\s*\|\s*", r"\s*\t\s*", r"\s{2,}"):
        if re.search(apart, line) and len(cells := re.split(apart, line)) >= 2:
            return [cell.strip() for cell in cells]
    line = re.sub(rf"({NUMBER}) ({_UNIT})(?![\w])", r"\1\2", line)
    return [cell for cell in re.split(r"[\s,，、;；:：]+", line) if cell]


def value_in(cell: str) -> str | None:
    """The number of a cell, or `-` where it says that there is none; None where it is words."""
    match = _CELL.fullmatch(cell.strip().strip("()（）"))
    if match is not None and match[1] and re.fullmatch(r"[\d.]+\s*[KMG]i?B?", match[0], re.I):
        return str(size(match[0]))  # in bytes
    return None if match is None else match[1] or "-"


def _lines(text: str) -> list[str]:
    """Lines with something in them, without the rules of a table."""
    return [line for line in text.splitlines() if line.strip() and not re.fullmatch(r"[\s|:\-+=]+", line)]


def _down(text: str, wanted: tuple[str, ...]) -> Columns:
    """A line that names the columns, and below it a line for each row."""
    lines = _lines(text)
    every = tuple(words()["roles"])
    for at, line in enumerate(lines):
        rows: list[list[str]] = []
        for below in lines[at + 1 :]:
            cells = cells_of(below)
            if sum(value_in(cell) is not None for cell in cells) < 1 or (rows and len(cells) != len(rows[0])):
                break
            if re.search(r"[。?？]|\.\s", below) and not rows:
                break
            rows.append(cells)
        if len(rows) < 2 or not set(order_of(line, wanted)):
            continue
        header = cells_of(line)
        if len(header) != len(rows[0]):
            header = [line[start:end] for start, end, _ in roles(line, *every)]
        if len(header) == len(rows[0]) - 1:
            header = ["", *header]
        found: Columns = {}
        if len(header) == len(rows[0]):
            titles = [(order_of(cell, wanted) or order_of(cell, every) or [""])[0] for cell in header]
            found = {role: [row[place] for row in rows] for place, role in enumerate(titles) if role in wanted}
        else:  # a header that cannot be cut into cells: its roles are those of the numbers, from left to right
            numbers = [[cell for cell in row if value_in(cell) is not None] for row in rows]
            order = order_of(line, wanted)
            if {len(row) for row in numbers} == {len(order)}:
                found = {role: [row[place] for row in numbers] for place, role in enumerate(order)}
        values = {role: [value_in(cell) for cell in column] for role, column in found.items()}
        if values and all(value is not None for column in values.values() for value in column):
            named = [row[0] for row in rows] if "name" not in wanted and value_in(rows[0][0]) is None else []
            numbered = [row[0] for row in rows] if not named and _first_names(found, rows) else []
            columns = {role: [str(value) for value in column] for role, column in values.items()}
            return columns | ({"name": [_name(name) for name in named or numbered]} if named or numbered else {})
    return {}


def _first_names(found: Columns, rows: list[list[str]]) -> bool:
    """Whether the first cell of the rows is in no column that was found, so that it names them."""
    first = [row[0] for row in rows]
    return len(set(first)) == len(first) and first not in found.values()


def _name(cell: str) -> str:
    """A row's name: 3 is P3, `作业 A` is A."""
    match = re.search(rf"(?<![A-Za-z]){NAME}(?!\w)", cell)
    return f"P{cell}" if cell.isdecimal() else match[0] if match else cell.replace(" ", "")


def _across(text: str, wanted: tuple[str, ...]) -> Columns:
    """Lines that begin with a role and hold a list: `Burst time 5 3 8`."""
    found: Columns = {}
    text = _OWN_LINE.sub(r"\1 ", text)
    for line in _lines(text):
        line = line.strip().strip("|").strip()
        spots = roles(line, "name", *wanted)
        if not spots or spots[0][0] > 2 or len({role for _, _, role in spots}) > 1:
            continue
        rest = re.sub(r"^(?:\s*[(（][^()（）]*[)）])+|^[:：|\s]+", "", line[spots[0][1] :])
        if spots[0][2] == "name":
            cells = re.findall(rf"{NAME}(?!\w)|\d+", rest)
        else:
            in_words = re.search(r"[A-Za-z\u4e00-\u9fff]{3}", rest)
            cells = [] if in_words else re.findall(rf"{ANY_NUMBER}|(?<=[\s|])-(?=[\s|]|$)", rest)
        if len(cells) >= 2:
            found.setdefault(spots[0][2], cells)
    counts = {len(cells) for role, cells in found.items() if role != "name"}
    if len(counts) != 1 or len(found) < 2:
        return {}
    if len(found.get("name", ())) not in counts:
        found.pop("name", None)
    return found


# ---- sentences


def _row_by_row(text: str, wanted: tuple[str, ...]) -> Columns:
    """`P1 arrives at 0 and needs 5; P2 …`, `任务A：周期20ms，处理时间10ms`: each name with its roles and numbers."""
    names = list(
        re.finditer(
            rf"(?<![\w/]){NAME}(?![\w])|(?:作业|进程|任务|[Jj]ob |[Pp]rocess |[Tt]ask )\d{{1,2}}(?![\d个道])", text
        )
    )
    found: list[tuple[str, dict[str, str]]] = []
    for place, name in enumerate(names):
        part = text[name.end() : names[place + 1].start() if place + 1 < len(names) else len(text)]
        row = _told(re.split(r"[。?？]|\.\s", part)[0], wanted)
        called = name[0] if re.fullmatch(NAME, name[0]) else re.sub(r"\D+", "P", name[0])  # 作业1 is P1
        if row and called not in dict(found):
            found.append((called, row))
    if not found:
        return {}
    held = [role for role in wanted if role in found[0][1]]
    rows = [(name, row) for name, row in found if set(held) <= set(row)]
    return {"name": [name for name, _ in rows]} | {role: [row[role] for _, row in rows] for role in held}


def _told(part: str, wanted: tuple[str, ...]) -> dict[str, str]:
    """Roles and numbers in turn: the role first (period 20) or the number (在 0 时刻到达)."""
    marks = [(start, role, "") for start, _, role in roles(part, *wanted)]
    marks += [(match.start(), "", match[0]) for match in re.finditer(rf"(?<![\w.])(?:{ANY_NUMBER})", part)]
    marks.sort()
    row: dict[str, str] = {}
    waiting = unnamed = ""
    for _, role, value in marks:
        if role and unnamed and role not in row:
            row[role], unnamed = unnamed, ""
        elif role:
            waiting = role
        elif waiting:
            row.setdefault(waiting, value)
            waiting = ""
        else:
            unnamed = value
    lacking = [role for role in wanted if role not in row]
    if row and unnamed and len(lacking) == 1:  # P3 comes at 3 for 1 ms
        row[lacking[0]] = unnamed
    return row


def _respectively(text: str, wanted: tuple[str, ...]) -> Columns:
    """`到达时间分别为 0、2、4` and `arrival times 0, 2, 4`: a role and a list of values close behind it."""
    found: Columns = {}
    spots = roles(text, *wanted)
    for place, (start, end, role) in enumerate(spots):
        part = text[end : spots[place + 1][0] if place + 1 < len(spots) else len(text)]
        part = re.sub(rf"(?<!\w){NAME}(?:{_BETWEEN}{NAME})+(?!\w)", "", part)
        part = re.sub(rf"(?<!\w)(?:[A-Za-z]\w?\d?\s*=\s*|{NAME}[ :](?=\d+ ?\w*,))(?=\d)", "", part)
        part = re.sub(rf"({NUMBER})\s*{_UNIT}(?![\w])", r"\1", part)
        before = text[spots[place - 1][1] if place else 0 : start]
        behind = re.match(rf"[^\d。.;；\n]{{0,40}}(?<![\w.])({LIST})", part)
        match = behind or re.search(rf"(?<![\w.])({LIST})[^\d,，。.;；\n]{{0,8}}$", before)  # 在 0、1、3 时刻到达
        values = re.findall(NUMBER, match[1]) if match else []
        if values and (behind or values not in found.values()):  # a list is one thing
            found.setdefault(role, values)
    counts = {len(values) for values in found.values()}
    return found if len(counts) == 1 else {}


def _bracketed(text: str, wanted: tuple[str, ...]) -> Columns:
    """`A (arrival 0, s = 3), B (1, 6)`: a number for each role in the brackets behind a name, with words."""
    found: dict[str, str] = {}
    for match in re.finditer(rf"(?<![\w.])({NAME})\s*[:：=]?\s*[(（<]([^()（）<>\n]{{3,80}})[)）>]", text):
        found.setdefault(match[1], match[2])
    cells = {name: re.findall(rf"(?<![\w.]){NUMBER}", part) for name, part in found.items()}
    inside = "".join(found.values())
    told_in_words = re.search(r"[A-Za-z\u4e00-\u9fff=]", re.sub(_UNIT, "", inside))
    if not told_in_words or re.search(r"\b[CTPep]\w? ?=", inside):
        return {}
    if len(cells) < 2 or {len(numbers) for numbers in cells.values()} != {len(wanted)}:
        return {}
    told = (order_of(part, wanted) for part in found.values())
    order = next((order for order in told if len(order) == len(wanted)), wanted)
    columns = {role: [numbers[place] for numbers in cells.values()] for place, role in enumerate(order)}
    return {"name": [*cells]} | columns


def _in_brackets(text: str, wanted: tuple[str, ...]) -> Columns:
    """`A 0 7, B 1 3` or `P1 (0, 5); P2 (1, 3)`; the roles are named before, or stand in their usual order."""
    for count in sorted({len(wanted), 2, 1}, reverse=True):
        rows = items(text, count)
        if not rows:
            continue
        first = re.search(
            rf"(?<!\w){re.escape(rows[0].name)}\s*[:：=]?\s*[(（<]?\s*{re.escape(rows[0].cells[0])}", text
        )
        spots = roles(text[: first.start()] if first else text, *wanted) or roles(text, *wanted)
        order = list(dict.fromkeys(role for _, _, role in reversed(spots)))[:count][::-1]  # the nearest before the rows
        for told in re.finditer(r"[(（<]([^()（）<>\d]{6,60})[)）>]", text):  # (execution time, arrival time)
            if len(order_of(told[1], wanted)) == count:
                order = order_of(told[1], wanted)
        if count == 1:
            order = [wanted[1] if len(wanted) > 1 else wanted[0]]  # the run time, not the arrival
        elif len(order) != count:
            order = list(wanted[:count])
        columns = {role: [row.cells[place] for row in rows] for place, role in enumerate(order)}
        return columns | {"name": [row.name for row in rows]}
    return {}


def items(text: str, size: int) -> list[Row]:
    """Names with `size` numbers each: `A 0 7, B 1 3`, `P1 (0, 5); P2 (1, 3)`, `A：20`."""
    numbers = rf"{NUMBER}(?:\s*{_UNIT})?"
    form = (
        rf"(?<![\w.])(?P<name>{NAME})(?!\d)\s*[:：=,，]?\s*[(（<\[]?\s*(?P<numbers>{numbers}(?:\s*(?:[,，、/]|\s)\s*{numbers})"
        rf"{{{size - 1}}})\s*[)）>\]]?(?=\s*(?:[;；,，、.。)）\n]|and|和|$|\s))(?!\s*[,，、/]?\s*\d)"
    )
    rows: dict[str, Row] = {}
    for match in re.finditer(form, text):
        rows.setdefault(match["name"], Row(match["name"], tuple(re.findall(NUMBER, match["numbers"]))))
    return list(rows.values()) if len(rows) >= 2 else []


def names_of(text: str, count: int) -> list[str]:
    """The names in a list of `count`; P1, P2, … where there are none."""
    return names_in(text, count) or [f"P{number}" for number in range(1, count + 1)]


def names_in(text: str, count: int) -> list[str]:
    """The names in a list of `count`: `P1, P2 and P3`, `A~E`."""
    text = re.sub(r"([甲乙丙丁戊])(?=\d)", r"\1 ", text)
    for between in re.finditer(
        r"(?<!\w)([A-Z]?)(\d|[A-Z])\s*(?:-|~|～|到|至|to|through|…|\.\.+|,\s*\.\.\.,)\s*\1(\d+|[A-Z])(?!\w)", text
    ):
        letter, first, last = between.groups()
        if first.isdecimal() and last.isdecimal() and letter and int(last) - int(first) + 1 == count:
            return [f"{letter}{number}" for number in range(int(first), int(last) + 1)]
        if first.isalpha() and last.isalpha() and ord(last) - ord(first) + 1 == count:
            return [chr(code) for code in range(ord(first), ord(last) + 1)]
    lists = [
        re.findall(NAME, match[0])
        for match in re.finditer(rf"(?<![\w]){NAME}(?:{_BETWEEN}{NAME}(?![\w])){{{count - 1}}}", text)
    ]
    told = [names for names in lists if len(set(names)) == count]
    told.sort(key=lambda names: names[0][0] not in "PJT")  # processes, jobs and tasks before queues
    return told[0] if told else []


# ---- numbers


def tables(text: str) -> Iterator[Table]:
    """Runs of two or more lines with a name and equally many numbers; a longer first line is kept."""
    lines = _lines(text)
    at = 0
    while at < len(lines):
        run: list[Row] = []
        start = at
        while at < len(lines) and (row := _row(lines[at])) is not None:
            first_longer = len(run) == 1 and len(row.cells) < len(run[0].cells)
            if run and len(row.cells) != len(run[-1].cells) and not first_longer:
                break
            run.append(row)
            at += 1
        if len(run) >= 2:
            yield Table("\n".join(lines[max(0, start - 3) : start]), tuple(run))
        at = max(at, start + 1)


def _row(line: str) -> Row | None:
    """A line of a name and numbers, whatever stands between them."""
    line = re.sub(rf"({NUMBER})\s*{_UNIT}(?![\w])", r"\1", line)
    cells = re.findall(rf"{NUMBER}|[A-Za-z_][\w.]*|[甲乙丙丁戊]|-", line)
    if len(cells) < 2 or len(re.sub(r"[\s|,，、;；:：()（）\[\]<>\d.\-]", "", line)) > 14:
        return None
    named = not re.fullmatch(NUMBER, cells[0]) or ("|" in line or "\t" in line or len(cells) >= 3)
    rest = cells[1:] if named else cells
    if not all(re.fullmatch(rf"{NUMBER}|-", cell) for cell in rest):
        return None
    return Row(cells[0] if named else "", tuple(rest))


def vectors(text: str) -> list[tuple[str, ...]]:
    """The groups of numbers in brackets, in order."""
    groups = re.findall(rf"[(（\[<{{]\s*((?:{ANY_NUMBER})(?:\s*[,，、;\s]\s*(?:{ANY_NUMBER}))*)\s*[)）\]>}}]", text)
    return [tuple(re.findall(ANY_NUMBER, group)) for group in groups]


def amounts(text: str, count: int, *, last: bool = False) -> list[str]:
    """The first or last `count` numbers that stand together: `3, 2, 2`, `A类为3，B类为2`, `3 of X and 2 of Y`."""
    form = rf"(?=(?<![\w.])({NUMBER}(?:[^.。;；?？\d]{{1,24}}{NUMBER}){{{count - 1}}})(?![\d.]*\d))"
    text = re.sub(r"(?<!\w)([A-Z][A-Za-z]?)\d{1,2}(?!\w)", r"\1", text)  # the number of R1 is no amount
    found = [match[1] for match in re.finditer(form, text)]
    return re.findall(rf"(?<![A-Za-z\d.]){NUMBER}", found[-1 if last else 0])[:count] if found else []


def single_values(text: str) -> str:
    """The text with blanks where no single value stands: lists of four and more numbers, and how things are counted."""
    counted = (
        r"(?:number|count)\w*[^.,，。\d]{0,12}(?:from|at|with) [01](?!\d)"
        r"|从第?\s*[01](?!\d)(?:[次个条号][^,，。;；)）\d]{0,3})?(?:开始|起)?编?号?"
    )
    units = rf"(?<!\d)1 ?[KMGT]?i?B\s*(?:=|is|为|是)\s*{NUMBER}\s*(?:bytes?|[KMGT]?i?B|字节)?"
    many = (match for match in re.finditer(LIST, text) if len(re.findall(NUMBER, match[0])) > 3)
    for match in (*many, *re.finditer(counted, text, re.I), *re.finditer(units, text, re.I)):
        text = text[: match.start()] + " " * len(match[0]) + text[match.end() :]
    return text
