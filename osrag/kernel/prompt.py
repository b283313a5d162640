"""The functions as the prompt of an explanation holds them: descriptions, steps, a few lines of code."""

import re
from collections.abc import Callable, Mapping, Sequence

from osrag.kernel.code import is_described, key_lines, one_line
from osrag.kernel.parts import code_of
from osrag.text import clip
from osrag.types import CodeChunk, Language, Passage

PROMPT_TOKENS = 3000  # of functions in a prompt
CODE_CHARS = (2400, 1600, 1200, 800)  # of the functions that are explained; the others are described only
STEPS = 5  # calls of one function that are described
STEP_CHARS = 90
KEY_CHARS = 620
_TRIVIAL = re.compile(
    r"[A-Z_0-9]+$|(?:un)?likely$|IS_ERR|PTR_ERR|(?:raw_)?spin_|_*raw_spin|rcu_read_|mutex_(?:un)?lock|trace_|lockdep_"
    r"|smp_|READ_ONCE|WRITE_ONCE|VM_BUG|WARN|BUG|pr_\w+$|printk|memset$|memcpy$|put_cpu|get_cpu|local_irq|preempt_"
)


def evidence_text(
    passages: Sequence[Passage],
    question: str,
    steps: Mapping[str, Mapping[str, str]],
    *,
    language: Language,
    count_tokens: Callable[[str], int],
) -> str:
    """The functions as a model reads them. Those with an entry in `steps`, by id, come first and are to be explained.

    The first one always goes in, with less code if need be; then as many others as the budget holds.
    """
    budget = PROMPT_TOKENS
    parts: list[str] = []
    for at, passage in enumerate(passages):
        chunk = code_of(passage)
        ways = list(steps.get(chunk.id, {}).items())
        chars = CODE_CHARS[at] if at < len(CODE_CHARS) and chunk.id in steps else 0
        shorter = min(chars, 160) if at == 0 and not ways else 0
        tries = [(chars, ways), (shorter, ways[:3]), (0, [])]
        for tried in tries if parts else tries[:2]:
            part = _entry(chunk, question, language, *tried)
            cost = count_tokens(part)
            if cost <= budget:
                break
        if cost > budget and parts:
            break
        parts.append(part)
        budget -= cost
    return "\n".join(parts)


def _entry(chunk: CodeChunk, question: str, language: Language, chars: int, ways: Sequence[tuple[str, str]]) -> str:
    """One function: what it is for, its steps, its code."""
    zh = language == "zh"
    about = one_line(chunk, language)
    head = f"`{chunk.name}`（{chunk.source}）：{about}" if zh else f"`{chunk.name}` ({chunk.source}): {about}"
    if ways:
        head += "步骤：" if zh else " Steps:"
    rows = [f"- `{name}`{'：' if zh else ': '}{told}" for name, told in ways]
    code = [f"    {line.text.strip()}" for line in key_lines(chunk, question, chars=chars)] if chars else []
    return "\n".join([head, *rows, *code])


def steps_of(chunk: CodeChunk, question: str, callees: Sequence[CodeChunk], language: Language) -> dict[str, str]:
    """Name -> what it is for: described functions that a function calls, those in its key lines first chosen."""
    told = {callee.name: callee for callee in callees if callee.name != chunk.name and not _TRIVIAL.match(callee.name)}
    described = [name for name in chunk.calls if name in told and is_described(told[name], language)]
    shown = "\n".join(line.text for line in key_lines(chunk, question, chars=KEY_CHARS))
    key = set(re.findall(r"\b([A-Za-z_]\w*)\s*\(", shown))
    chosen = [*(name for name in described if name in key), *(name for name in described if name not in key)][:STEPS]
    return {
        name: clip(one_line(told[name], language), STEP_CHARS).rstrip("。.") for name in described if name in chosen
    }
