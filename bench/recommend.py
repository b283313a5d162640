"""Does the recommendation lead on? Questions on a chapter's sections in order; the next section is left out.

python -m bench.recommend: for each section of the course book but a chapter's first, one question of readers on each of
the up to ten sections before it in its chapter is the profile, and those sections are read. Printed: how often the left
out section is among the first two, how often the first one is of the same chapter, and the same at random.
"""

import json
from itertools import groupby
from random import Random

from osrag.app.parts import Parts
from osrag.settings import ROOT, load_settings
from osrag.study.recommend import Interest, Profile, recommend, section_of, sections_of
from osrag.text import folded, language_of

ASKS = ROOT / "examples" / "textbook" / "os-course.asks.jsonl"


def main() -> None:
    parts = Parts(load_settings(chat_backend="none"))
    collection = parts.textbook.collection
    asks = [json.loads(line) for line in ASKS.read_text(encoding="utf-8").splitlines()]
    for language in ("zh", "en"):
        sections = sections_of(collection, language)
        texts = [(section_of(one), folded(one.text)) for one in collection.searched() if one.language == language]
        questions: dict[str, list[str]] = {}
        for row in asks:
            own = [text for text in row["asks"] if language_of(text) == language]
            quotes = [folded(quote) for quote in row["quotes"]]
            number = next((number for number, text in texts if number and any(quote in text for quote in quotes)), "")
            questions.setdefault(number, []).extend(own)
        random, tried, second, same, chance, chance_same = Random(0), 0, 0, 0, 0.0, 0.0
        for _, group in groupby(sections.numbers, key=lambda number: number.split(".")[0]):
            chapter = [number for number in group if questions.get(number)]
            for place in range(1, len(chapter)):
                before = chapter[max(0, place - 10) : place]
                asked = [random.choice(questions[number]) for number in before]
                vectors = parts.textbook.encoder.queries(asked)
                signs = zip(asked, vectors, before, strict=True)
                profile = Profile(
                    tuple(Interest("asked", text, tuple(vector), (read,)) for text, vector, read in signs)
                )
                found = [one.number for one in recommend(profile, sections)]
                left = [number for number in sections.numbers if number not in before]
                tried += 1
                second += chapter[place] in found
                same += found[0].split(".")[0] == chapter[place].split(".")[0]
                chance += 2 / len(left)
                chance_same += sum(one.split(".")[0] == chapter[place].split(".")[0] for one in left) / len(left)
        print(
            f"{language}: {tried} profiles; the next among two {second / tried:.2f} (at random {chance / tried:.2f}); "
            f"first of the same chapter {same / tried:.2f} (at random {chance_same / tried:.2f})"
        )


if __name__ == "__main__":
    main()
