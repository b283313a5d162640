"""The ways from function to function: calls, and pointers in tables or handed on.

A call that stands only where something failed is told apart: it leads away from what a reader asks about.
"""

import re
from collections.abc import Collection, Iterable, Mapping

from osrag.kernel.describe import BODY
from osrag.kernel.store import KernelStore
from osrag.kernel.walks import Walk
from osrag.types import ChunkKind, CodeChunk

MOST_BEHIND = 12  # functions behind one operation; with more, any of them is a guess
MOST_MENTIONS = 100  # functions with a name in their code that are looked at
_THROUGH = re.compile(r"(?:->|\.)\s*(\w+)\s*\(")
_ENTRY = re.compile(r"\.(\w+)\s*=\s*&?(\w+)")
_HANDED = re.compile(r"(?<![\w.>])([a-z_]\w{3,})\b(?!\s*\()")
_ASIDE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
UNDO = re.compile(
    r"^\s*(?:err|fail|bad|free|abort|undo|out_(?:err|fail|free|undo))\w*:\s*$", re.M
)  # a label behind which work is undone
_GIVES_UP = re.compile(r"^\s*(?:return\s+(?:-E\w+|ERR_PTR|NULL|false)|goto\s+(?:err|out|fail|bad|free)\w*)")
HELPER = re.compile(  # names of functions that log, count, lock or check
    r"_*(?:trace_|lockdep|mutex_|raw_spin|spin_|rcu_read|might_|WARN|BUG|VM_BUG|pr_|print|dump|seq_|count_|mod_|stat|"
    r"kasan|kmsan|audit_|security_|debug|get_cpu|put_cpu|local_irq|preempt_|memset|memcpy|IS_ERR|cpu_relax|cond_resched)"
)
# How a function that is handed on is reached, by the words around its name; the keys of the wording are `edge_…`.
_KINDS = {
    "work": r"(?:INIT|DECLARE)\w*_WORK\w*\s*\(|queue_work",
    "timer": r"timer_setup|DEFINE_TIMER|timer\w*(?:->|\.)function",
    "thread": r"kthread_(?:run|create)|smpboot",
    "rcu": r"call_rcu",
    "softirq": r"open_softirq|tasklet_(?:init|setup)",
    "interrupt": r"request_(?:threaded_)?irq|irq_work",
    "wakeup": r"init_wait|wait_?queue|wake_function|DEFINE_WAIT",
    # LOCK_CONTENDED(sem, try, lock)
    "macro": r"\b(?!WRITE_ONCE|RCU_INIT|BUG|WARN|DEFINE|DECLARE|INIT)[A-Z][A-Z\d_]{4,}\s*\(",
}


class Graph:
    """What leads from one function of an index to another. Read-only, safe for several threads."""

    def __init__(self, store: KernelStore, walks: Iterable[Walk] = ()) -> None:
        self.store = store
        self._told: dict[int, dict[int, tuple[str, str]]] = {}
        for walk in walks:
            self._read_walk(walk)
        self._behind: dict[str, dict[int, None]] = {}  # operation -> the functions that tables put there
        self._operations: dict[int, dict[str, None]] = {}  # function -> the operations that tables have it for
        for row, kind in enumerate(store.column("kind").to_pylist()):
            if kind == ChunkKind.TABLE:
                self._read_table(store.chunk(row))

    def _read_table(self, table: CodeChunk) -> None:
        for operation, name in _ENTRY.findall(table.text):
            for row in self.store.definitions([name], table.source):
                if self.store.is_function(row):
                    self._behind.setdefault(operation, {})[row] = None
                    self._operations.setdefault(row, {})[operation] = None

    def _read_walk(self, walk: Walk) -> None:
        for step in walk.step:
            edge = step.edge
            if edge.kind not in ("start", "call"):
                for origin in self.store.definitions([edge.origin], step.file):
                    for target in self.store.definitions([step.function], step.file):
                        self._told.setdefault(origin, {}).setdefault(target, (edge.kind, edge.through))

    def told(self, row: int) -> Mapping[int, tuple[str, str]]:
        """What walk-throughs say that a function leads to without a call of the graph: the kind, and by what."""
        return self._told.get(row, {})

    def callees(self, row: int) -> list[int]:
        """The functions that one calls, in the order of the calls."""
        return [one for one in self.store.callees(row) if one != row and self.store.is_function(one)]

    def callers(self, row: int) -> list[int]:
        return [one for one in self.store.callers(row) if one != row and self.store.is_function(one)]

    def pointed_to(self, row: int) -> list[int]:
        """What a function reaches by a pointer: what tables have for the operations it calls, and what it hands on.

        Of the tables those of its own folder come alone if there are any.
        """
        store, text = self.store, bare(self.store.chunk(row))
        found: dict[int, None] = {}
        for operation in dict.fromkeys(_THROUGH.findall(text)):
            targets = list(self._behind.get(operation, ()))
            near = [one for one in targets if _folder(store.file_name(one)) == _folder(store.file_name(row))]
            found |= dict.fromkeys((near or targets)[:MOST_BEHIND])
        handed = store.definitions(dict.fromkeys(_HANDED.findall(text)), store.file_name(row))
        found |= dict.fromkeys(one for one in handed if store.is_function(one))
        called = {row, *store.callees(row)}
        return [one for one in found if one not in called]

    def pointing(self, row: int) -> list[int]:
        """The functions that reach this one by a pointer."""
        store = self.store
        operations = [name for name in self._operations.get(row, ()) if len(self._behind[name]) <= MOST_BEHIND]
        mentions = (store.with_word(BODY + name.lower())[:MOST_MENTIONS] for name in (store.names[row], *operations))
        found = dict.fromkeys(one for some in mentions for one in some if one != row and store.is_function(one))
        return [one for one in found if row in self.pointed_to(one)]

    def kind(self, row: int, target: int) -> str:
        """How a pointer leads from one function to another: "timer", "work", …; "pointer" where nothing tells."""
        name = re.escape(self.store.names[target])
        places = [line for line in bare(self.store.chunk(row)).split("\n") if re.search(rf"\b{name}\b", line)]
        return next((kind for kind, words in _KINDS.items() for line in places if re.search(words, line)), "pointer")

    def failing(self, row: int, targets: Collection[int]) -> set[int]:
        """Of the functions that one calls, those that it calls only where something failed."""
        text = bare(self.store.chunk(row))
        undo = UNDO.search(text)
        end = undo.start() if undo else len(text)
        found = set()
        for target in targets:
            spots = [match.start() for match in re.finditer(rf"\b{re.escape(self.store.names[target])}\s*\(", text)]
            inside = [spot for spot in spots if "{" in text[:spot]]
            if inside and all(spot >= end or _gives_up(text, spot) for spot in inside):
                found.add(target)
        return found


def bare(chunk: CodeChunk) -> str:
    """The code without comments and strings."""
    return _ASIDE.sub(" ", chunk.text)


def _gives_up(text: str, spot: int) -> bool:
    """Whether the block around a place ends with an error, a few lines on."""
    rows = text[text.rfind("\n", 0, spot) + 1 :].split("\n")[:4]
    depth = _indent(rows[0])
    for line in rows[1:]:
        if "}" in line or _indent(line) < depth:
            return False
        if _indent(line) == depth and _GIVES_UP.match(line):
            return depth > 1
    return False


def _indent(line: str) -> int:
    """How far a line is indented, in tabs and blanks."""
    return len(line) - len(line.lstrip())


def _folder(file: str) -> str:
    return file.rpartition("/")[0]
