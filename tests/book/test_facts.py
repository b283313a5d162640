"""Facts that examiners ask for: read with their answers, found by an exercise with its options, and put to use."""

from pathlib import Path

from osrag.book.asks import ASKS, read_asks
from osrag.book.search import TextbookSearch
from osrag.index.collection import Collection
from osrag.index.manifest import read_manifest
from osrag.quiz.evidence import ProofFinder
from osrag.types import Chunk
from tests.book.documents import Documents
from tests.quiz.parts import item_of

BOOK = """# Processes

A process may be running, ready or blocked. Running to blocked is caused by the process, which asked for
something that takes time. Ready to running is caused by the scheduler. Which event ends the waiting differs.

# Deadlock

A deadlock needs a circular wait. The scheduler does not cause it.
"""
FACTS = """{"quotes": ["Running to blocked is caused by the process"], "facts": [["Which transition happens \
of its own accord?", "from executing to sleeping"]]}
{"quotes": ["Ready to running is caused by the scheduler"], "facts": [["Who picks the next one?", "the scheduler"]]}
"""
OTHERS = "".join(
    f'{{"quotes": ["A deadlock needs a circular wait"], "facts": [["{word}?", "{word} holds"]]}}\n'
    for word in ("Alpha", "Beta", "Gamma", "Delta", "Epsilon", "Zeta", "Eta", "Theta")
)
EXERCISE = {
    "id": "q1", "type": "single_choice", "question": "Which transition does a process make of its own accord?",
    "options": {"A": "ready to running", "B": "executing to sleeping"}, "answer": "B",
}  # fmt: skip


def search_of(root: Path, *files: str) -> TextbookSearch:
    shelf = Documents(root, root / "index")
    shelf.build(
        shelf.write("book.md", BOOK), *(shelf.write(f"own{n}.asks.jsonl", text) for n, text in enumerate(files))
    )
    book = Collection.load(shelf.index, shelf.encoder.id, of=Chunk)
    asks = ASKS.open(shelf.index, read_manifest(shelf.index), shelf.encoder.id)
    return TextbookSearch(book, shelf.encoder, asks=asks)


def test_a_row_asks_as_a_reader_or_as_an_examiner(tmp_path: Path) -> None:
    path = tmp_path / "own.asks.jsonl"
    path.write_text(FACTS + '{"quotes": ["x"]}\n{"quotes": ["x"], "facts": [["no answer"]]}\n', encoding="utf-8")
    file = read_asks(path)
    asked = next(ask for ask in file.rows if ask.text == "Who picks the next one?")
    assert asked.answer == "the scheduler"
    third, fourth = file.entry.warnings
    assert "neither asks nor facts" in third and "line 4: facts.0.1: field required" in fourth


def test_the_fact_is_nearest_whose_answer_an_option_names(tmp_path: Path) -> None:
    search = search_of(tmp_path, FACTS)
    assert search.asked is not None
    asked = search.encoder.queries(["Which transition is of its own accord? executing to sleeping", "Something else"])
    found = search.asked.nearest(asked, "en", k=5)
    assert found is not None and found.facts[0].answer == "from executing to sleeping"
    assert found.near[0] > 0 > found.near[1]
    assert search.asked.nearest(asked, "zh", k=5) is None


def test_the_sentence_that_states_the_fact_comes_first_though_it_has_other_words(tmp_path: Path) -> None:
    item = item_of(EXERCISE)
    with_facts = ProofFinder(search_of(tmp_path, FACTS, OTHERS)).find(item)
    assert with_facts.deciding(1)[0].text.startswith("Running to blocked")
    (tmp_path / "bare").mkdir()
    without = ProofFinder(search_of(tmp_path / "bare")).find(item)
    assert not without.deciding(1)[0].text.startswith("Running to blocked")


def test_of_a_list_of_statements_an_option_gets_its_own(tmp_path: Path) -> None:
    shelf = Documents(tmp_path, tmp_path / "index")
    asked = "running to blocked is caused by the waiting process itself"
    shelf.build(shelf.write("book.md", f"# States\n\nReady comes first; {asked}."))
    book = Collection.load(shelf.index, shelf.encoder.id, of=Chunk)
    proof = ProofFinder(TextbookSearch(book, shelf.encoder)).find(item_of(EXERCISE))
    assert proof.cited_part(asked) == f"{asked}. [1]"
    assert proof.cited_part("Something that the book does not speak of") == ""
