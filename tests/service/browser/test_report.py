"""The report of a table as a page: read in light and dark, wide and narrow."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import viameter as vm
from viameter.session.report import Report

FAULTS = (Path(__file__).parent / "page_faults.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = {"u": [f"u{n}" for n in range(300)], "ward": ["A", "B", "B"] * 100, "wait": list(range(300))}
    table = vm.open(rows, unit=vm.per("u", rows=1), budget=vm.zcdp(10))
    asked = table.group_by("ward", keys=["A", "B", "none"]).agg(n=vm.count(), wait=vm.mean("wait", bounds=(0, 240)))
    page = Report(table, "Waits", "How long people waited.")
    spend = vm.zcdp(1)
    page.add("By ward", text="A question.", preview=asked.preview(spend=spend), answer=asked.release(spend=spend))
    return page.write(tmp_path_factory.mktemp("report") / "report.html")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1200, 390])
def test_a_report_is_read_in_light_and_dark_wide_and_narrow(
    scheme: str, width: int, report: Path, browser: Browser
) -> None:
    page = browser.new_page(color_scheme=scheme, viewport={"width": width, "height": 900})  # type: ignore[arg-type]
    page.goto(report.as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate(FAULTS) == []
    page.close()
