"""Fill-in answers against their key: synonyms, numbers with units, 全角 characters, order.

`4 KB`, `4096 字节` and `４Ｋ` are one size; `50%` is `0.5`; `1,024` is `1024`; `0001` is not `1`.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations

BLANK = re.compile(r"_{3,}|（\s*）|\(\s*\)|`?\(-+\s*[A-Z]\s*-+\)`?|【\s*】|\[\s*\]")
# Between two blanks whose answers may change places: "____ and ____", "____、____".
_JOINING = re.compile(r"^\s*(、|,|，|和|与|及|以及|或|/|and|or|&|,\s*and|和\s*)?\s*$", re.I)
_SPLIT = re.compile(r"[;；\n]+")
_SPLIT_SOFT = re.compile(r"[、，]|,(?!\d{3}(?!\d))|\s(?:and|&)\s|(?<=[\u4e00-\u9fff])[和与及](?=[\u4e00-\u9fff])|\t")
_LISTED = re.compile(
    r"[;；\n、，]|,(?!\d{3}(?!\d))|\s(?:and|&)\s|(?<=[\u4e00-\u9fff])[和与及](?=[\u4e00-\u9fff])|\s{2,}"
)
_LABEL = re.compile(
    r"^\s*(?:[(（]?\s*(?:\d{1,2}|[A-Za-z])\s*[)）]|(?:\d{1,2}|[A-Z])\s*[.、:：](?!\d)|第\s*\d+\s*空[:：]?|[①-⑳])\s*"
)
_BRACKETS = re.compile(r"^(.*?)[(（]([^()（）]+)[)）]\s*$", re.S)
_ARTICLES = re.compile(r"^(the|a|an)\s+", re.I)
_DROP = re.compile(r"[\s\"'“”‘’`《》「」『』·\-‐-―_]+")
_TAIL = re.compile(r"[.。,，;；:：!！]+$")
_NUMBER = re.compile(
    r"^([+\-−]?)\s*((?:\d{1,3}(?:[, ]\d{3})+|\d+)(?:\.\d+)?|\.\d+)\s*(?:(?:\*\*|\^)\s*(\d{1,3})|/\s*(\d+)|"
    r"(?:[x×*]\s*10\s*(?:\*\*|\^)|e)\s*([+\-]?\d{1,2}))?\s*(.*)$",
    re.I | re.S,
)
_ZH_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九十")} | {"两": 2}
_ZH_SCALE = {"万": 10_000, "亿": 100_000_000, "千": 1000, "百": 100}

_KIB = 1024
_UNITS: dict[str, tuple[str, Fraction]] = {}


def _unit(kind: str, factor: Fraction | int, *names: str) -> None:
    for name in names:
        _UNITS[name] = (kind, Fraction(factor))


for _power, _letter, _zh in ((1, "k", "千"), (2, "m", "兆"), (3, "g", "吉"), (4, "t", "太")):
    _unit("byte", _KIB**_power, f"{_letter}b", f"{_letter}ib", f"{_letter}byte", f"{_letter}bytes", f"{_zh}字节",
          f"{_letter}", f"{_letter}字节")  # fmt: skip
_unit("byte", 1, "b", "byte", "bytes", "字节", "个字节")
_unit("bit", 1, "bit", "bits", "位", "比特", "个比特", "二进制位")
_unit("s", 1, "s", "sec", "second", "seconds", "秒", "秒钟")
_unit("s", Fraction(1, 1000), "ms", "millisecond", "milliseconds", "毫秒")
_unit("s", Fraction(1, 10**6), "us", "μs", "µs", "microsecond", "microseconds", "微秒")
_unit("s", Fraction(1, 10**9), "ns", "nanosecond", "nanoseconds", "纳秒")
_unit("s", 60, "min", "minute", "minutes", "分钟")
_unit("", Fraction(1, 100), "%", "percent", "百分比")
_unit("hz", 1, "hz", "赫兹")
_unit("hz", 10**6, "mhz", "兆赫")
_unit("hz", 10**9, "ghz", "吉赫")
# Counters: "3 次", "4 个页框", "8 pages" count, they do not measure.
_COUNTER = re.compile(
    r"^(个|次|页|块|项|条|级|台|种|帧|道|轮|组|层|页框|个页框|个页|个块|次缺页|个进程|个区段|pages?|frames?|blocks?|times?|"
    r"faults?|page faults?|entries|entry|extents?|processes|process|threads?|levels?|units?|interrupts?|packets?)$"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    value: Fraction
    kind: str  # "byte", "s", "" for a bare number; "?…" for a unit that is not known


def quantity(text: str) -> Quantity | None:
    """The number in `text` with its unit in base units; None when it is not a number."""
    plain = unicodedata.normalize("NFKC", text).strip().rstrip(".。")
    percent = re.match(r"^百分之\s*(.+)$", plain)
    if percent:
        inner = quantity(percent[1])
        return Quantity(inner.value / 100, "") if inner else None
    zh = _chinese_number(plain)
    match = _NUMBER.match(zh if zh is not None else plain)
    if match is None:
        return None
    sign, digits, power, divisor, exponent, unit = match.groups()
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return None  # a bit pattern or a file mode: its zeros matter
    value = Fraction(re.sub("[, ]", "", digits))
    if power:
        if int(power) > 200 or value > 10**6:
            return None
        value **= int(power)
    if divisor:
        if int(divisor) == 0:
            return None
        value /= int(divisor)
    if exponent:
        value *= Fraction(10) ** int(exponent)
    value = -value if sign in ("-", "−") else value
    return _with_unit(value, unit)


def _with_unit(value: Fraction, unit: str) -> Quantity:
    name = unit.strip().lower().rstrip(".。")
    for scale, factor in (("万", 10_000), ("亿", 100_000_000)):
        if name.startswith(scale):
            value, name = value * factor, name[1:].strip()
    if not name or _COUNTER.match(name):
        return Quantity(value, "")
    kind, scale_factor = _UNITS.get(name, (f"?{name}", Fraction(1)))
    return Quantity(value * scale_factor, kind)


def _chinese_number(text: str) -> str | None:
    """`三`, `十二`, `二十四` with what follows as digits; None for anything else."""
    match = re.match(
        r"^([零一二两三四五六七八九十]{1,3})(?=$|[^\u4e00-\u9fff]|[个次页块项条级台种帧道轮组层位秒毫字])", text
    )
    if match is None:
        return None
    digits = match[1]
    if "十" in digits:
        tens, _, ones = digits.partition("十")
        value = _ZH_DIGITS.get(tens, 1) * 10 + (_ZH_DIGITS.get(ones, 0) if ones else 0)
    elif len(digits) == 1:
        value = _ZH_DIGITS[digits]
    else:
        return None
    return f"{value}{text[match.end() :]}"


def plain(text: str) -> str:
    """The form in which words are compared."""
    out = unicodedata.normalize("NFKC", text).strip().lower()
    out = _TAIL.sub("", out)
    return _DROP.sub("", _ARTICLES.sub("", out))


def variants(key: str) -> list[str]:
    """`进程控制块(PCB)|process control block` to all its spellings."""
    out: list[str] = []
    for variant in re.split(r"[|｜]", key):
        text = variant.strip()
        if not text:
            continue
        out.append(text)
        split = _BRACKETS.match(text)
        if split and split[1].strip() and not split[1].strip()[-1].isdigit():
            inner = re.sub(r"^(或者?|即|or)\s*", "", split[2].strip())
            out += [split[1].strip(), inner]
    return list(dict.fromkeys(out))


def matches(said: str, key: str, *, unit: str = "") -> bool:
    """Whether `said` is one of the variants of `key`. `unit` stands behind the blank in the question."""
    if not plain(said) and not quantity(said):
        return False
    spellings = variants(key)
    unlabelled = _LABEL.sub("", said)
    said_forms = [said, unlabelled, *(variants(said) if "|" not in said else ())]
    if any(plain(one) == plain(other) for one in said_forms for other in spellings):
        return True
    if any(_same_list(said, spelling) for spelling in spellings):
        return True
    return any(_same_quantity(said, spelling, unit) for spelling in spellings)


def _same_list(said: str, key: str) -> bool:
    """A key such as "批处理系统、分时系统和实时系统" names several things; their order is free."""
    mine, wanted = (sorted(plain(part) for part in _LISTED.split(text) if plain(part)) for text in (said, key))
    return len(wanted) > 1 and mine == wanted


def _same_quantity(said: str, key: str, unit: str) -> bool:
    mine, wanted = quantity(said), quantity(key)
    if mine is None or wanted is None:
        return False
    if mine.kind == wanted.kind and mine.value == wanted.value:
        # "36" where the key is "36%" and the sign stands behind the blank.
        return True
    behind = _UNITS.get(unit.strip().lower())
    if behind is None:
        return False
    kind, factor = behind
    mine_there = mine.value * factor if not mine.kind and not _has_unit(said) else mine.value
    wanted_there = wanted.value * factor if not wanted.kind and not _has_unit(key) else wanted.value
    same_kind = {mine.kind or kind, wanted.kind or kind} == {kind}
    return same_kind and mine_there == wanted_there


def _has_unit(text: str) -> bool:
    return bool(re.search(r"[%％]|百分", text))


def units_behind(question: str) -> list[str]:
    """For each blank the unit that stands right behind it, "" where none does."""
    out = []
    for match in BLANK.finditer(question):
        rest = question[match.end() : match.end() + 14].strip()
        names = sorted(_UNITS, key=len, reverse=True)
        found = next(
            (n for n in names if (rest.lower().startswith(n) and not rest[len(n) : len(n) + 1].isascii()) or
             rest.lower() == n or re.match(rf"{re.escape(n)}[^a-z]", rest.lower())), "")  # fmt: skip
        out.append(found)
    return out


def interchangeable(question: str, count: int) -> list[list[int]]:
    """Groups of blanks whose answers may change places: those joined by 、, 和 or "and" only."""
    marks = list(BLANK.finditer(question))
    if len(marks) != count:
        # The blanks cannot be seen; one that lists several things is taken as a list without order.
        listed = len(marks) <= 1 and not _LABELS.search(question)
        return [list(range(count))] if listed else [[place] for place in range(count)]
    groups = [[0]] if count else []
    for place in range(1, count):
        between = question[marks[place - 1].end() : marks[place].start()]
        if _JOINING.match(between):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


_LABELS = re.compile(
    r"[①-⑳]|(?<![A-Za-z])[A-H]\s*[:：]|第\s*\d+\s*空\s*[:：]?|(?<!\S)[(（]\d{1,2}[)）]|(?<!\S)\d{1,2}[.)、](?!\d)"
)


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
    for pattern in (
        _SPLIT,
        _SPLIT_SOFT,
        re.compile(r"[;；\n、，,\t]+"),
        re.compile(r"\s{2,}|\s*[/|]\s*"),
        re.compile(r"\s+"),
    ):
        parts = [_LABEL.sub("", part).strip() for part in pattern.split(text)]
        parts = [part for part in parts if part]
        if len(parts) == count:
            return parts
    pieces = [_LABEL.sub("", part).strip() for part in re.split(r"[;；\n、，]+", text)]
    return [piece for piece in pieces if piece]


def split_key(text: str, blanks: int) -> tuple[str, ...]:
    """The key of a flat row, one entry a blank."""
    labelled = _labelled(text)
    if labelled:
        return tuple(labelled)
    if blanks <= 1:
        return (text.strip(),) if text.strip() else ()
    parts = split_answer(text, blanks)
    return tuple(parts) if len(parts) == blanks else (text.strip(),)


def judge_blanks(said: Sequence[str], key: Sequence[str], question: str) -> tuple[bool, ...]:
    """For each blank whether it is filled rightly; a missing one is wrong, a surplus one spoils the last."""
    count = len(key)
    behind = units_behind(question)
    units = behind if len(behind) == count else [""] * count
    given = [said[place] if place < len(said) else "" for place in range(count)]
    right = [False] * count
    for group in interchangeable(question, count):
        best: tuple[bool, ...] = ()
        # A group of more than six blanks is compared in its own order: 720 orders are enough.
        orders = permutations(group) if len(group) <= 6 else iter([tuple(group)])
        for order in orders:
            found = tuple(matches(given[at], key[to], unit=units[to]) for at, to in zip(group, order, strict=True))
            if not best or sum(found) > sum(best):
                best = found
        for place, ok in zip(group, best, strict=True):
            right[place] = ok
    if len(said) > count and count:
        right[-1] = False
    return tuple(right)
