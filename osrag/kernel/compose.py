"""The reply to a question that no walk-through covers, put together without a model.

The likeliest functions in the order of their calls, each with what is said of it and its deciding lines: by a step of
some walk-through, else by its note or its comment. Nothing is said of how they work together but what the call graph
has; what it does not have is named.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from osrag.answer.events import CallPath, PathStep, Said
from osrag.answer.source import Draft
from osrag.answer.view import source_url
from osrag.kernel.code import SourceLine, code_block, one_line, quoted_lines, structure, with_comments
from osrag.kernel.deciding import deciding_lines
from osrag.kernel.describe import said_of
from osrag.kernel.graph import HELPER, Graph
from osrag.kernel.in_words import MOST_SAID, doings, in_words
from osrag.kernel.parts import code_of, path_text, plain
from osrag.kernel.reading_path import CALL, COMMON, reading_path, with_others
from osrag.kernel.walk_answer import when_text
from osrag.kernel.walk_match import Told
from osrag.kernel.walks import places
from osrag.text import clip, language_of, sentences
from osrag.types import ChunkKind, CodeChunk, Language, Origin, Passage
from osrag.wording import say

MOST, LEAST = 10, 3  # functions whose lines are quoted
LIKELY = 0.04  # chance from which a function is quoted; with .08 a sixth fewer of the deciding lines are shown
SURE = 0.25  # chance from which it has all its lines
MOST_BESIDE, LIKELY_BESIDE = 4, 0.2  # the same beside a walk-through, which has most of what is asked
MOST_UNSURE = 5  # beside a walk-through that may not be what is meant
LINES, LINES_NAMED = 6, 12  # lines of a function before the conditions around them; of one that the question names
LINES_LESS = 4  # of a function that is less sure, or beside those that a step of a walk-through quotes
PURPOSE_CHARS = 90  # of what a callee is for
CALLERS, CALLEES = 4, 6  # that are listed of a function that the question names; and files with one of its name


@dataclass(frozen=True, slots=True)
class Part:
    """One function of a reply."""

    passage: Passage
    said: str  # Markdown
    lines: Sequence[SourceLine]


@dataclass(frozen=True, slots=True)
class Composer:
    """Puts together the reply to one question."""

    asked: str
    named: frozenset[str]  # functions that the question names
    told: Mapping[str, Told]  # what steps of walk-throughs say of functions
    graph: Graph
    language: Language

    def draft(self, passages: Sequence[Passage]) -> Draft:
        """The whole reply but for a model's explanation. `passages` have their chance as score, best first."""
        version = self.graph.store.version
        path = reading_path(passages, self.graph)
        reached = {step.number: step for step in path.steps}
        names = frozenset(code_of(passage).name for passage in passages)
        chosen = in_order(self.quoted(passages), path, self.named)
        parts = [self.part(passage, names) for passage in chosen]
        shown = [self.shown(n, one, reached.get(one.passage.number)) for n, one in enumerate(parts, start=1)]
        about = {passage.number: self.purpose(code_of(passage)) for passage in passages}
        ending = [path_text(path, passages, version, self.language, about), self.unknown(chosen, path)]
        return Draft(
            lead="\n\n".join([self.opening(chosen), *shown]) + "\n",
            cited=tuple(passage.number for passage in chosen),
            statements=_statements(parts),
            how="composed",
            ending="\n\n".join(filter(None, ending)),
            path=path,
            marked=_marked(parts),
        )

    def beside(self, walk: Draft, own: Sequence[Passage], others: Sequence[Passage], *, sure: bool) -> Draft:
        """A walk-through, then the functions that the question is about too and that it does not have.

        `own` are those of the walk-through. Besides those that the question names only likely ones count that call
        one of them or are called by one: of the others most are about something else. Where it is not `sure` that the
        walk-through is what is meant, they are the functions that the reply would have without it.
        """
        inside = {row for one in own for row in self.rows(one)}
        wanted = [
            one
            for one in others
            if code_of(one).name in self.named or (one.score >= LIKELY_BESIDE and self.joined(one, inside))
        ]
        chosen = wanted[:MOST_BESIDE] if sure else self.quoted(others)[:MOST_UNSURE]
        path = with_others(walk.path, [*own, *chosen], self.graph)
        parts = [self.part(passage, frozenset(code_of(one).name for one in (*own, *others))) for passage in chosen]
        shown = [say("composed_beside", self.language), *(self.shown(0, one, None) for one in parts)]
        return replace(
            walk,
            lead="\n\n".join([walk.lead, *(shown if parts else ())]),
            how=walk.how if sure else "composed",
            cited=(*walk.cited, *(passage.number for passage in chosen)),
            statements=(*walk.statements, *_statements(parts)),
            path=path,
            marked=(*walk.marked, *_marked(parts)),
        )

    def rows(self, passage: Passage) -> Sequence[int]:
        """Where the graph has the function of a passage."""
        return self.graph.store.definitions([code_of(passage).name], passage.chunk.source)

    def joined(self, passage: Passage, others: AbstractSet[int]) -> bool:
        """Whether a call joins a function with one of the others."""
        return any(others & {*self.graph.callees(row), *self.graph.callers(row)} for row in self.rows(passage))

    def quoted(self, passages: Sequence[Passage]) -> list[Passage]:
        """The passages that a reply quotes: those that the question names, then the likeliest; a name once."""
        chosen: dict[str, Passage] = {}
        for passage in sorted(passages, key=lambda passage: code_of(passage).name not in self.named):
            name = code_of(passage).name
            if name in self.named or passage.score >= LIKELY or len(chosen) < LEAST:
                chosen.setdefault(name, passage)
        return list(chosen.values())[:MOST]

    def part(self, passage: Passage, names: frozenset[str]) -> Part:
        """What is said of a function, and its lines. `names` are all functions of the reply."""
        chunk = code_of(passage)
        told = self.told.get(chunk.name)
        if told and told.file != chunk.source:  # a namesake
            told = None
        named = chunk.name in self.named
        most = LINES_NAMED if named else LINES if passage.score >= SURE and not told else LINES_LESS
        lines = deciding_lines(chunk, self.asked, names - {chunk.name}, self.graph.store, most=most)
        said = [self.about(chunk, lines, names)] if chunk.origin is Origin.NOTE or not told else []
        if told:
            lines = quoted_lines(chunk, {*places(chunk, told.lines), *(line.number for line in lines)})
            if told.when:
                blank = "" if self.joint else " "  # after "。*" Markdown ends the emphasis only before a blank
                said.append(f"*{when_text(told.when, self.language)}*{blank}")
            said.append(told.said)
        if named and chunk.origin is not Origin.CODE:  # else its calls are all that can be said of it
            said.append(self.around(chunk))
        if files := self.namesakes(chunk):
            said.append(self.listed("composed_namesakes", files))
        return Part(passage, self.joint.join(filter(None, said)), with_comments(chunk, lines))

    def namesakes(self, chunk: CodeChunk) -> list[str]:
        """The other source files that define a function of this name."""
        store = self.graph.store
        files = dict.fromkeys(map(store.file_name, store.functions_named(chunk.name)))
        return [file for file in files if file != chunk.source and file.endswith(".c")][:CALLERS]

    def purpose(self, chunk: CodeChunk) -> str:
        """What a function is for, as somebody wrote it."""
        return self.written(chunk) or structure(chunk, self.language)

    def written(self, chunk: CodeChunk, *, translated: bool = False) -> str:
        """What somebody wrote of a function: a note, what the summary of its file says of it alone, its comment.

        `translated`: no comment, which is English, in a Chinese reply.
        """
        if chunk.origin is Origin.NOTE or chunk.kind is not ChunkKind.FUNCTION:
            return one_line(chunk, self.language)
        written = self.graph.store.summary(chunk.source).split("\n")
        said = [said_of(text, chunk.name) for text in written if language_of(text) == self.language]
        if chunk.origin is Origin.COMMENT and not (translated and self.language == "zh"):
            said.append(one_line(replace(chunk, zh=""), self.language))
        return self.joint.join(filter(None, said))

    def about(self, chunk: CodeChunk, lines: Sequence[SourceLine], names: AbstractSet[str]) -> str:
        """What is said of a function: what somebody wrote, else what its lines do. Markdown."""
        if (written := self.written(chunk)) or chunk.kind is not ChunkKind.FUNCTION:
            return plain(written)
        return self.doing(chunk, lines, names) or plain(structure(chunk, self.language))

    def doing(self, chunk: CodeChunk, lines: Sequence[SourceLine], names: AbstractSet[str]) -> str:
        """What the `lines` of a function do, in words; of its callees those in `names` are shown too."""
        store = self.graph.store

        def known(name: str) -> bool:
            rows = store.definitions([name], chunk.source)
            return name in names or (any(map(store.is_function, rows)) and store.times_called(name) <= COMMON)

        def purpose(name: str) -> str:
            rows = store.definitions([name], chunk.source) if name not in names else []
            said = [self.written(store.chunk(row), translated=True) for row in rows if store.is_function(row)]
            return next((clip(plain(one).rstrip(".。"), PURPOSE_CHARS) for one in said), "")

        some = doings(chunk, {line.number for line in lines}, known)
        return in_words(some[:MOST_SAID], purpose, self.language)

    def around(self, chunk: CodeChunk) -> str:
        """What calls a function, and what it calls to do its work."""
        graph, names = self.graph, self.graph.store.names
        for row in graph.store.definitions([chunk.name], chunk.source):
            callees = graph.callees(row)
            cold = graph.failing(row, callees)
            working = [names[one] for one in callees if one not in cold and not HELPER.match(names[one])]
            callers = [names[one] for one in graph.callers(row)]
            sides = {"kernel_called_by": callers[:CALLERS], "kernel_calls": working[:CALLEES]}
            return self.joint.join(self.listed(key, some) for key, some in sides.items() if some)
        return ""

    def listed(self, key: str, names: Sequence[str], **more: str) -> str:
        """A text of the wording with names of code."""
        comma = "、" if self.language == "zh" else ", "
        return say(key, self.language, names=comma.join(f"`{one}`" for one in names), **more)

    @property
    def joint(self) -> str:
        """What stands between two sentences."""
        return "" if self.language == "zh" else " "

    def opening(self, chosen: Sequence[Passage]) -> str:
        """That nobody wrote the reply; and what the file with most of the functions is for, by its summary."""
        chances: dict[str, float] = defaultdict(float)
        for passage in chosen:
            chances[passage.chunk.source] += passage.score
        file = max(chances, key=chances.__getitem__)
        summary = self.graph.store.summary(file).split("\n")
        written = next((text for text in summary if language_of(text) == self.language), "")
        names = {code_of(passage).name for passage in chosen}
        about = sorted(sentences(written), key=lambda sentence: -sum(name in sentence for name in names))[:1]
        colon = "：" if self.language == "zh" else ": "
        told = f"`{file}`{colon}{plain(about[0].strip())}" if about else ""
        head = say("kernel_composed", self.language, version=self.graph.store.version)
        return "\n\n".join(filter(None, (head, told)))

    def shown(self, number: int, part: Part, step: PathStep | None) -> str:
        """One function: how it is reached, what is said of it, its lines; `number` 0 if it has no place in an order."""
        chunk = code_of(part.passage)
        first = part.lines[0].number if part.lines else chunk.where.first
        url = source_url(chunk.source, first, self.graph.store.version)
        by = ""
        if step and step.kind != CALL:
            kind = say(f"edge_{step.kind}", self.language)
            by = f"*{say('composed_reached', self.language, kind=kind, origin=step.called_by)}* "
        place = f"**{number}.** " if number else ""
        head = f"{place}{by}[`{chunk.name}`]({url}) [{part.passage.number}] {part.said}"
        return f"{head}\n\n{code_block(chunk, part.lines, placed=True)}"

    def unknown(self, chosen: Sequence[Passage], path: CallPath) -> str:
        """What the call graph does not say: which functions it joins with no other, and which nothing in it calls."""
        on_path = {step.number for step in path.steps}
        functions = [one for one in chosen if code_of(one).kind is ChunkKind.FUNCTION]
        alone = [code_of(one).name for one in functions if one.number not in on_path and len(functions) > 1]
        starts = [step for step in path.steps if not step.called_by and not self._callers(step)]
        handed = {step.name: way for step in starts if (way := self._pointing(step))}
        entered = [step.name for step in starts if step.name not in handed]
        common = self.common(functions, alone)
        alone = [name for name in alone if not any(name in called for called in common.values())]
        told = [self.listed("composed_common", called, by=by) for by, called in common.items()]
        rows = {"composed_alone": alone, "composed_entered": entered}
        told += [self.listed(key, names) for key, names in rows.items() if names]
        for name, (kind, origin) in handed.items():
            told.append(
                say("composed_handed", self.language, name=name, kind=say(f"edge_{kind}", self.language), origin=origin)
            )
        return self.joint.join(told)

    def common(self, functions: Sequence[Passage], alone: Sequence[str]) -> dict[str, list[str]]:
        """What calls a function that stands `alone` and others of the reply too: of several the one with the most."""
        graph, names = self.graph, self.graph.store.names
        shown = [row for one in functions for row in graph.store.definitions([code_of(one).name], one.chunk.source)]
        found: dict[str, list[str]] = {}
        for row in (row for row in shown if names[row] in alone and not any(names[row] in of for of in found.values())):
            calling = {by: [one for one in shown if one in graph.callees(by)] for by in graph.callers(row)}
            best = max(calling, key=lambda by: len(calling[by]), default=row)
            if len(calling.get(best, ())) > 1:
                found[names[best]] = [names[one] for one in calling[best]]
        return found

    def _callers(self, step: PathStep) -> list[int]:
        return [one for row in self.graph.store.definitions([step.name], step.file) for one in self.graph.callers(row)]

    def _pointing(self, step: PathStep) -> tuple[str, str] | None:
        """How a function that nothing calls is reached, and where the pointer to it is handed on."""
        for row in self.graph.store.definitions([step.name], step.file):
            for one in self.graph.pointing(row)[:1]:
                return self.graph.kind(one, row), self.graph.store.names[one]
        return None


def _statements(parts: Sequence[Part]) -> tuple[Said, ...]:
    return tuple(Said(one.said, (one.passage.number,), False) for one in parts)


def _marked(parts: Sequence[Part]) -> tuple[tuple[int, tuple[int, ...]], ...]:
    return tuple((one.passage.number, tuple(line.number for line in one.lines)) for one in parts)


def in_order(passages: Sequence[Passage], path: CallPath, named: frozenset[str]) -> list[Passage]:
    """As the path has them. Of what is not on it, what the question names comes first, the rest behind, best first."""
    at = {step.number: place for place, step in enumerate(path.steps)}
    alone = {one.number: -1 if code_of(one).name in named else len(at) for one in passages}
    return sorted(passages, key=lambda one: at.get(one.number, alone[one.number]))
