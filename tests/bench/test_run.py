"""A whole run of the fake case file, with this interpreter as every environment."""

from __future__ import annotations

import json
import re
import sys
from io import StringIO
from pathlib import Path

import pytest
from bench.environments import Environment
from bench.progress import Progress
from bench.protocol import Description
from bench.report import as_json, as_markdown, as_text
from bench.results import BenchmarkResult, VariantResult
from bench.run import Plan, run_benchmark

REPETITIONS = 3


@pytest.fixture(scope="module")
def log() -> StringIO:
    return StringIO()


@pytest.fixture(scope="module")
def result(log: StringIO) -> BenchmarkResult:
    python = Path(sys.executable)
    environments = {
        "viameter": Environment("viameter", python, ("pytest", "a-peer-that-nobody-installed")),
        "peer": Environment("peer", python),
        "nowhere": Environment("nowhere", Path("/nowhere/bin/python")),
    }
    progress = Progress("fake", log, seconds_between_lines=0.0)
    return run_benchmark(Path(__file__).with_name("fake_case.py"), environments, Plan(REPETITIONS), progress)


def row(result: BenchmarkResult, name: str) -> VariantResult:
    return next(row for row in result.cases[0].variants if row.variant.name == name)


@pytest.mark.parametrize("name", ["reference", "slow", "aloud", "half the work"])
def test_what_can_be_measured_is_measured_in_every_repetition(result: BenchmarkResult, name: str) -> None:
    assert row(result, name).status == "measured"
    assert len(row(result, name).seconds_per_call) == REPETITIONS
    assert row(result, name).loops >= 1


@pytest.mark.parametrize(
    ("name", "status", "message"),
    [
        ("wrong", "disagrees", "returned [500500.0], but reference [499500.0]"),
        ("raises", "failed", "ValueError: no | `set-up`\nof this"),
        ("raises later", "failed", "ArithmeticError: enough"),
        ("absent", "absent", "ModuleNotFoundError: No module named 'a_peer_that_nobody_installed'"),
        ("dies", "failed", "the worker died (exit code 3): out of memory, say"),
        ("dies later", "failed", "the worker died (signal 9)"),
        ("no environment", "failed", "the environment nowhere is not set up: run scripts/bench"),
    ],
)
def test_what_goes_wrong_is_reported_in_its_row(result: BenchmarkResult, name: str, status: str, message: str) -> None:
    assert (row(result, name).status, row(result, name).message) == (status, message)


def test_the_cases_after_a_death_are_measured(result: BenchmarkResult) -> None:
    assert [case.reference.status for case in result.cases] == ["measured", "measured"]


def test_absent_peers_are_no_problem_and_everything_else_is(result: BenchmarkResult) -> None:
    named = [
        re.sub(r".*?: (.*?) (failed|disagrees):.*", r"\1", problem, flags=re.DOTALL) for problem in result.problems
    ]
    assert named == ["wrong", "raises", "raises later", "dies", "dies later", "no environment"]


def test_environments_are_described(result: BenchmarkResult) -> None:
    ours = result.environments["viameter"]
    assert isinstance(ours, Description)
    assert ours.versions == {"pytest": pytest.__version__, "a-peer-that-nobody-installed": "not installed"}
    assert result.environments["nowhere"] == "the environment nowhere is not set up: run scripts/bench"


def test_reports_hold_every_row(result: BenchmarkResult) -> None:
    document = json.loads(as_json(result))
    names = [variant["name"] for case in document["cases"] for variant in case["variants"]]
    for name in names:
        assert name in as_text(result)
        assert f"| {name} |" in as_markdown(result)
    assert len(document["cases"][0]["variants"][0]["seconds_per_call"]) == REPETITIONS


def test_progress_says_case_repetition_and_elapsed_time(result: BenchmarkResult, log: StringIO) -> None:
    lines = log.getvalue().splitlines()
    assert any(re.fullmatch(r"\[fake +\d+ s\] case 1/2: sum, size=1,000: preparing slow", line) for line in lines)
    assert any(
        re.fullmatch(r"\[fake +\d+ s\] case 2/2: after all that, size=10: repetition 3/3", line) for line in lines
    )
