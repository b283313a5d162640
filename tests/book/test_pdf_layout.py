"""What a page shows, as blocks in reading order."""

from collections.abc import Sequence
from pathlib import Path

from osrag.book.document import Block, BlockKind, Document
from osrag.book.pdf.read import read_pdf
from tests.pdfs import Bookmark, Mark, box, lines, make_pdf, rule, text

FILLER = [
    "The scheduler chooses the next thread from the ready queue and",
    "switches the processor to it, saving the registers of the thread",
    "that was running before. The cost of this is called the overhead.",
]


def read(tmp_path: Path, *pages: Sequence[Mark], **extra: object) -> Document:
    return read_pdf(make_pdf(tmp_path / "book.pdf", pages, **extra))  # type: ignore[arg-type]


def of_kind(document: Document, kind: BlockKind) -> list[Block]:
    return [block for block in document.blocks if block.kind is kind]


def texts(document: Document) -> list[str]:
    return [block.text for block in document.blocks]


def test_lines_of_a_paragraph_are_joined_and_a_gap_begins_the_next(tmp_path: Path) -> None:
    document = read(tmp_path, [*lines(50, 80, FILLER), *lines(50, 140, ["A second paragraph stands here."])])
    assert texts(document) == [" ".join(FILLER), "A second paragraph stands here."]


def test_chinese_lines_are_joined_without_blanks(tmp_path: Path) -> None:
    words = [
        "进程是程序的一次执行，它有自己的地址空间和打开的文件，",
        "线程是进程中的一个执行流，同一进程的线程共享内存。",
    ]
    document = read(tmp_path, lines(50, 80, words, font="song"))
    assert texts(document) == ["".join(words)]
    assert document.language == "zh"


def test_running_heads_and_page_numbers_are_dropped(tmp_path: Path) -> None:
    pages = [
        [
            text(50, 40, "Operating Systems"),
            text(330, 40, f"Chapter {1 + number // 3}"),
            *lines(50, 80, FILLER),
            text(195, 570, str(number + 1)),
        ]
        for number in range(6)
    ]
    document = read(tmp_path, *pages)
    assert texts(document) == [" ".join(FILLER)] * 6


def test_labels_come_from_the_file(tmp_path: Path) -> None:
    document = read(tmp_path, *[lines(50, 80, FILLER)] * 4, labels="0 << /S /r >> 2 << /S /D >>")
    assert document.labels == ("i", "ii", "1", "2")


def test_labels_are_read_from_the_pages_where_the_file_has_none(tmp_path: Path) -> None:
    pages = [[*lines(50, 80, FILLER), text(195, 570, str(number + 17))] for number in range(5)]
    pages[2] = lines(50, 80, FILLER)  # the opening page of a chapter prints no number
    assert read(tmp_path, *pages).labels == ("17", "18", "19", "20", "21")


def test_two_columns_are_read_one_after_the_other(tmp_path: Path) -> None:
    left = [f"Left column, line {number}, is the one" for number in range(12)]
    right = [f"right column, line {number}, is the one" for number in range(12)]
    page = [
        mark
        for pair in zip(lines(30, 80, left), lines(215, 80, right), strict=True)
        for mark in pair  # the file has them row by row
    ]
    (paragraph,) = read(tmp_path, page).blocks
    assert paragraph.text == " ".join([*left, *right])


def test_a_listing_keeps_its_lines_and_indentation(tmp_path: Path) -> None:
    page = [
        text(50, 80, "The child returns zero:"),
        text(50, 100, "if (pid == 0) {", font="mono"),
        text(74, 112, "run(child);", font="mono"),  # 24 points are four characters
        text(50, 124, "}", font="mono"),
        text(50, 150, "The parent waits."),
    ]
    document = read(tmp_path, page)
    assert of_kind(document, BlockKind.CODE)[0].text == "if (pid == 0) {\n    run(child);\n}"


def test_a_ruled_table_becomes_rows(tmp_path: Path) -> None:
    edges_x, edges_y = (50, 130, 230), (80, 98, 116, 134)
    cells = [["Process", "Burst"], ["P1", "8"], ["P2", "4"]]
    page = [rule(50, y, 230, y) for y in edges_y] + [rule(x, 80, x, 134) for x in edges_x]
    page += [
        text(edges_x[column] + 4, edges_y[row] + 13, word)
        for row, words in enumerate(cells)
        for column, word in enumerate(words)
    ]
    document = read(tmp_path, [*lines(50, 50, ["The bursts are as follows."]), *page])
    assert of_kind(document, BlockKind.TABLE)[0].text == "Process | Burst\nP1 | 8\nP2 | 4"


