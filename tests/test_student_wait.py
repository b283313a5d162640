"""The benchmark of waiting runs in the environment that `make run` makes, which has no psutil."""

import subprocess
import sys

import pytest

from osrag.settings import ROOT


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_counts_the_children_without_psutil(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psutil", None)
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    import student_wait

    alone = student_wait.memory_mb()
    holds = "import sys; held = bytearray(300 << 20); print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"ready\n"
        assert student_wait.memory_mb() > alone + 250
        child.stdin.close()
