"""From a profile to its models. The one place that knows which backend a profile means."""

import importlib.util

from osrag.errors import MissingExtra
from osrag.models.protocols import ChatModel, Encoder
from osrag.models.store import Progress, Store, silent
from osrag.models.usage import UsageMeter
from osrag.settings import Profile, Settings

LATER = {
    "gpu": "the gpu profile (Qwen3-8B and BGE-M3 on CUDA) is not part of this version",
    "zerogpu": "the zerogpu profile (Qwen3-8B on a ZeroGPU Space) is not part of this version",
    "endpoint": "the endpoint profile (a served model) is not part of this version",
}
USE_CPU = "set OSRAG_PROFILE=cpu, or OSRAG_PROFILE=retrieval to answer without a language model"


def resolve_profile(settings: Settings) -> Profile:
    """The profile that `auto` stands for on this machine.

    Raises MissingExtra for a profile whose parts are not here.
    """
    # One profile for every machine without CUDA; `gpu` joins in when its backend does.
    profile: Profile = "cpu" if settings.profile == "auto" else settings.profile
    if profile in LATER:
        raise MissingExtra(LATER[profile], hint=USE_CPU)
    return profile


def needed(settings: Settings) -> tuple[str, ...]:
    """Names of the weights that the profile needs, smallest first."""
    names = ["encoder"]
    if chat_backend(settings) == "llama_cpp":
        names.append("chat")
    return tuple(names)


def chat_backend(settings: Settings) -> str:
    """ "llama_cpp" or "none". Raises MissingExtra when the one asked for is not here."""
    profile = resolve_profile(settings)
    backend = settings.chat_backend
    if backend == "auto":
        backend = "none" if profile == "retrieval" else "llama_cpp"
    if backend in {"transformers", "openai"}:
        raise MissingExtra(f"the chat backend {backend!r} is not part of this version", hint=USE_CPU)
    return backend


def load_encoder(settings: Settings, progress: Progress = silent) -> Encoder:
    """The encoder of the profile, its weights fetched first where need be."""
    resolve_profile(settings)
    if settings.encoder_backend not in {"auto", "e5"}:
        raise MissingExtra(
            f"the encoder {settings.encoder_backend!r} is not part of this version",
            hint="set OSRAG_ENCODER_BACKEND=e5",
        )
    from osrag.models.e5 import load_e5

    store = Store(settings)
    packed = store.path("encoder", progress)
    return load_e5(packed, store.folder, sha256=store.weights("encoder").sha256, threads=settings.threads)


def load_chat(settings: Settings, progress: Progress = silent, usage: UsageMeter | None = None) -> ChatModel | None:
    """The chat model of the profile behind its gateway; None when it has none (`retrieval`).

    What its calls use is counted in `usage`.
    """
    if chat_backend(settings) == "none":
        return None
    if importlib.util.find_spec("xllamacpp") is None:
        raise MissingExtra(
            "the package xllamacpp is not installed",
            hint="pip install -r requirements.txt, or set OSRAG_PROFILE=retrieval",
        )
    from osrag.models.gateway import ChatGateway
    from osrag.models.llama_cpp import load_llama_cpp
    from osrag.models.llama_process import EngineConfig

    config = EngineConfig(
        model=Store(settings).path("chat", progress),
        context_tokens=settings.context_tokens,
        slots=settings.slots,
        threads=settings.threads,
    )
    meter = usage or UsageMeter()
    return ChatGateway(load_llama_cpp(config, meter), meter)
