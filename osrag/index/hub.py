"""A prebuilt index as a data set of the model hub: taken by OSRAG_INDEX_REPO, published by `push-index`.

The hub's client keeps each commit in the cache. Files carry their hash in their name and are checked when a
collection is loaded, so half a copy or a damaged one is never searched.
"""

import logging
from pathlib import Path
from typing import Any

from osrag.errors import BadIndex, BadInput, BadSettings, OsragError
from osrag.index.manifest import NAME, Manifest, read_manifest
from osrag.models.sources import HUB_S, RepoKind, hub_errors
from osrag.settings import Settings
from osrag.types import Progress

log = logging.getLogger(__name__)

FILES = ["*.parquet", "*.faiss", "*.npz", "*.jsonl", "*.json", "COPYING*", "*/COPYING*"]


def index_folder(settings: Settings, progress: Progress, *, endpoint: str | None = None) -> Path:
    """Where the collections lie: `index_dir`, or the newest copy of `index_repo` when one is named.

    Without the hub the copy that was taken last serves. Raises BadIndex or ModelNotFound when there is none.
    """
    from huggingface_hub import HfApi

    repo = settings.index_repo
    if not repo:
        return settings.index_dir
    progress(f"index {repo}", 0, 1)
    try:
        with hub_errors(repo, "main", "dataset"):
            # A short question first: the download itself would wait minutes for a hub that is away.
            HfApi(endpoint=endpoint).dataset_info(repo, timeout=HUB_S)
            folder = _snapshot(settings, endpoint=endpoint)
        _collections(folder, repo)
    except OsragError as error:
        kept = kept_folder(settings)
        if kept is None:
            raise
        log.warning("%s; the copy of %s serves", error.sentence(), kept.name[:12])
        folder = kept
    progress(f"index {repo}", 1, 1)
    return folder


def kept_folder(settings: Settings) -> Path | None:
    """The copy of `index_repo` that was taken last; the hub is not asked. None when there is no whole one."""
    from huggingface_hub import errors

    if not settings.index_repo:
        return None
    try:
        folder = _snapshot(settings, local_files_only=True)
        _collections(folder, settings.index_repo)
    except (errors.LocalEntryNotFoundError, BadIndex):
        return None
    return folder


def _snapshot(settings: Settings, **how: Any) -> Path:
    """The data set in the cache, which the hub's client keeps by commit."""
    from huggingface_hub import snapshot_download

    cache = settings.cache_dir / "index"
    found = snapshot_download(
        settings.index_repo, repo_type="dataset", cache_dir=cache, allow_patterns=FILES, etag_timeout=HUB_S, **how
    )
    return Path(found)


def _collections(folder: Path, what: str) -> list[Manifest]:
    """The manifests of all collections in `folder`. Raises BadIndex when there is none or one lacks a file."""
    found = [read_manifest(path.parent) for path in sorted(folder.rglob(NAME))]
    if not found:
        raise BadIndex(f"{what} holds no collection", hint="python -m osrag push-index publishes one")
    return found


def push_index(folder: Path, repo: str, *, private: bool = False, endpoint: str | None = None) -> str:
    """Publish all collections in `folder` as the data set `repo` ("owner/name"); returns its address."""
    manifests = _collections(folder, f"{str(folder)!r}")
    return push_folder(
        folder,
        repo,
        "dataset",
        endpoint,
        message=f"osrag index: {', '.join(manifest.collection for manifest in manifests)}",
        private=private,
        card=_card(manifests),
        allow_patterns=FILES,
        delete_patterns=["*.parquet", "*.faiss", "*.npz"],  # what an earlier build left
    )


def push_folder(
    folder: Path,
    repo: str,
    kind: RepoKind,
    endpoint: str | None,
    *,
    message: str,
    private: bool | None = None,
    card: str = "",
    **files: Any,
) -> str:
    """Create or update the repository `repo` ("owner/name") of the hub from `folder`; returns its address.

    `card` replaces its README; `files` are the patterns of `HfApi.upload_folder`. The hub's own client does it,
    because plain git refuses binary files there. Raises BadInput for another form of name, BadSettings without
    the right to write.
    """
    from huggingface_hub import HfApi, errors

    if repo.count("/") != 1:
        raise BadInput(f"{repo!r} is no name of a {kind}", hint="write owner/name")
    api = HfApi(endpoint=endpoint)
    with hub_errors(repo, "main", kind):
        try:
            api.create_repo(
                repo,
                repo_type=kind,
                private=private,
                space_sdk="gradio" if kind == "space" else None,
                exist_ok=True,
            )
            if card:
                api.upload_file(path_or_fileobj=card.encode(), path_in_repo="README.md", repo_id=repo, repo_type=kind)
            done = api.upload_folder(repo_id=repo, repo_type=kind, folder_path=folder, commit_message=message, **files)
        except errors.HfHubHTTPError as error:
            if error.response is not None and error.response.status_code in {401, 403}:
                hint = "set HF_TOKEN to a token with write access"
                raise BadSettings(f"the hub refused to write to {repo}", hint=hint) from error
            raise
    return str(done.repo_url)


def _card(manifests: list[Manifest]) -> str:
    """The data set's card: what is in it, by which encoder, under which licence."""
    licence = "gpl-2.0" if any("GPL" in manifest.licence for manifest in manifests) else "other"
    head = f"---\nlicense: {licence}\ntags: [osrag, rag, operating-systems]\n---\n\n# A prebuilt osrag index\n\n"
    rows = [
        f"| {one.collection} | {one.counts.get('chunks', 0)} | {one.encoder.name} {one.encoder.revision[:12]} "
        f"| {one.licence or 'see its source'} | {one.source} |\n"
        for one in manifests
    ]
    table = "| collection | chunks | encoder | licence of the text | source |\n|---|---|---|---|---|\n" + "".join(rows)
    return f"{head}{table}\nUse it with `OSRAG_INDEX_REPO` set to this data set's name and the same encoder.\n"
