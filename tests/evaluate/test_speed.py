"""What the speed part reads of the machine runs in the environment that `make run` makes, which has no psutil."""

import subprocess
import sys

import pytest

from osrag.answer.events import Done, Token
from osrag.answer.source import Question
from osrag.evaluate.figures import plain
from osrag.evaluate.speed import memory_mb, waits


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_memory_counts_the_children():
    alone = memory_mb()
    holds = "import sys; held = bytearray(300 << 20); print('ready', flush=True); sys.stdin.read()"
    with subprocess.Popen([sys.executable, "-c", holds], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"ready\n"
        assert memory_mb() > alone + 250
        child.stdin.close()


def test_an_answer_is_timed_by_how_it_came_about():
    events = [Token("textbook", "x"), Done("x", (), "composed")]
    found = plain(waits(lambda question: iter(events), [Question("What?")]))
    assert found["composed"]["n"] == 1 and found["all"]["first_seconds@95"] <= found["all"]["seconds@95"]
