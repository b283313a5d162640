"""Pages that are read by their looks: scans, pictures, and text that is not what the page shows."""

import struct
import zlib
from pathlib import Path

import pypdfium2
import pytest

from osrag.book.build import build_textbook
from osrag.book.document import SeenLine
from osrag.book.ocr import has_writing, page_of
from osrag.book.pdf import scans
from osrag.book.pdf.file import PdfFile
from osrag.book.pdf.page import Page, Run
from osrag.book.read import read_material
from osrag.book.seen import seen_on
from osrag.errors import BadDocument
from osrag.index.collection import Collection
from osrag.settings import ROOT
from osrag.types import Chunk
from osrag.ui.pages import page_pictures
from tests.fakes import FakeEncoder

BOOK = ROOT / "examples" / "textbook" / "os-course-zh.pdf"


@pytest.fixture(scope="module")
def scan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The upper part of a page of the Chinese course book, as a scanner at 200 dpi gives it."""
    with pypdfium2.PdfDocument(BOOK) as pdf:
        image = pdf[29].render(scale=200 / 72).to_pil().convert("RGB")
    path = tmp_path_factory.mktemp("scan") / "第三章.png"
    image.crop((0, 0, image.width, image.height // 4)).save(path)
    return path


@pytest.mark.slow
def test_a_scan_is_read_with_its_places_and_marked_as_recognised(scan: Path, tmp_path: Path):
    with pypdfium2.PdfDocument(BOOK) as pdf:
        width, height = pdf[29].get_size()
        printed = pdf[29].get_textpage().get_text_bounded(0, 0.75 * height, width, height)
    index = tmp_path / "index"
    report = build_textbook(index, [scan], FakeEncoder(), cache_dir=tmp_path / "cache")
    assert report.failed == () and report.manifest is not None
    (entry,) = report.manifest.documents
    assert entry.pages == 1 and "Pages read by text recognition (0.9" in entry.warnings[0]
    chunks = Collection.load(index, None, of=Chunk).chunks()
    assert chunks[0].recognised > 0.9
    assert scans.alike(printed, " ".join(chunk.text for chunk in chunks)) > 0.9
    assert seen_on(index, scan.name, 1)
    (marked,), (plain,) = page_pictures(chunks[0], scan, index).values(), page_pictures(chunks[0], scan).values()
    assert marked.startswith("data:image/webp;base64,") and marked != plain


def page(number: int, text: str, **extra: object) -> Page:
    runs = tuple(Run(line, 50, 300, 40.0 + 12 * at, 10, "F") for at, line in enumerate(text.splitlines()))
    return Page(number, 400, 600, runs, **extra)  # type: ignore[arg-type]


ENGLISH = "The page table of a process is kept in memory, and the register of it is saved when it is switched.\n" * 3
SHIFTED = ENGLISH.translate({ord(one): chr(ord(one) + 1) for one in "abcdefghijklmnopqrstuvwxy"})


@pytest.mark.parametrize(
    ("text", "odd"),
    [
        (ENGLISH, False),
        (SHIFTED, True),
        ("(cid:12)(cid:44)(cid:3) " * 80, True),
        ("页表在内存中，进程切换时要保存它的寄存器，这是操作系统的工作。" * 10, False),
        ("臩臮臯臰臱臲臵臶臷臸臹臺臽臿舃舄舎舏舑" * 20, True),
        ("short", False),
    ],
)
def test_text_without_a_common_word_is_suspicious(text: str, odd: bool):
    assert scans.suspicious([page(1, text)]) is odd


def test_text_that_is_not_what_the_page_shows_is_recognised_instead(monkeypatch: pytest.MonkeyPatch):
    seen = tuple(SeenLine(line, 0.9, 50, 30, 300, 42) for line in ENGLISH.splitlines())
    monkeypatch.setattr(scans, "page_lines", lambda *_: seen)
    nonsense = PdfFile("a.pdf", "", (page(1, SHIFTED), page(2, "Bad")), ("", ""), ())
    file, found, (remark,) = scans.with_scans(nonsense, Path("a.pdf"), None)
    assert set(found) == {1, 2} and file.pages[0].runs[0].text.startswith("The page table")
    assert remark.startswith("The text in the file is not what its pages show")
    code = PdfFile("b.pdf", "", (page(1, "int x = f(y); return x * 2;\n" * 20),), ("",), ())
    monkeypatch.setattr(
        scans, "page_lines", lambda *_: (SeenLine("int x = f(y); return x * 2; " * 20, 0.9, 0, 0, 9, 9),)
    )
    assert scans.with_scans(code, Path("b.pdf"), None) == (code, {}, ())


def test_a_stamp_on_a_picture_makes_no_text_page():
    assert scans.is_scan(page(1, "Scanned by X", drawn=True, covered=0.9))
    assert not scans.is_scan(page(1, "Figure 3: states of a process", drawn=True, covered=0.3))
    assert scans.is_scan(page(1, "", drawn=True)) and not scans.is_scan(page(1, ""))


def test_boxes_of_nearly_one_height_are_one_size_of_type():
    lines = [SeenLine("a line", 1, 50, top, 200, top + high) for top, high in ((10, 12), (30, 13), (50, 11), (70, 24))]
    assert [round(run.size, 1) for run in page_of(lines, 1, 400, 600).runs] == [9.2, 9.2, 9.2, 17.8]


def test_a_blank_page_is_not_given_to_the_recogniser(monkeypatch: pytest.MonkeyPatch):
    import numpy as np

    grey = np.full((600, 400, 3), 255, dtype=np.uint8)
    grey[100:500, 50:350] = 128
    assert not has_writing(grey)


@pytest.mark.parametrize(
    ("high", "said"), [(300, r"30,000 x 300 pixels; at most 10,000 pixels a side"), (30_000, "hundreds of millions of")]
)
def test_a_huge_picture_is_refused_before_it_is_unpacked(tmp_path: Path, high: int, said: str):
    head = b"IHDR" + struct.pack(">IIBBBBB", 30_000, high, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + head + struct.pack(">I", zlib.crc32(head))
    (tmp_path / "big.png").write_bytes(b"\x89PNG\r\n\x1a\n" + chunk + struct.pack(">I", 0) + b"IDAT")
    with pytest.raises(BadDocument, match=f"a picture of {said}"):
        read_material(tmp_path / "big.png")


def test_a_picture_that_is_none_is_refused(tmp_path: Path):
    (tmp_path / "a.jpg").write_bytes(b"\xff\xd8\xff\xe0 no picture")
    with pytest.raises(BadDocument, match=r"a\.jpg: the picture is damaged"):
        read_material(tmp_path / "a.jpg")
