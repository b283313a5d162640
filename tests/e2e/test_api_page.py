"""The examples of docs/api.md, run as they stand against a running app."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
PAGE = (Path(__file__).parents[2] / "docs/api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```(python|sh)\n(.*?)^```$", PAGE, re.M | re.S)
# What each prints, in order.
PRINTED = (
    r"semaphore[\s\S]*\n1 .+ page \w+",
    r"retrieval\n[\s\S]*answer_chunk\n[\s\S]*done\n2\n$",
    r"^ready\nupload/notes\.md\n$",
    r"event: complete\ndata: \[\{.*copy_p",
    r"retrieval\n[\s\S]*answer_chunk\n[\s\S]* done\n$",
    r"chat \['question', [\s\S]*solve [\s\S]*\n\{'value': 6, ",
    r"^bad_argument - k: Input should be less than or equal to 20, got 500\n$",
)


@pytest.mark.parametrize("number", range(len(PRINTED)))
def test_an_example_of_the_page_runs_and_prints_what_it_should(server: Server, number: int, tmp_path: Path):
    assert len(EXAMPLES) == len(PRINTED)
    language, code = EXAMPLES[number]
    if language == "sh" and shutil.which("curl") is None:
        pytest.skip("no curl on this machine")
    command = [sys.executable, "-c"] if language == "python" else ["sh", "-c"]
    code = code.replace("http://127.0.0.1:7860", server.url)
    ran = subprocess.run([*command, code], capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert re.search(PRINTED[number], ran.stdout), ran.stdout
