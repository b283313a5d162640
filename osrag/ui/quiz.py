"""The quiz tab: pick or write a question, answer it, see the verdict, its reasons and its pages."""

import functools
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from html import escape
from typing import Any

import gradio as gr

from osrag.answer.events import Retrieved
from osrag.app.parts import Parts
from osrag.errors import BadInput
from osrag.quiz.bank import Bank
from osrag.quiz.exercise import TYPES, Exercise
from osrag.quiz.explain import explain
from osrag.quiz.judgement import Step
from osrag.quiz.rows import read_row
from osrag.study.board import of_answer, of_hint
from osrag.study.ladder import climb, next_rung
from osrag.study.repetition import read_deck
from osrag.types import Language, Passage
from osrag.ui.admission import QUIZ, QUIZ_AT_ONCE, RateLimit
from osrag.ui.classroom import Classroom
from osrag.ui.evidence import bare, empty, evidence_panel, linked, marked, outside_code, panel
from osrag.ui.practice import Practising
from osrag.ui.quiz_view import (
    QuizState,
    cited_in,
    closed_html,
    filter_choices,
    hints_text,
    mistake_html,
    question_html,
    tally,
    titles,
    verdict_html,
)
from osrag.ui.scripts import Scripts
from osrag.ui.words import QUIET, TELLING, Update, Words, choices, heading, told
from osrag.wording import say

FILTERS = ("chapter", "type", "difficulty", "knowledge_point")
OWN_FIELDS = ("type", "question", "options", "answer", "reference", "rubric")
OWN_TYPES = TYPES[:-1]  # what a student may write: all but a programming exercise
MOST_MISTAKES = 12  # shown; all of them are in the results to download
Run = Callable[[QuizState, Exercise, Language, str], Iterator[Update]]


