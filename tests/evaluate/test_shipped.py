"""The figures of the release are one: the README, the document and the page say what the report says."""

import sys

from osrag.evaluate.report import SHIPPED, as_markdown, number, read_report
from osrag.evaluate.tasks import tasks
from osrag.settings import ROOT
from osrag.ui.measured import measured_html, report_html

sys.path.insert(0, str(ROOT / "tools"))
from measured import joined, readme_with

sys.path.remove(str(ROOT / "tools"))


def test_the_table_of_the_readme_is_that_of_the_shipped_report():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "| measured | 95 % |" in text
    assert readme_with(text, read_report(SHIPPED)) == text


def test_the_document_is_made_of_the_report():
    assert SHIPPED.with_suffix(".md").read_text(encoding="utf-8") == as_markdown(read_report(SHIPPED))


def test_the_report_names_every_set_measured_or_not():
    report = read_report(SHIPPED)
    assert {one.name for one in report.sets} == {one.name for one in tasks()}
    for one in report.sets:
        assert bool(one.groups) == (one.state in ("whole", "sampled", "partial")), one.name
        if one.groups:
            assert one.date and one.version and one.machine, one.name


def test_the_page_shows_what_is_below_the_floor_in_both_languages():
    report = read_report(SHIPPED)
    found = (value for one in report.sets for group in one.groups if group.group == "all" for value in group.values)
    missed = next(value for value in found if value.missed)
    for language in ("zh", "en"):
        html = report_html(report, language)
        assert html == measured_html(language)
        row = next(line for line in html.split("<tr") if "✗" in line and f"<td>{number(missed.value)}</td>" in line)
        assert row.startswith(" class=ms-missed")


def test_of_two_reports_the_first_that_measured_tells():
    report = read_report(SHIPPED)
    nothing = report.model_copy(
        update={"sets": tuple(one.model_copy(update={"groups": (), "state": "open"}) for one in report.sets)}
    )
    for both in ([nothing, report], [report, nothing]):
        assert [one.groups for one in joined(both).sets] == [one.groups for one in report.sets]
