from osrag.ui.pages import Word, find_document, marked_words


def words(text: str) -> list[Word]:
    return [Word(part, (i, 0, i + 1, 1)) for i, part in enumerate(text.split())]


def test_the_words_of_the_passage_are_marked_whatever_the_line_breaks():
    page = words("Chapter 3 Paging maps vir- tual pages to frames. Segments differ.")
    marked = marked_words(page, "Paging maps virtual\npages to frames.")
    assert [word.text for word in marked] == ["Paging", "maps", "vir-", "tual", "pages", "to", "frames."]


def test_a_chinese_passage_is_found_in_words_without_blanks():
    page = [Word(char, (0, 0, 1, 1)) for char in "第一页信号量是一个整数。其他"]
    assert "".join(word.text for word in marked_words(page, "信号量是 一个整数。")) == "信号量是一个整数。"


def test_a_name_that_leads_out_of_the_folder_finds_nothing(tmp_path):
    (tmp_path / "book.pdf").write_bytes(b"x")
    assert find_document("book.pdf", [tmp_path]) == tmp_path / "book.pdf"
    assert find_document("../book.pdf", [tmp_path / "sub"]) is None
