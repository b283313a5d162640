"""What a request meets before Gradio: hosts, sizes, uploads, headers, and whose address it is."""

import asyncio
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from starlette.formparsers import MultiPartException

from osrag.settings import Settings
from osrag.ui.app import build, serve
from osrag.ui.guard import UPLOADS_PER_MINUTE, Guard, upload_mb
from tests.calls import called


@pytest.fixture(scope="module")
def uploads(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where Gradio keeps what is uploaded."""
    folder = tmp_path_factory.mktemp("uploads")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_TEMP_DIR", str(folder))
        yield folder


@pytest.fixture(scope="module")
def guarded(parts, uploads: Path) -> Iterator[str]:
    """A page whose operator named its host and a proxy on this machine."""
    settings = parts.settings.model_copy(
        update={"port": None, "hosts": ("os.example.edu",), "proxies": "127.0.0.1", "visitors_per_address": 1}
        | {"searches_per_minute": 4, "upload_mb": 1}
    )
    parts.settings, usual = settings, parts.settings
    page = build(parts)
    parts.settings = usual
    serve(page, settings, parts.metrics, block=False)
    yield page.local_url
    page.close()


def test_every_reply_carries_its_headers(guarded: str):
    for path in ("", "config", "gradio_api/info"):
        headers = httpx.get(f"{guarded}{path}").headers
        assert headers["x-content-type-options"] == "nosniff" and "referrer-policy" in headers
        assert "frame-ancestors 'self' https://huggingface.co" in headers["content-security-policy"]


def test_a_foreign_host_is_refused_and_a_named_one_is_not(guarded: str):
    statuses = {
        host: httpx.get(guarded, headers={"host": host}).status_code
        for host in ("os.example.edu", "localhost:7860", "evil.example")
    }
    assert statuses == {"os.example.edu": 200, "localhost:7860": 200, "evil.example": 400}


def test_a_body_beyond_the_limit_is_refused_in_words(guarded: str):
    large = httpx.post(
        f"{guarded}gradio_api/call/info", content=b" " * 13_000_000, headers={"accept-language": "en"}, timeout=60
    )
    assert large.status_code == 413 and large.text == "This is too large, the limit is 12 MB."
    endless = httpx.post(f"{guarded}gradio_api/call/info", content=(b" " * 1_000_000 for _ in range(14)), timeout=60)
    assert endless.status_code >= 400


def test_uploads_have_a_size_and_a_rate_by_address(guarded: str):
    def upload(data: bytes, address: str) -> int:
        files, headers = {"files": ("progress.json", data)}, {"x-forwarded-for": address}
        return httpx.post(f"{guarded}gradio_api/upload", files=files, headers=headers, timeout=60).status_code

    assert upload(b"x" * 3_000_000, "192.0.2.1") == 413
    assert [upload(b"{}", "192.0.2.2") for _ in range(UPLOADS_PER_MINUTE + 1)] == [200] * UPLOADS_PER_MINUTE + [429]
    assert upload(b"{}", "192.0.2.3") == 200


def test_of_a_browser_that_closes_in_mid_upload_nothing_is_left(guarded: str, uploads: Path):
    def written() -> int:
        return sum(path.stat().st_size for path in uploads.iterdir() if path.is_file())

    before, where = written(), httpx.URL(guarded)
    part = b'--b\r\ncontent-disposition: form-data; name="files"; filename="a.pdf"\r\n\r\n' + b"%PDF-" * 60_000
    head = (
        f"POST /gradio_api/upload HTTP/1.1\r\nhost: localhost\r\nx-forwarded-for: 192.0.2.4\r\n"
        f"content-type: multipart/form-data; boundary=b\r\ncontent-length: {2 * len(part)}\r\n\r\n"
    )
    with socket.create_connection((where.host, where.port)) as browser:
        browser.sendall(head.encode() + part)
        wait_until(lambda: written() > before)
    wait_until(lambda: written() == before)


def test_of_an_upload_that_tells_no_length_and_is_too_large_nothing_is_left(guarded: str, uploads: Path):
    part = b'--b\r\ncontent-disposition: form-data; name="files"; filename="a.pdf"\r\n\r\n'
    headers = {"content-type": "multipart/form-data; boundary=b", "x-forwarded-for": "192.0.2.5"}
    body = (one for one in (part, *[b"x" * 500_000] * 6))
    assert httpx.post(f"{guarded}gradio_api/upload", content=body, headers=headers, timeout=60).status_code == 400
    assert not [path for path in uploads.iterdir() if path.is_file()]


async def swallowed(scope, receive, send) -> None:
    """An app that reads the whole body, as Gradio does, and answers as Gradio: 400 to an upload that breaks off."""
    status = 200
    try:
        while (await receive()).get("more_body"):
            pass
    except MultiPartException:
        status = 400
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def uploaded(guard: Guard, address: str, size: int, *, length: int | None = None, whole: bool = True) -> int:
    """The status of an upload of so many bytes, which tells `length` beforehand."""
    sent: list = []
    body = {"type": "http.request", "body": b"x" * size, "more_body": not whole}
    parts = iter([body, {"type": "http.disconnect"}])

    async def receive():
        return next(parts)

    async def send(message):
        sent.append(message)

    headers = [(b"content-length", str(size if length is None else length).encode())] if length != 0 else []
    scope = {"type": "http", "path": "/gradio_api/upload", "method": "POST", "headers": headers, "client": (address, 1)}
    asyncio.run(guard(scope, receive, send))
    return sent[0]["status"]


def test_an_upload_that_breaks_off_takes_nobodys_room():
    guard = Guard(swallowed, Settings(_env_file=None, upload_mb=1))
    aborted = [uploaded(guard, f"10.0.0.{n // 5}", 0, length=0, whole=False) for n in range(30)]
    assert aborted == [400] * 30
    assert uploaded(guard, "192.0.2.9", 2000) == 200


def test_what_came_counts_and_not_what_might_have_come():
    """An upload that tells no length may be as long as the limit."""
    guard = Guard(swallowed, Settings(_env_file=None, upload_mb=1))
    assert [uploaded(guard, f"10.0.1.{n // 4}", 100, length=0) for n in range(40)] == [200] * 40


def test_one_address_has_half_of_the_room_for_uploads():
    most = upload_mb(Settings(_env_file=None, upload_mb=1)) * 1_000_000
    guard = Guard(swallowed, Settings(_env_file=None, upload_mb=1))
    assert [uploaded(guard, "10.0.0.1", most) for _ in range(6)] == [200] * 5 + [507]
    assert [uploaded(guard, "10.0.0.2", most) for _ in range(6)] == [200] * 5 + [507]
    assert uploaded(guard, "10.0.0.3", 1) == 507


@pytest.mark.parametrize(
    "path",
    [
        "gradio_api/file=/etc/passwd", "gradio_api/file={secret}", "gradio_api/file=../../../etc/passwd",
        "gradio_api/file=http://169.254.169.254/", "gradio_api/file=file:///etc/passwd", "gradio_api/file/etc/passwd",
        "gradio_api/proxy=http://127.0.0.1:9/", "gradio_api/proxy=https://evil.hf.space/x",
        "static/../../../../etc/passwd", "static/%2e%2e/%2e%2e/%2e%2e/etc/passwd", "assets/%2e%2e/%2e%2e/etc/passwd",
    ],
)  # fmt: skip
def test_no_file_and_no_address_elsewhere_is_served(guarded: str, tmp_path: Path, path: str):
    (tmp_path / "secret.md").write_text("secret words")
    told = httpx.get(guarded + path.format(secret=tmp_path / "secret.md"), timeout=10)
    assert told.status_code >= 400 and "root:" not in told.text and "secret words" not in told.text


@pytest.mark.parametrize(
    "file",
    [
        {"path": "/etc/passwd"},
        {"path": "{secret}"},
        {"path": "x.md", "url": "http://127.0.0.1:9/x.md"},
        {"path": "http://127.0.0.1:9/x.md"},
        {"path": "../../../etc/passwd"},
    ],
)
def test_a_file_that_was_not_uploaded_is_not_taken(page, address: str, parts, tmp_path: Path, file: dict, capsys):
    """An event of the page names its files; only those that came by the upload are the visitor's."""
    (tmp_path / "secret.md").write_text("# Secret\n\nsecret words\n")
    sent = {name: value.format(secret=tmp_path / "secret.md") for name, value in file.items()}
    number = next(n for n, fn in page.fns.items() if getattr(fn.fn, "__name__", "") == "added")
    data = [[{**sent, "meta": {"_type": "gradio.FileData"}}], None]
    with httpx.Client(base_url=address, timeout=30, verify=False) as web:
        body = {"data": data, "fn_index": number, "session_hash": "thief"}
        web.post("gradio_api/queue/join", json=body).raise_for_status()
        with web.stream("GET", "gradio_api/queue/data", params={"session_hash": "thief"}) as stream:
            last = next(line for line in stream.iter_lines() if "process_completed" in line)
    assert '"success":false' in last.replace(" ", "") and "secret words" not in last
    assert parts.desks.of("thief") is None
    assert "Traceback" not in "".join(capsys.readouterr())


def wait_until(true: Callable[[], bool], most_s: float = 10) -> None:
    until = time.monotonic() + most_s
    while not true():
        assert time.monotonic() < until
        time.sleep(0.02)


def ends(url: str, **headers: str) -> set[str]:
    """Of more calls than one visitor may make a minute; `{}` in a header is the number of the call."""
    sent = ({name: value.format(number) for name, value in headers.items()} for number in range(6))
    return {called(url, "exercise", "lru", "easy", 1, "en", headers=one)[0] for one in sent}


def test_an_address_is_believed_of_a_proxy_and_of_nobody_else(parts, guarded: str):
    assert ends(guarded, **{"x-forwarded-for": "198.51.100.{}"}) == {"complete"}
    assert ends(guarded, **{"x-osrag-address": "guess 203.0.113.{}"}) == {
        "complete",
        "error",
    }  # that header is ours alone
    settings = parts.settings.model_copy(update={"port": None, "searches_per_minute": 4, "visitors_per_address": 1})
    parts.settings, usual = settings, parts.settings
    page = build(parts)
    parts.settings = usual
    serve(page, settings, parts.metrics, block=False)
    try:
        assert ends(page.local_url, **{"x-forwarded-for": "198.51.100.{}"}) == {"complete", "error"}
    finally:
        page.close()


def assert_starts(parts) -> None:
    """A page that is served answers."""
    page = build(parts)
    serve(page, parts.settings.model_copy(update={"port": None}), parts.metrics, block=False)
    try:
        assert httpx.get(page.local_url).status_code == 200
    finally:
        page.close()


def test_a_dead_proxy_of_the_environment_does_not_keep_the_page_from_starting(parts, monkeypatch: pytest.MonkeyPatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "example.edu")  # so that what is added goes with this test
    assert_starts(parts)


def test_a_page_that_is_slow_to_answer_its_own_start_still_starts(parts, monkeypatch: pytest.MonkeyPatch):
    def late(*_args: object, **_more: object) -> None:
        raise httpx.ReadTimeout("three seconds were not enough")

    monkeypatch.setattr(httpx, "head", late)  # how Gradio looks whether it can reach itself
    assert_starts(parts)
