"""The parts of a running osrag, made from `Settings` on first use and shared by all visitors."""

import functools
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from osrag.models.usage import UsageMeter
from osrag.settings import Settings

if TYPE_CHECKING:
    from osrag.answer.kernel import KernelAnswerer
    from osrag.answer.textbook import TextbookAnswerer
    from osrag.index.manifest import EncoderId
    from osrag.models.protocols import ChatModel, Encoder
    from osrag.quiz.judge import Judge
    from osrag.retrieve.kernel import KernelSearch
    from osrag.retrieve.textbook import TextbookSearch

Progress = Callable[[str, int, int], None]  # what, done, total
log = logging.getLogger(__name__)
_making = threading.RLock()


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


class Parts:
    """Each part is made once, when it is first asked for; nothing heavy loads before."""

    def __init__(self, settings: Settings, *, progress: Progress = silent) -> None:
        self.settings = settings
        self.progress = progress
        self.usage = UsageMeter()  # tokens and times of every model call

    @functools.cached_property
    def encoder(self) -> "Encoder":
        from osrag.models.load import load_encoder

        with _making:
            return load_encoder(self.settings, self.progress)

    @functools.cached_property
    def chat(self) -> "ChatModel | None":
        """None where answers are extracts only (profile `retrieval`)."""
        from osrag.models.load import load_chat

        with _making:
            return load_chat(self.settings, self.progress, self.usage)

    @functools.cached_property
    def encoder_id(self) -> "EncoderId":
        from osrag.index.manifest import EncoderId

        encoder = self.encoder
        return EncoderId(name=encoder.name, revision=encoder.revision, dim=encoder.dim)

    @functools.cached_property
    def textbook(self) -> "TextbookSearch":
        return self.open_textbook(self.textbook_folder)

    @property
    def textbook_folder(self) -> Path:
        return _own_folder(self.settings.index_dir)

    def open_textbook(self, folder: Path) -> "TextbookSearch":
        """The textbook collection in `folder`, which may also be the folder of all collections."""
        from osrag.index.collection import Collection
        from osrag.retrieve.textbook import TextbookSearch
        from osrag.types import Chunk

        place = _own_folder(folder)
        collection = Collection.load(
            place,
            self.encoder_id,
            of=Chunk,
            rebuild=f"python -m osrag build textbook --out {place} FILE…",
        )
        return TextbookSearch(collection, self.encoder)

    @functools.cached_property
    def textbook_answerer(self) -> "TextbookAnswerer":
        from osrag.answer.textbook import TextbookAnswerer

        return TextbookAnswerer(self.textbook, self.encoder, self.chat)

    @functools.cached_property
    def kernel(self) -> "KernelSearch":
        """Raises BadIndex where there is no kernel index, each time it is asked for: one may be built meanwhile."""
        from osrag.retrieve.kernel import KernelSearch

        return KernelSearch(self.settings.index_dir, self.encoder)

    @functools.cached_property
    def kernel_answerer(self) -> "KernelAnswerer":
        from osrag.answer.kernel import KernelAnswerer

        return KernelAnswerer(self.kernel, self.chat)

    @functools.cached_property
    def judge(self) -> "Judge":
        from osrag.quiz.judge import Judge

        return Judge(self.textbook, self.encoder, self.chat, self.settings)

    def prepare(self) -> None:
        """Load everything that the first question needs, so that it does not wait."""
        self.textbook_answerer.warm_up()


def _own_folder(folder: Path) -> Path:
    """The textbook collection inside the folder of all collections, or the folder itself."""
    own = folder / "textbook"
    return own if own.is_dir() else folder
