"""Does a generated sentence tell the calls in the order of the code, and put a condition where the code has it?

Both look at the text of the functions shown. Where it does not tell (two calls of different functions, a
condition in words that no line shares) nothing is said against a sentence.
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise

from osrag.kernel.code import all_lines, conditions_above, told, without_comments
from osrag.kernel.describe import described, name_in_words
from osrag.text import sentences, share_of, tokens
from osrag.types import CodeChunk

MIN_CONDITION = 0.5  # of the words of a condition, in the lines that a call stands under
COMMENT_LINES = 4  # above a condition or a call that may say in words what it tests
_SEQUENCE = re.compile(r"\b(?:then|next|finally|lastly|afterwards|followed by)\b|然后|再(?!次)|接着|随后|最后", re.I)
_TURNED = re.compile(r"\b(?:before|after|once|until|when|while|unless|if)\b|之前|以前|前提|如果|若", re.I)
_CONDITION = re.compile(
    r"\b(?:if|unless|when)\s+(?P<en>[^,;.:]+),\s*(?P<en_then>[^;.]+)"
    r"|(?P<then_en>[^,;.]+?),?\s+(?:only )?(?:if|unless)\s+(?P<en_last>[^,;.:]+)"
    r"|(?:如果|若|一旦|当)(?P<zh>[^，,；;。]+)[，,](?P<zh_then>[^；;。]+)",
    re.I,
)
_WORD = re.compile(r"[A-Za-z_]\w*")


def out_of_order(text: str, names: Sequence[str], shown: Collection[CodeChunk]) -> bool:
    """Whether "A, then B" is told of two calls that every function with both makes the other way round."""
    for (at, first), (to, second) in pairwise(_spots(text, names)):
        between, behind = text[at + len(first) : to], text[to + len(second) :][:6]
        if first == second or not _SEQUENCE.search(between) or _TURNED.search(between + behind):
            continue
        ways = [way for chunk in shown if (way := _order(chunk, first, second)) is not None]
        if ways and not any(ways):
            return True
    return False


def _spots(text: str, names: Sequence[str]) -> list[tuple[int, str]]:
    """Where the names stand, in the order of the text."""
    return [(match.start(), match.group()) for match in _WORD.finditer(text) if match.group() in names]


def _order(chunk: CodeChunk, first: str, second: str) -> bool | None:
    """Whether some call of `first` stands above some call of `second`; None where not both are called."""
    if first not in chunk.calls or second not in chunk.calls:
        return None
    code = without_comments(chunk).text
    places = [[match.start() for match in re.finditer(rf"\b{re.escape(name)}\s*\(", code)] for name in (first, second)]
    return min(places[0]) < max(places[1]) if all(places) else None


def condition_elsewhere(
    text: str, names: Sequence[str], shown: Collection[CodeChunk], about: Mapping[str, CodeChunk], free: Collection[str]
) -> bool:
    """Whether "if X, `call`" has an X that is neither what the call stands under nor what is said of it."""
    for condition, then in _conditions(text):
        called = [name for name in _WORD.findall(then) if name in names]
        words = _content(condition, names, free)
        callers = [chunk for chunk in shown if called and called[0] in chunk.calls]
        if not called or len(words) < 2 or not callers:
            continue
        held = [_under(chunk, called[0]) | _said(chunk, called[0]) for chunk in callers]
        own = about.get(called[0])
        said = set(tokens(described(own))) if own else set()
        if max(share_of(words, words_of | said) for words_of in held) < MIN_CONDITION:
            return True
    return False


def _conditions(text: str) -> Iterator[tuple[str, str]]:
    """(condition, what follows from it) of each conditional sentence."""
    for match in _CONDITION.finditer(text):
        part = match.groupdict()
        yield (
            part["en"] or part["en_last"] or part["zh"] or "",
            part["en_then"] or part["then_en"] or part["zh_then"] or "",
        )


def _content(text: str, names: Collection[str], free: Collection[str]) -> list[str]:
    spelled = {token for name in names for token in tokens(name)}
    return [word for word in dict.fromkeys(tokens(text)) if word not in free and word not in spelled]


def _under(chunk: CodeChunk, name: str) -> set[str]:
    """Words of the lines with a call, of the conditions above them, and of the comments at these."""
    rows = {line.number: line.text for line in all_lines(chunk)}
    held: list[str] = []
    for number in conditions_above(chunk, rf"\b{re.escape(name)}\s*\("):
        held += [rows[at] for at in range(number - COMMENT_LINES, number + 2) if at in rows]
    text = "\n".join(held)
    meant = " ".join(" ".join(name_in_words(word)) for word in _WORD.findall(text))
    return set(tokens(f"{text}\n{meant}"))


def _said(chunk: CodeChunk, name: str) -> set[str]:
    """Words of the sentences about a caller that also speak of what the call does."""
    own = {word for part in name_in_words(name) for word in tokens(part)}
    facts = [fact for side in told(chunk) for fact in sentences(side)]
    return {word for fact in facts for word in tokens(fact) if own & set(tokens(fact))}
