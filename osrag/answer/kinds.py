"""What kind of answer a question wants, as far as its words tell: a definition, a reason, steps, …"""

import re

KINDS = {
    name: re.compile(pattern, re.I)
    for name, pattern in {
        "what": r"什么是|是什么|定义|含义|what (is|are)\b|define|meaning|mean by",
        "why": r"为什么|为何|原因|why\b|reason",
        "how": r"怎么|怎样|如何|how (do|does|is|are|can|to)\b",
        "steps": r"步骤|过程|流程|依次|steps?\b|happens when|what happens|in order|sequence",
        "compare": r"区别|比较|异同|不同|相比|各自|differ|compare|versus|\bvs\b|distinguish",
        "list": r"哪些|哪几|列出|列举|几种|几个|which\b|list\b|what are\b|name the|kinds",
        "when": r"什么时候|何时|什么情况|when\b|under what",
        "what_if": r"如果|会怎样|后果|what if|what would|suppose|if ",
    }.items()
}


def kinds_of(question: str) -> tuple[str, ...]:
    """What a question wants."""
    return tuple(name for name, pattern in KINDS.items() if pattern.search(question))


_AMOUNT = re.compile(
    r"多少|几[个种次层位遍块代台]|多[大久长快高]|哪一?年|谁|\bhow (many|much|long|large|often|big|fast|old)\b|\bwho\b",
    re.I,
)


def wants_amount(question: str) -> bool:
    """Whether a question wants a number, a date or a name."""
    return bool(_AMOUNT.search(question))
