"""The desks of visitors: each sees its own, and each goes in time; what the page says of them."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from osrag.app import desks as desks_module
from osrag.app.desks import Desks, desks_of
from osrag.book.desk import Brought
from osrag.settings import Settings
from osrag.ui.app import build
from osrag.ui.material import before_html, line_html, list_html
from osrag.ui.pages import page_server
from osrag.wording import Said
from tests.calls import called
from tests.fakes import FakeEncoder
from tests.pdfs import make_pdf, text

NOTES = "# Deadlock\n\nThe banker's algorithm keeps the system in a safe state.\n"


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def desks(clock: Clock) -> Desks:
    made = desks_of(Settings(_env_file=None, upload_visitors=2, upload_idle_minutes=10), FakeEncoder)
    made.clock = clock
    return made


def bring(desks: Desks, session: str, *paths: Path):
    desk = desks.open(session)
    assert desk is not None
    list(desk.bring(paths))
    return desk


def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes.md").write_text(NOTES)
    return tmp_path / "notes.md"


def test_two_visitors_never_see_each_others(desks: Desks, tmp_path: Path):
    mine = bring(desks, "a", notes(tmp_path))
    other = bring(desks, "b")
    assert desks.of("a") is mine and desks.of("b") is other and desks.of("c") is None
    assert mine.passages == 1 and other.passages == 0
    assert mine.key != other.key and mine.folder != other.folder
    assert desks.with_key(mine.key) is mine and desks.with_key("a") is None and desks.with_key("") is None


def test_a_page_is_drawn_for_whoever_has_the_key_and_for_nobody_else(desks: Desks, tmp_path: Path, parts):
    words = "The banker keeps the state of the system safe, and it is the one that asks for the claims."
    desk = bring(desks, "a", make_pdf(tmp_path / "own.pdf", [[text(72, 300, words)]]))
    server = page_server(SimpleNamespace(**{**vars(parts), "desks": desks}))
    chunk_id = f"{desk.key}/own.pdf#p1-1"
    (page,) = server({"chunk": chunk_id, "lang": "en"})["pages"]
    assert page["src"].startswith("data:image/webp;base64,") and page["alt"] == "own.pdf, page 1 of the file"
    stranger = bring(desks, "b")
    for guess in (f"{stranger.key}/own.pdf#p1-1", f"{desk.key}/../own.pdf#p1-1"):
        assert server({"chunk": guess, "lang": "en"})["pages"] == []


def test_a_desk_goes_when_nobody_used_it_for_long(desks: Desks, clock: Clock, tmp_path: Path):
    folder = bring(desks, "a", notes(tmp_path)).folder
    clock.now = 599
    desks.sweep()
    assert desks.of("a") is not None, "a question keeps it"
    clock.now = 1198
    desks.sweep()
    assert folder.is_dir()
    clock.now = 1199 + 600
    desks.sweep()
    assert desks.of("a") is None and not folder.exists()


def test_a_desk_goes_a_minute_after_its_page_unless_the_page_comes_back(desks: Desks, clock: Clock, tmp_path: Path):
    folder = bring(desks, "a", notes(tmp_path)).folder
    desks.gone("a")
    clock.now = 30
    assert desks.of("a") is not None, "the connection was lost for a moment"
    clock.now = 95
    desks.sweep()
    assert folder.is_dir()
    desks.gone("a")
    clock.now = 156
    desks.sweep()
    assert not folder.exists()


def test_there_is_room_for_so_many_visitors_and_passages(desks: Desks, tmp_path: Path, monkeypatch):
    bring(desks, "a", notes(tmp_path)), bring(desks, "b")
    assert desks.open("c") is None and desks.open("a") is not None
    desks.close("b")
    monkeypatch.setattr(desks_module, "MOST_PASSAGES", 1)
    (tmp_path / "more.md").write_text(f"{NOTES}More of it.")
    (file,) = bring(desks, "c", tmp_path / "more.md").files
    assert file.why == "server_full"


def test_a_desk_of_which_nothing_can_be_read_makes_room(desks: Desks, tmp_path: Path):
    (tmp_path / "empty.md").write_text("")
    broken = [bring(desks, f"{n}", tmp_path / "empty.md") for n in range(5)]
    assert [desk.closed for desk in broken] == [True] * 4 + [False]
    assert bring(desks, "a", notes(tmp_path)).passages == 1
    assert bring(desks, "b", notes(tmp_path)).passages == 1
    assert desks.open("c") is None


def test_one_address_has_half_of_the_desks(clock: Clock, tmp_path: Path):
    desks = desks_of(Settings(_env_file=None, upload_visitors=4), FakeEncoder)
    for session in ("a", "b"):
        list(desks.open(session, "192.0.2.1").bring([notes(tmp_path)]))
    assert desks.open("c", "192.0.2.1") is None
    assert desks.open("a", "192.0.2.1") is not None, "its own is still there"
    assert desks.open("d", "192.0.2.2") is not None


def test_a_program_that_brings_empty_files_leaves_room_for_a_visitor(address: str, parts, tmp_path: Path):
    for number in range(12):
        event, told = called(address, "add_material", f"a{number}.md", "", "")
        assert event == "complete" and told["files"][0]["state"] == "failed", told
    assert parts.desks.open("a page", "127.0.0.1") is not None
    parts.desks.close("a page")


def test_limits_are_named_before_and_after(desks: Desks):
    before = before_html(desks.quota, desks.idle_s, "en")
    assert "At most 20 files, 100 MB and 1,000 pages together" in before and "after 10 minutes" in before
    assert "最多 20 个文件、100 MB、1,000 页" in before_html(desks.quota, desks.idle_s, "zh")
    files = (
        Brought("a.pdf", 5_000_000, "reading", 30, 300, 24),
        Brought("<b>.pdf", 0, "failed", why="too_large"),
    )
    html = list_html(files, desks.quota, "en")
    assert "Reading, page 30 of 300. The first 24 pages can be searched." in html
    locked = Brought("c.pdf", state="failed", why="password", told=(Said("doc_password", name="c.pdf"),))
    assert "<p>asks for a password</p>" in list_html([locked], desks.quota, "en")
    chinese = list_html([locked], desks.quota, "zh")
    assert "这个文件有密码" in chinese and "<p>打开它要密码</p>" in chinese
    assert chinese.count("c.pdf") == 1  # in front of the line
    assert "&lt;b&gt;.pdf" in html and "All files together are too large" in html
    assert "Used: 24 of 1,000 pages, 5.0 of 100 MB." in html
    assert "pages that can be searched: 24" in line_html(files, "en")
    assert "未读完：&lt;b&gt;.pdf" in line_html(files, "zh")


def test_remarks_of_the_readers_stand_in_the_language_of_the_page(desks: Desks):
    file = Brought("a.docx", state="ready", pages=1, told=(Said("remark_equations", count=3),))
    assert "保留为文字的公式：3" in list_html([file], desks.quota, "zh")
    assert "Equations kept as text: 3" in list_html([file], desks.quota, "en")


def test_an_operator_may_take_no_files(parts):
    settings = parts.settings.model_copy(update={"upload_visitors": 0})
    own = SimpleNamespace(**{**vars(parts), "settings": settings, "desks": desks_of(settings, FakeEncoder)})
    blocks = build(own).blocks.values()
    (button,) = [one for one in blocks if one.elem_id == "om-add-chat"]
    (tab,) = [one for one in blocks if getattr(one, "id", "") == "material"]
    assert (button.visible, tab.visible) == (False, False) and own.desks.open("a") is None


def test_the_page_shows_each_step_and_deletes_all_on_request(page, parts, tmp_path: Path):
    visitor = SimpleNamespace(session_hash="me", headers={}, client=SimpleNamespace(host="127.0.0.1"))
    handlers = {getattr(fn.fn, "__name__", ""): fn.fn for fn in page.fns.values()}
    last: dict = {}
    for update in handlers["added"]([str(notes(tmp_path))], "en", visitor):
        last |= {component.elem_id: value for component, value in update.items() if value != {"__type__": "update"}}
    assert "Ready" in last["om-list"] and last["om-reach"]["visible"] and not last["om-stop"]["visible"]
    material = handlers["forgotten"].__self__
    parts.with_desk = lambda desk, *, alone: (desk, alone)
    assert material.parts_for("beside", visitor) == (parts.desks.of("me"), False)
    assert material.parts_for("without", visitor) is parts
    other = SimpleNamespace(**{**vars(visitor), "session_hash": "you"})
    assert material.parts_for("beside", other) is parts and material.parts_for("alone", other) is None
    emptied = {component.elem_id: value for component, value in handlers["forgotten"]("en", visitor).items()}
    assert "No files yet." in emptied["om-list"] and parts.desks.of("me") is None
    assert not (tmp_path / "notes.md").exists(), "what was uploaded goes too"
