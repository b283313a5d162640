"""One call of an endpoint over plain HTTP, as docs/api.md tells it: a POST, then a GET that streams the reply."""

import json
from collections.abc import Mapping
from typing import Any

import httpx

TIMEOUT_S = 60.0


def called(
    address: str, endpoint: str, *data: Any, session: str | None = None, headers: Mapping[str, str] | None = None
) -> tuple[str, Any]:
    """("complete", the last value), or ("error", the error); arguments by their place."""
    body = {"data": data, **({"session_hash": session} if session else {})}
    return reply(address, f"call/{endpoint}", body, endpoint, headers or {})


def called_with(address: str, endpoint: str, **arguments: Any) -> tuple[str, Any]:
    """The same with arguments by their name."""
    return reply(address, f"call/v2/{endpoint}", arguments, endpoint, {})


def reply(address: str, path: str, body: Any, endpoint: str, headers: Mapping[str, str]) -> tuple[str, Any]:
    base, sent = f"{address}gradio_api/", {"content-type": "application/json", **headers}
    begun = httpx.post(f"{base}{path}", content=json.dumps(body), headers=sent, timeout=TIMEOUT_S)
    begun.raise_for_status()
    told = httpx.get(f"{base}call/{endpoint}/{begun.json()['event_id']}", headers=headers, timeout=TIMEOUT_S).text
    last = told.strip().split("\n\n")[-1]
    event, data = (line.partition(": ")[2] for line in last.split("\n")[:2])
    return event, json.loads(data)[0] if event == "complete" else json.loads(data)
