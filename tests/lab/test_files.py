"""Files against the course book and bank, and against structures that are built block by block."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from osrag.lab import allocation, bitmap, extents, fat, inode, paths
from osrag.lab.inode import Inode
from osrag.lab.kind import Kind
from osrag.lab.solve import solve
from tests.lab.checks import check_choices, check_generated, check_told, faults

MODULES = (inode, fat, extents, allocation, bitmap, paths)
KINDS: dict[str, Kind[Any]] = {kind.name: kind for module in MODULES for kind in module.KINDS}
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BOOK = {"block_size": "4K", "pointer_size": 4}  # 12 direct, one single, double and triple, as in section 8.4


def results(name: str, **values: Any) -> dict[str, Any]:
    solved = solve(KINDS[name], values)
    assert solved.solution is not None, (solved.missing, [fault.sentence("en") for fault in solved.faults])
    return {key: result.value for key, result in solved.solution.results.items()}


def test_the_inode_of_the_book() -> None:
    assert results("inode", **BOOK)["largest_file"] == 4_402_345_721_856
    found = results("inode", **BOOK, ask="disk_reads", offset=5_000_000)
    assert (found["level"], found["entries"], found["disk_reads"]) == ("double", (0, 184), 3)
    assert results("inode", **BOOK, ask="disk_reads", offset=5_000_000, inode_is="on_disk")["disk_reads"] == 4
    assert results("inode", **BOOK, ask="index_blocks", file_size="10 MiB")["index_blocks"] == 4
    assert results("inode", **BOOK, ask="index_blocks", file_size="1 GiB")["index_blocks"] == 257  # ch08-021


def test_inodes_of_the_exercises_and_the_bank() -> None:
    small = {"block_size": "1K", "pointer_size": 4, "direct": 10, "triple": 0}
    assert results("inode", **small)["largest_file"] == (10 + 256 + 256**2) * 1024
    assert results("inode", **small, ask="entries", offset=300_000)["entries"] == (0, 26)
    assert results("inode", **small, ask="index_blocks", file_size=1_000_000)["index_blocks"] == 1 + 1 + 3
    found = results("inode", block_size="2K", direct=10, triple=0, ask="entries", offset=1_200_000)
    assert (found["level"], found["entries"]) == ("double", (0, 63))  # ch08-004
    found = results("inode", **BOOK, ask="entries", offset=60_000)
    assert (found["level"], found["entries"]) == ("single", (2,))  # ch08-023
    assert results("inode", **BOOK, ask="index_blocks", file_size="6 MiB")["index_blocks"] == 3


def test_several_pointers_of_one_level() -> None:
    """The 408 paper of 2010: seven pointers, four direct, two single, one double; blocks of 256 bytes."""
    paper = {"block_size": 256, "pointer_size": 4, "direct": 4, "single": 2, "double": 1, "triple": 0}
    assert results("inode", **paper)["largest_file"] == 1057 * KIB
    found = results("inode", **paper, ask="entries", file_block=4 + 64 + 3)
    assert found["entries"] == (1, 3)


def walk(given: Inode, wanted: int) -> tuple[str, int] | None:
    """Number the data blocks one by one, depth first, until the wanted one; with the index blocks made on the way."""
    per, at, made = given.block_size // given.pointer_size, 0, 0
    for depth, (name, count) in enumerate(
        (("direct", given.direct), ("single", given.single), ("double", given.double), ("triple", given.triple))
    ):
        for leaf in range(count * per**depth):
            # A new index block is begun at each height whose first block this is.
            made += sum(1 for height in range(1, depth + 1) if leaf % per**height == 0)
            if at == wanted:
                return name, made
            at += 1
    return None


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 5), st.integers(0, 3), st.integers(0, 2), st.integers(0, 2), st.integers(0, 1), st.data())
def test_way_and_index_blocks_by_counting_leaf_after_leaf(
    per: int, direct: int, single: int, double: int, triple: int, data: st.DataObject
) -> None:
    shape = {"block_size": 16, "pointer_size": 16 // per, "direct": direct, "single": single, "double": double}
    if not direct + single + double + triple:
        return
    given = Inode.model_validate({**shape, "triple": triple})
    total = sum(given.regions())
    block = data.draw(st.integers(0, total - 1))
    level, made = walk(given, block) or ("", -1)
    found = results("inode", **shape, triple=triple, ask="level", file_block=block)
    assert found["level"] == level
    size = block * 16 + data.draw(st.integers(1, 16))
    sized = results("inode", **shape, triple=triple, ask="index_blocks", file_size=size)
    assert (sized["index_blocks"], sized["data_blocks"]) == (made, block + 1)
    assert walk(given, total) is None and results("inode", **shape, triple=triple)["largest_file"] == total * 16


def test_the_fat_of_the_book_and_the_bank() -> None:
    book = {"links": "FAT[6] = 8, FAT[8] = 3, FAT[3] = 12 and FAT[12] = end".replace(" and", ","), "first": 6}
    assert results("fat", **book, ask="chain")["chain"] == (6, 8, 3, 12)
    assert results("fat", **book, file_block=2)["disk_block"] == 3
    bank = {"links": "5:11 11:7 7:2 2:-1", "first": 5, "block_size": "1K"}
    assert results("fat", **bank, offset=2100)["disk_block"] == 7  # ch08-006
    exercise = {"links": "4->9; 9->10; 10->2; 2->结束", "first": 4, "block_size": "1K"}
    assert results("fat", **exercise, offset=2500)["disk_block"] == 10
    size = {"ask": "fat_size", "volume": "32 GiB", "block_size": "32K"}
    assert results("fat", **size, entry_bits=32)["fat_size"] == 4 * MIB
    assert results("fat", **size)["entry_length"] == 20
    assert results("fat", **size)["fat_size"] == 20 * MIB // 8
    assert results("fat", **size, entry_rounding="to_bytes")["fat_size"] == 3 * MIB
    assert results("fat", ask="largest_disk", entry_bits=16, block_size="4K")["largest_disk"] == 256 * MIB


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 500), min_size=1, max_size=30, unique=True), st.data())
def test_a_chain_is_the_file_that_was_written(blocks: list[int], data: st.DataObject) -> None:
    links = [f"{a}={b}" for a, b in zip(blocks, [*blocks[1:], "end"], strict=True)]
    shuffled = data.draw(st.permutations(links))
    offset = data.draw(st.integers(0, len(blocks) * 512 - 1))
    content = [block for block in blocks for _ in range(512)]  # the disk block of every byte
    found = results("fat", links=", ".join(shuffled), first=blocks[0], block_size=512, offset=offset)
    assert found["chain"] == tuple(blocks) and found["disk_block"] == content[offset]


def test_extents_of_the_book() -> None:
    contiguous = {"ask": "fewest_extents", "file_size": "1 GiB", "block_size": "4K"}
    found = results("extents", **contiguous)
    assert (found["fewest_extents"], found["data_blocks"]) == (8, 262_144)  # ch08-021
    assert results("extents", extents="0 4 100; 4 8 20", file_block=5)["disk_block"] == 21


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 2)), min_size=1, max_size=6), st.data())
def test_extents_against_a_list_of_all_blocks(drawn: list[tuple[int, int]], data: st.DataObject) -> None:
    places = data.draw(st.permutations(range(len(drawn))))
    table, where, logical = list[tuple[int, int, int]](), dict[int, int](), 0
    for (length, hole), place in zip(drawn, places, strict=True):
        logical += hole
        table.append((logical, length, 10 * place))
        where |= {logical + step: 10 * place + step for step in range(length)}
        logical += length
    block = data.draw(st.sampled_from(sorted(where)))
    assert results("extents", extents=tuple(table), file_block=block)["disk_block"] == where[block]


@pytest.mark.parametrize(
    ("operation", "block", "contiguous", "linked", "indexed"),
    [
        ("insert_block", 0, 201, 1, 1),
        ("insert_block", 50, 101, 52, 1),
        ("insert_block", 100, 1, 3, 1),
        ("remove_block", 0, 198, 1, 0),
        ("remove_block", 50, 98, 52, 0),
        ("remove_block", 99, 0, 100, 0),
    ],
)
def test_accesses_of_the_file_of_a_hundred_blocks(
    operation: str, block: int, contiguous: int, linked: int, indexed: int
) -> None:
    found = results("file_access", operation=operation, file_block=block)
    assert (found["contiguous"], found["linked"], found["indexed"]) == (contiguous, linked, indexed)


def test_reading_needs_all_blocks_before_it_only_where_they_are_linked() -> None:
    found = results("file_access", file_block=7, index_is="on_disk")
    assert found == {"contiguous": 1, "linked": 8, "fat": 1, "indexed": 2}


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 30), st.data(), st.booleans())
def test_contiguous_moves_against_a_disk_that_is_written(n: int, data: st.DataObject, insert: bool) -> None:
    k = data.draw(st.integers(0, n if insert else n - 1))
    disk = [*range(n), None]
    wanted = [*range(k), "new", *range(k, n)] if insert else [*range(k), *range(k + 1, n)]
    moved = sum(1 for place, block in enumerate(wanted) if isinstance(block, int) and disk[place] != block)
    found = results("file_access", file_blocks=n, file_block=k, operation="insert_block" if insert else "remove_block")
    assert found["contiguous"] == 2 * moved + insert


def test_bitmaps_of_the_book() -> None:
    assert results("bitmap", volume="1 TiB", block_size="4K")["bitmap_size"] == 32 * MIB  # ch08-019
    exercise = results("bitmap", volume="500 GiB", block_size="4K")
    assert exercise == {"bitmap_size": 16_384_000, "bitmap_blocks": 4000}


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 64), st.integers(0, 2000), st.sampled_from([0, 1]))
def test_bits_by_counting_them_one_after_another(bits: int, steps: int, first: int) -> None:
    word, bit = first, first
    for _ in range(steps):
        bit += 1
        if bit == bits + first:
            word, bit = word + 1, first
    counting = f"from_{first}"
    found = results("bitmap", ask="word_and_bit", word_bits=bits, counting=counting, block=steps + first)
    assert found["word_and_bit"] == (word, bit)
    back = results("bitmap", ask="block_of_bit", word_bits=bits, counting=counting, word=word, bit=bit)
    assert back["block_of_bit"] == steps + first


def test_paths_of_the_book() -> None:
    assert results("path_lookup", path="/home/amy/notes.txt")["path_reads"] == 8
    assert results("path_lookup", path="/var/log/syslog")["path_reads"] == 8  # ch08-003
    assert results("path_lookup", path="/usr/share/doc/readme")["path_reads"] == 10
    assert results("path_lookup", path="/usr/share/doc/readme", cached="/usr/share")["path_reads"] == 4
    assert results("path_lookup", path="/a/b", root_inode="in_memory", directory_blocks=3)["path_reads"] == 9


def test_faults_name_the_field_and_the_rule() -> None:
    told = {
        "inode": [
            ({"block_size": 16, "pointer_size": 16}, "pointer_size", "does not hold two"),
            ({**BOOK, "direct": 0, "single": 0, "double": 0, "triple": 0}, "triple", "at least one pointer"),
            ({**BOOK, "direct": -1, "offset": 5}, "direct", "at least 0"),
            ({**BOOK, "double": 0, "triple": 0, "file_block": 2000}, "file_block", "beyond the file"),
            ({**BOOK, "double": 0, "triple": 0, "offset": "1G"}, "offset", "beyond the file"),
            ({**BOOK, "file_block": 1, "offset": 1}, "offset", "either"),
            ({**BOOK, "double": 0, "triple": 0, "file_size": "1G"}, "file_size", "reaches at most 1036"),
            ({"block_size": "x"}, "block_size", "not a size"),
        ],
        "fat": [
            ({"links": "1=2, 1=3", "first": 1, "ask": "chain"}, "links", "two entries"),
            ({"links": "1=2, 2=1", "first": 1, "ask": "chain"}, "first", "never ends"),
            ({"links": "1=2", "first": 1, "ask": "chain"}, "first", "breaks"),
            ({"links": "what", "first": 1, "ask": "chain"}, "links", "not an entry"),
            ({"links": "1=end", "first": 1, "file_block": 1}, "offset", "beyond the file"),
            ({"links": "1=end", "first": 1, "offset": 1}, "offset", "block size"),
            ({"ask": "fat_size", "volume": "1K", "block_size": "4K"}, "volume", "smaller than one block"),
            ({"ask": "fat_size", "volume": "1G", "block_size": "4K", "entry_bits": 4}, "entry_bits", "cannot number"),
        ],
        "extents": [
            ({"extents": "0 4", "file_block": 1}, "extents", "not three numbers"),
            ({"extents": "0 0 5", "file_block": 0}, "extents", "at least 1"),
            ({"extents": "0 4 5; 2 4 50", "file_block": 0}, "extents", "overlaps"),
            ({"extents": "0 4 5; 4 4 6", "file_block": 0}, "extents", "share"),
            ({"extents": "0 4 5; 6 4 50", "file_block": 5}, "offset", "hole"),
            ({"extents": "0 4 5", "file_block": 4}, "offset", "beyond"),
        ],
        "file_access": [({"file_blocks": 5, "file_block": 5}, "file_block", "beyond")],
        "bitmap": [
            ({"ask": "word_and_bit", "counting": "from_1", "block": 0}, "block", "from 1"),
            ({"ask": "block_of_bit", "word": 1, "bit": 32}, "bit", "from 0 to 31"),
            ({"volume": 100, "block_size": "4K"}, "block_size", "smaller"),
        ],
        "path_lookup": [
            ({"path": "a/b"}, "path", "absolute"),
            ({"path": "/a/b", "cached": "/c"}, "cached", "not on the way"),
            ({"path": "/a/b", "cached": "/a/b"}, "cached", "Only directories"),
            ({"path": "/a" * 40}, "path", "at most 30"),
        ],
    }
    for name, cases in told.items():
        for values, field, part in cases:
            assert part in faults(KINDS[name], **values)[field], (name, values)


def test_what_is_missing_is_asked_for() -> None:
    assert solve(KINDS["inode"], {**BOOK, "ask": "level"}).missing == ("offset",)
    assert solve(KINDS["inode"], {**BOOK, "ask": "index_blocks"}).missing == ("file_size",)
    assert solve(KINDS["fat"], {}).missing == ("links", "first", "offset")
    assert solve(KINDS["fat"], {"ask": "fat_size"}).missing == ("block_size", "volume")
    assert solve(KINDS["extents"], {}).missing == ("extents", "offset")
    assert solve(KINDS["bitmap"], {}).missing == ("volume", "block_size")
    assert solve(KINDS["bitmap"], {"ask": "block_of_bit"}).missing == ("word", "bit")


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_exercises_of_every_seed(kind: Kind[Any]) -> None:
    check_generated(kind, range(51))
    check_choices(kind)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("inode", BOOK),
        *(("inode", {**BOOK, "ask": "level", "offset": offset}) for offset in (3, 60_000, 5_000_000, 5 * GIB)),
        ("inode", {"block_size": 256, "direct": 4, "single": 2, "ask": "entries", "file_block": 70}),
        ("inode", {**BOOK, "ask": "index_blocks", "file_size": "5G", "inode_is": "on_disk"}),
        ("inode", {**BOOK, "ask": "disk_reads", "offset": 5, "inode_is": "on_disk"}),
        ("fat", {"links": "6=8,8=3,3=12,12=end", "first": 6, "file_block": 2}),
        ("fat", {"links": ",".join(f"{n}={n + 1}" for n in range(12)) + ",12=end", "first": 0, "ask": "chain"}),
        ("fat", {"links": "6=end", "first": 6, "file_block": 0}),
        ("fat", {"ask": "entry_length", "volume": "1G", "block_size": "4K"}),
        ("fat", {"ask": "largest_disk", "entry_bits": 12, "block_size": "4K"}),
        ("extents", {"extents": "0 4 100; 4 8 20", "file_block": 5}),
        ("extents", {"ask": "fewest_extents", "file_size": "1G", "block_size": "4K"}),
        *(
            ("file_access", {"operation": f"{what}_block", "file_block": block, "last_block_known": known})
            for what in ("read", "insert", "remove")
            for block in (0, 50, 99)
            for known in ("known", "not_known")
        ),
        ("file_access", {"operation": "insert_block", "file_block": 100}),
        ("bitmap", {"volume": "1G", "block_size": "1K"}),
        *(("bitmap", {"ask": "word_and_bit", "block": 33, "counting": c}) for c in ("from_0", "from_1")),
        *(("bitmap", {"ask": "block_of_bit", "word": 3, "bit": 2, "counting": c}) for c in ("from_0", "from_1")),
        ("path_lookup", {"root_inode": "in_memory", "directory_blocks": 2, "data_blocks": 3}),
        ("path_lookup", {"cached": "/home"}),
        ("path_lookup", {"data_blocks": 0}),
    ],
)
def test_all_is_told_in_both_languages(name: str, values: dict[str, Any]) -> None:
    check_told(KINDS[name], KINDS[name].parameters.model_validate(values))
