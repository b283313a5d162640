"""The thing that a question asks about when it asks only what that is: "What is a monitor?", "管程是什么意思？"."""

import re

from osrag.text import language_of

_PLEASE_EN = r"(?:(?:please|can you|could you|briefly)\s+)*"
_IN_EN = r"(?:,?\s+(?:in|of)\s+(?:an?\s+|the\s+)?(?:operating systems?|os))?"
_THING_EN = re.compile(
    _PLEASE_EN + r"(?:"
    r"(?:what\s+(?:is|are)(?:\s+meant\s+by)?|what's|whats|define|explain|describe|tell me about|what do you mean by"
    r"|(?:(?:what is|give)\s+)?(?:the\s+)?(?:definition|meaning)\s+of)\s+(?P<one>.+?)"
    r"|what\s+(?:does|do)\s+(?P<two>.+?)\s+mean|(?P<three>.+?)\s+(?:definition|meaning)"
    r")" + _IN_EN,
    re.I,
)
_THING_ZH = re.compile(
    r"(?:请问|请)?(?:(?:简述|解释|说明|介绍|描述)一?下?)?(?:操作系统[中里]的?，?)?(?:"
    r"(?:什么是|什么叫做?|何谓|何为|啥是|啥叫)(?P<one>.+?)"
    r"|(?P<two>.+?)(?<!什么)[的 ]?(?:定义|概念|含义|意思)(?:是什么|是啥)?"
    r"|(?P<three>.+?)(?:到底|究竟)?(?:指的是|是指|的?意思是|是|指)(?:什么|啥)(?:意思|东西|概念)?"
    r")"
)
_TOLD_ZH = re.compile(r"(?:请问|请)?(?:简述|解释|说明|介绍|描述)一?下?(?:什么是)?(?P<one>.+)")
_QUOTES = str.maketrans("", "", '“”"「」`《》')


def thing_asked(text: str) -> str | None:
    """The thing of a question that asks only what it is; None for another question."""
    bare = text.translate(_QUOTES).strip(" ？?。.!！")
    chinese = language_of(bare) == "zh"
    match = (_THING_ZH if chinese else _THING_EN).fullmatch(bare) or (_TOLD_ZH.fullmatch(bare) if chinese else None)
    return next(filter(None, match.groups()), None) if match else None
