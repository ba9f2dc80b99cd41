"""A plugin of pytest that notes which tests failed, in the file that `VIAMETER_FAILED` names."""

import os
from pathlib import Path

import pytest


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note a test that failed, or that could not be set up or torn down."""
    _note(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Note a file that cannot be read."""
    _note(report)


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.failed:
        with Path(os.environ["VIAMETER_FAILED"]).open("a") as file:
            file.write(f"{report.nodeid}\n")
