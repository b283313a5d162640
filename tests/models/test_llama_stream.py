"""The chat model against a scripted engine on a socket file: no weights, no port."""

import json
import socket
import socketserver
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from osrag.errors import BadInput, ModelBusy, ModelFailed
from osrag.models import gateway, llama_cpp
from osrag.models.llama_cpp import EngineConfig, LlamaCpp, engine_failure, engine_request
from osrag.models.openai_http import HttpServer
from osrag.models.protocols import ChatOptions, Message, complete
from osrag.models.usage import UsageMeter

ASK = [Message("system", "Be brief."), Message("user", "What is a lock?")]
TIMINGS = {"prompt_n": 7, "cache_n": 30, "predicted_n": 3}


def piece(text: str, finish: str | None = None) -> bytes:
    event = {"choices": [{"delta": {"content": text}, "finish_reason": finish}], "timings": TIMINGS}
    return b"data: " + json.dumps(event).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
Script = Callable[["Handler"], None]


class Handler(BaseHTTPRequestHandler):
    """Answers every request by the script of its server."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.keys.append(self.headers["Authorization"])
        if self.path.startswith("/slots"):
            self.server.slot(self, body["filename"])
        else:
            self.server.script(self)

    def reply(self, status: int, value: object) -> None:
        self.begin(status)
        self.say(json.dumps(value).encode())
        self.end()

    def begin(self, status: int = 200) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/event-stream" if status == 200 else "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def say(self, *lines: bytes) -> None:
        for line in lines:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()

    def end(self) -> None:
        self.wfile.write(b"0\r\n\r\n")

    def address_string(self) -> str:
        return "local"

    def log_message(self, *_: object) -> None: ...


class Engine(socketserver.ThreadingUnixStreamServer):
    """Stands in for a LlamaProcess."""

    daemon_threads = True

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder / "s"), Handler)
        self.slot_folder = folder
        self.server = HttpServer("http://localhost", "k", engine_failure, socket_file=str(folder / "s"))
        self.keys: list[str] = []
        self.posted: list[str] = []  # what was done to slots
        self.killed = False
        self.over = threading.Event()  # the test has ended
        self.refuses = "nothing"  # paths with this in them
        self.script: Script = lambda handler: None
        threading.Thread(target=self.serve_forever, args=(0.02,), daemon=True).start()

    def slot(self, handler: Handler, filename: str) -> None:
        self.posted.append(handler.path)
        if self.refuses in handler.path:
            handler.reply(400, {"error": {"message": "bad file"}})
            return
        if handler.path.endswith("save"):
            (self.slot_folder / filename).write_text("read")
        else:
            assert (self.slot_folder / filename).read_text() == "read"
        handler.reply(200, {})

    def alive(self) -> bool:
        return not self.killed

    def kill(self) -> None:
        self.killed = True

    def wait(self, timeout_s: float) -> None: ...

    def close(self) -> None: ...


@pytest.fixture
def engine() -> Iterator[Engine]:
    # Not tmp_path: the path of a socket may have 107 characters.
    with tempfile.TemporaryDirectory() as folder:
        server = Engine(Path(folder))
        yield server
        server.over.set()
        server.shutdown()
        server.server_close()


@pytest.fixture
def starts(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> list[EngineConfig]:
    """Every start of an engine, which is the scripted one."""
    seen: list[EngineConfig] = []

    def start(config: EngineConfig) -> Engine:
        seen.append(config)
        engine.killed = False
        if config.prefixes:
            config.prefixes.mkdir(exist_ok=True)
            engine.slot_folder = config.prefixes
        return engine

    monkeypatch.setattr(llama_cpp, "LlamaProcess", start)
    monkeypatch.setattr(gateway, "BEAT_S", 0.02)
    return seen


def model(meter: UsageMeter | None = None, slots: int = 2) -> LlamaCpp:
    config = EngineConfig(model=Path(__file__), context_tokens=4096, slots=slots, threads=2)
    return LlamaCpp(config, meter or UsageMeter())


def said(source: Iterator[str]) -> list[str]:
    return [text for text in source if text]


def test_a_request_holds_what_was_asked() -> None:
    options = ChatOptions(max_tokens=9, temperature=0.0, seed=3, schema={"type": "object"})
    body = engine_request(ASK, options, slot=1)
    assert body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert (body["max_tokens"], body["temperature"], body["seed"], body["id_slot"]) == (9, 0.0, 3, 1)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert body["cache_prompt"] and body["stream"]
    plain = engine_request(ASK, ChatOptions(), slot=0)
    assert not {"response_format", "seed", "lora", "logprobs"} & set(plain)


def test_the_adapter_is_awake_for_a_call_that_asks_for_it_only() -> None:
    assert engine_request(ASK, ChatOptions(adapter=True), slot=0)["lora"] == [{"id": 0, "scale": 1.0}]


def test_pieces_come_one_by_one_and_are_counted(engine: Engine, starts: list[EngineConfig]) -> None:
    def script(handler: Handler) -> None:
        handler.begin()
        handler.say(piece("A "), b": a comment\n\n", piece("lock"), piece("", "stop"), DONE)
        handler.end()

    engine.script = script
    meter = UsageMeter()
    chat = model(meter)
    assert said(chat.stream(ASK, ChatOptions(purpose="test"))) == ["A ", "lock"]
    call = meter.last()[0]
    assert (call.purpose, call.prompt_tokens_new, call.prompt_tokens_cached, call.generated) == ("test", 7, 30, 3)
    assert call.ended == "done" and call.first_token_s is not None
    assert engine.keys == ["Bearer k"]


def test_a_wait_beats(engine: Engine, starts: list[EngineConfig]) -> None:
    go_on = threading.Event()

    def script(handler: Handler) -> None:
        go_on.wait(60)
        handler.begin()
        handler.say(piece("late", "length"), DONE)
        handler.end()

    engine.script = script
    meter = UsageMeter()
    pieces = model(meter).stream(ASK, ChatOptions())
    assert [next(pieces), next(pieces)] == ["", ""]
    go_on.set()
    assert said(pieces) == ["late"]
    assert meter.last()[0].ended == "length"


def test_a_sign_that_ends_lines_elsewhere_does_not_break_an_event(engine: Engine, starts: list[EngineConfig]) -> None:
    def script(handler: Handler) -> None:
        handler.begin()
        event = {"choices": [{"delta": {"content": "a\u2028b\x85c"}, "finish_reason": "stop"}]}
        handler.say(b"data: " + json.dumps(event, ensure_ascii=False).encode() + b"\n\n", DONE)
        handler.end()

    engine.script = script
    assert complete(model(), ASK, ChatOptions()) == "a\u2028b\x85c"


def test_leaving_hangs_up_at_once(engine: Engine, starts: list[EngineConfig]) -> None:
    gone = threading.Event()

    def script(handler: Handler) -> None:
        handler.begin()
        try:
            while True:
                handler.say(piece("word "))
                time.sleep(0.02)
        except OSError:
            gone.set()

    engine.script = script
    meter = UsageMeter()
    pieces = model(meter).stream(ASK, ChatOptions())
    assert next(text for text in pieces if text) == "word "
    pieces.close()
    assert gone.wait(20)
    assert meter.last()[0].ended == "stopped"


def test_leaving_before_the_first_token_hangs_up_too(engine: Engine, starts: list[EngineConfig]) -> None:
    gone = threading.Event()

    def script(handler: Handler) -> None:
        if not handler.connection.recv(1):
            gone.set()

    engine.script = script
    pieces = model().stream(ASK, ChatOptions())
    assert next(pieces) == ""
    pieces.close()
    assert gone.wait(20)


def test_a_death_in_mid_stream_is_told_and_the_next_call_works(engine: Engine, starts: list[EngineConfig]) -> None:
    def die(handler: Handler) -> None:
        handler.begin()
        handler.say(piece("half "))
        engine.killed = True
        handler.connection.shutdown(socket.SHUT_RDWR)

    def live(handler: Handler) -> None:
        handler.begin()
        handler.say(piece("whole", "stop"), DONE)
        handler.end()

    engine.script = die
    meter = UsageMeter()
    chat = model(meter)
    heard: list[str] = []
    with pytest.raises(ModelFailed, match="broke off") as caught:
        heard.extend(said(chat.stream(ASK, ChatOptions())))
    assert "ask again" in caught.value.hint
    assert meter.last()[0].ended == "failed"
    engine.script = live
    assert complete(chat, ASK, ChatOptions()) == "whole"
    assert len(starts) == 2


def test_no_first_token_in_time(engine: Engine, starts: list[EngineConfig]) -> None:
    engine.script = lambda handler: handler.server.over.wait(60)
    with pytest.raises(ModelFailed, match="no first token"):
        complete(model(), ASK, ChatOptions(first_token_s=0.2))
    assert not engine.killed


def test_silence_in_mid_reply_means_a_new_engine(
    engine: Engine, starts: list[EngineConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    def script(handler: Handler) -> None:
        handler.begin()
        handler.say(piece("and then "))
        handler.server.over.wait(60)

    engine.script = script
    monkeypatch.setattr(gateway, "STALL_S", 0.2)
    with pytest.raises(ModelFailed, match="fell silent"):
        complete(model(), ASK, ChatOptions())
    assert engine.killed


def test_silence_before_the_first_word_means_a_new_engine_unless_it_speaks_to_others(
    engine: Engine, starts: list[EngineConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(llama_cpp, "STALL_S", 0.3)

    def silent(handler: Handler) -> None:
        handler.begin()
        handler.server.over.wait(60)

    engine.script = silent
    chat = model()
    told = threading.Event()

    def speak() -> None:
        while not told.wait(0.05):
            chat._spoke = time.monotonic()

    other = threading.Thread(target=speak)
    other.start()
    with pytest.raises(ModelFailed, match="no first token"):
        complete(chat, ASK, ChatOptions(first_token_s=0.5))
    assert not engine.killed, "it was busy with another reply"
    told.set()
    other.join()
    with pytest.raises(ModelFailed, match="no first token"):
        complete(chat, ASK, ChatOptions(first_token_s=0.5))
    assert engine.killed


def test_an_engine_that_does_not_count_tokens_is_ended(
    engine: Engine, starts: list[EngineConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.script = lambda handler: handler.server.over.wait(60)
    monkeypatch.setattr(llama_cpp, "TOKENS_S", 0.3)
    with pytest.raises(ModelFailed):
        model().count_tokens("What is a lock?")
    assert engine.killed


def test_an_error_of_the_engine_reaches_the_reader(engine: Engine, starts: list[EngineConfig]) -> None:
    def in_stream(handler: Handler) -> None:
        handler.begin()
        handler.say(piece("x"), b'data: {"error": {"message": "out of memory", "code": 500}}\n\n')
        handler.end()

    engine.script = in_stream
    with pytest.raises(ModelFailed, match="out of memory"):
        complete(model(), ASK, ChatOptions())


def test_a_prompt_too_long_is_the_askers_matter(engine: Engine, starts: list[EngineConfig]) -> None:
    def refuse(handler: Handler) -> None:
        error = {"type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}
        handler.reply(400, {"error": error})

    engine.script = refuse
    with pytest.raises(BadInput, match="9000 tokens"):
        complete(model(), ASK, ChatOptions())


def test_more_readers_than_slots_wait_and_then_hear_it(engine: Engine, starts: list[EngineConfig]) -> None:
    def script(handler: Handler) -> None:
        handler.begin()
        handler.say(piece("x"))
        handler.server.over.wait(60)

    engine.script = script
    meter = UsageMeter()
    chat = model(meter, slots=1)
    first = chat.stream(ASK, ChatOptions())
    assert next(text for text in first if text) == "x"
    second = chat.stream(ASK, ChatOptions(first_token_s=0.1))
    assert next(second) == ""
    with pytest.raises(ModelBusy, match="all 1 places"):
        list(second)
    assert meter.totals()["answer"]["busy"] == 1
    first.close()
    third = chat.stream(ASK, ChatOptions())
    assert next(text for text in third if text) == "x"
    third.close()


def test_a_closed_model_says_so(engine: Engine, starts: list[EngineConfig]) -> None:
    chat = model()
    chat.close()
    with pytest.raises(ModelFailed, match="was closed"):
        complete(chat, ASK, ChatOptions())


def test_a_prepared_prefix_is_read_once_for_all_slots(engine: Engine, starts: list[EngineConfig]) -> None:
    def script(handler: Handler) -> None:
        handler.begin()
        handler.say(piece("x", "stop"), DONE)
        handler.end()

    engine.script = script
    chat = model(slots=2)
    chat.prepare(ASK[:1])
    chat.prepare(ASK[:1])
    assert engine.posted == ["/slots/0?action=save"]
    complete(chat, ASK, ChatOptions())  # the slot that read the prefix
    held = chat.stream(ASK, ChatOptions())
    assert next(text for text in held if text) == "x"  # the same slot again
    complete(chat, [ASK[0], Message("user", "And a monitor?")], ChatOptions())
    assert engine.posted[1:] == ["/slots/1?action=restore"]
    held.close()


def test_a_prefix_after_which_the_model_says_nothing_is_prepared_all_the_same(
    engine: Engine, starts: list[EngineConfig]
) -> None:
    def script(handler: Handler) -> None:
        handler.begin()
        handler.say(piece("", "stop"), DONE)
        handler.end()

    engine.script = script
    model(slots=2).prepare(ASK[:1])
    assert engine.posted == ["/slots/0?action=save"]


def say_x(handler: Handler) -> None:
    """The script of a model that says `x`."""
    handler.begin()
    handler.say(piece("x", "stop"), DONE)
    handler.end()


def test_a_prefix_outlives_the_engine(engine: Engine, starts: list[EngineConfig], tmp_path: Path) -> None:
    engine.script = say_x
    weights = tmp_path / "m.gguf"
    weights.write_text("weights")
    config = EngineConfig(weights, context_tokens=4096, slots=1, threads=2, prefixes=tmp_path / "kept")
    LlamaCpp(config, UsageMeter()).prepare(ASK[:1])

    again = LlamaCpp(config, UsageMeter())
    again.prepare(ASK[:1])  # from the folder: the engine reads nothing
    assert engine.posted == ["/slots/0?action=save"]
    complete(again, ASK, ChatOptions())
    assert engine.posted[1:] == ["/slots/0?action=restore"]

    engine.refuses = "restore"
    third = LlamaCpp(config, UsageMeter())
    third.prepare(ASK[:1])
    assert complete(third, ASK, ChatOptions()) == "x"  # read again, and not kept for the next start
    assert not list((tmp_path / "kept").iterdir())


@pytest.mark.parametrize("trouble", ["full disk", "dead engine"])
def test_a_prefix_that_was_not_kept_or_is_gone_is_no_failure(
    engine: Engine, starts: list[EngineConfig], tmp_path: Path, trouble: str
) -> None:
    engine.script = say_x
    engine.refuses = "save" if trouble == "full disk" else "nothing"
    chat = LlamaCpp(EngineConfig(Path(__file__), 4096, slots=1, threads=2, prefixes=tmp_path / "kept"), UsageMeter())
    chat.prepare(ASK[:1])
    engine.killed = trouble == "dead engine"
    assert complete(chat, ASK, ChatOptions()) == "x"
    if trouble == "full disk":
        assert not list((tmp_path / "kept").iterdir())
    else:
        assert engine.posted == ["/slots/0?action=save", "/slots/0?action=restore"] and len(starts) == 2
