"""The encoder's parts that need no weights: the packed format, the tokenizer, batching."""

import struct
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from osrag.errors import BadWeights
from osrag.models.e5 import E5Encoder, batches, load_e5
from osrag.models.e5_convert import write_folder
from osrag.models.e5_graph import paired
from osrag.models.e5_packed import Packed, dequantise, read_packed
from osrag.models.e5_pairs import E5Pairs
from osrag.recent import Recent

HIDDEN, INNER, LAYERS, HEADS = 32, 64, 2, 2
PIECES = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁query", "▁passage", ":", "▁lock", "s", "锁", "～", "a", "b"]


def q4(values: np.ndarray) -> bytes:
    """A slow, plain Q4_0 packer: 32 weights share a scale; low nibbles first, then high ones."""
    out = b""
    for block in values.reshape(-1, 32):
        scale = np.float16(np.abs(block).max() / 7 or 1.0)
        numbers = [max(0, min(15, round(float(value) / float(scale)) + 8)) for value in block]
        out += scale.tobytes() + bytes(numbers[j] | numbers[j + 16] << 4 for j in range(16))
    return out


def packed_file(path: Path) -> Path:
    """A tiny random model in the packed format."""
    draw = np.random.default_rng(5)
    tensors: list[tuple[str, bool, int, bytes]] = []

    def matrix(name: str, rows: int, columns: int) -> None:
        tensors.append((name, True, rows * columns, q4(draw.normal(0, 0.3, (rows, columns)))))

    def vector(name: str, size: int, centre: float = 0.0) -> None:
        data = draw.normal(centre, 0.1, size).astype("<f4").tobytes()
        tensors.append((name, False, size, data))

    matrix("emb.word", len(PIECES), HIDDEN)
    vector("emb.pos", 512 * HIDDEN)
    vector("emb.type", 2 * HIDDEN)
    vector("emb.ln.w", HIDDEN, 1.0)
    vector("emb.ln.b", HIDDEN)
    for layer in range(LAYERS):
        for name, rows, columns in [("q", HIDDEN, HIDDEN), ("k", HIDDEN, HIDDEN), ("v", HIDDEN, HIDDEN),
                                    ("ao", HIDDEN, HIDDEN), ("fi", INNER, HIDDEN), ("fo", HIDDEN, INNER)]:  # fmt: skip
            matrix(f"l{layer}.{name}.w", rows, columns)
            vector(f"l{layer}.{name}.b", rows)
        for name in ("aln", "oln"):
            vector(f"l{layer}.{name}.w", HIDDEN, 1.0)
            vector(f"l{layer}.{name}.b", HIDDEN)

    blob = "".join(PIECES).encode()
    ends = np.cumsum([0] + [len(piece.encode()) for piece in PIECES]).astype("<u4")
    scores = np.array([0, 0, 0, 0, *[-float(n) for n in range(1, len(PIECES) - 3)]], "<f4")
    head = b"E5S1" + struct.pack("<I7ifi", 1, HIDDEN, LAYERS, HEADS, INNER, len(PIECES), 512, 2, 1e-12, 32)
    head += struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob)) + ends.tobytes() + scores.tobytes() + blob
    head += struct.pack("<iI", 0, 0) + struct.pack("<i", len(tensors))
    start = len(head) + sum(2 + len(name) + 21 for name, *_ in tensors)
    body = b""
    for name, quantised, count, data in tensors:
        head += struct.pack("<H", len(name)) + name.encode()
        head += struct.pack("<BIQQ", quantised, count, start + len(body), len(data))
        body += data
    path.write_bytes(head + body)
    return path


def test_q4_blocks_by_hand() -> None:
    # One block: scale 0.5; nibbles 0..15 in the low halves, 15..0 in the high ones.
    block = np.float16(0.5).tobytes() + bytes(j | (15 - j) << 4 for j in range(16))
    (values,) = dequantise(np.frombuffer(block, np.uint8)[None])
    assert values[:16].tolist() == [(j - 8) * 0.5 for j in range(16)]
    assert values[16:].tolist() == [(7 - j) * 0.5 for j in range(16)]


