"""Copies exactly what a Space is pushed as, and checks it."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from osrag.errors import BadInput
from osrag.settings import ROOT
from osrag.space import header as head
from osrag.space import requirements as reqs
from osrag.space.header import Hardware

PUSHED = ("app.py", "osrag", "index", "assets", "examples", "docs", "packages.txt", "LICENSE", "CHANGELOG.md")
NEVER = {"__pycache__", ".git", ".env", ".venv"}
LARGEST = 10_000_000
SECRET = re.compile(rb"\b(?:hf_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{32,})\b|-----BEGIN [A-Z ]*PRIVATE KEY-----")
PACKAGE = re.compile(r"[a-z0-9][a-z0-9.+-]+")


@dataclass(frozen=True, slots=True)
class Assembled:
    """A folder as it would be pushed; `bytes` of all files, `problems` that speak against it."""

    folder: Path
    files: int
    bytes: int
    largest: str
    problems: tuple[str, ...]


def assemble(out: Path, hardware: Hardware, *, root: Path = ROOT) -> Assembled:
    """Write the Space for `hardware` into the empty or earlier assembled folder `out`, and check it."""
    mark = out / ".osrag-space"
    if out.exists() and any(out.iterdir()) and not mark.exists():
        raise BadInput(f"{str(out)!r} is not empty and was not made by this command", hint="name another folder")
    if root.resolve() == out.resolve() or out.resolve() in root.resolve().parents:
        raise BadInput(f"{str(out)!r} holds the repository itself", hint="name another folder")
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    for path in _pushed(root):
        target = out / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    readme = head.read_readme((root / "README.md").read_text("utf-8"))
    changed = head.Readme(head.for_hardware(readme.header, hardware), readme.body)
    (out / "README.md").write_text(head.write_readme(changed), "utf-8")
    (out / "requirements.txt").write_text(reqs.for_hardware(root, hardware), "utf-8")
    mark.write_text(hardware + "\n", "utf-8")
    return check(out)


def _pushed(root: Path) -> Iterator[Path]:
    """Files of the repository that a Space needs; of a git checkout only those under version control."""
    tracked = _tracked(root)
    for name in PUSHED:
        place = root / name
        paths = [place] if place.is_file() else sorted(place.rglob("*"))
        for path in paths:
            if not path.is_file() or NEVER & set(path.relative_to(root).parts):
                continue
            if tracked is None or path.relative_to(root).as_posix() in tracked:
                yield path


def _tracked(root: Path) -> set[str] | None:
    """Paths under version control, None without git."""
    try:
        run = subprocess.run(["git", "-C", str(root), "ls-files", "-z"], capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return {name for name in run.stdout.decode().split("\0") if name}


def check(folder: Path) -> Assembled:
    """Would this folder start as a Space? `problems` is empty when nothing speaks against it."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and ".git" not in path.parts]
    sizes = {path.relative_to(folder).as_posix(): path.stat().st_size for path in files}
    problems = [f"{name} has {size / 1e6:.1f} MB, more than 10" for name, size in sizes.items() if size > LARGEST]
    problems += [*_readme_problems(folder), *_package_problems(folder), *_index_problems(folder)]
    for path in files:
        problems += _file_problems(path, path.relative_to(folder).as_posix())
    largest = max(sizes, key=sizes.__getitem__, default="")
    return Assembled(folder, len(files), sum(sizes.values()), largest, tuple(problems))


def _readme_problems(folder: Path) -> list[str]:
    try:
        lines = reqs.lines_of(folder / "requirements.txt")
        readme = head.read_readme((folder / "README.md").read_text("utf-8"))
    except FileNotFoundError as error:
        return [f"{Path(str(error.filename)).name} is missing"]
    except BadInput as error:
        return [str(error)]
    found = [*reqs.complaints(lines), *head.complaints(readme.header, gradio=reqs.pin_of(lines, "gradio"))]
    app = str(readme.header.get("app_file", "app.py"))
    return found if (folder / app).is_file() else [*found, f"app_file {app} is missing"]


def _package_problems(folder: Path) -> list[str]:
    """packages.txt is handed to apt word by word: a comment would be taken for a package."""
    path = folder / "packages.txt"
    if not path.is_file():
        return ["packages.txt is missing"]
    lines = path.read_text("utf-8").split("\n")
    return [f"packages.txt: {line!r} is no package name" for line in lines if line and not PACKAGE.fullmatch(line)]


def _index_problems(folder: Path) -> list[str]:
    manifests = sorted((folder / "index").rglob("manifest.json"))
    if not manifests:
        return ["index/ holds no collection, the Space would have nothing to answer from"]
    found: list[str] = []
    for path in manifests:
        manifest = json.loads(path.read_text("utf-8"))
        lost = [name for name in manifest.get("files", {}).values() if not (path.parent / name).is_file()]
        found += [f"{path.parent.relative_to(folder)} lacks {name}" for name in lost]
        kernel = "GPL" in str(manifest.get("licence", ""))
        if kernel and not list((folder / "index").glob("COPYING*")):
            found.append("index/ holds kernel text without its GPL-2.0 notice")
    return found


def _file_problems(path: Path, name: str) -> list[str]:
    if path.name.startswith(".env"):
        return [f"{name} may hold keys; set them as secrets of the Space"]
    if path.stat().st_size < LARGEST and SECRET.search(path.read_bytes()):
        return [f"{name} holds something that looks like a key"]
    if path.suffix == ".py":
        try:
            compile(path.read_bytes(), name, "exec")
        except (SyntaxError, ValueError) as error:
            return [f"{name} is no Python: {error}"]
    return []
