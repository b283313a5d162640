"""Do the functions of an answer support a claim? Names, calls, words, numbers.

A claim is bound to the function it speaks of. It is marked when it names something that the code shown does not have,
when it says of two functions that one calls the other and the call graph does not, or when it says more in words of its
own than the code and its comments say. What each rule is worth stands in docs/experiments/ablation.md.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from osrag.answer.claims import Support
from osrag.glossary import load_glossary
from osrag.kernel.describe import described, name_in_words
from osrag.kernel.rows import CALLERS
from osrag.numbers import numbers_in
from osrag.text import identifiers, tokens
from osrag.types import CodeChunk, Passage

# Fixed on generated claims that were read one by one; too low lets inventions pass, too high marks paraphrases.
MIN_SHARE = 0.65  # of the words of a claim, in what is said of the functions it names
WINDOW = 6  # lines of code that count as one place
CLOSE = 60  # characters between two names from which "A calls B" is no longer read

# Words of an explanation that say nothing about the code, as `tokens` makes them.
_FREE = frozenset(("call", "invok", "function", "through", "调用", "通过", "函数"))
_WORD = re.compile(r"[A-Za-z_]\w*")
_TICKED = re.compile(r"`([^`\n]+)`")
_CALLS = re.compile(r"\bcalls?\b|\bcalling\b|\binvok(?:es?|ing)\b|(?<!被)调用|通过")
_CALLED_BY = re.compile(r"\b(?:called|invoked)\s+(?:by|from)\b")
_THEN = re.compile(r"\bthen\b|\bbefore\b|再|然后|随后|接着")  # what stands before it comes first
_AFTER = re.compile(r"\bafter\b")


class CodeEvidence:
    """What the functions of one answer hold: their names and calls, and what is said about them.

    `about` tells what further functions are for, which the ones shown call; `told` are those that the prompt described,
    so that a claim without names may speak of them.
    """

    def __init__(
        self, passages: Sequence[Passage], about: Mapping[str, CodeChunk] | None = None, told: Sequence[str] = ()
    ) -> None:
        self.told = tuple(told)
        self.chunks = {passage.number: passage.chunk for passage in passages if isinstance(passage.chunk, CodeChunk)}
        self.number_of = {chunk.name: number for number, chunk in reversed(self.chunks.items())}
        self.about = {chunk.name: chunk for chunk in self.chunks.values()} | dict(about or {})
        self._names = {number: _names(chunk) for number, chunk in self.chunks.items()}
        # Every claim of an answer needs the same functions.
        self.said_of = functools.cache(self._said_of)
        self.windows = functools.cache(self._windows)

    def knows(self, name: str) -> bool:
        """Whether a name is that of a described function, or stands in the text of one that is shown."""
        return name in self.about or any(name in names for names in self._names.values())

    def holding(self, names: Sequence[str]) -> list[int]:
        """Functions whose text has one of the names."""
        return [number for number, held in self._names.items() if any(name in held for name in names)]

    def _said_of(self, name: str) -> frozenset[str]:
        """Words of the name and of the description of a function, in both languages."""
        text = " ".join((*name_in_words(name), name))
        if name in self.about:
            description = described(self.about[name])
            terms = " ".join(" ".join((*term.zh, *term.en)) for term in load_glossary().find(description))
            text = f"{text} {description} {terms}"
        return frozenset(tokens(text))

    def _windows(self, number: int) -> list[frozenset[str]]:
        """Words of each few lines of a function, code and comment together, with what their names stand for."""
        rows = self.chunks[number].text.split("\n")
        windows = []
        for at in range(0, len(rows), WINDOW // 2):
            text = "\n".join(rows[at : at + WINDOW])
            meant = " ".join(" ".join(name_in_words(name)) for name in _WORD.findall(text))
            windows.append(frozenset(tokens(f"{text}\n{meant}")))
        return windows


def check_code(text: str, evidence: CodeEvidence, *, question: str = "") -> Support:
    """The function that supports the claim `text`; `passage` is None if none does."""
    names = named(text, evidence)
    if any(not evidence.knows(name) for name in names):
        return Support(None, 0.0, "name")
    if not _calls_hold(text, names, evidence):
        return Support(None, 0.0, "calls")
    if not _order_holds(text, names, evidence):
        return Support(None, 0.0, "order")
    spelled = {token for name in names for token in tokens(name)}
    words = [word for word in dict.fromkeys(tokens(text)) if word not in spelled and word not in _FREE]
    about = list(dict.fromkeys(evidence.number_of[name] for name in names if name in evidence.number_of))
    candidates = about or evidence.holding(names) or list(evidence.chunks)
    if not candidates or (not words and not names):
        return Support(None, 0.0, "words")
    common = frozenset().union(*(evidence.said_of(name) for name in names or evidence.told))
    shares = {number: _share(words, common, number, evidence) for number in candidates}
    best = max(candidates, key=shares.__getitem__)
    if shares[best] < MIN_SHARE:
        return Support(None, shares[best], "words")
    if not about:
        same = [n for n in candidates if shares[n] >= MIN_SHARE and _speaks_of_the_same(text, n, evidence)]
        if not same:
            return Support(None, shares[best], "subject")
        best = max(same, key=shares.__getitem__)
    shown = " ".join([*(one.text for one in evidence.chunks.values()), described(evidence.chunks[best]), question])
    if not set(numbers_in(_WORD.sub(" ", text))) <= set(numbers_in(shown)):
        return Support(None, shares[best], "number")
    return Support((about or [best])[0], shares[best], "")


def _share(words: Sequence[str], common: frozenset[str], number: int, evidence: CodeEvidence) -> float:
    """Share of the words that the descriptions of what is named, of this function, and one place in it hold."""
    base = common | evidence.said_of(evidence.chunks[number].name)
    left = [word for word in words if word not in base]
    if not left:
        return 1.0
    place = max((sum(word in window for word in left) for window in evidence.windows(number)), default=0)
    return (len(words) - len(left) + place) / len(words)


def named(text: str, evidence: CodeEvidence) -> list[str]:
    """Names of code in a claim: what looks like one, what stands in backticks, what the evidence defines."""
    found = identifiers(text)
    for ticked in _TICKED.findall(text):
        found += [word for word in _WORD.findall(ticked) if len(word) > 2 or "_" in word]
    found += [word for word in _WORD.findall(text) if "_" in word and word in evidence.number_of]
    return list(dict.fromkeys(found))


def _calls_hold(text: str, names: Sequence[str], evidence: CodeEvidence) -> bool:
    """Whether every "A calls B" of a claim is in the call graph, as far as A or B is shown."""
    for caller, between, callee, behind in _close_by(text, names):
        if _CALLED_BY.search(between) or ("被" in between and behind.startswith("调用")):
            caller, callee = callee, caller
        elif not _CALLS.search(between):
            continue
        if not _is_call(caller, callee, evidence):
            return False
    return True


def _order_holds(text: str, names: Sequence[str], evidence: CodeEvidence) -> bool:
    """Whether "A, then B" is the order in which some shown function calls them, if one calls both."""
    for first, between, second, _ in _close_by(text, names):
        if _AFTER.search(between):
            first, second = second, first
        elif not _THEN.search(between):
            continue
        both = [chunk for chunk in evidence.chunks.values() if first in chunk.calls and second in chunk.calls]
        if both and not any(_in_order(first, second, chunk.text) for chunk in both):
            return False
    return True


def _in_order(first: str, second: str, code: str) -> bool:
    """Whether some call of `first` stands before one of `second`."""
    begins, ends = (re.finditer(rf"\b{re.escape(name)}\s*\(", code) for name in (first, second))
    begin, end = next(begins, None), max((match.start() for match in ends), default=-1)
    return begin is None or begin.start() < end


def _close_by(text: str, names: Sequence[str]) -> Iterator[tuple[str, str, str, str]]:
    """Two names that stand close together, the text between them, and what follows the second one."""
    spots = sorted((match.start(), match.group()) for match in _WORD.finditer(text) if match.group() in names)
    for (at, one), (to, other) in pairwise(spots):
        between = text[at + len(one) : to]
        if one != other and len(between) <= CLOSE:
            yield one, between, other, text[to + len(other) :].lstrip("` ()")


def _is_call(caller: str, callee: str, evidence: CodeEvidence) -> bool:
    """Whether the call graph has a call; True if neither function is known."""
    if caller in evidence.about:
        return callee in evidence.about[caller].calls
    target = evidence.number_of.get(callee)
    if target is None:
        return True
    known_callers = evidence.chunks[target].called_by
    return caller in known_callers or len(known_callers) >= CALLERS  # of more callers the first are kept


def _speaks_of_the_same(text: str, number: int, evidence: CodeEvidence) -> bool:
    """Whether the notions that a claim without functions names are those of the function it restates.

    "A spinlock … queues and sleeps" repeats what is said of a mutex.
    """
    chunk = evidence.chunks[number]
    held = {*tokens(f"{chunk.source} {chunk.text}"), *evidence.said_of(chunk.name)}
    held.update(*(evidence.said_of(name) for name in evidence.told if name in chunk.calls))
    terms = load_glossary().find(text)
    # An identifier of one word (`up` of the semaphore) is an ordinary word as well.
    names = [(*term.zh, *term.en, *(name for name in term.idents if "_" in name)) for term in terms]
    return all(any(held.issuperset(tokens(name)) for name in any_of) for any_of in names)


def _names(chunk: CodeChunk) -> frozenset[str]:
    """Every word of a function that may be a name, with what it calls and what calls it."""
    return frozenset({*_WORD.findall(f"{chunk.name} {chunk.text} {described(chunk)}"), *chunk.calls, *chunk.called_by})
