"""From a profile to its models. The one place that knows which backend a profile means."""

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

from osrag.errors import MissingExtra
from osrag.models.chat_config import INSTALL
from osrag.models.gateway import ChatGateway
from osrag.models.machine import have_packages, this_machine
from osrag.models.protocols import ChatModel, Encoder, Reranker
from osrag.models.store import Progress, Store, silent
from osrag.models.usage import UsageMeter
from osrag.settings import Profile, Settings

if TYPE_CHECKING:
    from osrag.models.snapshot import HubModel

DATA = Path(__file__).parent.parent / "data"
CHOICE_ADAPTER = DATA / "choice_adapter.gguf"  # fits the pinned weights of "chat" and no others


def resolve_profile(settings: Settings) -> Profile:
    """The profile that `auto` stands for on this machine: the best that runs without asking anybody."""
    if settings.profile != "auto":
        return settings.profile
    machine = this_machine()
    if machine.zerogpu and have_packages("spaces"):
        return "zerogpu"
    if machine.large and have_packages("bitsandbytes", "FlagEmbedding"):
        return "gpu"
    return "cpu"


def needed(settings: Settings) -> tuple[str, ...]:
    """Names of the pinned single files that the profile needs, smallest first; see also `needed_from_hub`."""
    names = ["encoder"] if encoder_backend(settings) == "e5" else []
    if chat_backend(settings) == "llama_cpp":
        names.append("chat")
    return tuple(names)


def needed_from_hub(settings: Settings) -> "tuple[HubModel, ...]":
    """The whole models of the hub that the profile needs, smallest first."""
    from osrag.models.large import hub_models

    return hub_models(
        settings,
        chat=chat_backend(settings) == "transformers",
        encoder=encoder_backend(settings) == "bge_m3",
        reranker=reranker_backend(settings) == "bge_reranker",
    )


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


def load_encoder(settings: Settings, progress: Progress = silent) -> Encoder:
    """The encoder of the profile, its weights fetched first where need be."""
    backend = encoder_backend(settings)
    if backend == "bge_m3":
        from osrag.models.large import load_bge_encoder

        return load_bge_encoder(settings, progress)
    if backend == "openai":
        from osrag.models.large import load_served_encoder

        return load_served_encoder(settings, UsageMeter())
    from osrag.models.e5 import load_e5

    store = Store(settings)
    packed = store.path("encoder", progress)
    return load_e5(packed, store.folder, sha256=store.weights("encoder").sha256, threads=settings.threads)


def load_reranker(settings: Settings, progress: Progress = silent) -> Reranker | None:
    """The reranker of the profile; None where the machine cannot afford one."""
    if reranker_backend(settings) == "none":
        return None
    from osrag.models.large import load_bge_reranker

    return load_bge_reranker(settings, progress)


def load_chat(settings: Settings, progress: Progress = silent, usage: UsageMeter | None = None) -> ChatModel | None:
    """The chat model of the profile behind the gateway; None when the profile has none (`retrieval`).

    Raises when it cannot be had: `fallback.load_chat_with_fallback` takes the next smaller one.
    """
    meter = usage or UsageMeter()
    backend = chat_backend(settings)
    if backend == "none":
        return None
    if backend == "openai":
        from osrag.models.large import load_served_chat

        return load_served_chat(settings, meter)
    if backend == "transformers":
        from osrag.models.large import load_large_chat

        return load_large_chat(settings, meter, progress)
    _need_llama_cpp()
    from osrag.models.llama_cpp import load_llama_cpp
    from osrag.models.llama_process import EngineConfig

    config = EngineConfig(
        model=Store(settings).path("chat", progress),
        context_tokens=settings.context_tokens,
        slots=settings.slots,
        threads=settings.threads,
        prefixes=settings.cache_dir / "prefixes",
        adapter=CHOICE_ADAPTER,
    )
    return ChatGateway(load_llama_cpp(config, meter), meter)


def check_chat(settings: Settings) -> None:
    """Raises what `load_chat` would raise, as far as it shows without fetching or loading anything."""
    backend = chat_backend(settings)
    if backend == "transformers":
        from osrag.models.large import chat_config

        chat_config(settings, this_machine())
    elif backend == "openai":
        from osrag.models.openai_server import Server

        Server.connect(settings).check_model(settings.endpoint_model)
    elif backend == "llama_cpp":
        _need_llama_cpp()


def check_encoder(settings: Settings) -> None:
    """The same for the encoder."""
    backend = encoder_backend(settings)
    if backend == "bge_m3":
        from osrag.models.large import check_card

        check_card(settings.encoder_backend, this_machine(), "BGE-M3", "OSRAG_ENCODER_BACKEND=bge_m3")
        if not have_packages("FlagEmbedding"):
            raise MissingExtra("the package FlagEmbedding is not installed", hint=INSTALL)


def _need_llama_cpp() -> None:
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtra(
            "the package xllamacpp is not installed",
            hint="pip install -r requirements.txt, or set OSRAG_PROFILE=retrieval",
        )
