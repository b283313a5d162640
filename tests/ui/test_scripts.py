"""What the scripts of the page ask the server for, and its private events: counted, checked, else a sentence."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import httpx
import pytest

from osrag.ui import scripts
from osrag.ui.app import build, serve
from tests.generated import CODES, HOSTILE

FUNCTIONS = {
    "page_of", "reached_from", "lab_page", "lab_solve", "lab_read", "lab_read_on", "lab_exercise", "lab_grade",
    "lab_voices",
}  # fmt: skip
OTHER_TYPES = (None, "x", 5, True, [1, 2], [[[]]], {"a": 1})
FIELDS = tuple(scripts.Sent.__annotations__)
WRONG = (
    *(one for one in OTHER_TYPES if one != {"a": 1}),
    *({name: value} for name in FIELDS for value in ([5], {"a": {}}, 1e300)),
    *({name: text} for name in FIELDS for text in ("\ud800", "x" * 501)),
    {"values": {"refs": "\ud800"}},
    {"rows": [[1] * 201]},
    {"rows": [[{}]]},
    {"needs": [5]},
)


SENT = {"content-type": "application/json", "accept-language": "en"}


class Panel:
    """The lab of a page, whose server also has the functions of the evidence panel."""

    def __init__(self, address: str) -> None:
        self.web = httpx.Client(base_url=address, timeout=30, verify=False)
        components = self.web.get("config").json()["components"]
        (self.lab,) = (one for one in components if one["props"].get("elem_id") == "os-lab")

    def call(self, name: str, sent: object, session: str = "s", component: object = None) -> httpx.Response:
        body = {"session_hash": session, "component_id": component or self.lab["id"], "fn_name": name, "data": sent}
        return self.post(json.dumps(body))

    def post(self, body: str) -> httpx.Response:
        return self.web.post("gradio_api/component_server", content=body, headers=SENT)


@pytest.fixture
def panel(searching_address: str) -> Panel:
    return Panel(searching_address)


def test_each_function_of_the_page_is_told_a_wrong_argument_in_a_sentence(panel: Panel, caplog, capsys):
    names = set(panel.lab["props"]["server_fns"])
    assert names == FUNCTIONS
    refused = 0
    for name in sorted(names):
        for number, sent in enumerate(WRONG):
            reply = panel.call(name, sent, session=f"{name} {number}")
            assert reply.status_code == 200, (name, sent, reply.text)
            if "error" in (told := reply.json()):
                refused += 1
                assert told["title"] in CODES and told["error"], (name, sent)
    assert refused > 0.8 * len(names) * len(WRONG)
    assert not [record for record in caplog.records if record.exc_info]
    assert "Traceback" not in "".join(capsys.readouterr())


def test_a_hostile_text_in_any_field_gets_a_reply_or_a_sentence(panel: Panel, caplog):
    fields = {"lab_page": "kind", "lab_exercise": "level", "lab_voices": "kind", "page_of": "chunk", "lab_read": "text"}
    fields |= {"lab_grade": "answer", "reached_from": "name", "lab_read_on": "text"}
    cases = [(name, {field: text}) for name, field in fields.items() for text in HOSTILE]
    cases += [("lab_solve", {"kind": "lru", "values": {"frames": "3", "refs": text}}) for text in HOSTILE]
    for number, (name, sent) in enumerate(cases):
        reply = panel.call(name, sent, session=f"h{number}")
        assert reply.status_code == 200 and reply.json().get("title", "bad_argument") != "broken", (name, sent)
    assert not [record for record in caplog.records if record.exc_info]


def test_a_call_of_a_component_that_is_not_there_is_refused(panel: Panel, capsys):
    assert panel.call("lab_solve", {}, component=10**6).status_code == 422
    assert panel.call("__init__", {}).status_code == 404
    for body in ("{}", "[]", "x", "[" * 100_000, '{"session_hash": 5, "component_id": "a", "fn_name": 1, "data": 1}'):
        reply = panel.post(body)
        assert reply.status_code in (400, 422) and reply.json()["detail"], body[:20]
    assert "Traceback" not in "".join(capsys.readouterr())


def test_the_functions_have_a_rate_and_what_a_model_reads_counts_as_a_question(parts, monkeypatch):
    monkeypatch.setattr(scripts, "PER_MINUTE", 20)
    own = SimpleNamespace(**vars(parts))
    own.settings = parts.settings.model_copy(update={"port": None, "requests_per_minute": 2, "visitors_per_address": 2})
    page = build(own)
    serve(page, own.settings, own.metrics, block=False)
    panel = Panel(page.local_url)
    solved = [panel.call("lab_solve", {"kind": "lru"}).json() for _ in range(scripts.PER_MINUTE + 1)]
    assert "error" not in solved[-2] and solved[-1]["title"] == "too_often"
    assert "Please wait" in solved[-1]["error"] and solved[-1]["faults"] == {"": solved[-1]["error"]}
    read = [panel.call("lab_read_on", {"text": ""}, session=f"other {n // 2}").json().get("title") for n in range(5)]
    assert read == [None, None, None, None, "too_often"], "a visitor has two, an address as many as two visitors"
    page.close()


def test_what_waits_for_the_threads_of_the_page_is_bounded():
    threads = scripts.Threads("test", at_once=1, waiting=2)
    go_on = threading.Event()

    def slow(_sent):
        go_on.wait(20)
        return {"done": True}

    own = scripts.Scripts(scripts.RateLimit(100), 9)
    served = own.behind(slow, threads)

    async def sent_json():
        return {"session_hash": "s"}

    request = SimpleNamespace(
        headers={"content-type": "application/json", "accept-language": "en"},
        client=SimpleNamespace(host="192.0.2.1"),
        json=sent_json,
    )

    def one(_number: int) -> dict:
        return asyncio.run(served({}, request))

    with ThreadPoolExecutor(5) as pool:
        ends = [pool.submit(one, number) for number in range(5)]
        refused = [end.result() for end in ends if _ended(end, go_on)]
        assert [one["title"] for one in refused] == ["too_often"] * 2
        assert "2 requests are waiting already" in refused[0]["error"]
        go_on.set()
    assert sum("done" in end.result() for end in ends) == 3
    assert one(0) == {"done": True}, "a place is free again"


def _ended(end, go_on: threading.Event) -> bool:
    """Whether a call was refused at once; one that has a place waits."""
    try:
        end.result(timeout=1)
    except TimeoutError:
        return False
    assert not go_on.is_set()
    return True


def test_a_private_event_with_values_of_any_type_says_so_and_leaves_no_traceback(
    searching_page, panel: Panel, capsys, caplog
):
    tried = 0
    for number, fn in searching_page.fns.items():
        if fn.fn is None or fn.api_visibility != "private" or all(one.stateful for one in fn.inputs):
            continue  # a state never comes from outside
        for value in (*OTHER_TYPES, "\ud800"):
            told = event(panel.web, number, [value] * len(fn.inputs), queued=fn.queue)
            assert "Traceback" not in told and "Internal Server Error" not in told, (fn.name, value, told)
            tried += 1
    assert tried > 200
    assert "Traceback" not in "".join(capsys.readouterr())
    assert not [record for record in caplog.records if record.exc_info]


def event(web: httpx.Client, number: int, data: list, *, queued: bool) -> str:
    """The reply to an event of the page."""
    body = {"data": data, "fn_index": number, "session_hash": f"private {number}", "event_data": data[0]}
    sent = {"content": json.dumps(body), "headers": SENT}
    if not queued:
        return web.post("gradio_api/run/predict", **sent).text
    begun = web.post("gradio_api/queue/join", **sent)
    if begun.status_code != 200:
        return begun.text
    with web.stream("GET", "gradio_api/queue/data", params={"session_hash": f"private {number}"}) as stream:
        return next(line for line in stream.iter_lines() if "process_completed" in line)
