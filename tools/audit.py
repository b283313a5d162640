"""Known vulnerabilities in the packages of this environment, where the data on them can be had.

    python tools/audit.py

Runs pip-audit (PyPA, Apache-2.0), which asks the package index for each package. An index without that data lets
pip-audit say "no known vulnerabilities" of packages that it knows nothing about, so one is asked for first, and where
nothing is known of it this says so and asks for no more. Ends with 1 only where a vulnerability is known.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.metadata import distributions
from typing import Any

PROBE = "requests"  # on every index
TIMEOUT_S = 10


def asked(pins: Sequence[str]) -> list[dict[str, Any]] | str:
    """What pip-audit knows of each package, or why it knows nothing."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("\n".join(pins))
        file.flush()
        command = [sys.executable, "-m", "pip_audit", "--format", "json", "--progress-spinner", "off"]
        command += ["--no-deps", "--disable-pip", "--timeout", str(TIMEOUT_S), "--requirement", file.name]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    if not run.stdout.strip():
        return (run.stderr.strip().splitlines() or ["no reply"])[-1].partition("(")[0]
    found: list[dict[str, Any]] = json.loads(run.stdout)["dependencies"]
    return found


def report(found: Sequence[dict[str, Any]]) -> tuple[list[str], bool]:
    """Lines to print, and whether a vulnerability is known."""
    skipped = [one for one in found if "skip_reason" in one]
    known = [(one, fault) for one in found for fault in one.get("vulns", ())]
    lines = [
        f"{one['name']} {one['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions']) or 'no version'}"
        for one, fault in known
    ]
    lines.append(f"audit: {len(found) - len(skipped)} packages, {len(known)} known vulnerabilities")
    if skipped:
        lines.append(f"audit: NOT audited, no data: {', '.join(one['name'] for one in skipped)}")
    return lines, bool(known)


def main() -> int:
    pins = sorted({f"{one.name}=={one.version}" for one in distributions()})
    probe = asked([pin for pin in pins if pin.startswith(f"{PROBE}==")])
    if isinstance(probe, list) and any("skip_reason" in one for one in probe):
        probe = f"the package index knows nothing of {PROBE}"
    found = probe if isinstance(probe, str) else asked(pins)
    if isinstance(found, str):
        print(f"audit: NOT done, no data on vulnerabilities can be had here ({found}); {len(pins)} packages unaudited")
        return 0
    lines, vulnerable = report(found)
    print("\n".join(lines))
    return int(vulnerable)


if __name__ == "__main__":
    sys.exit(main())