def test_neighbours_share_a_byte() -> None:
    assert paired(np.array([[1, 2, 15, 0]], np.uint8)).tolist() == [[0x21, 0x0F]]


NAMES = {"emb.word": "embeddings.word_embeddings", "emb.pos": "embeddings.position_embeddings",
         "emb.type": "embeddings.token_type_embeddings", "emb.ln": "embeddings.LayerNorm",
         "q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value",
         "ao": "attention.output.dense", "aln": "attention.output.LayerNorm", "fi": "intermediate.dense",
         "fo": "output.dense", "oln": "output.LayerNorm"}  # fmt: skip


def name_in_transformers(name: str) -> str:
    """The name that `BertModel` has for a tensor of the packed file."""
    if name in NAMES:
        return f"{NAMES[name]}.weight"
    owner, kind = name.rsplit(".", 1)
    kind = {"w": "weight", "b": "bias"}[kind]
    if owner in NAMES:
        return f"{NAMES[owner]}.{kind}"
    layer, part = owner[1:].split(".")
    return f"encoder.layer.{layer}.{NAMES[part]}.{kind}"


def test_texts_are_normalised_as_the_model_was_trained(tmp_path: Path) -> None:
    from tokenizers import Tokenizer

    write_folder(read_packed(packed_file(tmp_path / "p.bin")), tmp_path / "folder")
    tokenizer = Tokenizer.from_file(str(tmp_path / "folder" / "tokenizer.json"))

    def pieces(text: str) -> list[str]:
        return tokenizer.encode(text).tokens

    assert pieces("query: locks") == ["<s>", "▁query", ":", "▁lock", "s", "</s>"]
    # NFKC: wide letters and the ideographic space; the wide tilde stays.
    assert pieces("query：　ａ") == ["<s>", "▁query", ":", "▁", "a", "</s>"]
    assert pieces("  a  ～") == ["<s>", "▁", "a", "▁", "～", "</s>"]
    assert pieces("锁\nb") == ["<s>", "▁", "锁", "▁", "b", "</s>"]


def weights_of(packed: Packed) -> dict[str, np.ndarray]:
    """Everything under the names of the packed file, matrices as (out, in)."""
    flat = {name: values.reshape(-1, HIDDEN) for name, values in packed.tensors.items() if name in NAMES}
    return packed.tensors | flat | {name: packed.matrix(name) for name in packed.blocks}


@pytest.mark.slow  # importing transformers takes as long as all other tests of this file
def test_the_network_is_that_of_transformers(tmp_path: Path) -> None:
    import torch
    from transformers import BertConfig, BertModel

    from bench.bert import Bert

    packed = read_packed(packed_file(tmp_path / "p.bin"))
    theirs = BertModel(BertConfig(**packed.sizes), add_pooling_layer=False).eval()
    weights = {name_in_transformers(name): torch.tensor(values) for name, values in weights_of(packed).items()}
    theirs.load_state_dict(weights)  # all of them, and of the right shapes
    encoder = load_e5(tmp_path / "p.bin", tmp_path, sha256="ab" * 32, threads=1)
    encodings = encoder._tokenised(["query: locks", "passage: a"])
    ids, lengths = encoder.padded(encodings)
    kept = np.arange(ids.shape[1]) < lengths[:, None]
    with torch.no_grad():
        read = theirs(input_ids=torch.tensor(ids), attention_mask=torch.tensor(kept)).last_hidden_state.numpy()
    ours, theirs_mean = encoder._forward(encodings, encoder._plain), (read * kept[:, :, None]).sum(1)
    assert ours.shape == (2, HIDDEN)
    trained = Bert(packed, torch.float32)  # as adapters are trained
    states = trained.states(torch.tensor(ids), torch.tensor(kept), trained.layers).numpy()
    assert np.allclose(states[kept], read[kept], atol=2e-3)  # the table of words in half precision
    # What is multiplied is rounded to eight bits here.
    assert ((ours * theirs_mean).sum(1) / np.linalg.norm(theirs_mean, axis=1)).min() > 0.999


