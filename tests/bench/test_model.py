"""Case files: that mistakes in them are refused, and that the real ones can be imported without any peer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from bench.environments import find_environment
from bench.model import Benchmark, Case, Variant, load
from bench.places import CASES, benchmark_names


def nothing() -> Callable[[], object]:
    return lambda: None


def test_variants_of_the_same_name_are_refused() -> None:
    with pytest.raises(ValueError, match="different names"):
        Case("twice", [Variant("a", nothing), Variant("a", nothing)])


def test_a_case_without_variants_is_refused() -> None:
    with pytest.raises(ValueError, match="needs variants"):
        Case("empty", [])


def test_a_difference_to_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="no variant 'b'"):
        Case("difference", [Variant("a", nothing)], difference_to="b")


def test_cases_of_the_same_title_are_refused() -> None:
    case = Case("same", [Variant("a", nothing)])
    with pytest.raises(ValueError, match="two cases"):
        Benchmark("twice", "", [case, case])


def test_a_file_that_declares_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "odd.py").write_text("BENCHMARK = 3", encoding="utf-8")
    with pytest.raises(TypeError, match=r"BENCHMARK of odd.py is a int"):
        load(tmp_path / "odd.py")


@pytest.mark.parametrize("name", benchmark_names())
def test_every_case_file_loads_and_names_environments_that_can_be_made(name: str) -> None:
    for needed in load(CASES / f"{name}.py").environments:
        lock = find_environment(needed).lock
        assert lock is None or lock.exists()
