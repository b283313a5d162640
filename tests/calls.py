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
    with httpx.Client(base_url=base, timeout=TIMEOUT_S, verify=False) as web:  # no certificates to load
        begun = web.post(path, content=json.dumps(body), headers=sent).raise_for_status()
        told = web.get(f"call/{endpoint}/{begun.json()['event_id']}", headers=headers).text
    last = told.strip().split("\n\n")[-1]
    event, data = (line.partition(": ")[2] for line in last.split("\n")[:2])
    return event, json.loads(data)[0] if event == "complete" else json.loads(data)
