"""Documents in a folder and the index that is built of them, with an encoder that needs no weights."""

from collections.abc import Sequence
from pathlib import Path

from osrag.book.build import BuildOptions, BuildReport, build_textbook
from tests.fakes import FakeEncoder


class Documents:
    """A folder of documents with an index beside it."""

    def __init__(self, root: Path, index: Path) -> None:
        self.root = root
        self.index = index
        self.encoder = FakeEncoder()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.write_text(text, encoding="utf-8")
        return path

    def build(self, *files: Path, remove: Sequence[str] = (), **options: object) -> BuildReport:
        return build_textbook(
            self.index,
            files,
            self.encoder,
            cache_dir=self.root / "cache",
            remove=remove,
            options=BuildOptions(**options),  # type: ignore[arg-type]
        )
