"""Fill-in answers against their key: variants, numbers with units, full-width characters, order.

`4 KB`, `4096 字节` and `４Ｋ` are one size, `50%` is `0.5` and `1,024` is `1024`, but `0001` is not `1`.
"""

import re
import unicodedata
from collections.abc import Sequence
from itertools import permutations

from osrag.numbers import Quantity, quantity, unit_ahead

BLANK = re.compile(r"_{3,}|（\s*）|\(\s*\)|`?\(-+\s*[A-Z]\s*-+\)`?|【\s*】|\[\s*\]")
MOST_ORDERS = 6  # blanks that may change places: 720 orders; with more they are compared in the order given
# Between two blanks whose answers may change places: "____ and ____", "____、____".
_JOINING = re.compile(r"^\s*(、|,|，|和|与|及|以及|或|/|and|or|&|,\s*and|和\s*)?\s*$", re.I)
_SOFT = r"[、，]|,(?!\d{3}(?!\d))|\s(?:and|&)\s|(?<=[\u4e00-\u9fff])[和与及](?=[\u4e00-\u9fff])"
_LISTED = re.compile(rf"[;；\n]|{_SOFT}|\s{{2,}}")
# How answers to several blanks are set apart, the surest way first.
_SEPARATORS = tuple(
    re.compile(one) for one in (r"[;；\n]+", rf"{_SOFT}|\t", r"[;；\n、，,\t]+", r"\s{2,}|\s*[/|]\s*", r"\s+")
)
# A label before an answer: "(1)", "A.", "第 2 空：", "①".
_LABEL = re.compile(
    r"^\s*(?:[(（]?\s*(?:\d{1,2}|[A-Za-z])\s*[)）]|(?:\d{1,2}|[A-Z])\s*[.、:：](?!\d)|第\s*\d+\s*空[:：]?|[①-⑳])\s*"
)
_LABELS = re.compile(
    r"[①-⑳]|(?<![A-Za-z])[A-H]\s*[:：]|第\s*\d+\s*空\s*[:：]?|(?<!\S)[(（]\d{1,2}[)）]|(?<!\S)\d{1,2}[.)、](?!\d)"
)
_BRACKETS = re.compile(r"^(.*?)[(（]([^()（）]+)[)）]\s*$", re.S)
_ARTICLES = re.compile(r"^(the|a|an)\s+", re.I)
_DROP = re.compile(r"[\s\"'“”‘’`《》「」『』·\-‐-―_]+")
_TAIL = re.compile(r"[.。,，;；:：!！]+$")


def plain(text: str) -> str:
    """The form in which words are compared."""
    out = _TAIL.sub("", unicodedata.normalize("NFKC", text).strip().lower())
    return _DROP.sub("", _ARTICLES.sub("", out))


def variants(key: str) -> list[str]:
    """All spellings of one blank: `进程控制块(PCB)|process control block` has four."""
    out: list[str] = []
    for text in filter(None, map(str.strip, re.split(r"[|｜]", key))):
        out.append(text)
        split = _BRACKETS.match(text)
        if split and split[1].strip() and not split[1].strip()[-1].isdigit():
            out += [split[1].strip(), re.sub(r"^(或者?|即|or)\s*", "", split[2].strip())]
    return list(dict.fromkeys(out))


def matches(said: str, key: str, *, unit: str = "") -> bool:
    """Whether `said` is one of the variants of `key`. `unit` stands behind the blank in the question."""
    if not plain(said) and not quantity(said):
        return False
    said_forms = [said, _LABEL.sub("", said), *(variants(said) if "|" not in said else ())]
    return any(
        any(plain(one) == plain(spelling) for one in said_forms)
        or _same_list(said, spelling)
        or _same_quantity(said, spelling, unit)
        for spelling in variants(key)
    )


def _same_list(said: str, key: str) -> bool:
    """A key such as "批处理系统、分时系统和实时系统" names several things; their order is free."""
    mine, wanted = (sorted(filter(None, map(plain, _LISTED.split(text)))) for text in (said, key))
    return len(wanted) > 1 and mine == wanted


def _same_quantity(said: str, key: str, unit: str) -> bool:
    """Whether both are one number, as written or with the unit that stands behind the blank."""
    mine = quantity(said)
    return mine is not None and (mine == quantity(key) or _in_unit(said, unit) == _in_unit(key, unit))


def _in_unit(text: str, unit: str) -> Quantity | None:
    """The number that `text` consists of; one without a unit of its own has `unit`."""
    own = quantity(text)
    bare = own is not None and not own.kind and not re.search(r"[%％]|百分", text)
    return quantity(f"{text.rstrip('.。 ')} {unit}") if bare else own


def interchangeable(question: str, count: int) -> list[list[int]]:
    """Groups of blanks whose answers may change places: those joined by 、, 和 or "and" only."""
    marks = list(BLANK.finditer(question))
    if len(marks) != count:
        # The blanks cannot be told apart in the question. One blank for several things is a list without order.
        listed = len(marks) <= 1 and not _LABELS.search(question)
        return [list(range(count))] if listed else [[place] for place in range(count)]
    groups: list[list[int]] = []
    for place in range(count):
        if place and _JOINING.match(question[marks[place - 1].end() : marks[place].start()]):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _labelled(text: str) -> list[str]:
    """`①用户，②操作系统`, `A:运行 B:就绪`, `(1) … (2) …` to what stands behind each label; [] without labels."""
    marks = list(_LABELS.finditer(text))
    if len(marks) < 2 or text[: marks[0].start()].strip():
        return []
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    return [text[mark.end() : end].strip(" \t\n,，;；、。") for mark, end in zip(marks, ends, strict=True)]


def split_answer(text: str, count: int) -> list[str]:
    """What the student wrote for each blank, in order; fewer or more than `count` when it does not fit."""
    if count <= 1:
        return [text.strip()] if text.strip() else []
    labelled = _labelled(text)
    if len(labelled) == count:
        return labelled
    for separator in _SEPARATORS:
        parts = [part for piece in separator.split(text) if (part := _LABEL.sub("", piece).strip())]
        if len(parts) == count:
            return parts
    return [part for piece in re.split(r"[;；\n、，]+", text) if (part := _LABEL.sub("", piece).strip())]


def split_key(text: str, blanks: int) -> tuple[str, ...]:
    """The key of a flat row, with one entry for each blank; one entry where it cannot be split so."""
    if labelled := _labelled(text):
        return tuple(labelled)
    parts = split_answer(text, blanks)
    return tuple(parts) if len(parts) == blanks else tuple(filter(None, [text.strip()]))


def judge_blanks(said: Sequence[str], key: Sequence[str], question: str) -> tuple[bool, ...]:
    """For each blank whether it is filled rightly; a missing one is wrong, a surplus one spoils the last."""
    count = len(key)
    behind = [unit_ahead(question[match.end() : match.end() + 14]) for match in BLANK.finditer(question)]
    units = behind if len(behind) == count else [""] * count
    given = [*said, *[""] * count]
    right = [False] * count
    for group in interchangeable(question, count):
        orders = permutations(group) if len(group) <= MOST_ORDERS else [tuple(group)]
        found = (
            [matches(given[at], key[to], unit=units[to]) for at, to in zip(group, order, strict=True)]
            for order in orders
        )
        for place, ok in zip(group, max(found, key=sum), strict=True):
            right[place] = ok
    if len(said) > count and count:
        right[-1] = False
    return tuple(right)
