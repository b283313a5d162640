# ruff: noqa: E501 - a pattern is read best in one line
"""Programs in a question: C with fork, and processes with semaphores and shared variables."""

from osrag.lab.reading import ascii as re

_STATEMENT = r"(?:[A-Za-z_]\w*\s*\([^()]*\)|[A-Za-z_]\w*\s*(?:=|\+=|-=|\+\+|--)(?:[^;；,，\n。|.]|\.(?!\s|$))*|(?:enter|leave|print)\s+\w+|[A-Za-z]\w*(?=\s*;))"
_PRINTS = re.compile(r"(?:输出|打印|\bprint(?:s|f)?\b)\s*\(?\s*[“\"']?(\w+)[”\"']?(?:[ \t]*\))?")


_COUNTS = {"zero": "0", "one": "1", "two": "2", "three": "3"}


def program(text: str, kind: str = "") -> str | None:
    """C text with fork: from its first statement to its last brace or semicolon."""
    first = re.search(
        r"#include|\b(?:(?:int|void)\s+)?main\s*\(|\b(?:int|pid_t)\s+\w+\s*(?:=|;|,)|\b(?:for|while|if)\s*\(|\bfork\s*\(\s*\)\s*(?:;|&&|\|\|)|\bprintf\s*\(|\w+\s*=\s*fork",
        text,
    )
    if first is None or "fork" not in text:
        return None
    part = text[first.start() :]
    last = max(part.rfind(";"), part.rfind("}"))
    code = re.sub(r"```\w*", "", part[: last + 1])
    return re.sub(r"^\s*#include[^\n]*$", "", code, flags=re.M).strip() or None


def concurrent(text: str, kind: str = "") -> str | None:
    """Programs of processes, one a line or part: `P1: P(S); x = x + 1; V(S)`."""
    name = r"(?:process |进程)?([A-Z]\w{0,11})\s*(?:[:：]|\(\s*\)\s*(?=\{))"
    text = _PRINTS.sub(r"print \1", re.sub(r"/\*.*?\*/|//[^\n]*", " ", text))
    if whole := re.search(rf"{name}[^:：|]*(?:\|\|\s*{name}[^:：|]*)+", text):
        return re.sub(r"(?<=[)}}\w])\s*(?:\.\s.*|。.*)$", "", whole[0], flags=re.S).strip()
    found = re.findall(rf"(?<![\w(]){name}\s*\{{?\s*((?:{_STATEMENT}\s*[;；]?\s*)+)", text)
    if len(found) < 2:  # P1 executes x = 2*x
        found = _told(text)
    found = [
        (name, re.sub(r"(?<![\w)+-])([A-Za-z_]\w*) ?\* ?(\d+)(?!\w)", r"\2 * \1", body))  # x * 2 is 2 * x
        for name, body in found
        if re.search(r"[()=+]|print ", body)
    ]
    told = [
        f"{name}: {'; '.join(part.strip() for part in re.split(r'[;；]', body) if part.strip())}"
        for name, body in found
    ]
    return " || ".join(told) if len(told) >= 2 else _side_by_side(text) or _in_words(text)


_DOES = r"(?:process |thread |进程|线程)?(?<!\w)([A-Z]\d?)(?!\w) ?(?:executes?|does|runs|执行|做)了? ?"


def _told(text: str) -> list[tuple[str, str]]:
    """`P executes x = 2*x and Q executes x = x - 1`; what is done three times stands there thrice."""
    told = re.findall(
        rf"{_DOES}([a-z]\w* ?= ?[\w()]+(?: ?[-+*/] ?[\w()]+)*)( 3 times| three times| twice|3次|三次|2次|两次)?",
        text,
        re.I,
    )
    return [(name, "; ".join([body.strip()] * _TIMES.get(times.strip(), 1))) for name, body, times in told]


_TIMES = {"twice": 2, "2次": 2, "两次": 2, "3 times": 3, "three times": 3, "3次": 3, "三次": 3}


