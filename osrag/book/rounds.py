"""Search at either effort: `fast` is one query, `deep` lets the model add its own (T1, T2)."""

import time

from osrag.answer.plan import plan_by_model
from osrag.book.search import SearchResult, TextbookSearch
from osrag.errors import ModelFailed
from osrag.models.protocols import ChatModel
from osrag.text import language_of


def find(search: TextbookSearch, question: str, *, k: int, chat: ChatModel | None = None) -> SearchResult:
    """The `k` best chunks. With `chat`, the model's queries are searched beside the question."""
    start = time.perf_counter()
    first = search.search(question, k=k)
    if chat is None:
        return first
    try:
        queries = plan_by_model(question, (), chat).queries
    except ModelFailed:
        return first
    planned = time.perf_counter()
    reader = language_of(question)  # the model asks in the other language too
    results = [first, *(search.search(query, k=k, reader=reader) for query in queries if query != question)]
    timings = {
        "suggest": 1000 * (planned - start),
        **{name: sum(result.timings_ms[name] for result in results) for name in ("embed", "search")},
        "total": 1000 * (time.perf_counter() - start),
    }
    return SearchResult(question, search.merge(question, results, k=k), max(r.confidence for r in results), timings)
