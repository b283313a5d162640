"""What the page says: components whose words follow its language, and the sentence for what went wrong."""

import logging
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

import gradio as gr

from osrag.errors import BadInput, OsragError
from osrag.types import Language
from osrag.wording import in_full, in_language, say

log = logging.getLogger(__name__)
Update = dict[Any, Any]  # what a handler yields: the new value, or `gr.update`, of each component
# Of a handler that only changes the page: no queue, no progress, no endpoint.
QUIET: dict[str, Any] = {"api_visibility": "private", "queue": False, "show_progress": "hidden"}
# Of one that may also tell the visitor something: Gradio carries notices in the queue only, and drops them elsewhere.
TELLING: dict[str, Any] = {**QUIET, "queue": True, "concurrency_limit": None}


class Words:
    """Makes components and remembers which of their properties are words."""

    def __init__(self) -> None:
        self._words: dict[Any, Mapping[str, Any]] = {}

    def make(self, kind: type, words: Mapping[str, Any], **options: Any) -> Any:
        """A component of a kind. `update` puts each property in `words` anew; the other `options` stay.

        A word is a key of the table of wording, or a function from the language to the value of the property.
        """
        component = kind(**_said(words, "zh"), **options)
        self._words[component] = words
        return component

    @property
    def components(self) -> list[Any]:
        """All components that have words."""
        return list(self._words)

    def update(self, language: Language, also: Update) -> Update:
        """All words in a language. `also` are further updates; of a component in both the properties are joined."""
        update: Update = {component: gr.update(**_said(words, language)) for component, words in self._words.items()}
        for component, change in also.items():
            both = component in update and isinstance(change, dict)
            update[component] = {**update[component], **change} if both else change
        return update


def _said(words: Mapping[str, Any], language: Language) -> dict[str, Any]:
    return {name: say(word, language) if isinstance(word, str) else word(language) for name, word in words.items()}


def choices(prefix: str, names: Iterable[str]) -> Callable[[Language], list[tuple[str, str]]]:
    """What a list offers, for `Words.make`: of each name the sentence `prefix_name`, and the name."""
    return lambda language: [(say(f"{prefix}_{name}", language), name) for name in names]


def heading(key: str) -> Callable[[Language], str]:
    """HTML of the small heading over a part of the page, for `Words.make`."""
    return lambda language: f'<div class="os-label">{escape(say(key, language))}</div>'


def told(error: Exception, language: Language) -> str:
    """The sentence a visitor reads of an error; the log gets that of a fault, and the traceback of a surprise."""
    if isinstance(error, OsragError):
        if not isinstance(error, BadInput):  # such a sentence quotes what the visitor wrote
            log.warning("%s", error.sentence())
        return in_language(in_full(error), language)
    log.error("a run of the page broke", exc_info=error)
    return say("error_log", language)
