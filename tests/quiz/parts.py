"""A small course book, a fake encoder and a scripted model: a judge without weights."""

import functools
import json
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from bench.remembering import Remembering
from osrag.book.search import TextbookSearch
from osrag.index.collection import Collection, write_collection
from osrag.index.manifest import DocumentEntry
from osrag.models.load import SAID_POINT, load_encoder, load_pairs
from osrag.models.protocols import ChatAbilities, ChatOptions, Message
from osrag.quiz.grader import Grader
from osrag.quiz.judge import Judge
from osrag.quiz.rows import read_row
from osrag.settings import Settings, load_settings
from osrag.text import tokens
from osrag.types import Chunk, PageRef
from tests.fakes import FakeEncoder, FakePairs, ScriptedChat

BOOK = [
    (
        "en",
        "A deadlock needs four conditions at once: mutual exclusion, hold and wait, no preemption and circular wait.",
    ),
    ("en", "A semaphore is an integer that only the atomic operations wait and signal change."),
    ("en", "The long-term scheduler decides which jobs on disk may enter memory."),
    ("zh", "死锁的四个必要条件是互斥、占有并等待、不可抢占和循环等待。"),
    ("zh", "信号量是一个整数，只能由 wait 和 signal 两个原子操作修改。"),
    ("zh", "长程调度决定外存上的哪些作业可以进入内存。"),
]
CHOICE = {
    "id": "q1", "type": "single_choice", "question": "Which scheduler decides which jobs enter memory?",
    "options": {"A": "short-term scheduler", "B": "long-term scheduler", "C": "disk scheduler"}, "answer": "B",
    "knowledge_point": "levels of scheduling", "explanation": "The long-term scheduler admits jobs.",
}  # fmt: skip
TEXT_EN = {
    "id": "q2", "type": "short_answer", "question": "Name the conditions of a deadlock.",
    "rubric": [{"point": "mutual exclusion: a resource is used by one process at a time", "points": 2},
               {"point": "hold and wait: a process holds one resource and waits for another", "points": 2},
               {"point": "circular wait: the processes wait in a ring", "points": 1}],
}  # fmt: skip
TEXT_ZH = {
    "id": "q3", "type": "short_answer", "question": "死锁的必要条件有哪些？",
    "rubric": [{"point": "互斥：一个资源同一时刻只给一个进程使用", "points": 2},
               {"point": "占有并等待：进程占有资源的同时等待别的资源", "points": 2},
               {"point": "循环等待：进程围成一个环互相等待", "points": 1}],
}  # fmt: skip


def item_of(row, **change):
    (item,) = read_row({**row, **change})
    return item


def search_of(folder, encoder) -> TextbookSearch:
    chunks = [
        Chunk(
            f"{language}#{n}",
            text,
            f"{language}.pdf",
            PageRef(n + 1, n + 1, str(n + 1)),
            n,
            ("Chapter", f"{n}.1"),
            language,
        )
        for n, (language, text) in enumerate(BOOK)
    ]
    write_collection(
        folder,
        chunks,
        encoder.passages([chunk.text for chunk in chunks]),
        [tokens(chunk.text) for chunk in chunks],
        of=Chunk,
        name="textbook",
        encoder=encoder.id,
        documents=[
            DocumentEntry(name="zh.pdf", sha256="x", chunks=3),
            DocumentEntry(name="en.pdf", sha256="y", chunks=3),
        ],
    )
    return TextbookSearch(Collection.load(folder, encoder.id, of=Chunk), encoder)


Belief = Callable[[str, tuple[str, ...]], int]  # prompt, choices: place of the one that the model holds


@dataclass
class Believer(ScriptedChat):
    """A model that tells its chances: nine in ten for what it believes. The script is for its other calls."""

    belief: Belief | None = None  # None: it fails as its script does
    abilities: ChatAbilities = field(
        default_factory=lambda: ChatAbilities(context_tokens=4096, constrained=True, chain=False, slots=2, weighs=True)
    )
    weighed: list[str] = field(default_factory=list)  # prompts it gave chances for
    adapted: list[str] = field(default_factory=list)  # those that it gave with the adapter

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        if not options.choices or self.belief is None:
            return super().stream(messages, options)
        prompt = messages[-1].content
        self.weighed.append(prompt)
        if options.adapter:
            self.adapted.append(prompt)
        held = self.belief(prompt, options.choices)
        rest = 0.1 / (len(options.choices) - 1)
        return self._pieces([json.dumps([0.9 if n == held else rest for n in range(len(options.choices))])])


def place(n: int) -> Belief:
    """A model that likes one place, whatever stands there: 0 is Yes, or the first letter."""
    return lambda prompt, choices: n


def option(text: str) -> Belief:
    """A model that holds the option with this text, whatever its letter."""
    return lambda prompt, choices: next(n for n, key in enumerate(choices) if f"\n{key}. {text}" in prompt)


def yes_to(*texts: str) -> Belief:
    """Yes where the last lines of the prompt name one of these texts, else No."""
    return lambda prompt, choices: 0 if any(text in prompt.split(">>>")[-1] for text in texts) else 1


def judge_of(folder, *script, belief: Belief | None = None, **settings) -> Judge:
    encoder = FakeEncoder()
    chat = Believer([list(pieces) for pieces in script or [[ADVICE]]], belief=belief) if script or belief else None
    grader = Grader(encoder, FakePairs())
    return Judge(search_of(folder, encoder), grader, chat, Settings(_env_file=None, **settings))


@functools.cache
def real_grader() -> Grader:
    """With the shipped weights; `real_encoder` keeps what it embeds, and may be told what will be asked."""
    return Grader(real_encoder(), load_pairs(load_encoder(load_settings()), SAID_POINT))


@functools.cache
def real_encoder() -> Remembering:
    return Remembering(load_encoder(load_settings()))


def reply(**fields) -> str:
    return json.dumps(fields, ensure_ascii=False)


ADVICE = reply(analysis="A perfect answer.", improvementSuggestions="None.")
