"""The endpoints over plain HTTP, as a program without Gradio's client sees them."""

import json
from collections.abc import Iterator

import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AppError
from httpx_sse import connect_sse

from osrag.answer.events import Done, Failed, Token


def sse(address: str, endpoint: str, **arguments) -> Iterator[tuple[str, dict]]:
    """The events of one call: their names and their data."""
    with httpx.Client(base_url=address, timeout=30) as client:
        begun = client.post(f"gradio_api/call/v2/{endpoint}", json=arguments)
        begun.raise_for_status()
        with connect_sse(client, "GET", f"gradio_api/call/{endpoint}/{begun.json()['event_id']}") as events:
            yield from ((event.event, json.loads(event.data)) for event in events.iter_sse())


def test_every_argument_says_what_it_means_and_how_far_it_goes(address: str):
    told = httpx.get(f"{address}gradio_api/info").json()["named_endpoints"]
    arguments = {f"{name}.{one['parameter_name']}": one for name, api in told.items() for one in api["parameters"]}
    assert all(one["type"]["description"] for one in arguments.values())
    assert all(api["description"] for api in told.values())
    k, level = arguments["/search_textbook.k"]["type"], arguments["/exercise.level"]["type"]
    assert (k["type"], k["minimum"], k["maximum"]) == ("integer", 1, 20)
    assert level["enum"] == ["easy", "medium", "hard"]
    assert arguments["/search_kernel.question"]["type"]["maxLength"] == 4000
    assert arguments["/judge.question"]["type"]["properties"]["type"]["enum"][0] == "single_choice"
    # what stands on a second line of the docstring is told as well
    assert "all but the question itself may be left out" in arguments["/judge.question"]["type"]["description"]
    assert arguments["/set_threshold.threshold"]["python_type"]["type"] == "float"


def test_a_reply_streams_over_plain_http(address: str, script):
    script.events = [Token("textbook", "A "), Token("textbook", "lock."), Done("A lock.", (), "extracts")]
    events = list(sse(address, "chat", question="What is a mutex?"))
    assert [name for name, _ in events] == ["generating", "generating", "generating", "complete"]
    assert [data[0]["type"] for _, data in events[:3]] == ["answer_chunk", "answer_chunk", "done"]
    conversation = events[-2][1][0]["conversation"]
    list(sse(address, "chat", question="And a semaphore?", conversation=conversation))
    ((_, (told,)),) = sse(address, "info", conversation=conversation)
    assert told["messages"] == 4


def test_an_error_has_a_code_and_a_sentence(address: str, script):
    ((name, error),) = sse(address, "chat", question="q", effort="slow")
    assert name == "error" and error["title"] == "bad_argument"
    assert error["error"] == "effort: Input should be 'fast', 'deep' or 'tutor', got 'slow'"
    script.events = [Failed("the model died", "ask again")]
    *_, (name, (last,)) = ((name, data) for name, data in sse(address, "chat", question="q") if data)
    assert (last["type"], last["message"], last["hint"]) == ("error", "the model died", "ask again")
    with pytest.raises(AppError) as caught:
        Client(address, verbose=False).predict("nothing", 5, api_name="/set_threshold")
    assert caught.value.title == "bad_argument" and caught.value.message.startswith("threshold: Input should be")


@pytest.mark.parametrize(
    ("endpoint", "arguments", "words"),
    [
        ("chat", {}, "question"),
        ("chat", {"question": "q", "temperature": 2}, "temperature"),
        ("no_such_endpoint", {}, "no_such_endpoint"),
    ],
)
def test_a_call_that_no_endpoint_takes_is_refused_in_words(address: str, capsys, endpoint, arguments, words):
    refused = httpx.post(f"{address}gradio_api/call/v2/{endpoint}", json=arguments)
    assert refused.status_code == 422 and words in refused.json()["detail"]
    assert "Traceback" not in "".join(capsys.readouterr())
