"""The chat model of the `gpu` and `zerogpu` profiles: transformers, in NF4 (bitsandbytes) or bfloat16.

NF4 with double quantisation: Dettmers et al., "QLoRA", arXiv 2305.14314. On a ZeroGPU Space the card is
lent for the seconds of one reply, which runs in a process that the Space forks.
"""

import json
import threading
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from osrag.errors import BadInput, BadWeights, MissingExtra, ModelFailed
from osrag.models.gateway import CHAT_PACE, ChatGateway, Inbox, Pace, Slot
from osrag.models.protocols import ChatAbilities, ChatOptions, Message, complete
from osrag.models.structured import TOP, spread
from osrag.models.usage import Call, UsageMeter

if TYPE_CHECKING:
    import torch

Precision = Literal["nf4", "bfloat16", "float32"]

INSTALL = "pip install -r requirements-gpu.txt"
TOP_K = 20  # as the makers of Qwen3 recommend
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
    pace: Pace = CHAT_PACE


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


def first_line(error: Exception) -> str:
    """What went wrong in one line; a graphics driver says it in twenty."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


# -- one reply ----------------------------------------------------------------------------------------


class Piece(NamedTuple):
    """What one token adds to a reply. Plain data: on a ZeroGPU Space it comes from another process."""

    text: str  # "" while a character is not whole
    generated: int  # tokens so far
    ended: str = "stopped"  # "done" or "length" with the last token


Pieces = Callable[[list[int], ChatOptions, int], Generator[Piece, None, None]]


class TokenGenerator:
    """A loaded model with its tokenizer. Several replies may be generated at once, in a thread each."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer
        ends = model.generation_config.eos_token_id
        found = ends if isinstance(ends, list) else [ends]
        self.ends = frozenset({*(end for end in found if end is not None), tokenizer.eos_token_id})
        self._compiler: Any = None

    def pieces(self, ids: list[int], options: ChatOptions, max_new: int) -> Generator[Piece, None, None]:
        """The reply to the prompt `ids`, token by token; closing it stops the model.

        Raises ModelFailed when memory or the device gives out.
        """
        import torch

        try:
            yield from self._pieces(ids, options, max_new)
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            raise ModelFailed(
                "the graphics memory is full", hint="ask again in a minute; the operator can set OSRAG_SLOTS lower"
            ) from error
        except RuntimeError as error:
            raise ModelFailed(
                f"the chat model failed: {first_line(error)}", hint="ask again; if it stays, restart osrag"
            ) from error

    def _pieces(self, ids: list[int], options: ChatOptions, max_new: int) -> Generator[Piece, None, None]:
        import torch
        from tokenizers.decoders import DecodeStream

        text = DecodeStream(skip_special_tokens=True)  # gives out a character when it is whole
        constrain = self._constraint(options.schema)
        seeded = None
        if options.seed is not None:
            seeded = torch.Generator(self.model.device).manual_seed(options.seed)
        unread, memory = ids, None  # the model keeps keys and values of the tokens that it has read
        for count in range(1, max_new + 1):
            tokens = torch.tensor([unread], device=self.model.device)
            with torch.inference_mode():
                read = self.model(input_ids=tokens, past_key_values=memory, use_cache=True, logits_to_keep=1)
            scores, memory = read.logits[0, -1].float(), read.past_key_values  # (vocabulary,)
            if options.choices:
                yield Piece(self._chances(scores, options.choices), count, "done")
                return
            if constrain is not None:
                scores = constrain(tokens, scores[None].clone())[0]
            token = pick(scores, options, seeded)
            if token in self.ends:
                yield Piece("", count, "done")
                return
            ended = "length" if count == max_new else "stopped"
            yield Piece(text.step(self.tokenizer.backend_tokenizer, token) or "", count, ended)
            unread = [token]

    def _chances(self, scores: "torch.Tensor", choices: Sequence[str]) -> str:
        """How likely each of `choices` is as the next word, as JSON."""
        best, places = scores.softmax(dim=-1).topk(min(TOP, len(scores)))
        words = [self.tokenizer.decode([place]) for place in places.tolist()]
        return spread(zip(words, best.tolist(), strict=True), choices)

    def _constraint(self, schema: Mapping[str, Any] | None) -> Any:
        """What takes in the last token and leaves only those that may follow in the schema; None without one.

        It serves one reply. The compiler keeps the schemas that it has compiled.
        """
        if schema is None:
            return None
        try:
            import xgrammar
            from xgrammar.contrib.hf import LogitsProcessor
        except ImportError as error:
            raise MissingExtra("the package xgrammar is not installed", hint=INSTALL) from error
        if self._compiler is None:
            info = xgrammar.TokenizerInfo.from_huggingface(
                self.tokenizer, vocab_size=self.model.config.vocab_size, stop_token_ids=sorted(self.ends)
            )
            self._compiler = xgrammar.GrammarCompiler(info)
        return LogitsProcessor(self._compiler.compile_json_schema(json.dumps(schema, ensure_ascii=False)))