def adapter_file(path: Path, up: float) -> Path:
    """A random adapter of both layers; `up` is the size of what it adds."""
    from safetensors.numpy import save_file

    draw = np.random.default_rng(3)
    rows = {"qkv": 3 * HIDDEN, "out": HIDDEN, "inner": INNER, "outer": HIDDEN}
    held = {"head.weight": draw.normal(0, 1, (1, 2 * HIDDEN)), "head.bias": np.array([0.5])}
    for layer in range(LAYERS):
        for part, out in rows.items():
            held[f"{layer}.{part}.down"] = draw.normal(0, 1, (4, INNER if part == "outer" else HIDDEN))
            held[f"{layer}.{part}.up"] = draw.normal(0, up, (out, 4)) if up else np.zeros((out, 4))
    save_file({name: np.ascontiguousarray(value, np.float16) for name, value in held.items()}, path)
    return path


def test_an_adapter_changes_what_pairs_are_read_as_and_nothing_else(tmp_path: Path) -> None:
    encoder = load_e5(packed_file(tmp_path / "p.bin"), tmp_path, sha256="ab" * 32, threads=1)
    before = encoder.passages(["locks"])
    empty = E5Pairs(encoder, adapter_file(tmp_path / "empty.safetensors", up=0.0))
    full, alone = (E5Pairs(encoder, adapter_file(tmp_path / "full.safetensors", up=0.3)) for _ in range(2))
    asked = "lock", ["a locks", "锁", "b"]
    assert np.abs(full.scores(*asked) - empty.scores(*asked)).max() > 0.05
    assert np.allclose(alone.scores("lock", ["锁"]), full.scores(*asked)[1], atol=0.05)  # whatever stands beside it
    encoder._passage = Recent(0)
    assert (encoder.passages(["locks"]) == before).all()


def test_vectors_keep_the_order_of_the_texts(tmp_path: Path) -> None:
    encoder = load_e5(packed_file(tmp_path / "p.bin"), tmp_path, sha256="ab" * 32, threads=1)
    texts = ["lock" * n for n in (5, 1, 9, 3, 700)] + [""]
    together = encoder.passages(texts)
    encoder._passage = Recent(0)
    alone = np.concatenate([encoder.passages([text]) for text in texts])
    assert together.shape == (6, HIDDEN) and together.dtype == np.float32
    assert np.allclose((together * alone).sum(1), 1, atol=1e-3)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert encoder.queries([]).shape == (0, HIDDEN)
    assert encoder.revision.startswith("ab" * 8)


def test_each_token_of_a_question_stands_at_its_place(tmp_path: Path) -> None:
    encoder = load_e5(packed_file(tmp_path / "p.bin"), tmp_path, sha256="ab" * 32, threads=1)
    states, places = encoder.tokens("locks 锁")
    assert states.shape == (len(places), HIDDEN)
    assert ["locks 锁"[start:end].strip() for start, end in places if end > 0] == ["lock", "s", "", "锁"]
    mean = states.mean(axis=0)
    assert np.allclose(mean / np.linalg.norm(mean), encoder.queries(["locks 锁"])[0], atol=1e-2)


def test_weights_are_converted_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_e5(packed_file(tmp_path / "p.bin"), tmp_path, sha256="ab" * 32, threads=1).queries(["lock"])
    monkeypatch.setattr("osrag.models.e5.write_folder", None)
    assert (load_e5(tmp_path / "p.bin", tmp_path, sha256="ab" * 32, threads=1).queries(["lock"]) == first).all()


def test_another_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(BadWeights, match="not a packed E5 model"):
        read_packed(tmp_path / "x.bin")


def test_batches_hold_every_text_once_and_stay_small() -> None:
    lengths = [500, 3, 80, 80, 3, 81, 600]
    found = list(batches(lengths, 512))
    assert sorted(place for batch in found for place in batch) == list(range(7))
    assert all(len(batch) == 1 or len(batch) * max(lengths[p] for p in batch) <= 512 for batch in found)
    assert found[-1] == [6]


