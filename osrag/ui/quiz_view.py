"""The quiz as HTML: pure functions of a question, a judgement and this session's results."""

import base64
import csv
import io
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from html import escape
from urllib.parse import urlencode

from osrag.app.computed import address
from osrag.lab.words import word
from osrag.quiz.bank import Bank
from osrag.quiz.computed import exercises_of
from osrag.quiz.exercise import Exercise
from osrag.quiz.judgement import Judgement, Step, note
from osrag.quiz.programs.blocks import blocks
from osrag.quiz.written import by_name
from osrag.study.ladder import Help, Rung
from osrag.text import clip
from osrag.types import Language
from osrag.ui.evidence import CITATION, bare, empty, linked, marked, outside_code
from osrag.wording import say

_CODE = re.compile(r"`([^`\n]+)`")
_BOLD = re.compile(r"\*\*([^*\n]+)\*\*")
KEPT_RESULTS = 200
MOST_TITLES = 1000  # in the list of questions, which every visitor is sent
FORMULA = ("=", "+", "-", "@", "\t")  # a cell that begins so would be run by a table program


@dataclass(frozen=True, slots=True)
class QuizState:
    """What belongs to one visitor of the quiz; goes when the visitor goes."""

    results: tuple[Step, ...] = ()  # the last step of each answer, with the page to read
    climbed: tuple[Help, ...] = ()  # the hints for the question shown, the first rung first
    hints: tuple[tuple[str, Rung], ...] = ()  # every hint of this session: the name of its question, the rung
    closed: frozenset[str] = frozenset()  # names of the questions whose answer was kept back
    unkept: tuple[tuple[Judgement, bool], ...] = ()  # results that the deck does not know yet; whether a hint helped

    def with_hint(self, item: Exercise, hint: Help) -> "QuizState":
        """The state with one more hint for this question."""
        hints = (*self.hints, (item.name, hint.rung))
        return replace(self, climbed=(*self.climbed, hint), hints=hints[-KEPT_RESULTS:])

    def with_result(self, step: Step, *, closed: bool = False) -> "QuizState":
        """The state with the last step of one more answer; the oldest makes room."""
        result = replace(step, passages=() if closed else step.passages[:1])  # the page to read
        unkept = (*self.unkept, (result.judgement, bool(self.climbed)))
        name = {step.judgement.exercise.name}
        return replace(
            self,
            results=(*self.results, result)[-KEPT_RESULTS:],
            unkept=unkept[-KEPT_RESULTS:],
            closed=self.closed | name if closed else self.closed - name,
        )

    @property
    def answered(self) -> list[str]:
        """The names of the questions with a result."""
        return [result.judgement.exercise.name for result in self.results]

    @property
    def mistakes(self) -> tuple[Step, ...]:
        """The last result of each question, where it is wrong; newest first."""
        exercises = ((result.judgement.exercise, result) for result in self.results)
        last = {exercise.id or exercise.question: result for exercise, result in exercises}
        judged = ((result, result.judgement) for result in reversed(last.values()))
        return tuple(result for result, one in judged if not one.is_correct and not one.undecided)


def filter_choices(bank: Bank, field: str, language: Language) -> list[tuple[str, str]]:
    """What a filter offers, "any" first; labels in the language of the page."""
    values = bank.values(field, language)
    if field == "chapter":
        values = sorted(values, key=lambda value: (not value.isdigit(), int(value) if value.isdigit() else 0, value))
    keys = {"chapter": "quiz_chapter", "type": "quiz_type_{}", "difficulty": "quiz_level_{}"}
    key = keys.get(field)
    named = [(say(key.format(value), language, number=value) if key else value, value) for value in values]
    return [(say("quiz_any", language), ""), *named]


def titles(bank: Bank, names: Sequence[str]) -> list[tuple[str, str]]:
    """Questions for a list: the start of each, and its name; the filters lead to those beyond `MOST_TITLES`."""
    items = ((name, bank.get(name)) for name in names[:MOST_TITLES])
    return [(f"{item.id} · {clip(item.question, 60)}", name) for name, item in items if item]


def question_html(item: Exercise | None, language: Language, note: str = "") -> str:
    """The question with its type, level, section and knowledge point, and a note; without one, what to do."""
    if item is None:
        return empty("quiz_empty", language)
    facts = [say(f"quiz_type_{item.type}", language)]
    if item.difficulty in ("easy", "medium", "hard"):
        facts.append(say(f"quiz_level_{item.difficulty}", language))
    facts += [part for part in (item.section, item.knowledge_point) if part]
    tags = "".join(f"<span>{escape(fact)}</span>" for fact in facts)
    small = f'<p class="qz-note">{escape(note)}</p>' if note else ""
    return f'<article class="qz-question"><div class="qz-tags">{tags}</div>{paragraphs(item.question)}{small}</article>'


def paragraphs(text: str, words: Callable[[str], str] | None = None) -> str:
    """The text as paragraphs, and the code in it with its indentation; `words` makes HTML of the prose."""
    said = words or lines
    return "".join(
        f'<pre class="qz-code"><code>{escape(part)}</code></pre>' if code else f"<p>{said(part)}</p>"
        for code, part in blocks(text)
    )


