"""requirements.txt of a Space: one flat list, for a Space installs that single file."""

import re
from collections.abc import Sequence
from pathlib import Path

from osrag.space.header import Hardware

FAISS_CPU, FAISS_GPU = "faiss-cpu", "faiss-gpu"


def lines_of(path: Path) -> list[str]:
    """Requirements of a file, those it includes by `-r` in their place; comments are left out."""
    found: list[str] = []
    for line in path.read_text("utf-8").splitlines():
        line = line.split(" #")[0].strip()
        if line.startswith("-r "):
            found += lines_of(path.parent / line[3:].strip())
        elif line and not line.startswith("#"):
            found.append(line)
    return found


def for_hardware(root: Path, hardware: Hardware) -> str:
    """The list for this hardware.

    cpu-basic: requirements.txt. t4-small: with requirements-gpu.txt, and FAISS for the card in the
    place of FAISS for the processor. zero-a10g: without it, for there the page has no card.
    """
    found = lines_of(root / "requirements.txt")
    if hardware != "cpu-basic":
        found += lines_of(root / "requirements-gpu.txt")
    if hardware == "t4-small":
        found = [line.replace(FAISS_CPU, FAISS_GPU) for line in found]
    return "\n".join([f"# For {hardware}; written by `python -m osrag space`.", *dict.fromkeys(found)]) + "\n"


def name_of(line: str) -> str:
    """The normal form of a requirement's package name."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\[=<>~!; ]", line, maxsplit=1)[0]).lower()


def pin_of(lines: Sequence[str], name: str) -> str:
    """The version that `name` is pinned to with ==, "" without a pin."""
    for line in lines:
        if name_of(line) == name and "==" in line:
            return line.split("==", 1)[1].split(";")[0].strip()
    return ""


def complaints(lines: Sequence[str]) -> list[str]:
    """What is wrong with a flat list."""
    from packaging.requirements import InvalidRequirement, Requirement

    found: list[str] = []
    seen: dict[str, str] = {}
    for line in lines:
        try:
            name = name_of(Requirement(line).name)
        except InvalidRequirement:
            found.append(f"requirements.txt: {line!r} is no requirement")
            continue
        if name in seen:
            found.append(f"requirements.txt names {name} twice: {seen[name]!r} and {line!r}")
        seen[name] = line
    if FAISS_CPU in seen and FAISS_GPU in seen:
        found.append(f"requirements.txt has {FAISS_CPU} and {FAISS_GPU}, which are one module")
    if not pin_of(lines, "gradio"):
        found.append("requirements.txt does not pin gradio")
    return found
