"""A question as kernel search sees it: its words, their English, the identifiers it names."""

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from osrag.glossary import Glossary, Term, load_glossary
from osrag.kernel.describe_lore import DATA, name_words
from osrag.kernel.describe_tokens import BODY, CHINESE, WORDS, chinese_tokens
from osrag.text import HAN, STOP_EN, identifiers, language_of, tokens, unique
from osrag.types import Language

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
_ONE_CHARACTER = frozenset("读写页锁栈堆组树槽阶池睡醒杀拉借抢忙偷")  # Chinese words of one sign that are looked up
REVERSED_WEIGHT = 0.5  # of an English word guessed from a single Chinese word, or added by a model
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
    loose: tuple[str, ...]  # other Latin words, which may be names as well
    words: tuple[str, ...]  # d:, English words
    guessed: tuple[str, ...]  # d:, English words guessed from single Chinese words
    chinese: tuple[str, ...]  # z:
    synonyms: tuple[str, ...]  # z:, other Chinese words for the same
    idents: tuple[str, ...]  # b:, identifiers of the terms, whole
    ident_parts: tuple[str, ...]  # parts of them
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
    parts = dict.fromkeys(token for ident in idents for token in tokens(" ".join(_parts(ident))))
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
        loose=tuple(word for word in dict.fromkeys(latin) if word not in names and len(word) > 1),
        words=tuple(WORDS + word for word in words),
        guessed=tuple(WORDS + word for word in guessed if word not in words),
        chinese=tuple(chinese),
        synonyms=tuple(word for word in _topical(synonyms) if word not in chinese),
        idents=tuple(BODY + ident.lower() for ident in dict.fromkeys([*idents, *latin]) if len(ident) > 2),
        ident_parts=tuple(parts),
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


def _parts(name: str) -> list[str]:
    return re.findall(r"[a-z]+", name.lower())


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
        for size in (4, 3, 2, 1):
            piece = rest[at : at + size]
            if len(piece) == size and piece in known and (size > 1 or piece in _ONE_CHARACTER):
                found.append(known[piece])
                at += size
                break
        else:
            at += 1
    return found
