"""Finding the words of a chunk on its page."""

from osrag.book.locate import findable, spans


def marked(page: str, passage: str) -> list[str]:
    flat = findable(page)
    return [flat[start:end] for start, end in spans(flat, passage)]


def test_a_sentence_is_found_over_line_ends_and_hyphens() -> None:
    page = "70 CHAPTER 3 the sched-\nuler picks a thread. Other words."
    assert marked(page, "The scheduler picks a thread.") == ["theschedulerpicksathread."]


def test_bullets_and_the_bars_of_a_table_are_no_hindrance() -> None:
    page = "线程是一个轻型实体 Process Burst P1 8"
    assert marked(page, "• 线程是一个轻型实体") == ["线程是一个轻型实体"]
    assert marked(page, "Process | Burst") == ["processburst"]


def test_raised_digits_and_odd_radicals_are_the_plain_ones() -> None:
    assert findable("2³² ⻚ﬁ") == "232页fi"


def test_a_sentence_that_goes_on_overleaf_is_marked_as_far_as_it_stands_here() -> None:
    page = "Some words before. A page fault occurs when a thread touches a page that is not"
    passage = "A page fault occurs when a thread touches a page that is not in memory at that moment."
    assert marked(page, passage) == ["apagefaultoccurswhenathreadtouchesapagethatisnot"]


def test_what_is_not_on_the_page_is_not_marked() -> None:
    assert marked("Entirely different words stand here.", "The scheduler picks a thread.") == []


def test_words_that_another_sentence_shares_are_not_marked() -> None:
    page = "It decides by the resources now available whether to make the allocation."
    passage = (
        "If Request exceeds Available, the resources are not there, so the process has to wait for others to finish."
    )
    assert marked(page, passage) == []
