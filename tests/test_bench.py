"""The programs behind the figures follow the code: every benchmark imports, every rule of the ablation exists."""

import ast
import subprocess
import sys
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.ablation import switched_off
from bench.ablation.__main__ import AREAS
from osrag.settings import ROOT


@pytest.mark.parametrize("name", AREAS)
def test_every_rule_of_an_area_can_be_switched_off(name: str):
    area = import_module(f"bench.ablation.{name}").AREA
    assert area.rules
    for rule in area.rules:
        with switched_off(rule):
            pass


def brought(requirements: Path) -> set[str]:
    """The packages that a list of requirements installs, with those that they need."""
    lines = requirements.read_text("utf-8").splitlines()
    waiting = [Requirement(line.partition(" #")[0]) for line in lines if line and not line.startswith(("#", "-r"))]
    found: dict[str, set[str]] = {}
    while waiting:
        one = waiting.pop()
        name, extras = canonicalize_name(one.name), {"", *one.extras}
        if extras <= found.get(name, set()):
            continue
        found[name] = found.get(name, set()) | extras
        try:
            needed = map(Requirement, requires(name) or ())
        except PackageNotFoundError:  # of another system
            continue
        waiting += [dep for dep in needed if not dep.marker or any(dep.marker.evaluate({"extra": e}) for e in extras)]
    return set(found)


def imported(path: Path) -> set[str]:
    """The packages that a program imports, also inside its functions."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names


def test_no_benchmark_needs_what_only_the_tests_install():
    """But for those that say so: what fits weights, what trains an adapter, an engine that was tried."""
    installed = brought(ROOT / "requirements.txt")
    assert {"numpy", "starlette"} <= installed and not {"pytest", "psutil", "hypothesis", "peft"} & installed
    own = {"osrag", "bench", "tests", *(path.stem for path in (ROOT / "bench").glob("*.py"))}
    packages = packages_distributions()
    missing = {}
    for path in sorted((ROOT / "bench").rglob("*.py")):
        told = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
        for name in imported(path) - own:
            if not {canonicalize_name(one) for one in packages.get(name, [name])} & installed and name not in told:
                missing.setdefault(path.name, []).append(name)
    assert missing == {}


@pytest.mark.slow  # they import all that models need
def test_every_benchmark_can_be_imported():
    names = sorted(path.stem for path in (ROOT / "bench").glob("*.py") if path.stem != "__init__")
    code = f"import sys; sys.path.insert(0, 'bench')\nfor name in {names}: __import__(name)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr
