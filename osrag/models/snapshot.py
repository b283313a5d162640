"""Whole models of the hub: several files at one pinned commit, checked by SHA-256.

The commit fixes the files; the hub lists the SHA-256 of each big one for that
commit, and those known beforehand are pinned here. A folder counts when its list
of files was written, which happens last: half a download never does.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from osrag.errors import BadWeights, ModelNotFound
from osrag.models.sources import DISK_FULL, disk_full
from osrag.models.verify import Stamps, sha256_of
from osrag.settings import Settings

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
LIST = ".osrag-files.json"
HUB_S = 10.0
WATCH_S = 0.5
NOT_WEIGHTS = ("*.md", "*.onnx*", "onnx/*", "imgs/*", "*.msgpack", "*.h5", "long.jpg")
AGAIN = "run the same command again; what was fetched is kept"


@dataclass(frozen=True, slots=True)
class HubModel:
    """A model repository at one commit."""

    repo: str
    revision: str
    gigabytes: float
    licence: str
    sha256: Mapping[str, str] = field(default_factory=dict)  # known beforehand, by file

    @property
    def title(self) -> str:
        return self.repo.rsplit("/", 1)[-1]


CHAT = HubModel("Qwen/Qwen3-8B", "b968826d9c46dd6066d109eabc6255188de91218", 16.4, "Apache-2.0")
ENCODER = HubModel(
    "BAAI/bge-m3",
    "5617a9f61b028005a4858fdac845db406aefb181",
    2.3,
    "MIT",
    {
        "pytorch_model.bin": "b5e0ce3470abf5ef3831aa1bd5553b486803e83251590ab7ff35a117cf6aad38",
        "sparse_linear.pt": "45c93804d2142b8f6d7ec6914ae23a1eee9c6a1d27d83d908a20d2afb3595ad9",
        "colbert_linear.pt": "19bfbae397c2b7524158c919d0e9b19393c5639d098f0a66932c91ed8f5f9abb",
    },
)
RERANKER = HubModel("BAAI/bge-reranker-v2-m3", "953dc6f6f85a1b2dbfca4c34a2796e7dde08d41e", 2.3, "Apache-2.0")
PINNED = {model.repo: model for model in (CHAT, ENCODER, RERANKER)}


def hub_model(name: str, *, revision: str = "") -> HubModel:
    """A pinned model by its repository, or another one at `revision` (default: its main branch)."""
    known = PINNED.get(name)
    if known and revision in {"", known.revision}:
        return known
    return HubModel(name, revision or "main", 0.0, "")


class Snapshots:
    """Gives folders of verified models, fetching what is not there."""

    def __init__(self, settings: Settings, *, endpoint: str | None = None) -> None:
        self._settings = settings
        self._endpoint = endpoint or os.environ.get("HF_ENDPOINT")
        self.folder = settings.cache_dir / "weights"
        self._stamps = Stamps(self.folder / "stamps")

    def place(self, model: HubModel) -> Path:
        return self.folder / f"{model.repo.replace('/', '--')}-{model.revision[:12]}"

    def present(self, model: HubModel) -> Path | None:
        """The folder if it is here and whole; reads no weights."""
        brought = self._brought(model)
        if brought is not None and not _missing(brought):
            return brought
        place = self.place(model)
        try:
            files = json.loads((place / LIST).read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        sizes = {name: (place / name).stat().st_size for name in files if (place / name).is_file()}
        return place if all(sizes.get(name) == entry["bytes"] for name, entry in files.items()) else None

    def path(self, model: HubModel, progress: Progress) -> Path:
        """The verified folder, fetched first where need be.

        Raises ModelNotFound when it is nowhere to be had, BadWeights when a file is not what
        was asked for, NoSpace when the disk is full; `hint` says what to do.
        """
        brought = self._brought(model)
        if brought is not None:
            self._check_brought(brought, model, progress)
            return brought
        place = self.present(model)
        if place is not None:
            return place
        if "hub" not in self._settings.sources:
            raise ModelNotFound(
                f"{model.title} is not in {str(self.folder)!r} and the hub is not among OSRAG_SOURCES",
                hint="add hub to OSRAG_SOURCES, or put the model's folder into OSRAG_MODEL_DIR",
            )
        return self._fetch(model, progress)

    # -- brought by hand --------------------------------------------------------------------------

    def _brought(self, model: HubModel) -> Path | None:
        folder = self._settings.model_dir
        if folder is None or "folder" not in self._settings.sources:
            return None
        place = folder / model.title
        return place if (place / "config.json").is_file() else None

    def _check_brought(self, place: Path, model: HubModel, progress: Progress) -> None:
        if missing := _missing(place):
            raise BadWeights(
                f"{str(place)!r} is half a download: it lacks {', '.join(missing[:3])}",
                hint="copy the missing files, or take the folder out of OSRAG_MODEL_DIR so that it is fetched",
            )
        self._verify(place, dict(model.sha256), progress)

    # -- hub --------------------------------------------------------------------------------------

    def _fetch(self, model: HubModel, progress: Progress) -> Path:
        from filelock import FileLock
        from huggingface_hub import snapshot_download

        place = self.place(model)
        self.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(self.folder / f".{place.name}.lock"), self._hub_errors(model):
            if found := self.present(model):  # another process fetched it meanwhile
                return found
            listed = self._listed(model)
            _drop_torn(place, listed)
            total = sum(entry["bytes"] for entry in listed.values())
            with _watched(place, model.title, total, progress):
                snapshot_download(
                    model.repo,
                    revision=model.revision,
                    local_dir=place,
                    allow_patterns=list(listed),
                    endpoint=self._endpoint,
                    etag_timeout=HUB_S,
                )
            sums = {name: entry["sha256"] for name, entry in listed.items() if entry["sha256"]}
            self._verify(place, {**sums, **model.sha256}, progress)
            draft = place / f"{LIST}.{os.getpid()}"
            draft.write_text(json.dumps(listed, indent=1), "utf-8")
            draft.replace(place / LIST)
        return place

    def _listed(self, model: HubModel) -> dict[str, dict[str, Any]]:
        """Files of the model at its commit: bytes, and the SHA-256 where the hub has it."""
        from huggingface_hub import HfApi

        api = HfApi(endpoint=self._endpoint)
        info = api.model_info(model.repo, revision=model.revision, files_metadata=True, timeout=HUB_S)
        entries = {
            sibling.rfilename: {"bytes": sibling.size or 0, "sha256": sibling.lfs.sha256 if sibling.lfs else ""}
            for sibling in info.siblings or []
        }
        names = [name for name in entries if not any(fnmatch(name, pattern) for pattern in NOT_WEIGHTS)]
        if any(name.endswith(".safetensors") for name in names):
            names = [name for name in names if not name.endswith(".bin")]
        return {name: entries[name] for name in names}

    def _verify(self, place: Path, sums: Mapping[str, str], progress: Progress) -> None:
        for name, sha256 in sums.items():
            path = place / name
            if not path.is_file() or self._stamps.holds(path, sha256):
                continue
            size = path.stat().st_size
            if sha256_of(path, lambda done, n=name, s=size: progress(f"check {n}", done, s)) != sha256:  # type: ignore[misc]
                aside = path.with_name(path.name + ".bad")
                path.replace(aside)
                raise BadWeights(f"{name} had the wrong SHA-256 and was put aside as {str(aside)!r}", hint=AGAIN)
            self._stamps.write(path, sha256)

    @contextmanager
    def _hub_errors(self, model: HubModel) -> Iterator[None]:
        """What the hub's client raises, as sentences with a remedy."""
        import httpx
        from huggingface_hub import errors

        by_hand = f"or put the folder {model.title!r} into OSRAG_MODEL_DIR"
        try:
            yield
        except errors.GatedRepoError as error:
            raise ModelNotFound(
                f"{model.repo} is gated: its owner wants a licence to be accepted",
                hint=f"accept it on the model's page and set HF_TOKEN, {by_hand}",
            ) from error
        except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
            raise ModelNotFound(
                f"the hub has no model {model.repo!r} at {model.revision[:12]}, or it is private",
                hint=f"check the name; for a private one set HF_TOKEN, {by_hand}",
            ) from error
        except (errors.OfflineModeIsEnabled, errors.LocalEntryNotFoundError, errors.HfHubHTTPError) as error:
            raise _unreachable(model, by_hand, error) from error
        except (httpx.HTTPError, errors.FileMetadataError) as error:
            raise _unreachable(model, by_hand, error) from error
        except OSError as error:
            if error.errno in DISK_FULL:
                raise disk_full(self.folder) from error
            raise _unreachable(model, by_hand, error) from error


