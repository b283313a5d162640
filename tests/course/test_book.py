"""Which files of the book are set, and that chapter 13 and its appendix name each other."""

import argparse
import re

import book
import booktext
import pytest

from osrag.index.manifest import read_manifest


def test_an_appendix_comes_after_the_chapters() -> None:
    sources = book.find_edition("en").sources
    assert [name[:2] for name in sources[:13]] == [f"{number:02}" for number in range(1, 14)]
    assert sources[13:] == ("appendix-a-linux-map",)
    assert book.find_edition("zh").sources == sources


def test_a_draft_has_only_what_is_asked_for() -> None:
    assert book.find_edition("zh", ("03", "appendix-a")).sources == ("03-cpu-scheduling", "appendix-a-linux-map")
    assert [book.source_number(text) for text in ("3", "13", "A", "a")] == ["03", "13", "appendix-a", "appendix-a"]
    with pytest.raises(argparse.ArgumentTypeError, match="neither"):
        book.source_number("3-4")


@pytest.mark.parametrize("language", booktext.LANGUAGES)
def test_chapter_13_names_every_table_of_the_appendix_and_the_appendix_every_section(language: str) -> None:
    folder = booktext.SOURCE / language
    chapter = (folder / "13-book-to-linux.typ").read_text("utf-8")
    appendix = (folder / "appendix-a-linux-map.typ").read_text("utf-8")
    tables = re.findall(r"<map:([a-z-]+)>", appendix)
    assert len(tables) == 12
    assert re.findall(r"@map:([a-z-]+)", chapter) == tables
    assert [name for name in re.findall(r"@sec:linux-([a-z-]+)", appendix) if name != "source"] == tables
    assert set(tables) < set(re.findall(r"<sec:linux-([a-z-]+)>", chapter))


def test_a_quote_may_stand_in_the_appendix() -> None:
    assert booktext.is_anywhere("Every name was looked up in 6.1.192.")
    assert booktext.is_anywhere("每个名字都在 6.1.192 的源码里核对过。")
    assert not booktext.is_anywhere("no such sentence is in the book")


def test_the_shipped_index_leads_to_the_files_of_the_project() -> None:
    """An index that was built elsewhere and copied here would name folders of another machine."""
    folder = booktext.SOURCE.parents[2] / "index" / "textbook"
    for entry in read_manifest(folder).documents:
        assert entry.path.startswith("../../examples/")
        assert entry.file(folder) is not None
