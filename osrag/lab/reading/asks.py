"""What a question asks for: the figures named in the clauses that ask."""

import functools
from typing import Any, get_args

from osrag.lab.kind import Kind
from osrag.lab.reading import ascii as re
from osrag.lab.reading.cues import matches, words
from osrag.lab.words import table

_SENTENCES = re.compile(r"(?<=[?？。])|(?<=[.;；])\s+|\n\s*\n")
_CLAUSES = re.compile(r"(?<!\d)[,，:：]|[,，:：](?!\d)")  # of Chinese
_CONDITION = re.compile(r"\s*(?:if|when|assum\w+|suppose|given|using|with|under|for|after)\b[^,]{0,200},", re.I)
_DEFINITION = re.compile(  # the fault rate, defined as the number of faults per access, is asked for, not that number
    r",?\s*(?:(?:which|that) )?(?:is )?defined (?:as|to be)[^.?]{0,160}?(?=,|\b(?:is|are|if|for|when)\b|[.?_]|$)"
    r"|(?:定义为|是指|即)[^,，。?？]{0,40}之比",
    re.I,
)
_QUESTION = re.compile(
    r"[?？]|_{2,}|[(（]\s*[)）]|\b(?:find|compute|calculate|determine|give|what|how|which|list|count|show|draw)\b"
    r"|(?<![请要需])求|计算(?!机|\s*\d)|多少|多[大长久]|哪|是否|试|几(?!乎)|列出|给出|何时|画出|写出|能否|吗|什么|\b(?:is|are|equals?|be)\s*[:.]?\s*$|[为是]\s*[:：。]?\s*$",
    re.I,
)


def asked(kind: Kind[Any], text: str) -> list[str]:
    """The figures of `kind` that the text asks for, in order: of the clauses that ask, else of their sentences."""
    field = kind.parameters.model_fields.get("ask")
    if field is None:
        return []
    known = get_args(field.annotation)
    asking = asking_sentences(text)
    plainer = [_without_brackets(each) for each in asking]
    clauses = [
        _CONDITION.sub("", clause) if _CONDITION.match(clause) else clause
        for each in plainer
        for clause in (_CLAUSES.split(each) if re.search(r"[\u4e00-\u9fff]", each) else [each])
        if _QUESTION.search(clause)
    ]
    for parts in (clauses, plainer, asking, [text]):
        if found := list(dict.fromkeys(ask for part in parts for ask in _named(kind.name, known, part))):
            return found
    return []


def asking_sentences(text: str) -> list[str]:
    """The sentences that ask."""
    return [each for each in _SENTENCES.split(text) if each and _QUESTION.search(each)]


def _without_brackets(text: str) -> str:
    """The text without what stands in brackets and what defines a word, which seldom ask for anything."""
    return _DEFINITION.sub(" ", re.sub(r"[(（][^()（）]{0,80}[)）]", " ", text))


@functools.cache
def _own_names(ask: str) -> tuple[str, ...]:
    """The lab's own names of a figure, Chinese and English."""
    names = [name for key in (ask, f"{ask}_of") for name in table()["results"].get(key, {}).values()]
    return tuple(
        re.sub(r"\\{\w+\\}", "…", re.escape(re.sub(r"\s*[(（].*[)）]", "", name)).replace(r"\ ", " ")) for name in names
    )


def _named(kind: str, known: tuple[str, ...], part: str) -> list[str]:
    """The figures that a clause names; of two that overlap the one whose words say more."""
    forms = words()["asks"]
    spots = [
        (*spot, ask)
        for ask in known
        for spot in matches((*(forms.get(f"{kind}.{ask}") or forms.get(ask, ())), *_own_names(ask)), part, wide=True)
    ]
    kept: list[tuple[int, int, str]] = []
    for _, start, end, ask in sorted(spots, key=lambda spot: (-spot[0], spot[1])):
        if all(end <= other_start or other_end <= start for other_start, other_end, _ in kept):
            kept.append((start, end, ask))
    return list(dict.fromkeys(ask for _, _, ask in sorted(kept)))
