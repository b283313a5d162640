"""The chat model of the `gpu` and `zerogpu` profiles: transformers, in NF4 (bitsandbytes) or bfloat16.

NF4 with double quantisation: Dettmers et al., "QLoRA", arXiv 2305.14314.
"""

import logging
import threading
import time
from collections.abc import Generator, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from osrag.errors import BadInput, BadWeights, MissingExtra, ModelBusy, ModelFailed
from osrag.models.chat_config import INSTALL, ChatConfig
from osrag.models.lanes import Lanes
from osrag.models.protocols import ChatAbilities, ChatOptions, Message
from osrag.models.relay import AGAIN, BEAT_S
from osrag.models.rows import Row
from osrag.models.thinking import WithoutThinking
from osrag.models.usage import Call, UsageMeter

if TYPE_CHECKING:
    from osrag.models.transformers_generate import Generator as RowGenerator

log = logging.getLogger(__name__)

LANES = 2
SMALLEST_REPLY = 16  # tokens that must fit behind the prompt


def half_precision(device: str) -> Any:
    """bfloat16, but float16 on cards that only emulate it (T4 and older)."""
    import torch

    emulated = device.startswith("cuda") and not torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.float16 if emulated else torch.bfloat16


def load_model(config: ChatConfig) -> tuple[Any, Any]:
    """(model, tokenizer) on the device. Raises BadWeights, MissingExtra, ModelFailed with the remedy."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    half = half_precision(config.device)
    how: dict[str, Any] = {"dtype": torch.float32 if config.precision == "float32" else half}
    if config.precision == "nf4":
        if find_spec("bitsandbytes") is None:
            raise MissingExtra("the package bitsandbytes is not installed", hint=INSTALL)
        how["quantization_config"] = BitsAndBytesConfig(
            load_in_4bit=True,
            bnb_4bit_quant_type="nf4",
            bnb_4bit_use_double_quant=True,
            bnb_4bit_compute_dtype=half,
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(config.folder, local_files_only=True)
        model = AutoModelForCausalLM.from_pretrained(
            config.folder, device_map={"": config.device}, local_files_only=True, use_safetensors=True, **how
        )
    except torch.OutOfMemoryError as error:
        raise ModelFailed(
            f"{config.name} does not fit into the graphics memory", hint="see the table in docs/deploy.md"
        ) from error
    except (OSError, ValueError, RuntimeError) as error:
        said = str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
        raise BadWeights(
            f"{config.name} cannot be loaded from {str(config.folder)!r}: {said}",
            hint="`python -m osrag fetch --profile gpu` checks the files and fetches what is missing",
        ) from error
    return model.eval(), tokenizer


class _Count:
    """What is known of a call while it runs."""

    def __init__(self, purpose: str) -> None:
        self.purpose = purpose
        self.start = time.monotonic()
        self.first_s: float | None = None
        self.failed = False

    def call(self, row: Row | None) -> Call:
        return Call(
            purpose=self.purpose,
            prompt_tokens_new=len(row.ids) if row else 0,
            prompt_tokens_cached=0,
            generated=row.generated if row else 0,
            first_token_s=self.first_s,
            total_s=time.monotonic() - self.start,
            ended="failed" if self.failed else row.ended if row else "stopped",
        )


class TransformersChat:
    """A ChatModel. Safe from several threads; `Lanes` says who is answered with whom."""

    def __init__(self, generator: "RowGenerator", lanes: Lanes, config: ChatConfig, usage: UsageMeter) -> None:
        self._generator = generator
        self._lanes = lanes
        self._config = config
        self._usage = usage
        self._slots = threading.BoundedSemaphore(config.slots)
        self._closed = False

    @property
    def name(self) -> str:
        return self._config.name

    @property
    def abilities(self) -> ChatAbilities:
        return ChatAbilities(
            context_tokens=self._config.context_tokens,
            constrained=find_spec("xgrammar") is not None,
            chain=True,
            slots=self._config.slots,
            weighs=True,
        )

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """Pieces of the reply; see `ChatModel.stream`."""
        if self._closed:
            raise ModelFailed("the chat model was closed")
        count = _Count(options.purpose)
        row = self._row(messages, options)
        while not self._slots.acquire(timeout=BEAT_S):
            yield ""
            if time.monotonic() - count.start > options.first_token_s:
                self._usage.event(options.purpose, "busy")
                raise ModelBusy(
                    f"all {self._config.slots} places of the model were taken for {options.first_token_s:.0f} s",
                    hint=AGAIN,
                )
        try:
            yield from self._reply(row, count)
        except Exception:
            count.failed = True
            raise
        finally:
            row.left.set()
            self._slots.release()
            self._usage.record(count.call(row))

    def prepare(self, prefix: Sequence[Message]) -> None:
        """One token, so that the first student does not wait for kernels to load."""
        for _ in self.stream(prefix, ChatOptions(max_tokens=1, temperature=0, purpose="prepare")):
            pass

    def count_tokens(self, text: str) -> int:
        return len(self._generator.tokenizer(text, add_special_tokens=False).input_ids)

    def close(self) -> None:
        """No new replies; those in the making go on to their ends."""
        self._closed = True

    def _row(self, messages: Sequence[Message], options: ChatOptions) -> Row:
        ids = prompt_ids(self._generator.tokenizer, messages, thinking=self._config.thinking)
        room = self._config.context_tokens - len(ids)
        if room < min(SMALLEST_REPLY, options.max_tokens):
            raise BadInput(
                f"the question with its passages has {len(ids)} tokens, more than the model can read "
                f"({self._config.context_tokens})",
                hint="ask a shorter question, or set OSRAG_CONTEXT_TOKENS higher",
            )
        return Row(ids, options, max_new=min(options.max_tokens, room))

    def _reply(self, row: Row, count: _Count) -> Generator[str, None, None]:
        self._lanes.submit(row)
        shown = WithoutThinking()
        left = row.options.first_token_s - (time.monotonic() - count.start)
        for piece in row.inbox.paced(first_s=max(0.1, left)):
            text = shown.feed(piece) if piece else ""
            if text and count.first_s is None:
                count.first_s = time.monotonic() - count.start
            yield text
        yield shown.flush()


def prompt_ids(tokenizer: Any, messages: Sequence[Message], *, thinking: bool) -> list[int]:
    """The prompt by the model's own chat template; thinking is off unless asked for."""
    turns = [{"role": message.role, "content": message.content} for message in messages]
    ids = tokenizer.apply_chat_template(
        turns, add_generation_prompt=True, enable_thinking=thinking, tokenize=True, return_dict=False
    )
    return [int(token) for token in ids]


def load_transformers_chat(config: ChatConfig, usage: UsageMeter) -> TransformersChat:
    """Load the model and be ready to answer."""
    from osrag.models.transformers_generate import Generator as RowGenerator

    generator = RowGenerator(*load_model(config))
    lanes = Lanes(generator.run, lanes=min(LANES, config.slots), rows=config.slots)
    return TransformersChat(generator, lanes, config, usage)
