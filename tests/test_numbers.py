import pytest

from osrag.numbers import numbers_in


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("4,096 bytes", ["4096"]),
        ("４０９６ 字节", ["4096"]),
        ("四千零九十六字节", ["4096"]),
        ("十二个页框，缺页三次", ["12", "3"]),
        ("一个进程", []),  # an article
        ("With three frames", ["3"]),
        ("0, 4.5 and 100", ["0", "4.5", "100"]),
        ("in 0,100,200", ["0", "100", "200"]),  # a list, not a number of nine digits
    ],
)
def test_one_number_whatever_it_is_written_in(text, numbers):
    assert numbers_in(text) == numbers
