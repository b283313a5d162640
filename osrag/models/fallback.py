"""When a model cannot be had: one step down, and a notice that the page shows (large → small → retrieval only)."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from osrag.errors import BadSettings, BadWeights, MissingExtra, ModelFailed, ModelNotFound, NoSpace, OsragError
from osrag.models.protocols import ChatModel, Encoder, Reranker
from osrag.models.snapshot import Progress
from osrag.models.usage import UsageMeter
from osrag.settings import Settings
from osrag.types import Language
from osrag.wording import say

log = logging.getLogger(__name__)

Step = Literal["small_chat", "no_chat", "small_encoder", "no_reranker", "own_index"]
EXPECTED = (BadSettings, BadWeights, MissingExtra, ModelFailed, ModelNotFound, NoSpace)


@dataclass(frozen=True, slots=True)
class Notice:
    """What was replaced by what, and why; for the page and the log."""

    step: Step
    reason: str  # a sentence with its remedy

    def short(self, language: Language) -> str:
        return say(f"notice_{self.step}", language)

    def why(self, language: Language) -> str:
        return say("notice_reason", language, reason=self.reason)

    def text(self, language: Language) -> str:
        return f"{self.short(language)} {self.why(language)}"


LoadChat = Callable[[Settings, Progress, UsageMeter | None], ChatModel | None]
LoadEncoder = Callable[[Settings, Progress], Encoder]
LoadReranker = Callable[[Settings, Progress], Reranker | None]


def load_chat_with_fallback(
    settings: Settings, progress: Progress, usage: UsageMeter | None = None, *, load: LoadChat | None = None
) -> tuple[ChatModel | None, tuple[Notice, ...]]:
    """The chat model of the settings, or the next smaller thing that works.

    Never raises for a model that cannot be had: None is retrieval only. The notices
    say what was stepped down from, in order.
    """
    from osrag.models.load import chat_backend, load_chat

    loader = load or load_chat
    notices: list[Notice] = []
    try:
        return loader(settings, progress, usage), ()
    except EXPECTED as error:
        large = chat_backend(settings) in {"transformers", "openai"}
        notices.append(notice("small_chat" if large else "no_chat", error))
    if large:
        small = settings.model_copy(update={"profile": "cpu", "chat_backend": "llama_cpp"})
        try:
            return loader(small, progress, usage), tuple(notices)
        except EXPECTED as error:
            notices.append(notice("no_chat", error))
    return None, tuple(notices)


def load_encoder_with_fallback(
    settings: Settings, progress: Progress, *, load: LoadEncoder | None = None
) -> tuple[Encoder, tuple[Notice, ...]]:
    """The encoder of the settings, else e5. Raises what e5 raises: without an encoder there is no search."""
    from osrag.models.load import encoder_backend, load_encoder

    loader = load or load_encoder
    try:
        return loader(settings, progress), ()
    except EXPECTED as error:
        if encoder_backend(settings) == "e5":
            raise
        told = notice("small_encoder", error)
    return loader(settings.model_copy(update={"encoder_backend": "e5"}), progress), (told,)


def load_reranker_with_fallback(
    settings: Settings, progress: Progress, *, load: LoadReranker | None = None
) -> tuple[Reranker | None, tuple[Notice, ...]]:
    """The reranker of the settings; None where there is none, or where it cannot be had."""
    from osrag.models.load import load_reranker

    try:
        return (load or load_reranker)(settings, progress), ()
    except EXPECTED as error:
        return None, (notice("no_reranker", error),)


def foreseen(settings: Settings) -> tuple[Notice, ...]:
    """What a start would step down from, as far as it shows without loading a model. Asks a served model's server."""
    from osrag.models.load import chat_backend, check_chat, check_encoder, encoder_backend

    found: list[Notice] = []
    large = chat_backend(settings) in {"transformers", "openai"}
    checks: tuple[tuple[Step, Callable[[Settings], None]], ...] = (
        ("small_chat" if large else "no_chat", check_chat),
        ("small_encoder", check_encoder),
    )
    for step, check in checks:
        if step == "small_encoder" and encoder_backend(settings) == "e5":
            continue
        try:
            check(settings)
        except EXPECTED as error:
            found.append(Notice(step, error.sentence()))
    return tuple(found)


def notice(step: Step, error: OsragError) -> Notice:
    """Of an error that was stepped down from; also said in the log."""
    made = Notice(step, error.sentence())
    log.warning("%s", made.text("en"))
    return made
