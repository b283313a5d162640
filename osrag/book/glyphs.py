"""Characters as a reader sees them: ligatures, radicals, symbols without a name, raised digits."""

import re
import unicodedata

_LIGATURES = {
    "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
}  # fmt: skip

# Some fonts map a Han character to the radical of the same shape. NFKC repairs the
# Kangxi radicals (U+2F00); these are the ones of the supplement (U+2E80) that occur.
_RADICALS = dict(
    zip(
        "⺟⺠⻁⻄⻅⻆⻈⻉⻋⻌⻓⻔⻘⻙⻚⻛⻜⻝⻢⻣⻤⻥⻦⻧⻨⻩⻬⻮⻰⻳",
        "母民虎西见角讠贝车辶长门青韦页风飞食马骨鬼鱼鸟卤麦黄齐齿龙龟",
        strict=True,
    )
)

# Codes of TeX's symbol fonts, for PDFs that embed them without a Unicode table.
_CMSY = {
    0: "−", 1: "·", 2: "×", 3: "∗", 4: "÷", 6: "±", 15: "•", 17: "≡", 18: "⊆", 19: "⊇", 20: "≤", 21: "≥",
    24: "∼", 25: "≈", 26: "⊂", 27: "⊃", 28: "≪", 29: "≫", 32: "←", 33: "→", 34: "↑", 35: "↓", 36: "↔",
    40: "⇐", 41: "⇒", 42: "⇑", 43: "⇓", 44: "⇔", 48: "′", 49: "∞", 50: "∈", 54: "̸", 56: "∀", 57: "∃",
    58: "¬", 59: "∅", 91: "∪", 92: "∩", 94: "∧", 95: "∨", 98: "⌊", 99: "⌋", 100: "⌈", 101: "⌉",
    102: "{", 103: "}", 104: "⟨", 105: "⟩", 106: "|", 107: "‖", 112: "√", 120: "§", 121: "†",
}  # fmt: skip
_CMMI = {":": ".", ";": ",", "=": "/", "?": "⋆"}
_CID = re.compile(r"\(cid:(\d+)\)")

_ACCENTS = {"¨": "\u0308", "´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "ˇ": "\u030c"}

_SUPER = dict(zip("0123456789+-−=()ni", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿⁱ", strict=True))
_SUB = dict(zip("0123456789+-−=()aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", strict=True))

BULLETS = "∗•‣▪▫■□●○◦▶►▸➢➤✓✔◆◇❖∙⁃·"


def readable(text: str, font: str = "") -> str:
    """One glyph as text: "" for what cannot be read, "fi" for ﬁ, 页 for ⻚, • for a named bullet."""
    if text.startswith("(cid:"):
        return _named(text, font)
    if len(text) == 1 and text < "\u0080":
        if font.startswith("CM"):
            text = _raw_code(text, font)
        return text if text >= " " else " " if text in "\t\n\r\xa0" else ""
    return "".join(_one(char) for char in text)


def _named(text: str, font: str) -> str:
    match = _CID.fullmatch(text)
    if not match:
        return ""
    code = int(match.group(1))
    if font.startswith(("CMSY", "CMBSY", "LMMathSymbols")):
        return _CMSY.get(code, "")
    # The bullet of TeX's TS1 encoding, where it comes as a bitmap font.
    return "•" if code == 136 and font in ("unknown", "") else ""


def _raw_code(char: str, font: str) -> str:
    """The sign of an ASCII code in a TeX font that has none of the ASCII signs: `)` of CMSY is ⇒."""
    if font.startswith(("CMSY", "CMBSY")) and char != "\\":
        return _CMSY.get(ord(char), char)
    return _CMMI.get(char, char) if font.startswith(("CMMI", "CMMIB")) else char


def _one(char: str) -> str:
    code = ord(char)
    if code < 0x20 or char in "\u200b\u200c\u200d\u2060\ufeff\ufffd\uffff" or unicodedata.category(char) == "Co":
        return ""
    if char in "\u00a0\u2002\u2003\u2009\u202f\u2423":
        return " "
    if 0x2F00 <= code < 0x2FE0:
        return unicodedata.normalize("NFKC", char)
    return _LIGATURES.get(char) or _RADICALS.get(char) or char


def accented(accent: str, letter: str) -> str:
    """`¨` set over `o` as `ö`; "" when the two make no letter."""
    mark = _ACCENTS.get(accent)
    if mark is None or not letter.isalpha():
        return ""
    both = unicodedata.normalize("NFC", letter + mark)
    return both if len(both) == 1 else ""


def raised(text: str) -> str:
    """`32` as `³²`, which NFKC turns back; unchanged where Unicode has no such signs."""
    return "".join(_SUPER[char] for char in text) if text and all(char in _SUPER for char in text) else text


def lowered(text: str) -> str:
    """`1` as `₁`; unchanged where Unicode has no such signs."""
    return "".join(_SUB[char] for char in text) if text and all(char in _SUB for char in text) else text
