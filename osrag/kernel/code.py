"""Kernel chunks as an answer shows them: one line of description, the key lines, a link to the source.

Everything here comes from the index. The model never retypes code (K4).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from osrag.answer.view import source_url
from osrag.kernel.describe import name_in_words
from osrag.kernel.query import read_question
from osrag.text import STOP_EN, clip, language_of, sentences, tokens
from osrag.types import ChunkKind, CodeChunk, Language, LineRef, Origin
from osrag.wording import say

SIGNATURE_LINES = 6  # a longer signature is shown by its first line
CALL_WORTH = 0.4  # of a line that calls something, in words shared with the question
MOST_LINES = 16  # of one function in a reply
ROOM = 3  # of these, left for the conditions around them
LINE_CHARS = 110
DESCRIPTION_CHARS = 240
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# Lines that say little: tracing and checks, the preprocessor, declarations that compute nothing.
_DULL = re.compile(
    r"^\s*(?:(?:trace_\w+|VM_(?:BUG|WARN)_ON\w*|WARN_ON\w*|BUG_ON|lockdep_\w+|might_sleep\w*)\(|#)"
    r"|^\s+(?:(?:const|static|unsigned|struct|enum)\s+)*\w+\s+[*\w\s,]+(?:=\s*[\w\->.]+)?;\s*$"
)
_CONDITION = re.compile(r"\s+(?:\}\s*)?(?:if|else|for|while|switch|do|case|default|\w*for_each\w*)\b")
_LABEL = re.compile(r"\s{0,4}\w+:\s*$")
_DOC_HEAD = re.compile(r"\w+(?:\(\))?\s+[-:–]\s+(?=\w)")  # kernel-doc of another function above this one
_FIELD = re.compile(r"(\w+)(?:\[[^\]]*\])*\s*(?::\s*\d+)?;")
_MUSING = re.compile(r"\bI\b(?!/)|\b(?:FIXME|XXX|TODO|HACK)\b")  # a developer's note to himself tells a student nothing
_LINK = re.compile(r"^(?:以及|并且|还有|and |as well as )")  # of a clause that was taken out of a summary
_PLAIN_START = re.compile(r"[a-z]{3,} ")  # an English word, not a name of code
FIELDS = 8  # of a structure that are named in one line
_STATEMENT = re.compile(r"^\s*(?:return|goto|else|case|break|continue)\b")


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of a source file."""

    number: int  # in the file, 1-based
    text: str


def all_lines(chunk: CodeChunk) -> list[SourceLine]:
    """The lines of a chunk with their numbers in the file."""
    lines = chunk.text.removesuffix("\n").split("\n") if chunk.text else []
    return [SourceLine(chunk.where.first + place, text) for place, text in enumerate(lines)]


def focus_lines(chunk: CodeChunk, query: str, budget_chars: int) -> list[SourceLine]:
    """The lines of a chunk that share most with the question and the signature, in order, within a budget.

    A chunk that fits is left whole. Comments do not count as code and are never among the lines of a longer one.
    """
    lines = all_lines(chunk)
    if sum(len(line.text) + 1 for line in lines) <= budget_chars:
        return lines
    lines = all_lines(without_comments(chunk))
    worth = _worth(lines, query, chunk)
    ranked = sorted((place for place in range(len(lines)) if worth[place] > 0), key=lambda place: -worth[place])
    chosen: set[int] = set()
    spent = 0
    for place in dict.fromkeys([*range(_signature_end(lines)), *ranked]):
        cost = len(lines[place].text) + 1
        if spent + cost <= budget_chars:
            chosen.add(place)
            spent += cost
    return [lines[place] for place in sorted(chosen)]


def _signature_end(lines: Sequence[SourceLine]) -> int:
    """Place behind the last line of a signature that begins on the first line; 1 where it does not end soon."""
    ends = (place for place, line in enumerate(lines) if "{" in line.text or line.text.rstrip().endswith(")"))
    end = next(ends, SIGNATURE_LINES) + 1
    return end if end <= SIGNATURE_LINES else 1


def _worth(lines: Sequence[SourceLine], query: str, chunk: CodeChunk) -> list[float]:
    """How many words each line shares with the question, a little more where it calls something."""
    question = read_question(query)
    wanted = {*question.words, *question.guessed, *question.idents} - STOP_EN
    calls = set(chunk.calls)
    worth: list[float] = []
    for line in lines:
        words = re.findall(r"[A-Za-z_]\w*", line.text)
        found = {token for word in words for token in (word.lower(), *tokens(f"{word} {name_in_words(word)[0]}"))}
        worth.append(len(found & wanted) + CALL_WORTH * bool(calls & set(words)))
    return worth


