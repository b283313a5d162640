"""A prebuilt index as a data set of the model hub: taken by OSRAG_INDEX_REPO, published by `push-index`.

A copy is kept by its commit. Files carry their hash in their name and are checked when a collection is
loaded, so half a copy or a damaged one is never searched.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from osrag.errors import BadIndex, BadInput, BadSettings, OsragError
from osrag.index.manifest import NAME, Manifest, read_manifest
from osrag.settings import Settings
from osrag.types import Progress

log = logging.getLogger(__name__)

HUB_S = 10.0  # the longest wait for the hub's list of files
FILES = ["*.parquet", "*.faiss", "*.npz", "*.jsonl", "*.json", "COPYING*", "*/COPYING*"]
WHOLE = ".whole"  # marks a whole copy; touched at each start that found it to be the newest


def index_folder(settings: Settings, progress: Progress, *, endpoint: str | None = None) -> Path:
    """Where the collections lie: `index_dir`, or the copy of `index_repo` when one is named.

    Without the hub the copy that was taken last serves. Raises BadIndex when there is none.
    """
    if not settings.index_repo:
        return settings.index_dir
    try:
        return _take(settings.index_repo, _place(settings), progress, endpoint)
    except OsragError as error:
        kept = kept_folder(settings)
        if kept is None:
            raise
        log.warning("%s; the copy of %s serves", error.sentence(), kept.name[:12])
        return kept


def kept_folder(settings: Settings) -> Path | None:
    """The copy of `index_repo` that was taken last; the hub is not asked. None when there is none."""
    if not settings.index_repo:
        return None
    marks = sorted(_place(settings).glob(f"*/{WHOLE}"), key=lambda mark: mark.stat().st_mtime_ns)
    return marks[-1].parent if marks else None


def _place(settings: Settings) -> Path:
    return settings.cache_dir / "index" / settings.index_repo.replace("/", "--")


def _take(repo: str, place: Path, progress: Progress, endpoint: str | None) -> Path:
    """The newest commit of the data set as a folder in `place`, fetched where it is not there."""
    from filelock import FileLock
    from huggingface_hub import HfApi, snapshot_download

    endpoint = endpoint or os.environ.get("HF_ENDPOINT")
    place.mkdir(parents=True, exist_ok=True)
    with _hub_errors(repo, "read"), FileLock(place / ".lock"):
        commit = str(HfApi(endpoint=endpoint).dataset_info(repo, timeout=HUB_S).sha)
        folder = place / commit
        if not (folder / WHOLE).is_file():
            progress(f"index {repo}", 0, 1)
            snapshot_download(
                repo,
                repo_type="dataset",
                revision=commit,
                local_dir=folder,
                allow_patterns=FILES,
                endpoint=endpoint,
                etag_timeout=HUB_S,
            )
            _collections(folder, repo)
            progress(f"index {repo}", 1, 1)
        (folder / WHOLE).touch()
    return folder


def _collections(folder: Path, what: str) -> list[Manifest]:
    """The manifests of all collections in `folder`. Raises BadIndex when there is none or one lacks a file."""
    found = [read_manifest(path.parent) for path in sorted(folder.rglob(NAME)) if ".cache" not in path.parts]
    if not found:
        raise BadIndex(f"{what} holds no collection", hint="python -m osrag push-index publishes one")
    return found


def push_index(folder: Path, repo: str, *, private: bool = False, endpoint: str | None = None) -> str:
    """Publish all collections in `folder` as the data set `repo` ("owner/name"); returns its address."""
    from huggingface_hub import HfApi

    if repo.count("/") != 1:
        raise BadInput(f"{repo!r} is no data set", hint="write owner/name")
    manifests = _collections(folder, f"{str(folder)!r}")
    api = HfApi(endpoint=endpoint or os.environ.get("HF_ENDPOINT"))
    with _hub_errors(repo, "write to"):
        api.create_repo(repo, repo_type="dataset", private=private, exist_ok=True)
        card = _card(manifests).encode()
        api.upload_file(path_or_fileobj=card, path_in_repo="README.md", repo_id=repo, repo_type="dataset")
        done = api.upload_folder(
            repo_id=repo,
            repo_type="dataset",
            folder_path=folder,
            allow_patterns=FILES,
            delete_patterns=["*.parquet", "*.faiss", "*.npz"],  # what an earlier build left
            commit_message=f"osrag index: {', '.join(manifest.collection for manifest in manifests)}",
        )
    return str(done.repo_url)


CARD = """\
---
license: {licence}
tags: [osrag, rag, operating-systems]
---

# A prebuilt osrag index

| collection | chunks | encoder | licence of the text | source |
|---|---|---|---|---|
{rows}

Use it with `OSRAG_INDEX_REPO` set to this data set's name and the same encoder.
"""


def _card(manifests: list[Manifest]) -> str:
    """The data set's card: what is in it, by which encoder, under which licence."""
    rows = [
        f"| {manifest.collection} | {manifest.counts.get('chunks', 0)} | {manifest.encoder.name} "
        f"{manifest.encoder.revision[:12]} | {manifest.licence or 'see its source'} | {manifest.source} |"
        for manifest in manifests
    ]
    gpl = any("GPL" in manifest.licence for manifest in manifests)
    return CARD.format(licence="gpl-2.0" if gpl else "other", rows="\n".join(rows))


@contextmanager
def _hub_errors(repo: str, what: str) -> Iterator[None]:
    """Turn what the hub's client raises into a sentence with the next step."""
    import httpx
    from huggingface_hub import errors

    try:
        yield
    except (errors.GatedRepoError, errors.RepositoryNotFoundError) as error:
        hint = "check OSRAG_INDEX_REPO, or set HF_TOKEN"
        raise BadIndex(f"the hub has no data set {repo!r}, or it is private", hint=hint) from error
    except errors.HfHubHTTPError as error:
        if error.response is not None and error.response.status_code in {401, 403}:
            raise BadSettings(f"the hub refused to {what} {repo}", hint="set HF_TOKEN to a token that may") from error
        raise BadIndex(f"the hub failed for {repo}: {error}", hint="run the same command again") from error
    except (httpx.HTTPError, errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled) as error:
        hint = "check the connection, or unset OSRAG_INDEX_REPO"
        raise BadIndex(f"the hub cannot be reached for {repo}", hint=hint) from error
