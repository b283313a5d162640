"""A start where nothing but a folder for temporary files can be written, and no network is."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from osrag.settings import load_settings
from tests.e2e.conftest import ROOT, need_weights
from tests.faults.asked import writable

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def closed(own: Path) -> list[str]:
    """The command that runs another with every file system closed but the folder `own`, and without a network."""
    found = shutil.which("bwrap")
    if found is None:
        pytest.skip("no bubblewrap on this machine")
    told = [found, "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", str(own), str(own)]
    told += ["--unshare-net", "--die-with-parent", "--setenv", "TMPDIR", str(own)]
    if subprocess.run([*told, "true"], capture_output=True).returncode:
        pytest.skip("this system lets nobody make a namespace")
    return told


def test_a_warm_cache_that_is_closed_starts_without_a_network_and_answers(tmp_path: Path):
    command = closed(tmp_path)
    need_weights()
    env = {name: value for name, value in os.environ.items() if not name.startswith("OSRAG_")}
    ran = subprocess.run(
        [*command, sys.executable, "-m", "tests.faults.asked"], cwd=ROOT, env=env, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    told = json.loads(ran.stdout)
    assert (told["writable"], told["connected"], told["ended"]) == (False, False, 0)
    assert told["answer"]["type"] == "done" and "circular wait" in told["answer"]["text"].lower()
    assert told["up_s"] < 90  # some 20 s where the machine has nothing else to do
    assert "Traceback" not in ran.stderr


def test_the_cache_of_that_test_is_one_that_can_be_written_otherwise(tmp_path: Path):
    folder = load_settings().cache_dir
    assert writable(folder)
    (folder / "probe").unlink()
