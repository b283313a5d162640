"""The parts of a running osrag, made from `Settings` on first use and shared by all visitors."""

import logging
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

from osrag.app import shelf
from osrag.app.once import Once, making
from osrag.app.shelf import FITTED_ON, RENEW, Opened, Readers, Stale, kernel_serves, open_fitting, own_folder
from osrag.book.answer import TextbookAnswerer
from osrag.book.search import TextbookSearch
from osrag.errors import BadIndex, BadSettings
from osrag.index.hub import index_folder
from osrag.index.manifest import EncoderId
from osrag.index.renew import Renewal, id_of, renew_textbook
from osrag.kernel.answer import KernelAnswerer
from osrag.kernel.renew import renew_kernel_as_one
from osrag.kernel.search import KernelSearch
from osrag.models import fallback, load
from osrag.models.fallback import Notice
from osrag.models.protocols import ChatModel, Encoder, Reranker
from osrag.models.usage import UsageMeter
from osrag.quiz.judge import Judge
from osrag.settings import Settings
from osrag.types import Language

Progress = Callable[[str, int, int], None]  # what, done, total
log = logging.getLogger(__name__)
# Where a card or a server embeds. The 27,000 texts of the kernel are hours of a large encoder on a laptop.
RENEWS_KERNEL = ("gpu", "zerogpu", "endpoint")


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


