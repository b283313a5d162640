"""A part that is made on its first use, and made once even when two threads want it at the same time."""

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

T = TypeVar("T")
making = threading.RLock()  # one for all parts: a part that needs another makes it inside


class Once(Generic[T]):
    """Like `functools.cached_property`, which takes no lock from Python 3.12 on.

    The value lies in the instance's dictionary under the property's name: taking it out there,
    with `making` held, has the part made anew on its next use.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self._name = make.__name__
        self.__doc__ = make.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> T:
        held: dict[str, T] = owner.__dict__
        with making:
            if self._name not in held:
                held[self._name] = self._make(owner)
            return held[self._name]
