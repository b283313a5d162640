"""What a log tells besides the culprit: the machine, and what the numbers mean."""

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from osrag.kernel.describe import DATA, read_tsv
from osrag.types import Language
from osrag.wording import say

SMALL = 0x1000  # an address below this is a null pointer plus an offset
MOST_FACTS = 6
MODULES = 12  # modules that are listed
_VERSION = (
    re.compile(r"(?:Not tainted|[Tt]ainted: [A-Z -]+?)\s+\(?(\d+\.\d+[\w.+-]*)"),
    re.compile(r"^(\d+\.\d+[\w.+-]*) #\d+", re.M),
    re.compile(r"Linux version (\d+\.\d+[\w.+-]*)"),
    re.compile(r"/linux-(\d+\.\d+[\w.]*)/"),
)
_TAINT = re.compile(r"\bNot tainted|\b[Tt]ainted: (?P<flags>(?:\[[A-Z]\]=\w+,? ?)+|(?:[A-Z-] *)+(?![\w.]))")
_MODULES = re.compile(
    r"^Modules linked in:((?:[^\n]*)(?:\n(?!\w+(?: name)?: |Call Trace|---)[\w(+), -]+(?:\[[^\n]*)?$)*)", re.M
)
_TASK = re.compile(
    r"(?:CPU: (?P<cpu>\d+) )?(?:UID: \d+ )?P(?:ID|id): (?P<pid>\d+),? [Cc]omm: (?P<comm>.+?)"
    r"(?= +(?:Not tainted|[Tt]ainted|Kdump)|$)",
    re.M,
)
_HUNG = re.compile(r"^INFO: task (?P<comm>.*):(?P<pid>\d+) (?:blocked|can't die)", re.M)
_STUCK = re.compile(r"CPU#(\d+) stuck|^(?:rcu:\s+)?(\d+)-[.!?O]", re.M)
_HARDWARE = re.compile(r"^[ \t]*Hardware name: (.+)", re.M)
_ARCHITECTURES = {
    "i386": re.compile(r"\bEIP: |\bEAX: "),
    "arm64": re.compile(r"\bpstate: |\bel0t_64|\bel0_svc|arch/arm64|\bx29: "),
    "arm": re.compile(r"\bPC is at |\bpsr: "),
    "powerpc": re.compile(r"\bNIP[: ]|\bGPR00"),
    "riscv": re.compile(r"\bepc : |\bbadaddr: |arch/riscv"),
    "parisc": re.compile(r"\bIAOQ|parisc"),
    "x86_64": re.compile(  # last, since riscv has its kernel at such addresses too
        r"\bRIP: |\bRAX: |entry_SYSCALL_64|do_syscall_64|<ffffffff[89ab]|__x64_sys|arch/x86|x64_sys_call"
    ),
}


# -- the machine


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine of a log; what the log does not tell stays empty."""

    kernel: str  # version: "6.1.192-lab"
    architecture: str
    modules: tuple[str, ...]
    taint: str | None  # letters; "" for "Not tainted", None when the log does not say
    task: str  # "insmod (PID 38)"
    pid: str
    cpu: str
    hardware: str


def environment(report: Sequence[str], whole: Sequence[str] = ()) -> Environment:
    """The machine, from the cleaned lines of a report; what it does not tell, from those of the whole log."""
    text, around = ("\n".join(line.strip() for line in lines) for lines in (report, whole))
    ran, taint = _TASK.search(text), _TAINT.search(text)
    task = _HUNG.search(text) or ran
    modules = re.sub(r"\[.*", "", _first(_MODULES, text), flags=re.S).split()
    return Environment(
        kernel=_version(text) or _version(around),
        architecture=_architecture(text) or _architecture(around),
        modules=tuple(name for name in modules if re.match(r"\w", name)),
        taint=taint and "".join(dict.fromkeys(re.sub(r"[^A-Z]|(?<=\])=\w+", "", taint["flags"] or ""))),
        task=f"{task['comm']} (PID {task['pid']})" if task else "",
        pid=task["pid"] if task else "",
        cpu=_first(_STUCK, text) or ((ran["cpu"] or "") if ran else ""),
        hardware=_first(_HARDWARE, text).strip(),
    )


def _version(text: str) -> str:
    return next((found[1] for pattern in _VERSION if (found := pattern.search(text))), "")


def _architecture(text: str) -> str:
    return next((name for name, pattern in _ARCHITECTURES.items() if pattern.search(text)), "")


def _first(pattern: re.Pattern[str], text: str) -> str:
    """The first group of the first match, or nothing."""
    found = pattern.search(text)
    return next(filter(None, found.groups()), "") if found else ""


@functools.cache
def _flags() -> dict[str, tuple[str, str]]:
    """Letter -> what it says about the kernel, in English and Chinese."""
    return {flag: (en, zh) for flag, en, zh in read_tsv(DATA / "taint_flags.tsv")}


def taint_words(letters: str, language: Language) -> str:
    """`O（装入过源码树之外的模块）`. Letters that mean nothing bad (`G`) are left out."""
    side, form, comma = (1, "{}（{}）", "、") if language == "zh" else (0, "{} ({})", ", ")
    return comma.join(form.format(letter, _flags()[letter][side]) for letter in letters if letter in _flags())


def environment_rows(found: Environment, language: Language) -> list[str]:
    """One line of Markdown for each thing that the log tells."""
    values = {
        "log_kernel": found.kernel,
        "log_architecture": found.architecture,
        "log_task": found.task,
        "log_cpu": found.cpu,
        "log_modules": ", ".join(found.modules[:MODULES]),
        "log_hardware": found.hardware,
    }
    rows = [f"- {say(key, language)}`{value}`" for key, value in values.items() if value]
    if found.taint is not None:
        words = taint_words(found.taint, language) or say("log_not_tainted", language)
        rows.append(f"- {say('log_taint', language)}{words}")
    return rows


# -- what the numbers mean


def facts(lines: Sequence[str], language: Language) -> list[str]:
    """Sentences about the addresses, error codes and counts in a log, each once, in the order of the rules."""
    text = "\n".join(lines)
    told = (fact(found, language) for pattern, fact in _RULES if (found := re.search(pattern, text)))
    return list(dict.fromkeys(filter(None, told)))[:MOST_FACTS]


_Match = re.Match[str]
_Fact = Callable[[_Match, Language], str]


def _null(found: _Match, language: Language) -> str:
    """An access through a null pointer, or to a field of it; other addresses say nothing."""
    address = int(found["address"], 16)
    if address >= SMALL:
        return ""
    return say("log_fact_null", language, address=address) if address else say("log_fact_zero", language)


def _poison(found: _Match, language: Language) -> str:
    """A pointer of a list entry that was deleted already."""
    name = "LIST_POISON1" if found["end"] == "100" else "LIST_POISON2"
    return say("log_fact_poison", language, value=found.group(), name=name)


def _access(found: _Match, language: Language) -> str:
    """An x86 page fault, by its `#PF:` lines."""
    if language == "en":
        return say("log_fact_access", language, how=f"{found['mode']} {found['how']}", why=found["why"])
    mode = {"supervisor": "内核态", "user": "用户态"}[found["mode"]]
    how = {"read": "读", "write": "写", "instruction": "取指令"}[found["how"]]
    why = {"not-present page": "页不存在", "permissions violation": "权限不允许"}.get(found["why"], found["why"])
    return say("log_fact_access", language, how=mode + how, why=why)


def _exit(found: _Match, language: Language) -> str:
    """The wait status of init: the signal in the low seven bits, else the exit status above."""
    code = int(found["code"], 16)
    if code & 0x7F:
        return say("log_fact_signal", language, code=found["code"], signal=code & 0x7F)
    return say("log_fact_exit", language, code=found["code"], status=code >> 8 & 0xFF)


def _segfault(found: _Match, language: Language) -> str:
    """The bits of x86's page fault error code: 1 protection, 2 write, 4 user, 16 instruction fetch."""
    code, zh = int(found["code"], 16), language == "zh"
    mode = ("内核态", "用户态") if zh else ("kernel mode", "user mode")
    how = ("读", "写", "取指令") if zh else ("read", "write", "instruction fetch")
    why = ("页不存在", "违反权限") if zh else ("page not present", "protection violation")
    return say(
        "log_fact_segfault",
        language,
        code=found["code"],
        mode=mode[bool(code & 4)],
        how=how[2 if code & 16 else bool(code & 2)],
        why=why[code & 1],
        address=int(found["address"], 16),
    )


