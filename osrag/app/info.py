"""`info`: collections and sizes, models, profile, threshold."""

from pathlib import Path
from typing import Any

from osrag import __version__
from osrag.book.answers import ANSWERS
from osrag.book.asks import ASKS
from osrag.errors import BadIndex, MissingExtra
from osrag.index.manifest import read_manifest
from osrag.models.load import chat_backend, needed, resolve_profile
from osrag.models.sources import HubModel
from osrag.models.store import Store
from osrag.settings import Settings


def info(settings: Settings, index_dir: Path | None = None) -> dict[str, Any]:
    """What this osrag would run, read from files and settings only: nothing is loaded.

    `index_dir` is the folder of all collections where it is another than that of the settings.
    """
    return {
        "version": __version__,
        "profile": settings.profile,
        "effort": settings.effort,
        "threshold": settings.threshold,
        "models": models(settings),
        "collections": collections(index_dir or settings.index_dir),
    }


def models(settings: Settings) -> dict[str, Any]:
    """Each model of the profile: its file or why there is none; `present` says whether it is here, checked.

    No path is told: a visitor has no use for it, and Gradio's client takes a `path` for a file to fetch.
    """
    try:
        profile, wanted = resolve_profile(settings), needed(settings)
    except MissingExtra as error:
        return {"error": error.sentence()}
    store = Store(settings)
    found: dict[str, Any] = {"profile": profile, "chat_backend": chat_backend(settings)}
    for what in wanted:
        name, file = (what.title, what.repo) if isinstance(what, HubModel) else (what, store.weights(what).file)
        found[name] = {"file": file, "present": store.present(what) is not None}
    return found


def collections(index_dir: Path) -> dict[str, Any]:
    """Each collection in a folder: its counts, encoder and source, or why it cannot be read."""
    found: dict[str, Any] = {}
    if not index_dir.is_dir():
        return found
    for folder in sorted(path for path in index_dir.iterdir() if path.is_dir()):
        try:
            manifest = read_manifest(folder)
        except BadIndex as error:
            found[folder.name] = {"error": error.sentence()}
            continue
        found[folder.name] = {
            **manifest.counts,
            "documents": len(manifest.documents),
            "encoder": manifest.encoder.name,
            "source": manifest.source,
            "licence": manifest.licence,
        }
        for name, kind in (("readers_questions", ASKS), ("prepared_answers", ANSWERS)):
            beside = kind.manifest(folder)
            if beside is not None and beside.bound_to == manifest.corpus_hash:
                found[folder.name][name] = beside.counts["bound"]
    return found
