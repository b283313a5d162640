"""Many visitors at once: no answer of another's question, memory that stays flat, places that fall, seconds.

    python bench/load.py                                # 50 visitors for ten minutes, then searches alone
    python bench/load.py --visitors 20 --minutes 2
    python bench/load.py --only search

Starts an app of its own. Each visitor is a session that asks, waits for the whole reply and thinks for some seconds.
Every question carries a check: the words that its answer must have, or the number that a computed exercise must give.
One visitor in ten brings a file first. Of the quiz three answers in four are to blanks, which the key marks; the fourth
is to a choice of the visitor's own, without prepared reasons, which the model explains.
Prints Markdown for docs/performance.md; ends with 1 where a floor is missed.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from httpx_sse import aconnect_sse

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from osrag.app.parts import Parts
from osrag.evaluate.speed import family, resident_mb
from osrag.settings import load_settings

ROOT = Path(__file__).resolve().parent.parent
PORT = 7931
THINK_S = 3.0, 9.0
BRINGS = 0.1  # of the visitors, a file
BLANKS = 0.75  # of the answers to the quiz
WARM_UP = 0.5  # of the time; memory before it does not count: parts that are rarely used load meanwhile
SEARCHES = 400
UPLOAD = "om-add"  # the button of the page that takes a visitor's files
# Questions and a word that only the right answer has.
BOOK = {
    "时间片太长或太短会怎样？": "时间片",
    "What happens when the time slice is too long?": "time slice",
    "Why does paging not suffer from external fragmentation?": "fragmentation",
    "为什么多级页表能节省内存？": "页表",
    "How does a journaling file system survive a crash?": "journal",
    "请解释一下什么是死锁": "死锁",
    "Explain what a race condition is.": "race",
    "缺页异常的处理步骤有哪些？": "缺页",
    "What is the purpose of the TLB?": "TLB",
    "进程和线程有什么不同？": "线程",
    "What is the difference between a hard link and a symbolic link?": "link",
    "什么是死锁？": "死锁",
    "What is a semaphore?": "semaphore",
    "什么是系统调用？": "系统调用",
    "Why is a TLB needed?": "TLB",
    "What is thrashing?": "thrash",
}
KERNEL = {"What happens in fork?": "fork", "内核怎么处理缺页？": "fault", "How does the OOM killer choose?": "oom"}


@dataclass(frozen=True)
class Visit:
    """One call: endpoint, arguments, and what is wrong with a reply ("" for nothing)."""

    kind: str
    endpoint: str
    arguments: list[Any]
    fault: Callable[[dict[str, Any]], str]


@dataclass
class Seen:
    """What happened so far."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))  # of whole replies, by kind
    faults: list[str] = field(default_factory=list)
    told: int = 0  # calls that were told a place in the line: all are, also where nobody is before them
    waited: int = 0  # of these, calls behind others
    rose: int = 0  # places that rose
    # Seconds since the start, MB of the app, MB of its engine.
    memory: list[tuple[float, int, int]] = field(default_factory=list)
    processor: tuple[float, float] = (0.0, 0.0)  # of the app and of its engine, of one core


def asked(source: str, question: str, word: str) -> Visit:
    """A question; its reply must repeat it and hold the word."""

    def fault(reply: dict[str, Any]) -> str:
        if reply["error"]:
            return f"error: {reply['error']}"
        if reply["question"] != question or word.lower() not in json.dumps(reply, ensure_ascii=False).lower():
            return f"{question!r} was answered as {reply['question']!r}: {reply['answer'][:80]!r}"
        return ""

    return Visit(source, f"ask_{source}", [question, "fast"], fault)


def computed(draw: random.Random) -> Visit:
    """Page faults of LRU, counted here as well."""
    frames, refs = draw.randint(2, 4), [draw.randint(0, 6) for _ in range(14)]
    held: list[int] = []
    faults = 0
    for page in refs:
        faults += page not in held
        held = [*(one for one in held if one != page), page][-frames:]
    arguments = ["lru", {"frames": frames, "refs": refs}, "en", ""]
    return Visit("lab", "solve", arguments, lambda reply: "" if reply["answer"]["value"] == faults else f"LRU {reply}")


