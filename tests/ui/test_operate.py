"""Probes, metrics and the end in order, as an operator's machines see them."""

import errno
import threading
from types import SimpleNamespace

import httpx
import pytest
from gradio_client import Client

from osrag.answer.events import Done, Failed, SourceDone, Token
from osrag.app.metrics import Metrics, counted
from osrag.models.usage import Call, UsageMeter
from osrag.types import Stage
from osrag.ui.app import build, serve
from osrag.ui.guard import UPLOADS_PER_MINUTE
from tests.calls import called

STAGES = (Stage("search", 0.2),)


def value(metrics: Metrics, name: str, **labels: str) -> float | None:
    return metrics.registry.get_sample_value(name, labels)


def test_runs_are_counted_by_how_they_ended():
    usage = UsageMeter()
    parts = SimpleNamespace(metrics=Metrics(usage))
    whole = [SourceDone("textbook", "", (), "generated", STAGES, unsupported=2), Done("Yes.", STAGES, "generated")]

    @counted
    def run(parts, events):
        yield from events

    assert list(run(parts, whole)) == whole
    list(run(parts, [Failed("the model died", "")]))
    left = run(parts, [Token("textbook", "Yes")])
    next(left)
    left.close()
    usage.record(Call("answer", prompt_tokens_new=30, generated=7, ended="done"))
    told = {how: value(parts.metrics, "osrag_questions_total", how=how) for how in ("generated", "failed", "left")}
    assert told == {"generated": 1, "failed": 1, "left": 1}
    assert value(parts.metrics, "osrag_stage_seconds_sum", stage="search") == 0.2
    assert value(parts.metrics, "osrag_marked_claims_total") == 2
    assert value(parts.metrics, "osrag_model_total", purpose="answer", what="generated") == 7


@pytest.fixture
def operated(parts):
    """A page of its own that tells its metrics."""
    own = SimpleNamespace(**vars(parts))
    own.settings = parts.settings.model_copy(
        update={"port": None, "metrics": True, "hosts": ("os.example.edu",), "searches_per_minute": 2}
        | {"visitors_per_address": 1}
    )
    own.metrics = Metrics()
    page = build(own)
    yield page, serve(page, own.settings, own.metrics, block=False)
    page.close()


def test_probes_answer_by_any_name_and_metrics_without_a_word(operated):
    page, _ = operated
    probe = {"host": "10.1.2.3:7860"}
    assert httpx.get(f"{page.local_url}healthz", headers=probe).text == "alive"
    assert httpx.get(f"{page.local_url}readyz", headers=probe).text == "ready"
    for _ in range(4):
        called(page.local_url, "clear", "student's words")
    told = httpx.get(f"{page.local_url}metrics", headers=probe).text
    assert 'osrag_refused_requests_total{why="too_often"} 2.0' in told
    assert "process_resident_memory_bytes" in told and 'osrag_waiting{line="model"} 0.0' in told
    assert "words" not in told


def test_uploads_that_are_refused_are_counted_by_why(operated, monkeypatch: pytest.MonkeyPatch):
    page, operation = operated

    def upload(data: bytes) -> int:
        files = {"files": ("a.json", data)}
        return httpx.post(f"{page.local_url}gradio_api/upload", files=files, timeout=60).status_code

    assert upload(b"x" * 101_000_000) == 413
    assert [upload(b"{}") for _ in range(UPLOADS_PER_MINUTE + 2)][-2:] == [429, 429]

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("osrag.ui.guard.RateLimit.wait_s", lambda *_: 0.0)
    monkeypatch.setattr("gradio.route_utils.GradioUploadFile.__init__", full)
    assert upload(b"{}") == 507
    reasons = ("too_large", "too_often", "uploads_full")
    assert [value(operation.metrics, "osrag_refused_requests_total", why=why) for why in reasons] == [1, 2, 1]


def test_metrics_are_not_told_unless_the_operator_wants_it(address: str):
    assert httpx.get(f"{address}healthz").status_code == 200
    assert "osrag_" not in httpx.get(f"{address}metrics").text


def test_a_page_that_stops_ends_what_it_has_and_takes_no_more(operated, monkeypatch: pytest.MonkeyPatch):
    page, operation = operated
    going, go_on = threading.Event(), threading.Event()

    def slow(_parts, _question):
        going.set()
        go_on.wait(20)
        yield Done("The whole answer.", (), "extracts")

    monkeypatch.setattr("osrag.ui.api.answer", slow)
    job = Client(page.local_url, verbose=False, headers={"host": "localhost"}).submit("q", api_name="/chat")
    assert going.wait(20)
    stop = threading.Thread(target=operation.stop, args=(20,))
    stop.start()
    while httpx.get(f"{page.local_url}readyz").status_code != 503:
        pass
    late = httpx.post(
        f"{page.local_url}gradio_api/call/ask_textbook", json={"data": ["q"]}, headers={"accept-language": "en"}
    )
    assert late.status_code == 429 and "restarting" in late.json()["detail"]
    assert httpx.get(f"{page.local_url}healthz").text == "alive"
    go_on.set()
    assert job.result(timeout=20)["text"] == "The whole answer."
    stop.join(20)
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{page.local_url}healthz")


def test_a_session_keeps_what_belongs_to_its_visitor_and_no_copy_of_the_page(operated):
    page, _ = operated
    client = Client(page.local_url, verbose=False, headers={"host": "localhost"})
    client.predict(api_name="/info")
    session = page.state_holder.session_data[client.session_hash]
    assert session.config_values == {}
    session[next(key for key, one in page.blocks.items() if one.stateful)] = "mine"
    assert "mine" in session.state_data.values()
