"""One frozen `Settings`, built once from the environment (`OSRAG_*`) and a `.env`."""

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from osrag.errors import BadSettings
from osrag.types import Effort

Profile = Literal["auto", "cpu", "gpu", "zerogpu", "endpoint", "retrieval"]
PREFIX = "OSRAG_"
ROOT = Path(__file__).resolve().parent.parent


def default_cache_dir() -> Path:
    """Where weights and embeddings are kept between runs (XDG base directory)."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "osrag"


def _gradio_port() -> Any:
    """The port that Gradio's own variable names, as text that `Settings` validates; else Gradio's usual one."""
    return os.environ.get("GRADIO_SERVER_PORT") or 7860


def _proxies() -> str:
    """On a Space the proxy has an address of the inner network; elsewhere none is believed."""
    return "10.0.0.0/8" if os.environ.get("SPACE_ID") else ""


class Settings(BaseSettings):
    """All that an operator can set. Field `x` is `OSRAG_X` in the environment."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_file=".env", env_ignore_empty=True, extra="forbid", frozen=True
    )

    # which parts
    profile: Profile = "auto"
    chat_backend: Literal["auto", "llama_cpp", "transformers", "openai", "none"] = "auto"
    encoder_backend: Literal["auto", "e5", "bge_m3", "openai"] = "auto"
    reranker_backend: Literal["auto", "bge_reranker", "none"] = "auto"

    # where things lie
    cache_dir: Path = Field(default_factory=default_cache_dir)
    model_dir: Path | None = None  # a folder with weights brought by hand; tried first
    index_dir: Path = ROOT / "index"
    index_repo: str = ""  # a hub data set with a prebuilt index
    qdrant_url: str = ""  # a server, or a folder, that holds the kernel's vectors; "" keeps them in each process
    qdrant_key: SecretStr = SecretStr("")
    sources: tuple[Literal["folder", "hub", "packages"], ...] = ("folder", "hub", "packages")

    # how a build cuts documents
    chunk_chars: int = Field(default=1000, ge=200, le=8000)  # a Chinese character counts as two
    chunk_overlap: int = Field(default=200, ge=0)  # of them repeated from the chunk before

    # the embedded chat model
    threads: int = Field(default_factory=lambda: os.cpu_count() or 2, ge=1, le=256)
    slots: int = Field(default=4, ge=1, le=64)
    context_tokens: int = Field(default=4096, ge=1024, le=131072)  # for one slot

    # the large models (profiles gpu and zerogpu)
    chat_model: str = "Qwen/Qwen3-8B"  # a repository of the hub, or a folder's name in model_dir
    chat_revision: str = ""  # "" for the pinned commit
    precision: Literal["auto", "nf4", "bfloat16"] = "auto"
    thinking: bool = False

    # a served model (any OpenAI-compatible server)
    endpoint_url: str = ""
    endpoint_key: SecretStr = SecretStr("")
    endpoint_model: str = ""
    endpoint_embedding_model: str = ""

    # answers
    effort: Literal["auto", "fast", "deep", "tutor"] = "auto"
    threshold: float = Field(default=0.0, ge=0.0, le=1.0)
    passages: int = Field(default=8, ge=1, le=20)
    temperature: float = Field(default=0.7, ge=0.0, le=2.0)
    max_new_tokens: int = Field(default=3000, ge=16, le=16384)
    history_turns: int = Field(default=3, ge=0, le=20)
    rounds: int = Field(default=2, ge=1, le=4)  # of searching in the effort `deep`
    log_keywords: float = Field(default=0.9, ge=0.0, le=1.0)  # weight of names in error logs; meaning has the rest
    judge_authority: Literal["key", "model"] = "key"  # whose verdict counts on a choice question that has a key

    # what to read next, from this session's questions and mistakes; a shared Space shows none unless it is set
    recommend: bool = Field(default_factory=lambda: not os.environ.get("SPACE_ID"))

    # what visitors say of answers
    feedback_dir: Path | None = None  # a folder; None takes no feedback
    feedback_repo: str = ""  # a data set of the hub to which that folder is sent

    # programming exercises
    run_programs: bool = False  # compile and run answers in a sandbox (docs/programs.md); never on a Space

    # the quiz in class
    bank_dir: Path | None = None  # a folder with questions of one's own; uploads are kept there
    shipped_bank: bool = True  # whether the shipped questions are asked beside them
    hints_file: Path | None = None  # how far hints go, for all, by chapter and by exercise (docs/quiz.md)
    board_file: Path | None = None  # counts for the instructor (SQLite); None counts nothing
    instructor_key: SecretStr = SecretStr("")  # opens the switch for the class on the page; "" hides it

    # models behind the gateway
    chat_per_s: float = Field(default=5.0, gt=0)  # calls of the chat model, at most
    chat_retries: int = Field(default=2, ge=0, le=10)  # after a failure that may pass
    embedding_per_s: float = Field(default=10.0, gt=0)  # calls of a served embedding model, at most
    embedding_retries: int = Field(default=3, ge=0, le=10)

    # material that visitors bring for a session
    upload_files: int = Field(default=20, ge=1, le=200)  # of one visitor
    upload_mb: int = Field(default=100, ge=1, le=1000)  # of all files of one visitor together
    upload_pages: int = Field(default=1000, ge=1, le=20_000)  # the same
    upload_minutes: float = Field(default=10.0, gt=0, le=240)  # to read one file
    upload_visitors: int = Field(default=20, ge=0, le=1000)  # with material at the same time; 0 takes none
    upload_idle_minutes: float = Field(default=60.0, gt=0, le=1440)  # until the material of an idle visitor goes

    # limits
    first_token_s: float = Field(default=60.0, gt=0)
    max_question_chars: int = Field(default=4000, ge=10, le=100_000)
    max_log_chars: int = Field(default=2_500_000, ge=10, le=4_000_000)  # of a question that is a pasted error log
    queue_size: int = Field(default=32, ge=1, le=1000)  # of each kind of work: answers, grading, searches
    requests_per_minute: int = Field(default=20, ge=1, le=10_000)  # questions of one visitor
    searches_per_minute: int = Field(default=120, ge=1, le=100_000)  # and what is only looked up or computed
    visitors_per_address: int = Field(default=15, ge=1, le=10_000)  # who share one, as a campus does; times the above

    # the page; a Space names the address that its proxy reaches
    host: str = Field(default_factory=lambda: os.environ.get("GRADIO_SERVER_NAME") or "127.0.0.1")
    port: int = Field(default_factory=_gradio_port, ge=1, le=65535)
    hosts: tuple[str, ...] = ()  # names by which browsers may reach the page; empty lets any
    proxies: str = Field(default_factory=_proxies)  # addresses whose X-Forwarded-For is believed, with commas
    share: bool = False
    metrics: bool = False  # whether /metrics tells Prometheus what happened
    stop_s: float = Field(default=25.0, ge=0, le=3600)  # for answers in hand, after SIGTERM; Kubernetes kills after 30
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"

    @field_validator("chunk_overlap")
    @classmethod
    def _leaves_room(cls, overlap: int, info: ValidationInfo) -> int:
        """Refuse an overlap of more than half a chunk: every sentence would stand in three."""
        if 2 * overlap > info.data.get("chunk_chars", overlap * 2):
            raise ValueError("at most half of OSRAG_CHUNK_CHARS")
        return overlap

    def effort_for(self, *, chain: bool) -> Effort:
        """The effort to use when the student names none: `deep` only where the machine affords it."""
        if self.effort != "auto":
            return self.effort
        return "deep" if chain else "fast"


def load_settings(environ: Mapping[str, str] | None = None, **override: Any) -> Settings:
    """Settings from the environment, a `.env` in the working directory, and `override` (which wins).

    Raises BadSettings for an unknown `OSRAG_*` name or a value out of range.
    """
    env = os.environ if environ is None else environ
    known = {f"{PREFIX}{name}".upper() for name in Settings.model_fields}
    for name in env:
        if name.upper().startswith(PREFIX) and name.upper() not in known:
            near = difflib.get_close_matches(name.upper(), known, n=1)
            raise BadSettings(
                f"{name} is no setting of osrag",
                hint=f"did you mean {near[0]}?" if near else "see docs/settings.md",
            )
    try:
        return Settings(**override)
    except ValidationError as error:
        first = error.errors()[0]
        name = PREFIX + "_".join(str(part) for part in first["loc"]).upper().removeprefix(PREFIX)
        raise BadSettings(f"{name}: {first['msg']}, got {first.get('input')!r}", hint="see docs/settings.md") from error
