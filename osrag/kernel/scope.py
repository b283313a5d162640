"""Code that is asked for and is not in the index: say so, and name the nearest."""

import difflib
import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from osrag.kernel.describe import name_parts
from osrag.kernel.describe_lore import DATA, read_tsv
from osrag.kernel.prior import NameParts
from osrag.kernel.query import KernelQuestion
from osrag.kernel.result import Missing
from osrag.types import Language

NEAREST = 3
CANDIDATES = 80  # names whose spelling is compared
_VERSION = re.compile(r"(?:linux|kernel|内核|版本|\bv)\s*-?\s*v?(\d+\.\d+)(?:\.\d+)?(?!\d)", re.I)

# `where` of what lies in no folder of the kernel: in English and in Chinese.
_NO_FOLDER = {
    "not Linux": ("it is no part of Linux", "它不属于 Linux"),
    "user space, not the kernel": ("it belongs to user space, not to the kernel", "它属于用户空间，不在内核里"),
    "a textbook algorithm that Linux does not implement": (
        "a textbook algorithm that Linux does not implement",
        "它是教科书里的算法，Linux 没有实现",
    ),
}
_NEAR = {"zh": "最接近的是：", "en": " Nearest: "}

Named = Callable[[str], list[int]]  # a name -> its chunks


@dataclass(frozen=True, slots=True)
class Outside:
    """A subject that lies elsewhere."""

    pattern: re.Pattern[str]
    where: str
    nearest: tuple[str, ...]


@functools.cache
def outside_subjects() -> tuple[Outside, ...]:
    return tuple(
        Outside(_pattern(words.split("|")), where, tuple(nearest.split()))
        for words, where, nearest in read_tsv(DATA / "kernel_outside.tsv")
    )


def _pattern(words: Sequence[str]) -> re.Pattern[str]:
    """Any of the words; Latin ones whole, plural or not."""
    ascii_words = "|".join(re.escape(word) for word in words if word.isascii())
    others = "|".join(re.escape(word) for word in words if not word.isascii())
    parts = [rf"(?<![A-Za-z0-9])(?:{ascii_words})s?(?![A-Za-z0-9])"] if ascii_words else []
    return re.compile("|".join([*parts, *([others] if others else [])]), re.I)


@functools.cache
def renamed() -> dict[str, tuple[str, str]]:
    """Name in books and other versions -> (name here, how it came)."""
    return {old: (new, note) for old, new, note in read_tsv(DATA / "kernel_renamed.tsv")}


def find_missing(
    question: KernelQuestion,
    named: Named,
    mentioned: Callable[[str], bool],
    near: Callable[[str], list[str]],
    subsystems: Sequence[str],
) -> list[Missing]:
    """What the question asks for by name or subject and the index does not hold.

    A structure or flag of another directory that the indexed code uses is not missing:
    `mentioned` tells whether any chunk has the word, `near` names that look like one.
    """
    absent = [name for name in question.certain if not named(name) and (name in renamed() or not mentioned(name))]
    missing = [_missing_name(name, near) for name in absent]
    for subject in outside_subjects():
        found = subject.pattern.search(question.text)
        if found and not _indexed(subject.where, subsystems) and not named(found.group()):
            missing.append(Missing(found.group(), subject.where, subject.nearest))
    return list({one.what: one for one in reversed(missing)}.values())[::-1]


def _missing_name(name: str, near: Callable[[str], list[str]]) -> Missing:
    known = renamed().get(name) or renamed().get(re.sub(r"^__(?:x64|ia32|arm64|se|do)_", "", name))
    if known:
        return Missing(name, known[1], (known[0],))
    outside = next((one for one in outside_subjects() if one.pattern.search(name.replace("_", " "))), None)
    found = tuple(near(name))
    return Missing(name, outside.where if outside else "", found or (outside.nearest if outside else ()))


def nearest_names(name: str, names: Sequence[str], parts: NameParts) -> list[str]:
    """Those of `names` that look most like `name`; empty when none does. `parts` is made of `names`."""
    wanted = {part for part in name_parts(name) if len(part) > 1}
    best = list(dict.fromkeys(names[row] for row in parts.alike(wanted, most=CANDIDATES)))
    return difflib.get_close_matches(name, best, n=NEAREST, cutoff=0.5)


def _indexed(where: str, subsystems: Sequence[str]) -> bool:
    places = [place.strip().strip("/()").split("/")[0] for place in where.split(",")]
    return any(place and any(place == name.split("_")[0] for name in subsystems) for place in places)


def other_version(text: str, version: str) -> str:
    """The kernel version that a question names, where it is not the one indexed; else empty."""
    found = _VERSION.search(text)
    if not found or version.startswith(f"{found.group(1)}.") or version == found.group(1):
        return ""
    return found.group(1)


def missing_note(one: Missing, version: str, indexed: Sequence[str], language: Language) -> str:
    """A sentence about what is not there."""
    places = folders(indexed, language)
    near = _comma(language).join(one.nearest)
    if language == "zh":
        text = f"索引（Linux {version} 的 {places}）中没有 {one.what}{_elsewhere(one.where, language)}。"
        return f"{text}{_NEAR[language]}{near}。" if near else text
    text = f"{one.what} is not in the index ({places} of Linux {version}){_elsewhere(one.where, language)}."
    return f"{text}{_NEAR[language]}{near}." if near else text


def type_note(name: str, version: str, indexed: Sequence[str], language: Language) -> str:
    """A sentence about a structure that the indexed code uses and another directory defines."""
    places = folders(indexed, language)
    if language == "zh":
        return (
            f"{name} 的定义不在索引（Linux {version} 的 {places}）里，多半在 include/ 的头文件中；下面是用到它的代码。"
        )
    return (
        f"The definition of {name} is not in the index ({places} of Linux {version}), it is probably in a header "
        "of include/; what follows is code that uses it."
    )


def _comma(language: Language) -> str:
    return "、" if language == "zh" else ", "


def folders(indexed: Sequence[str], language: Language) -> str:
    """The folders of the subsystems, for a sentence: `kernel/, mm/`."""
    return _comma(language).join(f"{name.replace('_', '/')}/" for name in indexed)


def _elsewhere(where: str, language: Language) -> str:
    """What follows "X is not in the index" where it is known where X is: a folder, or no folder at all."""
    if not where:
        return ""
    if where in _NO_FOLDER:
        return ("，" if language == "zh" else ": ") + _NO_FOLDER[where][language == "zh"]
    return f"，它在 {where.replace(', ', '、')}" if language == "zh" else f": it is in {where}"


def without_nearest(note: str) -> str:
    """A `missing_note` for where the nearest functions are listed anyway."""
    return next((note.partition(near)[0] for near in _NEAR.values() if near in note), note)


def version_note(other: str, version: str, language: Language) -> str:
    if language == "zh":
        return f"问题提到 Linux {other}，这里的源代码是 {version}，函数名和细节可能不同。"
    return f"The question names Linux {other}; the code here is {version}, names and details may differ."