def place(chunk: CodeChunk) -> str:
    """`kernel/sched/core.c:4052-4248`."""
    return f"{chunk.source}:{chunk.where.first}-{chunk.where.last}"


def link(chunk: CodeChunk, version: str) -> str:
    """Markdown: the place of a chunk, leading to the source browser."""
    return f"[{place(chunk)}]({source_url(chunk.source, chunk.where.first, version)})"


def told(chunk: CodeChunk) -> tuple[str, str]:
    """What the description says in English and in Chinese; of Chinese only whole sentences."""
    end = max(chunk.zh.rfind(stop) for stop in "。！？")
    return chunk.en, chunk.zh[: end + 1]


def one_line(chunk: CodeChunk, language: Language) -> str:
    """What a function is for, in the language of the reader where it was told so; else its comment or its structure."""
    english, chinese = told(chunk)
    if language == "zh" and chinese:
        return clip(_sentence(chinese), DESCRIPTION_CHARS)
    comment = _sentence(english)
    if not comment or chunk.origin is Origin.CODE or _MUSING.search(comment):
        return clip(_structure(chunk, language) or comment, DESCRIPTION_CHARS)
    return say("kernel_comment", language, text=clip(comment, DESCRIPTION_CHARS))


def _sentence(text: str) -> str:
    """The first sentences, begun and ended as such."""
    text = " ".join(_first_sentences(_LINK.sub("", _DOC_HEAD.sub("", text, count=1))))
    text = re.sub(r"(?:\.\s*)*[:;,]$", ".", text)
    return text[0].upper() + text[1:] if _PLAIN_START.match(text) else text


def is_described(chunk: CodeChunk, language: Language) -> bool:
    """Whether somebody wrote what a function is for, in the reader's language: a name and a structure say little."""
    english, chinese = told(chunk)
    return bool(chinese) if language == "zh" else len(english) > 15 and chunk.origin is not Origin.CODE


def _first_sentences(text: str) -> list[str]:
    """The first sentence, or more where it is short."""
    enough, most = (18, 80) if language_of(text) == "zh" else (25, 180)
    taken: list[str] = []
    for sentence in sentences(text):
        length = sum(map(len, taken))
        if length >= enough or (taken and length + len(sentence) > most):
            break
        taken.append(" ".join(sentence.split()))
    return taken


def _structure(chunk: CodeChunk, language: Language) -> str:
    """What can be read off the code, for what nobody described: its fields, or what it calls and what calls it."""
    comma = "、" if language == "zh" else ", "
    if chunk.kind is ChunkKind.STRUCT:
        fields = list(dict.fromkeys(_FIELD.findall(without_comments(chunk).text)))
        return say("kernel_fields", language, names=comma.join(fields[:FIELDS])) if fields else ""
    parts = []
    if chunk.calls:
        parts.append(say("kernel_calls", language, names=comma.join(chunk.calls[:6])))
    if chunk.called_by:
        parts.append(say("kernel_called_by", language, names=comma.join(chunk.called_by[:3])))
    return ("" if language == "zh" else " ").join(parts)


def without_comments(chunk: CodeChunk) -> CodeChunk:
    """The chunk from its first line of code on, its comments blanked; every line keeps its number."""
    bare = _COMMENT.sub(lambda found: "\n" * found.group().count("\n"), chunk.text)
    code = bare.lstrip("\n \t")
    first = chunk.where.first + bare[: len(bare) - len(code)].count("\n")
    return replace(chunk, text=code, where=LineRef(first, max(first, chunk.where.last)))


def key_lines(
    chunk: CodeChunk, query: str, *, chars: int, most: int = MOST_LINES, framed: bool = False
) -> list[SourceLine]:
    """The lines of code that matter to the question, as they stand in the file, in order.

    `framed`, for a reader: with the condition that a line stands under, and what follows a condition.
    """
    code = _code(chunk)
    if framed and chunk.kind in (ChunkKind.STRUCT, ChunkKind.ENUM):
        chosen = _first_lines(code, most)
    else:
        focus = focus_lines(without_comments(chunk), query, chars)
        numbers = {line.number for line in focus if not _is_dull(line.text)}
        places = [at for at, line in enumerate(code) if line.number in numbers]
        whole = _framed(code, places[: most - ROOM]) if framed else _closed(code, places)[:most]
        chosen = [code[at] for at in whole]
    originals = {line.number: line.text for line in all_lines(chunk)}
    return [SourceLine(line.number, clip(originals[line.number], LINE_CHARS)) for line in chosen]


