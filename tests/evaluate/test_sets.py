"""Rows of the sets that have no other tests: labelled claims, prepared answers, the choice of a source."""

from osrag.evaluate.figures import plain
from osrag.evaluate.prepared import Pair, Read, fits_of, rows


def pair(question: str, *, same: bool) -> Pair:
    return Pair(id="deadlock", question=question, language="en", same=same, how="story", set="dev")


def test_precision_counts_what_was_read_of_other_answers():
    found = {"same words": "deadlock", "near miss": "deadlock", "other, fits": "starvation", "other, new": "livelock"}
    pairs = [
        pair("same words", same=True),
        pair("silent", same=True),
        pair("near miss", same=False),
        pair("other, fits", same=False),
        pair("other, new", same=False),
    ]
    fits = fits_of([Read(question="other, fits", language="en", id="starvation", fits=True)])
    figures = plain(rows(pairs, lambda text, language: found.get(text), fits))["all"]
    assert figures == {"n": 5, "precision": 0.6667, "not_judged": 0.25, "recall": 0.5, "trapped": 0.3333}
