"""`transformers.generate` over several rows: constrained, streamed, stopped each for itself."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from transformers import LogitsProcessor, StoppingCriteria
from transformers.generation.streamers import BaseStreamer

from osrag.errors import MissingExtra, ModelFailed
from osrag.models.rows import MINUS_INFINITY, Pen, Row


class Chooser(LogitsProcessor):  # type: ignore[misc, unused-ignore]
    """Chooses the next token of every row and leaves `generate` no other."""

    def __init__(self, pens: Sequence[Pen], bitmask: Any) -> None:
        self._pens = pens
        self._bitmask = bitmask
        self.chosen: list[int] = []

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor) -> torch.Tensor:
        """`scores` is (rows, vocabulary)."""
        self.chosen = [
            next(iter(pen.ends)) if pen.row.over else pen.choose(scores[place], self._bitmask)
            for place, pen in enumerate(self._pens)
        ]
        only = torch.full_like(scores, MINUS_INFINITY)
        only[torch.arange(len(self.chosen)), torch.tensor(self.chosen)] = 0
        return only


class Streams(BaseStreamer):  # type: ignore[misc, unused-ignore]
    """One streamer of one call; hands each row its token as it is made."""

    def __init__(self, pens: Sequence[Pen]) -> None:
        self._pens = pens
        self._prompt = True

    def put(self, value: torch.Tensor) -> None:
        if self._prompt:  # the first value is the prompt
            self._prompt = False
            return
        for pen, token in zip(self._pens, value.reshape(-1).tolist(), strict=True):
            if not pen.row.over:
                pen.write(token)

    def end(self) -> None:
        """Rows end by themselves; nothing is left to say."""


class Leaving(StoppingCriteria):  # type: ignore[misc, unused-ignore]
    """Stops a row whose reader has gone or whose text is finished."""

    def __init__(self, pens: Sequence[Pen]) -> None:
        self._pens = pens

    def __call__(self, input_ids: torch.Tensor, scores: Any, **kwargs: Any) -> torch.Tensor:
        return torch.tensor([pen.row.over for pen in self._pens], device=input_ids.device)


class Generator:
    """A loaded model with its tokenizer. `run` is one call of `generate`; several may run at once."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self._model = model
        self.tokenizer = tokenizer
        ends = model.generation_config.eos_token_id
        found = ends if isinstance(ends, list) else [ends]
        self.ends = frozenset({*(end for end in found if end is not None), tokenizer.eos_token_id})
        self._compiler: Any = None
        self._grammars: dict[str, Any] = {}

    def decode(self, ids: list[int]) -> str:
        return str(self.tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def run(self, rows: Sequence[Row]) -> None:
        """Generate all `rows` to their ends. Raises ModelFailed when memory or the device gives out."""
        pens = [Pen(row, self.ends, self.decode, self._matcher(row.options.schema)) for row in rows]
        ids, mask = self._padded([row.ids for row in rows])
        chooser = Chooser(pens, self._bitmask() if any(pen.grammar for pen in pens) else None)
        try:
            with torch.inference_mode():
                self._model.generate(
                    input_ids=ids,
                    attention_mask=mask,
                    max_new_tokens=max(row.max_new for row in rows),
                    do_sample=False,  # the chooser samples
                    temperature=None,
                    top_p=None,
                    top_k=None,
                    pad_token_id=min(self.ends),
                    logits_processor=[chooser],
                    stopping_criteria=[Leaving(pens)],
                    streamer=Streams(pens),
                )
        except torch.OutOfMemoryError as error:
            torch.cuda.empty_cache()
            raise ModelFailed(
                "the graphics memory is full", hint="ask again in a minute; the operator can set OSRAG_SLOTS lower"
            ) from error
        except RuntimeError as error:
            said = str(error).strip().splitlines()[0][:200]
            raise ModelFailed(f"the chat model failed: {said}", hint="ask again; if it stays, restart osrag") from error

    def _padded(self, prompts: Sequence[list[int]]) -> tuple[torch.Tensor, torch.Tensor]:
        """(rows, longest) ids and mask, padded on the left, on the model's device."""
        longest = max(len(prompt) for prompt in prompts)
        pad = min(self.ends)
        ids = torch.tensor([[pad] * (longest - len(prompt)) + prompt for prompt in prompts])
        mask = torch.tensor([[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts])
        return ids.to(self._model.device), mask.to(self._model.device)

    def _matcher(self, schema: Mapping[str, Any] | None) -> Any:
        """A fresh grammar for one reply; the compiled schema is kept."""
        if schema is None:
            return None
        try:
            import xgrammar
        except ImportError as error:
            raise MissingExtra(
                "the package xgrammar is not installed", hint="pip install -r requirements-gpu.txt"
            ) from error
        if self._compiler is None:
            info = xgrammar.TokenizerInfo.from_huggingface(
                self.tokenizer, vocab_size=self._model.config.vocab_size, stop_token_ids=sorted(self.ends)
            )
            self._compiler = xgrammar.GrammarCompiler(info)
        text = json.dumps(schema, ensure_ascii=False)
        if text not in self._grammars:
            self._grammars[text] = self._compiler.compile_json_schema(text)
        return xgrammar.GrammarMatcher(self._grammars[text])

    def _bitmask(self) -> Any:
        import xgrammar

        return xgrammar.allocate_token_bitmask(1, self._model.config.vocab_size)
