"""Asking workers, also such as do not answer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from bench.environments import Environment
from bench.protocol import Request
from bench.workers import NoResultError, Workers

WAITS = """
import time
from bench.model import Benchmark, Case, Variant
BENCHMARK = Benchmark("Waits", "", [Case("wait", [Variant("forever", lambda: lambda: time.sleep(3600))])])
"""


def workers_for(tmp_path: Path, source: str, patience_seconds: float) -> Workers:
    case_file = tmp_path / "case.py"
    case_file.write_text(source, encoding="utf-8")
    environment = Environment("viameter", Path(sys.executable))
    return Workers(case_file, {"viameter": environment}, patience_seconds)


def test_a_worker_that_hangs_is_replaced(tmp_path: Path) -> None:
    with workers_for(tmp_path, WAITS, 1.0) as workers:
        with pytest.raises(NoResultError, match="did not answer within 1 s"):
            workers.ask("viameter", Request("prepare"))
        assert workers.ask("viameter", Request("describe"))["versions"] == {}


def test_a_case_file_that_cannot_be_imported_is_told_by_the_last_line_of_its_traceback(tmp_path: Path) -> None:
    with (
        workers_for(tmp_path, "raise RuntimeError('half written')", 30.0) as workers,
        pytest.raises(NoResultError, match=r"the worker died \(exit code 1\): RuntimeError: half written"),
    ):
        workers.ask("viameter", Request("describe"))


def test_messages_name_no_directory_of_the_machine() -> None:
    checkout = Path(__file__).parents[2]
    assert str(NoResultError(f"cannot import x from {checkout}/src/y.py")) == "cannot import x from src/y.py"