def lines(text: str) -> str:
    """Escaped text with its line ends, `code` between backticks and **bold** as such."""
    return _BOLD.sub(r"<b>\1</b>", _CODE.sub(r"<code>\1</code>", escape(text))).replace("\n", "<br>")


def cited(text: str) -> str:
    """Escaped text whose `[1]` open the card of the passage, with marks that look like marks."""
    return CITATION.sub(r'<a href="#ev-\1">[\1]</a>', marked(lines(text)))


def hints_text(climbed: Sequence[Help], language: Language, *, beside: bool) -> str:
    """Markdown of the hints so far, each under the name of its rung.

    The citations of the last one lead to the cards, if its pages stand `beside` the hints; those of the others are
    left out, as their pages are gone.
    """
    parts = []
    for number, hint in enumerate(climbed, start=1):
        play = f"[{say('hint_play', language)}](?{urlencode(hint.lab, safe=',')})" if hint.lab else ""
        head = f"**{number}. {say(f'hint_rung_{hint.rung}', language)}**"
        text = outside_code(hint.text, bare)
        text = outside_code(text, linked if beside and number == len(climbed) else lambda part: CITATION.sub("", part))
        parts.append("\n\n".join(filter(None, [head, text, play])))
    return "\n\n".join(parts)


def closed_html(judgement: Judgement) -> str:
    """The verdict of a question whose answer is kept back: how right it is, and nothing of the key."""
    said = escape(say("quiz_locked", judgement.language))
    score = "" if judgement.exercise.is_choice else _score(judgement)
    inside = f'{_headline(judgement)}{score}<p class="qz-note">{said}</p>'
    return f'<section class="qz-verdict" aria-live="polite">{inside}</section>'


def verdict_html(judgement: Judgement, *, busy: bool) -> str:
    """The verdict first, then whatever is known so far."""
    language = judgement.language
    said = note(judgement)
    parts = [
        _headline(judgement),
        "" if judgement.exercise.is_choice else _score(judgement),
        f'<p class="qz-note">{escape(said)}</p>' if said else "",
        "" if judgement.exercise.program else _part("quiz_label_answer", judgement.correct_answer, language),
        _points(judgement),
        _part("quiz_label_reason", judgement.reasoning, language),
        _part("quiz_label_analysis", judgement.analysis, language),
        _options(judgement),
        _part("quiz_label_advice", _advice(judgement), language),
        _part("quiz_label_point", judgement.knowledge_point, language),
        _reference(judgement),
        f'<p class="qz-wait">{escape(say("quiz_writing", language))}</p>' if busy else _in_the_lab(judgement),
    ]
    return f'<section class="qz-verdict" aria-live="polite">{"".join(parts)}</section>'


def _advice(judgement: Judgement) -> str:
    """What to add; nothing where it only names the points again that stand above as not said."""
    known = judgement.exercise.is_choice or (judgement.points and judgement.suggestions == by_name(judgement)[1])
    return "" if known else judgement.suggestions


def cited_in(judgement: Judgement) -> frozenset[int]:
    """Numbers of the passages that a verdict refers to."""
    said = " ".join([judgement.analysis, *(text for _, text in judgement.option_analysis)])
    return frozenset({*map(int, CITATION.findall(said)), *(one.passage for one in judgement.points if one.passage)})


def _in_the_lab(judgement: Judgement) -> str:
    """A chip for each computed solution, which opens it in the lab."""
    language = judgement.language
    chips = "".join(
        f'<a class="lb-open" href="{escape(address(solved), quote=True)}" target="_blank">'
        f"{escape(word('kinds', solved.kind.name, language))}</a>"
        for solved in exercises_of(judgement.exercise)
    )
    return f'<p class="qz-lab">{escape(say("quiz_in_the_lab", language))} {chips}</p>' if chips else ""


def _headline(judgement: Judgement) -> str:
    """Right, partly right or wrong; who decided, how sure, and whether more is to come."""
    language, part = judgement.language, 0 < judgement.share < 1 and not judgement.exercise.is_choice
    kind = "right" if judgement.is_correct and not part else "partly" if part else "wrong"
    title = say("code_undecided", language) if judgement.undecided else say(f"quiz_{kind}", language)
    sure = say("quiz_confidence", language, value=f"{judgement.confidence:.0%}")
    by = say(f"quiz_by_{judgement.decided_by}", language)
    first = say("quiz_preliminary", language) if judgement.preliminary else ""
    return (
        f'<header class="qz-head is-{kind}"><strong>{escape(title)}</strong>'
        + "".join(f"<span>{escape(text)}</span>" for text in (by, sure, first) if text)
        + "</header>"
    )


def _score(judgement: Judgement) -> str:
    """The points of a text, or which blanks are right."""
    language = judgement.language
    if judgement.blanks:
        marks = " ".join("✓" if ok else "✗" for ok in judgement.blanks)
        return f'<p class="qz-score">{escape(say("quiz_blanks", language))} <b>{marks}</b></p>'
    score = say("quiz_score", language, score=f"{judgement.score:g}", full=f"{judgement.full_marks:g}")
    quality = "" if judgement.needs_teacher else say(f"quality_{judgement.quality}", language)
    return f'<p class="qz-score"><b>{escape(score)}</b> {escape(quality)}</p>'


