"""Three replicas behind the shipped nginx.conf and one model server: visitors stay where they are, until it is gone."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx_sse import connect_sse

from tests.e2e.conftest import ROOT, free_port, need_weights, wait_for
from tests.large.faulty_server import Faulty, faulty

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
NAMES = ("app1", "app2", "app3")
QUESTION = "What is a critical section?"


@dataclass
class Replicas:
    url: str  # of nginx
    ports: dict[str, int]
    processes: dict[str, subprocess.Popen[bytes]]
    model: Faulty | None  # the one that fails by a script; None for another server

    def told(self, metric: str) -> dict[str, float]:
        """The sum of a metric by replica, of those that live."""
        told = {}
        for name in (name for name in NAMES if self.processes[name].poll() is None):
            text = httpx.get(f"http://127.0.0.1:{self.ports[name]}/metrics", trust_env=False).text
            told[name] = sum(map(float, re.findall(rf"^{re.escape(metric)} ([\d.e+]+)$", text, re.M)))
        return told

    def visitor(self, cookie: str = "") -> httpx.Client:
        cookies = {"osrag": cookie} if cookie else {}
        return httpx.Client(base_url=self.url, cookies=cookies, timeout=60, trust_env=False)

    def replica_of(self, client: httpx.Client, *, calls: int = 1) -> list[str]:
        """Which replicas see calls of a visitor."""
        metric = 'osrag_calls_total{endpoint="clear"}'
        before = self.told(metric)
        for _ in range(calls):
            begun = client.post("/gradio_api/call/v2/clear", json={}).raise_for_status().json()
            assert '"cleared": 0' in client.get(f"/gradio_api/call/clear/{begun['event_id']}").text
        return [name for name, count in self.told(metric).items() if count != before[name]]

    def cookie_to(self, name: str) -> str:
        """A cookie that leads to a replica."""
        for number in range(100):
            with self.visitor(f"visitor-{number}") as client:
                if self.replica_of(client) == [name]:
                    return client.cookies["osrag"]
        pytest.fail(f"no visitor of a hundred came to {name}")

    def kill(self, name: str) -> None:
        self.processes[name].kill()
        self.processes[name].wait()


def nginx_conf(ports: dict[str, int], port: int, folder: str) -> str:
    """The shipped file with other ports, and with folders that anybody may write to."""
    text = (ROOT / "deploy/nginx.conf").read_text("utf-8")
    for name, own in ports.items():
        text = text.replace(f"{name}:7860", f"127.0.0.1:{own}")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    paths = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    return text.replace("listen 80;", f"listen 127.0.0.1:{port};").replace(
        "http {", f"http {{ access_log off;\n{paths}", 1
    )


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Replicas]:
    if shutil.which("nginx") is None:
        pytest.skip("no nginx on this machine")
    need_weights()
    with running(tmp_path_factory.mktemp("replicas")) as found:
        yield found


@contextmanager
def running(folder: Path) -> Iterator[Replicas]:
    """Three replicas, the proxy, and a model server that streams a sentence once or without end."""
    with faulty("good") as model, served_by(folder, model.url, model.key, model.model) as (port, ports, processes):
        yield Replicas(f"http://127.0.0.1:{port}", ports, processes, model)


@contextmanager
def served_by(
    folder: Path, url: str, key: str, model: str, **more: str
) -> Iterator[tuple[int, dict[str, int], dict[str, subprocess.Popen[bytes]]]]:
    """Three replicas and the proxy before a model server: the port of the proxy, and those of the replicas."""
    ports, port = {name: free_port() for name in NAMES}, free_port()
    (folder / "nginx.conf").write_text(nginx_conf(ports, port, str(folder)), "utf-8")
    with ExitStack() as stack:
        env = {name: value for name, value in os.environ.items() if not name.startswith("OSRAG_")} | {
            "OSRAG_PROFILE": "endpoint",
            "OSRAG_ENDPOINT_URL": url,
            "OSRAG_ENDPOINT_KEY": key,
            **({"OSRAG_ENDPOINT_MODEL": model} if model else {}),
            "OSRAG_EFFORT": "fast",  # one call of the model: it writes without end
            "OSRAG_METRICS": "true",
            "OSRAG_PROXIES": "127.0.0.1",
            **more,
        }
        processes = {}
        for name, own in ports.items():
            out = stack.enter_context((folder / f"{name}.log").open("wb"))
            processes[name] = stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "app.py"], cwd=ROOT, env={**env, "OSRAG_PORT": str(own)}, stdout=out, stderr=out
                )
            )
            stack.callback(processes[name].kill)
        for name, own in ports.items():
            wait_for(f"http://127.0.0.1:{own}/readyz", processes[name], folder / f"{name}.log")
        told = f"daemon off; pid {folder}/pid; error_log {folder}/error.log;"
        command = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-g", told]
        proxy = stack.enter_context(subprocess.Popen(command))
        stack.callback(proxy.terminate)
        wait_for(f"http://127.0.0.1:{port}/", proxy, folder / "error.log")
        yield port, ports, processes


def chat(client: httpx.Client, question: str = QUESTION) -> Iterator[dict[str, object]]:
    """The events of an answer; RemoteProtocolError where the stream is cut."""
    begun = client.post("/gradio_api/call/v2/chat", json={"question": question, "source": "textbook"}).json()
    with connect_sse(client, "GET", f"/gradio_api/call/chat/{begun['event_id']}") as stream:
        for event in stream.iter_sse():
            if event.event == "generating":
                yield json.loads(event.data)[0]


def words(events: Iterator[dict[str, object]]) -> dict[str, object]:
    """The next event that brings words of the answer."""
    return next(event for event in events if event["type"] == "answer_chunk")


def test_a_visitor_stays_at_one_replica_and_visitors_are_spread(replicas: Replicas):
    served = []
    for _ in range(8):
        with replicas.visitor() as client:
            assert re.match(r"osrag=\w{32}; Path=/; HttpOnly", client.get("/").headers["set-cookie"])
            assert "set-cookie" not in client.get("/").headers
            served.append(replicas.replica_of(client, calls=3))
    assert all(len(names) == 1 for names in served)
    assert len({name for (name,) in served}) > 1


def test_probes_and_metrics_are_not_for_visitors(replicas: Replicas):
    with replicas.visitor() as client:
        assert {client.get(f"/{path}").status_code for path in ("metrics", "healthz", "readyz")} == {404}


def test_a_killed_replica_costs_its_running_answers_and_nothing_else(replicas: Replicas):
    cookies = replicas.cookie_to("app1"), replicas.cookie_to("app2")
    with replicas.visitor(cookies[0]) as one, replicas.visitor(cookies[1]) as two:
        replicas.model.script[:] = ["endless"]
        here, there = chat(one), chat(two)
        assert words(here) and words(there)
        replicas.kill("app1")
        with pytest.raises(httpx.RemoteProtocolError):
            list(here)
        assert words(there)
        replicas.model.script[:] = ["good"]
        *_, last = chat(one)
        assert last["type"] == "done" and "A process is a program in execution." in last["text"]


def test_a_page_says_that_its_replica_is_gone_and_goes_on_at_another(replicas: Replicas, browser):
    replicas.model.script[:] = ["endless"]
    context = browser.new_context()
    context.add_cookies([{"name": "osrag", "value": replicas.cookie_to("app2"), "url": replicas.url}])
    busy, idle = context.new_page(), context.new_page()
    for page in (busy, idle):
        page.goto(f"{replicas.url}/?lang=en")
    ask(busy)
    busy.locator(".message.bot").get_by_text("A process is").first.wait_for()
    replicas.kill("app2")
    busy.get_by_text("Connection to the server was lost").wait_for()
    replicas.model.script[:] = ["good"]
    busy.locator(".message.bot").wait_for(state="detached")  # the page begins anew
    for page in (busy, idle):
        ask(page)
        page.get_by_text("Written by the model").wait_for()
    context.close()


def ask(page: Any) -> None:
    page.locator("textarea").first.fill(QUESTION)
    page.keyboard.press("Enter")
