"""From settings to models: which backend each part runs on, and one step down where it cannot be had."""

import ctypes
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from osrag.errors import BadSettings, BadWeights, MissingExtra, ModelFailed, ModelNotFound, NoSpace, OsragError
from osrag.models.bge import BgeM3, BgeReranker
from osrag.models.e5 import E5Encoder, load_e5
from osrag.models.e5_pairs import E5Pairs
from osrag.models.gateway import Pace, chat_pace
from osrag.models.llama_cpp import EngineConfig, LlamaCpp
from osrag.models.protocols import ChatModel, Encoder, PairEncoder, Reranker
from osrag.models.served import ServedEncoder, check_model, connect, load_served_chat
from osrag.models.sources import ENCODER, RERANKER, HubModel, hub_model
from osrag.models.store import Store
from osrag.models.transformers_chat import INSTALL, ChatConfig, Precision, load_transformers_chat, load_zerogpu_chat
from osrag.models.usage import UsageMeter
from osrag.settings import Profile, Settings
from osrag.types import Language, Progress, silent
from osrag.wording import say

log = logging.getLogger(__name__)

# Fits the pinned weights of "chat" and no others.
CHOICE_ADAPTER = Path(__file__).parent.parent / "data" / "choice_adapter.gguf"
# Fits the pinned weights of "encoder" and no others.
SAME_QUESTION = CHOICE_ADAPTER.with_name("same_question.safetensors")
SAID_POINT = CHOICE_ADAPTER.with_name("said_point.safetensors")
SAYS_ANSWER = CHOICE_ADAPTER.with_name("says_answer.safetensors")
MIB = 1 << 20
NF4_MIB = 7_500  # Qwen3-8B in NF4 with 4k tokens of context
BFLOAT16_MIB = 20_000  # the same in bfloat16
KV_MIB = 604  # keys and values of 4,096 tokens: 36 layers × 8 heads × 128 × 2 × 2 bytes a token
BGE_M3 = "BGE-M3", "OSRAG_ENCODER_BACKEND=bge_m3"  # its name, and the setting that chooses it without a card
WITHOUT_ENGINE = "pip install -r requirements.txt, or set OSRAG_PROFILE=retrieval"
OTHERWISE = "set OSRAG_PROFILE=cpu for the small model, or OSRAG_PROFILE=endpoint for a served one"


# -- the machine --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Machine:
    """`gpu_mib` is the memory of the first CUDA device, 0 without one."""

    gpu_mib: int = 0
    zerogpu: bool = False

    @property
    def device(self) -> str:
        """Where encoder and reranker run. ZeroGPU lends its card by the call, which is too dear for a query."""
        return "cuda:0" if self.gpu_mib else "cpu"


def this_machine(environ: Mapping[str, str] | None = None) -> Machine:
    """Asks the driver and the environment; a few milliseconds, nothing is allocated."""
    env = os.environ if environ is None else environ
    zerogpu = env.get("SPACES_ZERO_GPU", "").lower() in {"1", "t", "true"}
    return Machine(gpu_mib=0 if zerogpu else _first_device_mib(), zerogpu=zerogpu)