def _part(label: str, text: str, language: Language) -> str:
    return f"<h4>{escape(say(label, language))}</h4>{paragraphs(text, cited)}" if text.strip() else ""


def _reference(judgement: Judgement) -> str:
    """A right program, folded away: it is longer than all that is said of the answer."""
    if judgement.exercise.program is None:
        return ""
    label = escape(say("quiz_label_answer", judgement.language))
    return f"<details><summary>{label}</summary>{paragraphs(judgement.correct_answer)}</details>"


def _points(judgement: Judgement) -> str:
    """A row a rubric point: what it is worth, the student's words, the book's."""
    language = judgement.language
    rows = []
    for point in judgement.points:
        share = point.earned / point.points if point.points else 0
        kind = "open" if point.open else "right" if share >= 0.75 else "partly" if share >= 0.3 else "wrong"
        mark = say("code_open", language) if point.open else f"{point.earned:g} / {point.points:g}"
        said = f'<q class="qz-said">{escape(clip(point.said, 160))}</q>' if point.said else ""
        missing = (
            "" if said or point.why else f'<span class="qz-missing">{escape(say("quiz_not_said", language))}</span>'
        )
        seen = f'<p class="qz-seen">{escape(point.why)}</p>' if point.why else ""
        proof = f'<p class="qz-proof">{cited(f"{clip(point.proof, 200)} [{point.passage}]")}</p>' if point.proof else ""
        rows.append(
            f'<li class="is-{kind}"><b>{escape(mark)}</b><div><p>{escape(point.point)}</p>'
            f"{seen}{said}{missing}{proof}</div></li>"
        )
    return f'<ul class="qz-points">{"".join(rows)}</ul>' if rows else ""


def _options(judgement: Judgement) -> str:
    """A row an option: why it is right or wrong."""
    rows = []
    for key, text in judgement.option_analysis:
        option = judgement.exercise.option(key)
        right = option is not None and judgement.is_right(option)
        kind = "is-right" if right else "is-wrong" if key in judgement.read_as else ""
        rows.append(f'<li class="{kind}"><b>{escape(key)}</b><div>{cited(text)}</div></li>')
    label = escape(say("quiz_label_options", judgement.language))
    return f'<h4>{label}</h4><ul class="qz-options">{"".join(rows)}</ul>' if rows else ""


def mistake_html(result: Step, language: Language, *, closed: bool) -> str:
    """One mistake: the question, what was said, and what is right, unless that is kept back."""
    judged = result.judgement
    if judged.exercise.program is not None:  # a program does not fit a line: what it earns, and what it misses
        said, right = f"{judged.score:g} / {judged.full_marks:g}", judged.suggestions
    else:
        said, right = judged.student_answer, judged.correct_answer
    told = {"quiz_you_said": clip(said, 80) or "—"} | ({} if closed else {"quiz_label_answer": clip(right, 120)})
    lines = [escape(say("quiz_told", language, name=say(key, language), text=text)) for key, text in told.items()]
    return (
        f'<div class="qz-mistake"><p>{escape(clip(judged.exercise.question, 120))}</p>'
        f"<small>{'<br>'.join(lines)}</small></div>"
    )


def tally(state: QuizState, language: Language) -> str:
    """How many were right so far, and the results to download. The file is made in the page: nothing lies on a disk."""
    if not state.results:
        return f'<p class="qz-tally">{escape(say("quiz_no_results", language))}</p>'
    right = sum(result.judgement.is_correct for result in state.results)
    line = say("quiz_tally", language, right=right, count=len(state.results))
    data = base64.b64encode(csv_of(state.results, state.closed).encode("utf-8-sig")).decode()
    link = (
        f'<a class="qz-download" download="osrag-quiz.csv" href="data:text/csv;charset=utf-8;base64,{data}">'
        f"{escape(say('quiz_download', language))}</a>"
    )
    return f'<p class="qz-tally">{escape(line)} {link}</p>'


def csv_of(results: Sequence[Step], closed: Collection[str] = ()) -> str:
    """Results, one at least, as a table; right answers that are kept back stay out.

    A cell that a table program would run as a formula is quoted.
    """
    rows = []
    for result in results:
        judged = result.judgement
        row = {
            "id": judged.exercise.id,
            "type": judged.exercise.type,
            "question": judged.exercise.question,
            "answer": judged.student_answer,
            "correct": "open" if judged.undecided else "yes" if judged.is_correct else "no",
            "score": f"{judged.score:g}",
            "full_marks": f"{judged.full_marks:g}",
            "confidence": f"{judged.confidence:.2f}",
            "correct_answer": "" if judged.exercise.name in closed else judged.correct_answer,
            "knowledge_point": judged.knowledge_point,
            "page": getattr(result.passages[0].chunk.where, "label", "") if result.passages else "",
        }
        rows.append({name: f"'{cell}" if cell.startswith(FORMULA) else cell for name, cell in row.items()})
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()
