"""Files that would take the machine: each is refused with a sentence, within limits of memory and time."""

import os
import zlib
from pathlib import Path

import pikepdf
import pytest

from osrag.book.guarded import guarded
from osrag.book.pdf.file import read_pdf_file
from osrag.book.read import read_material
from osrag.errors import BadDocument
from osrag.ui.pages import page_pictures
from osrag.wording import in_language
from tests import pdfs

WORDS = [pdfs.text(72, 80, "Paging divides memory into frames of equal size.")]


def read(path: Path, **limits: float):
    return guarded(read_material, path, progress=lambda *_: None, **limits)


def test_a_good_file_comes_back_whole_with_its_pages_told(tmp_path: Path):
    told = []
    path = pdfs.make_pdf(tmp_path / "book.pdf", [WORDS, WORDS])
    material = guarded(read_material, path, progress=lambda *pages: told.append(pages))
    assert "Paging divides memory" in material.chunks[0].text and told == [(1, 2), (2, 2)]


def test_a_page_that_unpacks_to_more_than_the_memory_costs_that_page(tmp_path: Path):
    path = pdfs.make_pdf(tmp_path / "book.pdf", [WORDS, WORDS])
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        packed = zlib.compress(b" " * 200_000_000, 9)
        pdf.pages[1].Contents = pdf.make_stream(b"")
        pdf.pages[1].Contents.write(packed, filter=pikepdf.Name.FlateDecode)
        pdf.save(path)
    material = read(path, memory_bytes=400 << 20)
    assert material.document.warnings == ("Pages that are damaged and left out: 2",)
    assert in_language(material.document.warnings[0], "zh") == "损坏而略去的页：2", (
        "it comes out of the other process whole"
    )
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        del pdf.pages[0]
        pdf.save(path)
    with pytest.raises(BadDocument, match=r"none of its 1 pages can be read \(PdfminerException\)"):
        read(path, memory_bytes=400 << 20)


def test_a_page_without_end_is_given_up(tmp_path: Path):
    path = pdfs.make_pdf(tmp_path / "book.pdf", [WORDS])
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        resources = pdf.pages[0].Contents.read_bytes()
        pdf.pages[0].Contents = pdf.make_stream(resources + b"BT /F1 1 Tf " + b"(abcdefghij) Tj " * 200_000 + b"ET")
        pdf.save(path)
    with pytest.raises(BadDocument, match=r"book\.pdf: nothing came of it for 1 seconds"):
        read(path, silent_s=1)


@pytest.mark.parametrize("name", ["pipe.pdf", "pipe.md"])
def test_a_pipe_is_no_document(tmp_path: Path, name: str):
    os.mkfifo(tmp_path / name)
    with pytest.raises(BadDocument, match="is a pipe or a device"):
        read(tmp_path / name)


def test_a_page_that_unpacks_twice_costs_that_page(tmp_path: Path):
    """Packed in a packed stream: some hundred bytes in the file, a gigabyte in memory."""
    path = pdfs.make_pdf(tmp_path / "book.pdf", [WORDS, WORDS])
    once = zlib.compressobj(9)
    packed = b"".join([*(once.compress(b" " * 10_000_000) for _ in range(100)), once.flush()])
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.pages[1].Contents = pdf.make_stream(b"")
        both = pikepdf.Array([pikepdf.Name.FlateDecode, pikepdf.Name.FlateDecode])
        pdf.pages[1].Contents.write(zlib.compress(packed, 9), filter=both)
        pdf.save(path, stream_decode_level=pikepdf.StreamDecodeLevel.none, compress_streams=False)
    assert path.stat().st_size < 20_000
    material = read(path, memory_bytes=800 << 20)
    assert "Paging divides memory" in material.chunks[0].text
    assert material.document.warnings == ("Pages that are damaged and left out: 2",)


def test_a_page_of_a_thousand_kilometres_is_read_and_its_picture_is_a_sentence(tmp_path: Path):
    path = pdfs.make_pdf(tmp_path / "book.pdf", [WORDS])
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        pdf.pages[0].MediaBox = pikepdf.Array([0, 0, 10**9, 10**9])
        pdf.save(path)
    material = read(path)
    with pytest.raises(BadDocument, match=r"page 1 of book\.pdf is too large to be drawn \(1e\+09 × 1e\+09 points\)"):
        page_pictures(material.chunks[0], path)


def test_what_no_reader_foresaw_is_a_sentence(tmp_path: Path):
    (tmp_path / "notes.md").write_text("# Paging\n\nA page.\n")
    with pytest.raises(BadDocument, match=r"notes\.md: cannot be read \(KeyError: 'MediaBox'\)"):
        guarded(lambda *_, **__: {}["MediaBox"], tmp_path / "notes.md", progress=lambda *_: None)


def test_bookmarks_that_point_at_each_other_are_each_taken_once(tmp_path: Path):
    path = pdfs.make_pdf(tmp_path / "book.pdf", [WORDS])
    with pikepdf.open(path, allow_overwriting_input=True) as pdf:
        there = [pdf.pages[0].obj, pikepdf.Name.Fit]
        one, two = (pdf.make_indirect(pikepdf.Dictionary(Title=title, Dest=there)) for title in ("One", "Two"))
        for mark, other in ((one, two), (two, one)):
            mark.Next = mark.First = mark.Last = other
        pdf.Root.Outlines = pdf.make_indirect(pikepdf.Dictionary(First=one, Last=two, Count=2))
        pdf.save(path)
    assert sorted(entry.title for entry in read_pdf_file(path).outline) == ["One", "Two"]
