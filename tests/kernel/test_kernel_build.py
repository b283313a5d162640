"""Building kernel collections: incremental, resumable, the previous index safe."""

from pathlib import Path

import pytest

from osrag.errors import BadIndex
from osrag.index.collection import Collection
from osrag.index.manifest import read_manifest
from osrag.kernel import build as kernel_build
from osrag.kernel.build import build_kernel
from osrag.types import ChunkKind, CodeChunk
from tests.fakes import FakeEncoder
from tests.kernel.tree import FILES, write_tree


def build(out: Path, source: Path, *names: str, encoder: FakeEncoder | None = None):
    return build_kernel(out, source, names, encoder or FakeEncoder(), cache_dir=out.parent / "cache")


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "tree")


def test_collections_of_each_subsystem(tmp_path: Path, source: Path):
    reports = build(tmp_path / "index", source, "kernel", "mm")
    assert [(one.subsystem, one.files, one.functions, one.version) for one in reports] == [
        ("kernel", 2, 6, "6.1.192"),
        ("mm", 1, 2, "6.1.192"),
    ]
    names = sorted(path.name for path in (tmp_path / "index").iterdir())
    assert names == ["kernel_chunks", "kernel_files", "mm_chunks", "mm_files"]
    manifest = read_manifest(tmp_path / "index" / "kernel_chunks")
    assert manifest.source == "Linux 6.1.192"
    assert "GPL-2.0" in manifest.licence
    assert manifest.counts["functions"] == 6


def test_joining_a_files_rows_gives_the_file_back(tmp_path: Path, source: Path):
    build(tmp_path / "index", source, "kernel")
    held = Collection.load(tmp_path / "index" / "kernel_chunks", FakeEncoder().id, of=CodeChunk)
    rows = [chunk for chunk in held.chunks() if chunk.source == "kernel/sched/core.c"]
    rows.sort(key=lambda chunk: (chunk.where.first, chunk.where.last))
    assert "".join(chunk.text for chunk in rows) == FILES["kernel/sched/core.c"]
    assert held.searchable < len(held)  # the text between definitions is kept, not searched


def test_callers_and_callees(tmp_path: Path, source: Path):
    build(tmp_path / "index", source, "kernel")
    held = Collection.load(tmp_path / "index" / "kernel_chunks", None, of=CodeChunk)
    by_name = {chunk.name: chunk for chunk in held.chunks() if chunk.kind is ChunkKind.FUNCTION}
    assert by_name["schedule"].calls == ("pick_next_task", "this_rq", "context_switch")
    assert by_name["context_switch"].called_by == ("schedule",)
    assert set(by_name["fair_pick"].called_by) == {"pick_next_task", "enqueue_task"}


def test_the_same_source_changes_nothing(tmp_path: Path, source: Path):
    build(tmp_path / "index", source, "kernel")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "index").rglob("*") if path.is_file()}
    encoder = FakeEncoder()
    (report,) = build(tmp_path / "index", source, "kernel", encoder=encoder)
    assert not report.embedded
    assert encoder.embedded == []
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_another_subsystem_leaves_the_first_alone(tmp_path: Path, source: Path):
    build(tmp_path / "index", source, "kernel")
    before = (tmp_path / "index" / "kernel_chunks" / "manifest.json").stat().st_mtime_ns
    build(tmp_path / "index", source, "mm")
    assert (tmp_path / "index" / "kernel_chunks" / "manifest.json").stat().st_mtime_ns == before


def test_one_changed_file_embeds_only_its_chunks(tmp_path: Path, source: Path):
    build(tmp_path / "index", source, "kernel")
    fair = source / "kernel/sched/fair.c"
    fair.write_text(fair.read_text() + "\n/* Something new. */\nint brand_new(void)\n{\n\treturn 1;\n}\n")
    encoder = FakeEncoder()
    (report,) = build(tmp_path / "index", source, "kernel", encoder=encoder)
    assert report.functions == 7
    assert [text for text in encoder.embedded if "brand_new" in text]
    assert len(encoder.embedded) <= 2  # the function, and the summary of its file


def test_another_encoder_builds_anew(tmp_path: Path, source: Path):
    build(tmp_path / "index", source, "kernel")
    (report,) = build(tmp_path / "index", source, "kernel", encoder=FakeEncoder(revision="fake-2"))
    assert report.embedded


class DyingEncoder(FakeEncoder):
    def passages(self, texts):
        if len(self.embedded) >= 2:
            raise KeyboardInterrupt
        return super().passages(texts)


def test_a_build_that_is_killed_leaves_the_previous_index_and_resumes(
    tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("osrag.index.build.BATCH", 2)
    build(tmp_path / "index", source, "mm")
    (source / "mm/memory.c").write_text(FILES["kernel/sched/core.c"])
    old = read_manifest(tmp_path / "index" / "mm_chunks")
    dying = DyingEncoder()
    with pytest.raises(KeyboardInterrupt):
        build(tmp_path / "index", source, "mm", encoder=dying)
    assert read_manifest(tmp_path / "index" / "mm_chunks") == old
    Collection.load(tmp_path / "index" / "mm_chunks", FakeEncoder().id, of=CodeChunk)
    again = FakeEncoder()
    build(tmp_path / "index", source, "mm", encoder=again)
    assert not set(again.embedded) & set(dying.embedded)
    assert read_manifest(tmp_path / "index" / "mm_chunks") != old


def test_files_that_do_not_parse_and_generated_headers_are_reported(tmp_path: Path):
    source = write_tree(
        tmp_path / "tree",
        {**FILES, "kernel/bad.c": "%% }} (((\n", "kernel/gen.h": "#define R 1\n" * 40_001},
    )
    (report,) = build(tmp_path / "index", source, "kernel")
    assert any(line.startswith("kernel/bad.c: ") and "do not parse" in line for line in report.warnings)
    assert any(line.startswith("kernel/gen.h: 40001 lines") for line in report.warnings)
    held = Collection.load(tmp_path / "index" / "kernel_chunks", None, of=CodeChunk)
    assert "kernel/gen.h" in held.table.column("file").to_pylist()


def test_progress_reaches_the_end(tmp_path: Path, source: Path):
    seen: dict[str, tuple[int, int]] = {}
    build_kernel(
        tmp_path / "index",
        source,
        ["mm"],
        FakeEncoder(),
        cache_dir=tmp_path / "cache",
        progress=lambda what, done, total: seen.__setitem__(what, (done, total)),
    )
    assert {"read source", "parse mm", "embed mm_chunks", "write mm_chunks"} <= set(seen)
    assert all(done == total for done, total in seen.values())


def test_a_corrupt_table_is_named(tmp_path: Path, source: Path):
    build(tmp_path / "index", source, "mm")
    table = next((tmp_path / "index" / "mm_chunks").glob("*.parquet"))
    table.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(BadIndex, match=table.name) as caught:
        Collection.load(tmp_path / "index" / "mm_chunks", FakeEncoder().id, of=CodeChunk)
    assert "build" in caught.value.hint


def test_the_recipe_is_part_of_what_is_compared(tmp_path: Path, source: Path, monkeypatch: pytest.MonkeyPatch):
    build(tmp_path / "index", source, "mm")
    monkeypatch.setattr(kernel_build, "RECIPE", "another")
    (report,) = build(tmp_path / "index", source, "mm")
    assert report.embedded
