# ruff: noqa: E501 - a pattern is read best in one line
"""Resource matrices of a question: allocation, maximum, need, requests, and what there is in all."""

from osrag.lab.reading import ascii as re
from osrag.lab.reading.cues import LIST, NUMBER, value_of
from osrag.lab.reading.tables import NAME, amounts, names_in, records, roles, tables, vectors

_NONE_LEFT = r"\bno (?:free|available) (?:resources|units)|nothing is (?:available|free|left)|(?:没有|无)(?:空闲|可用|剩余)的?资源"
ROLES = ("allocation", "maximum", "need", "request", "available", "total")


def matrices(text: str) -> dict[str, str]:
    """Allocation, maximum, need, request, available, total and the names of the processes, as far as they stand there."""
    found = _grouped_rows(text) or _number_rows(text) or _told_rows(text) or {}
    if "allocation" not in found:
        sections = _sections(text)
        found |= sections if " " in sections.get("allocation", "").split(";")[0] else _one_resource(text) or sections
    if "allocation" in found:
        width = len(found["allocation"].split(";")[0].split())
        for role in ("available", "total"):
            if role not in found and (vector := _vector(text, role, width)):
                found[role] = vector
        if re.search(_NONE_LEFT, text, re.I):
            found["available"] = ",".join(["0"] * width)
        if width == 1 and not {"available", "total"} & found.keys():
            found |= {"total": units} if (units := value_of("units", "minimum_units", text)) else {}
        same = re.search(
            r"(?<![\w.])(\d+) (?:units?|instances?|copies) (?:each of|of (?:each|every))|(?:每[类种个]|[类种]资源各)(?:资源)?[^\d。;；]{0,8}(\d+)个",
            text,
        )
        if same and not {"available", "total"} & found.keys():
            found["total"] = ",".join([same[1] or same[2]] * width)
        if "available" in found and "total" in found:
            del found["total"]
        rows = found["allocation"].count(";") + 1
        if "names" not in found and (names := names_in(text, rows)) and not names[0].startswith("R"):
            found["names"] = ",".join(names)
    return found


def _one_resource(text: str) -> dict[str, str]:
    """A number for each process: `最大需求分别为 4、3、1`, a table with one column a matrix."""
    for other in ("maximum", "need", "request"):
        columns = records(text, ("allocation", other), ("allocation", other))
        if columns:
            names = columns.pop("name", None) or names_in(text, len(columns["allocation"]))
            return {role: "; ".join(column) for role, column in columns.items()} | {"names": ",".join(names)}
    return {}


def _wanted(header: str) -> list[str]:
    return list(dict.fromkeys(role for _, _, role in roles(header, *ROLES)))


def _grouped_rows(text: str) -> dict[str, str] | None:
    """`P0 (0,1,0) (7,5,3)`: a row has a group for each matrix."""
    found = list(
        re.finditer(
            r"(?<![\w])([A-Z]\w?\d*)\s*[:：|]?\s*((?:[^\d.。;；\n()（）\[\]<>A-Z]{0,16}[(（\[<][\d,，、\s]+[)）\]>]\s*[|,，、;；]?\s*){2,4})",
            text,
        )
    )
    rows = [(match.start(), match[1], vectors(match[2])) for match in found]
    if len(rows) < 2:
        return None
    own = _wanted(found[0][2])  # P1: maximum (7,5), holds (0,1)
    order = own if len(own) > 1 else _wanted(text[: rows[0][0]]) or _wanted(text)
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


def _told_rows(text: str) -> dict[str, str] | None:
    """`A: allocated 1 0 2, maximum 1 1 2`: a row tells the role of each of its groups."""
    starts = [start for start, _, _ in roles(text, "allocation", "maximum", "need", "request")]
    names = [
        name
        for name in re.finditer(rf"(?<!\w){NAME}(?!\w)", text)
        if re.match(r"\s*[:：(（]", text[name.end() :])
        or any(
            0 <= start - name.end() <= 6 and not re.search(r"[\d,，;；。]", text[name.end() : start])
            for start in starts
        )
    ]
    rows: list[tuple[str, dict[str, str]]] = []
    for place, name in enumerate(names):
        part = text[name.end() : names[place + 1].start() if place + 1 < len(names) else len(text)].split("\n")[0]
        spots = roles(part, "allocation", "maximum", "need", "request")
        ends = [*(start for start, _, _ in spots[1:]), len(part)][: len(spots)]
        groups = {
            role: " ".join(re.findall(rf"(?<![A-Za-z\d.]){NUMBER}", part[end:stop]))
            for (_, end, role), stop in zip(spots, ends, strict=True)
        }
        if "allocation" in groups and len(groups) > 1 and all(groups.values()):
            rows.append((name[0], groups))
    if len(rows) < 2 or len({len(group.split()) for _, groups in rows for group in groups.values()}) > 1:
        return None
    found = {role: "; ".join(groups.get(role, "") for _, groups in rows) for role in rows[0][1]}
    return found | {"names": ",".join(name for name, _ in rows)}