def graded(draw: random.Random) -> Visit:
    """A blank or a choice whose key and answer are drawn."""
    key, given = draw.choice("ABCD"), draw.choice("ABCD")
    number = draw.randint(1, 10**6)
    if draw.random() < BLANKS:
        row = {"question": f"The letter of number {number} is ____.", "type": "fill_blank", "answer": key * 3}
        return Visit("quiz, by key", "judge", [row, given * 3], lambda reply: wrong(reply, key == given, key * 3))
    row = {"question": f"Which option is number {number}?", "options": [f"{number} {one}" for one in "wxyz"]}
    row |= {"type": "single_choice", "answer": key}
    return Visit("quiz, explained", "judge", [row, given], lambda reply: wrong(reply, key == given, key))


def wrong(reply: dict[str, Any], correct: bool, key: str) -> str:
    """What is wrong with a verdict."""
    return "" if reply["isCorrect"] == correct and key in reply["correctAnswer"] else f"key {key}: {reply}"


def drawn(draw: random.Random) -> Visit:
    """The next call of a visitor: half to the book, the rest to the kernel, the quiz and the lab."""
    match draw.choices(("book", "kernel", "quiz", "lab"), (5, 2, 1, 2))[0]:
        case "book":
            return asked("textbook", *draw.choice(list(BOOK.items())))
        case "kernel":
            return asked("kernel", *draw.choice(list(KERNEL.items())))
        case "quiz":
            return graded(draw)
    return computed(draw)


async def call(client: httpx.AsyncClient, ids: dict[str, int], visit: Visit, session: str, seen: Seen) -> None:
    """One call through the queue, as the page makes it; what comes is checked."""
    start = time.perf_counter()
    body = {"data": visit.arguments, "fn_index": ids[visit.endpoint], "session_hash": session}
    (await client.post("/queue/join", json=body)).raise_for_status()
    place: int | None = None
    async with aconnect_sse(client, "GET", "/queue/data", params={"session_hash": session}) as stream:
        async for event in stream.aiter_sse():
            told = json.loads(event.data)
            if told["msg"] == "estimation" and told.get("rank") is not None:
                if place is None:
                    seen.told += 1
                    seen.waited += told["rank"] > 0
                elif told["rank"] > place:
                    seen.rose += 1
                place = told["rank"]
            if told["msg"] in ("unexpected_error", "server_stopped"):
                seen.faults.append(f"{visit.kind}: {told}")
            if told["msg"] == "process_completed":
                if not told["success"]:
                    seen.faults.append(f"{visit.kind}: {told['output']}")
                    return
                reply = told["output"]["data"][0]
                if fault := visit.fault(reply):
                    seen.faults.append(f"{visit.kind}: {fault}")
                kind = f"{visit.kind}, {reply['how']}" if "how" in reply else visit.kind
                seen.seconds[kind].append(time.perf_counter() - start)


async def bring(client: httpx.AsyncClient, ids: dict[str, int], number: int, seen: Seen) -> None:
    """A visitor's own file, read to its end."""
    part = "A page table maps the pages of a process to frames. " * 20
    text = "\n\n".join(f"# Part {one}\n\nNote {number}-{one}: {part}" for one in range(40))
    reply = await client.post("/upload", files={"files": (f"notes{number}.md", text)})
    file = {"path": reply.raise_for_status().json()[0], "meta": {"_type": "gradio.FileData"}}
    await call(client, ids, Visit("file brought", UPLOAD, [[file], None], lambda shown: ""), f"v{number}", seen)


