"""The chat model of the `gpu` and `zerogpu` profiles: transformers, in NF4 (bitsandbytes) or bfloat16.

NF4 with double quantisation: Dettmers et al., "QLoRA", arXiv 2305.14314. On a ZeroGPU Space the card is
lent for the seconds of one reply, which runs in a process that the Space forks.
"""

import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from osrag.errors import BadInput, BadWeights, MissingExtra, ModelFailed
from osrag.models.gateway import ChatGateway
from osrag.models.protocols import ChatAbilities, ChatOptions, Message, complete
from osrag.models.replies import Slot
from osrag.models.transformers_rows import INSTALL, Row, RowGenerator, first_line
from osrag.models.usage import Call, UsageMeter

Precision = Literal["nf4", "bfloat16", "float32"]
Run = Callable[[Sequence[Row]], None]  # generates rows to their ends
LentReply = tuple[str, int, str]  # text, tokens so far, how it ended ("" while it runs)

LANES = 2  # batches at once on one card
SMALLEST_REPLY = 16  # tokens that must fit behind the prompt
PROMPT_TOKENS_PER_S = 2_000.0  # of a card that ZeroGPU lends, with those below (docs/performance.md)
TOKENS_PER_S = 25.0  # bfloat16 on a shared card
START_S = 5.0
SHORTEST_S, LONGEST_S = 15, 120  # for which a card is asked: the shorter, the sooner it is lent


@dataclass(frozen=True, slots=True)
class ChatConfig:
    """How a large chat model is loaded."""

    folder: Path
    name: str
    precision: Precision = "nf4"
    device: str = "cuda"
    context_tokens: int = 4096
    slots: int = 4
    thinking: bool = False


def half_precision(device: str) -> Any:
    """bfloat16, but float16 on cards that only emulate it (T4 and older)."""
    import torch

    emulated = device.startswith("cuda") and not torch.cuda.is_bf16_supported(including_emulation=False)
    return torch.float16 if emulated else torch.bfloat16


def load_model(config: ChatConfig) -> tuple[Any, Any]:
    """(model, tokenizer) on the device. Raises BadWeights or ModelFailed with the remedy."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig

    half = half_precision(config.device)
    how: dict[str, Any] = {"dtype": torch.float32 if config.precision == "float32" else half}
    if config.precision == "nf4":
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
        raise BadWeights(
            f"{config.name} cannot be loaded from {str(config.folder)!r}: {first_line(error)}",
            hint="`python -m osrag fetch --profile gpu` checks the files and fetches what is missing",
        ) from error
    return model.eval(), tokenizer


class Lanes:
    """At most `lanes` batches at once, each of at most `rows` rows.

    A first question starts at once, alone, in a lane. While all lanes are busy the others gather, and go
    as one batch into the lane that comes free: a batch of eight takes little longer than one, eight
    threads on one card take eight times as long.
    """

    def __init__(self, run: Run, *, lanes: int, rows: int) -> None:
        self._run = run
        self._lanes, self._rows = lanes, rows
        self._lock = threading.Lock()
        self._waiting: deque[Row] = deque()
        self._busy = 0

    def submit(self, row: Row) -> None:
        """Have `row` generated; its text and its errors come through its inbox."""
        with self._lock:
            self._waiting.append(row)
            if self._busy == self._lanes:
                return
            self._busy += 1
        threading.Thread(target=self._work, name="generate", daemon=True).start()

    def _take(self) -> list[Row]:
        """The next batch; an empty one frees the lane."""
        with self._lock:
            batch: list[Row] = []
            while self._waiting and len(batch) < self._rows:
                row = self._waiting.popleft()
                if not row.left.is_set():
                    batch.append(row)
            if not batch:
                self._busy -= 1
            return batch

    def _work(self) -> None:
        while batch := self._take():
            try:
                self._run(batch)
            except BaseException as error:  # noqa: BLE001 - raised again where each row is read
                for row in batch:
                    row.inbox.put(error)


class TransformersChat:
    """A ChatModel. Safe from several threads; `Lanes` says who is answered with whom."""

    def __init__(self, generator: RowGenerator, lanes: Lanes, config: ChatConfig, usage: UsageMeter) -> None:
        self.name = config.name
        self.abilities = ChatAbilities(
            context_tokens=config.context_tokens,
            constrained=find_spec("xgrammar") is not None,
            chain=True,
            slots=config.slots,
            weighs=True,
        )
        self._generator = generator
        self._lanes = lanes
        self._config = config
        self._gateway = ChatGateway(config.slots, usage)
        self._closed = False

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """Pieces of the reply; see `ChatModel.stream`."""
        if self._closed:
            raise ModelFailed("the chat model was closed")
        row = self._row(messages, options)

        def reply(slot: Slot, call: Call) -> Generator[str, None, None]:
            return self._reply(row, call)

        yield from self._gateway.stream(messages, options, reply)

    def prepare(self, prefix: Sequence[Message]) -> None:
        """One token, so that the first student does not wait for kernels to load."""
        complete(self, prefix, ChatOptions(max_tokens=1, temperature=0, purpose="prepare"))

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` alone."""
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

    def _reply(self, row: Row, call: Call) -> Generator[str, None, None]:
        call.prompt_tokens_new = len(row.ids)
        self._lanes.submit(row)
        try:
            for piece in row.inbox.paced():
                yield piece or ""
        finally:
            call.generated, call.ended = row.generated, row.ended
            row.left.set()


