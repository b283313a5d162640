"""A collection on disk: written whole, read whole, refused when it does not fit."""

import errno
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from osrag.errors import BadIndex, NoSpace
from osrag.index.collection import Collection, write_collection
from osrag.index.dense import DenseIndex
from osrag.index.manifest import EncoderId, Manifest, read_manifest
from osrag.text import tokens
from osrag.types import Chunk, ChunkKind, CodeChunk, LineRef, Origin, PageRef
from tests.fakes import FakeEncoder

ENCODER = FakeEncoder()

FORK = Chunk(
    id="book.pdf#p12-1",
    text="fork() creates a child process.",
    source="book.pdf",
    where=PageRef(12, 13, "xii"),
    position=0,
    section=("2 Processes", "2.1 fork"),
    language="en",
    title="A Book",
    category="textbook",
)
PAGING = replace(
    FORK,
    id="notes.md#L3-1",
    text="分页把地址空间分成页。",
    source="notes.md",
    where=LineRef(3, 9),
    language="zh",
    kind=ChunkKind.FAQ,
    section=(),
)
SCHEDULE = CodeChunk(
    id="kernel/sched/core.c:10-20",
    text="void schedule(void)\n{\n}\n",
    source="kernel/sched/core.c",
    where=LineRef(10, 20),
    kind=ChunkKind.FUNCTION,
    name="schedule",
    en="Picks the next task.",
    zh="选择下一个任务。",
    terms=("scheduler", "调度器"),
    origin=Origin.NOTE,
    calls=("__schedule",),
)
BETWEEN = replace(SCHEDULE, id="kernel/sched/core.c:21-30", kind=ChunkKind.OTHER, name="", en="", zh="")


def save(folder: Path, *chunks: Chunk) -> Manifest:
    texts = [chunk.text for chunk in chunks]
    return write_collection(
        folder,
        chunks,
        ENCODER.passages(texts),
        [tokens(text) for text in texts],
        of=Chunk,
        name="textbook",
        encoder=ENCODER.id,
    )


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    save(tmp_path, FORK, PAGING)
    book = Collection.load(tmp_path, ENCODER.id, of=Chunk)
    assert [book.chunk(row) for row in range(len(book))] == [FORK, PAGING]
    assert book.row_of("notes.md#L3-1") == 1
    assert book.row_of("no such") is None
    rows, cosines = book.dense.nearest(ENCODER.queries(["child process"])[0], 1)
    assert rows.tolist() == [0] and cosines[0] > 0.3
    assert book.keywords.scores("分页").argmax() == 1
    assert book.keywords.rows_of("分页").tolist() == [1] and not len(book.keywords.rows_of("no such"))


def test_code_that_is_only_kept_lies_behind_what_is_searched(tmp_path: Path) -> None:
    write_collection(
        tmp_path,
        [SCHEDULE, BETWEEN],
        ENCODER.passages([SCHEDULE.description]),
        [tokens(SCHEDULE.description)],
        of=CodeChunk,
        name="kernel_chunks",
        encoder=ENCODER.id,
        licence="GPL-2.0",
    )
    code = Collection.load(tmp_path, ENCODER.id, of=CodeChunk)
    assert (len(code), code.searchable) == (2, 1)
    assert [code.chunk(0), code.chunk(1)] == [SCHEDULE, BETWEEN]
    assert code.searched() == [SCHEDULE]


def test_an_empty_collection_can_be_loaded_and_finds_nothing(tmp_path: Path) -> None:
    save(tmp_path)
    empty = Collection.load(tmp_path, ENCODER.id, of=Chunk)
    assert len(empty) == 0
    assert not len(empty.dense.nearest(np.ones(ENCODER.dim, dtype=np.float32), 5)[0])
    assert not len(empty.keywords.scores("fork"))


def test_the_same_chunks_make_the_same_files(tmp_path: Path) -> None:
    assert save(tmp_path / "a", FORK, PAGING).files == save(tmp_path / "b", FORK, PAGING).files


def test_the_table_is_an_ordinary_parquet_file_for_datasets(tmp_path: Path) -> None:
    from datasets import load_dataset

    manifest = save(tmp_path, FORK, PAGING)
    path = str(tmp_path / manifest.files["chunks"])
    rows = load_dataset("parquet", data_files=path, split="train", cache_dir=str(tmp_path / "cache"))
    assert rows[0]["chunk_id"] == FORK.id
    assert rows[0]["section"] == ["2 Processes", "2.1 fork"]


def test_another_encoder_is_refused_with_the_command_that_rebuilds(tmp_path: Path) -> None:
    save(tmp_path, FORK)
    other = EncoderId(name="bge-m3", revision="1", dim=1024)
    with pytest.raises(BadIndex, match=r"made by fake .*running encoder is bge-m3") as refused:
        Collection.load(tmp_path, other, of=Chunk, rebuild="python -m osrag build textbook")
    assert "python -m osrag build textbook" in refused.value.hint


@pytest.mark.parametrize("part", ["chunks", "vectors", "keywords"])
def test_a_damaged_file_is_named(tmp_path: Path, part: str) -> None:
    path = tmp_path / save(tmp_path, FORK).files[part]
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(BadIndex, match=f"{part}.* is damaged"):
        Collection.load(tmp_path, ENCODER.id, of=Chunk)


def test_a_full_disk_leaves_the_previous_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(tmp_path, FORK)

    def full(path: Path, data: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(NoSpace, match="previous index is unchanged"):
        save(tmp_path, FORK, PAGING)
    monkeypatch.undo()
    assert len(Collection.load(tmp_path, ENCODER.id, of=Chunk)) == 1


def test_what_the_manifest_does_not_name_is_swept_away(tmp_path: Path) -> None:
    save(tmp_path, FORK)
    (tmp_path / ".chunks.99999.parquet").write_bytes(b"left by a killed build")
    save(tmp_path, FORK, PAGING)
    names = {path.name for path in tmp_path.iterdir()} - {"manifest.json", ".lock"}
    assert names == set(read_manifest(tmp_path).files.values())


def test_a_collection_that_is_switched_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    save(tmp_path, FORK)
    opened: list[Path] = []

    def switched(path: Path) -> DenseIndex:
        if not opened:
            save(tmp_path, FORK, PAGING)  # a build ends between our two reads, and the old files are gone
        opened.append(path)
        return DenseIndex.load(path)

    assert len(Collection.load(tmp_path, ENCODER.id, of=Chunk, vectors=switched)) == 2
    assert len(opened) == 2


def test_the_shorter_the_code_of_a_vector_the_smaller_the_file_and_the_same_the_nearest(tmp_path: Path) -> None:
    draw = np.random.default_rng(3).normal(size=(200, 48)).astype(np.float32)
    vectors = draw / np.linalg.norm(draw, axis=1, keepdims=True)
    sizes = []
    for codec in ("float32", "float16", "int8", "int6"):
        path = tmp_path / codec
        DenseIndex.build(vectors, codec=codec).save(path)
        sizes.append(path.stat().st_size)
        found, cosines = DenseIndex.load(path).nearest(vectors[7], 1)
        assert found[0] == 7 and cosines[0] == pytest.approx(1, abs=0.03)
    assert sizes == sorted(sizes, reverse=True) and sizes[-1] < 0.8 * sizes[-2]
