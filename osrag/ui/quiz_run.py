"""Grade and Explain: the judge's steps and the explanation, as they come."""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import gradio as gr

from osrag.errors import OsragError
from osrag.parts import Parts
from osrag.quiz.explain import explain
from osrag.types import Language
from osrag.ui.chat import MODEL
from osrag.ui.evidence import panel
from osrag.ui.quiz_layout import QuizTab, Update, answer_of
from osrag.ui.quiz_view import KEPT_RESULTS, QuizState, Result, tally, verdict_html
from osrag.ui.state import RateLimit
from osrag.wording import say

log = logging.getLogger(__name__)


def wire_judging(tab: QuizTab, parts: Parts, language: gr.State, limit: RateLimit) -> None:
    shown = [tab.verdict, tab.explanation, tab.evidence, tab.tally, tab.state, tab.grade, tab.stop]
    inputs = [tab.state, language, *tab.answers]

    def guarded(run: Callable[[QuizState, Language, str], Iterator[Update]]) -> Callable[..., Iterator[Update]]:
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
            if state.item is None:
                gr.Info(say("quiz_empty", code))
                yield {tab.state: gr.skip()}
                return
            wait = limit.wait_s(request.session_hash or "")
            if wait:
                gr.Warning(say("too_often", code, limit=limit.per_minute, seconds=round(wait)))
                yield {tab.state: gr.skip()}
                return
            yield {tab.grade: gr.Button(visible=False), tab.stop: gr.Button(visible=True)}
            try:
                yield from run(state, code, answer_of(state.item, radio, boxes, blank, text))
            except OsragError as error:
                log.warning("quiz failed: %s", error.sentence())
                gr.Warning(error.sentence())
            yield {tab.grade: gr.Button(visible=True), tab.stop: gr.Button(visible=False)}

        return handler

    def grade(state: QuizState, code: Language, answer: str) -> Iterator[Update]:
        assert state.item is not None
        before: tuple[Any, ...] = ()
        with closing(parts.judge.judge(state.item, answer)) as steps:
            for step in steps:
                done = step.stage == "done"
                update: Update = {tab.verdict: verdict_html(step.judgement, busy=not done)}
                cited = {point.passage for point in step.judgement.points if point.passage}
                if (step.passages, cited) != before and step.passages:
                    update[tab.evidence] = panel(
                        step.passages, language=state.item.language, cited={n for n in cited if n}
                    )
                    before = (step.passages, cited)
                if done:
                    judged = step.judgement
                    result = Result(
                        state.item, answer, judged.is_correct, judged.score, judged.full_marks, judged.confidence,
                        judged.correct_answer, judged.knowledge_point, step.passages[0] if step.passages else None,
                    )  # fmt: skip
                    state = replace(state, results=(*state.results, result)[-KEPT_RESULTS:])
                    update |= {tab.state: state, tab.tally: tally(state, code)}
                yield update

    def explain_it(state: QuizState, code: Language, answer: str) -> Iterator[Update]:
        assert state.item is not None
        shown_panel = False
        with closing(explain(parts.judge, state.item, answer)) as growing:
            for found in growing:
                update: Update = {tab.explanation: explanation_markdown(found.text)}
                if not shown_panel:
                    update[tab.evidence] = panel(found.passages, language=state.item.language)
                    shown_panel = True
                yield update

    common: dict[str, Any] = {
        "concurrency_id": MODEL,
        "concurrency_limit": parts.settings.slots,
        "api_visibility": "private",
        "show_progress": "hidden",
    }
    runs = [
        tab.grade.click(guarded(grade), inputs, shown, **common),
        tab.explain.click(guarded(explain_it), inputs, shown, **common),
        tab.blank.submit(guarded(grade), inputs, shown, **common),
    ]
    tab.stop.click(
        lambda: {tab.grade: gr.Button(visible=True), tab.stop: gr.Button(visible=False)},
        None,
        [tab.grade, tab.stop],
        cancels=runs,
        api_visibility="private",
        queue=False,
    )


def explanation_markdown(text: str) -> str:
    """`[1]` as a link to the card of its passage; the words of the model are not HTML."""
    plain = text.replace("<", "&lt;")
    return re.sub(r"\[(\d{1,2})\](?!\()", r"[\[\1\]](#ev-\1)", plain)
