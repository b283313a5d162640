"""Reading a choice: `AC`, `A、C`, `a c`, `选 A 和 C`, `(A)`, the words of an option, 对, ×, false …

Pure functions, which see the student's words and the options but never the key.
"""

import re
import unicodedata
from collections.abc import Collection, Sequence

from osrag.quiz.exercise import FALSE, TRUE, Exercise, Option
from osrag.text import squeeze

# Words that surround a choice and choose nothing: "答案是 A", "I pick (B)", "选项 C 正确".
_AROUND = re.compile(
    r"the|my|final|answers?|is|are|it'?s|i|would|think|choose|pick|select|options?|choices?|both|and|or|only|correct|"
    r"正确答案|我的|答案|应该|应当|应|为|是|选择|选项|我|选|项|和|与|及|以及|都|均|还有|正确|对的|的|有",
    re.I,
)
_SEPARATORS = re.compile(r"[\s,;:/|&+.、，；：。/()\[\]{}<>（）【】《》「」\"'“”‘’*_\-—~]+")
_CIRCLED = {0x2460 + n: f" {n + 1} " for n in range(20)}  # ① is 1


def _words(*lines: str) -> frozenset[str]:
    return frozenset(word for line in lines for word in line.split())


_TRUE = _words("t true ture yes y right correct √ ✓ ✔ ✅ v 1", "对 对的 正确 正确的 是 是的 真 成立 没错 说法正确")
_FALSE = _words(
    "f false flase no n wrong incorrect × ✗ ✘ ❌ x 0",
    "错 错的 错误 错误的 不对 不正确 否 不是 不 非 假 不成立 说法错误",
)


def read_choice(text: str, options: Sequence[Option]) -> frozenset[str]:
    """The keys that `text` names; empty when it names none, or says something else besides."""
    words = squeeze(text)
    if not words:
        return frozenset()
    whole = [option.key for option in options if squeeze(option.text) == words]
    if len(whole) == 1:
        return frozenset(whole)
    keys = {squeeze(option.key): option.key for option in options}
    if not any(key.isdigit() for key in keys):  # then `1, 3` are places: A and C
        keys |= {str(place): option.key for place, option in enumerate(options, start=1)}
    return _named(_plain(text), keys) or _quoted(text, options)


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text.translate(_CIRCLED)).lower()


def _named(text: str, keys: dict[str, str]) -> frozenset[str]:
    """Keys one after another: the text holds nothing else but separators and words that choose nothing.

    `ac` and `a cd` are runs of keys. A run that names a key twice is a word that happens to fit ("add").
    """
    for cleaned in (text, _AROUND.sub(lambda match: match[0] if match[0] in keys else " ", text)):
        parts = [part for part in _SEPARATORS.split(cleaned) if part]
        if parts and all(part in keys for part in parts):
            return frozenset(keys[part] for part in parts)
        run = "".join(parts)
        if run and all(char in keys for char in run) and len(set(run)) == len(run):
            return frozenset(keys[char] for char in run)
    return frozenset()


def _quoted(text: str, options: Sequence[Option]) -> frozenset[str]:
    """`B. long-term scheduling`, or several options in their own words, one in each line or with `;` between."""
    found = [_one_quoted(piece, options) for piece in re.split(r"[\n;；]+", text) if piece.strip()]
    return frozenset() if None in found else frozenset(key for key in found if key)


def _one_quoted(piece: str, options: Sequence[Option]) -> str | None:
    """The option that is named by its key and at least the start of its words, or by all its words."""
    head = re.match(r"\s*[(（\[【]?\s*([^\W_]{1,2})\s*[)）\]】.、:：．,，]\s*(.*)$", piece, re.S)
    said = squeeze(head[2]).rstrip(".。") if head else ""
    for option in options:
        words = squeeze(option.text).rstrip(".。")
        if squeeze(piece) == squeeze(option.text):
            return option.key
        same = words.startswith(said) if len(said) >= 4 else words == said
        if head and said and same and squeeze(head[1]) == squeeze(option.key):
            return option.key
    return None


def read_truth(text: str, options: Sequence[Option] = ()) -> str:
    """ "T", "F", or "" for words that are neither. `options` are those that a statement may have for the two."""
    plain = re.sub(r"[\s.。!！,，;；()（）\"'“”]+", "", _plain(text))
    plain = re.sub(r"^(答案|选|这句话|该说法|说法|it'?sa?|theanswer|answer)?(是|为|is)?[:：]?(?=.)", "", plain)
    if plain in _TRUE:
        return TRUE
    if plain in _FALSE:
        return FALSE
    keys = read_choice(text, options)
    chosen = [option.text for option in options if option.key in keys]
    return read_truth(chosen[0]) if len(chosen) == 1 else ""


def chosen(exercise: Exercise, text: str) -> frozenset[str]:
    """What a student chose; empty when it cannot be read. A single choice of two things is none."""
    if exercise.type == "true_false":
        return frozenset(read_truth(text, exercise.options))
    keys = read_choice(text, exercise.options)
    return frozenset() if exercise.type == "single_choice" and len(keys) > 1 else keys


def in_order(keys: Collection[str], options: Sequence[Option]) -> tuple[str, ...]:
    """Keys in the order of the options."""
    places = {option.key: place for place, option in enumerate(options)}
    return tuple(sorted(keys, key=lambda key: places.get(key, len(places))))
