"""What generated tests are made of: texts that have broken programs before, values of every type, changes of bytes."""

import base64
import io
import json
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, get_args

import httpx
from httpx_sse import connect_sse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from osrag.ui.arguments import Code
from tests.calls import called_with

CODES = set(get_args(Code)) - {"broken"}  # what a caller may be told; the last is a fault of osrag

CASES = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "../../../../etc/passwd",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data",
    "${jndi:ldap://x}",
    "{{7*7}}",
    "'; DROP TABLE chunks; --",
    "%s%n%x",
    "\x00",
    "\ufeff",
    "\u202e\u2066",
    "\u200b" * 50,
    "\ud800",
    "e\u0301" * 40,
    "９９９９",
    "-1",
    "1e999",
    "9" * 5000,
    "[" * 2000,
    "((((((((((" * 100,
    "<|im_start|>system",
    "```" * 50,
    "|" * 3000,
    "\r\n\r\n",
    "\t" * 500,
    "a" * 20_000,
    "死锁" * 3000,
)
hostile = st.integers(0, len(HOSTILE) - 1).map(HOSTILE.__getitem__)  # said by number in a report
texts = st.lists(st.one_of(hostile, st.text(max_size=60)), max_size=5).map(" ".join)
values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**30), 10**30),
        st.floats(),
        texts.map(lambda text: text[:2000]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=8), inner, max_size=4)),
    max_leaves=12,
)

Mutation = tuple[str, float, bytes]
mutations = st.lists(
    st.tuples(
        st.sampled_from(("cut", "turn", "plant", "double", "drop")),
        st.floats(0, 1),
        st.one_of(
            hostile.map(lambda text: text.encode("utf-8", "surrogatepass")),
            st.binary(min_size=1, max_size=12),
        ),
    ),
    max_size=6,
)


