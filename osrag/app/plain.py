"""What a run or a search found as plain data, for the command line and the API."""

from dataclasses import asdict
from typing import Any

from osrag.answer.events import Event, Retrieved, event_name
from osrag.answer.view import passage_json
from osrag.book.search import SearchResult
from osrag.kernel.search import KernelResult
from osrag.types import Hit, PageRef


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
    where = hit.chunk.where
    pages = where if isinstance(where, PageRef) else None
    lines = None if isinstance(where, PageRef) else where
    return {
        "chunk_id": hit.chunk.id,
        "file_name": hit.chunk.source,
        "section": hit.chunk.section_path,
        "first_page": pages.first if pages else None,
        "last_page": pages.last if pages else None,
        "page_label": pages.label if pages else None,
        "first_line": lines.first if lines else None,
        "last_line": lines.last if lines else None,
        "score": round(hit.score, 4),
        "similarity": round(hit.similarity, 4),
        "text": hit.chunk.text,
    }
