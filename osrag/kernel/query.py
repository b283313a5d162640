"""A question as kernel search reads it: its words, their English, the identifiers it names, what is not there."""

import difflib
import functools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from osrag.glossary import Glossary, Term, load_glossary
from osrag.kernel.describe import BODY, CHINESE, DATA, WORDS, chinese_tokens, name_parts, name_words, read_tsv
from osrag.kernel.store import NameParts
from osrag.text import STOP_EN, identifiers, language_of, tokens, unique
from osrag.types import HAN, Language
from osrag.wording import say

_HAN = re.compile(f"[{HAN}]")
_LATIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = re.compile(r"`([A-Za-z_]\w*)`")
_BEFORE_NAME = re.compile(
    r"(?:function|macro|struct|structure|syscall|system call|函数|结构体?|宏|系统调用|\bcalls?|调用了?)\s+$", re.I
)
_AFTER_NAME = re.compile(r"^\s*(?:function\b|macro\b|\(\)|函数|结构体|宏|[会都]?调用)", re.I)
_TYPE = re.compile(
    r"\b(?:struct|union|enum)\s+`?([A-Za-z_]\w*)|`?\b([A-Za-z_]\w*)`?\s*(?:structure\b|结构|联合体|枚举)"
    r"|(?:结构体?|联合体|枚举)\s*`?([A-Za-z_]\w*)"
)
_FUNCTION_ASKED = re.compile(r"\b(?:functions?|routines?|syscalls?)\b|函数|系统调用", re.I)
_OF_TYPES = frozenset(tokens("struct structure union enum field member"))
_MEMBERS = re.compile(r"\b(?:fields?|members?)\b|字段|成员")
_RELATION = re.compile(r"\bcall(?:s|ed|er|ers|ee|ees)?\b|\binvoke[sd]?\b|委托|调用")
_NAME = r"`?[A-Za-z_]\w*(?:\(\))?`?"
_CALLERS_ASKED = re.compile(
    rf"\bcallers? of\b|\b(?:functions?|what|who|which) (?:calls?|invokes?) {_NAME}"
    rf"|\bwhere is {_NAME} (?:called|invoked)"
    rf"|(?:谁|哪里|函数|什么|地方)[会里都]?调用了?\s*{_NAME}|{_NAME}\s*(?:函数)?[是会在]?(?:[被由]|哪里|哪儿)\S*调用|调用\s*{_NAME}\s*的",
    re.I,
)
_CALLEES_ASKED = re.compile(
    rf"\bcallees? of\b|\b(?:called|invoked) by\b|\b(?:does|do) {_NAME} (?:call|invoke)\b(?! \w)"
    rf"|{_NAME}\s*(?:函数)?[会都又里中先后依次]*调用了?(?:哪|什么|谁)|被\s*{_NAME}\s*调用",
    re.I,
)
Relation = Literal["", "either", "callers", "callees"]  # what is asked for, of the functions that are named
_EVERYDAY = DATA / "kernel_words.tsv"  # 暂停: suspend, pause, throttle
_ASK = DATA / "kernel_ask.txt"  # words of asking: "which function", 哪个函数; they say nothing about the topic


@dataclass(frozen=True, slots=True)
class KernelQuestion:
    """What a search asks each field for."""

    text: str
    language: Language
    bridge: str  # the question's terms in English; the question itself where it is English
    names: tuple[str, ...]  # identifiers that are asked for, as written
    certain: tuple[str, ...]  # of these, what can be nothing but a name, by its look or by quotes
    types: tuple[str, ...]  # of these, what is asked for as a structure
    suggested: tuple[str, ...]  # identifiers that a model added; they may be wrong
    words: tuple[str, ...]  # d:, English words
    guessed: tuple[str, ...]  # d:, English words guessed from single Chinese words
    chinese: tuple[str, ...]  # z:
    synonyms: tuple[str, ...]  # z:, other Chinese words for the same
    idents: tuple[str, ...]  # b:, identifiers of the terms, whole
    relation: Relation  # asks who calls whom


