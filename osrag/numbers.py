"""Numbers as people write them: `4,096`, `十二`, `2^20`, `50%`, `4 KB`."""

import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10_000, "亿": 100_000_000}
_WORDS = {
    word: n for n, word in enumerate(["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], 1)
}
_NUMERAL = "零〇一二两三四五六七八九十百千万亿"
# A numeral at the start, with nothing behind it, something that is not Chinese, or a word that is counted.
_LEADING = re.compile(rf"^([{_NUMERAL}]+)(?=$|[^\u4e00-\u9fff]|[个次页块项条级台种帧道轮组层位秒毫字])")
_NUMBER = re.compile(
    r"^([+\-−]?)\s*((?:\d{1,3}(?:[, ]\d{3})+|\d+)(?:\.\d+)?|\.\d+)\s*(?:(?:\*\*|\^)\s*(\d{1,3})|/\s*(\d+)|"
    r"(?:[x×*]\s*10\s*(?:\*\*|\^)|e)\s*([+\-]?\d{1,2}))?\s*(.*)$",
    re.I | re.S,
)
_UNIT_NAMES: dict[tuple[str, Fraction], str] = {
    ("byte", Fraction(1)): "b byte bytes 字节 个字节",
    ("byte", Fraction(2**10)): "k kb kib kbyte kbytes 千字节 k字节",
    ("byte", Fraction(2**20)): "m mb mib mbyte mbytes 兆字节 m字节",
    ("byte", Fraction(2**30)): "g gb gib gbyte gbytes 吉字节 g字节",
    ("byte", Fraction(2**40)): "t tb tib tbyte tbytes 太字节 t字节",
    ("bit", Fraction(1)): "bit bits 位 比特 个比特 二进制位",
    ("s", Fraction(60)): "min minute minutes 分钟",
    ("s", Fraction(1)): "s sec second seconds 秒 秒钟",
    ("s", Fraction(1, 10**3)): "ms millisecond milliseconds 毫秒",
    ("s", Fraction(1, 10**6)): "us μs µs microsecond microseconds 微秒",
    ("s", Fraction(1, 10**9)): "ns nanosecond nanoseconds 纳秒",
    ("", Fraction(1, 100)): "% percent 百分比",
    ("hz", Fraction(1)): "hz 赫兹",
    ("hz", Fraction(10**6)): "mhz 兆赫",
    ("hz", Fraction(10**9)): "ghz 吉赫",
}
UNITS = {name: unit for unit, names in _UNIT_NAMES.items() for name in names.split()}
_UNIT_AHEAD = re.compile(f"(?:{'|'.join(map(re.escape, sorted(UNITS, key=len, reverse=True)))})(?![a-z])")
# Words that count and do not measure: "3 次", "4 个页框", "8 pages".
_COUNTED = re.compile(
    r"^(个|次|页|块|项|条|级|台|种|帧|道|轮|组|层|页框|个页框|个页|个块|次缺页|个进程|个区段|pages?|frames?|blocks?|times?|"
    r"faults?|page faults?|entries|entry|extents?|processes|process|threads?|levels?|units?|interrupts?|packets?)$"
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with its unit."""

    value: Fraction  # in the base unit of its kind: bytes, bits, seconds, hertz
    kind: str  # "byte", "s", …; "" for a bare number, "?furlong" for a unit that is not known


def chinese_number(numeral: str) -> int | None:
    """`三` is 3, `二十四` 24, `三万` 30,000; None for anything else, a row of digits without places included."""
    total, section, digit = 0, 0, None
    for char in numeral:
        if char in _DIGITS:
            if digit:
                return None
            digit = _DIGITS[char]
        elif char in _SMALL:
            section += (1 if digit is None else digit) * _SMALL[char]
            digit = None
        elif char in _LARGE:
            before, total = (total, 0) if char == "万" else (0, total)
            total = before + (total + section + (digit or 0)) * _LARGE[char]
            section, digit = 0, None
        else:
            return None
    return total + section + (digit or 0) if numeral and numeral[0] not in _LARGE else None


def quantity(text: str) -> Quantity | None:
    """The number that `text` consists of, with its unit; None when `text` is not a number.

    A bit pattern or a file mode such as `0600` is no number, because its zeros matter.
    """
    plain = unicodedata.normalize("NFKC", text).strip().rstrip(".。")
    if percent := re.match(r"^百分之\s*(.+)$", plain):
        inner = quantity(percent[1])
        return Quantity(inner.value / 100, "") if inner else None
    if leading := _LEADING.match(plain):
        value = chinese_number(leading[1])
        plain = plain if value is None else f"{value}{plain[leading.end() :]}"
    match = _NUMBER.match(plain)
    if match is None:
        return None
    sign, digits, power, divisor, exponent, unit = match.groups()
    if len(digits) > 1 and digits[0] == "0" and digits[1].isdigit():
        return None
    value_ = Fraction(re.sub("[, ]", "", digits))
    if power:
        if int(power) > 200 or value_ > 10**6:
            return None
        value_ **= int(power)
    if divisor:
        if int(divisor) == 0:
            return None
        value_ /= int(divisor)
    if exponent:
        value_ *= Fraction(10) ** int(exponent)
    return _with_unit(-value_ if sign in ("-", "−") else value_, unit)


def _with_unit(value: Fraction, unit: str) -> Quantity:
    name = unit.strip().lower().rstrip(".。")
    if name[:1] in _LARGE:
        value, name = value * _LARGE[name[0]], name[1:].strip()
    if not name or _COUNTED.match(name):
        return Quantity(value, "")
    kind, factor = UNITS.get(name, (f"?{name}", Fraction(1)))
    return Quantity(value * factor, kind)


def unit_ahead(text: str) -> str:
    """The unit that `text` begins with, as a name in `UNITS`; "" when it begins with none."""
    found = _UNIT_AHEAD.match(text.strip().lower())
    return found[0] if found else ""


# A sign alone is a number only before a word that counts: 三次, 两个. 一个 is an article, not a number.
_ANYWHERE = re.compile(
    rf"\d+(?:\.\d+)?|[{_NUMERAL}]{{2,}}|[二三四五六七八九十两](?=[个次页块项条级台种帧道轮组层位秒毫字张类步])"
)
_DIGIT_GROUPS = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:,\d{3})+(?![\d,])")
_WORD = re.compile(rf"\b(?:{'|'.join(word for word in _WORDS if word != 'one')})\b", re.I)


def numbers_in(text: str) -> list[str]:
    """The numbers of a running text in order, as digits: `4,096`, 十二, three; units are left out."""
    plain = _DIGIT_GROUPS.sub(lambda found: found[0].replace(",", ""), unicodedata.normalize("NFKC", text))
    plain = _WORD.sub(lambda found: str(_WORDS[found[0].lower()]), plain)
    found = _ANYWHERE.findall(plain)
    return [one if one[0].isdigit() else str(chinese_number(one) or one) for one in found]
