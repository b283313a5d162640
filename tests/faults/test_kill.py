"""Programs killed at any moment: what they had written is whole, or as it was before."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.stores import KEPT

ROOT = Path(__file__).parents[2]
TIMES = 40  # each of seven stores: 280 kills


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.parametrize("name", sorted(KEPT))
def test_a_store_survives_its_writer(name: str, tmp_path: Path):
    seed = time.time_ns() % 1_000_000
    command = [sys.executable, "-m", "tests.faults.stores", name, str(tmp_path), str(TIMES), str(seed)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0, f"again: {' '.join(command)}\n{ran.stderr[-3000:]}"
