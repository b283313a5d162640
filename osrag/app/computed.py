"""What the lab computes of a visitor's question, beside the book and Linux."""

import logging
from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from osrag.answer.clock import Clock
from osrag.answer.events import Event, Retrieved, Said, SourceDone, Token
from osrag.app.parts import Parts
from osrag.app.voices import voices
from osrag.errors import ModelBusy, ModelFailed
from osrag.lab.reading import Reading, read
from osrag.lab.reading.by_model import doubtful, reread
from osrag.lab.solve import Solved, answer_line, as_markdown, label, link, read_as
from osrag.lab.words import word
from osrag.quiz.computed import MOST
from osrag.types import AnyChunk, Language, Passage
from osrag.wording import say

log = logging.getLogger(__name__)
MOST_ROWS = 24  # of a trace in a reply; the lab shows all


def answer_exercise(
    solved: Sequence[Solved], unused: Sequence[str], parts: Parts, language: Language
) -> Iterator[Event]:
    """The events of a computed reply: what was read, the steps and the answer, the page that teaches it, Linux.

    `unused` are numbers of the question that play no part, which the reply asks to check.
    """
    clock = Clock()
    lines = [answer_line(each, language) for each in solved]
    text = "\n\n".join(told(each, language) for each in solved[:MOST])
    if unused:
        text = f"{say('lab_unused', language, numbers=', '.join(unused))}\n\n{text}"
    if len(solved) > MOST:
        text += "\n\n" + "\n".join(f"- {word('kinds', each.kind.name, language)}: {line}"
                                   for each, line in zip(solved[MOST:], lines[MOST:], strict=True))  # fmt: skip
    found = voices(parts, solved[0].kind, language)
    clock.mark("search")
    page, code = _numbered([found.page] if found.page else [], 1), _numbered(found.functions, 2 if found.page else 1)
    if page:
        text += f"\n\n{say('computed_book', language)} [1]"
    cited = tuple(passage.number for passage in page)
    yield Retrieved("textbook", page, say("computed_thought", language), stages=clock.stages)
    yield Token("textbook", text)
    said = tuple(Said(line, (), False) for line in lines)
    yield SourceDone("textbook", text, cited, "computed", clock.stages, said)
    if code:
        functions = (f"`{chunk.name}` [{number}]" for number, chunk in enumerate(found.functions, code[0].number))
        names = ("、" if language == "zh" else ", ").join(functions)
        linux = f"\n\n{say('computed_linux', language)} {found.linux} {names}"
        yield Retrieved("kernel", code, "", version=found.version)
        yield Token("kernel", linux)
        yield SourceDone("kernel", linux, tuple(one.number for one in code), "computed", ())


def read_exercise(text: str, parts: Parts) -> Reading | None:
    """The exercise that a text asks for. Where it is in doubt, the model reads it once more, if there is one."""
    reading = read(text, parts.checker)
    return None if reading is None else read_on(reading, text, parts)


def read_on(reading: Reading, text: str, parts: Parts) -> Reading:
    """The reading with what the model finds where it is in doubt."""
    if not doubtful(reading):
        return reading
    try:
        return reread(reading, text, parts.chat, parts.checker)
    except (ModelBusy, ModelFailed) as error:
        log.warning("read without the model: %s", error.sentence())
        return reading


def missing_note(reading: Reading, further: Reading, language: Language) -> str:
    """Markdown that asks for what an exercise leaves out, with a link to its form.

    What the model found of it, in `further`, stands there to be checked and is not computed: of the readings that it
    completed on unseen questions too many were wrong.
    """
    missing = reading.solved().missing
    join, colon = ("、".join, "：") if language == "zh" else (", ".join, ": ")
    kind, fields = word("kinds", reading.kind.name, language), join(label(one, language) for one in missing)
    note = say("computed_missing", language, kind=kind, fields=fields)
    if found := [f"{label(one, language)}{colon}{further.values[one]}" for one in missing if one in further.values]:
        note += f" {say('computed_found', language, values=_plain(join(found)))}"
    given = urlencode({"lab": reading.kind.name, **further.values}, safe=",")
    return f"{note} [{say('computed_form', language)}](?{given})"


def told(solved: Solved, language: Language) -> str:
    """One exercise as Markdown: how it was read, and only then its steps and its answer."""
    if solved.solution is None:
        return ""
    head = [f"{say('computed_read_as', language)} **{word('kinds', solved.kind.name, language)}**"]
    for rules in (False, True):
        apart, colon = ("；", "：") if language == "zh" else ("; ", ": ")
        values = apart.join(f"{name}{colon}{text}" for name, text in read_as(solved, language, rules=rules))
        head += [f"- {say('computed_rules', language) if rules else ''}{_plain(values)}"] if values else []
    rows = as_markdown(solved.solution, language).splitlines()
    shown = rows[: MOST_ROWS + 2]
    more = [say("lab_rows_left_out", language, count=len(rows) - len(shown))] if len(rows) > len(shown) else []
    form = f"[{say('computed_open', language)}]({address(solved)})"
    return "\n\n".join(
        ["\n".join(head), "\n".join(shown), *more, f"**{_plain(answer_line(solved, language))}** · {form}"]
    )


def _plain(text: str) -> str:
    """Text whose characters are not Markdown."""
    return text.translate({ord(char): f"\\{char}" for char in "\\`*_#<>[]|~$"})


def _numbered(chunks: Sequence[AnyChunk], first: int) -> tuple[Passage, ...]:
    return tuple(Passage(number, chunk, 1.0, 1.0) for number, chunk in enumerate(chunks, first))


def address(solved: Solved) -> str:
    """The link of a computed exercise: `?lab=lru&frames=3&refs=7,0,1,2`."""
    return "" if solved.parameters is None else f"?{urlencode(link(solved.kind, solved.parameters), safe=',')}"