class QuizTab:
    """The components of the tab, and what their events do. Make it inside `gr.Tab`."""

    def __init__(
        self, parts: Parts, words: Words, language: gr.State, limit: RateLimit, deck: gr.BrowserState, scripts: Scripts
    ) -> None:
        self._parts = parts
        self._limit = limit
        self.item = gr.State(None)  # apart from the state, which a run writes at its end: another may be shown by then
        self.state = gr.State(QuizState())
        with gr.Row(equal_height=False):
            with gr.Column(scale=6, min_width=320):
                self._lay_out_picking(words)
                self._lay_out_answer(words)
            with gr.Column(scale=5, min_width=320):
                words.make(gr.HTML, {"value": heading("evidence")})
                self.evidence = evidence_panel(parts, scripts, empty("quiz_no_evidence", "zh"), "qz-evidence")
        words.make(gr.HTML, {"value": heading("quiz_mistakes")}, elem_id="qz-mistakes")
        self.practice = Practising(parts, words, language, deck)
        self.tally = gr.HTML(tally(QuizState(), "zh"), elem_id="qz-tally")
        self.shown = [
            self.question, *self._answers, self.hints, self.verdict, self.explanation, self.evidence,
            self.item, self.state, self.grade, self.stop, self.working,
        ]  # fmt: skip
        self._wire_judging(language)
        self._wire_picking(language)
        self._wire_mistakes(language)
        self.practice.wire(self.state)
        if parts.settings.instructor_key.get_secret_value():
            Classroom(parts, words, language, limit).wire(self.offered, [*self._filters.values(), self._pick])

    @property
    def _bank(self) -> Bank:
        """The bank of now; an instructor may add to it."""
        return self._parts.banks.now

    # -- what stands on the tab

    def _lay_out_picking(self, words: Words) -> None:
        """The filters, the list of questions, and the form for a question of one's own."""
        self._filters = {}
        with gr.Row(elem_id="qz-filters"):
            for name in FILTERS:
                offered = functools.partial(self._choices, name)
                said = {"label": f"quiz_by_{name}_label", "choices": offered, "value": lambda code: ""}
                self._filters[name] = words.make(gr.Dropdown, said, min_width=130, elem_id=f"qz-{name}")
        with gr.Row(elem_id="qz-pick-row"):
            every = {
                "choices": lambda code: titles(self._bank, self._bank.find(code)),
                "value": lambda code: None,
            }
            pick = {"label": "quiz_pick", **every}
            self._pick = words.make(gr.Dropdown, pick, scale=5, min_width=200, elem_id="qz-pick")
            self._random = words.make(gr.Button, {"value": "quiz_random"}, scale=1, min_width=110, elem_id="qz-random")
            self._review = words.make(gr.Button, {"value": "practice_review"}, min_width=110, elem_id="qz-review")
        with words.make(gr.Accordion, {"label": "quiz_own"}, open=False, elem_id="qz-own"):
            kinds = {"label": "quiz_by_type_label", "choices": choices("quiz_type", OWN_TYPES)}
            self._own = [words.make(gr.Dropdown, kinds, value="single_choice")]
            for name in OWN_FIELDS[1:]:
                lines = 1 if name == "answer" else 2
                label = {"label": f"quiz_own_{name}"}
                self._own.append(words.make(gr.Textbox, label, lines=lines, max_lines=8, elem_id=f"qz-own-{name}"))
            self._use = words.make(gr.Button, {"value": "quiz_use"}, size="sm", elem_id="qz-use")

    def _lay_out_answer(self, words: Words) -> None:
        """The question, an input for each kind of answer of which one is shown, the buttons, the verdict."""
        answer: dict[str, Any] = {"label": "quiz_your_answer"}
        self.question = gr.HTML(question_html(None, "zh"), elem_id="qz-question")
        self.radio = words.make(gr.Radio, answer, choices=[], visible=False, elem_id="qz-radio")
        self.boxes = words.make(gr.CheckboxGroup, answer, choices=[], visible=False, elem_id="qz-boxes")
        self.blank = words.make(
            gr.Textbox, {"label": "quiz_your_blanks"}, visible=False, max_lines=4, elem_id="qz-blank"
        )
        self.text = words.make(gr.Textbox, answer, visible=False, lines=5, max_lines=16, elem_id="qz-text")
        code: dict[str, Any] = {"language": "c", "lines": 16, "max_lines": 40, "wrap_lines": True}
        self.code = words.make(gr.Code, {"label": "quiz_your_program"}, visible=False, elem_id="qz-code", **code)
        self._answers = [self.radio, self.boxes, self.blank, self.text, self.code]
        with gr.Row(elem_id="qz-buttons"):
            grade = {"variant": "primary", "min_width": 110, "elem_id": "qz-grade"}
            self.grade = words.make(gr.Button, {"value": "quiz_grade"}, **grade)
            # In the place of the other, so that no button slides under the pointer.
            stop = grade | {"variant": "stop", "visible": False, "elem_id": "qz-stop"}
            self.stop = words.make(gr.Button, {"value": "stop"}, **stop)
            self.hint = words.make(gr.Button, {"value": "quiz_hint"}, min_width=90, elem_id="qz-hint")
            self.explain = words.make(gr.Button, {"value": "quiz_explain"}, min_width=110, elem_id="qz-explain")
        self.working = words.make(gr.HTML, {"value": working_line}, visible=False, elem_id="qz-working")
        words.make(gr.HTML, {"value": keys_line}, elem_id="qz-keys")
        self.hints = gr.Markdown("", elem_id="qz-hints", latex_delimiters=[])
        self.verdict = gr.HTML("", elem_id="qz-verdict")
        self.explanation = gr.Markdown("", elem_id="qz-explanation", latex_delimiters=[])

    def _choices(self, field: str, code: Language) -> list[tuple[str, str]]:
        return filter_choices(self._bank, field, code)

    def offered(self, code: Language) -> list[Any]:
        """The filters and the list of questions, after the bank has changed."""
        filters = [gr.update(choices=self._choices(name, code), value="") for name in FILTERS]
        return [*filters, gr.update(choices=titles(self._bank, self._bank.find(code)), value=None)]

    def first(self, code: Language, wanted: str = "") -> Update:
        """What a visitor finds: the question that a link names, else an easy one."""
        item = self._bank.get(f"{wanted}/{code}")
        name = None if item else self._bank.pick(self._bank.find(code, difficulty="easy"))
        return self.show(item or (self._bank.get(name) if name else None), QuizState(), code)

    def reword(self, code: Language, item: Exercise | None, state: QuizState) -> Update:
        """What changes with the language beside the words: a question of the bank, and the count of answers."""
        new = self._bank.get(f"{item.id}/{code}") if item is not None and item.id and item.language != code else None
        shown = self.show(new, state, code) if new is not None or item is None else {}
        return {**shown, **self._at_rest(), self.tally: tally(state, code)}

    def show(self, item: Exercise | None, state: QuizState, code: Language) -> Update:
        """A question with the answer input that fits it; what stood there before is gone."""
        kind = item.type if item else ""
        options = [(f"{option.key}. {option.text}", option.key) for option in item.options] if item else []
        if kind == "true_false":
            options = [(say("quiz_true", code), "T"), (say("quiz_false", code), "F")]
        single, several = kind in ("single_choice", "true_false"), kind == "multiple_choice"
        return {
            self.question: question_html(item, code, self._note(item, code)),
            self.radio: gr.update(choices=options if single else [], value=None, visible=single),
            self.boxes: gr.update(choices=options if several else [], value=[], visible=several),
            self.blank: gr.update(value="", visible=kind == "fill_blank"),
            self.text: gr.update(value="", visible=kind == "short_answer"),
            self.code: gr.update(value=_starter(item), visible=kind == "programming"),
            self.hints: "",
            self.verdict: "",
            self.explanation: "",
            self.evidence: empty("quiz_no_evidence", code),
            self.item: item,
            self.state: replace(state, climbed=()),
            **self._at_rest(),
        }

    def _note(self, item: Exercise | None, code: Language) -> str:
        """Of an exercise with tests, whether programs are run here."""
        if item is None or item.program is None or not item.program.tests:
            return ""
        return say("code_runs_here" if self._parts.runs_programs else "code_runs_not", code)

    # -- picking a question

    def _wire_picking(self, language: gr.State) -> None:
        filters = list(self._filters.values())
        for one in filters:
            one.input(self.narrowed, [language, *filters], self._pick, **QUIET)
        quiet: dict[str, Any] = {**QUIET, "cancels": self.runs}  # a verdict to come is for the question before
        telling: dict[str, Any] = {**TELLING, "cancels": self.runs}
        self._pick.input(self.picked, [self._pick, language, self.state], self.shown, **quiet)
        self._random.click(self.at_random, [language, self.item, self.state, *filters], self.shown, **telling)
        self._use.click(self.own, [language, self.state, *self._own], self.shown, **telling)
        self._review.click(self.reviewed, [self.practice.deck, language, self.state], self.shown, **telling)

    def narrowed(self, code: Language, *wanted: str) -> Any:
        """The list of questions after a filter was set."""
        return gr.update(choices=titles(self._bank, self._found(code, wanted)), value=None)

    def picked(self, name: str | None, code: Language, state: QuizState) -> Update:
        """The question that was picked from the list."""
        item = self._bank.get(name) if name else None
        return self.show(item, state, code) if item else self._at_rest()

    def at_random(self, code: Language, item: Exercise | None, state: QuizState, *wanted: str) -> Update:
        """A question that passes the filters and is neither answered nor shown now."""
        done = [*state.answered, *([item.name] if item else [])]
        return self._one_of(self._found(code, wanted), done, state, code)

    def own(self, code: Language, state: QuizState, *fields: str) -> Update:
        """The question that the student wrote, where it can be used."""
        row = {name: value for name, value in zip(OWN_FIELDS, fields, strict=True) if value and value.strip()}
        try:
            (item,) = read_row(row)
        except BadInput as error:
            gr.Warning(told(error, code))
            return self._at_rest()
        if item.type in ("single_choice", "multiple_choice") and not item.options:
            gr.Warning(say("quiz_no_options", code))
            return self._at_rest()
        return self.show(item, state, code)

    def reviewed(self, kept: Any, code: Language, state: QuizState) -> Update:
        """A question on the point whose review is due for longest."""
        deck, _ = read_deck(kept)
        name = self.practice.next_name(deck, code, state)
        if name is None:
            gr.Info(self.practice.none_due(deck, code))
            return self._at_rest()
        return self.show(self._bank.get(name), state, code)

    def _found(self, code: Language, wanted: tuple[str, ...]) -> list[str]:
        return self._bank.find(code, **dict(zip(FILTERS, wanted, strict=True)))

    def _one_of(self, names: list[str], done: list[str], state: QuizState, code: Language) -> Update:
        """One of these questions, at random, that is not done."""
        name = self._bank.pick(names, not_=done)
        if name is None:
            gr.Info(say("quiz_none_left", code))
            return self._at_rest()
        return self.show(self._bank.get(name), state, code)

    # -- grading and explaining

    def _wire_judging(self, language: gr.State) -> None:
        shown = [
            self.hints, self.verdict, self.explanation, self.evidence, self.tally, self.state,
            self.grade, self.stop, self.working,
        ]  # fmt: skip
        common: dict[str, Any] = {
            "inputs": [self.item, self.state, language, *self._answers],
            "outputs": shown,
            "concurrency_id": QUIZ,
            "concurrency_limit": QUIZ_AT_ONCE * self._parts.settings.slots,
            "api_visibility": "private",
            "show_progress": "hidden",
        }
        grade, explained = self.handler(self.graded), self.handler(self.explained)
        self.runs = runs = [
            self.grade.click(grade, **common),
            self.explain.click(explained, **common),
            self.hint.click(self.handler(self.hinted), **common),
            self.blank.submit(grade, **common),
        ]
        # The browser's entry misses what a run brings while it streams, so the deck is written after it.
        for run in runs:
            run.then(self.practice.after, [self.state, self.practice.deck], [self.state, self.practice.deck], **QUIET)
        self.stop.click(self._at_rest, None, [self.grade, self.stop, self.working], cancels=runs, **QUIET)

    def _at_rest(self) -> Update:
        return self._running(False)

    def _running(self, now: bool) -> Update:
        """The buttons, and the line that says that something is done, which takes a model some seconds."""
        return {
            self.grade: gr.update(visible=not now),
            self.stop: gr.update(visible=now),
            self.working: gr.update(visible=now),
        }

    def handler(self, run: Run) -> Callable[..., Iterator[Update]]:
        """The limits first, the buttons around the run, and a sentence for every failure."""

        def handle(
            item: Exercise | None, state: QuizState, code: Language, request: gr.Request, *answers: Any
        ) -> Iterator[Update]:
            """Updates of a run; `answers` are the values of the five inputs, of which one fits the question."""
            refusal = self._limit.refusal(request, code) if item else say("quiz_empty", code)
            if refusal or item is None:
                (gr.Warning if item else gr.Info)(refusal)
                yield {self.state: gr.skip()}
                return
            yield self._running(True)
            after = state
            try:
                for update in run(state, item, code, answer_of(item, *answers)):
                    after = update.get(self.state, after)
                    yield update
            except Exception as error:  # noqa: BLE001 - whatever broke, the student reads a sentence and goes on
                gr.Warning(told(error, code))
            yield self._at_rest()
            self._count(item, state, after, request.session_hash or "")

        return handle

    def _count(self, item: Exercise, before: QuizState, after: QuizState, session: str) -> None:
        """What a run has added, for the board of the class, where there is one."""
        if self._parts.board is not None:
            for result in after.results[-1:] if after.results != before.results else ():
                self._parts.board.note(session, of_answer(result.judgement, self._bank))
            for hint in after.climbed[len(before.climbed) :]:
                self._parts.board.note(session, of_hint(item, hint.rung, self._bank))

    def graded(self, state: QuizState, item: Exercise, code: Language, answer: str) -> Iterator[Update]:
        """The verdict, ever fuller, with the passages behind it; the last step is kept as a result."""
        if not answer.strip():
            gr.Info(say("quiz_no_answer", code))
            return
        before = (tuple[Passage, ...](), frozenset[int]())  # what the panel shows, and cited of it
        closed = self._parts.limits.locked(item)
        with closing(self._parts.judge.judge(item, answer)) as steps:
            for step in steps:
                done = step.stage == "done"
                html = closed_html(step.judgement) if closed else verdict_html(step.judgement, busy=not done)
                update: Update = {self.verdict: html}
                cited = cited_in(step.judgement)
                if not closed and step.passages and (step.passages, cited) != before:
                    update[self.evidence] = _book(step.passages, item.language, cited)
                    update[self.hints] = hints_text(state.climbed, item.language, beside=False)
                    before = (step.passages, cited)
                if done:
                    state = state.with_result(step, closed=closed)
                    update |= {self.state: state, self.tally: tally(state, code)}
                yield update

    def explained(self, state: QuizState, item: Exercise, code: Language, answer: str) -> Iterator[Update]:
        """The explanation as it grows, with its passages; of a question that is kept closed, why there is none."""
        if self._parts.limits.locked(item):
            gr.Info(say("quiz_off" if self._parts.limits.top(item) is None else "quiz_locked", code))
            return
        with closing(explain(self._parts.judge, item, answer)) as growing:
            for place, found in enumerate(growing):
                update: Update = {self.explanation: outside_code(found.text, _cited)}
                if not place:
                    update[self.evidence] = _book(found.passages, item.language)
                    update[self.hints] = hints_text(state.climbed, item.language, beside=False)
                yield update

    def hinted(self, state: QuizState, item: Exercise, code: Language, answer: str) -> Iterator[Update]:
        """One more rung of the ladder, after an attempt."""
        top = self._parts.limits.top(item)
        rung = next_rung(tuple(hint.rung for hint in state.climbed), top)
        if top is None or not answer.strip() or rung is None:
            gr.Info(say("quiz_off" if top is None else "hint_no_more" if rung is None else "hint_try_first", code))
            return
        hint = climb(self._parts.judge, self._bank, item, answer, rung)
        state = state.with_hint(item, hint)
        update: Update = {self.state: state, self.hints: hints_text(state.climbed, item.language, beside=True)}
        yield update | ({self.evidence: _book(hint.passages, item.language)} if hint.passages else {})

    # -- mistakes

    def _wire_mistakes(self, language: gr.State) -> None:
        """One row for each mistake with two buttons: read its page, try another question on its point."""

        @gr.render(inputs=[self.state, language], triggers=[self.tally.change], queue=False)  # type: ignore[untyped-decorator]
        def rows(state: QuizState, code: Language) -> None:
            for result in state.mistakes[:MOST_MISTAKES]:
                with gr.Group(elem_classes="qz-mistake-row"):
                    gr.HTML(mistake_html(result, code, closed=result.judgement.exercise.name in state.closed))
                    with gr.Row():
                        small: dict[str, Any] = {"size": "sm", "min_width": 110}
                        read = gr.Button(say("quiz_read_page", code), elem_classes="qz-read", **small)
                        more = gr.Button(say("quiz_another", code), elem_classes="qz-more", **small)
                    read.click(functools.partial(_book, result.passages, code), None, self.evidence, **QUIET)
                    another = functools.partial(self.another, result, code)
                    more.click(another, self.state, self.shown, cancels=self.runs, **TELLING)

    def another(self, result: Step, code: Language, state: QuizState) -> Update:
        """Another question on the same knowledge point, else on the same section, else on the chapter."""
        item = result.judgement.exercise
        names: list[str] = []
        for field in ("knowledge_point", "section", "chapter"):
            value = getattr(item, field)
            if value and not set(names) - set(state.answered):
                names = self._bank.find(item.language, **{field: value})
        return self._one_of(names, state.answered, state, code)