def _first_device_mib() -> int:
    """From the driver's own library, so that `auto` on a laptop does not import torch to learn "none"."""
    try:
        cuda = ctypes.CDLL("nvcuda.dll" if os.name == "nt" else "libcuda.so.1")
    except OSError:
        return 0
    device, size = ctypes.c_int(), ctypes.c_size_t()
    failed = cuda.cuInit(0) or cuda.cuDeviceGet(ctypes.byref(device), 0)
    if failed or cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device):
        return 0
    return int(size.value // MIB)


def have_packages(*names: str) -> bool:
    """Are all these packages installed? Imports none of them."""
    return all(find_spec(name) is not None for name in names)


def slots_that_fit(gpu_mib: int, weights_mib: int, context_tokens: int, wanted: int) -> int:
    """Replies at once whose keys and values fit beside the weights; one at least."""
    each = max(1, KV_MIB * context_tokens // 4096)
    return max(1, min(wanted, (gpu_mib - weights_mib) // each + 1))


# -- which backend ------------------------------------------------------------------------------------


def resolve_profile(settings: Settings) -> Profile:
    """The profile that `auto` stands for on this machine: the best that runs without asking anybody."""
    if settings.profile != "auto":
        return settings.profile
    machine = this_machine()
    if machine.zerogpu and have_packages("spaces"):
        return "zerogpu"
    if machine.gpu_mib >= NF4_MIB and have_packages("bitsandbytes", "FlagEmbedding"):
        return "gpu"
    return "cpu"


def chat_backend(settings: Settings) -> str:
    """ "llama_cpp", "transformers", "openai" or "none"."""
    if settings.chat_backend != "auto":
        return settings.chat_backend
    by_profile = {"gpu": "transformers", "zerogpu": "transformers", "endpoint": "openai", "retrieval": "none"}
    return by_profile.get(resolve_profile(settings), "llama_cpp")


def encoder_backend(settings: Settings) -> str:
    """ "e5", "bge_m3" or "openai". On ZeroGPU a query has no card, so it is e5 there."""
    if settings.encoder_backend != "auto":
        return settings.encoder_backend
    profile = resolve_profile(settings)
    if profile == "endpoint" and settings.endpoint_embedding_model:
        return "openai"
    return "bge_m3" if profile == "gpu" else "e5"


def reranker_backend(settings: Settings) -> str:
    """ "bge_reranker" where a card is there to afford it, else "none"."""
    if settings.reranker_backend != "auto":
        return settings.reranker_backend
    return "bge_reranker" if resolve_profile(settings) == "gpu" else "none"


def needed(settings: Settings) -> tuple[str | HubModel, ...]:
    """What the store must have for these settings: names of pinned files and models of the hub, smallest first."""
    chat, encoder = chat_backend(settings), encoder_backend(settings)
    parts: tuple[tuple[bool, str | HubModel], ...] = (
        (encoder == "e5", "encoder"),
        (chat == "llama_cpp", "chat"),
        (encoder == "bge_m3", ENCODER),
        (reranker_backend(settings) == "bge_reranker", RERANKER),
        (chat == "transformers", hub_model(settings.chat_model, revision=settings.chat_revision)),
    )
    return tuple(model for is_needed, model in parts if is_needed)


# -- loading ------------------------------------------------------------------------------------------


def load_chat(settings: Settings, progress: Progress = silent, usage: UsageMeter | None = None) -> ChatModel | None:
    """The chat model of the settings; None when they have none (`retrieval`).

    Raises when it cannot be had: `load_chat_with_fallback` takes the next smaller one.
    """
    meter = usage or UsageMeter()
    backend = chat_backend(settings)
    if backend == "none":
        return None
    if backend == "openai":
        return load_served_chat(settings, meter)
    if backend == "transformers":
        return load_large_chat(settings, meter, progress, this_machine())
    need_package("xllamacpp", WITHOUT_ENGINE)
    config = EngineConfig(
        model=Store(settings).path("chat", progress),
        context_tokens=settings.context_tokens,
        slots=settings.slots,
        threads=settings.threads,
        prefixes=settings.cache_dir / "prefixes",
        adapter=CHOICE_ADAPTER,
    )
    return LlamaCpp(config, meter, chat_pace(settings))


def load_large_chat(settings: Settings, usage: UsageMeter, progress: Progress, machine: Machine) -> ChatModel:
    """The large chat model on the graphics card of `machine`."""
    config = chat_config(settings, machine)
    folder = Store(settings).path(hub_model(settings.chat_model, revision=settings.chat_revision), progress)
    load = load_zerogpu_chat if machine.zerogpu else load_transformers_chat
    return load(replace(config, folder=folder), usage)


def chat_config(settings: Settings, machine: Machine) -> ChatConfig:
    """How the large chat model is loaded on `machine`; its folder is filled in later.

    Raises MissingExtra or ModelFailed when it cannot run there. bfloat16 is faster
    and exact; NF4 is for cards that it does not fit. ZeroGPU gives no card while the
    weights are quantised, so there it is bfloat16.
    """
    if not machine.zerogpu and machine.gpu_mib == 0:
        raise MissingExtra("no CUDA device was found, and the large chat model needs one", hint=OTHERWISE)
    precision: Precision = "nf4"
    if settings.precision != "auto":
        precision = settings.precision
    elif machine.zerogpu or machine.gpu_mib >= BFLOAT16_MIB:
        precision = "bfloat16"
    weights = NF4_MIB if precision == "nf4" else BFLOAT16_MIB
    if not machine.zerogpu and machine.gpu_mib < weights:
        raise ModelFailed(
            f"the graphics card has {machine.gpu_mib:,} MB, {settings.chat_model} in {precision} needs {weights:,}",
            hint=OTHERWISE,
        )
    if precision == "nf4":
        need_package("bitsandbytes")
    slots = settings.slots
    if not machine.zerogpu:
        slots = slots_that_fit(machine.gpu_mib, weights, settings.context_tokens, settings.slots)
    return ChatConfig(
        folder=settings.cache_dir,
        name=settings.chat_model.rsplit("/", 1)[-1],
        precision=precision,
        context_tokens=settings.context_tokens,
        slots=slots,
        thinking=settings.thinking,
        pace=chat_pace(settings),
    )


def load_encoder(settings: Settings, progress: Progress = silent) -> Encoder:
    """The encoder of the settings, its weights fetched first where need be."""
    backend, store = encoder_backend(settings), Store(settings)
    if backend == "openai":
        if not settings.endpoint_embedding_model:
            raise MissingExtra("no embedding model of the endpoint is named", hint="set OSRAG_ENDPOINT_EMBEDDING_MODEL")
        pace = Pace(settings.embedding_per_s, settings.embedding_retries)
        served = ServedEncoder(connect(settings), settings.endpoint_embedding_model, UsageMeter(), pace)
        served.check_probe(settings.cache_dir / "endpoint")
        return served
    if backend == "bge_m3":
        device = device_for(settings.encoder_backend, *BGE_M3)
        return BgeM3(store.path(ENCODER, progress), revision=ENCODER.revision, device=device)
    packed = store.path("encoder", progress)
    return load_e5(packed, store.folder, sha256=store.weights("encoder").sha256, threads=settings.threads)


def load_pairs(encoder: Encoder, adapter: Path) -> PairEncoder | None:
    """The pair encoder of an adapter; None beside an encoder that it was not trained on."""
    return E5Pairs(encoder, adapter) if isinstance(encoder, E5Encoder) else None


def read_words(encoder: Encoder) -> None:
    """Let an encoder that stays read its table of words now and not word by word."""
    if isinstance(encoder, E5Encoder):
        encoder.read_words()


def load_reranker(settings: Settings, progress: Progress = silent) -> Reranker | None:
    """The reranker of the settings; None where the machine cannot afford one."""
    if reranker_backend(settings) == "none":
        return None
    device = device_for(settings.reranker_backend, "the reranker", "OSRAG_RERANKER_BACKEND=bge_reranker")
    return BgeReranker(Store(settings).path(RERANKER, progress), device=device)


def device_for(backend: str, what: str, by_name: str) -> str:
    """Where a large encoder or reranker runs.

    Raises MissingExtra if a profile chose the model and there is no card: a processor takes seconds for a query.
    An operator who names the backend (`backend` is not "auto") gets it on the processor all the same.
    """
    machine = this_machine()
    if backend == "auto" and not machine.gpu_mib:
        raise MissingExtra(
            f"no CUDA device was found, and {what} needs one",
            hint=f"set OSRAG_PROFILE=cpu for the small models, or {by_name} to run it on the processor, slowly",
        )
    return machine.device


def need_package(name: str, hint: str = INSTALL) -> None:
    """Raise MissingExtra if the package is not installed."""
    if not have_packages(name):
        raise MissingExtra(f"the package {name} is not installed", hint=hint)


# -- one step down ------------------------------------------------------------------------------------

Step = Literal["small_chat", "no_chat", "small_encoder", "no_reranker", "own_index"]
EXPECTED = (BadSettings, BadWeights, MissingExtra, ModelFailed, ModelNotFound, NoSpace)


@dataclass(frozen=True, slots=True)
class Notice:
    """What was replaced by what, and why; for the page and the log."""

    step: Step
    reason: str  # a sentence with its remedy

    def short(self, language: Language) -> str:
        """What serves instead, in one sentence."""
        return say(f"notice_{self.step}", language)

    def why(self, language: Language) -> str:
        """The reason with its remedy."""
        return say("notice_reason", language, reason=self.reason)

    def text(self, language: Language) -> str:
        """Both sentences."""
        return f"{self.short(language)} {self.why(language)}"


def notice(step: Step, error: OsragError) -> Notice:
    """The notice about an error after which something smaller serves. The log gets it too."""
    made = Notice(step, error.sentence())
    log.warning("%s", made.text("en"))
    return made


def load_chat_with_fallback(
    settings: Settings, progress: Progress, usage: UsageMeter | None = None
) -> tuple[ChatModel | None, tuple[Notice, ...]]:
    """The chat model of the settings, or the next smaller thing that works: large, small, retrieval only.

    Never raises for a model that cannot be had: None is retrieval only. The notices
    say what was stepped down from, in order.
    """
    try:
        return load_chat(settings, progress, usage), ()
    except EXPECTED as error:
        if not _large(settings):
            return None, (notice("no_chat", error),)
        told = notice("small_chat", error)
    small = settings.model_copy(update={"profile": "cpu", "chat_backend": "llama_cpp"})
    chat, notices = load_chat_with_fallback(small, progress, usage)
    return chat, (told, *notices)


def load_encoder_with_fallback(settings: Settings, progress: Progress) -> tuple[Encoder, tuple[Notice, ...]]:
    """The encoder of the settings, else e5. Raises what e5 raises: without an encoder there is no search."""
    try:
        return load_encoder(settings, progress), ()
    except EXPECTED as error:
        if encoder_backend(settings) == "e5":
            raise
        told = notice("small_encoder", error)
    return load_encoder(settings.model_copy(update={"encoder_backend": "e5"}), progress), (told,)


def load_reranker_with_fallback(settings: Settings, progress: Progress) -> tuple[Reranker | None, tuple[Notice, ...]]:
    """The reranker of the settings; None where there is none, or where it cannot be had."""
    try:
        return load_reranker(settings, progress), ()
    except EXPECTED as error:
        return None, (notice("no_reranker", error),)


def foreseen(settings: Settings) -> tuple[Notice, ...]:
    """The notices that a start would give, as far as they show without loading a model; a server is asked."""
    checks: tuple[tuple[Step, Callable[[Settings], None]], ...] = (
        ("small_chat" if _large(settings) else "no_chat", _check_chat),
        ("small_encoder", _check_encoder),
    )
    found: list[Notice] = []
    for step, check in checks:
        try:
            check(settings)
        except EXPECTED as error:
            found.append(Notice(step, error.sentence()))
    return tuple(found)


def _large(settings: Settings) -> bool:
    return chat_backend(settings) in {"transformers", "openai"}


def _check_chat(settings: Settings) -> None:
    """Raises what `load_chat` would raise, as far as it shows without fetching or loading anything."""
    backend = chat_backend(settings)
    if backend == "transformers":
        chat_config(settings, this_machine())
    elif backend == "openai":
        check_model(connect(settings), settings.endpoint_model)
    elif backend == "llama_cpp":
        need_package("xllamacpp", WITHOUT_ENGINE)


def _check_encoder(settings: Settings) -> None:
    if encoder_backend(settings) == "bge_m3":
        device_for(settings.encoder_backend, *BGE_M3)
        need_package("FlagEmbedding")
