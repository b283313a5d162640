"""A Hugging Face Space out of this repository: what is pushed for each kind of hardware, and whether it will start."""

import json
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field, StrictStr, ValidationError

from osrag.errors import BadInput
from osrag.index.hub import push_folder
from osrag.models.sources import CHAT, ENCODER, RERANKER
from osrag.settings import ROOT

Hardware = Literal["cpu-basic", "t4-small", "zero-a10g"]
Colour = Literal["red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"]
HARDWARE: tuple[Hardware, ...] = get_args(Hardware)

PUSHED = (
    "app.py", "osrag", "index", "assets", "examples", "docs", "packages.txt", "LICENSE", "CHANGELOG.md", "README.md",
)  # fmt: skip
NEVER = {"__pycache__", ".git", ".env", ".venv"}
LARGEST = 10_000_000  # bytes of a file; the hub wants larger ones in its own store
# What a key begins with stands first, not that a word begins there: so 70 MB are searched in half a second, not in two.
SECRET = re.compile(
    rb"hf_(?<!\whf_)[A-Za-z0-9]{30,}\b|sk-(?<!\wsk-)[A-Za-z0-9_-]{32,}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----"
)
PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]+")
MARK = ".osrag-space"  # a file that says that this command made the folder


class Header(BaseModel, extra="allow"):
    """The YAML header of a Space's README, as the hub reads it."""

    title: str
    emoji: str
    colorFrom: Colour
    colorTo: Colour
    sdk: Literal["gradio"]
    sdk_version: str
    python_version: StrictStr  # without quotes 3.10 becomes 3.1
    app_file: str
    license: str
    short_description: str = Field(max_length=60)  # the hub shows no more
    suggested_hardware: Hardware
    models: list[str]
    preload_from_hub: list[str]
    tags: list[str]


@dataclass(frozen=True, slots=True)
class Assembled:
    """A folder as it would be pushed; `bytes` of all files, `problems` that speak against it."""

    folder: Path
    files: int
    bytes: int
    largest: str
    problems: tuple[str, ...]


def assemble(out: Path, hardware: Hardware) -> Assembled:
    """Write the Space for `hardware` into the empty or earlier assembled folder `out`, and check it."""
    from huggingface_hub import metadata_save

    if out.exists() and any(out.iterdir()) and not (out / MARK).exists():
        raise BadInput(f"{str(out)!r} is not empty and was not made by this command", hint="name another folder")
    shutil.rmtree(out, ignore_errors=True)
    for path in _pushed():
        target = out / path.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    metadata_save(out / "README.md", header_for(read_header(ROOT / "README.md"), hardware))
    (out / "requirements.txt").write_text("\n".join(requirements_for(hardware)) + "\n", "utf-8")
    (out / MARK).write_text(hardware + "\n", "utf-8")
    return check(out)


def push(folder: Path, repo: str, hardware: str, *, endpoint: str | None = None) -> str:
    """Create or update the Space `repo` ("owner/name") from `folder`; returns its address."""
    message = f"osrag for {hardware}"
    return push_folder(folder, repo, "space", endpoint, message=message, delete_patterns="*", ignore_patterns=[MARK])


