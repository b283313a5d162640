"""Tiny models with random weights and the real file layout of the large ones."""

import json
from pathlib import Path

TEMPLATE = (
    "{%- for message in messages %}{{- '<|im_start|>' + message.role + "
    "'\\n' + message.content + '<|im_end|>' + '\\n' }}"
    "{%- endfor %}{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\\n\\n</think>\\n\\n' }}"
    "{%- endif %}{%- endif %}"
)


def bytes_tokenizer(folder: Path, *, size: int = 0) -> int:
    """A byte-level BPE without merges, with the special tokens of Qwen3, filled up to `size`; returns its size."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = alphabet + [f"w{place}" for place in range(len(alphabet), size - 3)]
    tokenizer = Tokenizer(models.BPE(vocab={sign: place for place, sign in enumerate(words)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        extra_special_tokens=["<|im_start|>"],
        chat_template=TEMPLATE,
    )
    fast.save_pretrained(folder)
    return len(fast)


def qwen3(folder: Path, *, layers: int = 2) -> Path:
    """A Qwen3 of 64 numbers a token."""
    import torch
    from transformers import GenerationConfig, Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(0)
    size = bytes_tokenizer(folder)
    config = Qwen3Config(
        vocab_size=320,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        max_position_embeddings=1024,
        tie_word_embeddings=False,
        eos_token_id=256,
    )
    assert size <= config.vocab_size
    model = Qwen3ForCausalLM(config).to(torch.bfloat16)
    model.generation_config = GenerationConfig(eos_token_id=[256, 257], do_sample=True, temperature=0.6, top_k=20)
    model.save_pretrained(folder, max_shard_size="100KB")
    assert (folder / "model.safetensors.index.json").is_file()  # several shards, as the real one
    return folder


def _xlm_roberta_files(folder: Path) -> None:
    """A unigram tokenizer over single signs, as XLM-RoBERTa has it."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    signs = [chr(code) for code in range(33, 127)] + list("进程调度内存页锁中断文件系统什么是与和的")
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)]
    pieces += [(sign, -3.0) for sign in signs]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        cls_token="<s>",
        unk_token="<unk>",
        pad_token="<pad>",
        model_max_length=512,
    )
    fast.save_pretrained(folder)


def _xlm_roberta_config() -> dict[str, object]:
    return {
        "vocab_size": 160,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
    }


def bge_m3(folder: Path, *, shape: dict[str, int] | None = None) -> Path:
    """XLM-RoBERTa as pytorch_model.bin with the two heads beside it; `shape` replaces sizes."""
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaModel

    torch.manual_seed(1)
    _xlm_roberta_files(folder)
    config = XLMRobertaConfig(**{**_xlm_roberta_config(), **(shape or {})})
    size = config.hidden_size
    model = XLMRobertaModel(config, add_pooling_layer=False)
    config.architectures = ["XLMRobertaModel"]
    config.save_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    torch.save(torch.nn.Linear(size, 1).state_dict(), folder / "sparse_linear.pt")
    torch.save(torch.nn.Linear(size, size).state_dict(), folder / "colbert_linear.pt")
    return folder


def bge_reranker(folder: Path) -> Path:
    import torch
    from transformers import XLMRobertaConfig, XLMRobertaForSequenceClassification

    torch.manual_seed(2)
    _xlm_roberta_files(folder)
    config = XLMRobertaConfig(**_xlm_roberta_config(), num_labels=1)
    XLMRobertaForSequenceClassification(config).save_pretrained(folder)
    return folder


def drop_shard(folder: Path) -> str:
    """Make a half download of `folder`; returns the missing file's name."""
    index = json.loads((folder / "model.safetensors.index.json").read_text("utf-8"))
    name = sorted(set(index["weight_map"].values()))[-1]
    (folder / name).unlink()
    return str(name)
