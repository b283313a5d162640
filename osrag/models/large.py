"""The parts of the profiles gpu, zerogpu and endpoint, made from settings."""

import dataclasses
import logging

from osrag.errors import MissingExtra, ModelFailed
from osrag.models.chat_config import INSTALL, ChatConfig, Precision
from osrag.models.gateway import ChatGateway, EncoderGateway
from osrag.models.machine import BFLOAT16_MIB, NF4_MIB, Machine, have_packages, slots_that_fit, this_machine
from osrag.models.protocols import ChatModel, Encoder, Reranker
from osrag.models.snapshot import ENCODER, RERANKER, HubModel, Progress, Snapshots, hub_model
from osrag.models.usage import UsageMeter
from osrag.settings import Settings

log = logging.getLogger(__name__)

OTHERWISE = "set OSRAG_PROFILE=cpu for the small model, or OSRAG_PROFILE=endpoint for a served one"


def load_served_chat(settings: Settings, usage: UsageMeter) -> ChatModel:
    """The chat model of the endpoint, behind the gateway. Asks the server whether it has the model."""
    from osrag.models.openai_http import load_openai_chat
    from osrag.models.openai_server import Server

    model = load_openai_chat(
        Server.connect(settings),
        settings.endpoint_model,
        usage,
        context_tokens=settings.context_tokens,
        slots=settings.slots,
    )
    return ChatGateway(model, usage)


def load_served_encoder(settings: Settings, usage: UsageMeter) -> Encoder:
    """The encoder of the endpoint, behind the gateway."""
    from osrag.models.openai_embed import OpenAIEncoder
    from osrag.models.openai_server import Server

    if not settings.endpoint_embedding_model:
        raise MissingExtra("no embedding model of the endpoint is named", hint="set OSRAG_ENDPOINT_EMBEDDING_MODEL")
    encoder = OpenAIEncoder(Server.connect(settings), settings.endpoint_embedding_model)
    encoder.check_probe(settings.cache_dir / "endpoint")
    return EncoderGateway(encoder, usage)


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
    if precision == "nf4" and not have_packages("bitsandbytes"):
        raise MissingExtra("the package bitsandbytes is not installed", hint=INSTALL)
    room = settings.slots if machine.zerogpu else machine.gpu_mib
    slots = settings.slots
    if not machine.zerogpu:
        slots = slots_that_fit(room, weights, settings.context_tokens, settings.slots)
    return ChatConfig(
        folder=settings.cache_dir,
        name=settings.chat_model.rsplit("/", 1)[-1],
        precision=precision,
        context_tokens=settings.context_tokens,
        slots=slots,
        thinking=settings.thinking,
    )


def load_large_chat(
    settings: Settings, usage: UsageMeter, progress: Progress, machine: Machine | None = None
) -> ChatModel:
    """Qwen3-8B on the graphics card, behind the gateway."""
    here = machine or this_machine()
    config = chat_config(settings, here)
    folder = Snapshots(settings).path(hub_model(settings.chat_model, revision=settings.chat_revision), progress)
    config = dataclasses.replace(config, folder=folder)
    if here.zerogpu:
        from osrag.models.zerogpu import load_zerogpu_chat

        return ChatGateway(load_zerogpu_chat(config, usage), usage)
    from osrag.models.transformers_nf4 import load_transformers_chat

    return ChatGateway(load_transformers_chat(config, usage), usage)


def device_for(machine: Machine) -> str:
    """Where encoder and reranker run: on ZeroGPU the card is lent by the call, too dear for a query."""
    return "cuda:0" if machine.gpu_mib else "cpu"


def load_bge_encoder(settings: Settings, progress: Progress, machine: Machine | None = None) -> Encoder:
    """BGE-M3. Without a card only where it was asked for by name: on a processor it takes seconds a query."""
    from osrag.models.bge_m3 import BgeM3

    here = machine or this_machine()
    check_card(settings.encoder_backend, here, "BGE-M3", "OSRAG_ENCODER_BACKEND=bge_m3")
    return BgeM3(Snapshots(settings).path(ENCODER, progress), revision=ENCODER.revision, device=device_for(here))


def load_bge_reranker(settings: Settings, progress: Progress, machine: Machine | None = None) -> Reranker:
    """bge-reranker-v2-m3, with a card or where it was asked for by name."""
    from osrag.models.bge_reranker import BgeReranker

    here = machine or this_machine()
    check_card(settings.reranker_backend, here, "the reranker", "OSRAG_RERANKER_BACKEND=bge_reranker")
    return BgeReranker(Snapshots(settings).path(RERANKER, progress), device=device_for(here))


def check_card(backend: str, machine: Machine, what: str, by_name: str) -> None:
    """Raises MissingExtra where a profile chose `what` and there is no card for it."""
    if backend == "auto" and not machine.gpu_mib:
        raise MissingExtra(
            f"no CUDA device was found, and {what} needs one",
            hint=f"set OSRAG_PROFILE=cpu for the small models, or {by_name} to run it on the processor, slowly",
        )


def hub_models(settings: Settings, *, chat: bool, encoder: bool, reranker: bool) -> tuple[HubModel, ...]:
    """What `fetch` gets for these parts, smallest first."""
    found: list[HubModel] = []
    if encoder:
        found.append(ENCODER)
    if reranker:
        found.append(RERANKER)
    if chat:
        found.append(hub_model(settings.chat_model, revision=settings.chat_revision))
    return tuple(found)
