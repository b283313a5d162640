import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from osrag.models import native


def test_what_the_environment_says_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOMP_SPINCOUNT", "7")
    monkeypatch.delenv("ONEDNN_PRIMITIVE_CACHE_CAPACITY", raising=False)
    native.prepare()
    assert (os.environ["GOMP_SPINCOUNT"], os.environ["ONEDNN_PRIMITIVE_CACHE_CAPACITY"]) == ("7", "64")


HOLES = """
import sys
from osrag.models import native
if "told" in sys.argv:
    native.prepare()
import numpy as np
first = np.ones(2_000_000)  # freed, it teaches glibc to keep arrays of its size
del first
large, small = [], []
for _ in range(64):
    large.append(np.ones(100_000))
    small.append(np.ones(100))  # keeps the heap from shrinking below it
del large
print(open("/proc/self/smaps_rollup").read())
"""


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="reads Linux's account of memory")
def test_large_arrays_go_back_whole() -> None:
    def heap_mb(*told: str) -> int:
        run = subprocess.run([sys.executable, "-c", HOLES, *told], capture_output=True, text=True, check=True)
        found = re.search(r"^Private_Dirty:\s+(\d+)", run.stdout, re.MULTILINE)
        assert found
        return int(found[1]) // 1024

    assert heap_mb("told") < heap_mb() - 40
