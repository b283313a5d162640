"""What kernel search takes from a question: words to search for, names of code, and what the index does not hold."""

import functools
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import Literal

from osrag.glossary import Term, load_glossary
from osrag.kernel.describe import DATA, chinese_tokens, name_words, read_tsv
from osrag.kernel.store import KernelStore
from osrag.text import STOP_EN, identifiers, tokens, unique
from osrag.types import HAN, Language
from osrag.wording import say

_HAN = re.compile(f"[{HAN}]")
_LATIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"`([A-Za-z_]\w*)`")
# A name is tried where a word begins and nowhere inside it, and ends with the word: else a long word costs its square.
_WORD = r"(?<![A-Za-z0-9_])[A-Za-z_][A-Za-z0-9_]*+"
# Words that the word beside them makes a name: "the function brk", `schedule 函数`.
_INTRODUCED = re.compile(
    rf"(?:function|macro|struct(?:ure)?|syscall|system call|函数|结构体?|宏|系统调用|\bcalls?|调用了?)\s++({_WORD})"
    rf"|({_WORD})(?=\s*+(?:function\b|macro\b|\(\)|函数|结构体|宏|[会都]?调用))",
    re.I,
)
_ABOUT_TYPE = re.compile(r"\b(?:struct(?:ure)?|union|enum|fields?|members?)\b|结构|联合体|枚举|字段|成员", re.I)
_ABOUT_FUNCTION = re.compile(r"\b(?:functions?|routines?|syscalls?)\b|函数|系统调用", re.I)
_RELATION = re.compile(r"\bcall(?:s|ed|er|ers|ee|ees)?\b|\binvoke[sd]?\b|委托|调用")
_NAME = rf"`?{_WORD}(?:\(\))?`?"
_CALLERS_WANTED = re.compile(
    rf"\bcallers? of\b|\b(?:functions?|what|who|which) (?:calls?|invokes?) {_NAME}"
    rf"|\bwhere is {_NAME} (?:called|invoked)"
    rf"|(?:谁|哪里|函数|什么|地方)[会里都]?调用了?\s*{_NAME}|{_NAME}\s*(?:函数)?[是会在]?(?:[被由]|哪里|哪儿)\S{{0,20}}调用|调用\s*{_NAME}\s*的",
    re.I,
)
_CALLEES_WANTED = re.compile(
    rf"\bcallees? of\b|\b(?:called|invoked) by\b|\b(?:does|do) {_NAME} (?:call|invoke)\b(?! \w)"
    rf"|{_NAME}\s*(?:函数)?[会都又里中先后依次]*+调用了?(?:哪|什么|谁)|被\s*{_NAME}\s*调用",
    re.I,
)
Relation = Literal["", "either", "callers", "callees"]
# Names without code that are told of; looking for the nearest ones takes 25 ms each. A question has one or two.
MOST_MISSING = 5
_EVERYDAY = DATA / "kernel_words.tsv"  # ordinary Chinese words with their English: 暂停 is suspend, pause, throttle


@dataclass(frozen=True, slots=True)
class KernelQuestion:
    """The parts of a question that search uses, each for another field of the index."""

    text: str
    bridge: str  # the question in English words; an English question as it is
    names: tuple[str, ...]  # words that may be names of code, as written
    certain: tuple[str, ...]  # those of them that can be nothing else, because of their look or of quotes
    about_type: bool  # whether the question is about a structure and not about a function
    suggested: tuple[str, ...]  # names that a model added; they may be wrong
    words: tuple[str, ...]  # English search tokens
    guessed: tuple[str, ...]  # English search tokens guessed from single Chinese words, or added by a model
    chinese: tuple[str, ...]  # Chinese search tokens, with the prefix of their field
    idents: tuple[str, ...]  # identifiers in lower case that may stand in the code
    relation: Relation  # whether the question is about who calls the named functions, or whom they call