def test_queries_are_read_beside_a_batch_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_e5(packed_file(tmp_path / "p.bin"), tmp_path, sha256="ab" * 32, threads=1)
    read, forward = [], encoder._forward
    monkeypatch.setattr(
        encoder, "_forward", lambda encodings, *by: read.append(len(encodings)) or forward(encodings, *by)
    )
    with ThreadPoolExecutor(1) as visitors:
        began, gate = threading.Event(), threading.Event()
        visitors.submit(encoder.run, lambda: began.set() or gate.wait())  # a batch that runs meanwhile
        began.wait()
        found = encoder.queries(["lock"])
        gate.set()
    assert (encoder.queries(["lock"]) == found).all() and read == [1]


def test_a_query_that_fails_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_e5(packed_file(tmp_path / "p.bin"), tmp_path, sha256="ab" * 32, threads=1)
    with monkeypatch.context() as broken, pytest.raises(MemoryError):
        broken.setattr(encoder, "_forward", lambda *_: (_ for _ in ()).throw(MemoryError()))
        encoder.queries(["lock"])
    assert encoder.queries(["lock"]).shape == (1, HIDDEN)


@pytest.mark.parametrize(("patience_s", "order"), [(1.0, ["lock", "ab"]), (-1.0, ["ab", "lock"])])
def test_the_lines_of_an_answer_go_before_a_long_file_until_it_has_waited_long(
    patience_s: float, order: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("osrag.models.e5.PATIENCE_S", patience_s)
    monkeypatch.setattr("osrag.models.e5.MOST_PATIENCE_S", 1000.0)
    encoder = load_e5(packed_file(tmp_path / "p.bin"), tmp_path, sha256="ab" * 32, threads=1)
    file = ["ab" * n for n in range(1, 10)]
    assert in_order(encoder, lambda: encoder.passages(file), lambda: encoder.passages(["lock"])) == order


def in_order(encoder: E5Encoder, first: Callable[[], Any], then: Callable[[], Any]) -> list[str]:
    """Which is read first where both wait: a text of "lock" or those of "ab"."""
    read, forward = [], encoder._forward
    lock = encoder.tokenizer.token_to_id("▁lock")

    def watched(encodings: Sequence[Any], *by: Any) -> np.ndarray:
        read.append("lock" if lock in encodings[0].ids else "ab")
        return forward(encodings, *by)

    encoder._forward = watched
    with ThreadPoolExecutor(3) as visitors:
        began, gate = threading.Event(), threading.Event()
        visitors.submit(encoder.run, lambda: began.set() or gate.wait())  # a batch that runs meanwhile
        began.wait()
        for count, call in enumerate((first, then), start=1):
            visitors.submit(call)
            while encoder._line.qsize() < count:
                pass
        gate.set()
    return read


def test_a_passage_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_e5(packed_file(tmp_path / "p.bin"), tmp_path, sha256="ab" * 32, threads=1)
    read, forward = [], encoder._forward
    monkeypatch.setattr(
        encoder, "_forward", lambda encodings, *by: read.append(len(encodings)) or forward(encodings, *by)
    )
    first = encoder.passages(["lock", "ab", "lock"])
    again = encoder.passages(["ab", "lock", "locks"])
    assert read == [2, 1]
    assert (again[:2] == first[[1, 0]]).all() and (first[0] == first[2]).all()


def test_a_pair_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = load_e5(packed_file(tmp_path / "p.bin"), tmp_path, sha256="ab" * 32, threads=1)
    pairs = E5Pairs(encoder, adapter_file(tmp_path / "a.safetensors", up=0.3))
    read, states = [], encoder.pair_states
    monkeypatch.setattr(
        encoder, "pair_states", lambda encodings, by: read.append(len(encodings)) or states(encodings, by)
    )
    first = pairs.scores("lock", ["ab", "locks", "ab"])
    again = pairs.scores("lock", ["locks", "b"])
    assert read == [2, 1] and first[0] == first[2] and again[0] == first[1]
    assert pairs.scores("b", ["ab"])[0] != first[0] and pairs.scores("b", []).shape == (0,)