async def visitor(client: httpx.AsyncClient, ids: dict[str, int], number: int, end: float, seen: Seen) -> None:
    """One visitor until the end."""
    draw = random.Random(number)
    await asyncio.sleep(draw.uniform(0, THINK_S[1]))
    if draw.random() < BRINGS:
        await bring(client, ids, number, seen)
    while time.monotonic() < end:
        try:
            await call(client, ids, drawn(draw), f"v{number}", seen)
        except httpx.HTTPError as error:
            seen.faults.append(f"{type(error).__name__}: {error}")
        await asyncio.sleep(draw.uniform(*THINK_S))


async def load(url: str, process: int, visitors: int, minutes: float) -> Seen:
    """All visitors at once, and a look at the memory every two seconds."""
    seen, start, before = Seen(), time.monotonic(), processor_s(process)
    # The server closes a connection that is idle for five seconds, which a call at that moment would meet.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=visitors, keepalive_expiry=2)
    async with httpx.AsyncClient(base_url=f"{url}/gradio_api", timeout=600, limits=limits, trust_env=False) as client:
        config = (await client.get(f"{url}/config")).json()
        ids = {one["api_name"]: one["id"] for one in config["dependencies"] if one["api_name"]}
        button = next(one["id"] for one in config["components"] if one["props"].get("elem_id") == UPLOAD)
        ids[UPLOAD] = next(one["id"] for one in config["dependencies"] if button in dict(one["targets"]))
        end = start + 60 * minutes

        async def watch() -> None:
            while True:
                at = time.monotonic() - start
                app, *started = map(resident_mb, family(process))
                seen.memory.append((at, app, sum(started)))
                await asyncio.sleep(2)

        watching = asyncio.create_task(watch())
        await asyncio.gather(*(visitor(client, ids, number, end, seen) for number in range(visitors)))
        watching.cancel()
    took = time.monotonic() - start
    app, engine = (now - then for now, then in zip(processor_s(process), before, strict=True))
    seen.processor = app / took, engine / took
    return seen


def processor_s(pid: int) -> tuple[float, float]:
    """Seconds of processor time of a process, and of what it started: the engine."""
    ticks = [Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[11:13] for one in family(pid)]
    used = [sum(map(int, own)) / os.sysconf("SC_CLK_TCK") for own in ticks]
    return used[0], sum(used[1:])


def slope(points: list[tuple[float, int]]) -> float:
    """MB a minute after the warm-up, by least squares."""
    late = [(at / 60, size) for at, size in points if at > WARM_UP * points[-1][0]]
    return statistics.linear_regression(*zip(*late, strict=True)).slope if len(late) > 2 else 0.0


def searches_over_http(url: str) -> float:
    """Searches a second, 16 at a time, each new to every cache, by the two requests of docs/api.md."""

    def one(number: int) -> None:
        text = f"{list(BOOK)[number % len(BOOK)]} {number}"
        begun = client.post("/call/v2/search_textbook", json={"question": text, "k": 8}).raise_for_status()
        told = client.get(f"/call/search_textbook/{begun.json()['event_id']}").raise_for_status().text
        assert "event: complete" in told, told

    with httpx.Client(base_url=f"{url}/gradio_api", timeout=60, trust_env=False) as client:
        return rate(one)


def rate(one: Callable[[int], object]) -> float:
    """Calls a second."""
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(one, range(-40, 0)))
        start = time.perf_counter()
        list(pool.map(one, range(SEARCHES)))
        return SEARCHES / (time.perf_counter() - start)


def searches_here() -> float:
    """The same without HTTP, in this process."""
    textbook = Parts(load_settings(profile="retrieval")).textbook
    questions = list(BOOK)
    return rate(lambda number: textbook.search(f"{questions[number % len(questions)]} {number} .", k=8))


