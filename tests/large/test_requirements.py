"""The lists of packages say the same where they name the same package."""

from packaging.requirements import Requirement

from osrag.settings import ROOT
from osrag.space import requirements


def pins(name: str) -> dict[str, str]:
    return {Requirement(line).name: line for line in requirements(ROOT / name)}


def test_the_tests_run_what_the_gpu_list_installs():
    gpu = pins("requirements-gpu.txt")
    dev = {**pins("requirements-dev.txt"), **pins("requirements-dev-nodeps.txt")}
    assert {name: dev.get(name) for name in gpu} == gpu


def test_no_list_brings_triton_to_a_processor():
    assert not {"triton", "xgrammar"} & set(pins("requirements-dev.txt"))