def prompt_ids(tokenizer: Any, messages: Sequence[Message], *, thinking: bool) -> list[int]:
    """The prompt by the model's own chat template; thinking is off unless asked for."""
    turns = [{"role": message.role, "content": message.content} for message in messages]
    ids = tokenizer.apply_chat_template(
        turns, add_generation_prompt=True, enable_thinking=thinking, tokenize=True, return_dict=False
    )
    return [int(token) for token in ids]


def load_transformers_chat(config: ChatConfig, usage: UsageMeter) -> TransformersChat:
    """Load the model and be ready to answer."""
    generator = RowGenerator(*load_model(config))
    lanes = Lanes(generator.run, lanes=min(LANES, config.slots), rows=config.slots)
    return TransformersChat(generator, lanes, config, usage)


# -- ZeroGPU ------------------------------------------------------------------------------------------


def duration_s(ids: Sequence[int], options: ChatOptions, max_new: int) -> int:
    """Seconds of a card for one reply, with room to spare."""
    need = START_S + len(ids) / PROMPT_TOKENS_PER_S + max_new / TOKENS_PER_S
    return int(min(LONGEST_S, max(SHORTEST_S, need)))


def replies(run: Run) -> Callable[..., Generator[LentReply, None, None]]:
    """The function that is lent a card: plain data in, plain data out."""

    def reply(ids: list[int], options: ChatOptions, max_new: int) -> Generator[LentReply, None, None]:
        row = Row(ids, options, max_new)
        Lanes(run, lanes=1, rows=1).submit(row)
        try:
            for piece in row.inbox.paced():
                yield piece or "", row.generated, ""
            yield "", row.generated, row.ended
        finally:
            row.left.set()

    return reply


def runner(reply: Callable[..., Generator[LentReply, None, None]]) -> Run:
    """Fill the rows of this process from a reply made in another."""

    def run(rows: Sequence[Row]) -> None:
        for row in rows:
            pieces = reply(row.ids, row.options, row.max_new)
            for text, generated, ended in pieces:
                row.generated = generated
                if text:
                    row.inbox.put(text)
                if row.left.is_set():
                    pieces.close()  # the Space takes the card back
                    break
                if ended:
                    row.ended = ended
            row.inbox.put(None)

    return run


def load_zerogpu_chat(config: ChatConfig, usage: UsageMeter) -> TransformersChat:
    """Load in bfloat16 and register the function that is lent a card. Call it before the page is launched.

    The model lies on "cuda" from the start: the Space keeps its weights ready to be moved.
    """
    try:
        import spaces
    except ImportError as error:
        raise MissingExtra("the package spaces is not installed", hint=INSTALL) from error

    generator = RowGenerator(*load_model(config))
    lent: Any = spaces.GPU(replies(generator.run), duration=duration_s)
    lanes = Lanes(runner(lent), lanes=config.slots, rows=1)
    return TransformersChat(generator, lanes, config, usage)