def read_question(text: str, *, extra: Sequence[str] = ()) -> KernelQuestion:
    """Analyse a question. `extra` holds English terms or identifiers that a language model added."""
    terms = load_glossary().find(text)
    more = " ".join(extra)
    latin = _LATIN.findall(text)
    english = [term.en[0] for term in terms]
    meanings = _guessed_meanings(text, terms)
    words = dict.fromkeys(word for word in tokens(f"{text} {' '.join(english)}") if not _HAN.search(word))
    guessed = dict.fromkeys(tokens(" ".join([*(word for meaning in meanings for word in meaning), more])))
    certain = tuple(dict.fromkeys([*identifiers(text), *_QUOTED.findall(text)]))
    introduced = (name for pair in _INTRODUCED.findall(text) for name in pair if name and name.lower() not in STOP_EN)
    names = tuple(dict.fromkeys([*certain, *introduced]))
    suggested = [*(name for item in extra for name in identifiers(item)), *filter(_LATIN.fullmatch, extra)]
    idents = dict.fromkeys([*(ident for term in terms for ident in term.idents), *latin])
    bridge = _bridge(text, [*english, *latin, *(meaning[0] for meaning in meanings)])
    return KernelQuestion(
        text=text,
        bridge=f"{bridge} {more}".strip(),
        names=names,
        certain=certain,
        about_type=bool(_ABOUT_TYPE.search(text)) and not _ABOUT_FUNCTION.search(text),
        suggested=tuple(name for name in dict.fromkeys(suggested) if name not in names),
        words=tuple(words),
        guessed=tuple(word for word in guessed if word not in words),
        chinese=tuple(dict.fromkeys(chinese_tokens(text))),
        idents=tuple(ident.lower() for ident in idents if len(ident) > 2),
        relation=_relation(text),
    )


def _relation(text: str) -> Relation:
    """Which side of a call the question wants; "either" if it speaks of calls and does not say."""
    if not _RELATION.search(text):
        return ""
    callers, callees = bool(_CALLERS_WANTED.search(text)), bool(_CALLEES_WANTED.search(text))
    if callers == callees:
        return "either"
    return "callers" if callers else "callees"


def _bridge(text: str, english: Sequence[str]) -> str:
    """A Chinese question as its `english` words: an encoder matches English descriptions best with English."""
    return (" ".join(unique(english)) if _HAN.search(text) else "") or text


@functools.cache
def _meanings() -> dict[str, list[str]]:
    """Chinese word -> what it may mean in English, the usual word first; parts of names are among the words."""
    meanings: dict[str, list[str]] = defaultdict(list)
    for part, (gloss, chinese) in name_words().items():
        for name in chinese.split("|"):
            meanings[name] += (gloss, part)
    for line in _EVERYDAY.read_text(encoding="utf-8").splitlines()[1:]:
        chinese, english = line.split("\t")
        for name in chinese.split("|"):
            meanings[name] += english.split()
    return {name: english for name, english in meanings.items() if len(name) > 1}


@functools.cache
def _meaningful() -> re.Pattern[str]:
    """Any Chinese word with a known meaning, the longest first."""
    return re.compile("|".join(re.escape(name) for name in sorted(_meanings(), key=len, reverse=True)))


def _guessed_meanings(text: str, terms: Sequence[Term]) -> list[list[str]]:
    """The meanings of the Chinese words that belong to no term of the glossary."""
    for term in terms:
        for name in term.zh:
            text = text.replace(name, " ")
    return [_meanings()[name] for name in _meaningful().findall(text)]


_PLACE = re.compile(r"\bin ((?:arch|fs|include)/\S*)")  # in a note about a name of another version
_VERSION = re.compile(r"(?:linux|kernel|内核|版本|\bv)\s*+(?:-\s*+)?v?(\d+\.\d+)(?:\.\d+)?(?!\d)", re.I)

# Places that are no folder of the kernel -> the text that says so.
_NO_FOLDER = {
    "renamed": "kernel_where_renamed",
    "replaced": "kernel_where_renamed",
    "not Linux": "kernel_where_not_linux",
    "user space, not the kernel": "kernel_where_user_space",
    "a textbook algorithm that Linux does not implement": "kernel_where_textbook",
}


@dataclass(frozen=True, slots=True)
class Outside:
    """A subject that the index may not cover: ext4, Windows, a textbook algorithm."""

    pattern: re.Pattern[str]
    where: str  # "fs/", "drivers/net/", "not Linux"
    nearest: tuple[str, ...]  # related functions that the index has


@functools.cache
def outside_subjects() -> tuple[Outside, ...]:
    """The table of subjects outside the usual subsystems."""
    return tuple(
        Outside(_any_of(words.split("|")), where, tuple(nearest.split()))
        for words, where, nearest in read_tsv(DATA / "kernel_outside.tsv")
    )


def _any_of(words: Sequence[str]) -> re.Pattern[str]:
    """A pattern for any of the words; `tlb & ipi` is from the one word to the other, in either order."""
    parts: list[str] = []
    for word in words:
        both = [_one_of(part) for part in word.split(" & ")]
        parts += [".*?".join(order) for order in permutations(both)]
    return re.compile("|".join(parts), re.I)