def _side_by_side(text: str) -> str | None:
    """Programs in columns below their names."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        names = re.split(r"\s{2,}|\s*\|\s*|\t", line.strip(" |"))
        if len(names) < 2 or not all(
            re.fullmatch(r"(?:[Pp]rocess |[Tt]hread |进程|线程)?[A-Z]\w{0,11}:?", name) for name in names
        ):
            continue
        rows = [re.split(r"\s{2,}|\s*\|\s*|\t", row.strip(" |")) for row in lines[at + 1 :]]
        cut = next(
            (n for n, row in enumerate(rows) if len(row) != len(names) or not re.search(r"[=(]", "".join(row))),
            len(rows),
        )
        if cut:
            columns = zip(*rows[:cut], strict=True)
            parts = ((name.rstrip(":").split()[-1], "; ".join(cell.strip(" ;；") for cell in column if cell))
                     for name, column in zip(names, columns, strict=True))  # fmt: skip
            return " || ".join(f"{name}: {body}" for name, body in parts)
    return None


_STEPS = {"+": r"加|增加|increment\w*|adds?", "-": r"减|减少|decrement\w*|subtract\w*"}
_AMOUNTS = _COUNTS | {"一": "1", "二": "2", "两": "2", "三": "3"}


def _in_words(text: str) -> str | None:
    """`P1对x加1，P2对x减1`, `each of W and X reads x, increments by one`: between P and V where it says so."""
    variable = re.search(r"(?:variable|变量) ?([a-z]\w{0,7})(?!\w)", text)
    if variable is None:
        return None
    x, guard = variable[1], re.search(r"semaphore (\w+)(?!\w)|信号量 ?(\w+)", text)
    before, after = (f"P({guard[1] or guard[2]}); ", f"; V({guard[1] or guard[2]})") if guard else ("", "")
    found: dict[str, str] = {}
    names = r"((?<!\w)[A-Z]\d?(?!\w)(?:\s*(?:,|、|and|和)\s*[A-Z]\d?(?!\w))*)"
    for sign, verbs in _STEPS.items():
        form = rf"{names}(?!\w)[^.。A-Z]{{0,60}}?(?:{verbs})[^.。A-Z\d]{{0,12}}?(\d+|{'|'.join(_AMOUNTS)})(?![\w])"
        for each, amount in re.findall(form, text):
            for name in re.findall(r"[A-Z]\d?", each):
                found.setdefault(name, f"{x} = {x} {sign} {_AMOUNTS.get(amount, amount)}")
    return (
        " || ".join(f"{name}: {before}{body}{after}" for name, body in sorted(found.items()))
        if len(found) > 1
        else None
    )


def starts(text: str, semaphore: bool) -> str | None:
    """Initial values of semaphores, or of shared variables."""
    program_ = concurrent(text) or ""
    used = set(re.findall(r"(?:P|V|wait|signal|down|up)\s*\(\s*&?(\w+)\s*\)", program_))
    assigned = set(re.findall(r"(?<!\w)([A-Za-z_]\w*)\s*(?:=|\+=|-=|\+\+|--)", program_))
    before = re.sub(r"(?<=to )zero\b|(?<=to )one\b|(?<=to )two\b|(?<=to )three\b", lambda word: _COUNTS[word[0]], text)
    found: dict[str, str] = {}
    stated = re.findall(r"初值[是为](\d+)的(?:共享)?(?:整型)?(?:变量|信号量) ?([A-Za-z_]\w*)", text)
    found |= {name: value for value, name in stated}
    listed = r"((?:[A-Za-z_]\w*\s*(?:,|、|and|和)\s*)+[A-Za-z_]\w*)[^\w;。.]{0,12}(?:初值|初始值|init\w*)[^\d;。.]{0,24}((?:\d+\s*(?:,|、|and|和)\s*)+\d+)"
    for names, values in re.findall(listed, before):
        found |= dict(zip(re.findall(r"[A-Za-z_]\w*", names), re.findall(r"\d+", values), strict=False))
    found = {name: value for name, value in found.items() if name in (used if semaphore else assigned - used)}
    for group in re.finditer(
        r"((?:(?<!\w)[A-Za-z_]\w*\s*(?:=|,|，|、|and|和)?\s*)+?)(?:=|(?:(?:的?初值|都|均|both|all|是|为|设为|initially|initiali[sz]ed to|are|is|starts? (?:at|with))\s*)+)\s*(\d+)",
        before,
    ):
        for name in re.findall(r"[A-Za-z_]\w*", group[1]):
            if name in (used if semaphore else assigned - used):
                found.setdefault(name, group[2])
    return ",".join(f"{name}={value}" for name, value in found.items()) or None
