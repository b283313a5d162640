"""Do the functions of an answer support a generated sentence? Names, calls, words, numbers.

A sentence is bound to the function it speaks of. It is marked when it names something that
the code shown does not have, says of two functions that one calls the other when the call graph
does not, or says more in words of its own than the code and its comments say.
"""

import functools
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from osrag.answer.claims import Support, contradiction, negated
from osrag.glossary import load_glossary
from osrag.kernel.code import told
from osrag.kernel.describe import described, name_in_words
from osrag.kernel.order import condition_elsewhere, out_of_order
from osrag.kernel.rows import CALLERS
from osrag.text import identifiers, language_of, sentences, share_of, tokens
from osrag.types import CodeChunk, Passage

# Fixed on generated sentences that were read one by one (docs/kernel-answers.md).
MIN_SHARE = {"en": 0.65, "zh": 0.65}  # of what a sentence says, in what is said of the functions it names
MIN_ECHO, MIN_REPEATED = 0.5, 2  # of the words of the question that a sentence repeats, in the function it names
WINDOW = 6  # lines of code that count as one place
RESTATES = 0.6  # shared words from which a sentence restates one of the description, and is held against it

_WORD = re.compile(r"[A-Za-z_]\w*")
_TICKED = re.compile(r"`([^`\n]+)`")
_CALLS = re.compile(r"\bcalls?\b|\bcalling\b|\binvok(?:es?|ing)\b|(?<!被)调用|通过")
_CALLED_BY = re.compile(r"\b(?:called|invoked)\s+(?:by|from)\b")
_CALLING = re.compile(r"(?:\bcall(?:s|ing)?|\binvok(?:es?|ing)|调用(?:了)?)\s*`?$")
_INSIDE = re.compile(r"(?:在|\bin)\s*`?$", re.I)  # "in `A`, … calls `B`"
# A sentence that goes on about the function of the one before it.
_GOES_ON = re.compile(
    r"它|所以|因此|该函数|这个函数|然后|接着|随后|最后|(?:it|so|this function|then|next|after that|finally)\b", re.I
)
_MEANWHILE = re.compile(r"[,，、;；]|\bthen\b|然后|再|接着|最后|随后")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
FREE_WORDS = Path(__file__).parent.parent / "data" / "kernel_free_words.txt"


@functools.cache
def _free_words() -> frozenset[str]:
    """Words of an explanation that say nothing about the code."""
    return frozenset(tokens(FREE_WORDS.read_text(encoding="utf-8")))


