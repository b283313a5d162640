"""The served model against a local server that fails in the ways real ones do."""

import time
from pathlib import Path

import numpy as np
import pytest

from osrag.errors import BadInput, BadSettings, ModelFailed, ModelNotFound
from osrag.models import gateway
from osrag.models.openai_http import BadStatus
from osrag.models.protocols import ChatOptions, Message, complete
from osrag.models.served import (
    OtherModel,
    ServedChat,
    ServedEncoder,
    ServerRefused,
    WrongKey,
    check_model,
    connect,
    load_served_chat,
    same_model,
    served_failure,
    served_request,
)
from osrag.models.usage import UsageMeter
from osrag.settings import Settings
from tests.large.faulty_server import WORDS, Faulty, faulty

ASK = [Message("user", "what is a process?")]
ANSWER = "".join(WORDS)


def settings(server: Faulty, **more: object) -> Settings:
    values = {"endpoint_url": server.url, "endpoint_key": server.key, "endpoint_model": server.model, **more}
    return Settings(profile="endpoint", _env_file=None, **values)


def chat(server: Faulty, usage: UsageMeter | None = None) -> ServedChat:
    return load_served_chat(settings(server), usage or UsageMeter())


def test_a_good_server_streams_and_its_usage_is_counted():
    meter = UsageMeter()
    with faulty("good") as server:
        assert complete(chat(server, meter), ASK, ChatOptions(purpose="t")) == ANSWER
    call = meter.last()[0]
    assert (call.prompt_tokens_new, call.prompt_tokens_cached, call.generated, call.ended) == (12, 8, 5, "done")
    assert call.first_token_s is not None


def test_a_thought_is_not_shown():
    with faulty("thinks") as server:
        assert complete(chat(server), ASK, ChatOptions()) == ANSWER


@pytest.mark.parametrize("status", ["429", "500", "502", "503"])
def test_a_passing_failure_says_so_and_names_its_status(status: str):
    with faulty(status) as server, pytest.raises(ServerRefused) as caught:
        complete(chat(server), ASK, ChatOptions())
    assert caught.value.transient and caught.value.status == int(status)
    assert caught.value.hint and server.key not in caught.value.sentence()
    assert (caught.value.retry_after_s == 0.05) == (status == "429")


@pytest.mark.parametrize("way", ["cut", "broken json", "error event"])
def test_a_reply_that_breaks_off_raises_and_keeps_what_came(way: str):
    meter = UsageMeter()
    with faulty(way) as server:
        stream = chat(server, meter).stream(ASK, ChatOptions())
        got: list[str] = []
        with pytest.raises(ModelFailed):
            got.extend(stream)
    assert ANSWER.startswith("".join(got))
    assert meter.last()[0].ended == "failed"


@pytest.mark.parametrize(("way", "word"), [("never", "first token"), ("silent", "silent")])
def test_every_wait_has_a_deadline(way: str, word: str, monkeypatch: pytest.MonkeyPatch):
    with faulty(way) as server:
        start = time.monotonic()
        model = chat(server)
        model_stream = model.stream(ASK, ChatOptions(first_token_s=0.3 if way == "never" else 20.0))
        if way == "silent":
            monkeypatch.setattr(gateway, "STALL_S", 0.3)
        with pytest.raises(ModelFailed, match=word):
            list(model_stream)
        assert time.monotonic() - start < 20
        assert server.hung_up.wait(20)  # and the server was told


def test_a_reader_who_leaves_hangs_up_at_once():
    with faulty("endless") as server:
        stream = chat(server).stream(ASK, ChatOptions())
        while not next(stream):
            pass
        stream.close()
        assert server.hung_up.wait(20)


def test_a_reader_who_leaves_before_the_first_token_hangs_up_too():
    with faulty("never") as server:
        stream = chat(server).stream(ASK, ChatOptions())
        assert next(stream) == ""
        stream.close()
        assert server.hung_up.wait(20)


def test_a_server_that_lies_about_its_model_is_refused():
    with faulty("lies") as server, pytest.raises(OtherModel, match="tiny-cheap-model") as caught:
        complete(chat(server), ASK, ChatOptions())
    assert "OSRAG_ENDPOINT_MODEL" in caught.value.hint


def test_a_wrong_key_is_found_at_the_start():
    with faulty("good") as server, pytest.raises(WrongKey) as caught:
        check_model(connect(settings(server, endpoint_key="sk-other")), "big-model")
    assert not caught.value.transient and "OSRAG_ENDPOINT_KEY" in caught.value.hint
    assert "sk-other" not in caught.value.sentence()


