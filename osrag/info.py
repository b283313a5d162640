"""`info`: collections and sizes, models, profile, threshold."""

from typing import Any

from osrag import __version__
from osrag.errors import BadIndex
from osrag.index.manifest import read_manifest
from osrag.settings import Settings


def info(settings: Settings) -> dict[str, Any]:
    """What this osrag would run, read from files and settings only: nothing is loaded."""
    from osrag.models.load import describe

    return {
        "version": __version__,
        "profile": settings.profile,
        "effort": settings.effort,
        "threshold": settings.threshold,
        "models": describe(settings),
        "collections": collections(settings),
    }


def collections(settings: Settings) -> dict[str, Any]:
    """Each collection under the index folder: its counts, encoder and source, or why it cannot be read."""
    found: dict[str, Any] = {}
    if not settings.index_dir.is_dir():
        return found
    for folder in sorted(path for path in settings.index_dir.iterdir() if path.is_dir()):
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
    return found