def _unreachable(model: HubModel, by_hand: str, error: Exception) -> ModelNotFound:
    log.info("the hub failed for %s: %s", model.repo, error)
    return ModelNotFound(
        f"{model.repo} could not be fetched, the model hub cannot be reached or broke off ({type(error).__name__})",
        hint=f"check the connection and {AGAIN}; {by_hand}",
    )


def _missing(place: Path) -> list[str]:
    """Shards that the index of the weights names and the folder lacks."""
    index = place / "model.safetensors.index.json"
    if not index.is_file():
        whole = any((place / name).is_file() for name in ("model.safetensors", "pytorch_model.bin"))
        return [] if whole else ["model.safetensors"]
    names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
    return [name for name in names if not (place / name).is_file()]


def _drop_torn(place: Path, listed: Mapping[str, Mapping[str, Any]]) -> None:
    """Remove files of another size than listed: the hub's client goes by its own notes and would keep them."""
    for name, entry in listed.items():
        path = place / name
        if path.is_file() and path.stat().st_size != entry["bytes"]:
            path.unlink()


@contextmanager
def _watched(place: Path, title: str, total: int, progress: Progress) -> Iterator[None]:
    """Tell how much of `place` has arrived, until the block is left."""
    over = threading.Event()

    def watch() -> None:
        while not over.wait(WATCH_S):
            with suppress(OSError):
                size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
                progress(title, min(size, total), total)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join(WATCH_S + time.get_clock_info("monotonic").resolution)
    progress(title, total, total)
