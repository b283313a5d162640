"""An answer made of the book's own statements: which, how many, in which order (T12).

    lines with scores -> windows of lines that follow each other -> the best windows that do not say the same

A textbook answers in stretches: a definition and what it means, the steps one behind the other. So statements are
chosen in windows. A window is worth the sum of what its lines score above their cost.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, takewhile
from os.path import commonprefix

import numpy as np
import numpy.typing as npt

from osrag.answer.kinds import kinds_of
from osrag.answer.plan import points_back
from osrag.book.answers import Near, PreparedAnswer
from osrag.book.defining import defines, names_of
from osrag.book.lines import Line, lines_of, statements_of
from osrag.book.selector import Selector, is_quoted, signals
from osrag.glossary import Term, load_glossary
from osrag.index.confidence import load_confidence
from osrag.models.protocols import Encoder, PairEncoder, Vectors
from osrag.text import folded, language_of, share_of, tokens
from osrag.types import Chunk, Passage

# Fixed on the development questions (docs/experiments/answers.md, "Composed answers").
# Score of a line below which it makes an answer worse: where a pair encoder has read the lines, and where none has;
# less where the best line scores little, else what answers weakly were cut to single lines.
COST, UNREAD_COST, OF_BEST = 0.3, 0.08, 0.5
MOST = 8  # statements of an answer
MOST_WINDOWS = 4
MOST_PARTS = 3  # of a question
STANDS_ALONE = 3  # words of a part that names no term of the glossary and has none before it
LIKELY = 0.4  # chance from which a prepared answer is what a part of a question wants
ALONE = 0.7  # chance from which it gets nothing beside it: most of that was beside the question
MORE = 1  # windows that a less likely one gets
# Without prepared answers, the share of a line's score that it would have if its passage were found first. The selector
# learned on a book whose first passage mostly answers, and leaves nearly all lines of others out. More of it says more
# that is beside the question.
DOUBT = 1 / 3
LEFT = 2  # statements that a part leaves to each one behind it
FEW = 3  # statements of an answer that may well miss the question
LEAST = 5  # statements that are looked for, at whatever cost
FLOOR = 0.1  # of the score of the best line: a window with less on the average says nothing about the question
READ = 20  # best lines for a question that the pair encoder reads beside it; it takes 0.2 s for them on two cores
ASIDE = 0.35  # of the score of the best item of a nested list: one with less is left out
SAME_COSINE, SAME_WORDS = 0.95, 0.75  # from which two statements say the same
# A line that begins so needs the one before it.
_LEANS = re.compile(
    r"([把将被由对]?(这|那[个些种样时么]|它)|[两二三四]者|该|此|因此|所以|于是|但是?|然而|其中|其[次余]|其(?!他|它|实)|上[面述]"
    r"|前者|后者|反之|相反|同样|不过|而(?!且)|[并而]且|第[二三四五]|另[一外]|再|然后|接着|最后|随后|例如|比如|同时[，,])"
    r"|(this|its?|that|these|those|they|them|their|such|therefore|hence|thus|but|however|so|then|here|in this"
    r"|both(?! \w+ and)|neither(?! \w+ nor)|conversely|otherwise|the (second|third|former|latter|other|two|three|same)"
    r"|second|third|fourth|fifth|finally|also|similarly|for (example|instance)|moreover|furthermore|as a result"
    r"|on the other hand|in (addition|contrast|other words)|(next|instead|meanwhile)(?=,))\b",
    re.I,
)
_SENTENCE = re.compile(r"(?<=[?？。！])|(?<=[a-z)][.!])\s+(?=[A-Z])")
_ASKS = re.compile(
    r"怎|咋|什么|啥|如何|为何|哪|多少|各是|代价是|吗|\b(how|what|why|when|which|where|who|list|explain|describe|compare|define|name)\b",
    re.I,
)
# Between two clauses of a sentence, where the second one asks again.
_JOINS = re.compile(
    r"，|[；;]|,(?=[\u4e00-\u9fff])|以及|并且|，?和(?=怎|什么|如何|为|哪)"
    r"|,? and (?=(?:say |explain |tell )?(?:how|why|what|which|when|who|where|does|do|is|are|can|should)\b)"
    r"|, (?=(?:how|why|what)\b)",
    re.I,
)
_OF_ONE = re.compile(r"(?P<thing>.{2,}?)的(?P<first>[^的，,？?]{2,6}?)(?:以及|和|及其?|与|、)(?P<second>.{2,})")
_RELATES = re.compile(r"区别|不同|关系|联系|异同|比较")
_REPLY = re.compile(r"(yes|no|\w{1,4})[.。!！]", re.I)


@dataclass(frozen=True, slots=True)
class Window:
    """Lines that are taken together."""

    lines: Sequence[int]
    value: float
    mean: float  # score of its lines


def leans(line: Line) -> bool:
    """Whether a line cannot be understood without the one before it; a bare "No." not without its question."""
    return bool(_LEANS.match(line.text.lstrip("“\"'*")) or _REPLY.fullmatch(line.text))


def parts_of(question: str, *, clauses: bool = False) -> tuple[str, ...]:
    """The questions in a text that asks several (T10); none where it asks one.

    With `clauses` those of one sentence too, "what is X, and why …". They find prepared answers and choose among the
    lines that were found; a search for one of them alone finds other pages than the whole sentence does.

    A part that names no topic, such as "怎么预防？" behind "什么是死锁？", has that of the part before it; so has the
    rest of a sentence, and a part that points back.
    """
    parts: list[str] = []
    topic: list[str] = []
    for sentence in _questions(question):
        for place, piece in enumerate(_clauses(sentence) if clauses else [sentence]):
            names = [_as_written(term, piece) for term in load_glossary().find(piece)]
            leans = bool(place) or not names or points_back(piece)
            lent = [name for name in topic if name not in names] if leans else []
            words = len(set(tokens(piece)))
            if not names and words < (1 if lent else STANDS_ALONE):
                continue
            parts.append(f"{piece} ({', '.join(lent)})" if lent else piece)
            topic = [*lent, *names]
    return tuple(parts[:MOST_PARTS]) if len(parts) > 1 else ()


def _questions(text: str) -> list[str]:
    """The sentences that ask, each with what is told before it; "Give an example." asks for nothing of its own."""
    found: list[str] = []
    told: list[str] = []
    for sentence in filter(None, map(str.strip, _SENTENCE.split(text))):
        told.append(sentence)
        if sentence.endswith(("?", "？")) or _ASKS.search(sentence):
            found.append(" ".join(told))
            told = []
    return found or [text.strip()]


def _as_written(term: Term, text: str) -> str:
    """The name of a term that stands in `text`."""
    names = term.zh if language_of(text) == "zh" else term.en
    return next((name for name in (*names, *term.zh, *term.en) if name.lower() in text.lower()), names[0])


def _apart(names: Sequence[str]) -> list[str]:
    """What tells names from each other: "prevention" of "deadlock prevention", "avoidance" of "deadlock avoidance"."""
    lower = [name.lower() for name in names]
    head = len(commonprefix(lower))
    tail = len(commonprefix([name[:head:-1] for name in lower]))
    return [name[head : len(name) - tail].strip() or name for name in lower]


def _clauses(sentence: str) -> list[str]:
    """What a sentence asks for one by one: "what is X and why", "X 的组成和特点"."""
    found = [piece.strip() for piece in _JOINS.split(sentence)]
    if len(found) > 1 and all(map(_ASKS.search, found)):
        return found
    two = _OF_ONE.fullmatch(sentence.strip())
    if two and not _RELATES.search(two["second"]):
        second = two["second"]
        return [f"{two['thing']}的{two['first']}", second if "的" in second else f"{two['thing']}的{second}"]
    return [sentence.strip()]


@dataclass(frozen=True, slots=True)
class Composer:
    """Chooses the lines of an answer. Safe to call from several threads.

    `pairs` reads a question and a line together; None beside an encoder that it was not trained on.
    """

    encoder: Encoder
    selector: Selector
    pairs: PairEncoder | None = None

    def compose(
        self,
        question: str,
        passages: Sequence[Passage],
        near: Sequence[Near] = (),
        cited: Sequence[Passage] = (),
        *,
        few: bool = False,
    ) -> list[Line]:
        """The lines that answer, in the order in which they are read; for each part of the question its own first.

        The statements of the prepared answers that are `near` the question or its parts are candidates too. What they
        cite is among the `passages` or the `cited` ones. `few`: only what fits best.
        """
        choice = self.choose(question, passages, near, cited, few=few)
        # The parts of a question stand in their turn.
        compares = "compare" in kinds_of(question) and not parts_of(question, clauses=True)
        named = load_glossary().find(question) if compares else ()
        compared = [_as_written(term, question) for term in named] if len(named) > 1 else []
        return [choice.lines[at] for at in choice.order(_apart(compared))]

    def choose(
        self,
        question: str,
        passages: Sequence[Passage],
        near: Sequence[Near],
        cited: Sequence[Passage],
        *,
        few: bool = False,
    ) -> "Choice":
        """The windows of an answer, the one that was chosen first before the others."""
        lines = lines_of(passages)
        passages = [*passages, *cited]
        numbers = {passage.chunk.id: passage.number for passage in passages}
        lines += statements_of([one.answer for one in near], numbers, len(lines))
        if not lines:
            return Choice((), np.zeros((0, 0), np.float32), np.zeros(0, np.float32), self._cost)
        vectors = self.encoder.passages([line.in_context for line in lines])
        parts = parts_of(question, clauses=True)
        apart = parts_of(question) if near else parts  # get lines of their own
        queries = self.encoder.queries([question, *parts])
        answers = [[(one.answer, one.cosines[text]) for one in near] for text in range(1 + len(parts))]
        wants = [wanted(near, text) for text in range(1 + len(parts))]
        if parts and min(wants[1:]) >= 0:
            wants[0] = -1  # each part has its own
        given = [one for one in dict.fromkeys((*wants[1:], wants[0])) if one >= 0]
        open_parts = sum(one < 0 for one in wants[1:])
        sure = {one: max(near[one].chances[text] for text, own in enumerate(wants) if own == one) for one in given}
        enough = (
            bool(given) and not open_parts and min(sure.values()) >= ALONE
        )  # the given answers are all that is said
        whole = self._scores(question, queries[0], lines, vectors, passages, answers[0], read=few or not enough)
        choice = Choice(lines, vectors, whole, self._cost)
        if few:
            choice.add(whole, most=FEW, windows=1)
            choice.fall_back()
            return choice
        for later, one in zip(reversed(range(len(given))), given, strict=True):
            choice.give(one, most=MOST - LEFT * (later + open_parts), whole=sure[one] >= ALONE)
        if given and not open_parts:
            if not enough:
                choice.add(whole, most=MOST, windows=MORE, least=0)
            return choice
        for text in () if given else (question, *parts):
            if choice.define(whole, names_of(text), most=MOST - LEFT * len(parts[1:])) and text == question:
                choice.add(whole, most=MOST, windows=MORE, least=0)
                return choice
        if not near and parts:  # a clause alone may miss what the question is about
            choice.add(whole, most=MOST - LEFT * len(parts), windows=1)
        for place, (part, query, asked) in enumerate(zip(parts, queries[1:], answers[1:], strict=True), start=1):
            if wants[place] < 0 and part in apart:
                order = _by_nearness(passages, lines, vectors @ query)
                own = self._scores(part, query, lines, vectors, order, asked)
                choice.add(own, most=MOST - LEFT * (len(parts) - place), windows=1)
        choice.add(whole, most=MOST, windows=MOST_WINDOWS)
        choice.fall_back()
        return choice

    @property
    def _cost(self) -> float:
        return COST if self.pairs else UNREAD_COST

    def _scores(
        self,
        question: str,
        query: Vectors,
        lines: Sequence[Line],
        vectors: Vectors,
        passages: Sequence[Passage],
        near: Sequence[tuple[PreparedAnswer, float]],
        *,
        read: bool = True,
    ) -> Vectors:
        """(lines,) how much each says to a question with the vector `query`; the best passage stands first.

        The pair encoder is heard only where they are `read`: it takes most of the time of an answer.
        """
        scores = self.selector.scores(signals(question, query, lines, vectors, passages, near))
        if not near:
            first = self.selector.scores(signals(question, query, lines, vectors, passages, ranked=False))
            scores = (1 - DOUBT) * scores + DOUBT * first
        if self.pairs is None or not read:
            return scores
        best = np.argsort(-scores * [line.bridges for line in lines], kind="stable")[:READ]
        odds = self.pairs.scores(question, read_as([lines[at] for at in best], passages, [one for one, _ in near]))
        said = np.full(len(lines), odds.min())
        said[best] = odds
        chance = load_confidence("said_to")
        seen = zip(log_odds(scores), said, strict=True)
        return np.array([chance({"selector": own, "pairs": read}) for own, read in seen], np.float32)


def log_odds(chances: Vectors) -> Vectors:
    """Of chances, which may be 0 or 1."""
    inside = np.clip(chances, 1e-4, 1 - 1e-4)
    return np.asarray(np.log(inside / (1 - inside)), np.float32)


def read_as(lines: Sequence[Line], passages: Sequence[Passage], near: Sequence[PreparedAnswer]) -> list[str]:
    """(lines,) how the pair encoder reads them.

    A statement stands behind the question of its prepared answer, a line of the book behind the title of its section.
    """
    chunks = {one.number: one.chunk for one in passages}
    titles = {n: chunk.section[-1] for n, chunk in chunks.items() if isinstance(chunk, Chunk) and chunk.section}
    heads = [near[line.answer].questions[0] if line.answer >= 0 else titles.get(line.passage, "") for line in lines]
    return [behind(head, line.in_context) for head, line in zip(heads, lines, strict=True)]


def behind(head: str, text: str) -> str:
    """A line as the pair encoder reads it, behind what it stands under."""
    return f"{head}\n{text}" if head else text


def wanted(near: Sequence[Near], text: int) -> int:
    """Which of the prepared answers a text most likely wants; -1 where that is unlikely."""
    best = max(range(len(near)), key=lambda place: near[place].chances[text], default=-1)
    return best if best >= 0 and near[best].chances[text] >= LIKELY else -1


def _by_nearness(passages: Sequence[Passage], lines: Sequence[Line], cosines: Vectors) -> list[Passage]:
    """Passages as a search for this part alone would order them: by their nearest line."""
    near = dict.fromkeys((passage.number for passage in passages), -1.0)
    for line, cosine in zip(lines, cosines, strict=True):
        near[line.passage] = max(near[line.passage], float(cosine))
    return sorted(passages, key=lambda passage: -near[passage.number])


class Choice:
    """The windows of one answer.

    `scores` (lines,) are with the whole question; a line that scores less than `cost` makes an answer worse, if that
    is not more than a share of the best.
    """

    def __init__(self, lines: Sequence[Line], vectors: Vectors, scores: Vectors, cost: float) -> None:
        self.lines = lines
        self._vectors, self.scores, self._cost = vectors, scores, cost
        self._words = [tokens(line.text) for line in lines]
        self._origins = [folded(line.quote or line.text) for line in lines]
        self._usable = np.array([line.bridges for line in lines])
        self._taken: list[list[int]] = []
        self._defining: set[int] = set()  # first lines of windows that say what is asked for

    @property
    def _count(self) -> int:
        return sum(map(len, self._taken))

    def give(self, answer: int, *, most: int, whole: bool = False) -> None:
        """Take the statements of a prepared answer in its order; the best of them where it is longer and no steps.

        Of a `whole` one all are taken but those that were said already.
        A statement that leans on the one before it comes with it, or not at all.
        """
        blocks: list[list[int]] = []
        for at, line in enumerate(self.lines):
            if line.answer == answer and (line.opens or not leans(line)):
                blocks.append([at])
            elif line.answer == answer:
                blocks[-1].append(at)
        taken = [*chain.from_iterable(self._taken)]
        new = (lambda at: not any(self._quotes(at, one) for one in taken)) if whole else self._usable.__getitem__
        blocks = [*filter(None, ([*takewhile(new, block)] for block in blocks))]
        room = max(most - self._count, LEFT)  # whatever the one before took: steps are whole
        if not whole and sum(map(len, blocks)) > room and self.lines[blocks[0][0]].group < 0:
            best = sorted(blocks, key=lambda block: -max(self.scores[block]))
            blocks = [sorted([*chain.from_iterable(best)][:room])]
        if any(blocks):
            self._take([*chain.from_iterable(blocks)])

    def define(self, scores: Vectors, names: tuple[str, ...], *, most: int) -> bool:
        """Take the window that begins with the line which says what a thing with these `names` is; whether one does."""
        grades = np.array([defines(line.text, names) for line in self.lines], np.float32) * self._usable
        found = self._windows(scores, max(most - self._count, 0))
        for at in map(int, np.argsort(-(grades + scores), kind="stable")[: np.count_nonzero(grades)]):
            head = 1 + self.lines[at].nested  # in a nested list the item that it belongs to goes before it
            own = [window for window in found if at in window.lines]
            if own:
                best = max(own, key=lambda one: (max(n for n in one.lines[:head] if n <= at), one.value))
                self._take(best.lines)
                self._defining.add(best.lines[0])
                return True
        return False

    def add(self, scores: Vectors, *, most: int, windows: int, least: int = LEAST) -> None:
        """Take up to `windows` more windows, the best first, until the answer has `most` lines.

        What says the same as a line that was taken is not taken, in whichever language it stands.
        """
        floor = FLOOR * float(scores[self._usable].max(initial=0.0))
        most -= self._count
        for _ in range(windows):
            if most <= 0:
                return
            found = self._windows(scores, most)
            best = max(found, key=lambda window: window.value, default=None)
            if best is None or (best.value <= 0 and (self._count >= least or best.mean < floor)):
                return
            most -= len(best.lines)
            self._take(best.lines)

    def _windows(self, scores: Vectors, most: int) -> list[Window]:
        cost = min(self._cost, OF_BEST * float(scores.max(initial=0.0)))
        return windows_of(self.lines, scores, self._usable, most, cost)

    def _take(self, own: Sequence[int]) -> None:
        """Take these lines, and let none that says the same be taken again."""
        self._taken.append([*own])
        self._usable[own] = False
        for at in np.nonzero(self._usable)[0]:
            self._usable[at] = not any(self._same(int(at), other) for other in own)

    def _same(self, one: int, other: int) -> bool:
        """Whether who has read one of the two learns nothing from the other."""
        if self._quotes(one, other):
            return True
        # Items of one list are near each other, because each is read behind what the list is about.
        apart = self.lines[one].run != self.lines[other].run
        return apart and float(self._vectors[one] @ self._vectors[other]) > SAME_COSINE

    def _quotes(self, one: int, other: int) -> bool:
        """Whether one of the two says the other in its words."""
        if self.lines[one].answer != self.lines[other].answer:
            here, there = self._origins[one], self._origins[other]
            if is_quoted(here, there) or is_quoted(there, here):
                return True
        return share_of(self._words[one], self._words[other]) > SAME_WORDS

    def fall_back(self) -> None:
        """Where nothing was worth taking, the best line."""
        if not self._taken and len(self.lines):
            self._taken.append([int(self.scores.argmax())])

    def order(self, compared: Sequence[str] = ()) -> list[int]:
        """The lines: the best window first, but what stands just before it in its run goes before it.

        What speaks of all that is `compared` comes first; of more things than two, that of the best passage. Then
        statements in other words than the book's go before its own.
        """
        order: list[list[int]] = []
        for window in self._taken:
            run = self.lines[window[0]].run
            behind = (at for at, other in enumerate(order) if self.lines[other[0]].run == run and other[0] > window[0])
            order.insert(next(behind, len(order)), window)

        def place(window: Sequence[int]) -> tuple[bool, bool, int, bool]:
            text = " ".join(self.lines[at].text for at in window).lower()
            whole, first = all(name in text for name in compared), self.lines[window[0]]
            defining = window[0] in self._defining
            return not defining, not whole, first.passage if whole and len(compared) > 2 else 0, first.answer < 0

        order.sort(key=place)
        return [at for window in order for at in window]


def windows_of(
    lines: Sequence[Line], scores: Vectors, usable: npt.NDArray[np.bool_], most: int, cost: float
) -> list[Window]:
    """Every stretch of usable lines that begins and ends where one may; lists are whole or left out."""
    out = [*_branches(lines, scores, usable, most, cost)]
    for first, line in enumerate(lines):
        if not (usable[first] and line.quotable) or leans(line) or line.nested or _inside(lines, first):
            continue
        value, count, before = 0.0, 0, 0
        for last in range(first, len(lines)):
            end = lines[last]
            if end.run != line.run or not usable[last]:
                break
            value += float(scores[last]) - cost
            count += 1
            before += end.group < 0
            if count > most and (end.group < 0 or before > LEFT):
                break
            if last + 1 < len(lines) and (lines[last + 1].parent >= first or _inside(lines, last + 1)):
                continue
            if _says(end):
                out.append(Window(range(first, last + 1), value, float(scores[first : last + 1].mean())))
    return out


def _branches(
    lines: Sequence[Line], scores: Vectors, usable: npt.NDArray[np.bool_], most: int, cost: float
) -> Iterator[Window]:
    """Of a nested list every item with what lies under it, behind the item that it belongs to.

    Items that say much less about the question than the best of them are left out, steps never.
    """
    under: dict[int, list[int]] = defaultdict(list)  # line -> those that belong to it, at any depth
    for at, line in enumerate(lines):
        if line.nested:
            above = line.parent
            while above >= 0:
                under[above].append(at)
                above = lines[above].parent
    for root, line in enumerate(lines):
        if not (usable[root] and line.nested and line.level >= 0):
            continue
        lead = [line.parent] if line.parent >= 0 and usable[line.parent] else []
        own = [root, *(at for at in under[root] if usable[at])]
        if not any(lines[at].text[0].isdigit() for at in own):
            least = ASIDE * max(scores[own])
            own = [at for at in own if at == root or scores[at] >= least]
        if len(lead) + len(own) <= most and any(_says(lines[at]) for at in own):
            yield Window([*lead, *own], float(scores[own].sum()) - cost * len(own), float(scores[own].mean()))


def _says(line: Line) -> bool:
    """Whether a line is whole and announces nothing that would have to come after it."""
    return line.quotable and line.text[-1:] not in ":："


def _inside(lines: Sequence[Line], at: int) -> bool:
    """Whether a line is of a list that began before it."""
    return at > 0 and lines[at].group >= 0 and lines[at - 1].group == lines[at].group