def percentile(values: list[float], share: float) -> float:
    """The value below which so many lie."""
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def start_app(log: Path) -> "subprocess.Popen[bytes]":
    """The app as it is shipped, without a limit a minute; returns when it is ready."""
    env = {**os.environ, "OSRAG_PORT": str(PORT), "OSRAG_REQUESTS_PER_MINUTE": "10000", "OSRAG_QUEUE_SIZE": "1000"}
    env |= {"OSRAG_SEARCHES_PER_MINUTE": "100000", "OSRAG_VISITORS_PER_ADDRESS": "10000"}
    with log.open("wb") as out:
        app = subprocess.Popen([sys.executable, "app.py"], cwd=ROOT, env=env, stdout=out, stderr=out)
    while app.poll() is None:
        try:
            httpx.get(f"http://127.0.0.1:{PORT}/readyz", trust_env=False).raise_for_status()
            return app
        except httpx.HTTPError:
            time.sleep(0.5)
    raise SystemExit(log.read_text()[-2000:])


def table(seen: Seen, visitors: int, minutes: float) -> list[tuple[str, str, str, bool]]:
    """What was measured, value, floor, and whether it holds."""
    rows = []
    for kind, seconds in sorted(seen.seconds.items()):
        p95 = percentile(seconds, 0.95)
        value = f"{percentile(seconds, 0.5):.2f} / {p95:.2f} s, {len(seconds)} replies"
        whole = kind.endswith("prepared")
        rows.append((f"{kind}: p50 / p95", value, "p95 3 s" if whole else "", not whole or p95 < 3))
    most = max(app + engine for _, app, engine in seen.memory)
    of_app, of_engine = (slope([(one[0], one[place]) for one in seen.memory]) for place in (1, 2))
    grows = of_app + of_engine  # least squares add up
    return [
        *rows,
        ("errors, and answers of another's question", str(len(seen.faults)), "0", not seen.faults),
        (
            "calls that were told a place; of them behind others; places that rose",
            f"{seen.told}; {seen.waited}; {seen.rose}",
            "some waited, 0 rose",
            bool(seen.waited) and not seen.rose,
        ),
        ("processor time a second: app; engine", "{:.2f}; {:.2f} s".format(*seen.processor), "", True),
        ("memory: peak", f"{most / 1000:.2f} GB", "4 GB", most < 4000),
        ("memory: slope after the warm-up", f"{grows:.2f} MB a minute", "1 MB a minute", grows < 1),
        # The engine grows until every cell of its keys and values has been written once.
        ("of it app; engine", f"{of_app:.2f}; {of_engine:.2f} MB a minute", "", True),
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--visitors", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--only", choices=("load", "search"))
    args = parser.parse_args()
    rows: list[tuple[str, str, str, bool]] = []
    faults: list[str] = []
    if args.only != "load":
        here = searches_here()
        rows.append(("searches of the book a second, in one process", f"{here:.0f}", "100", here >= 100))
    with tempfile.TemporaryDirectory() as folder:
        app = start_app(Path(folder) / "app.log")
        try:
            if args.only != "load":
                over = searches_over_http(f"http://127.0.0.1:{PORT}")
                rows.append(("the same over HTTP", f"{over:.0f}", "100", over >= 100))
            if args.only != "search":
                seen = asyncio.run(load(f"http://127.0.0.1:{PORT}", app.pid, args.visitors, args.minutes))
                rows = [*table(seen, args.visitors, args.minutes), *rows]
                faults = seen.faults
        finally:
            app.send_signal(signal.SIGTERM)
            app.wait(60)
            log = (Path(folder) / "app.log").read_text("utf-8", "replace").splitlines()
            faults += [line for line in log if " ERROR " in line]
    print(f"{args.visitors} visitors for {args.minutes:g} minutes, {os.cpu_count()} cores\n")
    print("| | measured | floor | holds |\n|---|---|---|---|")
    for what, value, floor, holds in rows:
        print(f"| {what} | {value} | {floor} | {'yes' if holds else '**no**'} |")
    for fault in faults[:20]:
        print(fault[:300], file=sys.stderr)
    return int(not all(holds for *_, holds in rows))


if __name__ == "__main__":
    sys.exit(main())