def read_question(text: str, *, extra: Sequence[str] = (), glossary: Glossary | None = None) -> KernelQuestion:
    """Analyse a question. `extra` are further English terms or identifiers of a language model."""
    terms = (glossary or load_glossary()).find(text)
    more = " ".join(extra)
    latin = _LATIN.findall(text)
    english = [term.en[0] for term in terms]
    reverse = _reverse(text, terms) if _HAN.search(text) else []
    own = [token for token in tokens(text) if not _HAN.search(token)]
    words = _topical([*own, *(token for name in english for token in tokens(name))])
    guessed = _topical(tokens(" ".join([*(word for meaning in reverse for word in meaning.words), more])))
    chinese = _topical(chinese_tokens(text))
    synonyms = chinese_tokens(" ".join(name for meaning in reverse for name in meaning.chinese))
    idents = [ident for term in terms for ident in term.idents]
    names = _names(text)
    types = _types(text, names)
    if types:  # "struct" says what is asked for, not what it is about
        words = [word for word in words if word not in _OF_TYPES]
    bridge = _bridge(text, english, latin, reverse) if _HAN.search(text) else text
    return KernelQuestion(
        text=text,
        language=language_of(text),
        bridge=f"{bridge} {more}".strip(),
        names=names,
        certain=tuple(_certain_names(text)),
        types=types,
        suggested=tuple(name for name in dict.fromkeys(_suggested(extra)) if name not in names),
        words=tuple(WORDS + word for word in words),
        guessed=tuple(WORDS + word for word in guessed if word not in words),
        chinese=tuple(chinese),
        synonyms=tuple(word for word in _topical(synonyms) if word not in chinese),
        idents=tuple(BODY + ident.lower() for ident in dict.fromkeys([*idents, *latin]) if len(ident) > 2),
        relation=_relation(text),
    )


def _topical(found: Iterable[str]) -> list[str]:
    """Tokens without repeats and without words of asking."""
    return [token for token in dict.fromkeys(found) if token.removeprefix(CHINESE) not in _ask_words()]


def _suggested(extra: Sequence[str]) -> list[str]:
    """Names among what a model added: what looks like code, and single words."""
    found = [name for item in extra for name in identifiers(item)]
    return [*found, *(item for item in extra if _LATIN.fullmatch(item))]


@functools.cache
def _ask_words() -> frozenset[str]:
    words = _ASK.read_text(encoding="utf-8").split()
    return frozenset([*words, *tokens(" ".join(words))])


def _relation(text: str) -> Relation:
    if not _RELATION.search(text):
        return ""
    callers, callees = bool(_CALLERS_ASKED.search(text)), bool(_CALLEES_ASKED.search(text))
    if callers == callees:
        return "either"
    return "callers" if callers else "callees"


def _names(text: str) -> tuple[str, ...]:
    """Words that may be names of code: by their look, by quotes, by the word beside them."""
    found = _certain_names(text)
    for match in _LATIN.finditer(text):
        beside = _BEFORE_NAME.search(text[: match.start()]) or _AFTER_NAME.match(text[match.end() :])
        if beside and match.group().lower() not in STOP_EN:
            found.append(match.group())
    return tuple(dict.fromkeys(found))


def _certain_names(text: str) -> list[str]:
    return list(dict.fromkeys([*identifiers(text), *_QUOTED.findall(text)]))


def _types(text: str, names: Sequence[str]) -> tuple[str, ...]:
    """Of the names, those called a structure, or whose fields are asked for; none where a function is asked for."""
    if _FUNCTION_ASKED.search(text):
        return ()
    called = {name for found in _TYPE.findall(text) for name in found}
    return tuple(name for name in names if name in called or _MEMBERS.search(text))


