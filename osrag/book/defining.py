"""Which lines of a book say what a thing is, told by their form alone.

An encoder finds the lines that are about a thing; the one that says what it is, is seldom the nearest of them. But
books of either language introduce a term in few forms: a line opens with it ("A VMM uses …", "写时复制（COW）让 …",
"线程: …" in notes), or names it at the end ("… is called a race").
"""

import re
from functools import lru_cache

from osrag.answer.definition import thing_asked
from osrag.glossary import load_glossary, singular
from osrag.text import sentences
from osrag.types import HAN, Chunk

INTRODUCES, OPENS = 2, 1  # a line says "X is a …" or "called X"; it only begins with X
_HAN = rf"(?-i:[{HAN}])"  # `re` goes through all signs of a class to ignore the case of each: 60 ms for these patterns
_ARTICLE = r"(?:(?:an?|the)\s+)?"
_BRACKETED = re.compile(r"\s*[（(]([^（）()]*)[）)]\s*")
_IN_BRACKETS = r"\s*[（(][^（）()]*[）)]"
# In brackets behind a term its name in the other language, or its letters; behind it with a dash, what it is.
_OTHER_NAME = (
    rf"(?:(?<={_HAN})\s*[（(]\s*[A-Za-z][^（）()]*[）)]|\s*[（(]\s*(?-i:[A-Z]{{2,}}\w*|[{HAN}]{{2,}})\s*[）)]"
    r"|\s*[—–]+\s*\w)"
)
_QUOTE = "[\"“”'‘’「」《》*`_]*"
_MARKER = r"(?:[•·◦▪–*-]\s*|\(?\w{1,3}[.)、]\s+)?"
_PHRASE = r"(?:[^,.;:，。；：]{2,60}[,，]\s*)?"  # "In an operating system, …"
_IS = (
    r"(?:\s+(?:(?:of|in|for)\s[^,.;:]{1,40}?\s)?"
    r"(?:(?:is|are)(?:\s+\w+ly)?\s+(?:an?|the|any|one|that|those|when|where|what|just)"
    r"|means?|refers?\s+to|denotes?|consists?\s+of|stands?\s+for)\b"
    r"|\s*[:：](?=.)|\s*(?:是指|指的?是|就?是(?!否|不是|由|在|如何|怎)|指|即|意味着))"
)
_CALLED = (
    rf"(?:\b(?:called|known\s+as|termed|named|referred\s+to\s+as|that\s+is,|i\.e\.,?)\s+{_ARTICLE}"
    r"|称之?[为作]?|叫[做作]?)\s*"
)
_ALONE = rf"(?:(?<!{_HAN})(?<![\w-])|(?<=[即的和与是为叫称]))"  # not the end of a longer name, as in 命名管道（FIFO）
_NOT_LONGER = r"(?![\w-])(?!\s+(?!because|if|when|since|which|that|is|are|has|have|in)\w)"  # nor its beginning


@lru_cache(64)
def names_of(question: str) -> tuple[str, ...]:
    """Every name of the thing whose meaning is asked for, those of the glossary too; none of another question."""
    thing = thing_asked(question)
    if thing is None or re.search("[?？,，;；]", thing):
        return ()
    bare = [_BRACKETED.sub(" ", thing), *_BRACKETED.findall(thing)]
    own = [re.sub(f"^{_ARTICLE}", "", name.strip().lower()) for name in bare]
    terms = ({*map(str.lower, (*term.zh, *term.en))} for name in own for term in load_glossary().find(name))
    known = [names for names in terms if any({name, singular(name)} & names for name in own)]
    return tuple(sorted(set(filter(None, own)).union(*known)))


def defines(line: str, names: tuple[str, ...]) -> int:
    """How a line speaks of the thing with these `names`: INTRODUCES, OPENS, or 0."""
    if not names:
        return 0
    introduces, opens, _ = _forms(names)
    return INTRODUCES if introduces.search(line) else OPENS if opens.match(line) else 0


def said_in(chunk: Chunk, names: tuple[str, ...]) -> bool:
    """Whether a chunk stands under the name of a thing, or one of its sentences introduces it."""
    if not names:
        return False
    introduces, _, title = _forms(names)
    if chunk.section and title.fullmatch(chunk.section[-1]):
        return True
    if not _named(names).search(" ".join(chunk.text.split())):  # as most are not: it need not be taken apart
        return False
    flat = (" ".join(one.split()) for block in chunk.text.split("\n\n") for one in sentences(block))
    return any(introduces.search(line) for line in flat)


@lru_cache(64)
def _forms(names: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """What a line that introduces a thing holds, how one that opens with it begins, and a title that names it."""
    name = f"{_QUOTE}{_named(names).pattern}{_QUOTE}"
    letters = (
        rf"[^,.;:，。；：()（）]{{2,60}}[（(](?:[^（）()]*[,，]\s*)?{name}(?:[,，][^（）()]*)?[）)]"  # "… access (DMA)"
    )
    introduces = (
        rf"^{_MARKER}{_PHRASE}(?:所谓)?{_ARTICLE}(?:{name}(?:{_IN_BRACKETS})?|{letters}){_IS}"
        rf"|^{_MARKER}{_ARTICLE}{letters}|{_ALONE}{name}{_OTHER_NAME}|{_CALLED}{name}{_NOT_LONGER}"
    )
    opens = rf"{_MARKER}(?:in\s+)?{_ARTICLE}{name}(?=[,，]|{_HAN}|\s+\w)"
    title = rf"[\W\d]*{_ARTICLE}{name}(?:{_IN_BRACKETS})?"
    return re.compile(introduces, re.I), re.compile(opens, re.I), re.compile(title, re.I)


@lru_cache(64)
def _named(names: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the names, the longest first."""
    return re.compile(f"(?:{'|'.join(sorted(map(_pattern, names), key=len, reverse=True))})", re.I)


def _pattern(name: str) -> str:
    """A name in the singular or the plural, with blanks, hyphens or neither."""
    if re.search(f"[{HAN}]", name):
        return re.escape(name)
    words = [re.escape(singular(word)) for word in re.split(r"[\s-]+", name) if word]
    forms = [f"{word[:-1]}(?:y|ies)" if word.endswith("y") else f"{word}(?:e?s)?" for word in words]
    return r"\b" + r"[\s-]?".join(forms) + r"\b"