def _first_lines(code: Sequence[SourceLine], most: int) -> list[SourceLine]:
    """Of a type: its first lines and its last, `#ifdef`s left out; all where it is short."""
    rows = [line for line in code if not line.text.startswith("#")]
    return rows if len(rows) <= most else [*rows[: most - 1], rows[-1]]


def _is_dull(text: str) -> bool:
    return bool(_LABEL.match(text) or _DULL.match(text)) and not _STATEMENT.match(text)


def _code(chunk: CodeChunk) -> list[SourceLine]:
    """The lines that hold code."""
    return [line for line in all_lines(without_comments(chunk)) if line.text.strip()]


def _closed(code: Sequence[SourceLine], chosen: Sequence[int]) -> list[int]:
    """Places with gaps of one line filled and statements that run over several lines whole."""
    out: dict[int, None] = {}
    last = None
    for at in chosen:
        if last is not None and at == last + 2:
            out[last + 1] = None
        out[at] = None
        last = at
        while last + 1 < len(code) and _continues(code[last].text) and last - at < 3:
            last += 1
            out[last] = None
    return sorted(out)


def _framed(code: Sequence[SourceLine], chosen: Sequence[int]) -> list[int]:
    """Places with the conditions that they stand under, and no condition without what it leads to."""
    chosen = sorted({*chosen, *(before for at in chosen for before in _begun(code, at))})
    above = {place for at in chosen for place in _conditions_of(code, at)}
    out = _closed(code, sorted({*chosen, *above}))
    more = {last + 1 for at in out if (last := _condition_end(code, at)) is not None and last + 1 < len(code)}
    follows = {at for at in more if not any(other >= at and _under(code, at, other) for other in out)}
    return _closed(code, sorted({*out, *follows}))


def _begun(code: Sequence[SourceLine], at: int) -> Iterator[int]:
    """The lines above on which the statement of a line begins."""
    while at > 1 and _continues(code[at - 1].text):
        at -= 1
        yield at


def _conditions_of(code: Sequence[SourceLine], at: int) -> Iterator[int]:
    """Where the `if`, `for`, `else`, … that a line stands under begin, the nearest first."""
    depth = _depth(code[at].text)
    for above in range(at - 1, 0, -1):
        text = code[above].text
        if _LABEL.match(text) or text.startswith("#") or _depth(text) >= depth:
            continue
        depth = _depth(text)
        first = above
        while not _CONDITION.match(code[first].text) and first > 1 and _continues(code[first - 1].text):
            first -= 1
        if _CONDITION.match(code[first].text):
            depth = _depth(code[first].text)
            yield first


def _condition_end(code: Sequence[SourceLine], at: int) -> int | None:
    """The last line of the condition that begins at a place; None where none begins there."""
    if not _CONDITION.match(code[at].text):
        return None
    while at + 1 < len(code) and _continues(code[at].text):
        at += 1
    return None if code[at].text.rstrip().endswith((";", ":")) else at


def _under(code: Sequence[SourceLine], first: int, at: int) -> bool:
    """Whether a line stands in the block that begins at `first`."""
    depth = _depth(code[first].text)
    return all(_depth(line.text) >= depth or _LABEL.match(line.text) for line in code[first : at + 1])


def _depth(text: str) -> int:
    """Columns before the first sign."""
    text = text.expandtabs(8)
    return len(text) - len(text.lstrip())


def _continues(text: str) -> bool:
    """Whether the statement on a line goes on in the next one."""
    bare = text.rstrip()
    return bare.endswith((",", "(", "&&", "||", "|", "+", "?", "=", '"')) or bare.count("(") > bare.count(")")


def code_block(chunk: CodeChunk, lines: Sequence[SourceLine]) -> str:
    """A Markdown block of C. Where code is left out a comment names the line that follows."""
    holding = [line.number for line in _code(chunk)]
    out: list[str] = []
    last = lines[0].number if lines else 0
    for line in lines:
        if any(last < number < line.number for number in holding):
            indent = line.text[: len(line.text) - len(line.text.lstrip())]
            out.append(f"{indent}/* … {line.number}: */")
        out.append(line.text)
        last = line.number
    body = "\n".join(out).expandtabs(8).replace("```", "'''")
    return f"```c\n{_outdented(body)}\n```"


def _outdented(body: str) -> str:
    """Deep nesting made shallow enough for a phone: eight blanks become four."""
    return re.sub(r"^(?: {8})+", lambda found: " " * (len(found.group()) // 2), body, flags=re.M)
