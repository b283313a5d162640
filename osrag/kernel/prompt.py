"""The prompt of a kernel explanation: a fixed part for the prompt cache, then few new tokens."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from osrag.answer.prompt import HISTORY_CHARS, QUESTION_CHARS
from osrag.kernel.code import SourceLine, is_described, key_lines, one_line
from osrag.models.protocols import Message
from osrag.prompts import render
from osrag.text import clip, language_of
from osrag.types import CodeChunk, Language, Passage, Turn

PROMPT_TOKENS = 420  # of functions in a `fast` prompt on a model that reads slowly
PROMPT_TOKENS_LARGE = 3000
CODE_CHARS = (420, 240)  # of the first and of the second function; the others are described only
CODE_CHARS_LARGE = (2400, 1600, 1200, 800)
STEPS = 5  # of one function that are told
FEW_STEPS = 2  # with fewer the code itself goes into the prompt
STEP_CHARS = 90
KEY_CHARS = 620
_TRIVIAL = re.compile(
    r"[A-Z_0-9]+$|(?:un)?likely$|IS_ERR|PTR_ERR|(?:raw_)?spin_|_*raw_spin|rcu_read_|mutex_(?:un)?lock|trace_|lockdep_"
    r"|smp_|READ_ONCE|WRITE_ONCE|VM_BUG|WARN|BUG|pr_\w+$|printk|memset$|memcpy$|put_cpu|get_cpu|local_irq|preempt_"
)


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a main function, with what the called function is for."""

    name: str
    about: str


StepsOf = Callable[[CodeChunk], Sequence[Step]]


def kernel_prompt(
    question: str,
    history: Sequence[Turn],
    passages: Sequence[Passage],
    *,
    main: int,
    large: bool,
    steps: StepsOf,
    count_tokens: Callable[[str], int],
    standalone: str = "",
    language: Language | None = None,
) -> list[Message]:
    """Ask for an explanation of the first `main` functions. Code and question are data, not orders."""
    language = language or language_of(question)
    asked = standalone if history and standalone else question
    functions = describe_functions(
        [passage.chunk for passage in passages if isinstance(passage.chunk, CodeChunk)],
        asked,
        language=language,
        main=main,
        code_chars=CODE_CHARS_LARGE if large else CODE_CHARS,
        budget=PROMPT_TOKENS_LARGE if large else PROMPT_TOKENS,
        steps=steps,
        count_tokens=count_tokens,
    )
    label = "之前的问题：" if language == "zh" else "Earlier question: "
    earlier = "".join(f"{label}{clip(turn.question, HISTORY_CHARS)}\n" for turn in history[-1:])
    return [
        *kernel_fixed_part(language, large=large),
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


def kernel_fixed_part(language: Language, *, large: bool = False) -> list[Message]:
    """The task, and for a small model one example: never changes, kept in the prompt cache.

    A small model repeats described steps; a large one is asked for the parts of a whole explanation (K4).
    """
    if large:
        return [Message("system", render("kernel_large", language))]
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
    steps: StepsOf,
    count_tokens: Callable[[str], int],
) -> str:
    """The functions as the model reads them, `budget` tokens at most; the first always, its code cut if need be."""
    parts: list[str] = []
    spent = 0
    for at, chunk in enumerate(chunks):
        is_main = at < main
        chars = code_chars[at] if at < len(code_chars) and is_main else 0
        ways = steps(chunk) if is_main else ()
        part = _entry(chunk, question, language, chars, ways)
        cost = count_tokens(part)
        if spent + cost > budget:  # without code, then without steps
            part = _entry(chunk, question, language, min(chars, 160) if at == 0 and not ways else 0, ways[:3])
            cost = count_tokens(part)
        if spent + cost > budget and parts:
            part = _entry(chunk, question, language, 0, ())
            cost = count_tokens(part)
        if spent + cost > budget and parts:
            break
        parts.append(part)
        spent += cost
    return "\n".join(parts)


def _entry(chunk: CodeChunk, question: str, language: Language, chars: int, ways: Sequence[Step]) -> str:
    """One function: what it is for, its steps, and code where it is wanted or there are no steps to tell."""
    zh = language == "zh"
    about = one_line(chunk, language)
    head = f"`{chunk.name}`（{chunk.source}）：{about}" if zh else f"`{chunk.name}` ({chunk.source}): {about}"
    if ways:
        head += "步骤：" if zh else " Steps:"
    rows = [f"- `{step.name}`{'：' if zh else ': '}{step.about}" for step in ways]
    wanted = chars if len(ways) < FEW_STEPS or chars > CODE_CHARS[0] else 0
    code = [f"    {line.text.strip()}" for line in key_lines(chunk, question, chars=wanted)] if wanted else []
    return "\n".join([head, *rows, *code])


def steps_of(chunk: CodeChunk, question: str, callees: Sequence[CodeChunk], language: Language) -> tuple[Step, ...]:
    """What a function calls that somebody described, in the order of the calls: those in its key lines first chosen."""
    told = {callee.name: callee for callee in callees if callee.name != chunk.name and not _TRIVIAL.match(callee.name)}
    described = [name for name in chunk.calls if name in told and is_described(told[name], language)]
    key = set(shown_calls(chunk, key_lines(chunk, question, chars=KEY_CHARS)))
    chosen = [*(name for name in described if name in key), *(name for name in described if name not in key)][:STEPS]
    return tuple(
        Step(name, clip(one_line(told[name], language), STEP_CHARS).rstrip("。."))
        for name in described
        if name in chosen
    )


def shown_calls(chunk: CodeChunk, lines: Sequence[SourceLine]) -> list[str]:
    """Functions that the chosen lines call, in their order, without locks, tracing and checks."""
    found: dict[str, None] = {}
    calls = set(chunk.calls)
    for line in lines:
        for name in re.findall(r"\b([A-Za-z_]\w*)\s*\(", line.text):
            if name in calls and name != chunk.name and not _TRIVIAL.match(name):
                found[name] = None
    return list(found)
