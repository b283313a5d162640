"""What the numbers of a log mean: addresses, error codes, counts. Each fact is read off the log by rule."""

import re
from collections.abc import Callable, Iterator, Sequence

from osrag.types import Language
from osrag.wording import say

SMALL = 0x1000  # an address below this is a null pointer plus an offset
MOST = 6
_Match = re.Match[str]
_Fact = Callable[[_Match, Language], str]


def facts(lines: Sequence[str], language: Language) -> list[str]:
    """Sentences about what the log says, each once, in the order of the rules."""
    return list(dict.fromkeys(_facts("\n".join(lines), language)))[:MOST]


def _facts(text: str, language: Language) -> Iterator[str]:
    for pattern, fact in _RULES:
        found = pattern.search(text)
        if found:
            told = fact(found, language)
            if told:
                yield told


def _null(found: _Match, language: Language) -> str:
    address = int(found["address"], 16)
    if address >= SMALL:
        return ""
    return say("log_fact_null", language, address=address) if address else say("log_fact_zero", language)


def _poison(found: _Match, language: Language) -> str:
    name = "LIST_POISON1" if found["end"] == "100" else "LIST_POISON2"
    return say("log_fact_poison", language, value=found.group(), name=name)


def _access(found: _Match, language: Language) -> str:
    zh = language == "zh"
    how = {"read": "读", "write": "写", "instruction": "取指令"}[found["how"]] if zh else found["how"]
    why = {"not-present page": "页不存在", "permissions violation": "权限不允许"}.get(found["why"], found["why"])
    mode = {"supervisor": "内核态", "user": "用户态"}[found["mode"]] if zh else found["mode"]
    return say("log_fact_access", language, how=f"{mode}{'' if zh else ' '}{how}", why=why if zh else found["why"])


def _exit(found: _Match, language: Language) -> str:
    code = int(found["code"], 16)
    if code & 0x7F:
        return say("log_fact_signal", language, code=found["code"], signal=code & 0x7F)
    return say("log_fact_exit", language, code=found["code"], status=code >> 8 & 0xFF)


def _segfault(found: _Match, language: Language) -> str:
    code, zh = int(found["code"], 16), language == "zh"
    mode = ("用户态" if code & 4 else "内核态") if zh else ("user mode" if code & 4 else "kernel mode")
    if code & 16:
        how = "取指令" if zh else "instruction fetch"
    else:
        how = ("写" if code & 2 else "读") if zh else ("write" if code & 2 else "read")
    why = (
        ("违反权限" if code & 1 else "页不存在") if zh else ("protection violation" if code & 1 else "page not present")
    )
    address = int(found["address"], 16)
    return say("log_fact_segfault", language, code=found["code"], mode=mode, how=how, why=why, address=address)


def _atomic(found: _Match, language: Language) -> str:
    off = found["irqs"] == "1"
    zh, en = ("中断已关" if off else "中断没有关"), ("interrupts were off" if off else "interrupts were on")
    count = found["count"] or found["atomic"]
    return say("log_fact_atomic", language, count=count, irq=zh if language == "zh" else en)


_RULES: tuple[tuple[re.Pattern[str], _Fact], ...] = (
    (
        re.compile(
            r"NULL pointer dereference(?: at virtual address|, address:| at)?:? *(?:0x)?(?P<address>[0-9a-f]{8,16})"
        ),
        _null,
    ),
    (re.compile(r"dead000000000(?P<end>100|122)\b"), _poison),
    (re.compile(r"6b6b6b6b6b6b6b"), lambda found, language: say("log_fact_freed", language)),
    (
        re.compile(
            r"#PF: (?P<mode>supervisor|user) (?P<how>read|write|instruction)[^\n]*\n"
            r"#PF: error_code\(\S+\) - (?P<why>[^\n]+)"
        ),
        _access,
    ),
    (re.compile(r"exitcode=(?P<code>0x[0-9a-f]+)"), _exit),
    (re.compile(r"segfault at (?P<address>[0-9a-f]+) ip \S+ sp \S+ error (?P<code>[0-9a-f]+)"), _segfault),
    (
        re.compile(
            r"in_atomic\(\): (?P<atomic>\d+), irqs_disabled\(\): (?P<irqs>\d)[^\n]*"
            r"(?:\npreempt_count: (?P<count>\S+),)?"
        ),
        _atomic,
    ),
    (
        re.compile(r"#0: \S+ \((?P<lock>[^)]+)\)\{[^}]*\}\S*, at: (?P<at>[\w.]+)\+"),
        lambda found, language: say("log_fact_held", language, lock=found["lock"], at=found["at"]),
    ),
    (
        re.compile(r"INFO: task (?P<task>[^\n]+?):\d+ blocked for more than (?P<seconds>\d+)"),
        lambda found, language: say("log_fact_blocked", language, task=found["task"], seconds=found["seconds"]),
    ),
    (
        re.compile(r"CPU#(?P<cpu>\d+) stuck for (?P<seconds>\d+)s"),
        lambda found, language: say("log_fact_stuck", language, cpu=found["cpu"], seconds=found["seconds"]),
    ),
    (
        re.compile(r"invoked oom-killer: gfp_mask=(?P<gfp>[^,]+), (?:[^\n]*?)order=(?P<order>-?\d+)"),
        lambda found, language: say("log_fact_oom", language, order=found["order"], gfp=f"`{found['gfp']}`"),
    ),
    (
        re.compile(r"[Kk]illed? process (?P<pid>\d+) \((?P<name>[^)]+)\)"),
        lambda found, language: say("log_fact_killed", language, name=found["name"], pid=found["pid"]),
    ),
    (re.compile(r"Total swap = 0kB"), lambda found, language: say("log_fact_swap", language)),
    (
        re.compile(r"index (?P<index>-?\d+) is out of range for type '(?P<type>[^']+)'"),
        lambda found, language: say("log_fact_range", language, index=found["index"], type=f"`{found['type']}`"),
    ),
)
