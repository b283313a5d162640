"""The endpoints as an MCP client and a script see them: whose conversation it is, and what an error says."""

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable

import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

from osrag.answer.events import Done, Failed, Token

TOOLS = {
    "chat", "ask_textbook", "ask_kernel", "search_textbook", "search_kernel", "judge", "explain", "set_threshold",
    "clear", "info", "solve", "exercise", "grade_trace", "definition", "callers", "callees", "keyword_search",
    "semantic_search", "get_page_content", "get_chunk_by_id", "add_material", "material", "remove_material",
}  # fmt: skip


class Tools:
    """One MCP client of its own."""

    def __init__(self, session: ClientSession) -> None:
        self._session = session

    async def names(self) -> set[str]:
        return {tool.name for tool in (await self._session.list_tools()).tools}

    async def call(self, tool: str, **arguments) -> dict:
        """The reply of a tool; an error of the tool is raised."""
        result = await self._session.call_tool(tool, arguments)
        text = "".join(part.text for part in result.content)
        if result.isError:
            raise RuntimeError(text)
        return json.loads(text)


def with_two_clients(address: str, test: Callable) -> None:
    async def run() -> None:
        url = f"{address}gradio_api/mcp/"
        async with (
            streamablehttp_client(url) as (read, write, _),
            streamablehttp_client(url) as (read_b, write_b, _),
            ClientSession(read, write) as a,
            ClientSession(read_b, write_b) as b,
        ):
            await a.initialize()
            await b.initialize()
            await test(Tools(a), Tools(b))

    asyncio.run(run())


def test_a_conversation_over_mcp_is_one_clients_own(address: str, script):
    script.events = [Token("textbook", "Yes."), Done("Yes.", (), "extracts")]

    async def test(a: Tools, b: Tools) -> None:
        assert await a.names() == TOOLS
        mine = (await a.call("chat", question="What is a semaphore?"))["conversation"]
        assert (await a.call("chat", question="And a mutex?", conversation=mine))["text"] == "Yes."
        theirs = (await b.call("chat", question="What is a page?"))["conversation"]
        assert theirs != mine
        assert (await a.call("info", conversation=mine))["messages"] == 4
        assert (await b.call("info", conversation=theirs))["messages"] == 2
        assert (await b.call("info"))["messages"] == 0
        assert (await a.call("clear", conversation=mine))["cleared"] == 4
        assert (await a.call("info", conversation=mine))["messages"] == 0
        assert (await b.call("info", conversation=theirs))["messages"] == 2

    with_two_clients(address, test)
    assert [[turn.question for turn in one.history] for one in script.requests] == [[], ["What is a semaphore?"], []]


def test_a_threshold_over_mcp_is_one_conversations_own(address: str, script):
    script.events = [Done("", (), "extracts")]

    async def test(a: Tools, b: Tools) -> None:
        mine = (await a.call("set_threshold", threshold=0.9))["conversation"]
        await a.call("chat", question="q", conversation=mine)
        await b.call("chat", question="q")
        assert (await a.call("info", conversation=mine))["threshold"] == 0.9
        assert (await b.call("info"))["threshold"] == 0.0

    with_two_clients(address, test)
    assert [one.threshold for one in script.requests] == [0.9, None]


def test_a_wrong_argument_over_mcp_gets_a_sentence_and_changes_nothing(address: str, script):
    async def test(a: Tools, b: Tools) -> None:
        with pytest.raises(RuntimeError, match="7 is greater than the maximum of 1"):
            await a.call("set_threshold", threshold=7)
        with pytest.raises(RuntimeError, match="no conversation 'none'"):
            await a.call("chat", question="q", conversation="none")
        with pytest.raises(RuntimeError, match="'slow' is not one of \\['fast', 'deep', 'tutor'\\]"):
            await a.call("chat", question="q", effort="slow")

    with_two_clients(address, test)
    assert script.requests == []


def test_a_script_has_one_conversation_without_naming_it(address: str, script):
    script.events = [Token("textbook", "Yes."), Done("Yes.", (), "extracts")]
    mine, other = Client(address, verbose=False), Client(address, verbose=False)
    kinds = [event["type"] for event in mine.submit("q", "fast", "both", api_name="/chat")]
    assert kinds == ["answer_chunk", "done"]
    mine.predict(0.5, api_name="/set_threshold")
    assert mine.predict(api_name="/info")["messages"] == 2
    assert other.predict(api_name="/info")["messages"] == 0
    assert other.predict(api_name="/info")["threshold"] == 0.0
    assert mine.predict(api_name="/clear")["cleared"] == 2
    assert mine.predict(api_name="/info")["messages"] == 0
    assert mine.predict(api_name="/info")["threshold"] == 0.5


def test_a_failed_run_is_no_turn(address: str, script):
    script.events = [Failed("the model died", "ask again")]
    client = Client(address, verbose=False)
    assert client.predict("q", api_name="/chat")["message"] == "the model died"
    assert client.predict(api_name="/info")["messages"] == 0


def test_a_file_over_mcp_is_its_clients_own_until_it_is_deleted(address: str):
    async def test(a: Tools, b: Tools) -> None:
        brought = await a.call("add_material", name="notes.md", content=b64encode(b"# Badgers\n\nThey dig.\n").decode())
        mine = brought["material"]
        assert [(one["name"], one["state"], one["pages"]) for one in brought["files"]] == [("notes.md", "ready", 1)]
        assert await b.call("material", material=mine) == brought, "who was told the name has the files"
        theirs = await b.call("add_material", name="old.doc", content=b64encode(b"\xd0\xcf\x11\xe0" * 9).decode())
        assert theirs["material"] != mine and theirs["files"][0]["why"] and theirs["files"][0]["says"]
        assert (await a.call("remove_material", material=mine)) == {"removed": ["notes.md"]}
        with pytest.raises(RuntimeError, match="there is no material"):
            await a.call("material", material=mine)

    with_two_clients(address, test)


def test_a_page_of_a_visitor_is_no_material_of_a_program(address: str, parts):
    parts.desks.open("a-session-of-a-page")
    with pytest.raises(AppError, match="there is no material 'a-session-of-a-page'"):
        Client(address, verbose=False).predict("a-session-of-a-page", api_name="/material")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("notes.md", "no base64!"), "the content is no base64"),
        (("../notes.md", ""), "name: String should match"),
        (("notes.md", "", "none"), "there is no material 'none'"),
    ],
)
def test_a_file_that_no_endpoint_takes_gets_a_sentence(address: str, arguments: tuple[str, ...], sentence: str):
    with pytest.raises(AppError, match=sentence):
        Client(address, verbose=False).predict(*arguments, api_name="/add_material")


def test_a_question_to_material_that_is_gone_is_refused(address: str, script):
    with pytest.raises(AppError, match="there is no material 'gone'"):
        Client(address, verbose=False).predict("q", material="gone", api_name="/chat")
    assert script.requests == []
