"""Files that are no readable PDF: each is refused with a sentence that says what was seen."""

from collections.abc import Callable
from pathlib import Path

import pytest

from osrag.book.pdf.read import read_pdf
from osrag.errors import BadDocument
from tests import pdfs


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (pdfs.encrypted, r"book\.pdf: asks for a password"),
        (pdfs.truncated, r"book\.pdf: the PDF breaks off after [\d,]+ bytes"),
        (pdfs.without_pages, r"book\.pdf: the PDF has no pages"),
        (pdfs.scanned, r"book\.pdf: no text on any of its 3 pages, and none can be recognised"),
        (pdfs.renamed_zip, r"book\.pdf: this is a ZIP archive"),
        (pdfs.empty, r"book\.pdf: the file is empty"),
        (pdfs.web_page, r"book\.pdf: does not begin like a PDF, it is a web page"),
        (pdfs.garbage, r"book\.pdf: "),
    ],
)
def test_a_bad_file_is_refused_in_words(tmp_path: Path, make: Callable[[Path], Path], said: str) -> None:
    with pytest.raises(BadDocument, match=said) as refused:
        read_pdf(make(tmp_path / "book.pdf"))
    assert refused.value.hint, "the next step is named"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadDocument, match=r"book\.pdf: cannot be opened"):
        read_pdf(tmp_path / "book.pdf")


def test_scanned_pages_of_a_book_are_reported_by_number(tmp_path: Path) -> None:
    words = [pdfs.text(72, 80, "Paging divides memory into frames of equal size.")]
    path = pdfs.make_pdf(tmp_path / "book.pdf", [words, [pdfs.picture()], [pdfs.picture()], words, []])
    document = read_pdf(path)
    assert document.warnings == ("Pages without text, and none can be recognised: 2, 3", "Empty pages: 5")