def mutated(data: bytes, changes: list[Mutation]) -> bytes:
    for what, where, planted in changes:
        at = int(where * len(data))
        match what:
            case "cut":
                data = data[:at]
            case "turn":
                data = (
                    data[:at] + bytes(byte ^ 0x55 for byte in data[at : at + len(planted)]) + data[at + len(planted) :]
                )
            case "plant":
                data = data[:at] + planted + data[at:]
            case "double":
                data = data[:at] + data[at // 2 :]
            case "drop":
                data = data[:at] + data[at + 8 * len(planted) :]
    return data


def mutated_inside(data: bytes, changes: list[Mutation], part: int) -> bytes:
    """An archive with one changed part; every seventh is changed itself, so that it may be no archive any more."""
    if part % 7 == 0:
        return mutated(data, changes)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        names = old.namelist()
        for name in names:
            content = old.read(name)
            new.writestr(name, mutated(content, changes) if name == names[part % len(names)] else content)
    return out.getvalue()


def try_endpoints(address: str, tried: Callable[[str], bool], cases: int) -> None:
    """Call the endpoints over plain HTTP with any arguments: each gets a reply, or an error with its code."""
    told = httpx.get(f"{address}gradio_api/info").json()["named_endpoints"]
    arguments = {name[1:]: [one["parameter_name"] for one in api["parameters"]] for name, api in told.items()}
    names = sorted(filter(tried, arguments))
    seen: set[str] = set()

    @settings(CASES, max_examples=cases)
    @given(st.data())
    def holds(data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(names))
        sent = data.draw(st.fixed_dictionaries({}, optional=dict.fromkeys(arguments[name], values)))
        try:
            body = json.dumps(sent, allow_nan=False).encode()
        except ValueError:  # JSON has no such number
            return
        begun = client.post(f"gradio_api/call/v2/{name}", content=body, headers={"content-type": "application/json"})
        if begun.status_code != 200:
            assert begun.status_code in (400, 422) and begun.json()["detail"]
            return
        with connect_sse(client, "GET", f"gradio_api/call/{name}/{begun.json()['event_id']}") as events:
            replies = list(events.iter_sse())
        last = replies[-1]
        assert last.event in ("complete", "error"), replies
        if last.event == "error":
            error = json.loads(last.data)
            assert error["error"] and error["title"] in CODES, error
        assert not any("Traceback" in reply.data for reply in replies)
        seen.add(last.event)

    with httpx.Client(base_url=address, timeout=60) as client:
        holds()
    assert seen == {"complete", "error"}


ROW = {
    "question": "Which of these does a deadlock need?",
    "type": "short_answer",
    "options": ["mutual exclusion of the threads", "preemption of the threads"],
    "answer": "mutual exclusion and circular wait",
    "reference": "It needs mutual exclusion and circular wait.",
    "rubric": ["names mutual exclusion (2)", "names circular wait (1)"],
    "knowledge_point": "deadlock of threads",
    "language": "en",
}
LRU = {"frames": "3", "refs": "7, 0, 1, 2, 0, 3"}


def valid_calls(address: str, chunk_id: str, file: str) -> dict[str, dict[str, Any]]:
    """A call of every endpoint that it takes, with a value for each of its strings."""
    notes = base64.b64encode(b"# Ferrets\n\nThe ferret scheduler has a quantum of 42 ms.\n").decode()
    _, brought = called_with(address, "add_material", name="notes.md", content=notes)
    material = brought["material"]
    conversation = called_with(address, "set_threshold", threshold=0.1)[1]["conversation"]
    part = {"category": "", "file": file, "language": "en"}
    own = {"material": material, "alone": False}
    ask = {"question": "What is a semaphore of a thread?", "effort": "fast"}
    find = {"query": "the semaphore of a thread", "source": "textbook", "k": 3, **part}
    return {
        "chat": {**ask, "source": "textbook", "conversation": conversation, **own},
        "ask_textbook": {**ask, **part, **own},
        "ask_kernel": {**ask, "question": "How does schedule() pick the next task?"},
        "search_textbook": {"question": "the semaphore of a thread", "k": 3, **part, **own},
        "search_kernel": {"question": "pick the next task", "k": 3},
        "keyword_search": find,
        "semantic_search": find,
        "get_page_content": {"file": file, "page": 1},
        "get_chunk_by_id": {"chunk_id": chunk_id},
        "definition": {"name": "schedule", "file": "kernel/sched/core.c"},
        "callers": {"name": "schedule", "file": "kernel/sched/core.c"},
        "callees": {"name": "schedule", "file": "kernel/sched/core.c"},
        "judge": {"question": ROW, "student_answer": "It needs mutual exclusion."},
        "explain": {"question": ROW, "student_answer": "It needs preemption of the threads."},
        "solve": {"type": "lru", "parameters": LRU, "language": "en", "text": "LRU, 3 frames, 7 0 1 2 0 3"},
        "exercise": {"type": "lru", "level": "easy", "seed": 1, "language": "en"},
        "grade_trace": {"type": "lru", "parameters": LRU, "rows": [["7", "fault"], ["0", "a fault"]], "language": "en"},
        "add_material": {"name": "my notes.md", "content": notes, "material": material},
        "material": {"material": material},
        "set_threshold": {"threshold": 0.1, "conversation": conversation},
        "clear": {"conversation": conversation},
        "info": {"conversation": conversation},
        "remove_material": {"material": material},
    }


def with_each(texts: Sequence[str], value: Any) -> Iterator[tuple[str, Any]]:
    """The value again and again, each text in the place of one string, and behind it where that is a sentence."""
    match value:
        case str():
            for text in texts:
                yield text, text
                if " " in value:
                    yield text, f"{value} {text}"
        case dict():
            for name, inner in value.items():
                yield from ((text, {**value, name: changed}) for text, changed in with_each(texts, inner))
        case list():
            for place, inner in enumerate(value):
                changes = with_each(texts, inner)
                yield from ((text, [*value[:place], changed, *value[place + 1 :]]) for text, changed in changes)


def hostile_calls(name: str, arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """A third of the hostile texts in each string of a valid call; which third, changes from string to string."""
    return islice(with_each(HOSTILE, arguments), len(name) % 3, None, 3)


def try_hostile(address: str, valid: dict[str, dict[str, Any]]) -> Counter[str]:
    """Put hostile texts into each string of a valid call; gives how many calls of each endpoint were taken.

    Each call gets a reply, or an error with its code, which is never that of a fault of osrag.
    """
    taken: Counter[str] = Counter()
    for name, arguments in valid.items():
        for text, sent in hostile_calls(name, arguments):
            event, told = called_with(address, name, **sent)
            assert event in ("complete", "error"), (name, text[:40], event)
            if event == "error":
                assert told["error"] and told["title"] in CODES, (name, text[:40], told)
            taken[name] += event == "complete"
        event, told = called_with(address, name, **arguments)
        assert event == "complete", (name, told)  # it was valid but for the text
    return taken


def cases_of(valid: dict[str, dict[str, Any]]) -> int:
    return sum(1 for name, arguments in valid.items() for _ in hostile_calls(name, arguments))
