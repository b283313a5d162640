"""What a run or a search found as plain data, for the command line and the API."""

from dataclasses import asdict
from typing import Any

from osrag.answer.events import Event, Retrieved, event_name
from osrag.answer.view import passage_json
from osrag.book.search import SearchResult
from osrag.kernel.search import KernelResult
from osrag.types import Hit, Passage

HIT_FIELDS = (
    "chunk_id", "file_name", "section", "first_page", "last_page", "page_label", "first_line", "last_line", "score",
    "similarity", "text",
)  # fmt: skip


def event_json(event: Event, seconds: float) -> dict[str, Any]:
    """An event as one flat object: `type` (U7), `t` (seconds since the start of the run), then its fields."""
    value = asdict(event)
    source = value.pop("source", "")
    if isinstance(event, Retrieved):
        value["passages"] = [passage_json(passage, kernel_version=event.version) for passage in event.passages]
        if source == "textbook":
            for name in ("version", "path", "marked"):
                del value[name]
    return {"type": event_name(event), "t": round(seconds, 3), **value}


def search_json(result: SearchResult | KernelResult) -> dict[str, Any]:
    """A search as one object; that of the kernel lists its functions by file (K2)."""
    if isinstance(result, KernelResult):
        return result.to_dict()
    return {
        "query": result.query,
        "hits": [_hit_json(hit) for hit in result.hits],
        "confidence": round(result.confidence, 3),
        "timings_ms": {name: round(ms, 2) for name, ms in result.timings_ms.items()},
    }


def _hit_json(hit: Hit) -> dict[str, Any]:
    """A hit as a search shows it: a passage without a number."""
    told = passage_json(Passage(0, hit.chunk, hit.score, hit.similarity))
    return {name: told[name] for name in HIT_FIELDS}
