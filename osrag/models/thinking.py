"""Takes the thoughts out of a reply: `<think>…</think>` at its head is not for the student."""

OPEN, CLOSE = "<think>", "</think>"


class WithoutThinking:
    """Fed piece by piece; gives back what may be shown so far."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "head"  # "head", "inside", "after", "open"

    def feed(self, piece: str) -> str:
        if self._state == "open":
            return piece
        self._held += piece
        if self._state == "head":
            start = self._held.lstrip()
            if start.startswith(OPEN):
                self._state, self._held = "inside", start[len(OPEN) :]
            elif OPEN.startswith(start):
                return ""  # may become a tag
            else:
                self._state = "open"
                return self._release()
        if self._state == "inside":
            if CLOSE not in self._held:
                self._held = self._held[-len(CLOSE) :]  # a tag may be cut in two
                return ""
            self._state, self._held = "after", self._held.split(CLOSE, 1)[1]
        self._held = self._held.lstrip()
        if self._held:
            self._state = "open"
        return self._release()

    def flush(self) -> str:
        """What was held back when the reply ended. An unfinished thought stays hidden."""
        return self._release() if self._state == "head" else ""

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held
