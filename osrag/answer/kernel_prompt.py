"""The prompt of a kernel explanation: a fixed part for the prompt cache, then few new tokens."""

import re
from collections.abc import Callable, Sequence

from osrag.answer.kernel_code import key_lines, one_line
from osrag.answer.prompt import HISTORY_CHARS, QUESTION_CHARS
from osrag.models.protocols import Message
from osrag.prompts import render
from osrag.retrieve.kernel_result import SourceLine
from osrag.text import clip, language_of
from osrag.types import CodeChunk, Language, Passage, Turn

PROMPT_TOKENS = 420  # of functions in a `fast` prompt on a model that reads slowly
PROMPT_TOKENS_LARGE = 3000
CODE_CHARS = (420, 240)  # of the first and of the second function; the others are described only
CODE_CHARS_LARGE = (2400, 1600, 1200, 800)
CALLS = 6
_TRIVIAL = re.compile(
    r"[A-Z_0-9]+$|(?:un)?likely$|IS_ERR|PTR_ERR|(?:raw_)?spin_|_*raw_spin|rcu_read_|mutex_(?:un)?lock|trace_|lockdep_"
    r"|smp_|READ_ONCE|WRITE_ONCE|VM_BUG|WARN|BUG|pr_\w+$|printk|memset$|memcpy$|put_cpu|get_cpu|local_irq|preempt_"
)


def kernel_prompt(
    question: str,
    history: Sequence[Turn],
    passages: Sequence[Passage],
    *,
    main: int,
    large: bool,
    count_tokens: Callable[[str], int],
    standalone: str = "",
) -> list[Message]:
    """Ask for an explanation of the first `main` functions. Code and question are data, not orders."""
    language = language_of(question)
    asked = standalone if history and standalone else question
    functions = describe_functions(
        [passage.chunk for passage in passages if isinstance(passage.chunk, CodeChunk)],
        asked,
        language=language,
        main=main,
        code_chars=CODE_CHARS_LARGE if large else CODE_CHARS,
        budget=PROMPT_TOKENS_LARGE if large else PROMPT_TOKENS,
        count_tokens=count_tokens,
    )
    label = "之前的问题：" if language == "zh" else "Earlier question: "
    earlier = "".join(f"{label}{clip(turn.question, HISTORY_CHARS)}\n" for turn in history[-1:])
    return [
        *kernel_fixed_part(language),
        Message(
            "user",
            render(
                "kernel_question",
                language,
                functions=functions,
                history=earlier,
                question=clip(asked, QUESTION_CHARS),
            ),
        ),
    ]


def kernel_fixed_part(language: Language) -> list[Message]:
    """The task and one example: never changes, kept in the prompt cache."""
    return [
        Message("system", render("kernel", language)),
        Message("user", render("kernel_example_question", language)),
        Message("assistant", render("kernel_example_reply", language)),
    ]


def describe_functions(
    chunks: Sequence[CodeChunk],
    question: str,
    *,
    language: Language,
    main: int,
    code_chars: Sequence[int],
    budget: int,
    count_tokens: Callable[[str], int],
) -> str:
    """The functions as the model reads them, `budget` tokens at most; the first always, its code cut if need be."""
    parts: list[str] = []
    spent = 0
    for place, chunk in enumerate(chunks):
        chars = code_chars[place] if place < min(main, len(code_chars)) else 0
        part = _entry(chunk, question, language, chars)
        cost = count_tokens(part)
        while parts == [] and cost > budget and chars > 80:
            chars //= 2
            part = _entry(chunk, question, language, chars)
            cost = count_tokens(part)
        if spent + cost > budget and parts:
            part = _entry(chunk, question, language, 0)
            cost = count_tokens(part)
        if spent + cost > budget and parts:
            break
        parts.append(part)
        spent += cost
    return "\n".join(parts)


def _entry(chunk: CodeChunk, question: str, language: Language, chars: int) -> str:
    lines = key_lines(chunk, question, chars=chars) if chars else []
    called = shown_calls(chunk, lines)
    about = one_line(chunk, language)
    if language == "zh":
        head = f"`{chunk.name}`（{chunk.source}）：{about}"
        calls = f"它调用 {'、'.join(f'`{name}`' for name in called)}。" if called else ""
    else:
        head = f"`{chunk.name}` ({chunk.source}): {about} "
        calls = f"It calls {', '.join(f'`{name}`' for name in called)}." if called else ""
    code = [f"    {line.text.strip()}" for line in lines]
    return "\n".join([f"{head}{calls}".strip(), *code])


def shown_calls(chunk: CodeChunk, lines: Sequence[SourceLine]) -> list[str]:
    """Functions that the chosen lines call, in their order, without locks, tracing and checks."""
    found: dict[str, None] = {}
    calls = set(chunk.calls)
    for line in lines:
        for name in re.findall(r"\b([A-Za-z_]\w*)\s*\(", line.text):
            if name in calls and name != chunk.name and not _TRIVIAL.match(name):
                found[name] = None
    return list(found)[:CALLS]
