"""When a model cannot be had: one step down, and a notice that the page shows (large → small → retrieval only)."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from osrag.errors import BadSettings, BadWeights, MissingExtra, ModelFailed, ModelNotFound, NoSpace, OsragError
from osrag.models.protocols import ChatModel, Encoder
from osrag.models.snapshot import Progress
from osrag.models.usage import UsageMeter
from osrag.settings import Settings
from osrag.types import Language

log = logging.getLogger(__name__)

Step = Literal["small_chat", "no_chat", "small_encoder"]
EXPECTED = (BadSettings, BadWeights, MissingExtra, ModelFailed, ModelNotFound, NoSpace)
TEXT: dict[Step, dict[Language, str]] = {
    "small_chat": {
        "zh": "大模型不可用,已改用本机的小模型作答。原因:{reason}",
        "en": "The large model is not available; the small one on this machine answers instead. Reason: {reason}",
    },
    "no_chat": {
        "zh": "没有可用的语言模型,只给出检索到的原文摘录。原因:{reason}",
        "en": "No language model is available; you get the extracts that were found. Reason: {reason}",
    },
    "small_encoder": {
        "zh": "BGE-M3 不可用,检索改用小型编码器。原因:{reason}",
        "en": "BGE-M3 is not available; the small encoder searches instead. Reason: {reason}",
    },
}


@dataclass(frozen=True, slots=True)
class Notice:
    """What was replaced by what, and why; for the page and the log."""

    step: Step
    reason: str  # a sentence with its remedy

    def text(self, language: Language) -> str:
        return TEXT[self.step][language].format(reason=self.reason)


LoadChat = Callable[[Settings, Progress, UsageMeter | None], ChatModel | None]
LoadEncoder = Callable[[Settings, Progress], Encoder]


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
        notices.append(_notice("small_chat" if large else "no_chat", error))
    if large:
        small = settings.model_copy(update={"profile": "cpu", "chat_backend": "llama_cpp"})
        try:
            return loader(small, progress, usage), tuple(notices)
        except EXPECTED as error:
            notices.append(_notice("no_chat", error))
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
        notice = _notice("small_encoder", error)
    return loader(settings.model_copy(update={"encoder_backend": "e5"}), progress), (notice,)


def _notice(step: Step, error: OsragError) -> Notice:
    notice = Notice(step, error.sentence())
    log.warning("%s", notice.text("en"))
    return notice