class Parts:
    """Each part is made once, when it is first asked for; nothing heavy loads before.

    What cannot be had is replaced by the next smaller thing, and `notices` says so. With `renew`
    an index of another encoder is made again in the background and then takes over.
    """

    def __init__(self, settings: Settings, *, progress: Progress = silent, renew: bool = False) -> None:
        self.settings = settings
        self.progress = progress
        self.usage = UsageMeter()  # tokens and times of every model call
        self.notices: tuple[Notice, ...] = ()  # what was replaced by what, in the order it was found
        self.stale: Stale | None = None  # a textbook index of another encoder that serves
        self.stale_kernel: Stale | None = None  # the same of the kernel, where it is made again
        self._renewing = threading.Lock()  # one index after the other
        self._renew = renew

    # -- models

    @Once
    def encoder(self) -> Encoder:
        encoder, notices = fallback.load_encoder_with_fallback(self.settings, self.progress)
        self.notices += notices
        return encoder

    @Once
    def checker(self) -> Encoder:
        """The encoder that thresholds and grades were fitted on; that of the profile where it cannot be had."""
        if self.encoder.name == FITTED_ON:
            return self.encoder
        try:
            return load.load_encoder(self.settings.model_copy(update={"encoder_backend": "e5"}), self.progress)
        except fallback.EXPECTED as error:
            log.warning("sentences are compared by %s: %s", self.encoder.name, error.sentence())
            return self.encoder

    @Once
    def reranker(self) -> Reranker | None:
        """None where the machine affords none."""
        reranker, notices = fallback.load_reranker_with_fallback(self.settings, self.progress)
        self.notices += notices
        return reranker

    @Once
    def chat(self) -> ChatModel | None:
        """None where answers are extracts only: profile `retrieval`, or no model can be had."""
        chat, notices = fallback.load_chat_with_fallback(self.settings, self.progress, self.usage)
        self.notices += notices
        return chat

    @Once
    def encoder_id(self) -> EncoderId:
        return id_of(self.encoder)

    @property
    def readers(self) -> Readers:
        return Readers(self.encoder, self.checker, self.reranker)

    # -- the index

    @Once
    def index_dir(self) -> Path:
        """The folder of all collections: that of the settings, or the copy of a published one."""
        try:
            return index_folder(self.settings, self.progress)
        except (BadIndex, BadSettings) as error:
            if not self.settings.index_dir.is_dir():
                raise
            self.notices += (fallback.notice("own_index", error),)
            return self.settings.index_dir

    @property
    def textbook_folder(self) -> Path:
        return own_folder(self.index_dir)

    @Once
    def textbook(self) -> TextbookSearch:
        opened = shelf.open_somehow(self.textbook_folder, self.readers, self.settings.cache_dir)
        if opened.how != "fits":
            self._take_stale(opened)
        return opened.search

    def open_textbook(self, folder: Path) -> TextbookSearch:
        """The textbook collection in `folder`, which may also be the folder of all collections."""
        return open_fitting(own_folder(folder), self.readers, self.settings.cache_dir)

    def _take_stale(self, opened: Opened) -> None:
        """Serve an index of another encoder; make it again in the background where that is wanted."""
        if not self._renew:
            if opened.how == "keywords_only":
                self.open_textbook(self.textbook_folder)  # refuses, with the command
            self.stale = Stale(opened.how, opened.made, None)
            log.warning("%s %s", *self.stale.lines("en"), f"Make it again: {RENEW}")
            return
        make = partial(renew_textbook, self.textbook_folder, self.encoder, cache_dir=self.settings.cache_dir)
        renewal = Renewal(lambda progress: make(progress=progress), ready=self._take_over_textbook, turn=self._renewing)
        self.stale = Stale(opened.how, opened.made, renewal)
        log.warning("%s", " ".join(self.stale.lines("en")))

    def _take_over_textbook(self, place: Path) -> None:
        self._take_over("textbook", self.open_textbook(place), ("textbook_answerer", "judge"))

    def _take_over(self, name: str, fresh: object, made_of_it: tuple[str, ...]) -> None:
        """Search in `fresh` from now on; answers that are being made end with what they began with."""
        with making:
            self.__dict__[name] = fresh
            for part in made_of_it:
                self.__dict__.pop(part, None)
        log.info("the new %s index has taken over", name)

    def status(self, language: Language) -> list[str]:
        """Sentences for the page: what was replaced, and how far a new index is. Empty when all is as set."""
        return [*(notice.text(language) for notice in self.notices), *self.stale_lines(language)]

    def stale_lines(self, language: Language) -> list[str]:
        """Which indexes are of another encoder, and how far their new ones are."""
        return [line for stale in (self.stale, self.stale_kernel) if stale for line in stale.lines(language)]

    @property
    def renewing(self) -> bool:
        """Is an index being made in the background?"""
        return any(stale.running for stale in (self.stale, self.stale_kernel) if stale)

    def running(self) -> dict[str, str | None]:
        """Names of the models that serve, which may be others than those that are set."""
        chat, reranker = self.chat, self.reranker
        return {
            "chat": chat.name if chat else None,
            "encoder": self.textbook.encoder.name,
            "reranker": reranker.name if reranker else None,
        }

    # -- what answers

    @Once
    def textbook_answerer(self) -> TextbookAnswerer:
        return TextbookAnswerer(self.textbook, self.checker, self.chat)

    @Once
    def kernel(self) -> KernelSearch:
        """Raises BadIndex where there is no kernel index, each time it is asked for: one may be built meanwhile."""
        if self._renew and self.stale_kernel is None and load.resolve_profile(self.settings) in RENEWS_KERNEL:
            self._renew_kernel()
        return self.open_kernel(self.index_dir)

    def _renew_kernel(self) -> None:
        """Where the kernel collections are of another encoder, make them again in the background."""
        root, cache_dir = self.index_dir, self.settings.cache_dir
        how, made = kernel_serves(root, self.readers, cache_dir)
        if how == "fits":
            return
        make = partial(renew_kernel_as_one, root, self.encoder, cache_dir=cache_dir)
        renewal = Renewal(lambda progress: make(progress=progress), ready=self._take_over_kernel, turn=self._renewing)
        self.stale_kernel = Stale(how, made, renewal, "kernel_")
        log.warning("%s", " ".join(self.stale_kernel.lines("en")))

    def _take_over_kernel(self, _: Path) -> None:
        self._take_over("kernel", self.open_kernel(self.index_dir), ("kernel_answerer",))

    def open_kernel(self, folder: Path) -> KernelSearch:
        """The kernel collections in `folder`, searched by the encoder that made them where it is here."""
        gpu = load.resolve_profile(self.settings) == "gpu"
        return shelf.open_kernel(folder, self.readers, self.settings.cache_dir, gpu=gpu)

    @Once
    def kernel_answerer(self) -> KernelAnswerer:
        return KernelAnswerer(self.kernel, self.chat)

    @Once
    def judge(self) -> Judge:
        return Judge(self.textbook, self.checker, self.chat, self.settings)

    def prepare(self) -> None:
        """Load everything that the first question needs, so that it does not wait."""
        self.textbook_answerer.warm_up()
        try:
            self.kernel_answerer.warm_up()
        except BadIndex as error:
            log.warning("no kernel questions: %s", error.sentence())
        self.judge.warm_up()