class CodeEvidence:
    """What the functions of one answer hold: their names and calls, and what is said about them.

    `about` tells what further functions are for, which the ones shown call; `told` are those that the
    prompt described, so that a sentence without names may speak of them.
    """

    def __init__(
        self, passages: Sequence[Passage], about: Mapping[str, CodeChunk] | None = None, told: Sequence[str] = ()
    ) -> None:
        self.told = tuple(told)
        self.chunks: Mapping[int, CodeChunk] = {
            passage.number: passage.chunk for passage in passages if isinstance(passage.chunk, CodeChunk)
        }
        self.number_of: dict[str, int] = {}
        for number, chunk in self.chunks.items():
            self.number_of.setdefault(chunk.name, number)
        self.about = {chunk.name: chunk for chunk in self.chunks.values()} | dict(about or {})
        self._names = {number: _names(chunk) for number, chunk in self.chunks.items()}
        self._windows: dict[int, list[frozenset[str]]] = {}
        self._said: dict[str, frozenset[str]] = {}

    def knows(self, name: str) -> bool:
        return name in self.about or any(name in names for names in self._names.values())

    def holding(self, names: Sequence[str]) -> list[int]:
        """Functions whose text has one of the names."""
        return [number for number, held in self._names.items() if any(name in held for name in names)]

    def said_of(self, name: str) -> frozenset[str]:
        """Words of the name and of the description of a function, in both languages."""
        if name not in self._said:
            chunk = self.about.get(name)
            english, chinese = name_in_words(name)
            text = f"{english} {chinese} {name}"
            if chunk is not None:
                terms = " ".join(" ".join((*term.zh, *term.en)) for term in load_glossary().find(described(chunk)))
                text = f"{text} {described(chunk)} {terms}"
            self._said[name] = frozenset(tokens(text))
        return self._said[name]

    def whole(self, number: int) -> frozenset[str]:
        """Words of a function: its descriptions, its code and comments, and what it calls."""
        chunk = self.chunks[number]
        called = (self.said_of(name) for name in chunk.calls)
        return self.said_of(chunk.name).union(*self.windows(number), *called)

    def windows(self, number: int) -> list[frozenset[str]]:
        """Words of each few lines of a function, code and comment together."""
        if number not in self._windows:
            rows = self.chunks[number].text.split("\n")
            self._windows[number] = [_line_words(rows[at : at + WINDOW]) for at in range(0, len(rows), WINDOW // 2)]
        return self._windows[number]


class CodeCheck:
    """Checks the sentences of one explanation in their order: "it" and "then" speak of the function named last."""

    def __init__(self, evidence: CodeEvidence, question: str) -> None:
        self._evidence = evidence
        self._question = question
        self._subject = ""

    def __call__(self, text: str) -> Support:
        support = check_code(text, self._evidence, question=self._question, subject=self._subject)
        names = (name for name in named(text, self._evidence) if name in self._evidence.number_of)
        self._subject = next(names, self._subject)
        return support


def check_code(text: str, evidence: CodeEvidence, *, question: str = "", subject: str = "") -> Support:
    """The function that supports `text`; `passage` is None where none does.

    `subject` is the function that the sentences before spoke of.
    """
    names = named(text, evidence)
    if any(not evidence.knows(name) for name in names):
        return Support(None, 0.0, "name")
    if not _calls_hold(text, names, evidence):
        return Support(None, 0.0, "calls")
    shown = evidence.chunks.values()
    if out_of_order(text, names, shown):
        return Support(None, 0.0, "order")
    if condition_elsewhere(text, names, shown, evidence.about, _free_words()):
        return Support(None, 0.0, "condition")
    asked = set(tokens(question))
    spelled = {token for name in names for token in tokens(name)}
    words = [word for word in dict.fromkeys(tokens(text)) if word not in _free_words() and word not in spelled]
    told = [word for word in words if word not in asked]
    about = list(dict.fromkeys(evidence.number_of[name] for name in names if name in evidence.number_of))
    if _echoes(words, asked, about, evidence):
        return Support(None, 0.0, "echo")
    candidates = about or evidence.holding(names) or list(evidence.chunks)
    if not candidates or (not words and not names):
        return Support(None, 0.0, "words")
    bare = len(told) < 2 and not names
    if bare:
        told = words  # only an echo of the question
    scope: Sequence[str] = names or evidence.told
    if not names and not bare and subject and _GOES_ON.match(text):
        candidates, scope = [evidence.number_of[subject]], [subject, *evidence.about[subject].calls]
    common = frozenset().union(*(evidence.said_of(name) for name in scope))
    shares = {number: _share(told, common, number, evidence) for number in candidates}
    best = max(candidates, key=shares.__getitem__)
    if shares[best] < MIN_SHARE[language_of(text)]:
        return Support(None, shares[best], "words")
    if not about:
        enough = [number for number in candidates if shares[number] >= MIN_SHARE[language_of(text)]]
        same = [number for number in enough if _speaks_of_the_same(text, number, evidence)]
        if not same:
            return Support(None, shares[best], "subject")
        best = max(same, key=shares.__getitem__)
    reason = _contradicts(text, words, names, evidence.chunks[best], evidence, question)
    return Support(None if reason else (about or [best])[0], shares[best], reason)


def _echoes(words: Sequence[str], asked: Collection[str], about: Sequence[int], evidence: CodeEvidence) -> bool:
    """Whether a sentence gives a function what only the question speaks of: "`X` does what was asked"."""
    repeated = [word for word in words if word in asked]
    if not about or len(repeated) < MIN_REPEATED:
        return False
    held = frozenset().union(*(evidence.whole(number) for number in about))
    return share_of(repeated, held) < MIN_ECHO


def _share(told: Sequence[str], common: frozenset[str], number: int, evidence: CodeEvidence) -> float:
    """Share of the words that the descriptions of what is named, of this function, and one place in it hold."""
    if not told:
        return 1.0
    base = common | evidence.said_of(evidence.chunks[number].name)
    left = [word for word in told if word not in base]
    if not left:
        return 1.0
    place = max((sum(word in window for word in left) for window in evidence.windows(number)), default=0)
    return (len(told) - len(left) + place) / len(told)


def named(text: str, evidence: CodeEvidence) -> list[str]:
    """Names of code in a sentence: what looks like one, what stands in backticks, what the evidence defines."""
    found = identifiers(text)
    for ticked in _TICKED.findall(text):
        found += [word for word in _WORD.findall(ticked) if len(word) > 2 or "_" in word]
    found += [word for word in _WORD.findall(text) if "_" in word and word in evidence.number_of]
    return list(dict.fromkeys(found))


def _calls_hold(text: str, names: Sequence[str], evidence: CodeEvidence) -> bool:
    """Whether every "A calls B" of a sentence is in the call graph, as far as A or B is shown."""
    spots = sorted((match.start(), match.group()) for match in _WORD.finditer(text) if match.group() in names)
    if not all(_has_caller(name, evidence) for at, name in spots if _CALLING.search(text[max(0, at - 14) : at])):
        return False
    for (at, caller), (to, callee) in pairwise(spots):
        between = text[at + len(caller) : to]
        if caller == callee or len(between) > 60:
            continue
        passive = bool(_CALLED_BY.search(between)) or ("被" in between and "调用" in text[to : to + len(callee) + 4])
        if passive:
            caller, callee = callee, caller
        elif not _CALLS.search(between):
            continue
        # "X gets the page, then calls Y": who calls is not X but the function that the text is about.
        inside = _INSIDE.search(text[:at])
        loose = (
            not inside and _MEANWHILE.search(between) and any(callee in one.calls for one in evidence.about.values())
        )
        if (passive or not loose) and not _is_call(caller, callee, evidence):
            return False
    return True


def _has_caller(name: str, evidence: CodeEvidence) -> bool:
    """Whether anybody calls a function that is shown: a thread's own function is started, not called."""
    chunk = evidence.about.get(name)
    return chunk is None or bool(chunk.called_by) or any(name in one.calls for one in evidence.about.values())


def _is_call(caller: str, callee: str, evidence: CodeEvidence) -> bool:
    known = evidence.number_of.get(caller)
    if known is not None:
        return callee in evidence.chunks[known].calls
    if caller in evidence.about:
        return callee in evidence.about[caller].calls
    target = evidence.number_of.get(callee)
    if target is None:
        return True
    known_callers = evidence.chunks[target].called_by
    return caller in known_callers or len(known_callers) >= CALLERS  # of more callers the first are kept


def _speaks_of_the_same(text: str, number: int, evidence: CodeEvidence) -> bool:
    """Whether the notions that a sentence without functions names are those of the function it restates.

    "A spinlock … queues and sleeps" repeats what is said of a mutex.
    """
    chunk = evidence.chunks[number]
    held = {*tokens(f"{chunk.source} {chunk.text}"), *evidence.said_of(chunk.name)}
    held.update(*(evidence.said_of(name) for name in evidence.told if name in chunk.calls))
    terms = load_glossary().find(text)
    # An identifier of one word (`up` of the semaphore) is an ordinary word as well.
    names = [(*term.zh, *term.en, *(name for name in term.idents if "_" in name)) for term in terms]
    return all(any(held.issuperset(tokens(name)) for name in any_of) for any_of in names)


def _contradicts(
    text: str, words: Sequence[str], names: Sequence[str], chunk: CodeChunk, evidence: CodeEvidence, question: str
) -> str:
    """A number that is nowhere in the code, or a description turned round."""
    shown = " ".join(one.text for one in evidence.chunks.values()) + question + described(chunk)
    if any(number not in shown for number in _NUMBER.findall(_WORD.sub(" ", text))):
        return "number"
    told_of = [evidence.about[name] for name in names if name in evidence.about] or [chunk]
    for fact in (fact for one in told_of for side in told(one) for fact in sentences(side)):
        held = tokens(fact)
        # A fact that denies is turned round only by a sentence that repeats all of it but the denial.
        whole = 0.8 if negated(fact) else RESTATES / 2
        restates = share_of(words, held) >= RESTATES and share_of(held, words) >= whole
        if language_of(fact) == language_of(text) and restates:
            return contradiction(text, f"{fact} {shown}", nearest=fact, question=question)
    return ""


def _names(chunk: CodeChunk) -> frozenset[str]:
    return frozenset({*_WORD.findall(f"{chunk.name} {chunk.text} {described(chunk)}"), *chunk.calls, *chunk.called_by})


def _line_words(rows: Sequence[str]) -> frozenset[str]:
    """Words of a few lines, with what their names stand for."""
    text = "\n".join(rows)
    meant = " ".join(" ".join(name_in_words(name)) for name in _WORD.findall(text))
    return frozenset(tokens(f"{text}\n{meant}"))
