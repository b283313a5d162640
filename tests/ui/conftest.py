"""The page over parts that need no weights and no index; each run is scripted."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

from osrag.app.desks import desks_of
from osrag.app.metrics import Metrics
from osrag.app.parts import Parts
from osrag.kernel.build import build_kernel
from osrag.kernel.search import KernelSearch
from osrag.quiz.banks import Banks
from osrag.settings import Settings
from osrag.study.limits import Limits
from osrag.types import Chunk, ChunkKind, CodeChunk, LineRef, PageRef
from osrag.ui.app import build, serve
from tests.fakes import FakeEncoder
from tests.kernel.tree import write_tree
from tests.quiz.parts import search_of


class Script:
    """Stands in for `answer`: what each run is asked, and the events it gives."""

    def __init__(self) -> None:
        self.requests: list = []
        self.events: list = []  # an exception among them is raised

    def __call__(self, _parts, request) -> Iterator:
        self.requests.append(request)
        for event in self.events:
            if isinstance(event, Exception):
                raise event
            yield event


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    made = Script()
    for module in ("api", "chat"):
        monkeypatch.setattr(f"osrag.ui.{module}.answer", made)
    return made


def page_of(language: str) -> Chunk:
    """The page of the course book on LRU."""
    section = ("Chapter 7 Virtual Memory", "7.3 Page replacement", "7.3.4 Least recently used")
    return Chunk(
        f"os-course-{language}.pdf#p67-2",
        "LRU",
        f"os-course-{language}.pdf",
        PageRef(67, 67, "61"),
        0,
        section,
        language,
    )


class Code:
    """A kernel store with one function."""

    version = "6.1"

    def functions_named(self, name: str) -> list[int]:
        return [0] if name == "folio_mark_accessed" else []

    def nearest_names(self, name: str) -> list[str]:
        return []

    def chunk(self, row: int) -> CodeChunk:
        where = LineRef(457, 458)
        text = "void folio_mark_accessed(struct folio *folio)\n{ }"
        return CodeChunk(
            "mm/swap.c:457-458", text, "mm/swap.c", where, ChunkKind.FUNCTION, "folio_mark_accessed", "Marks."
        )


class Book:
    """A collection of two pages, one in each language."""

    manifest = SimpleNamespace(documents=(), counts={})

    def searched(self) -> list[Chunk]:
        return self.chunks()

    def chunks(self) -> list[Chunk]:
        return [page_of("en"), page_of("zh")]


def scripted_parts(index_dir: Path) -> SimpleNamespace:
    settings = Settings(_env_file=None, requests_per_minute=1000)
    return SimpleNamespace(
        settings=settings,
        desks=desks_of(settings, FakeEncoder),
        desk=None,
        index_dir=index_dir,
        textbook_folder=index_dir / "textbook",
        chat=None,
        checker=FakeEncoder("small"),
        textbook=SimpleNamespace(collection=Book()),
        kernel=SimpleNamespace(store=Code()),
        notices=(),
        limits=Limits(),
        metrics=Metrics(),
        banks=Banks(),
        board=None,
        renewing=False,
        runs_programs=False,
        running=lambda: {},
        status=lambda language: [],
        stale_lines=lambda language: [],
    )


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    return scripted_parts(tmp_path_factory.mktemp("index"))


@pytest.fixture(scope="module")
def page(parts) -> gr.Blocks:
    return build(parts)


@pytest.fixture(scope="module")
def address(page: gr.Blocks, parts: SimpleNamespace) -> Iterator[str]:
    """The page, served on a free port of this machine, with its MCP endpoint."""
    serve(page, parts.settings.model_copy(update={"port": None}), parts.metrics, block=False)
    yield page.local_url
    page.close()


@pytest.fixture(scope="module")
def searching(tmp_path_factory: pytest.TempPathFactory) -> Parts:
    """Parts that search, answer and grade as the real ones do, over a small book and kernel, without weights."""
    folder, encoder = tmp_path_factory.mktemp("searching"), FakeEncoder(dim=384)
    build_kernel(folder, write_tree(folder / "tree"), ["kernel", "mm"], encoder, cache_dir=folder / "cache")
    parts = Parts(
        Settings(
            _env_file=None, index_dir=folder, cache_dir=folder / "cache", profile="retrieval", upload_visitors=1000
        )
    )
    own = {"encoder": encoder, "checker": encoder, "pairs": None, "reranker": None, "chat": None, "index_dir": folder}
    parts.__dict__ |= own | {"textbook": search_of(folder / "textbook", encoder), "walk_titles": {}}
    parts.__dict__ |= {"kernel": KernelSearch(folder, encoder)}
    return parts


@pytest.fixture(scope="module")
def searching_page(searching: Parts) -> gr.Blocks:
    """A page over `searching`, which allows as many calls as a test makes."""
    most = {"requests_per_minute": 10**6, "searches_per_minute": 10**6, "port": None}
    searching.settings = searching.settings.model_copy(update=most)
    return build(searching)


@pytest.fixture(scope="module")
def searching_address(searching: Parts, searching_page: gr.Blocks) -> Iterator[str]:
    """That page, served."""
    serve(searching_page, searching.settings, searching.metrics, block=False)
    yield searching_page.local_url
    searching_page.close()