def pick(scores: "torch.Tensor", options: ChatOptions, generator: "torch.Generator | None") -> int:
    """Sample from `scores` (vocabulary,): the `TOP_K` best, of them those that hold `top_p` of the mass."""
    import torch

    if options.temperature <= 0:
        return int(scores.argmax())
    best, places = scores.topk(min(TOP_K, len(scores)))
    chances = torch.softmax(best / options.temperature, dim=-1)
    before = chances.cumsum(-1) - chances
    chances = torch.where(before < options.top_p, chances, 0.0)
    return int(places[torch.multinomial(chances, 1, generator=generator)])


# -- the model ----------------------------------------------------------------------------------------


class TransformersChat:
    """A ChatModel. Each reply is generated by a thread of its own, at most `config.slots` at once.

    `pieces` stands for those of `generator` where they are generated in another process.
    """

    def __init__(
        self, generator: TokenGenerator, config: ChatConfig, usage: UsageMeter, pieces: Pieces | None = None
    ) -> None:
        self.name = config.name
        self.abilities = ChatAbilities(
            context_tokens=config.context_tokens,
            constrained=find_spec("xgrammar") is not None,
            chain=True,
            slots=config.slots,
            weighs=True,
        )
        self._generator = generator
        self._pieces = pieces or generator.pieces
        self._config = config
        self._gateway = ChatGateway(config.slots, usage, config.pace)
        self._closed = False

    def stream(self, messages: Sequence[Message], options: ChatOptions) -> Generator[str, None, None]:
        """Pieces of the reply; see `ChatModel.stream`."""
        if self._closed:
            raise ModelFailed("the chat model was closed")
        yield from self._gateway.stream(messages, options, self._reply)

    def prepare(self, prefix: Sequence[Message]) -> None:
        """One token, so that the first student does not wait for kernels to load."""
        complete(self, prefix, ChatOptions(max_tokens=1, temperature=0, purpose="prepare"))

    def count_tokens(self, text: str) -> int:
        """Tokens of `text` alone."""
        return len(self._generator.tokenizer(text, add_special_tokens=False).input_ids)

    def close(self) -> None:
        """No new replies; those in the making go on to their ends."""
        self._closed = True

    def _reply(
        self, messages: Sequence[Message], options: ChatOptions, slot: Slot, call: Call
    ) -> Generator[str, None, None]:
        """The text of one reply as it comes; "" at every beat without one, and while a character is not whole."""
        ids = prompt_ids(self._generator.tokenizer, messages, thinking=self._config.thinking)
        room = self._config.context_tokens - len(ids)
        if room < min(SMALLEST_REPLY, options.max_tokens):
            raise BadInput(
                f"the question with its passages has {len(ids)} tokens, more than the model can read "
                f"({self._config.context_tokens})",
                hint="ask a shorter question, or set OSRAG_CONTEXT_TOKENS higher",
            )
        call.prompt_tokens_new = len(ids)
        inbox: Inbox[Piece] = Inbox()
        left = threading.Event()

        def produce() -> Generator[Piece, None, None]:
            with closing(self._pieces(ids, options, min(options.max_tokens, room))) as pieces:
                for piece in pieces:
                    yield piece
                    if left.is_set():
                        return

        threading.Thread(target=inbox.fill, args=(produce,), name="generate", daemon=True).start()
        try:
            for piece in inbox.paced():
                if piece is not None:
                    call.generated, call.ended = piece.generated, piece.ended
                yield piece.text if piece else ""
        finally:
            left.set()


def prompt_ids(tokenizer: Any, messages: Sequence[Message], *, thinking: bool) -> list[int]:
    """The prompt by the model's own chat template; thinking is off unless asked for."""
    turns = [{"role": message.role, "content": message.content} for message in messages]
    ids = tokenizer.apply_chat_template(
        turns, add_generation_prompt=True, enable_thinking=thinking, tokenize=True, return_dict=False
    )
    return [int(token) for token in ids]


def load_transformers_chat(config: ChatConfig, usage: UsageMeter) -> TransformersChat:
    """Load the model and be ready to answer."""
    return TransformersChat(TokenGenerator(*load_model(config)), config, usage)


# -- ZeroGPU ------------------------------------------------------------------------------------------


def duration_s(ids: Sequence[int], options: ChatOptions, max_new: int) -> int:
    """Seconds of a card for one reply, with room to spare."""
    need = START_S + len(ids) / PROMPT_TOKENS_PER_S + max_new / TOKENS_PER_S
    return int(min(LONGEST_S, max(SHORTEST_S, need)))


def load_zerogpu_chat(config: ChatConfig, usage: UsageMeter) -> TransformersChat:
    """Load in bfloat16 and register the function that is lent a card. Call it before the page is launched.

    The model lies on "cuda" from the start: the Space keeps its weights ready to be moved.
    """
    try:
        import spaces
    except ImportError as error:
        raise MissingExtra("the package spaces is not installed", hint=INSTALL) from error

    generator = TokenGenerator(*load_model(config))
    return TransformersChat(generator, config, usage, spaces.GPU(generator.pieces, duration=duration_s))
