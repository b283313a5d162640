"""The order of textbook hits, as pure functions of arrays over the searched rows.

The weights were fixed on the development questions. What each rule is worth on other questions is in the table of
`python -m bench.ablation --area book`.
"""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

SURE_FIND = 5  # standard deviations above an arbitrary text: the cosine of a text that surely answers
SECTION_WEIGHT = 0.2  # of what the rest of its section says about the question
HEAD = 5  # places that nearly every student looks at: on different pages, one in the other language


def standardised(cosines: Floats) -> Floats:
    """(rows,) cosines of one language as distances from their mean; 1 is a sure find.

    e5 prefers text in the question's own language, so cosines of two languages do not compare. How far they are
    above what this question gets from an arbitrary text of the same language does.
    """
    spread = float(cosines.std()) if len(cosines) else 0.0
    return np.asarray((cosines - cosines.mean()) / (SURE_FIND * (spread or 1.0)), dtype=np.float32)


def with_section(scores: Floats, section: Rows) -> Floats:
    """(rows,) `scores` with a share of the mean of the other chunks of the same section, `section` being its number.

    The page that answers lies in a section that is about the question.
    """
    if not len(scores):
        return scores
    count = np.bincount(section)[section]
    total = np.bincount(section, weights=scores)[section]
    others = np.where(count > 1, (total - scores) / np.maximum(count - 1, 1), scores)
    return np.asarray(scores + SECTION_WEIGHT * others, dtype=np.float32)


def pages_apart(order: Rows, page: Rows) -> Rows:
    """`order` with different pages in the head: the next best of a page already there comes after them."""
    head = np.sort(np.unique(page[order], return_index=True)[1])[:HEAD]  # the first place of each page
    return np.concatenate([order[head], np.delete(order, head)])


def with_other_language(order: Rows, other: Mask) -> Rows:
    """`order` with the best row of the other language in the last place of the head, where none is in the head.

    The page that answers may be in the other language only, and no score tells for sure.
    """
    places = np.flatnonzero(other[order])
    if not len(places) or places[0] < HEAD or len(order) <= HEAD:
        return order
    return np.concatenate([order[: HEAD - 1], order[places[:1]], np.delete(order[HEAD - 1 :], places[0] - HEAD + 1)])


def taking_turns(order: Rows, second: Mask) -> Rows:
    """`order` with the rows of the `second` collection and those of the first in turn, the second's best in front."""
    of_second = second[order]
    place = np.where(of_second, np.cumsum(of_second), np.cumsum(~of_second))
    return order[np.lexsort((~of_second, place))]
