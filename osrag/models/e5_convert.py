"""Turn the packed multilingual-e5-small into a folder that loads fast, once."""

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from osrag.models.e5_graph import graph
from osrag.models.e5_packed import Packed

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# In the folder: the tables of words and of places, the graph, and the one that takes an adapter.
WORDS, PLACES, ENCODER, ADAPTED = "words.npy", "places.npy", "encoder.onnx", "adapted.onnx"


def unigram_tokenizer(packed: Packed) -> "Tokenizer":
    """The XLM-RoBERTa tokenizer: NMT + NFKC, metaspace, unigram, `<s> … </s>`."""
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

    tokenizer = Tokenizer(models.Unigram(packed.pieces, unk_id=packed.special["unk"], byte_fallback=False))
    # NFKC would turn the wide tilde of Chinese text into the ASCII one, which the model's own table keeps.
    kept, placeholder = "\uff5e", "\ue0fe"
    tokenizer.normalizer = normalizers.Sequence(
        [
            normalizers.Replace(kept, placeholder),
            normalizers.Nmt(),
            normalizers.NFKC(),
            normalizers.Replace(placeholder, kept),
            normalizers.Replace(Regex(" {2,}"), " "),
            normalizers.Strip(left=True, right=True),
        ]
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    begin, end = (packed.pieces[packed.special[name]][0] for name in ("bos", "eos"))
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}",
        special_tokens=[(begin, packed.special["bos"]), (end, packed.special["eos"])],
    )
    tokenizer.add_special_tokens([packed.pieces[index][0] for index in sorted(packed.special.values())])
    return tokenizer


def write_folder(packed: Packed, folder: Path) -> None:
    """Write sizes, tokenizer, tables and both graphs as `E5Encoder` reads them."""
    draft = folder.with_name(f"{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    config = {**packed.sizes, "pad_token_id": packed.special["pad"]}
    (draft / "config.json").write_text(json.dumps(config, indent=2), "utf-8")
    unigram_tokenizer(packed).save(str(draft / "tokenizer.json"), pretty=False)
    np.save(draft / WORDS, packed.blocks["emb.word"].reshape(packed.sizes["vocab_size"], -1))
    np.save(draft / PLACES, packed.places())
    for name, adapted in ((ENCODER, False), (ADAPTED, True)):
        (draft / name).write_bytes(graph(packed, adapted=adapted))
    try:
        draft.replace(folder)
    except OSError:
        # Another process finished first; its folder is as good as ours.
        shutil.rmtree(draft, ignore_errors=True)
        if not folder.is_dir():
            raise
