"""Every error a user can cause or must hear of.

`str(error)` says what was seen and where; `hint` says what to do next. The
interface shows both and no traceback; the log has the rest.
"""

from typing import Literal


class OsragError(Exception):
    """Base of all errors that osrag raises on purpose."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def sentence(self) -> str:
        """Message and hint on one line, for a terminal or a page."""
        return f"{self} ({self.hint})" if self.hint else str(self)


class BadSettings(OsragError):
    """A setting is unknown or out of range."""


class BadInput(OsragError):
    """What a student or script passed in cannot be used as it is."""


DocumentFault = Literal["bad", "damaged", "password", "kind", "old_office", "empty", "large", "pages", "heavy"]


class BadDocument(OsragError):
    """A document cannot be read: encrypted, truncated, empty, a scan, another format.

    `fault` says which, for a page that tells it in the visitor's language; "bad" for all others.
    """

    def __init__(self, message: str, *, hint: str = "", fault: DocumentFault = "bad") -> None:
        super().__init__(message, hint=hint)
        self.fault: DocumentFault = fault


class BadIndex(OsragError):
    """An index is missing, damaged, or was made by another encoder."""


class MissingExtra(OsragError):
    """An optional part is asked for whose packages are not installed."""


class ModelNotFound(OsragError):
    """No source has the weights, or the index that is published on the hub."""


class BadWeights(OsragError):
    """Weights are there but are not the ones that were asked for."""


class ModelFailed(OsragError):
    """A model died, timed out or answered something unusable.

    `transient` says that the same call may succeed a moment later, `retry_after_s` how long the
    server asked to wait before it.
    """

    def __init__(
        self, message: str, *, hint: str = "", transient: bool = False, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.transient = transient
        self.retry_after_s = retry_after_s


class ModelBusy(OsragError):
    """Every slot is taken and the wait has passed its limit."""


class NoSpace(OsragError):
    """The disk is full."""
