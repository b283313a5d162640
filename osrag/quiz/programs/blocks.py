"""Texts that hold C beside prose: where the code stands, and the same as Markdown that keeps its indentation."""

import re

_FENCE = re.compile(r"^\s*```\w*\s*$")
# A line of code: a directive, an indented line, one that ends as statements and blocks do, the head of a function.
_CODE = re.compile(
    r"^\s*#\s*\w+|^[ \t]{2,}\S|[;{}\\]\s*(?://.*|/\*.*\*/)?\s*$|^\s*/\*|\*/\s*$|^\w+:$|^[a-z_][\w \t*]*\([^。，]*\)\s*$"
)
_ENDS = re.compile(r"[;{}]\s*(?://.*|/\*.*\*/)?\s*$", re.M)
LEAST_LINES = 2  # of code that stands by itself; one line stays in its sentence


def blocks(text: str) -> list[tuple[bool, str]]:
    """(whether it is code, text) of the parts of a text, in order; fences are left out."""
    parts: list[tuple[bool, list[str]]] = []
    fenced = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
            parts.append((fenced, []))
            continue
        blank_in_code = not line.strip() and bool(parts) and parts[-1][0]
        code = fenced or blank_in_code or bool(_CODE.search(line))
        if not parts or parts[-1][0] != code:
            parts.append((code, []))
        parts[-1][1].append(line)
    found: list[tuple[bool, str]] = []
    for code, lines in parts:
        whole = "\n".join(lines).strip("\n")
        code = code and len(whole.split("\n")) >= LEAST_LINES and (len(parts) == 1 or bool(_ENDS.search(whole)))
        if found and not code and not found[-1][0]:
            found[-1] = (False, f"{found[-1][1]}\n{whole}")
        elif whole.strip():
            found.append((code, whole))
    return found


def as_markdown(text: str) -> str:
    """The text with its code between fences."""
    return "\n\n".join(f"```c\n{part}\n```" if code else part for code, part in blocks(text))