def _pushed() -> Iterator[Path]:
    """Files of the repository that a Space needs; of a git checkout only those under version control."""
    try:
        run = subprocess.run(["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, check=True)
        tracked = set(run.stdout.decode().split("\0"))
    except (OSError, subprocess.CalledProcessError):
        tracked = None
    for name in PUSHED:
        place = ROOT / name
        for path in [place] if place.is_file() else sorted(place.rglob("*")):
            inside = path.relative_to(ROOT)
            if path.is_file() and not NEVER & set(inside.parts) and (tracked is None or inside.as_posix() in tracked):
                yield path


# -- the header and the requirements --------------------------------------------------------------


def read_header(readme: Path) -> dict[str, Any]:
    """The header of a README, read as the hub does. Raises BadInput when there is none or it is no YAML."""
    from huggingface_hub import metadata_load
    from yaml import YAMLError

    try:
        header = metadata_load(readme)
    except (YAMLError, ValueError) as error:
        raise BadInput(f"the header of README.md is no list of names and values: {error}") from error
    if header is None:
        raise BadInput("README.md has no header between two lines of ---", hint="a Space is configured there")
    return header


def header_for(header: dict[str, Any], hardware: Hardware) -> dict[str, Any]:
    """The header with the models that this hardware loads."""
    changed = {**header, "suggested_hardware": hardware}
    if hardware == "cpu-basic":
        return changed
    large = [CHAT.repo] if hardware == "zero-a10g" else [CHAT.repo, ENCODER.repo, RERANKER.repo]
    changed["models"] = [*large, *header["models"]]
    changed["startup_duration_timeout"] = "1h"  # 16 GB are fetched at the first start, with their sums checked
    if hardware == "zero-a10g":
        changed["python_version"] = "3.12"  # ZeroGPU has images for few versions of Python
    return changed


def requirements_for(hardware: Hardware) -> list[str]:
    """One flat list, because a Space installs a single file; for a card with requirements-gpu.txt."""
    found = requirements(ROOT / "requirements.txt")
    if hardware != "cpu-basic":
        found += requirements(ROOT / "requirements-gpu.txt")
    return [f"# For {hardware}; written by `python -m osrag space`.", *dict.fromkeys(found)]


def requirements(path: Path) -> list[str]:
    """The requirements of a file, those it includes by `-r` in their place; comments are left out."""
    found: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("-r "):
            found += requirements(path.parent / line[3:].strip())
        elif line:
            found.append(line)
    return found


# -- would it start? ------------------------------------------------------------------------------


def check(folder: Path) -> Assembled:
    """Would this folder start as a Space? `problems` is empty when nothing speaks against it."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts]
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    problems = [f"{name} has {size / 1e6:.1f} MB, more than 10" for name, size in sizes.items() if size > LARGEST]
    try:
        problems += _list_problems(folder)
    except FileNotFoundError as error:
        problems.append(f"{Path(str(error.filename)).name} is missing")
    except BadInput as error:
        problems.append(str(error))
    problems += _index_problems(folder / "index")
    small = [path for path in files if path.stat().st_size < LARGEST]
    problems += [f"{path.name} holds what looks like a key" for path in small if SECRET.search(path.read_bytes())]
    largest = max(sizes, key=sizes.__getitem__, default="")
    return Assembled(folder, len(files), sum(sizes.values()), largest, tuple(problems))


def _list_problems(folder: Path) -> Iterator[str]:
    """What is wrong with packages.txt, requirements.txt and the header of the README."""
    from packaging.requirements import InvalidRequirement, Requirement

    # It is handed to apt word by word: a comment would be taken for a package.
    lines = (folder / "packages.txt").read_text("utf-8").split("\n")
    yield from (f"packages.txt: {line!r} is no package name" for line in lines if line and not PACKAGE.fullmatch(line))
    wanted: list[Requirement] = []
    for line in requirements(folder / "requirements.txt"):
        try:
            wanted.append(Requirement(line))
        except InvalidRequirement:
            yield f"requirements.txt: {line!r} is no requirement"
    names = Counter(one.name.lower() for one in wanted)
    yield from (f"requirements.txt names {name} {count} times" for name, count in names.items() if count > 1)
    pin = next((str(one.specifier) for one in wanted if one.name == "gradio"), "")
    header = read_header(folder / "README.md")
    yield from header_problems(header, gradio=pin.removeprefix("=="))
    app = str(header.get("app_file", "app.py"))
    if not (folder / app).is_file():
        yield f"app_file {app} is missing"


def header_problems(header: dict[str, Any], *, gradio: str) -> list[str]:
    """What is wrong with a header; `gradio` is the version that requirements.txt pins."""
    try:
        Header.model_validate(header)
        found = []
    except ValidationError as error:
        found = [f"the header's {'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    if header.get("sdk_version") != gradio:
        found.append(f"sdk_version is {header.get('sdk_version')}, requirements.txt pins gradio {gradio or 'nowhere'}")
    return found


def _index_problems(index: Path) -> Iterator[str]:
    """Collections that lack a file, and kernel text without its licence."""
    manifests = sorted(index.rglob("manifest.json"))
    if not manifests:
        yield "index/ holds no collection, the Space would have nothing to answer from"
    for path in manifests:
        manifest = json.loads(path.read_text("utf-8"))
        lost = [name for name in manifest["files"].values() if not (path.parent / name).is_file()]
        yield from (f"{path.parent.name} lacks {name}" for name in lost)
        if "GPL" in manifest["licence"] and not list(index.glob("COPYING*")):
            yield "index/ holds kernel text without its GPL-2.0 notice"
