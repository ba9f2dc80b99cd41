"""Tables and pages, made from times that are given."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from bench.model import Case, Variant
from bench.protocol import Description
from bench.report import as_json, as_markdown, as_text
from bench.results import BenchmarkResult, CaseResult, VariantResult
from bench.units import memory, number, seconds


def nothing() -> Callable[[], object]:
    return lambda: None


OURS = Variant("viameter", nothing)
PEER = Variant("a peer", nothing, environment="peer")
SCALED = Variant("scaled", nothing, units=1)
BROKEN = Variant("broken", nothing)


def result_of(case: Case, *rows: VariantResult) -> BenchmarkResult:
    return BenchmarkResult(
        name="fake",
        title="A fake",
        about="About it.",
        date="2026-01-02 03:04 UTC",
        machine={"CPU": "fast", "cores": "2"},
        environments={"viameter": Description("CPython 3.11.7", {"numpy": "2.0"}), "peer": "the worker died"},
        cases=[CaseResult(case, list(rows), repetitions=2)],
    )


@pytest.fixture
def result() -> BenchmarkResult:
    case = Case("work", [OURS, PEER, SCALED, BROKEN], {"size": 2_000}, units=10, unit="row", difference_to="viameter")
    return result_of(
        case,
        VariantResult(OURS, 10, seconds_per_call=[0.02, 0.04]),
        VariantResult(PEER, 10, seconds_per_call=[0.06, 0.12]),
        VariantResult(SCALED, 1, seconds_per_call=[0.001, 0.002]),
        VariantResult(BROKEN, 10, "failed", "ValueError: a | b\n`c`"),
    )


def test_text(result: BenchmarkResult) -> None:
    assert as_text(result).splitlines() == [
        "A fake (fake, 2 repetitions)",
        "",
        "case              variant         time          ratio          minus viameter",
        "────────────────  ────────  ──────────  ─────────────  ──────────────────────",
        "work, size=2,000  viameter    3 ms/row              1",
        "                  a peer      9 ms/row        3 (3–3)  +6.0 ms (+4.4 to +7.6)",
        "                  scaled    1.5 ms/row  0.5 (0.5–0.5)  -1.5 ms (-1.9 to -1.1)",
        "                  broken        failed",
        "! work, size=2,000: broken failed: ValueError: a | b `c`",
    ]


def test_markdown(result: BenchmarkResult) -> None:
    page = as_markdown(result)
    assert page.startswith("# A fake\n\nAbout it.\n\nMade by `make bench ONLY=fake` on 2026-01-02 03:04 UTC, with 2 ")
    assert "| work, size=2,000 | viameter | 3 ms/row | 1 |  |\n|  | a peer | 9 ms/row | 3 (3–3) |" in page
    assert "- `work, size=2,000: broken failed: ValueError: a | b 'c'`\n" in page
    assert page.endswith(
        "## Machine\n\n- CPU: fast\n- cores: 2\n- environment viameter: CPython 3.11.7, numpy 2.0\n"
        "- environment peer: `the worker died`\n"
    )


def test_every_row_of_a_markdown_table_has_the_columns_of_its_header() -> None:
    odd = Variant("a|b", nothing)
    page = as_markdown(result_of(Case("odd", [odd]), VariantResult(odd, 1, seconds_per_call=[1.0])))
    lines = [line for line in page.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in lines} == {5}


def test_columns_that_no_case_asks_for_are_left_out() -> None:
    row = VariantResult(OURS, 1, seconds_per_call=[1.0])
    assert "memory" not in as_text(result_of(Case("plain", [OURS]), row))
    row.peak_growth = 3 * 2**19
    assert "1.5 MiB" in as_text(result_of(Case("with memory", [OURS], memory=True), row))


def test_json(result: BenchmarkResult) -> None:
    document = json.loads(as_json(result))
    ours, peer, _, broken = document["cases"][0]["variants"]
    assert document["command"] == "make bench ONLY=fake"
    assert ours["seconds_per_call"] == [0.02, 0.04]
    assert peer["ratio"]["median"] == pytest.approx(3.0)
    assert (broken["status"], broken["ratio"]) == ("failed", None)


def test_without_the_reference_there_are_times_but_no_ratios() -> None:
    case = Case("work", [OURS, PEER])
    result = result_of(
        case, VariantResult(OURS, 1, "absent", "no"), VariantResult(PEER, 1, seconds_per_call=[1.0, 1.0])
    )
    assert "a peer    1 s/call" in as_text(result)
    assert result.problems == ["work: viameter absent: no"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1.234e-9, "1.23 ns"),
        (999.4e-9, "999 ns"),
        (999.6e-9, "1 µs"),
        (0.0456, "45.6 ms"),
        (1.0, "1 s"),
        (4e3, "4,000 s"),
    ],
)
def test_seconds(value: float, shown: str) -> None:
    assert seconds(value) == shown


def test_numbers_and_memory() -> None:
    assert [number(value) for value in (0.01234, 12.34, 999.7, 123456.0)] == ["0.0123", "12.3", "1,000", "123,456"]
    assert memory(2**30) == "1,024.0 MiB"
