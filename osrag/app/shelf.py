"""By which encoder a source can be searched (C6): the running one, else the one that made its index, else keywords."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from osrag.index.manifest import id_of
from osrag.index.renew import Copies, Renewal
from osrag.models.protocols import Encoder
from osrag.types import Language, SourceName
from osrag.wording import say

FITTED_ON = "multilingual-e5-small"  # the encoder whose cosines all thresholds and grades were fitted on
RENEW = "python -m osrag renew"

How = Literal["fits", "old_index", "no_encoder"]


@dataclass(frozen=True, slots=True)
class Serving:
    """The folder that serves now, and the encoder that searches it."""

    how: How
    folder: Path
    encoder: Encoder  # of the vectors in `folder`; with `no_encoder` the running one, which cannot search them


def own_folder(folder: Path) -> Path:
    """The textbook collection inside the folder of all collections, or the folder itself."""
    own = folder / "textbook"
    return own if own.is_dir() else folder


def serving(copies: Copies, encoder: Encoder, checker: Encoder) -> Serving:
    """The index or a copy of it by the running encoder, else by the checker."""
    encoders: tuple[tuple[How, Encoder], ...] = (("fits", encoder), ("old_index", checker))
    for how, one in encoders:
        folder = copies.fitting(id_of(one))
        if folder is not None:
            return Serving(how, folder, one)
    return Serving("no_encoder", copies.root, encoder)


@dataclass(frozen=True, slots=True)
class Stale:
    """An index of another encoder, how it serves, and the renewal that will replace it."""

    source: SourceName
    how: How
    made_by: str  # name of the encoder
    renewal: Renewal | None  # None where nothing runs in the background

    def lines(self, language: Language) -> list[str]:
        """For the page: nothing once the new index has taken over."""
        new = self.renewal
        if new is not None and new.finished:
            return []
        lines = [say(f"notice_{self.source}_{self.how}", language, made=self.made_by)]
        if new is None:
            return lines
        if new.error:
            return [*lines, say(f"notice_{self.source}_renew_failed", language, reason=new.error)]
        told = {"done": new.done, "total": new.total, "percent": 100 * new.done // max(1, new.total)}
        return [*lines, say(f"notice_{self.source}_renewing", language, **told)]
