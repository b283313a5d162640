"""Tables and lists of a question: rows of names and numbers, in whatever layout they were pasted."""

from collections.abc import Iterator
from dataclasses import dataclass

from osrag.lab.reading import ascii as re
from osrag.lab.reading.cues import LIST, NUMBER, pattern, words

NAME = r"[A-Za-z][A-Za-z]{0,8}[ _]?\d{0,3}|\d{1,3}|[甲乙丙丁戊]"
_CELL = re.compile(rf"{NUMBER}|[A-Za-z_][\w.]*|[甲乙丙丁戊]|-")
_ITEM = re.compile(
    rf"(?<![\w.])(?P<name>[A-Z][A-Za-z]?_?\d{{0,3}}|[甲乙丙丁戊])\s*[:：=]?\s*[(（<\[]?\s*"
    rf"(?P<numbers>{NUMBER}(?:\s*(?:[,，、/]|\s)\s*{NUMBER})*)\s*[)）>\]]?(?=\s*(?:[;；,，、.。\n]|and|和|$|\s))"
)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a table: its name and its numbers as they stand."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Lines of one shape, and the text above them."""

    header: str
    rows: tuple[Row, ...]


def roles(text: str, *names: str) -> list[tuple[int, int, str]]:
    """Where names of columns stand, in order: start, end and role; of overlapping ones the longer."""
    spots = []
    for role in names:
        for form in words()["roles"][role]:
            spots += [(match.start(), match.end(), role) for match in pattern(form).finditer(text)]
    spots.sort(key=lambda spot: (spot[0], -spot[1]))
    kept: list[tuple[int, int, str]] = []
    for spot in spots:
        if not kept or spot[0] >= kept[-1][1]:
            kept.append(spot)
    return kept


def cells_of(line: str) -> tuple[str, ...]:
    """The words and numbers of a line; units behind a number are left out."""
    line = re.sub(rf"({NUMBER})\s*(?:ms|ns|µs|us|s|KB?|MB?|毫秒|秒)(?![\w])", r"\1", line)
    return tuple(_CELL.findall(line))


def tables(text: str) -> Iterator[Table]:
    """Runs of two or more lines with a name and equally many numbers; a longer first line is kept."""
    lines = [line for line in text.splitlines() if line.strip() and not re.fullmatch(r"[\s|:\-+=]+", line)]
    at = 0
    while at < len(lines):
        run: list[Row] = []
        start = at
        while at < len(lines) and (row := _row(lines[at])) is not None:
            if (
                run
                and len(row.cells) != len(run[-1].cells)
                and not (len(run) == 1 and len(row.cells) < len(run[0].cells))
            ):
                break
            run.append(row)
            at += 1
        if len(run) >= 2:
            yield Table("\n".join(lines[max(0, start - 3) : start]), tuple(run))
        at = max(at, start + 1)


def _row(line: str) -> Row | None:
    cells = cells_of(line)
    if len(cells) < 2 or len(re.sub(r"[\s|,，、;；:：()（）\[\]<>\d.\-]", "", line)) > 14:
        return None
    named = not re.fullmatch(NUMBER, cells[0]) or ("|" in line or "\t" in line or len(cells) >= 3)
    rest = cells[1:] if named else cells
    if not all(re.fullmatch(rf"{NUMBER}|-", cell) for cell in rest):
        return None
    return Row(cells[0] if named else "", rest)


def columnwise(text: str, *names: str) -> dict[str, list[str]]:
    """Lines that begin with a role and hold a list: `Burst time 5 3 8`; under "name" the names."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        line = line.strip().strip("|").strip()
        spots = roles(line, "name", *names)
        if not spots or spots[0][0] > 2 or len({role for _, _, role in spots}) > 1:
            continue
        rest = re.sub(r"^\s*[(（][^()（）]*[)）]|^[:：|\s]+", "", line[spots[0][1] :])
        if spots[0][2] == "name":
            cells = re.findall(r"[A-Za-z][\w.]*|\d+|[甲乙丙丁戊]", rest)
        else:
            rest = re.sub(r"^(?:\s*[(（][^()（）]*[)）])+", "", rest)
            cells = re.findall(NUMBER, rest) if not re.search(r"[A-Za-z\u4e00-\u9fff]{3}", rest) else []
        if len(cells) >= 2:
            found.setdefault(spots[0][2], cells)
    sizes = {len(cells) for role, cells in found.items() if role != "name"}
    return found if len(sizes) == 1 and len(found) >= 2 else {}


def respectively(text: str, *names: str) -> dict[str, list[str]]:
    """`到达时间分别为 0、2、4` and `arrival times 0, 2, 4`: a role and a list of values close behind it."""
    found: dict[str, list[str]] = {}
    spots = roles(text, *names)
    for place, (_, end, role) in enumerate(spots):
        stop = spots[place + 1][0] if place + 1 < len(spots) else len(text)
        gap = text[end:stop]
        unitless = re.sub(rf"({NUMBER})\s*(?:ms|ns|µs|s|毫秒|秒|小时|分钟?)(?![\w])", r"\1", gap)
        if match := re.match(rf"[^\d。.;；\n]{{0,40}}(?<![\w.])({LIST})", unitless):
            found.setdefault(role, re.findall(NUMBER, match[1]))
    return found


def names_of(text: str, count: int) -> list[str]:
    """The names in a list of `count`: `P1, P2 and P3`; P1, P2, … where there are none."""
    one = r"(?:[A-Z][A-Za-z]?\d{0,3}|[甲乙丙丁戊])"
    for match in re.finditer(
        rf"(?<![\w]){one}(?:\s*(?:[,，、]|and|和|\s)\s*(?:and\s+|和)?{one}(?![\w])){{{count - 1}}}", text
    ):
        names = re.findall(one, match[0])
        if len(set(names)) == count:
            return names
    between = re.search(r"(?<!\w)([A-Z])(\d)\s*(?:-|~|～|到|至|to|through|…|\.\.+|,\s*\.\.\.,)\s*\1?(\d+)(?!\w)", text)
    if between and int(between[3]) - int(between[2]) + 1 == count:
        return [f"{between[1]}{number}" for number in range(int(between[2]), int(between[3]) + 1)]
    return [f"P{number}" for number in range(1, count + 1)]


def items(text: str, *sizes: int) -> list[Row]:
    """`A 0 7, B 1 3` or `P1 (0, 5); P2 (1, 3)`: names with equally many numbers, of one of these counts."""
    for size in sizes:
        rows: dict[str, Row] = {}
        for match in _ITEM.finditer(text):
            cells = tuple(re.findall(NUMBER, match["numbers"]))
            if len(cells) == size:
                rows.setdefault(match["name"], Row(match["name"], cells))
        if len(rows) >= 2:
            return list(rows.values())
    return []


def vectors(text: str) -> list[tuple[str, ...]]:
    """The groups of numbers in brackets, in order."""
    groups = re.findall(rf"[(（\[<{{]\s*({NUMBER}(?:\s*[,，、;\s]\s*{NUMBER})*)\s*[)）\]>}}]", text)
    return [tuple(re.findall(NUMBER, group)) for group in groups]