def test_a_paragraph_goes_on_over_the_page_behind_a_figure(tmp_path: Path) -> None:
    first = [
        "A page fault occurs when a thread touches a page that has no frame,",
        "and the kernel then reads the page from the",
    ]
    second = ["disk."]
    figure = [box(60, 60, 120, 90), box(160, 60, 220, 90), text(70, 80, "disk"), text(170, 80, "memory")]
    caption = text(60, 110, "Figure 1.1: A page moves.")
    document = read(
        tmp_path,
        [*lines(50, 80, [FILLER[0]]), text(50, 120, first[0]), text(50, 133, first[1] + " magnetic or solid-state")],
        [*figure, caption, *lines(50, 150, second)],
    )
    joined = next(block for block in document.blocks if block.text.startswith("A page fault"))
    assert joined.text.endswith("magnetic or solid-state disk.")
    assert (joined.first, joined.last) == (1, 2)
    assert joined.places(0, 10) == (1, 1)
    assert joined.places(len(joined.text) - 5, len(joined.text)) == (2, 2)


def test_powers_stay_powers(tmp_path: Path) -> None:
    page = [
        text(50, 80, "There are 2"),
        text(101.8, 76, "32", size=7),
        text(112.4, 80, "addresses in all, which is not 232."),
    ]
    assert texts(read(tmp_path, page)) == ["There are 2³² addresses in all, which is not 232."]


def test_items_of_a_list_stay_apart(tmp_path: Path) -> None:
    page = [
        text(50, 80, "Deadlock needs four conditions:"),
        *lines(60, 93, ["1. Mutual exclusion", "2. Hold and wait", "3. No preemption", "4. Circular wait"]),
    ]
    document = read(tmp_path, page)
    assert [block.text for block in of_kind(document, BlockKind.ITEM)] == [
        "1. Mutual exclusion",
        "2. Hold and wait",
        "3. No preemption",
        "4. Circular wait",
    ]


def test_an_item_knows_how_deep_its_list_lies(tmp_path: Path) -> None:
    page = [
        *lines(50, 80, [FILLER[0]]),
        *lines(60, 106, ["• user threads"]),
        *lines(85, 119, ["• good: a switch is cheap", "• bad: one blocks all"]),
        *lines(60, 145, ["• kernel threads"]),
        text(50, 171, "What follows is no part of the list."),
        *lines(85, 197, ["• apart from it"]),
    ]
    items = of_kind(read(tmp_path, page), BlockKind.ITEM)
    assert [block.level for block in items] == [0, 1, 1, 0, 0]


def test_sections_come_from_the_outline_with_the_number_that_is_printed(tmp_path: Path) -> None:
    page = [
        text(50, 80, "Chapter 2", size=20),
        text(50, 105, "Threads", size=20),
        text(50, 140, "2.1 What a thread is", size=13, font="bold"),
        *lines(50, 160, FILLER),
    ]
    marks = [Bookmark("Threads", 1), Bookmark("What a thread is", 1, level=2)]
    headings = of_kind(read(tmp_path, page, outline=marks), BlockKind.HEADING)
    assert [(heading.level, heading.text) for heading in headings] == [
        (1, "Chapter 2 Threads"),
        (2, "2.1 What a thread is"),
    ]


def test_sections_are_found_by_type_where_there_is_no_outline(tmp_path: Path) -> None:
    page = [
        text(50, 80, "Threads", size=20),
        *lines(50, 110, FILLER),
        text(50, 170, "Switching", size=14),
        *lines(50, 190, FILLER),
    ]
    headings = of_kind(read(tmp_path, page), BlockKind.HEADING)
    assert [(heading.level, heading.text) for heading in headings] == [(1, "Threads"), (2, "Switching")]


def test_words_printed_twice_for_boldness_count_once(tmp_path: Path) -> None:
    page = [text(50, 80, "Algorithm"), text(50.2, 80, "Algorithm"), *lines(50, 100, FILLER)]
    assert texts(read(tmp_path, page))[0] == "Algorithm"


def test_two_processes_read_the_same_as_one(tmp_path: Path) -> None:
    pages = [[*lines(50, 80, [f"Page {number} speaks of scheduling.", *FILLER])] for number in range(70)]
    path = make_pdf(tmp_path / "long.pdf", pages)
    assert read_pdf(path, workers=2) == read_pdf(path, workers=1)


def test_a_page_whose_lines_all_begin_at_different_places_is_read(tmp_path: Path) -> None:
    words = "These words are set as a staircase"
    document = read(tmp_path, [text(30 + 3 * step, 80 + 30 * step, f"{words} {step}.") for step in range(12)])
    assert sum(block.text.count(words) for block in document.blocks) == 12
