"""The programs behind the figures follow the code: every benchmark imports, every rule of the ablation exists."""

import re
import subprocess
import sys
from importlib import import_module

import pytest

from bench.ablation import switched_off
from bench.ablation.__main__ import AREAS
from bench.fit_route import asked
from osrag.settings import ROOT


@pytest.mark.parametrize("name", AREAS)
def test_every_rule_of_an_area_can_be_switched_off(name: str):
    area = import_module(f"bench.ablation.{name}").AREA
    assert area.rules
    for rule in area.rules:
        with switched_off(rule):
            pass


def test_no_benchmark_needs_what_only_the_tests_install():
    texts = {path.name: path.read_text("utf-8") for path in (ROOT / "bench").glob("*.py")}
    assert [
        name for name, text in texts.items() if re.search(r"^\s*(import|from) (psutil|pytest|hypothesis)", text, re.M)
    ] == []


@pytest.mark.slow  # they import all that models need
def test_every_benchmark_can_be_imported():
    names = sorted(path.stem for path in (ROOT / "bench").glob("*.py") if path.stem != "__init__")
    code = f"import sys; sys.path.insert(0, 'bench')\nfor name in {names}: __import__(name)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stderr


def test_the_questions_of_a_folder_are_those_of_its_rows_that_ask():
    assert all(asked("textbook/*.jsonl"))  # beside.jsonl has sentences, and no questions
