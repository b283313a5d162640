# ruff: noqa: E501 - a pattern is read best in one line
"""Programs in a question: C with fork, and processes with semaphores and shared variables."""

from osrag.lab.reading import ascii as re

_STATEMENT = r"(?:[A-Za-z_]\w*\s*\([^()]*\)|[A-Za-z_]\w*\s*(?:=|\+=|-=|\+\+|--)(?:[^;；\n。|.]|\.(?!\s|$))*|(?:enter|leave)\s+\w+)"


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
    name = r"(?:process |进程)?([A-Z]\w{0,11})\s*[:：]"
    if whole := re.search(rf"{name}[^:：|]*(?:\|\|\s*{name}[^:：|]*)+", text):
        return re.sub(r"(?<=[)}}\w])\s*(?:\.\s.*|。.*)$", "", whole[0], flags=re.S).strip()
    found = re.findall(rf"(?<![\w(]){name}\s*\{{?\s*((?:{_STATEMENT}\s*[;；]?\s*)+)", text)
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
