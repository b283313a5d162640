"""Kernel chunks as an answer shows them: one line of description, the key lines, a link to the source.

Everything here comes from the index. The model never retypes code (K4).
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from osrag.ingest.describe import name_in_words
from osrag.retrieve.kernel_result import SourceLine, all_lines, focus_lines
from osrag.text import clip, language_of, sentences
from osrag.types import CodeChunk, Language, LineRef
from osrag.wording import say

BROWSER = "https://elixir.bootlin.com/linux/v{version}/source/{file}#L{line}"
MOST_LINES = 16  # of one function in a reply
LINE_CHARS = 110
DESCRIPTION_CHARS = 240
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
# Lines that say little: tracing and checks, the preprocessor, declarations that compute nothing.
_DULL = re.compile(
    r"^\s*(?:(?:trace_\w+|VM_(?:BUG|WARN)_ON\w*|WARN_ON\w*|BUG_ON|lockdep_\w+|might_sleep\w*)\(|#)"
    r"|^\s+(?:(?:const|static|unsigned|struct|enum)\s+)*\w+\s+[*\w\s,]+(?:=\s*[\w\->.]+)?;\s*$"
)
_STRUCTURE = re.compile(r"(?:Calls|Called by) \w")
_STATEMENT = re.compile(r"^\s*(?:return|goto|else|case|break|continue)\b")


def source_url(file: str, line: int, version: str) -> str:
    """The line in a public source browser, at the version that is indexed."""
    return BROWSER.format(version=version, file=file, line=line)


def place(chunk: CodeChunk) -> str:
    """`kernel/sched/core.c:4052-4248`."""
    return f"{chunk.source}:{chunk.where.first}-{chunk.where.last}"


def link(chunk: CodeChunk, version: str) -> str:
    """Markdown: the place of a chunk, leading to the source browser."""
    return f"[{place(chunk)}]({source_url(chunk.source, chunk.where.first, version)})"


def told(chunk: CodeChunk) -> tuple[str, str]:
    """What the description says in English and in Chinese, without the words of the name."""
    english, _, chinese = chunk.description.partition("\n")
    words_en, words_zh = name_in_words(chunk.name)
    english = english.removeprefix(f"{chunk.name}: {words_en}.").strip()
    chinese = chinese.removeprefix(f"{words_zh}。").strip()
    return re.sub(r"\s*\([^()]*\)$", "", english), _finished(chinese)


def _finished(text: str) -> str:
    """Chinese up to its last full stop; the glossary terms behind it are for the search."""
    end = max(text.rfind(stop) for stop in "。！？")
    return text[: end + 1]


def one_line(chunk: CodeChunk, language: Language) -> str:
    """What a function is for, in the reader's language where there is such a text, else in English."""
    english, chinese = told(chunk)
    text = (chinese if language == "zh" else "") or english
    if language == "zh" and not chinese and _STRUCTURE.match(english):
        text = _structure(chunk)
    return clip(" ".join(_first_sentences(text)), DESCRIPTION_CHARS)


def is_described(chunk: CodeChunk, language: Language) -> bool:
    """Whether somebody wrote what a function is for, in the reader's language: a name and a structure say little."""
    english, chinese = told(chunk)
    return bool(chinese) if language == "zh" else len(english) > 15 and not _STRUCTURE.match(english)


def _first_sentences(text: str) -> list[str]:
    """The first sentence, or more where it is short."""
    enough, most = (18, 80) if language_of(text) == "zh" else (50, 180)
    taken: list[str] = []
    for sentence in sentences(text):
        length = sum(map(len, taken))
        if length >= enough or (taken and length + len(sentence) > most):
            break
        taken.append(" ".join(sentence.split()))
    return taken


def _structure(chunk: CodeChunk) -> str:
    """Chinese for a function that nobody described: what it calls and what calls it."""
    parts = []
    if chunk.calls:
        parts.append(say("kernel_calls", "zh", names="、".join(chunk.calls[:6])))
    if chunk.called_by:
        parts.append(say("kernel_called_by", "zh", names="、".join(chunk.called_by[:3])))
    return "".join(parts)


def without_comments(chunk: CodeChunk) -> CodeChunk:
    """The chunk from its first line of code on, its comments blanked; every line keeps its number."""
    bare = _COMMENT.sub(lambda found: "\n" * found.group().count("\n"), chunk.text)
    code = bare.lstrip("\n \t")
    first = chunk.where.first + bare[: len(bare) - len(code)].count("\n")
    return replace(chunk, text=code, where=LineRef(first, max(first, chunk.where.last)))


def key_lines(chunk: CodeChunk, query: str, *, chars: int, most: int = MOST_LINES) -> list[SourceLine]:
    """The lines of code that matter to the question, as they stand in the file, in order."""
    bare = without_comments(chunk)
    numbers = {line.number for line in focus_lines(bare, query, chars) if not _is_dull(line.text)}
    code = _code(chunk)
    whole = _closed(code, [at for at, line in enumerate(code) if line.number in numbers])[:most]
    originals = {line.number: line.text for line in all_lines(chunk)}
    return [SourceLine(code[at].number, clip(originals[code[at].number], LINE_CHARS)) for at in whole]


def _is_dull(text: str) -> bool:
    return bool(_DULL.match(text)) and not _STATEMENT.match(text)


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


def _continues(text: str) -> bool:
    """Whether the statement on a line goes on in the next one."""
    bare = text.rstrip()
    return bare.endswith((",", "(", "&&", "||", "|", "+", "?", "=")) or bare.count("(") > bare.count(")")


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
