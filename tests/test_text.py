import pytest

from osrag.text import blank, clip, identifiers, language_of, normalise, sentences, squeeze, text_hash, tokens, unique


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("什么是 TLB？", "zh"),
        ("try_to_wake_up 是做什么的", "zh"),
        ("What does 进程 mean in English?", "en"),
        ("What is a page table?", "en"),
        ("What is 进程?", "en"),
        ("How does 银行家算法 work?", "en"),
        ("解释 copy on write", "zh"),
        ("fork 和 exec 的区别", "zh"),
        ("", "en"),
    ],
)
def test_language_is_the_one_a_reader_would_say(text, language):
    assert language_of(text) == language


@pytest.mark.parametrize(("text", "nothing"), [("", True), (" \u200b\u2060\ufeff", True), ("?", False), ("页", False)])
def test_a_text_is_blank_where_a_reader_sees_nothing(text: str, nothing: bool):
    assert blank(text) == nothing


def test_sentences_end_where_a_reader_stops():
    text = "A page is 4.5 KB, e.g. on one machine. See Fig. 2 for more! 时间片太长会怎样？会退化为先来先服务。"
    assert sentences(text) == [
        "A page is 4.5 KB, e.g. on one machine.",
        "See Fig. 2 for more!",
        "时间片太长会怎样？",
        "会退化为先来先服务。",
    ]


def test_a_closing_quote_belongs_to_its_sentence():
    assert sentences("他说：“可以抢占。”然后切换。") == ["他说：“可以抢占。”", "然后切换。"]


def test_tokens_stem_english_split_identifiers_and_keep_chinese_terms_whole():
    found = tokens("do_wp_page() handles the page tables 写时复制")
    assert {"do_wp_page", "wp", "page", "handl", "tabl", "写时复制"} <= set(found)
    assert "the" not in found


def test_identifiers_are_found_by_underscore_case_or_call():
    assert identifiers("What does try_to_wake_up do, and fork() and copyPage?") == [
        "try_to_wake_up",
        "fork",
        "copyPage",
    ]


def test_the_same_passage_set_in_another_way_has_the_same_hash():
    assert text_hash("ﬁle  system\n\ncalls") == text_hash("file system calls")
    assert normalise(" ａ\tb ") == "a b"
    assert squeeze("A 页\n面") == "a页面"


def test_clip_cuts_at_a_blank_and_says_so():
    assert clip("one two three four", 11) == "one two…"
    assert clip("short", 12) == "short"


def test_unique_keeps_the_first_of_what_means_the_same():
    assert unique(["Page  table", "page table", "", "TLB"]) == ["Page  table", "TLB"]
