"""Puts the report of `eval all` into the release: `python tools/measured.py [REPORT.json ...]`.

Writes docs/measured.json, and of it docs/measured.md and the table of the README. Where several reports are named, the
first that measured a set tells its figures. Without any, the Markdown is made of docs/measured.json as it is.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from osrag.evaluate.report import SHIPPED, Report, as_markdown, read_report, readme_table  # noqa: E402

TABLE = re.compile(r"(<!-- measured: [^\n]* -->\n).*?(<!-- /measured -->)", re.S)


def joined(reports: list[Report]) -> Report:
    """Of each set the first that was measured."""
    first, *_ = reports
    found = {one.name: [report.set(one.name) for report in reports] for one in first.sets}
    return Report(
        sets=tuple(
            next((one for one in some if one is not None and one.groups), some[0]) for some in found.values() if some[0]
        )
    )


def readme_with(text: str, report: Report) -> str:
    """The README with its table made anew."""
    return TABLE.sub(lambda found: f"{found[1]}{readme_table(report)}\n{found[2]}", text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=Path, nargs="*", default=[SHIPPED])
    report = joined([read_report(path) for path in parser.parse_args().reports])
    SHIPPED.write_text(report.model_dump_json(indent=1, exclude_defaults=True) + "\n", encoding="utf-8")
    SHIPPED.with_suffix(".md").write_text(as_markdown(report), encoding="utf-8")
    readme = ROOT / "README.md"
    readme.write_text(readme_with(readme.read_text(encoding="utf-8"), report), encoding="utf-8")


if __name__ == "__main__":
    main()
