"""The parts of a running osrag, made from `Settings` on first use and shared by all visitors."""

import copy
import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from threadpoolctl import threadpool_limits

from osrag.answer.source import Question
from osrag.answer.workflow import warm_up
from osrag.app.desks import desks_of
from osrag.app.metrics import Metrics
from osrag.app.shelf import FITTED_ON, RENEW, Serving, Stale, own_folder, serving
from osrag.book import build as book_build
from osrag.book.answers import ANSWERS, BookAnswers
from osrag.book.asks import ASKS
from osrag.book.compose import Composer
from osrag.book.desk import Desk
from osrag.book.search import TextbookSearch
from osrag.book.sections import COURSE_BOOK, course_book, first_of, numbers_of
from osrag.book.selector import Selector
from osrag.book.source import BookSource
from osrag.errors import BadIndex, BadSettings, OsragError
from osrag.index.collection import Collection
from osrag.index.dense import DenseIndex, VectorIndex
from osrag.index.hub import index_folder
from osrag.index.manifest import EncoderId, check_encoder, id_of, read_manifest
from osrag.index.qdrant import QdrantIndex, connect
from osrag.index.renew import Copies, Renewal
from osrag.kernel import build as kernel_build
from osrag.kernel.search import KernelSearch
from osrag.kernel.source import KernelSource
from osrag.kernel.walk_index import titles_by_section
from osrag.kernel.walks import Both
from osrag.models import load
from osrag.models.llama_cpp import SPIN
from osrag.models.load import Notice
from osrag.models.protocols import ChatModel, Encoder, PairEncoder, Reranker
from osrag.models.usage import UsageMeter
from osrag.quiz.banks import Banks
from osrag.quiz.grader import Grader
from osrag.quiz.judge import Judge
from osrag.quiz.programs import sandbox
from osrag.settings import Settings
from osrag.study.board import Board
from osrag.study.limits import Limits, read_limits
from osrag.text import share_of, tokens
from osrag.types import Chunk, Language, Passage, Progress, SourceName, silent

log = logging.getLogger(__name__)
# Where a card or a server embeds. The 27,000 texts of the kernel are hours of a large encoder on a laptop.
RENEWS_KERNEL = ("gpu", "zerogpu", "endpoint")
# What is made of the search in a source, and is made anew when another index takes over.
MADE_OF = {"textbook": ("book_source", "judge"), "kernel": ("kernel_source",)}
T = TypeVar("T")
making = threading.RLock()  # one for all parts: a part that needs another makes it inside


