"""The audit of dependencies: what it prints of what pip-audit found, and of what it could not find."""

import json
import subprocess

import pytest

from tools import audit

FAULTY = {"name": "jinja2", "version": "3.0", "vulns": [{"id": "PYSEC-1", "fix_versions": ["3.1.6"]}]}
SKIPPED = {"name": "own", "version": "1", "skip_reason": "not found"}


def replies(monkeypatch: pytest.MonkeyPatch, *outputs: list[dict[str, object]] | str) -> None:
    """Let pip-audit say this, call by call: JSON, or an error."""
    left = list(outputs)

    def run(*_: object, **__: object) -> "subprocess.CompletedProcess[str]":
        said = left.pop(0)
        told = ("", said) if isinstance(said, str) else (json.dumps({"dependencies": said}), "")
        return subprocess.CompletedProcess([], 1, *told)

    monkeypatch.setattr(subprocess, "run", run)


def test_a_known_vulnerability_fails_and_what_is_unknown_is_named(monkeypatch, capsys):
    replies(monkeypatch, [{"name": "requests", "version": "2", "vulns": []}], [FAULTY, SKIPPED])
    assert audit.main() == 1
    assert capsys.readouterr().out.splitlines() == [
        "jinja2 3.0: PYSEC-1, mended in 3.1.6",
        "audit: 1 packages, 1 known vulnerabilities",
        "audit: NOT audited, no data: own",
    ]


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ([SKIPPED | {"name": "requests"}], "knows nothing of requests"),
        ("warning\nConnectionError(x)", "ConnectionError"),
    ],
)
def test_without_data_it_says_that_nothing_was_audited(monkeypatch, capsys, reply, why):
    replies(monkeypatch, reply)
    assert audit.main() == 0
    said = capsys.readouterr().out
    assert "NOT done" in said and why in said