def keys_line(language: Language) -> str:
    """HTML of the line that names the keys of the keyboard."""
    return f'<p class="qz-keys">{escape(say("quiz_keys", language))}</p>'


def working_line(language: Language) -> str:
    """HTML of the line that stands there while an answer is graded, a hint looked for, an explanation written."""
    return f'<p class="os-working" role="status">{escape(say("quiz_working", language))}</p>'


def _book(passages: tuple[Passage, ...], language: Language, cited: frozenset[int] = frozenset()) -> str:
    """HTML of the passages of the book behind a question."""
    return panel(Retrieved("textbook", passages, ""), language, cited) or empty("quiz_no_evidence", language)


def _starter(item: Exercise | None) -> str:
    """The program that a student begins with."""
    return item.program.starter if item and item.program else ""


def answer_of(item: Exercise, radio: str | None, boxes: list[str], blank: str, text: str, code: str) -> str:
    """What the student answered, from the input that fits the question."""
    said = {
        "single_choice": radio,
        "true_false": radio,
        "multiple_choice": ",".join(boxes),
        "fill_blank": blank,
        "programming": code,
    }
    return said.get(item.type, text) or ""


def _cited(text: str) -> str:
    """Words of an explanation as Markdown, their citations as links."""
    return linked(marked(bare(text)))
