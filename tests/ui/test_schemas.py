"""What a client reads of the endpoints: limits and words for every argument, and what each reply holds."""

import asyncio
import re
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

from osrag.lab.catalog import KINDS
from osrag.settings import ROOT
from osrag.ui.replies import REPLIES
from tests.calls import called_with
from tests.generated import valid_calls

Schema = dict[str, Any]
BLANKS = {"question": "A semaphore has ___ and ___.", "answer": ["wait", "signal"]}
PROGRAM = {"question": "Write a program that forks.", "type": "programming", "reference": "fork();"}


def endpoints(address: str) -> dict[str, Schema]:
    return httpx.get(f"{address}gradio_api/info").json()["named_endpoints"]


def tools(address: str) -> dict[str, Schema]:
    async def listed() -> dict[str, Schema]:
        async with (
            streamablehttp_client(f"{address}gradio_api/mcp/") as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return {tool.name: tool.inputSchema for tool in (await session.list_tools()).tools}

    return asyncio.run(listed())


def without_limit(schema: Schema, where: str) -> Iterator[str]:
    """The places in a schema where a caller reads no limit."""
    if "enum" in schema or "const" in schema:
        return
    for one in schema.get("anyOf", ()):
        yield from without_limit(one, where)
    match schema.get("type"):
        case "string" if "maxLength" not in schema:
            yield f"{where}: a text of any length"
        case "integer" | "number" if "minimum" not in schema or "maximum" not in schema:
            yield f"{where}: a number of any size"
        case "array":
            if "maxItems" not in schema:
                yield f"{where}: a list of any length"
            yield from without_limit(schema.get("items", {}), f"{where}[]")
        case "object":
            if "maxProperties" not in schema and "properties" not in schema:
                yield f"{where}: an object of any size"
            for name, one in schema.get("properties", {}).items():
                yield from without_limit(one, f"{where}.{name}")
                if not one.get("description"):
                    yield f"{where}.{name}: no description"


def test_every_argument_of_every_endpoint_has_a_limit_and_a_description(address: str):
    found = endpoints(address)
    assert len(found) == len(REPLIES) == 23
    arguments = {
        f"{name}.{one['parameter_name']}": one["type"] for name, api in found.items() for one in api["parameters"]
    }
    assert len(arguments) > 60
    assert [line for where, schema in arguments.items() for line in without_limit(schema, where)] == []
    assert [where for where, schema in arguments.items() if not schema.get("description")] == []


def test_every_argument_of_every_mcp_tool_has_a_limit_and_a_description(address: str):
    found = tools(address)
    assert set(found) == set(REPLIES)
    assert [line for name, schema in found.items() for line in without_limit(schema, name)] == []


def test_the_kinds_of_exercise_stand_in_the_schema(address: str):
    for name, names in (("exercise", [*KINDS]), ("grade_trace", [*KINDS]), ("solve", ["", *KINDS])):
        parameters = {one["parameter_name"]: one["type"] for one in endpoints(address)[f"/{name}"]["parameters"]}
        assert parameters["type"]["enum"] == names


@pytest.mark.parametrize(
    ("endpoint", "arguments", "words"),
    [
        (
            "grade_trace",
            {"type": "lru", "parameters": {}, "rows": [[]] * 20_001},
            "rows: List should have at most 20000",
        ),
        (
            "grade_trace",
            {"type": "lru", "parameters": {}, "rows": [["1"] * 201]},
            "rows.0: List should have at most 200",
        ),
        (
            "solve",
            {"type": "lru", "parameters": {f"p{n}": 1 for n in range(61)}},
            "parameters: Dictionary should have at",
        ),
        ("get_page_content", {"file": "en.pdf", "page": 10**7}, "page: Input should be less than or equal to 1000000"),
    ],
)
def test_a_limit_that_the_schema_names_holds(address: str, endpoint: str, arguments: Schema, words: str):
    event, told = called_with(address, endpoint, **arguments)
    assert (event, told["title"]) == ("error", "bad_argument") and told["error"].startswith(words)


def strict(schema: Any) -> Any:
    """The schema without room for a field that it does not name; Gradio cannot read that, so it is not served so."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: strict(one) for name, one in schema.items()}
    closed = isinstance(schema.get("required"), list) and "additionalProperties" not in schema
    return {**inner, "additionalProperties": False} if closed else inner


def test_every_reply_is_what_its_schema_says(searching_address: str):
    valid = valid_calls(searching_address, "en#1", "en.pdf")
    extra = [
        ("keyword_search", {"query": "schedule", "source": "kernel"}),
        ("semantic_search", {"query": "schedule", "source": "kernel"}),
        ("get_chunk_by_id", {"chunk_id": "kernel/sched/core.c:6-12"}),
        ("callers", {"name": "fair_pick"}),
        ("ask_textbook", {"question": "What is a semaphore?"}),
        ("ask_kernel", {"question": "What does try_to_wake_up() do?"}),
        ("judge", {"question": BLANKS, "student_answer": "wait; signal"}),
        ("judge", {"question": PROGRAM, "student_answer": "int main(void) { return 0; }"}),
        ("judge", {"question": {"question": "Which?", "options": ["a", "b"], "answer": "A"}, "student_answer": "B"}),
        (
            "judge",
            {"question": {"question": "A lock is a key.", "type": "true_false", "answer": "F"}, "student_answer": "F"},
        ),
        ("solve", {"type": "lru", "parameters": {"frames": 0}}),
        ("solve", {"text": "Tell me about ferrets."}),
        ("grade_trace", {"type": "lru", "parameters": {}, "rows": []}),
        *(("exercise", {"type": kind}) for kind in KINDS),
    ]
    for name, arguments in (*extra, *valid.items()):
        event, told = called_with(searching_address, name, **arguments)
        assert event == "complete", (name, told)
        jsonschema.validate(told, strict(REPLIES[name]))


def test_a_client_is_told_what_a_reply_holds(address: str):
    found = endpoints(address)
    for name, schema in REPLIES.items():
        (reply,) = found[f"/{name}"]["returns"]
        assert reply["type"] == schema
    assert "score" in found["/search_textbook"]["returns"][0]["python_type"]["type"]


def test_openapi_has_every_endpoint_with_its_arguments_and_its_reply(address: str):
    told = httpx.get(f"{address}gradio_api/openapi.json").json()
    assert told["openapi"].startswith("3.")
    for name in REPLIES:
        post = told["paths"][f"/gradio_api/call/v2/{name}"]["post"]
        sent = post["requestBody"]["content"]["application/json"]["schema"]["properties"]
        assert set(sent) == {one["parameter_name"] for one in endpoints(address)[f"/{name}"]["parameters"]}
        assert all(one.get("description") for one in sent.values()), name
        assert (post["summary"] and "properties" in post["description"]) or "anyOf" in post["description"]
        assert f"/gradio_api/call/{name}/{{event_id}}" in told["paths"]


def test_the_page_for_programs_names_the_fields_of_every_reply():
    page = (ROOT / "docs/api.md").read_text("utf-8").partition("## The replies")[2].partition("\n## ")[0]
    named: dict[str, set[str]] = {}
    for endpoints_of, fields in re.findall(r"^\| (`.+?) \| (.+) \|$", page, re.M):
        for name in re.findall(r"`(\w+)`", endpoints_of):
            named[name] = set(re.findall(r"`\w+`\??", fields))
    for name, schema in REPLIES.items():
        shapes = schema.get("anyOf", [schema])
        told = {f"`{field}`{'' if field in one['required'] else '?'}" for one in shapes for field in one["properties"]}
        assert named[name] == told, name
