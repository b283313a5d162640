"""Do the functions of an answer support a generated sentence? Names, calls, words, numbers.

A sentence is bound to the function it speaks of. It is marked when it names something that
the code shown does not have, says of two functions that one calls the other when the call graph
does not, or says more in words of its own than the code and its comments say.
"""

import functools
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from osrag.answer.kernel_code import told
from osrag.answer.support import Support, contradiction
from osrag.glossary import load_glossary
from osrag.ingest.describe import name_in_words
from osrag.text import identifiers, language_of, sentences, share_of, tokens
from osrag.types import CodeChunk, Passage

# Fixed on generated sentences that were read one by one (docs/kernel-answers.md).
MIN_SHARE = {"en": 0.65, "zh": 0.6}  # of what a sentence says, in the words of one function …
JOINT_SHARE = 0.85  # … or of all that are shown, for a sentence that joins several
RESTATES = 0.6  # shared words from which a sentence restates one of the description, and is held against it

_WORD = re.compile(r"[A-Za-z_]\w*")
_TICKED = re.compile(r"`([^`\n]+)`")
_CALLS = re.compile(r"\bcalls?\b|\bcalling\b|\binvok(?:es?|ing)\b|(?<!被)调用")
_CALLED_BY = re.compile(r"\b(?:called|invoked)\s+(?:by|from)\b")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?")
FREE_WORDS = Path(__file__).parent.parent / "data" / "kernel_free_words.txt"


@functools.cache
def _free_words() -> frozenset[str]:
    """Words of an explanation that say nothing about the code."""
    return frozenset(tokens(FREE_WORDS.read_text(encoding="utf-8")))


class CodeEvidence:
    """What the functions of one answer hold: their names, calls and words in both languages."""

    def __init__(self, passages: Sequence[Passage]) -> None:
        self.chunks: Mapping[int, CodeChunk] = {
            passage.number: passage.chunk for passage in passages if isinstance(passage.chunk, CodeChunk)
        }
        self.number_of: dict[str, int] = {}
        for number, chunk in self.chunks.items():
            self.number_of.setdefault(chunk.name, number)
        self._names = {number: _names(chunk) for number, chunk in self.chunks.items()}
        self._words = {number: _vocabulary(chunk, self._names[number]) for number, chunk in self.chunks.items()}
        self._all_words = frozenset().union(*self._words.values())

    def knows(self, name: str) -> bool:
        return any(name in names for names in self._names.values())

    def holders(self, name: str) -> list[int]:
        """Functions whose text has a name, the one that is called so first."""
        own = [self.number_of[name]] if name in self.number_of else []
        return [*own, *(number for number, names in self._names.items() if name in names and number not in own)]

    def words(self, number: int) -> frozenset[str]:
        return self._words[number]

    @property
    def all_words(self) -> frozenset[str]:
        return self._all_words


def check_code(text: str, evidence: CodeEvidence, *, question: str = "") -> Support:
    """The function that supports `text`; `passage` is None where none does."""
    names = named(text, evidence)
    if any(not evidence.knows(name) for name in names):
        return Support(None, 0.0, "name")
    if not _calls_hold(text, names, evidence):
        return Support(None, 0.0, "calls")
    asked = set(tokens(question))
    spelled = {token for name in names for token in tokens(name)}
    free = _free_words()
    words = [word for word in dict.fromkeys(tokens(text)) if word not in free and word not in spelled]
    said = [word for word in words if word not in asked]
    about = list(dict.fromkeys(number for name in names for number in evidence.holders(name)[:1]))
    candidates = about or list(evidence.chunks)
    if not candidates:
        return Support(None, 0.0, "words")
    if not said:
        return Support(candidates[0], 1.0, "") if names else Support(None, 0.0, "words")
    best = max(candidates, key=lambda number: share_of(said, evidence.words(number)))
    share = share_of(said, evidence.words(best))
    joint = share_of(said, evidence.all_words)
    if share < MIN_SHARE[language_of(text)] and joint < JOINT_SHARE:
        return Support(None, share, "words")
    reason = _contradicts(text, evidence.chunks[best], evidence, question)
    return Support(None if reason else (about or [best])[0], share, reason)


def named(text: str, evidence: CodeEvidence) -> list[str]:
    """Names of code in a sentence: what looks like one, what stands in backticks, what the evidence defines."""
    found = identifiers(text)
    for ticked in _TICKED.findall(text):
        found += [word for word in _WORD.findall(ticked) if len(word) > 2 or "_" in word]
    found += [word for word in _WORD.findall(text) if "_" in word and word in evidence.number_of]
    return list(dict.fromkeys(found))


def _calls_hold(text: str, names: Sequence[str], evidence: CodeEvidence) -> bool:
    """Whether every "A calls B" of a sentence is in the call graph, as far as A or B is shown."""
    if len(names) < 2:
        return True
    spots = sorted((match.start(), match.group()) for match in _WORD.finditer(text) if match.group() in names)
    for (at, caller), (to, callee) in pairwise(spots):
        between = text[at + len(caller) : to]
        if caller == callee or len(between) > 60:
            continue
        if _CALLED_BY.search(between) or ("被" in between and "调用" in text[to : to + len(callee) + 4]):
            caller, callee = callee, caller
        elif not _CALLS.search(between):
            continue
        if not _is_call(caller, callee, evidence):
            return False
    return True


def _is_call(caller: str, callee: str, evidence: CodeEvidence) -> bool:
    known = evidence.number_of.get(caller)
    if known is not None:
        return callee in evidence.chunks[known].calls or bool(re.search(rf"\b{callee}\b", evidence.chunks[known].text))
    target = evidence.number_of.get(callee)
    return target is None or caller in evidence.chunks[target].called_by


def _contradicts(text: str, chunk: CodeChunk, evidence: CodeEvidence, question: str) -> str:
    """A number that is nowhere in the code, or a description turned round."""
    shown = " ".join(one.text for one in evidence.chunks.values()) + question + chunk.description
    bare = _WORD.sub(" ", text)
    if any(number not in shown for number in _NUMBER.findall(bare)):
        return "number"
    words = tokens(text)
    for fact in (fact for side in told(chunk) for fact in sentences(side)):
        if language_of(fact) == language_of(text) and share_of(tokens(fact), words) >= RESTATES:
            return contradiction(text, f"{fact} {shown}", nearest=fact, question=question)
    return ""


def _names(chunk: CodeChunk) -> frozenset[str]:
    return frozenset({*_WORD.findall(f"{chunk.name} {chunk.text} {chunk.description}"), *chunk.calls, *chunk.called_by})


def _vocabulary(chunk: CodeChunk, names: frozenset[str]) -> frozenset[str]:
    """Tokens of the description, the comments and the code, and what its names and terms mean."""
    text = f"{chunk.description}\n{chunk.text}"
    meant = [name_in_words(name) for name in names]
    terms = load_glossary().find(chunk.description)
    other = " ".join(" ".join((*term.zh, *term.en)) for term in terms)
    spelled = " ".join(f"{english} {chinese}" for english, chinese in meant)
    return frozenset(tokens(f"{text}\n{spelled}\n{other}"))
