"""The environment that a log tells: kernel, architecture, modules, taint flags, task."""

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass

from osrag.kernel.describe_lore import DATA, read_tsv
from osrag.types import Language
from osrag.wording import say

_VERSION = (
    re.compile(r"(?:Not tainted|Tainted: [A-Z ]+?)\s+(\d+\.\d+[\w.+-]*)"),
    re.compile(r"^(\d+\.\d+[\w.+-]*) #\d+"),
    re.compile(r"Linux version (\d+\.\d+[\w.+-]*)"),
    re.compile(r"/linux-(\d+\.\d+[\w.]*)/"),
)
_TAINT = re.compile(r"\bTainted: ((?:[A-Z] *)+)")
_MODULES = re.compile(r"^Modules linked in:\s*(.*)")
_TASK = re.compile(r"CPU: (?P<cpu>\d+) PID: (?P<pid>\d+) (?:UID: \d+ )?Comm: (?P<comm>\S+)")
_HARDWARE = re.compile(r"^Hardware name: (.+)")
_ARCHITECTURES = (
    ("x86_64", re.compile(r"\bRIP: |\bRAX: |entry_SYSCALL_64|do_syscall_64|__x64_sys|arch/x86|x64_sys_call")),
    ("i386", re.compile(r"\bEIP: |\bEAX: ")),
    ("arm64", re.compile(r"\bpstate: |\bel0t_64|\bel0_svc|arch/arm64|\bx29: ")),
    ("arm", re.compile(r"\bPC is at |\bpsr: ")),
    ("powerpc", re.compile(r"\bNIP[: ]|\bGPR00")),
    ("riscv", re.compile(r"\bepc : .*ra :|arch/riscv")),
    ("parisc", re.compile(r"\bIAOQ|parisc")),
)


@dataclass(frozen=True, slots=True)
class Environment:
    kernel: str = ""
    architecture: str = ""
    modules: tuple[str, ...] = ()
    taint: str | None = None  # letters; "" for "Not tainted", None when the log does not say
    task: str = ""
    cpu: str = ""
    hardware: str = ""


def environment(lines: Sequence[str]) -> Environment:
    """What cleaned lines tell; fields that they do not tell stay empty."""
    text = "\n".join(lines)
    task = _TASK.search(text)
    taint = _TAINT.search(text)
    clean = "" if "Not tainted" in text else None
    modules = next((match.group(1) for line in lines if (match := _MODULES.match(line.strip()))), "")
    return Environment(
        kernel=next((m.group(1) for pattern in _VERSION for line in lines if (m := pattern.search(line.strip()))), ""),
        architecture=next((name for name, pattern in _ARCHITECTURES if pattern.search(text)), ""),
        modules=tuple(name for name in modules.split("[")[0].split() if re.match(r"\w", name)),
        taint="".join(dict.fromkeys(taint.group(1).replace(" ", ""))) if taint else clean,
        task=f"{task['comm']} (PID {task['pid']})" if task else "",
        cpu=task["cpu"] if task else "",
        hardware=next((match.group(1).strip() for line in lines if (match := _HARDWARE.match(line.strip()))), ""),
    )


@functools.cache
def _flags() -> dict[str, tuple[str, str]]:
    return {flag: (en, zh) for flag, en, zh in read_tsv(DATA / "taint_flags.tsv")}


def taint_words(letters: str, language: Language) -> str:
    """`O（装入过源码树之外的模块）`."""
    side = 1 if language == "zh" else 0
    left, right, comma = ("（", "）", "、") if language == "zh" else (" (", ")", ", ")
    # G only says that no proprietary module is there.
    told = [f"{letter}{left}{_flags()[letter][side]}{right}" for letter in letters if letter in _flags()]
    return comma.join(told)


def environment_rows(found: Environment, language: Language) -> list[str]:
    """One line of Markdown for each thing that the log tells."""
    values = {
        "log_kernel": found.kernel,
        "log_architecture": found.architecture,
        "log_task": found.task,
        "log_cpu": found.cpu,
        "log_modules": ", ".join(found.modules[:12]),
        "log_hardware": found.hardware,
    }
    rows = [f"- {say(key, language)}`{value}`" for key, value in values.items() if value]
    if found.taint is not None:
        words = taint_words(found.taint, language) or say("log_not_tainted", language)
        rows.append(f"- {say('log_taint', language)}{words}")
    return rows
