"""Claims about functions, held against their code and descriptions."""

import pytest

from osrag.kernel.claims import CodeEvidence, check_code
from osrag.types import ChunkKind, CodeChunk, LineRef, Passage


def chunk(name: str, text: str, calls: tuple[str, ...] = (), en: str = "") -> CodeChunk:
    return CodeChunk(
        f"k.c:{name}", text, "k.c", LineRef(1, text.count("\n")), ChunkKind.FUNCTION, name, en, calls=calls
    )


FREE = chunk(
    "free_slab",
    "void free_slab(struct slab *s)\n{\n\tdiscard(s, 4096);\n\tput_partial(s);\n}\n",
    ("discard", "put_partial"),
    "Frees an object.",
)
ALLOC = chunk(
    "alloc_slab",
    "void *alloc_slab(void)\n{\n\treturn take_partial();\n}\n",
    ("take_partial",),
    "Takes an object from the list of the processor without a lock.",
)
EVIDENCE = CodeEvidence(
    [Passage(n, one, 1.0, 0.9) for n, one in enumerate((FREE, ALLOC), start=1)], told=("free_slab", "alloc_slab")
)


@pytest.mark.parametrize(
    ("claim", "passage", "reason"),
    [
        ("`free_slab` frees an object.", 1, ""),
        ("`alloc_slab` takes an object from the list of the processor.", 2, ""),
        ("`alloc_slab` balances the load between processors.", None, "words"),  # what only a question speaks of
        ("`free_slab` calls `alloc_slab`.", None, "calls"),
        ("`put_partial` is called by `free_slab`.", 1, ""),
        ("`free_slab` frees an object: `discard`, then `put_partial`.", 1, ""),
        ("`free_slab` frees an object: `put_partial`, then `discard`.", None, "order"),
        ("`free_slab` frees an object: `discard` after `put_partial`.", None, "order"),
        ("`free_slab` 先 `put_partial`，再 `discard`。", None, "order"),
        ("`free_now` frees an object.", None, "name"),
        ("`free_slab` frees an object, discards 4096 of it and puts it on the partial list.", 1, ""),
        ("`free_slab` frees an object, discards 8192 of it and puts it on the partial list.", None, "number"),
    ],
)
def test_a_claim_is_bound_to_the_function_that_supports_it(claim, passage, reason):
    support = check_code(claim, EVIDENCE)
    assert (support.passage, support.reason) == (passage, reason)
