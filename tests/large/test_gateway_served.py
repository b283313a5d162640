"""The gateway in front of a served model: a local server that fails, and llama.cpp's own that works."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import BaseModel, Field

from osrag.errors import ModelFailed
from osrag.models import load
from osrag.models.gateway import ChatGateway
from osrag.models.load import load_chat_with_fallback
from osrag.models.protocols import ChatOptions, Message, complete
from osrag.models.served import OtherModel, ServedChat, WrongKey, connect
from osrag.models.store import Store
from osrag.models.structured import ask, weigh
from osrag.models.usage import UsageMeter
from osrag.settings import Settings
from tests.large.faulty_server import WORDS, Faulty, faulty

ASK = [Message("user", "what is a process?")]
ANSWER = "".join(WORDS)


def settings(server: Faulty, **more: Any) -> Settings:
    values = {"endpoint_url": server.url, "endpoint_key": server.key, "endpoint_model": server.model, **more}
    return Settings(profile="endpoint", _env_file=None, **values)


def chat(server: Faulty, meter: UsageMeter) -> ServedChat:
    gateway = ChatGateway(4, meter, base_s=0.01)
    return ServedChat(connect(settings(server)), server.model, gateway, context_tokens=4096)


@pytest.mark.parametrize("way", ["429", "500", "502", "503", "broken json"])
def test_a_passing_failure_is_tried_twice_more(way: str):
    meter = UsageMeter()
    with faulty(way, way, "good") as server:
        assert complete(chat(server, meter), ASK, ChatOptions(purpose="t")) == ANSWER
        assert server.calls == 3
    assert meter.totals()["t"]["retry"] == 2


def test_the_third_failure_is_the_last():
    meter = UsageMeter()
    with faulty("503") as server:
        with pytest.raises(ModelFailed, match="503"):
            complete(chat(server, meter), ASK, ChatOptions(purpose="t"))
        assert server.calls == 3
    assert meter.totals()["t"]["gave_up"] == 1


@pytest.mark.parametrize("way", ["cut", "error event"])
def test_a_reply_that_was_begun_is_not_begun_again(way: str):
    with faulty(way, "good") as server:
        with pytest.raises(ModelFailed):
            complete(chat(server, UsageMeter()), ASK, ChatOptions())
        assert server.calls == 1


def test_a_server_that_lies_is_not_asked_again():
    with faulty("lies") as server:
        with pytest.raises(OtherModel):
            complete(chat(server, UsageMeter()), ASK, ChatOptions())
        assert server.calls == 1


def test_the_profile_endpoint_loads_chat_and_encoder(tmp_path: Path):
    with faulty("good") as server:
        chosen = settings(server, endpoint_embedding_model="bge-m3", cache_dir=tmp_path)
        model = load.load_chat(chosen)
        assert model is not None and complete(model, ASK, ChatOptions()) == ANSWER
        assert load.load_encoder(chosen).queries(["x"]).shape == (1, 8)


def test_a_wrong_key_steps_down_with_the_remedy(monkeypatch: pytest.MonkeyPatch):
    with faulty("good") as server:
        wrong = settings(server, endpoint_key="sk-wrong-wrong-wrong")
        with pytest.raises(WrongKey):
            load.load_chat(wrong)
        small, real = object(), load.load_chat

        def load_one(chosen: Settings, progress: Any, usage: Any) -> Any:
            return real(chosen, progress, usage) if chosen.profile == "endpoint" else small

        monkeypatch.setattr(load, "load_chat", load_one)
        model, notices = load_chat_with_fallback(wrong, lambda *_: None)
    assert model is small
    assert "OSRAG_ENDPOINT_KEY" in notices[0].reason and "sk-wrong" not in notices[0].reason


# -- llama.cpp's own server --------------------------------------------------------------------------


@contextmanager
def llama(what: str) -> Iterator[Settings]:
    pytest.importorskip("xllamacpp")
    weights = Store(Settings(_env_file=None)).present("chat")
    if weights is None:
        pytest.skip("the chat weights are not here: python -m osrag fetch")
    script = Path(__file__).with_name("llama_server.py")
    command = [sys.executable, "-P", str(script), str(weights), "local-key-1", what]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    try:
        address = json.loads(process.stdout.readline())["address"]
        yield Settings(
            profile="endpoint",
            endpoint_url=f"{address}/v1",
            endpoint_key="local-key-1",
            _env_file=None,  # type: ignore[arg-type]
        )
    finally:
        process.stdin.close()
        process.kill()
        process.wait(10)


class Verdict(BaseModel, extra="forbid"):
    answer: str = Field(max_length=40)
    correct: bool


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_llama_cpp_s_own_server_streams_counts_and_keeps_to_a_schema():
    meter = UsageMeter()
    with llama("chat") as chosen:
        model = load.load_chat(chosen, usage=meter)
        assert model is not None and model.name
        pieces = list(model.stream([Message("user", "Name one CPU register.")], ChatOptions(max_tokens=6, purpose="t")))
        assert len([piece for piece in pieces if piece]) > 3
        call = meter.last()[0]
        assert call.prompt_tokens > 5 and 0 < call.generated <= 6 and call.ended in {"length", "done"}
        question = [Message("user", "Is a mutex a lock? Reply as JSON with answer and correct.")]
        verdict = ask(model, question, Verdict, ChatOptions(max_tokens=40, temperature=0))
        assert isinstance(verdict.correct, bool)
        asked = [Message("user", "Is a mutex a lock? Reply Yes or No.")]
        assert weigh(model, asked, ("Yes", "No"), ChatOptions())[0] > 0.6
        stream = model.stream(ASK, ChatOptions(max_tokens=400))
        while not next(stream):
            pass
        start = time.monotonic()
        stream.close()
        assert time.monotonic() - start < 1
        with pytest.raises(WrongKey):
            load.load_chat(chosen.model_copy(update={"endpoint_key": type(chosen.endpoint_key)("other-key")}))


@pytest.mark.slow
@pytest.mark.timeout(400)
def test_llama_cpp_s_own_server_embeds(tmp_path: Path):
    with llama("embed") as chosen:
        chosen = chosen.model_copy(update={"endpoint_embedding_model": "local-model", "cache_dir": tmp_path})
        encoder = load.load_encoder(chosen)
        # One text a call: a chat model in embedding mode lets the texts of one batch see each other.
        texts = ["the scheduler picks a task", "调度器选择任务", "the scheduler picks a task"]
        rows = np.concatenate([encoder.passages([text]) for text in texts])
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
        assert rows[0] @ rows[2] > 0.999 > rows[0] @ rows[1]