def _bridge(text: str, english: Sequence[str], latin: Sequence[str], reverse: Sequence["_Meaning"]) -> str:
    """A Chinese question in English words; enough for an encoder that reads English descriptions best."""
    return " ".join(unique([*english, *latin, *(meaning.english for meaning in reverse)])) or text


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a single Chinese word may mean."""

    english: str  # the usual word
    words: tuple[str, ...]  # all of them, and parts of names
    chinese: tuple[str, ...]  # other Chinese words for the same, as descriptions use them


@functools.cache
def _meanings() -> dict[str, _Meaning]:
    """Chinese word -> its meaning: from the parts of names, and from the words of everyday Chinese."""
    parts = name_words()
    english: dict[str, list[str]] = defaultdict(list)
    words: dict[str, list[str]] = defaultdict(list)
    for part, (gloss, chinese) in parts.items():
        for name in chinese.split("|"):
            english[name].append(gloss)
            words[name].append(part)
    for line in _EVERYDAY.read_text(encoding="utf-8").splitlines()[1:]:
        chinese, said = line.split("\t")
        for name in chinese.split("|"):
            english[name].append(said.split()[0])
            words[name] += said.split()
    usual = {part: chinese.split("|")[0] for part, (_, chinese) in parts.items()}
    return {
        name: _Meaning(
            english[name][0],
            tuple(dict.fromkeys(found)),
            tuple(dict.fromkeys(usual[word] for word in found if usual.get(word, name) != name)),
        )
        for name, found in words.items()
    }


def _reverse(text: str, terms: Sequence[Term]) -> list[_Meaning]:
    """Meanings of the Chinese words that are in no term, by the longest match."""
    rest = text
    for term in terms:
        for name in term.zh:
            rest = rest.replace(name, " ")
    known = _meanings()
    found, at = [], 0
    while at < len(rest):
        for size in (4, 3, 2):
            piece = rest[at : at + size]
            if len(piece) == size and piece in known:
                found.append(known[piece])
                at += size
                break
        else:
            at += 1
    return found


NEAREST = 3
CANDIDATES = 80  # names whose spelling is compared
_VERSION = re.compile(r"(?:linux|kernel|内核|版本|\bv)\s*-?\s*v?(\d+\.\d+)(?:\.\d+)?(?!\d)", re.I)

# `where` of what lies in no folder of the kernel -> the text that says so.
_NO_FOLDER = {
    "not Linux": "kernel_where_not_linux",
    "user space, not the kernel": "kernel_where_user_space",
    "a textbook algorithm that Linux does not implement": "kernel_where_textbook",
}

LANGUAGES: tuple[Language, ...] = ("zh", "en")
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


@dataclass(frozen=True, slots=True)
class Missing:
    """Code that is asked for and is not in the index."""

    what: str  # as the question names it
    where: str  # where it lies instead: "fs/", "drivers/", "not part of Linux"; empty if unknown
    nearest: tuple[str, ...]  # names in the index


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
    """A sentence about what is not there, and one with the nearest names, where there are any."""
    folder = one.where.replace(", ", "、" if language == "zh" else ", ")
    where = say(_NO_FOLDER.get(one.where, "kernel_where_folder"), language, folder=folder) if one.where else ""
    places = folders(indexed, language)
    text = say("kernel_missing", language, name=one.what, version=version, folders=places, where=where)
    return text + (say("kernel_missing_near", language, names=_listed(one.nearest, language)) if one.nearest else "")


def without_nearest(note: str) -> str:
    """A `missing_note`, in either language, for where the nearest functions are listed anyway."""
    for language in LANGUAGES:
        note = note.partition(say("kernel_missing_near", language, names="").rstrip(".。"))[0]
    return note


def type_note(name: str, version: str, indexed: Sequence[str], language: Language) -> str:
    """A sentence about a structure that the indexed code uses and another directory defines."""
    return say("kernel_type_elsewhere", language, name=name, version=version, folders=folders(indexed, language))


def version_note(other: str, version: str, language: Language) -> str:
    """A sentence about a question that names another version of the kernel."""
    return say("kernel_other_version", language, other=other, version=version)


def folders(indexed: Sequence[str], language: Language) -> str:
    """The folders of the subsystems, for a sentence: `kernel/, mm/`."""
    return _listed([f"{name.replace('_', '/')}/" for name in indexed], language)


def _listed(names: Sequence[str], language: Language) -> str:
    return ("、" if language == "zh" else ", ").join(names)
