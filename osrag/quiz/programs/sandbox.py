"""Runs a command of a stranger in a sandbox: bubblewrap, seccomp and limits.

Inside there are the tools and libraries of the distribution, read-only, and an own small file system in memory; no
network, no other file, no other process, an empty environment. Nothing is written outside: input goes in and output
comes out through file descriptors. What the kernel does not limit by itself (the memory and number of all processes
together) a watcher looks at; the whole sandbox ends with its first process.
"""

import os
import platform
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import IO, Any, Literal

from osrag.settings import ROOT

Ended = Literal["exit", "time", "memory", "processes", "output"]
SYSTEM = ("/usr/bin", "/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libexec", "/usr/include")
WATCH_S = 0.03  # between two looks at memory and processes; what grows in between is the overshoot
NOBODY = 65534  # who runs it where osrag runs as root, whom the kernel does not limit
OUTPUT = 64_000  # bytes of each of the two outputs, unless told

# System calls that an exercise never makes and that reach beyond the limits: memory that belongs to no process, new
# namespaces, sockets, keys, kernel programs. By architecture: (audit number, numbers of the calls).
_CALLS = {
    "x86_64": (
        0xC000003E,
        {
            "socket": 41, "socketpair": 53, "shmget": 29, "semget": 64, "msgget": 68, "mount": 165, "umount2": 166,
            "pivot_root": 155, "chroot": 161, "unshare": 272, "setns": 308, "memfd_create": 319, "memfd_secret": 447,
            "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "keyctl": 250, "add_key": 248, "request_key": 249,
            "io_uring_setup": 425, "kexec_load": 246, "init_module": 175, "finit_module": 313, "open_tree": 428,
            "move_mount": 429, "fsopen": 430, "quotactl": 179, "swapon": 167, "reboot": 169, "personality": 0,
            "process_vm_readv": 310, "process_vm_writev": 311, "splice": 275, "vmsplice": 278, "tee": 276,
        },
    ),
    "aarch64": (
        0xC00000B7,
        {
            "socket": 198, "socketpair": 199, "shmget": 194, "semget": 190, "msgget": 186, "mount": 40, "umount2": 39,
            "pivot_root": 41, "chroot": 51, "unshare": 97, "setns": 268, "memfd_create": 279, "memfd_secret": 447,
            "bpf": 280, "perf_event_open": 241, "userfaultfd": 282, "keyctl": 219, "add_key": 217, "request_key": 218,
            "io_uring_setup": 425, "kexec_load": 104, "init_module": 105, "finit_module": 273, "open_tree": 428,
            "move_mount": 429, "fsopen": 430, "quotactl": 60, "swapon": 224, "reboot": 142, "personality": 0,
            "process_vm_readv": 270, "process_vm_writev": 271, "splice": 76, "vmsplice": 75, "tee": 77,
        },
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run may use."""

    seconds: float  # on the clock
    cpu_s: int  # of the processor, each process
    memory: int  # bytes of all its processes together
    processes: int
    file: int = 8_000_000  # bytes of one file
    disk: int = 16_000_000  # bytes of its file system, which lies in memory
    address: int = 0  # bytes of address space of each process; 0 for no limit, which sanitizers need
    output: int = OUTPUT


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended, and what it wrote."""

    ended: Ended
    code: int  # of the command; 128 + N after signal N
    out: bytes
    err: bytes
    seconds: float


@cache
def missing() -> str:
    """Why nothing can be run here; empty where all is well."""
    for tool, package in (("bwrap", "bubblewrap"), ("gcc", "gcc"), ("objcopy", "binutils"), ("prlimit", "util-linux")):
        if shutil.which(tool, path="/usr/bin") is None:
            return f"there is no /usr/bin/{tool}; install the package {package}"
    if platform.machine() not in _CALLS:
        return f"no filter of system calls for {platform.machine()}"
    if folder := next((folder for folder in SYSTEM if ROOT.is_relative_to(folder)), ""):
        return f"osrag itself lies in {folder}, which programs can read"
    found = run(["true"], {}, Limits(seconds=10, cpu_s=2, memory=100_000_000, processes=8))
    if (found.ended, found.code) == ("exit", 0):
        return ""
    return f"bubblewrap cannot make a sandbox: {found.err.decode('utf-8', 'replace').strip() or found.ended}"


def run(
    command: Sequence[str], files: Mapping[str, bytes], limits: Limits, *, devices: bool = True, env: str = ""
) -> Ran:
    """Run a command with `files` in its working directory, and wait for its end.

    Without `devices` neither `/dev` nor `/proc` is there. `env` is one variable, as `NAME=value`.
    """
    opened: list[IO[bytes]] = []
    ends = [*socket.socketpair(), *socket.socketpair()]  # sockets: who has one end cannot read it back by its path
    try:
        given = _files(files, opened)
        rules = _file(_filter(), opened)
        fds = [file.fileno() for file in opened]
        arguments = [
            *_sandbox(limits, devices, env),
            *given,
            "--seccomp",
            str(rules),
            "--",
            *_limited(limits),
            *command,
        ]
        start = time.monotonic()
        other: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.geteuid() == 0 else {}
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=ends[1].fileno(),
            stderr=ends[3].fileno(),
            env={},
            cwd="/",
            pass_fds=fds,
            start_new_session=True,
            **other,
        )
        ends[1].close()
        ends[3].close()
        return _Watch(process, limits, start).wait(ends[0], ends[2])
    finally:
        for end in ends:
            end.close()
        for file in opened:
            file.close()


def _sandbox(limits: Limits, devices: bool, env: str) -> list[str]:
    """The command line of bubblewrap up to the files."""
    found = ["/usr/bin/nice", "-n", "5", "/usr/bin/bwrap", "--unshare-user", "--unshare-all", "--disable-userns"]
    found += ["--die-with-parent", "--new-session", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox"]
    found += ["--cap-drop", "ALL", "--clearenv"]
    for pair in filter(None, ("PATH=/usr/bin:/bin", "HOME=/work", env)):
        found += ["--setenv", *pair.split("=", 1)]
    for folder in SYSTEM:
        if Path(folder).is_dir():
            found += ["--ro-bind", folder, folder]
    for name in ("bin", "lib", "lib64", "lib32"):
        if Path(f"/usr/{name}").is_dir():
            found += ["--symlink", f"usr/{name}", f"/{name}"]
    if devices:
        found += [
            "--proc",
            "/proc",
            "--dev",
            "/dev",
            "--size",
            "1000000",
            "--tmpfs",
            "/dev/shm",
            "--remount-ro",
            "/dev",
        ]
    found += ["--size", str(limits.disk), "--perms", "0777", "--tmpfs", "/work", "--symlink", "work", "/tmp"]
    return [*found, "--remount-ro", "/", "--chdir", "/work"]


def _limited(limits: Limits) -> list[str]:
    """Sets the limits inside, where the count of processes begins at nothing."""
    found = ["prlimit", f"--cpu={limits.cpu_s}", f"--nproc={limits.processes}", f"--fsize={limits.file}", "--core=0"]
    found += ["--nofile=128", "--memlock=0", "--msgqueue=0", "--stack=8388608"]
    return [*found, *([f"--as={limits.address}"] if limits.address else []), "--"]


def _files(files: Mapping[str, bytes], opened: list[IO[bytes]]) -> list[str]:
    """Options that put files into the sandbox; nothing of them lies in a folder outside."""
    found: list[str] = []
    for name, data in files.items():
        found += ["--perms", "0555", "--ro-bind-data", str(_file(data, opened)), f"/work/{name}"]
    return found


def _file(data: bytes, opened: list[IO[bytes]]) -> int:
    file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `run`
    opened.append(file)
    file.write(data)
    file.seek(0)
    return file.fileno()


@cache
def _filter() -> bytes:
    """A seccomp program: another architecture is killed, the calls of `_CALLS` fail with EPERM, others pass."""
    audit, calls = _CALLS[platform.machine()]
    numbers = sorted(number for name, number in calls.items() if number and name != "personality")

    def op(code: int, k: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("HBBI", code, yes, no, k)

    load, equal, at_least, give = 0x20, 0x15, 0x35, 0x06
    kill, refuse, allow = 0x80000000, 0x00050001, 0x7FFF0000
    program = [op(load, 4), op(equal, audit, 1, 0), op(give, kill), op(load, 0)]
    program += [op(at_least, 0x40000000, len(numbers), 0)]  # the second set of numbers of x86-64
    for place, number in enumerate(numbers):
        program.append(op(equal, number, len(numbers) - place, 0))
    return b"".join([*program, op(give, allow), op(give, refuse)])


class _Watch:
    """Ends a sandbox that uses more than it may, and collects what it writes."""

    def __init__(self, process: "subprocess.Popen[bytes]", limits: Limits, start: float) -> None:
        self._process, self._limits, self._start = process, limits, start
        self._ended: Ended = "exit"

    def wait(self, out: socket.socket, err: socket.socket) -> Ran:
        """Until the end."""
        texts: list[bytearray] = [bytearray(), bytearray()]
        readers = [
            threading.Thread(target=self._read, args=(end, text), daemon=True)
            for end, text in zip((out, err), texts, strict=True)
        ]
        for reader in readers:
            reader.start()
        while self._process.poll() is None:
            if time.monotonic() - self._start > self._limits.seconds:
                self._end("time")
            elif over := self._over():
                self._end(over)
            time.sleep(WATCH_S)
        for reader in readers:
            reader.join(timeout=5)
        code = self._process.returncode
        seconds = time.monotonic() - self._start
        return Ran(self._ended, 128 - code if code < 0 else code, bytes(texts[0]), bytes(texts[1]), seconds)

    def _read(self, end: socket.socket, text: bytearray) -> None:
        while data := end.recv(65536):
            room = self._limits.output - len(text)
            text += data[: max(0, room)]
            if len(data) > room:
                self._end("output")
                return

    def _over(self) -> Ended | None:
        """What the processes of the sandbox use too much of, taken together."""
        pages = count = 0
        for pid in _below(self._process.pid):
            try:
                pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
            except (OSError, IndexError, ValueError):
                continue
            count += 1
        if pages * os.sysconf("SC_PAGESIZE") > self._limits.memory:
            return "memory"
        return "processes" if count > 2 * self._limits.processes else None

    def _end(self, why: Ended) -> None:
        """Kill bubblewrap, whose sandbox dies with it."""
        if self._process.poll() is None:
            self._ended = why
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except ProcessLookupError:
                return


def _below(pid: int) -> list[int]:
    """A process and all below it; an orphan of the sandbox is a child of its first process."""
    children: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                stat = Path(f"/proc/{entry.name}/stat").read_bytes()
            except OSError:
                continue
            children.setdefault(int(stat.rpartition(b")")[2].split()[1]), []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        one = todo.pop()
        found.append(one)
        todo += children.get(one, [])
    return found
