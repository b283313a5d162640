"""A filter on a stream of Markdown: the model's own code blocks are dropped, the server quotes the code (K4)."""

FENCE = "```"


class NoCode:
    """Feed pieces; `finish()` gives what was held back at the end."""

    def __init__(self) -> None:
        self._held = ""
        self._inside = False

    def feed(self, piece: str) -> str:
        self._held += piece
        out = []
        while (at := self._held.find(FENCE)) >= 0:
            if not self._inside:
                out.append(self._held[:at])
            self._held = self._held[at + len(FENCE) :]
            self._inside = not self._inside
        keep = len(self._held) - len(self._held.rstrip("`"))
        ready = self._held[: len(self._held) - keep]
        self._held = self._held[len(self._held) - keep :]
        if not self._inside:
            out.append(ready)
        return "".join(out)

    def finish(self) -> str:
        rest, self._held = ("" if self._inside else self._held), ""
        return rest