def _sections(text: str) -> dict[str, str]:
    """A matrix behind each name: `Allocation: P0 (0,1,0), P1 (2,0,0)`, `Max = [[7,5,3],[3,2,2]]`, `Need is 1 0; 0 2`."""
    found: dict[str, str] = {}
    spots = roles(text, *ROLES)
    for place, (_, end, role) in enumerate(spots):
        part = text[end : spots[place + 1][0] if place + 1 < len(spots) else len(text)]
        if role in found or role in ("available", "total"):
            continue
        named = re.findall(
            rf"(?<!\w)([A-Z]\w?\d*)(?!\w)\s*[:：=]?\s*[(（\[<]?\s*({NUMBER}(?:\s*[,，、\s]\s*{NUMBER})*)(?!\w)", part
        )
        named = [(name, re.findall(NUMBER, cells)) for name, cells in named]
        groups = [list(group) for group in vectors(part)]
        lines = [
            re.findall(rf"(?<![A-Za-z\d.]){NUMBER}", line)
            for line in re.split(r"[;；\n]", re.split(r"[。?？]|\.\s", part)[0])
        ]
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
    """The numbers behind the role, or those before it in its sentence: `3 of X and 2 of Y are available`."""
    for start, end, _ in roles(text, role):
        names = rf"[ \t|]*(?:{NAME}[ \t|]+)*{NAME}[ \t|]*\n"
        if below := re.match(
            rf"[^\n\d.。]{{0,30}}\n(?:{names})?[ \t|]*(\d+(?:[ \t|]+\d+){{{width - 1}}})[ \t|]*(?:\n|$)", text[end:]
        ):
            return ",".join(re.findall(r"\d+", below[1]))
        behind = re.split(r"[。;；?？\n]|\.\s", text[end:])[0]
        before = re.split(r"[。;；?？\n]|\.\s", text[:start])[-1]
        whole = before + text[start:end] + behind
        for numbers in (amounts(behind, width), amounts(before, width, last=True), amounts(whole, width)):
            if len(numbers) == width:
                return ",".join(numbers)
        of_each = rf"(?<![\w.])(\d+)[^\d\w.。;；]{{0,2}}(?:(?:units?|instances?|copies) of |个)?({NAME})(?!\w)"
        told = {name: number for number, name in re.findall(of_each, whole)}
        columns = _columns(text, width)
        if role == "available" and len(told) > 1 and told.keys() < set(columns):
            return ",".join(told.get(name, "0") for name in columns)  # nothing is left of what is not named
    return None


def _columns(text: str, width: int) -> list[str]:
    """The names of the resources, as they stand above a matrix."""
    heads = re.findall(rf"^[ \t|]*((?:{NAME}[ \t|]+){{{width - 1}}}{NAME})(?!\w)", text, re.M)
    return re.findall(NAME, heads[0]) if heads else []


def asking(text: str, width: int) -> dict[str, str]:
    """The process that requests, and its `width` numbers."""
    name = r"(?<!\w)([A-Z]\w?\d+|[A-Z]|p\d+)(?!\w)"
    asks = r"(?:requests?|asks? for|appl(?:y|ies) for|wants?|(?<!已)(?:请求|申请)(?!到)|提出|发出)"
    for form in (
        rf"{name}[^.。;；?？\d]{{0,24}}?{asks}",
        rf"[Rr]equest\w*(?: of| from| by)?(?: process)? ?\(?{name}",
        rf"(?:request|请求)[^.。;；?？]{{0,40}}?(?:by|from|of|process) (?:process )?{name}",
    ):
        for match in re.finditer(form, text):
            rest = text[match.end() :]
            before = text[match.start() : match.end()] if form.endswith(rf"process )?{name}") else ""
            if len(numbers := amounts(re.split(r"[。?？]|\.\s", before or rest)[0], width)) == width:
                return {"process": match[1], "request": ",".join(numbers)}
    return {}
