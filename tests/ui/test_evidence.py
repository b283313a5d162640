"""Code and words of a reply are told apart as the browser will."""

import pytest
from markdown_it import MarkdownIt

from osrag.ui.evidence import outside_code

SEEMING = ("see ``` <img>", "``` a`b\n<img>", "`a <img>``", "\\`<img>`", "`` `a`` <img> `")


@pytest.mark.parametrize("text", SEEMING)
def test_what_markdown_does_not_read_as_code_is_escaped(text):
    assert "<img" in MarkdownIt("commonmark").render(text)
    assert "<img" not in outside_code(text, lambda part: part.replace("<", "&lt;"))


def test_code_stays_as_it_is():
    text = "`a<b` and\n\n```c\nif (a < b)\n\treturn;\n```\n\nless < more"
    assert outside_code(text, lambda part: part.replace("<", "&lt;")) == text.replace("s < m", "s &lt; m")
