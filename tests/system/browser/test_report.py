"""The report of a table as a page: read in light and dark, wide and narrow."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser
from tests.system.browser.guest import faults_of

import viameter as vm
from viameter.tables.report import Report


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = {"u": [f"u{n}" for n in range(300)], "ward": ["A", "B", "B"] * 100, "wait": list(range(300))}
    table = vm.open(rows, unit=vm.per("u", rows=1), budget=vm.zcdp(10))
    asked = table.group_by("ward", keys=["A", "B", "none"]).agg(n=vm.count(), wait=vm.mean("wait", bounds=(0, 240)))
    page = Report(table, "Waits", "How long people waited.")
    spend = vm.zcdp(1)
    page.add("By ward", text="A question.", preview=asked.preview(spend=spend), answer=asked.release(spend=spend))
    return page.write(tmp_path_factory.mktemp("report") / "report.html")


def test_a_report_is_read_in_light_and_dark_wide_and_narrow(report: Path, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(report.as_uri())
    assert [fault for width in (390, 1200) for fault in faults_of(page, "light", width)] == []
    assert [fault for width in (390, 1200) for fault in faults_of(page, "dark", width)] == []
    page.close()
