# ruff: noqa: E501 - a pattern is read best in one line
"""The text of a question made plain: one way to write a number, no typesetting, no answers to choose from."""

import unicodedata
from collections.abc import Callable

from osrag.lab.reading import ascii as re
from osrag.numbers import chinese_number

_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_WORDS = [
    "zero",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]
_ORDINALS = ("third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_VALUES = {word: str(value) for value, word in zip([0, *range(2, 21)], _WORDS, strict=True)}
_COUNTED = "核路个次页块项条级台种帧道轮组层位类秒毫微纳字张步进作物页磁盘柱圈转倍"
_TYPESETTING = (
    (r"\$|\\[,;!]|\\(?:text|mathrm|mathbf)\b", ""),
    (r"\\times", "×"),
    (r"\\mu", "µ"),
    (r"\\(?:right)?arrow|\\to\b", "→"),
    (r"\^\s*\{\s*(\d+)\s*\}", r"^\1"),
    (r"<br\s*/?>", "\n"),
    (r"\*\*(?=\D)|(?<=\D)\*\*", ""),  # bold
    (r"[–—−~]", "-"),
    (r"⟨|〈", "<"),
    (r"⟩|〉", ">"),
    (r"\b(?:(non)[- ]?)?pre-?empt", r"\1preempt"),
    (r"(?<!\w)(?<!main )(?<!fork )[(（]\s*[)）]|_{2,}|＿+", " __ "),  # a blank to be filled in
    (r"^\s*(?:Q(?:uestion)? ?)?\d{1,2}\s?[.、](?!\d)\s*", ""),  # the number of a question in a paper, and its marks
    (r"\((?:共|本题|满分)* ?\d{1,2} ?(?:分|marks?|points?|pts)\) ?", ""),
)
_OPTIONS = re.compile(
    r"\n\s*A[.、．]\s*\S[^\n]*?\sB[.、．]\s*\S|(?:^|\s)[(（]?A[)）.、．]\s*\S.*?\s[(（]?B[)）.、．]\s*\S.*?\s[(（]?C[)）.、．]",
    re.S,
)
_SHORT_OPTIONS = re.compile(r"(?:\(\w\)\s*[\w.%]{1,16}(?: [\w%]{1,12})?\s*[,;]?\s*){3,6}$")  # (a) 10 (b) 4 (c) 8
_POWER = re.compile(r"(?<![\w.])(\d+)\s*(?:\^|\*\*)\s*(\d{1,2})(?!\d)")
_GROUPED = re.compile(
    r"(?<![\d,.])(?<!\d )(?<![;；] )([1-9]\d{0,2}(?:,\d{3})+)(?![\d,])(?=\s*(?:[KMGT]i?B|bytes?|words?|records?|B\b|[nµm]?s\b|hours?|rpm|cylinders?"
    r"|tracks?|blocks?|pages?|sectors?|rev\w*|accesses|references|requests|[字小个转毫纳微块页])|\s*[.?。？]?\s*$)",
    re.I | re.M,
)
_SPACED = re.compile(  # 20 000 accesses
    r"(?<![\d,.业程务])(?<!\d )[1-9]\d{0,2}(?: \d{3})+(?! ?\d)(?=\s*(?:[KMGT]i?B|bytes?|accesses|faults|references|times|rpm|r/min|rev|[字次转]))",
    re.I,
)
_ALONE = re.compile(  # 27 456 behind a Chinese word, and 11,000 that is in no list
    r"(?<=[\u4e00-\u9fff(（])(?<![业程务])[1-9]\d{0,2}(?: \d{3})+(?=\s?[^\s\d,，、KMG])|(?<=[业程务第])[1-9]\d{0,2}(?: 0\d{2})+(?!\d)"
    r"|(?<![\d,.，、(（\[<:：])(?<![\d,] )[1-9]\d{0,2},\d{3}(?:,000)*(?!\d|, ?\d|\.\d| ?[,，、] ?\d| and \d| ?[)）\]>])"
    r"|(?<![\d,.])(?<!\d )[1-9]\d{0,2}(?: 000){2,}(?!\d| \d)"
)
_PART = re.compile(r"[(（](\d|[a-h]|i{1,3}|iv|v)[)）]")
_CHOOSES = re.compile(r"答|求|给出|计算|answer|give|find|compute|result", re.I)
_TENS = {
    word: 10 * value
    for value, word in enumerate(["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 2)
}
_TENS_AND_UNIT = re.compile(rf"\b({'|'.join(_TENS)})(?:[- ](one|{'|'.join(_WORDS[1:9])}))?\b", re.I)
_STOPS = re.compile(r"[,，。;；?？]")  # in no line of a table
_APART = re.compile(r"(?<=[\w%]) +(?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff])(?<![甲乙丙丁戊]) +(?=\w)")
_ONE_A_LINE = re.compile(
    r"(?:(?<=\n)|^)(?:[ \t]*[A-Za-z\u4e00-\u9fff.]{1,12}[ \t]*\n){2,6}(?:[ \t]*(?:[A-Z]?\d[\w.]*|-)[ \t]*\n){4,}"
)
_PREFIXES = {"3": "K", "6": "M", "9": "G"}
_MILLIONS = re.compile(r"(\d+(?:\.\d+)?) ?[×x*] ?10\^([369]) ?(?:bytes?|B|字节)(?![A-Za-z])")
_EACH_TIMED = re.compile(r"(\d) ?(ms|毫秒|s|秒|[uµn]s|小时|分钟|台)(?=\s?[、,，]\s?\d+(?:\.\d+)? ?\2)")  # 6ms、9ms
_CLOCK = re.compile(r"(?<![\w.:])([01]?\d|2[0-3])[:：]([0-5]\d)(?![\d:]|\.\d)")  # 8:30 is 8.5 where times are in hours
_LETTERED = re.compile(  # a. 0,430 and b. 1,10 are pairs
    r"(?<![^\s;；])[(（]?(?:[a-h]|i{1,3}|iv|v|[1-9])[.)）、]\s*(\d+)\s*[,，]\s*(\d+)(?=\s*(?:[;；.。?？]|$|[(（]?[a-z1-9]{1,3}[.)）、]))",
    re.M,
)
_CLOCK_SECONDS = re.compile(r"(?<![\w.:])(\d{1,2}):([0-5]\d):([0-5]\d)(?![\d:])")
_IN_HOURS = re.compile(r"\d ?(?:小时|hours?\b|h\b)|[(（/](?:单位[:：]?)? ?(?:小时|hours?|h)(?![A-Za-z])", re.I)
_SPACED_HEX = re.compile(r"(?<![\w])(?:(?:[0-9A-F]{4} )+[0-9A-F]{4}[Hh]|0x[0-9A-F]{4}(?: [0-9A-F]{4})+)(?![\w])")
_HEX = re.compile(r"(?<![\w])([0-9][0-9A-F]*|[A-F][0-9A-F]*\d[0-9A-F]*)[Hh](?![\w])")


def typeset(text: str) -> str:
    """Width, superscripts and TeX made plain; programs are read from this."""
    text = re.sub(f"[{_SUPERSCRIPTS}]+", lambda found: f"^{found[0]}", text)
    text = re.sub(r"[①-⑳](?=\s*\d+\s*[,，]\s*\d+\s*(?:[①-⑳;；。]|$))", " a) ", text, flags=re.M)
    text = re.sub(r"[①-⑳]", " ", text)  # the number of a point, which would be taken for one of its values
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"[ \u3000]{3,}", "  ", text.replace("μ", "µ"))  # a wide gap may part the cells of a table
    for pattern, instead in _TYPESETTING:
        text = re.sub(pattern, instead, text, flags=re.I)
    return text


def _asked_part(text: str) -> str:
    """The text with one part alone where its last sentence says which is to be answered: `(1) … (2) … Answer (2).`"""
    marks = list(_PART.finditer(text))
    if len(marks) < 3 or marks[-1][1] not in [mark[1] for mark in marks[:-1]]:
        return text
    *parts, chosen = marks
    first = next(place for place, mark in enumerate(parts) if mark[1] == chosen[1])
    tail = max(text.rfind(stop, 0, chosen.start()) for stop in ("。", "？", "?", ". ", "\n")) + 1
    if tail <= parts[-1].end() or not _CHOOSES.search(text[tail : chosen.end()]):
        return text
    ends = [*(mark.start() for mark in parts[1:]), tail]
    return text[: parts[0].start()] + text[parts[first].end() : ends[first]]


def plain(text: str) -> str:
    """The text with numbers as digits (三个, three, 2^12, 2A3H as 0x2A3) and without the choices (A), (B), … at its end."""
    text = typeset(text)
    pairs = _LETTERED.findall(text)
    if len(pairs) > 1 and any(first == "0" or len(second) != 3 for first, second in pairs):  # 2,500 alone is a number
        text = _LETTERED.sub(r" (\1, \2)", text)
    if options := _OPTIONS.search(text) or _SHORT_OPTIONS.search(text):
        text = text[: options.start()]
    text = _asked_part(text)
    text = _TENS_AND_UNIT.sub(lambda found: str(_TENS[found[1].lower()] + _unit(found[2])), text)
    text = re.sub(r"([1-9一二三四五六七八九]) ?成(?=[,，。;；的]|$)", _tenths, text)
    text = re.sub(r"(?<=\d) ?(per ?cent|percent)\b", "%", text, flags=re.I)
    text = re.sub(r"\b(?:3|three)[- ]quarters\b", "75%", text, flags=re.I)
    text = re.sub(r"\bone (?=(?:kilo|mega)byte|[KM]B)", "1 ", text, flags=re.I)
    text = re.sub(r" \.{4,} ", "  ", text)  # dots that lead to the value of a row
    text = _MILLIONS.sub(lambda found: f"{found[1]} {_PREFIXES[found[2]]}B", text)
    text = re.sub(r"(?<![\w.])([0-9A-F]+) ?[(（](?:in )?(?:hex\w*|十六进制)[)）]", r"0x\1", text, flags=re.I)
    text = _EACH_TIMED.sub(r"\1", text)
    text = re.sub(r"(?:^|\n)[ \t]*[-•*][ \t]+(?=\d)", "\n", text)  # the points of a list
    text = _ONE_A_LINE.sub(_rows_of, text)
    text = _POWER.sub(_power, text)
    text = _GROUPED.sub(lambda found: found[1].replace(",", ""), text)
    text = re.sub(r"(?<=[a-z]{3})\(s\)", "s", text)
    text = re.sub(
        r"\b(third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b",
        lambda found: f"{_ORDINALS.index(found[1].lower()) + 3}th",
        text,
        flags=re.I,
    )
    text = re.sub(r"\bFAT-?(12|16|32)(?!\d)", r"FAT(\1-bit entries)", text)
    text = re.sub(r"每一([个种类台道])", r"每\1", text)
    text = re.sub(r"(?<![\w.])(\d{2,})D(?=[\s(（,，、。;；和与的])", r"\1", text)  # 4800D is decimal
    text = _from_earliest(_CLOCK_SECONDS, _seconds, text)
    if _IN_HOURS.search(text):
        text = _CLOCK.sub(lambda found: f"{_minutes(found) / 60:.4g}", text)
    elif re.search(r"分钟|\bmin", text):
        text = _from_earliest(_CLOCK, _minutes, text)
    text = re.sub(r"\b(kilo|mega|giga|tera)[ -]?(bytes?|words?)\b", _prefixed, text, flags=re.I)
    text = re.sub(r"各(?:占)?一?半", "各占50%", text)
    text = re.sub(r"(?<![\d,.])([1-9]\d{0,2})((?:,000)+)(?![\d,])", lambda found: found[0].replace(",", ""), text)
    text = _SPACED.sub(lambda found: found[0].replace(" ", ""), text)
    text = _ALONE.sub(lambda found: re.sub("[ ,]", "", found[0]), text)
    text = re.sub(
        r"\bhalf (?:of )?(?:the |its |their )?(?=time|requests|operations|small|host|are)|一半(?:的)?(?=时间|请求|操作)",
        "50% ",
        text,
    )
    text = _SPACED_HEX.sub(lambda found: found[0].replace(" ", ""), text)
    text = _HEX.sub(lambda found: f"0x{found[1].upper()}", text)
    text = re.sub(r"(?<![\d.])(百|千|万)分之\s*(\d+(?:\.\d+)?|[零一二三四五六七八九十]+)", _fraction, text)
    text = re.sub(rf"[〇零一二两三四五六七八九十百千万亿]+(?!进制)(?=\s*[{_COUNTED}])", _numeral, text)
    text = re.sub(
        r"\b(?:one|single|an?)[- ](?=(?:level|time unit|unit of time|milli|micro|nano))", "1 ", text, flags=re.I
    )
    text = re.sub(r"单级(?=页表)", "1级", text)
    text = "\n".join(
        line if not _STOPS.search(line) and re.search(r"\d\S*\s", line) else _APART.sub("", line)
        for line in text.split("\n")
    )
    return re.sub(rf"\b(?:{'|'.join(_WORDS)})\b", lambda found: _VALUES[found[0].lower()], text, flags=re.I)


def _from_earliest(clock: re.Pattern[str], since_midnight: Callable[[re.Match[str]], int], text: str) -> str:
    """Clock times counted from the earliest of them; one alone stays as it is."""
    times = [since_midnight(found) for found in clock.finditer(text)]
    return clock.sub(lambda found: str(since_midnight(found) - min(times)), text) if len(times) > 1 else text


def _minutes(clock: re.Match[str]) -> int:
    return 60 * int(clock[1]) + int(clock[2])


def _seconds(clock: re.Match[str]) -> int:
    return 60 * _minutes(clock) + int(clock[3])


def _power(found: re.Match[str]) -> str:
    return str(int(found[1]) ** int(found[2])) if int(found[1]) <= 16 else found[0]


def _prefixed(found: re.Match[str]) -> str:
    """Kilobytes as KB, megawords as M words."""
    return found[1][0].upper() + ("B" if found[2][0] in "bB" else f" {found[2]}")


def _rows_of(found: re.Match[str]) -> str:
    """A table that was pasted with one cell a line, as rows."""
    cells = found[0].split()
    width = next(place for place, cell in enumerate(cells) if re.fullmatch(r"[A-Z]?\d[\w.]*|-", cell))
    rows = [" | ".join(cells[at : at + width]) for at in range(0, len(cells), width)]
    return "\n".join(rows) + "\n" if len(cells) % width == 0 else found[0]


def _unit(word: str | None) -> int:
    return 0 if word is None else int(_VALUES.get(word.lower(), 1))


def _tenths(found: re.Match[str]) -> str:
    return f"{found[1] if found[1].isdecimal() else chinese_number(found[1])}0%"


def _fraction(found: re.Match[str]) -> str:
    value = found[2] if found[2][0].isdigit() else chinese_number(found[2])
    return f"{value}%" if found[1] == "百" else f"{value}/{1000 if found[1] == '千' else 10000}"


def _numeral(found: re.Match[str]) -> str:
    """`三` as 3; 一 is an article except before 级 and 层."""
    value = chinese_number(found[0])
    article = found[0] == "一" and found.string[found.end() :].strip()[:1] not in ("级", "层")
    if value is None or article:
        return found[0]
    before = found.string[found.start() - 1 : found.start()]
    return f" {value}" if before.isascii() and before.isalnum() else str(value)  # P3 三个