class Once(Generic[T]):
    """A part that is made on its first use, and made once even when two threads want it at the same time.

    `functools.cached_property` takes no lock from Python 3.12 on.
    The value lies in the instance's dictionary under the property's name: taking it out there,
    with `making` held, has the part made anew on its next use.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> T:
        held: dict[str, T] = owner.__dict__
        with making:
            if self._name not in held and (shared := held.get("shared")) is not None:
                found: T = getattr(shared, self._name)
                return found
            if self._name not in held:
                held[self._name] = self._make(owner)
            return held[self._name]


def runs_programs(settings: Settings) -> bool:
    """Whether answers in C are run. Raises BadSettings where they should be and no sandbox can be had."""
    if not settings.run_programs or os.environ.get("SPACE_ID"):  # a Space is open to all
        return False
    if why := sandbox.missing():
        raise BadSettings(f"OSRAG_RUN_PROGRAMS: programs cannot be run here: {why}", hint="or leave the setting off")
    return True


class Parts:
    """Each part is made once, on its first use; nothing heavy loads before.

    What cannot be had is replaced by the next smaller thing, and `notices` says so. With `renew`
    an index of another encoder is made again in the background and then takes over.
    """

    def __init__(self, settings: Settings, *, progress: Progress = silent, renew: bool = False) -> None:
        # Every visitor has a thread. Where each of them multiplies with several more, they wait for one another:
        # sixteen searches at once then take ten times the processor time.
        threadpool_limits(1, user_api="blas")
        os.environ.update({**SPIN, **os.environ})  # read when FAISS loads, or torch for a large model
        self.settings = settings
        self.progress = progress
        self.usage = UsageMeter()  # tokens and times of every model call
        self.metrics = Metrics(self.usage)
        self.notices: tuple[Notice, ...] = ()  # what was replaced by what, in the order it was found
        self.desk: Desk | None = None  # of the visitor whose parts these are
        self.stale: dict[str, Stale] = {}  # by source: an index of another encoder, where the page speaks of it
        self.runs_programs = runs_programs(settings)  # whether programming exercises are compiled and tested
        self.limits = Limits(read_limits(settings.hints_file))  # how far hints go; an instructor may switch them
        self.banks = Banks(settings.bank_dir, shipped=settings.shipped_bank)  # an instructor may add to them
        self.desks = desks_of(settings, lambda: self.textbook.encoder)  # with what visitors bring for a session
        self.board = Board(settings.board_file) if settings.board_file else None  # counts for the instructor
        self._renewing = threading.Lock()  # one index after the other
        self._renew = renew

    # -- models

    @Once
    def encoder(self) -> Encoder:
        """The encoder of the profile, or the small one where that cannot be had."""
        encoder, notices = load.load_encoder_with_fallback(self.settings, self.progress)
        self.notices += notices
        return encoder

    @Once
    def checker(self) -> Encoder:
        """The encoder that thresholds and grades were fitted on; that of the profile where it cannot be had."""
        if self.encoder.name == FITTED_ON:
            return self.encoder
        try:
            return load.load_encoder(self.settings.model_copy(update={"encoder_backend": "e5"}), self.progress)
        except load.EXPECTED as error:
            log.warning("sentences are compared by %s: %s", self.encoder.name, error.sentence())
            return self.encoder

    @Once
    def pairs(self) -> PairEncoder | None:
        """What knows a prepared question in other words; None beside an encoder that it was not trained on."""
        return load.load_pairs(self.checker, load.SAME_QUESTION)

    @Once
    def grader(self) -> Grader:
        """What tells how much of a point an answer says."""
        return Grader(self.checker, load.load_pairs(self.checker, load.SAID_POINT))

    @Once
    def reranker(self) -> Reranker | None:
        """None where the machine affords none."""
        reranker, notices = load.load_reranker_with_fallback(self.settings, self.progress)
        self.notices += notices
        return reranker

    @Once
    def chat(self) -> ChatModel | None:
        """None where answers are extracts only: profile `retrieval`, or no model can be had."""
        chat, notices = load.load_chat_with_fallback(self.settings, self.progress, self.usage)
        self.notices += notices
        return chat

    @property
    def encoder_id(self) -> EncoderId:
        """Which encoder runs."""
        return id_of(self.encoder)

    # -- the index

    @Once
    def index_dir(self) -> Path:
        """The folder of all collections: that of the settings, or the copy of a published one."""
        try:
            return index_folder(self.settings, self.progress)
        except OsragError as error:
            if not self.settings.index_dir.is_dir():
                raise
            self.notices += (load.notice("own_index", error),)
            return self.settings.index_dir

    @property
    def textbook_folder(self) -> Path:
        """The folder of the textbook collection."""
        return own_folder(self.index_dir)

    @Once
    def textbook(self) -> TextbookSearch:
        """Raises BadIndex where there is no textbook index, or none that this machine can search."""
        copies = book_build.copies_of(self.textbook_folder, self.settings.cache_dir)
        found = serving(copies, self.encoder, self.checker)
        search = self._open_textbook(found)
        self._tell_stale("textbook", copies, found)
        return search

    def _open_textbook(self, found: Serving) -> TextbookSearch:
        """The search of the textbook collection.

        Where its encoder is not here, it searches by keywords alone while a new index is made. Raises BadIndex
        with the command that makes one where that is not done.
        """
        dense = found.how != "no_encoder"
        if not dense and not self._renew:
            check_encoder(read_manifest(found.folder), id_of(found.encoder), rebuild=RENEW)
        collection = Collection.load(found.folder, None, of=Chunk)
        at = found.folder, collection.manifest, id_of(found.encoder)
        rows = ANSWERS.open(*at) if dense else None
        fitted, own = self.checker.name == FITTED_ON, self.checker is found.encoder
        return TextbookSearch(
            collection,
            found.encoder,
            checker=self.checker if fitted and not (own and dense) else None,
            reranker=self.reranker,
            dense=dense,
            fitted=fitted and own,
            asks=ASKS.open(*at) if dense else None,
            answers=BookAnswers(rows, found.encoder, self.pairs) if rows is not None else None,
        )

    @Once
    def vectors(self) -> Callable[[Path], VectorIndex]:
        """What opens the vectors of the kernel's chunks. Raises MissingExtra."""
        where, key = self.settings.qdrant_url, self.settings.qdrant_key.get_secret_value()
        return partial(QdrantIndex.load, connect(where, key)) if where else DenseIndex.load

    @Once
    def kernel(self) -> KernelSearch:
        """Raises BadIndex where there is no kernel index, on every use: one may be built meanwhile."""
        copies = kernel_build.copies_of(self.index_dir, self.settings.cache_dir)
        found = serving(copies, self.encoder, self.checker)
        if copies.parts and self._renew and load.resolve_profile(self.settings) in RENEWS_KERNEL:
            self._tell_stale("kernel", copies, found)
        return self._open_kernel(found)

    def _open_kernel(self, found: Serving) -> KernelSearch:
        """Raises BadIndex where there are no kernel collections, or their encoder is not here."""
        return KernelSearch(found.folder, found.encoder, reranker=self.reranker, pairs=self.pairs, vectors=self.vectors)

    def _tell_stale(self, source: SourceName, copies: Copies, found: Serving) -> None:
        """Say that an index is of another encoder; make it again in the background where that is wanted."""
        if found.how == "fits" or source in self.stale:
            return
        renewal = None
        if self._renew:
            take_over = partial(self._take_over, source)
            renewal = Renewal(copies, self.encoder, ready=take_over, turn=self._renewing)
        self.stale[source] = Stale(source, found.how, copies.made_by, renewal)
        advice = [] if renewal else [f"Make it again: {RENEW}"]
        log.warning("%s", " ".join([*self.stale[source].lines("en"), *advice]))

    def _take_over(self, source: SourceName, folder: Path) -> None:
        """Search in the copy in `folder` from now on; answers that are being made end with what they began with."""
        found = Serving("fits", folder, self.encoder)
        fresh = self._open_textbook(found) if source == "textbook" else self._open_kernel(found)
        with making:
            self.__dict__[source] = fresh
            for part in MADE_OF[source]:
                self.__dict__.pop(part, None)
        log.info("the new %s index has taken over", source)

    def status(self, language: Language) -> list[str]:
        """Sentences for the page: what was replaced, and how far a new index is. Empty when all is as set."""
        return [*(notice.text(language) for notice in self.notices), *self.stale_lines(language)]

    def stale_lines(self, language: Language) -> list[str]:
        """Which indexes are of another encoder, and how far their new ones are."""
        return [line for stale in list(self.stale.values()) for line in stale.lines(language)]

    @property
    def renewing(self) -> bool:
        """Is an index being made in the background?"""
        return any(stale.renewal and stale.renewal.running for stale in list(self.stale.values()))

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
    def book_source(self) -> BookSource:
        """The course book as a source of answers. Raises BadIndex where there is no index of it."""
        pairs = load.load_pairs(self.checker, load.SAYS_ANSWER)
        return BookSource(self.textbook, self.checker, Composer(self.checker, Selector.load(), pairs))

    def with_desk(self, desk: Desk, *, alone: bool) -> "Parts":
        """The parts for a visitor who has material: the course material is another, the rest is shared."""
        own = copy.copy(self)
        search = desk.search(self.textbook, alone=alone)
        own.__dict__ |= {
            "shared": self,
            "desk": desk,
            "textbook": search,
            "book_source": replace(self.book_source, search_in=search, brought=True),
        }
        return own

    @Once
    def kernel_source(self) -> KernelSource:
        """Raises BadIndex where there is no kernel index."""
        return KernelSource(self.kernel, self.book_page)

    @Once
    def walk_titles(self) -> Mapping[str, Sequence[Both]]:
        """Titles of the kernel's walk-throughs by the section of the course book that each names."""
        return titles_by_section(self.index_dir)

    def in_linux(self, passages: Sequence[Passage], question: Question) -> tuple[tuple[int, str], ...]:
        """Of passages of the course book, by number: the title of a walk-through that shows the idea at work.

        Of those that name the section, the one whose title shares most words with the question, then with the passage.
        """
        language, asked = question.reply_language, tokens(question.text)
        found: dict[str, int] = {}
        for passage in passages:
            chunk = passage.chunk
            if isinstance(chunk, Chunk) and chunk.source.startswith(COURSE_BOOK):
                titles = (one.of(language) for number in numbers_of(chunk) for one in self.walk_titles.get(number, ()))
                words = {title: tokens(title) for title in titles if title not in found}
                near = {
                    title: (share_of(own, asked), share_of(own, tokens(chunk.text))) for title, own in words.items()
                }
                title = max(near, key=near.__getitem__, default="")
                if title and near[title][0] > 0:
                    found[title] = passage.number
        return tuple((number, title) for title, number in found.items())

    def book_page(self, section: str, language: Language) -> Chunk | None:
        """Where a section of the course book begins; None without the book."""
        try:
            return first_of(course_book(self.textbook.collection), section, language)
        except BadIndex as error:
            log.warning("no page for section %s: %s", section, error.sentence())
            return None

    @Once
    def judge(self) -> Judge:
        """The judge of the quiz. Raises BadIndex where there is no index of the textbook."""
        return Judge(self.textbook, self.grader, self.chat, self.settings, runs=self.runs_programs)

    def prepare(self) -> None:
        """Load everything that the first question needs, so that it does not wait."""
        load.read_words(self.checker)
        warm_up(self.book_source, self.chat)
        try:
            warm_up(self.kernel_source, self.chat)
        except BadIndex as error:
            log.warning("no kernel questions: %s", error.sentence())
        self.judge.warm_up()
