"""Vectors in Qdrant, for replicas that share them: no process holds them itself."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from osrag.errors import BadIndex, MissingExtra
from osrag.index.dense import DenseIndex, Rows
from osrag.models.protocols import Vectors

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

log = logging.getLogger(__name__)
TIMEOUT_S = 30
BATCH = 512  # vectors of one request


def connect(where: str, key: str = "") -> "QdrantClient":
    """A client for the server at an URL; for a folder, or `:memory:`, that this process has to itself.

    Raises MissingExtra.
    """
    try:
        from qdrant_client import QdrantClient
    except ImportError as error:
        raise MissingExtra(
            "the package of Qdrant's client is not installed", hint="pip install -r requirements-qdrant.txt"
        ) from error
    if "://" in where or where == ":memory:":
        return QdrantClient(where, api_key=key or None, timeout=TIMEOUT_S, check_compatibility=False)
    return QdrantClient(path=where)


class QdrantIndex:
    """The vectors of one file, as DenseIndex has them: the scores are inner products, row i is point i.

    A server searches a large collection approximately; a folder is searched row by row.
    """

    def __init__(self, client: "QdrantClient", name: str, dim: int, count: int) -> None:
        self._client = client
        self._name = name
        self.dim = dim
        self._count = count

    @classmethod
    def load(cls, client: "QdrantClient", path: Path) -> "QdrantIndex":
        """The vectors of an index file, which go to Qdrant if they are not there yet.

        The name of the file tells its content, so that replicas find what the first of them brought. Of those that
        start at the same time several bring the same rows, which are then there once.
        """
        from qdrant_client.http.exceptions import ApiException
        from qdrant_client.models import Distance, VectorParams

        name = f"osrag-{path.stem}"
        with _told(name):
            held = DenseIndex.load(path)
            if not client.collection_exists(name):
                try:
                    client.create_collection(name, VectorParams(size=held.dim, distance=Distance.DOT))
                except (ApiException, ValueError):  # of a server and of a folder, where it exists
                    if not client.collection_exists(name):
                        raise
                    log.info("another replica made %s meanwhile", name)
            if client.count(name).count < len(held):
                log.info("%d vectors go to Qdrant as %s", len(held), name)
                client.upload_collection(name, held.vectors(), ids=range(len(held)), batch_size=BATCH, wait=True)
        return cls(client, name, held.dim, len(held))

    def __len__(self) -> int:
        return self._count

    def nearest(self, query: Vectors, k: int) -> tuple[Rows, npt.NDArray[np.float32]]:
        """The rows of the `k` vectors nearest to `query` (dim,), and their cosines; best first."""
        with _told(self._name):
            found = self._client.query_points(self._name, query.tolist(), limit=k, with_payload=False).points
        return np.array([one.id for one in found], np.int64), np.array([one.score for one in found], np.float32)

    def rows(self, rows: Rows) -> Vectors:
        """(len(rows), dim) float32: some rows."""
        with _told(self._name):
            found = self._client.retrieve(self._name, rows.tolist(), with_payload=False, with_vectors=True)
        by_row = {one.id: one.vector for one in found}
        return np.array([by_row[row] for row in rows.tolist()], np.float32).reshape(len(rows), self.dim)

    def vectors(self) -> Vectors:
        """All rows: (rows, dim) float32."""
        return self.rows(np.arange(self._count))


@contextmanager
def _told(name: str) -> Iterator[None]:
    """What Qdrant answers, or that it does not, as a sentence."""
    from qdrant_client.http.exceptions import ApiException

    try:
        yield
    except ApiException as error:
        told = str(error).partition("\n")[0][:200]
        raise BadIndex(f"Qdrant does not serve {name}: {told}", hint="see OSRAG_QDRANT_URL") from error
