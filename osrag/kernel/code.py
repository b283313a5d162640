"""Kernel chunks as an answer shows them: one line of description, the key lines, a link to the source.

Everything here comes from the index. The model never retypes code (K4).
"""

import itertools
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from osrag.answer.view import source_url
from osrag.kernel.describe import name_in_words
from osrag.kernel.query import read_question
from osrag.text import STOP_EN, clip, language_of, sentences, tokens
from osrag.types import ChunkKind, CodeChunk, Language, LineRef, Origin
from osrag.wording import say

SIGNATURE_LINES = 6  # a longer signature is shown by its first line
CALL_WORTH = 0.4  # what a call adds to a line, in words shared with the question
MOST_LINES = 16  # of one function in a reply, besides the conditions around them
LINE_CHARS = 110
BLOCK = 3  # lines under a condition that are shown with it; of more the first
COMMENT_LINES = 6  # of a comment that is shown above a line: four of text
DESCRIPTION_CHARS = 240
FIELDS = 8  # fields of a structure that its description names
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# Lines that say little: tracing and checks, the preprocessor, declarations that compute nothing.
_DULL = re.compile(
    r"^\s*(?:(?:trace_\w+|VM_(?:BUG|WARN)_ON\w*|WARN_ON\w*|BUG_ON|lockdep_\w+|might_sleep\w*)\(|#)"
    r"|^\s+(?:(?:const|static|unsigned|struct|enum)\s+)*\w+\s+[*\w\s,]+(?:=\s*[\w\->.]+)?;\s*$"
)
_STATEMENT = re.compile(r"^\s*(?:return|goto|else|case|break|continue)\b")  # never dull, though it looks like one
_ELSE = re.compile(r"\s*(?:\}\s*)?else\b")
_BRANCH = re.compile(r"\s*(?:(?:\}\s*)?else\b|if\b)")
_LABEL = re.compile(r"\s{0,4}\w+:\s*$")
_DOC_HEAD = re.compile(r"\w+(?:\(\))?\s+[-:–]\s+(?=\w)")  # the title of a kernel-doc comment
_FIELD = re.compile(r"(\w+)(?:\[[^\]]*\])*\s*(?::\s*\d+)?;")
_MUSING = re.compile(r"\bI\b(?!/)|\b(?:FIXME|XXX|TODO|HACK)\b")  # a developer's note to himself tells a student nothing
_LINK = re.compile(r"^(?:以及|并且|还有|and |as well as )")  # the start of a clause cut out of a summary
_PLAIN_START = re.compile(r"[a-z]{3,} ")  # an English word and not a name of code


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of a source file."""

    number: int  # in the file, 1-based
    text: str


def all_lines(chunk: CodeChunk) -> list[SourceLine]:
    """The lines of a chunk with their numbers in the file."""
    lines = chunk.text.removesuffix("\n").split("\n") if chunk.text else []
    return [SourceLine(chunk.where.first + place, text) for place, text in enumerate(lines)]


def _focus(code: Sequence[SourceLine], query: str, calls: Collection[str], budget_chars: int) -> list[int]:
    """Places of the signature and of the lines that share most with the question, within a budget, best first.

    All places if the whole code fits. A line that calls something counts a little more.
    """
    if sum(len(line.text) + 1 for line in code) <= budget_chars:
        return list(range(len(code)))
    question = read_question(query)
    wanted = {*question.words, *question.guessed, *question.idents} - STOP_EN
    worth: list[float] = []
    for line in code:
        words = re.findall(r"[A-Za-z_]\w*", line.text)
        found = {token for word in words for token in (word.lower(), *tokens(f"{word} {name_in_words(word)[0]}"))}
        worth.append(len(found & wanted) + CALL_WORTH * any(word in calls for word in words))
    ranked = sorted((at for at in range(len(code)) if worth[at] > 0), key=lambda at: -worth[at])
    ends = (at for at, line in enumerate(code) if "{" in line.text or line.text.rstrip().endswith(")"))
    end = next(ends, SIGNATURE_LINES) + 1
    chosen: list[int] = []
    for at in dict.fromkeys([*range(end if end <= SIGNATURE_LINES else 1), *ranked]):
        cost = len(code[at].text) + 1
        if cost <= budget_chars:
            chosen.append(at)
            budget_chars -= cost
    return sorted(chosen)


def place(chunk: CodeChunk) -> str:
    """`kernel/sched/core.c:4052-4248`."""
    return f"{chunk.source}:{chunk.where.first}-{chunk.where.last}"


def link(chunk: CodeChunk, version: str) -> str:
    """Markdown: the place of a chunk, leading to the source browser."""
    return f"[{place(chunk)}]({source_url(chunk.source, chunk.where.first, version)})"


def told(chunk: CodeChunk) -> tuple[str, str]:
    """The description in English and in Chinese; the Chinese one is cut to whole sentences."""
    end = max(chunk.zh.rfind(stop) for stop in "。！？")
    return chunk.en, chunk.zh[: end + 1]


def one_line(chunk: CodeChunk, language: Language) -> str:
    """What a function is for: its description in `language`, else its comment, else its calls or fields."""
    english, chinese = told(chunk)
    if language == "zh" and chinese:
        return clip(_sentence(chinese), DESCRIPTION_CHARS)
    comment = _sentence(english)
    if not comment or chunk.origin is Origin.CODE or _MUSING.search(comment):
        return clip(structure(chunk, language) or comment, DESCRIPTION_CHARS)
    return say("kernel_comment", language, text=clip(comment, DESCRIPTION_CHARS))


def _sentence(text: str) -> str:
    """The first sentences of a description, with a capital and a full stop."""
    text = " ".join(_first_sentences(_LINK.sub("", _DOC_HEAD.sub("", text, count=1))))
    text = re.sub(r"(?:\.\s*)*[:;,]$", ".", text)
    return text[0].upper() + text[1:] if _PLAIN_START.match(text) else text


def is_described(chunk: CodeChunk, language: Language) -> bool:
    """Whether somebody wrote in `language` what a function is for. A name and a list of calls say little."""
    english, chinese = told(chunk)
    return bool(chinese) if language == "zh" else len(english) > 15 and chunk.origin is not Origin.CODE


def _first_sentences(text: str) -> list[str]:
    """The first sentence, or more if it is short."""
    enough, most = (18, 80) if language_of(text) == "zh" else (25, 180)
    taken: list[str] = []
    for sentence in sentences(text):
        length = sum(map(len, taken))
        if length >= enough or (taken and length + len(sentence) > most):
            break
        taken.append(" ".join(sentence.split()))
    return taken


def structure(chunk: CodeChunk, language: Language) -> str:
    """A line about code that nobody described: its fields, or what it calls and what calls it."""
    comma = "、" if language == "zh" else ", "
    if chunk.kind is ChunkKind.STRUCT:
        names = fields(chunk)
        return say("kernel_fields", language, names=comma.join(names[:FIELDS])) if names else ""
    parts = []
    if chunk.calls:
        parts.append(say("kernel_calls", language, names=comma.join(chunk.calls[:6])))
    if chunk.called_by:
        parts.append(say("kernel_called_by", language, names=comma.join(chunk.called_by[:3])))
    return ("" if language == "zh" else " ").join(parts)


def fields(chunk: CodeChunk) -> tuple[str, ...]:
    """The names of the fields of a structure, in order."""
    return tuple(dict.fromkeys(_FIELD.findall(without_comments(chunk).text)))


def without_comments(chunk: CodeChunk) -> CodeChunk:
    """The chunk with blank comments, from its first line of code on; every line keeps its number."""
    bare = _COMMENT.sub(lambda found: "\n" * found.group().count("\n"), chunk.text)
    code = bare.lstrip("\n \t")
    first = chunk.where.first + bare[: len(bare) - len(code)].count("\n")
    return replace(chunk, text=code, where=LineRef(first, max(first, chunk.where.last)))


def key_lines(
    chunk: CodeChunk, query: str, *, chars: int, most: int = MOST_LINES, framed: bool = False
) -> list[SourceLine]:
    """The `most` lines of code that matter most to the question, as they stand in the file, in order.

    `framed`, for a student: with the conditions around each line, and with what each condition leads to.
    """
    code = code_lines(chunk)
    if framed and chunk.kind in (ChunkKind.STRUCT, ChunkKind.ENUM):
        rows = [line for line in code if not line.text.startswith("#")]
        chosen = rows if len(rows) <= most else [*rows[: most - 1], rows[-1]]
    else:
        places = [at for at in _focus(code, query, set(chunk.calls), chars) if not is_dull(code[at].text)]
        whole = _framed(code, places[:most]) if framed else _closed(code, places)[:most]
        chosen = [code[at] for at in whole]
    originals = {line.number: line.text for line in all_lines(chunk)}
    return [SourceLine(line.number, clip(originals[line.number], LINE_CHARS)) for line in chosen]


def quoted_lines(chunk: CodeChunk, numbers: Collection[int]) -> list[SourceLine]:
    """The lines with these numbers, whole statements, with the conditions around them and what these lead to."""
    code = code_lines(chunk)
    chosen = _framed(code, [at for at, line in enumerate(code) if line.number in numbers])
    originals = {line.number: line.text for line in all_lines(chunk)}
    return [SourceLine(code[at].number, clip(originals[code[at].number], LINE_CHARS)) for at in chosen]


def with_comments(chunk: CodeChunk, lines: Sequence[SourceLine]) -> list[SourceLine]:
    """Lines of the body with the short comments that stand right above them: they say why."""
    rows = {line.number: line.text for line in all_lines(chunk)}
    holding = [line.number for line in code_lines(chunk)]
    shown, more = {line.number for line in lines}, set()
    for found in _COMMENT.finditer(chunk.text):
        first = chunk.where.first + chunk.text[: found.start()].count("\n")
        last = first + found.group().count("\n")
        below = next((number for number in holding if number > last), 0)
        alone = not {first, last}.intersection(holding) and holding[0] < first
        if alone and below in shown and last - first < COMMENT_LINES and not _MUSING.search(found.group()):
            more |= {*range(first, last + 1)}
    return sorted({*lines, *(SourceLine(number, clip(rows[number], LINE_CHARS)) for number in more)}, key=_number)


def _number(line: SourceLine) -> int:
    return line.number


def is_dull(text: str) -> bool:
    """Whether a line tells a student little."""
    return bool(_LABEL.match(text) or _DULL.match(text)) and not _STATEMENT.match(text)


def code_lines(chunk: CodeChunk) -> list[SourceLine]:
    """The lines that hold code."""
    return [line for line in all_lines(without_comments(chunk)) if line.text.strip()]


def _closed(code: Sequence[SourceLine], chosen: Sequence[int]) -> list[int]:
    """Places with gaps of one line filled and statements over several lines completed."""
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
    """Places with the lines above that they are indented under, and no condition without what it leads to."""
    out = _closed(code, sorted({*chosen, *(above for at in chosen for above in heads(code, at))}))
    more: set[int] = set()
    for at, shown in itertools.zip_longest(out, out[1:], fillvalue=len(code)):
        if depth(code[at].text) and code[at].text.rstrip().endswith(("{", ")", "else", "do")):
            block = _under(code, at)
            below = at + 1 < shown and (shown == len(code) or depth(code[shown].text) < depth(code[at + 1].text))
            more |= {*(block if len(block) <= BLOCK else [at + 1] if below else [])}
    return _closed(code, sorted({*out, *more}))


def _under(code: Sequence[SourceLine], at: int) -> list[int]:
    """The lines indented under the condition that ends on a line; at most one more than are shown whole."""
    least = depth(code[statement(code, at)[0]].text)
    inner = itertools.takewhile(lambda one: depth(code[one].text) > least, range(at + 1, len(code)))
    return list(itertools.islice(inner, BLOCK + 1))


def heads(code: Sequence[SourceLine], at: int) -> Iterator[int]:
    """The lines that a line is indented under, from its own statement out to the `if`, `for`, `else` around it.

    Above an `else` stand the conditions that it is the other side of.
    """
    inner = depth(code[at].text)
    other = False
    while inner and at > 1:
        at -= 1
        text = code[at].text
        if not 0 < depth(text) < inner + other or _LABEL.match(text) or text.startswith("#"):
            continue
        if depth(text) == inner and not _BRANCH.match(text):
            continue
        inner, other = depth(text), bool(_ELSE.match(text))
        yield at


def depth(text: str) -> int:
    """The indentation of a line, in columns."""
    text = text.expandtabs(8)
    return len(text) - len(text.lstrip())


def statement(code: Sequence[SourceLine], at: int) -> tuple[int, str]:
    """Where the statement that a line is part of begins, and the whole of it on one line."""
    first = last = at
    while first and _continues(code[first - 1].text):
        first -= 1
    while last + 1 < len(code) and _continues(code[last].text):
        last += 1
    return first, " ".join(line.text.strip() for line in code[first : last + 1])


def _continues(text: str) -> bool:
    """Whether the statement on a line goes on in the next one."""
    bare = text.rstrip()
    return bare.endswith((",", "(", "&&", "||", "|", "+", "?", "=", '"')) or bare.count("(") > bare.count(")")


def code_block(chunk: CodeChunk, lines: Sequence[SourceLine], *, placed: bool = False) -> str:
    """A Markdown block of C. A comment marks every gap and gives the number of the next line.

    `placed`: it begins with the place of the first line.
    """
    holding = [line.number for line in code_lines(chunk)]
    out = [f"/* {chunk.source}:{lines[0].number} */"] if placed and lines else []
    last = lines[0].number if lines else 0
    for line in lines:
        if any(last < number < line.number for number in holding):
            indent = line.text[: len(line.text) - len(line.text.lstrip())]
            out.append(f"{indent}/* … {line.number}: */")
        out.append(line.text)
        last = line.number
    body = "\n".join(out).expandtabs(8).replace("```", "'''")
    # Deep nesting does not fit a phone: eight blanks become four.
    body = re.sub(r"^(?: {8})+", lambda found: " " * (len(found.group()) // 2), body, flags=re.M)
    return f"```c\n{body}\n```"
