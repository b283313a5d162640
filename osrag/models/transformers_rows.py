"""Replies that one `generate` of transformers makes side by side, each with its own sampling, grammar and end."""

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from osrag.errors import MissingExtra, ModelFailed
from osrag.models.protocols import ChatOptions
from osrag.models.replies import Inbox
from osrag.models.weigh import TOP, spread

if TYPE_CHECKING:
    import torch

INSTALL = "pip install -r requirements-gpu.txt"
TOP_K = 20  # as the makers of Qwen3 recommend


def first_line(error: Exception) -> str:
    """What went wrong in one line; a graphics driver says it in twenty."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200]


@dataclass(slots=True)
class Row:
    """One reply in the making. Whoever reads it sets `left` to stop it."""

    ids: list[int]  # the prompt
    options: ChatOptions
    max_new: int
    inbox: Inbox[str] = field(default_factory=Inbox)
    left: threading.Event = field(default_factory=threading.Event)
    generated: int = 0
    ended: str = "stopped"  # "done" or "length" once it is known

    @property
    def over(self) -> bool:
        """Is nothing more to be generated?"""
        return self.left.is_set() or self.ended != "stopped"


class Pen:
    """Writes one row: chooses its next token, and puts its text into the inbox. Called once a step."""

    def __init__(self, row: Row, ends: frozenset[int], tokenizer: Any, grammar: Any) -> None:
        from tokenizers.decoders import DecodeStream

        self.row = row
        self.grammar = grammar  # an xgrammar.GrammarMatcher, or None
        self._ends = ends
        self._tokenizer = tokenizer
        self._text = DecodeStream(skip_special_tokens=True)  # gives out a character when it is whole
        self._generator: torch.Generator | None = None
        self._chances = ""  # of the choices, where chances are asked for and not words

    def choose(self, scores: "torch.Tensor", bitmask: Any) -> int:
        """The next token of this row from its `scores` (vocabulary,)."""
        import torch

        if self.row.over:
            return next(iter(self._ends))
        if self.row.options.choices:
            best, places = torch.softmax(scores.float(), dim=-1).topk(min(TOP, scores.shape[-1]))
            words = [self._tokenizer.decode([place]) for place in places.tolist()]
            self._chances = spread(zip(words, best.tolist(), strict=True), self.row.options.choices)
            return int(places[0])
        if self.grammar is not None:
            import xgrammar

            self.grammar.fill_next_token_bitmask(bitmask, 0)
            scores = scores[None, :].float()
            xgrammar.apply_token_bitmask_inplace(scores, bitmask.to(scores.device))
            scores = scores[0]
        if self._generator is None and self.row.options.seed is not None:
            self._generator = torch.Generator(scores.device).manual_seed(self.row.options.seed)
        token = pick(scores, self.row.options, self._generator)
        if self.grammar is not None and not self.grammar.is_terminated():
            self.grammar.accept_token(token)
        return token

    def write(self, token: int) -> None:
        """Take in the chosen token; sets how the row ended when it did."""
        row = self.row
        if row.over:
            return
        row.generated += 1
        if row.options.choices:
            row.inbox.put(self._chances)
            row.ended = "done"
        elif token in self._ends:
            row.ended = "done"
        else:
            if text := self._text.step(self._tokenizer.backend_tokenizer, token):
                row.inbox.put(text)
            if self.grammar is not None and self.grammar.is_terminated():
                row.ended = "done"
            elif row.generated >= row.max_new:
                row.ended = "length"
        if row.over:
            row.inbox.put(None)


def pick(scores: "torch.Tensor", options: ChatOptions, generator: "torch.Generator | None") -> int:
    """Sample from `scores` (vocabulary,): the `TOP_K` best, of them those that hold `top_p` of the mass."""
    import torch

    if options.temperature <= 0:
        return int(scores.argmax())
    best, places = scores.float().topk(min(TOP_K, scores.shape[-1]))
    chances = torch.softmax(best / options.temperature, dim=-1)
    before = chances.cumsum(-1) - chances
    chances = torch.where(before < options.top_p, chances, 0.0)
    return int(places[torch.multinomial(chances, 1, generator=generator)])


class Batch:
    """What `generate` asks of its caller at every step: the next tokens, where they go, and which rows are over."""

    def __init__(self, pens: Sequence[Pen], bitmask: Any) -> None:
        self._pens = pens
        self._bitmask = bitmask
        self._prompt = True

    def only_chosen(self, input_ids: "torch.Tensor", scores: "torch.Tensor") -> "torch.Tensor":
        """As a logits processor: choose for every row of `scores` (rows, vocabulary), and leave nothing else."""
        import torch

        chosen = [pen.choose(scores[place], self._bitmask) for place, pen in enumerate(self._pens)]
        only = torch.full_like(scores, float("-inf"))
        only[torch.arange(len(chosen)), torch.tensor(chosen)] = 0
        return only

    def over(self, input_ids: "torch.Tensor", scores: Any, **kwargs: Any) -> "torch.Tensor":
        """As a stopping criterion: (rows,), true where the text is finished or the student has gone."""
        import torch

        return torch.tensor([pen.row.over for pen in self._pens], device=input_ids.device)

    def put(self, value: "torch.Tensor") -> None:
        """As a streamer: give each row its token. The first value is the prompt."""
        if self._prompt:
            self._prompt = False
            return
        for pen, token in zip(self._pens, value.reshape(-1).tolist(), strict=True):
            pen.write(token)

    def end(self) -> None:
        """Rows end by themselves; nothing is left to say."""


class RowGenerator:
    """A loaded model with its tokenizer. `run` is one call of `generate`; several may run at once."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer
        tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token  # some have none
        ends = model.generation_config.eos_token_id
        found = ends if isinstance(ends, list) else [ends]
        self.ends = frozenset({*(end for end in found if end is not None), tokenizer.eos_token_id})
        self._compiler: Any = None
        self._grammars: dict[str, Any] = {}

    def run(self, rows: Sequence[Row]) -> None:
        """Generate all `rows` to their ends. Raises ModelFailed when memory or the device gives out."""
        import torch

        pens = [Pen(row, self.ends, self.tokenizer, self._matcher(row.options.schema)) for row in rows]
        padded = self.tokenizer.pad({"input_ids": [row.ids for row in rows]}, padding_side="left", return_tensors="pt")
        batch = Batch(pens, self._bitmask() if any(pen.grammar for pen in pens) else None)
        try:
            with torch.inference_mode():
                self.model.generate(
                    **padded.to(self.model.device),
                    max_new_tokens=max(row.max_new for row in rows),
                    do_sample=False,  # the pens sample
                    temperature=None,
                    top_p=None,
                    top_k=None,
                    pad_token_id=min(self.ends),
                    logits_processor=[batch.only_chosen],
                    stopping_criteria=[batch.over],
                    streamer=batch,
                )
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            raise ModelFailed(
                "the graphics memory is full", hint="ask again in a minute; the operator can set OSRAG_SLOTS lower"
            ) from error
        except RuntimeError as error:
            raise ModelFailed(
                f"the chat model failed: {first_line(error)}", hint="ask again; if it stays, restart osrag"
            ) from error

    def _matcher(self, schema: Mapping[str, Any] | None) -> Any:
        """A fresh grammar for one reply, None without a schema; the compiled schema is kept."""
        if schema is None:
            return None
        try:
            import xgrammar
        except ImportError as error:
            raise MissingExtra("the package xgrammar is not installed", hint=INSTALL) from error
        if self._compiler is None:
            info = xgrammar.TokenizerInfo.from_huggingface(
                self.tokenizer, vocab_size=self.model.config.vocab_size, stop_token_ids=sorted(self.ends)
            )
            self._compiler = xgrammar.GrammarCompiler(info)
        text = json.dumps(schema, ensure_ascii=False)
        if text not in self._grammars:
            self._grammars[text] = self._compiler.compile_json_schema(text)
        return xgrammar.GrammarMatcher(self._grammars[text])

    def _bitmask(self) -> Any:
        import xgrammar

        return xgrammar.allocate_token_bitmask(1, self.model.config.vocab_size)
