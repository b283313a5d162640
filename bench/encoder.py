"""Encoder: passages a second at 80 tokens, one query, cold load.

    python bench/encoder.py [--threads 2] [--runs 5]

The passages are synthetic: words of both languages, cut to 80 tokens each with
their prefix and end marks, in an order that mixes lengths.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

WORDS = """kernel process thread page table fault scheduler queue lock semaphore interrupt driver block inode
directory cache buffer memory address space signal pipe socket priority deadlock device file system call the a of to
and in which when only every first last is are has waits returns shares writes reads"""
CHARACTERS = """进程 线程 页表 缺页 调度 队列 锁 信号量 中断 驱动 块 索引节点 目录 缓存 内存 地址 空间 优先级 死锁
设备 文件 系统 调用 的 是 在 把 被 等待 返回 共享"""
TOKENS = 80


def passages(count: int, measure: Callable[[str], int]) -> list[str]:
    """`count` texts of about 80 tokens; `measure(text)` gives the tokens of one."""
    draw = random.Random(7)
    texts = []
    for number in range(count):
        words, joint = (CHARACTERS.split(), "") if number % 2 else (WORDS.split(), " ")
        text = draw.choice(words)
        while measure(text) < TOKENS:
            text += joint + draw.choice(words)
        texts.append(text)
    return texts


def spent(read: Callable[[list[str]], object]) -> tuple[float, float]:
    """Median milliseconds of a query, and the mean of its processor time in milliseconds."""
    waits, worked = [], time.process_time()
    for number in range(50):
        begin = time.perf_counter()
        read([f"What does the scheduler do with {number}?"])
        waits.append((time.perf_counter() - begin) * 1000)
    return statistics.median(waits), (time.process_time() - worked) / len(waits) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--count", type=int, default=512)
    arguments = parser.parse_args()

    begin = time.perf_counter()
    from osrag.models.e5 import PASSAGE
    from osrag.models.load import load_encoder
    from osrag.settings import load_settings

    encoder = load_encoder(load_settings(threads=arguments.threads))
    load_s = time.perf_counter() - begin

    def count_tokens(text: str) -> int:
        encoding = encoder.tokenizer.encode(PASSAGE + text)
        return len(encoding.ids) + sum(len(rest.ids) - 2 for rest in encoding.overflowing)

    texts = passages(arguments.count, count_tokens)
    encoder._encode(texts[:64])
    rates, costs = [], []
    for _ in range(arguments.runs):
        begin, worked = time.perf_counter(), time.process_time()
        encoder._encode(texts)  # `passages` keeps what it has read
        rates.append(len(texts) / (time.perf_counter() - begin))
        costs.append((time.process_time() - worked) / len(texts) * 1000)
    wait_ms, work_ms = spent(encoder.queries)

    mean = statistics.mean(count_tokens(text) for text in texts)
    print(f"{encoder.name} on {arguments.threads} threads")
    print(f"cold load {load_s:.1f} s (imports included)")
    rate = f"{statistics.median(rates):.0f} a second (runs {min(rates):.0f}-{max(rates):.0f})"
    print(f"passages of {mean:.0f} tokens: {rate}")
    # What the machine does beside it slows the clock, not this.
    print(f"processor time of one: {statistics.median(costs):.1f} ms")
    print(f"one query: {wait_ms:.1f} ms, {work_ms:.1f} ms of processor time")


if __name__ == "__main__":
    main()
