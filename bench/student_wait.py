"""What a waiting student sees: evidence, first token, new prompt tokens, a prepared answer; against the bare engine.

    python bench/student_wait.py [--runs 5]

The bare engine is the same model given the same prompt without osrag around it, its prompt cache
holding the same fixed part. Prints one JSON object; floors are in its "floors".
"""

import argparse
import contextlib
import json
import os
import statistics
import sys
import time
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from osrag.answer import workflow
from osrag.answer.events import How, Retrieved, SourceDone, Token
from osrag.answer.source import Question
from osrag.app.parts import Parts
from osrag.models.protocols import ChatModel, ChatOptions, Message
from osrag.settings import load_settings

QUESTIONS = [
    "时间片太长或太短会怎样？",
    "What happens when the time slice is too long?",
    "死锁的四个必要条件是什么？",
    "Why does paging not suffer from external fragmentation?",
    "为什么多级页表能节省内存？",
    "How does a journaling file system survive a crash?",
]
# In other words than the prepared ones; those that are not known as such say so in "prepared".
REWORDED = [
    "请解释一下什么是死锁",
    "Explain what a race condition is.",
    "缺页异常的处理步骤有哪些？",
    "What is the purpose of the TLB?",
    "进程和线程有什么不同？",
    "What is the difference between a hard link and a symbolic link?",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    args = parser.parse_args()
    started = time.perf_counter()
    parts = Parts(load_settings())
    parts.prepare()
    ready_s = time.perf_counter() - started
    assert parts.chat is not None, "this benchmark needs a chat model"
    chat = Recorder(parts.chat)
    rows = []
    for run in range(args.runs):
        for question in QUESTIONS:
            # A number makes each question new to the result cache and to the prompt cache.
            rows.append(once(parts, chat, f"{question} ({run + 1})"))
            rows[-1]["bare_first_token_s"] = bare(parts, chat.prompt)
    report = {name: round(statistics.median(row[name] for row in rows), 3) for name in rows[0]}
    report["ratio_first_token"] = round(
        statistics.median(row["model_first_token_s"] / row["bare_first_token_s"] for row in rows), 3
    )
    waited = [prepared(parts, question) for question in REWORDED]
    report |= {
        "prepared": sum(how == "prepared" for how, _, _ in waited),
        "prepared_first_s_max": round(max(first for how, first, _ in waited if how == "prepared"), 3),
        "prepared_whole_s_max": round(max(whole for how, _, whole in waited if how == "prepared"), 3),
        "prompt_tokens_new_max": max(row["prompt_tokens_new"] for row in rows),
        "evidence_s_max": round(max(row["evidence_s"] for row in rows), 3),
        "ready_s": round(ready_s, 1),
        "memory_mb": memory_mb(),
        "runs": len(rows),
        "floors": {
            "evidence_s": 0.5,
            "prompt_tokens_new_max": 500,
            "ratio_first_token": 1.1,
            "memory_mb": 4096,
            "prepared_whole_s_max": 1.0,
        },
    }
    print(json.dumps(report, ensure_ascii=False))
    parts.chat.close()


class Recorder:
    """The chat model, with the last prompt that it was given."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self.prompt: Sequence[Message] = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chat, name)

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """The model's own stream."""
        self.prompt = messages
        return self._chat.stream(messages, options)


def once(parts: Parts, chat: Recorder, question: str) -> dict[str, float]:
    """One question: seconds to the evidence, the first words and the model's first token, and its prompt tokens."""
    start = time.perf_counter()
    evidence = quote = 0.0
    for event in workflow.answer(parts.book_source, Question(question, max_tokens=24), chat):
        if isinstance(event, Retrieved) and not evidence:
            evidence = time.perf_counter() - start
        if isinstance(event, Token) and not quote:
            quote = time.perf_counter() - start
    total = time.perf_counter() - start
    call = parts.usage.last()[0]
    return {
        "evidence_s": evidence,
        "first_words_s": quote,
        "model_first_token_s": call.first_token_s or total,
        "prompt_tokens_new": call.prompt_tokens_new,
        "prompt_tokens_cached": call.prompt_tokens_cached,
    }


def prepared(parts: Parts, question: str) -> tuple[How, float, float]:
    """How a question was answered, and the seconds to its first words and to its end."""
    start = time.perf_counter()
    first = 0.0
    for event in workflow.answer(parts.book_source, Question(question, max_tokens=24), parts.chat):
        if isinstance(event, Token) and not first:
            first = time.perf_counter() - start
        if isinstance(event, SourceDone):
            return event.how, first, time.perf_counter() - start
    raise AssertionError("a run ends with SourceDone")


def bare(parts: Parts, prompt: Sequence[Message]) -> float:
    """First token of the same prompt from the engine alone. Two letters keep the cache from knowing it."""
    head, last = prompt[:-1], prompt[-1]
    label, rest = last.content[:2], last.content[2:]
    start = time.perf_counter()
    for piece in parts.chat.stream(
        [*head, Message("user", f"{label[::-1]}{rest}")], ChatOptions(max_tokens=1, purpose="bare")
    ):
        if piece:
            break
    return parts.usage.last()[0].first_token_s or time.perf_counter() - start


def memory_mb() -> int | None:
    """Resident memory of this process and of all that it started, in MB; None where the system has no /proc."""
    if not Path("/proc/self/statm").exists():
        return None
    pids, pages = [os.getpid()], 0
    for pid in pids:  # grows while it is read
        with contextlib.suppress(OSError):  # a child that has just ended
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            for task in Path(f"/proc/{pid}/task").iterdir():
                pids += map(int, (task / "children").read_text().split())
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


if __name__ == "__main__":
    main()
