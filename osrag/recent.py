"""The latest results of a search (H5)."""

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Recent(Generic[V]):
    """Keeps the `size` values that were used last. Safe to use from several threads."""

    def __init__(self, size: int = 512) -> None:
        self._size = size
        self._values: OrderedDict[Hashable, V] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> V | None:
        """The value of `key`, None when it is not kept."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def put(self, key: Hashable, value: V) -> None:
        """Keep a value; the one that was not used for longest makes room."""
        with self._lock:
            self._values[key] = value
            self._values.move_to_end(key)
            if len(self._values) > self._size:
                self._values.popitem(last=False)

    def of(self, keys: Sequence[K], make: Callable[[list[K]], Iterable[V]]) -> list[V]:
        """The values of `keys`; those that are not kept are made in one call, each once, and kept."""
        found = {key: value for key in keys if (value := self.get(key)) is not None}
        new = [key for key in dict.fromkeys(keys) if key not in found]
        for key, value in zip(new, make(new) if new else (), strict=True):
            found[key] = value
            self.put(key, value)
        return [found[key] for key in keys]
