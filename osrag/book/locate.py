"""Where the words of a chunk stand on their page, for the picture of the page.

The text of a chunk differs from the letters of its page: hyphens are repaired, bullets and the bars of a table are
added, running heads stand between, and a sentence may go on on the next page. So both sides are reduced to what they
share, and each sentence is looked for whole, then in pieces.
"""

from osrag.book.glyphs import BULLETS, readable
from osrag.text import sentences, squeeze

LEAST = 8  # characters after reduction; a shorter match would mark words by chance
HELD = 3  # a page that has less than one third of a sentence has words like it ("the resources"), not the sentence
_ADDED = str.maketrans("", "", f"-\u2010\u00ad|{BULLETS}")


def findable(text: str) -> str:
    """NFKC, lower case, without blanks and without the signs that reading adds or takes away."""
    return squeeze("".join(readable(char) for char in text)).translate(_ADDED)


def spans(page: str, passage: str) -> list[tuple[int, int]]:
    """Half-open spans of `page` that hold words of `passage`, in order. `page` is findable text."""
    found: list[tuple[int, int]] = []
    for line in passage.splitlines():
        for sentence in sentences(line):
            found += _of_one(page, findable(sentence))
    return _merged(found)


def _of_one(page: str, wanted: str) -> list[tuple[int, int]]:
    """Where a sentence stands: whole, else in pieces. A short one counts where the page has it only once."""
    at = page.find(wanted)
    if at >= 0 and (len(wanted) >= LEAST or (len(wanted) > 2 and page.count(wanted) == 1)):
        return [(at, at + len(wanted))]
    pieces = _in_pieces(page, wanted)
    return pieces if sum(end - start for start, end in pieces) >= len(wanted) / HELD else []


def _in_pieces(page: str, wanted: str) -> list[tuple[int, int]]:
    """Longest pieces first from the left: a sentence broken by a figure, a column or the end of the page."""
    found: list[tuple[int, int]] = []
    start = 0
    while start + LEAST <= len(wanted):
        at = page.find(wanted[start : start + LEAST])
        if at < 0:
            start += 1
            continue
        end = start + LEAST
        while end < len(wanted) and page.startswith(wanted[start : end + 1], at):
            end += 1
        if end - start >= 1.5 * LEAST:
            found.append((at, at + end - start))
        start = end
    return found


def _merged(found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out
