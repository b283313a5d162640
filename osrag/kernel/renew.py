"""All kernel collections embedded again for another encoder, as one folder that serves in the place of the old one.

Descriptions are in the index, so no kernel source is needed. Some 27,000 texts: a minute on a graphics
card, hours of a large encoder on a processor. So it is done by itself where a card or a server embeds, and by
a command elsewhere; the old index goes on serving by its own encoder.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from osrag.errors import BadIndex
from osrag.index.manifest import NAME, EncoderId, read_manifest
from osrag.index.renew import id_of, is_for, made_for, renew
from osrag.kernel.build import CHUNKS, FILES
from osrag.kernel.rows import embedded_text
from osrag.models.protocols import Encoder
from osrag.types import CodeChunk

Progress = Callable[[str, int, int], None]  # what, done, total


def collections(root: Path) -> list[Path]:
    """The folders of all kernel collections under `root`; a damaged one is the search's to speak of."""
    found = sorted(path.parent for part in (CHUNKS, FILES) for path in root.glob(f"*{part}/{NAME}"))
    return [folder for folder in found if _readable(folder)]


def _readable(folder: Path) -> bool:
    try:
        read_manifest(folder)
    except BadIndex:
        return False
    return True


def kernel_place(root: Path, encoder: EncoderId, cache_dir: Path) -> Path:
    """Where the copy of the kernel collections of `root` for `encoder` lies; another source is another place."""
    corpus = "\n".join(f"{folder.name} {read_manifest(folder).corpus_hash}" for folder in collections(root))
    digest = hashlib.sha256(corpus.encode()).hexdigest()[:12]
    return cache_dir / "index" / "renewed" / f"kernel-{digest}-{made_for(encoder)}"


def fitting_kernel(root: Path, encoder: EncoderId, cache_dir: Path) -> Path | None:
    """`root`, or its whole copy, when all its collections are by `encoder`; None else, and where there are none."""
    folders = collections(root)
    if not folders:
        return None
    if all(read_manifest(folder).encoder == encoder for folder in folders):
        return root
    place = kernel_place(root, encoder, cache_dir)
    return place if all(is_for(place / folder.name, encoder) for folder in folders) else None


def renew_kernel(root: Path, encoder: Encoder, *, cache_dir: Path, progress: Progress) -> Path:
    """Make the copy for `encoder`; returns its folder. Takes up where a killed one stopped."""
    running = id_of(encoder)
    found = fitting_kernel(root, running, cache_dir)
    if found is not None:
        return found
    place = kernel_place(root, running, cache_dir)
    for folder in collections(root):
        renew(
            folder,
            encoder,
            of=CodeChunk,
            text=embedded_text,
            cache_dir=cache_dir,
            progress=partial(progress, f"embed {folder.name}"),
            place=place / folder.name,
        )
    return place


def renew_kernel_as_one(root: Path, encoder: Encoder, *, cache_dir: Path, progress: Callable[[int, int], None]) -> Path:
    """`renew_kernel` with one count of progress, done and total, over all collections."""
    place = kernel_place(root, id_of(encoder), cache_dir)
    left = [folder for folder in collections(root) if not is_for(place / folder.name, id_of(encoder))]
    total = sum(read_manifest(folder).counts["searchable"] for folder in left)
    counts: dict[str, int] = {}

    def tell(what: str, done: int, _: int) -> None:
        counts[what] = done
        progress(sum(counts.values()), total)

    progress(0, total)
    return renew_kernel(root, encoder, cache_dir=cache_dir, progress=tell)