def test_a_model_that_is_not_served_names_those_that_are():
    with faulty("good") as server:
        connection = connect(settings(server))
        with pytest.raises(ModelNotFound, match="big-model"):
            check_model(connection, "bigger-model")
        assert check_model(connection, "") == "big-model"


def test_no_server_and_no_address():
    connection = connect(Settings(endpoint_url="http://127.0.0.1:9/v1", _env_file=None))
    with pytest.raises(ServerRefused, match="cannot be reached"):
        check_model(connection, "x")
    for url in ("", "localhost:8000", "ftp://x"):
        with pytest.raises(BadSettings, match="OSRAG_ENDPOINT_URL"):
            connect(Settings(endpoint_url=url, _env_file=None))


@pytest.mark.parametrize("name", ["max_tokens", "stream_options", "response_format", "chat_template_kwargs"])
def test_a_parameter_that_the_server_does_not_know_is_left_out_from_then_on(name: str):
    with faulty(f"no {name}") as server:
        model = chat(server)
        options = ChatOptions(schema={"type": "object"})
        assert complete(model, ASK, options) == ANSWER
        assert complete(model, ASK, options) == ANSWER
        assert server.calls == 3
        assert name not in server.bodies[-1]
        assert model.abilities.constrained == (name != "response_format")


def test_the_request_holds_schema_and_limits():
    options = ChatOptions(max_tokens=7, schema={"type": "object"}, seed=3)
    body = served_request("m", ASK, options)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert (body["model"], body["max_tokens"], body["seed"], body["stream"]) == ("m", 7, 3, True)
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


def test_too_long_a_prompt_is_the_asker_s():
    error = served_failure("u", BadStatus(400, {"message": "maximum context length is 4096 tokens"}))
    assert isinstance(error, BadInput)


@pytest.mark.parametrize(
    ("asked", "answered", "same"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("Qwen/Qwen3-8B", "qwen3-8b", True),
        ("m.gguf", "/models/m.gguf", True),
        ("big", "", True),
        ("big", "small", False),
    ],
)
def test_names_of_one_model(asked: str, answered: str, same: bool):
    assert same_model(asked, answered) == same


# -- embeddings -------------------------------------------------------------------------------------


def encoder(server: Faulty, meter: UsageMeter | None = None, timeout_s: float = 20.0) -> ServedEncoder:
    return ServedEncoder(connect(settings(server)), "bge-m3", meter or UsageMeter(), timeout_s=timeout_s, base_s=0.01)


def test_embeddings_are_tried_three_times_more_and_keep_their_order():
    meter = UsageMeter()
    with faulty("good", "429", "500", "503", "good") as server:
        model = encoder(server, meter)
        rows = model.passages(["x" * (n % 5) for n in range(160)])
        assert server.calls == 9  # the probe, three failures, five batches
        assert np.array_equal(rows[3], model.passages(["xxx"] * 4)[3])
    assert meter.totals()["embedding"]["retry"] == 3


def test_a_fourth_failure_of_the_encoder_is_told():
    with faulty("good", "503") as server:
        model = encoder(server)
        with pytest.raises(ServerRefused, match="503"):
            model.queries(["a"])
        assert server.calls == 5


def test_an_encoder_that_hangs_is_left():
    with faulty("good", "never") as server:
        model = encoder(server, timeout_s=0.2)
        start = time.monotonic()
        with pytest.raises(ModelFailed, match="did not answer in time"):
            model.queries(["a"])
        assert time.monotonic() - start < 20


def test_embeddings_are_unit_rows_in_order():
    with faulty("good") as server:
        model = encoder(server)
        texts = ["x" * (n % 9) for n in range(70)]  # three requests, an empty text among them
        rows = model.passages(texts)
        assert rows.shape == (70, 8) and rows.dtype == np.float32
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
        assert np.array_equal(rows[3], model.passages(["xxx"])[0])
        assert model.queries([]).shape == (0, 8)


@pytest.mark.parametrize(("way", "kind"), [("lies", OtherModel), ("too few", ModelFailed), ("other dim", ModelFailed)])
def test_embeddings_of_a_server_that_lies(way: str, kind: type[Exception]):
    with faulty("good", way) as server:
        model = encoder(server)
        with pytest.raises(kind):
            model.passages(["a", "b"])


def test_a_model_that_was_swapped_behind_its_name_is_noticed(tmp_path: Path):
    with faulty("good", "good", "other vectors") as server:
        encoder(server).check_probe(tmp_path)
        encoder(server).check_probe(tmp_path)
        with pytest.raises(OtherModel, match="other vectors"):
            encoder(server).check_probe(tmp_path)
