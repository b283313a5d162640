"""Grade and Explain: the judge's steps and the explanation, as they come."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import gradio as gr

from osrag.app.parts import Parts
from osrag.errors import OsragError
from osrag.quiz.exercise import Exercise
from osrag.quiz.explain import explain
from osrag.quiz.judgement import Step
from osrag.types import Language, Passage
from osrag.ui.evidence import panel
from osrag.ui.quiz_layout import QuizTab, Update, answer_of
from osrag.ui.quiz_view import KEPT_RESULTS, QuizState, Result, tally, verdict_html
from osrag.ui.state import MODEL, RateLimit
from osrag.wording import say

log = logging.getLogger(__name__)
Run = Callable[[QuizState, Exercise, Language, str], Iterator[Update]]


def wire_judging(tab: QuizTab, parts: Parts, language: gr.State, limit: RateLimit) -> None:
    runs = Runs(tab, parts, limit)
    shown = [tab.verdict, tab.explanation, tab.evidence, tab.tally, tab.state, tab.grade, tab.stop]
    inputs = [tab.state, language, *tab.answers]
    common: dict[str, Any] = {
        "concurrency_id": MODEL,
        "concurrency_limit": parts.settings.slots,
        "api_visibility": "private",
        "show_progress": "hidden",
    }
    started = [
        tab.grade.click(runs.guarded(runs.grade), inputs, shown, **common),
        tab.explain.click(runs.guarded(runs.explain), inputs, shown, **common),
        tab.blank.submit(runs.guarded(runs.grade), inputs, shown, **common),
    ]
    tab.stop.click(
        runs.buttons_at_rest, None, [tab.grade, tab.stop], cancels=started, api_visibility="private", queue=False
    )


class Runs:
    """What the buttons of the tab start; each run yields updates of its components."""

    def __init__(self, tab: QuizTab, parts: Parts, limit: RateLimit) -> None:
        self._tab = tab
        self._parts = parts
        self._limit = limit

    def buttons_at_rest(self) -> Update:
        return {self._tab.grade: gr.Button(visible=True), self._tab.stop: gr.Button(visible=False)}

    def guarded(self, run: Run) -> Callable[..., Iterator[Update]]:
        """The limits first, the buttons around it, and a sentence for every failure."""

        def handler(
            state: QuizState,
            code: Language,
            radio: str | None,
            boxes: list[str] | None,
            blank: str,
            text: str,
            request: gr.Request,
        ) -> Iterator[Update]:
            if state.item is None or self._refused(state, code, request):
                yield {self._tab.state: gr.skip()}
                return
            yield {self._tab.grade: gr.Button(visible=False), self._tab.stop: gr.Button(visible=True)}
            try:
                yield from run(state, state.item, code, answer_of(state.item, radio, boxes, blank, text))
            except OsragError as error:
                log.warning("quiz failed: %s", error.sentence())
                gr.Warning(error.sentence())
            yield self.buttons_at_rest()

        return handler

    def _refused(self, state: QuizState, code: Language, request: gr.Request) -> bool:
        """Whether nothing may run now; the page says why."""
        if state.item is None:
            gr.Info(say("quiz_empty", code))
            return True
        wait = self._limit.wait_s(request.session_hash or "")
        if wait:
            gr.Warning(say("too_often", code, limit=self._limit.per_minute, seconds=round(wait)))
        return bool(wait)

    def grade(self, state: QuizState, item: Exercise, code: Language, answer: str) -> Iterator[Update]:
        tab = self._tab
        before = (tuple[Passage, ...](), frozenset[int]())  # what the panel shows, and cited of it
        with closing(self._parts.judge.judge(item, answer)) as steps:
            for step in steps:
                done = step.stage == "done"
                update: Update = {tab.verdict: verdict_html(step.judgement, busy=not done)}
                cited = frozenset(point.passage for point in step.judgement.points if point.passage)
                if step.passages and (step.passages, cited) != before:
                    update[tab.evidence] = panel(step.passages, language=item.language, cited=set(cited))
                    before = (step.passages, cited)
                if done:
                    state = replace(state, results=(*state.results, _result(step, answer))[-KEPT_RESULTS:])
                    update |= {tab.state: state, tab.tally: tally(state, code)}
                yield update

    def explain(self, state: QuizState, item: Exercise, code: Language, answer: str) -> Iterator[Update]:
        tab = self._tab
        with closing(explain(self._parts.judge, item, answer)) as growing:
            for place, found in enumerate(growing):
                update: Update = {tab.explanation: explanation_markdown(found.text)}
                if not place:
                    update[tab.evidence] = panel(found.passages, language=item.language)
                yield update


def _result(step: Step, answer: str) -> Result:
    judged = step.judgement
    return Result(
        judged.exercise, answer, judged.is_correct, judged.score, judged.full_marks, judged.confidence,
        judged.correct_answer, judged.knowledge_point, step.passages[0] if step.passages else None,
    )  # fmt: skip


def explanation_markdown(text: str) -> str:
    """`[1]` as a link to the card of its passage; the words of the model are not HTML."""
    plain = text.replace("<", "&lt;")
    return re.sub(r"\[(\d{1,2})\](?!\()", r"[\[\1\]](#ev-\1)", plain)