def _atomic(found: _Match, language: Language) -> str:
    """Sleeping although it was forbidden, and by what."""
    off = found["irqs"] == "1"
    zh, en = ("中断已关" if off else "中断没有关"), ("interrupts were off" if off else "interrupts were on")
    count = found["count"] or found["atomic"]
    return say("log_fact_atomic", language, count=count, irq=zh if language == "zh" else en)


def _said(key: str) -> _Fact:
    """The sentence `key`, filled with the groups of the match."""
    return lambda found, language: say(key, language, **found.groupdict())


_RULES: tuple[tuple[str, _Fact], ...] = (
    (r"NULL pointer dereference(?: at virtual address|, address:| at)?:? *(?:0x)?(?P<address>[0-9a-f]{8,16})", _null),
    (r"dead000000000(?P<end>100|122)\b", _poison),
    (r"6b6b6b6b6b6b6b", _said("log_fact_freed")),
    (r"KASAN: (?P<what>[\w -]+) in range \[(?P<first>0x[0-9a-f]+)-(?P<last>0x[0-9a-f]+)\]", _said("log_fact_shadow")),
    (
        r"#PF: (?P<mode>supervisor|user) (?P<how>read|write|instruction)[^\n]*\n"
        r"#PF: error_code\(\S+\) - (?P<why>[^\n]+)",
        _access,
    ),
    (r"exitcode=(?P<code>0x[0-9a-f]+)", _exit),
    (r"segfault at (?P<address>[0-9a-f]+) ip \S+ sp \S+ error (?P<code>[0-9a-f]+)", _segfault),
    (
        r"in_atomic\(\): (?P<atomic>\d+), irqs_disabled\(\): (?P<irqs>\d)[^\n]*"
        r"(?:\npreempt_count: (?P<count>\S+),)?",
        _atomic,
    ),
    (r"#0: \S+ \((?P<lock>[^)]+)\)\{[^}]*\}\S*, at: (?P<at>[\w.]+)\+", _said("log_fact_held")),
    (r"INFO: task (?P<task>[^\n]+?):\d+ blocked for more than (?P<seconds>\d+)", _said("log_fact_blocked")),
    (r"CPU#(?P<cpu>\d+) stuck for (?P<seconds>\d+)s", _said("log_fact_stuck")),
    (r"invoked oom-killer: gfp_mask=(?P<gfp>[^,]+), (?:[^\n]*?)order=(?P<order>-?\d+)", _said("log_fact_oom")),
    (r"[Kk]illed? process (?P<pid>\d+) \((?P<name>[^)]+)\)", _said("log_fact_killed")),
    (r"Total swap = 0kB", _said("log_fact_swap")),
    (r"index (?P<index>-?\d+) is out of range for type '(?P<type>[^']+)'", _said("log_fact_range")),
)
