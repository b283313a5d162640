"""How a large chat model is loaded. Apart from its backend, so that choosing one does not import torch."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Precision = Literal["nf4", "bfloat16", "float32"]
INSTALL = "pip install -r requirements-gpu.txt"


@dataclass(frozen=True, slots=True)
class ChatConfig:
    folder: Path
    name: str
    precision: Precision = "nf4"
    device: str = "cuda"
    context_tokens: int = 4096
    slots: int = 4
    thinking: bool = False
