"""A question without its frame: the same for two wordings that ask the same of the same things.

"What is a monitor?", "define monitor" and "monitor definition" differ in nothing that an answer depends on; neither do
"银行家算法的步骤" and "简述银行家算法的执行过程". What is left is the kind of answer wanted, the terms by whatever
name, and the other words that carry meaning. So an answer that was prepared for one wording is recognised in others
without a model.
"""

import re
from functools import cache

from osrag.answer.kinds import kinds_of, wants_amount
from osrag.glossary import load_glossary
from osrag.text import tokens

_WORDS_OF_FRAMES = """
请 简述 简要 说明 介绍 描述 试述 论述 阐述 谈谈 几种 过程 步骤 执行 流程 原理 工作 方法 办法 主要 具体 操作系统 定义
概念 含义 意思 区别 不同 比较 异同 差别 原因 给出 列出 举例 各自 到底 究竟 时候 何时 为何 何谓 进行 叫 指 试 跟
解释一下 介绍一下 说明一下
explain describe define briefly please step procedure happen work occur difference differ compare versus vs distinguish
give reason mean meant meaning definition tell
"""
_ASIDE = re.compile(r"[（(][^（）()\d]*[）)]|(?<=\w)['’]s\b")  # "管程（monitor）", "what's"
_NOT = re.compile(r"[不没无非](?!同)|\bnot?\b|n['’]t\b|without|cannot|never|except", re.I)


@cache  # not at import: the splitter of Chinese words takes a moment to load
def _words_of_frames() -> frozenset[str]:
    return frozenset(token for word in _WORDS_OF_FRAMES.split() for token in [word, *tokens(word)])


def normal_form(text: str) -> tuple[str, ...]:
    """The kinds of answer wanted, then terms and words in their order; of things compared in one order.

    Empty where nothing but the frame stands.
    """
    kinds = set(kinds_of(text)) - {"what", "list"}  # asked for in the same words
    if "steps" in kinds:
        kinds = kinds - {"steps"} | {"how"}
    if "compare" in kinds:
        kinds -= {"how"}
    words, terms = list[str](), set[str]()
    for piece in load_glossary().pieces(_ASIDE.sub(" ", text)):
        words += tokens(piece) if isinstance(piece, str) else piece.zh[:1]
        terms |= set() if isinstance(piece, str) else set(piece.zh[:1])
    # Without a term beside it the operating system is what is asked about: its purpose is not the purpose of anything.
    frame = _words_of_frames()
    if not terms - frame:
        frame -= {"操作系统"}
    words = [word for word in words if word not in frame]
    if not words:
        return ()
    marks = [*sorted(kinds), *["amount"] * wants_amount(text), *["not"] * bool(_NOT.search(text))]
    return (*marks, ":", *(sorted(set(words)) if "compare" in kinds else words))