def _one_of(word: str) -> str:
    """A pattern for a word; a Latin one matches as a whole word, plural or not."""
    return rf"(?<![A-Za-z0-9]){re.escape(word)}s?(?![A-Za-z0-9])" if word.isascii() else re.escape(word)


def without_joined(text: str, what: str) -> str:
    """A question without one of the things that it joins: "timerfd or nanosleep" without timerfd."""
    joined = r"\s*(?:\b(?:or|and)\b|[/,、]|或者?|和|与|以及)\s*"
    return re.sub(rf"{re.escape(what)}{joined}|{joined}{re.escape(what)}", "", text, count=1)


@functools.cache
def renamed() -> dict[str, tuple[str, str]]:
    """Name in books and other kernel versions -> (name in this one, where it comes from)."""
    return {old: (new, note) for old, new, note in read_tsv(DATA / "kernel_renamed.tsv")}


@dataclass(frozen=True, slots=True)
class Missing:
    """Code that a question is about and that the index does not hold."""

    what: str  # as the question names it
    where: str  # where it lies instead: "fs/", "drivers/", "not part of Linux"; empty if unknown
    nearest: tuple[str, ...]  # names in the index


def find_missing(question: KernelQuestion, store: KernelStore) -> list[Missing]:
    """What the question names, or has as its subject, and the index does not hold.

    A structure or a flag from elsewhere that the indexed code uses is not missing.
    """
    absent = [
        name for name in question.certain if not store.named(name) and (name in renamed() or not store.mentions(name))
    ][:MOST_MISSING]
    missing = {name: _missing_name(name, store) for name in absent}
    for subject in outside_subjects():
        found = subject.pattern.search(question.text)
        if found and not _indexed(subject.where, store.subsystem_names) and not store.named(found.group()):
            missing.setdefault(found.group(), Missing(found.group(), subject.where, subject.nearest))
    return list(missing.values())


def _missing_name(name: str, store: KernelStore) -> Missing:
    """What is known about a name that the index does not hold."""
    known = renamed().get(name) or renamed().get(re.sub(r"^__(?:x64|ia32|arm64|se|do)_", "", name))
    if known:
        new, note = known
        place = _PLACE.search(note)
        return Missing(name, place[1] if place else note if note in _NO_FOLDER else "", (new,))
    outside = next((one for one in outside_subjects() if one.pattern.search(name.replace("_", " "))), None)
    if outside:
        return Missing(name, outside.where, outside.nearest)
    return Missing(name, "", tuple(store.nearest_names(name)))


def _indexed(where: str, subsystems: Sequence[str]) -> bool:
    """Whether one of the folders in `where` belongs to an indexed subsystem."""
    places = [place.strip().strip("/()").split("/")[0] for place in where.split(",")]
    return any(place and any(place == name.split("_")[0] for name in subsystems) for place in places)


def other_version(text: str, version: str) -> str:
    """The kernel version that a question names, if it is not the indexed one; else empty."""
    found = _VERSION.search(text)
    if not found or version.startswith(f"{found.group(1)}.") or version == found.group(1):
        return ""
    return found.group(1)


def missing_note(one: Missing, version: str, indexed: Sequence[str], language: Language) -> str:
    """A sentence about what the index does not hold, and one with the nearest names, if there are any."""
    folder = one.where.replace(", ", "、" if language == "zh" else ", ")
    where = say(_NO_FOLDER.get(one.where, "kernel_where_folder"), language, folder=folder) if one.where else ""
    places = folders(indexed, language)
    text = say("kernel_missing", language, name=one.what, version=version, folders=places, where=where)
    return text + (say("kernel_missing_near", language, names=_listed(one.nearest, language)) if one.nearest else "")


def without_nearest(note: str) -> str:
    """A `missing_note` without its second sentence, in either language."""
    for language in ("zh", "en"):
        note = note.partition(say("kernel_missing_near", language, names="").rstrip(".。"))[0]
    return note


def folders(indexed: Sequence[str], language: Language) -> str:
    """The folders of the subsystems as a list inside a sentence: `kernel/, mm/`."""
    return _listed([f"{name.replace('_', '/')}/" for name in indexed], language)


def _listed(names: Sequence[str], language: Language) -> str:
    return ("、" if language == "zh" else ", ").join(names)
