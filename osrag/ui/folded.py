"""Long replies with their code folded: the steps are read first, each with its lines one touch away."""

import re
from html import escape

from osrag.types import Language
from osrag.wording import say

MOST_OPEN = 2  # blocks of code that fit a screen beside their sentences; of more all are folded
_BLOCK = re.compile(r"^```c\n(.*?)\n```$", re.M | re.S)
_PLACE = re.compile(r"/\* (\S+:\d+) \*/\n")  # with which a quoted block begins
_GAP = re.compile(r"^\s*/\* … \d+: \*/$", re.M)
_PATHS = "|".join(re.escape(say("kernel_path", language)) for language in ("zh", "en"))
_PATH = re.compile(rf"^({_PATHS})\n\n((?: *- .*(?:\n|\Z))+)", re.M)


def folded(text: str, language: Language) -> str:
    """Markdown in which the blocks of C are folded, and the reading path, which names the same functions again.

    A reply with little code stays as it is. osrag.js opens and closes all of them from the link above the first.
    """
    blocks = list(_BLOCK.finditer(text))
    if len(blocks) <= MOST_OPEN:
        return text
    before, gap, _ = text[: blocks[0].start()].rstrip().rpartition("\n\n")  # the first block's own sentence stays below
    head, rest = before + gap, text[len(before + gap) :]
    rest = _BLOCK.sub(lambda found: fold(_said(found.group(1), language), found.group()), rest)
    rest = _PATH.sub(lambda found: fold(found.group(1).replace("**", ""), found.group(2).rstrip("\n")) + "\n", rest)
    return f"{head}[{say('fold_all', language)}](#fold)\n\n{rest}"


def _said(code: str, language: Language) -> str:
    """What stands over a folded block: where its lines are from, and how many there are."""
    place = _PLACE.match(code)
    lines = _GAP.sub("", code[place.end() :] if place else code)
    count = sum(bool(line.strip()) for line in lines.split("\n"))
    if place:
        return say("fold_code", language, place=place.group(1), count=count)
    return say("fold_code_bare", language, count=count)


def fold(title: str, inside: str) -> str:
    """HTML around Markdown, which needs an empty line on either side."""
    return f'<details class="os-fold"><summary>{escape(title)}</summary>\n\n{inside}\n\n</details>'
