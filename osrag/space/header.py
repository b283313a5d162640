"""The YAML header of a Space's README, for each kind of hardware."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from osrag.errors import BadInput
from osrag.models.sources import CHAT, ENCODER, RERANKER

Hardware = Literal["cpu-basic", "t4-small", "zero-a10g"]
HARDWARE: tuple[Hardware, ...] = ("cpu-basic", "t4-small", "zero-a10g")
COLOURS = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
NEEDED = (
    "title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "python_version", "app_file", "license",
    "short_description", "suggested_hardware", "models", "preload_from_hub", "tags",
)  # fmt: skip
SHORT = 60  # characters that the hub shows of a description
_SPLIT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Readme:
    header: dict[str, Any]
    body: str


def read_readme(text: str) -> Readme:
    """Raises BadInput when there is no header or it is no YAML."""
    import yaml

    found = _SPLIT.match(text)
    if not found:
        raise BadInput("README.md has no header between two lines of ---", hint="a Space is configured there")
    try:
        header = yaml.safe_load(found.group(1))
    except yaml.YAMLError as error:
        raise BadInput(f"the header of README.md is no YAML: {error}") from error
    if not isinstance(header, dict):
        raise BadInput("the header of README.md is no list of names and values")
    return Readme(header, text[found.end() :])


def write_readme(readme: Readme) -> str:
    import yaml

    header = yaml.safe_dump(readme.header, allow_unicode=True, sort_keys=False, width=1000)
    return f"---\n{header}---\n{readme.body}"


def for_hardware(header: dict[str, Any], hardware: Hardware) -> dict[str, Any]:
    """The header with the models that this hardware loads, and what is fetched while the Space is built."""
    changed = {**header, "suggested_hardware": hardware}
    if hardware == "cpu-basic":
        return changed
    small = list(header.get("models") or [])
    if hardware == "zero-a10g":
        # ZeroGPU has images for few versions of Python.
        changed["python_version"] = "3.12"
        changed["models"] = [CHAT.repo, *small]
        changed["preload_from_hub"] = [*(header.get("preload_from_hub") or [])]
    else:
        changed["models"] = [CHAT.repo, ENCODER.repo, RERANKER.repo, *small]
    # 16 GB are fetched at the first start, with their sums checked.
    changed["startup_duration_timeout"] = "1h"
    return changed


def complaints(header: dict[str, Any], *, gradio: str) -> list[str]:
    """What is wrong with a header; `gradio` is the version that requirements.txt pins."""
    found = [f"the header lacks {name}" for name in NEEDED if not header.get(name)]
    colours = {name: header[name] for name in ("colorFrom", "colorTo") if header.get(name)}
    allowed = ", ".join(sorted(COLOURS))
    found += [f"{name} {value!r} is none of {allowed}" for name, value in colours.items() if value not in COLOURS]
    if len(str(header.get("short_description", ""))) > SHORT:
        found.append(f"short_description has more than {SHORT} characters")
    if header.get("sdk") != "gradio":
        found.append(f"sdk is {header.get('sdk')!r}, not gradio")
    if gradio and str(header.get("sdk_version")) != gradio:
        found.append(f"sdk_version is {header.get('sdk_version')}, requirements.txt pins gradio {gradio}")
    if header.get("suggested_hardware") not in HARDWARE:
        found.append(f"suggested_hardware {header.get('suggested_hardware')!r} is none of {', '.join(HARDWARE)}")
    version = header.get("python_version")
    if version is not None and not isinstance(version, str):
        found.append(f"python_version {version!r} needs quotes, or 3.10 becomes 3.1")
    return found
