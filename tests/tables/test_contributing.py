"""What is asked for limits what a unit adds to each statistic, and keeps rows in an order that engines agree in."""

from __future__ import annotations

from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import NoTheorem, ParameterError

ROWS: dict[str, Any] = {"u": [1, 1, 2], "k": ["a", "b", "a"], "n": [3, 4, 5]}


def opened(unit: Any) -> Any:
    return vm.open(held(ROWS), unit=unit, budget=vm.zcdp(1))


def test_each_of_several_statistics_needs_a_limit() -> None:
    groups = opened(vm.per("u")).group_by("k", keys=["a", "b"])
    # A unit counts once in each of two groups; how many rows of it count, nothing says.
    people, rows, total = vm.count_units(), vm.count(), vm.sum("n", bounds=(0, 9))
    groups.agg(people=people)
    for others in ({"rows": rows}, {"total": total}, {"rows": rows, "total": total}):
        for asked in ({"people": people, **others}, {**others, "people": people}):
            with pytest.raises(NoTheorem, match="nothing limits how many rows of a u count"):
                groups.agg(**asked)
    opened(vm.per("u", rows=2)).group_by("k", keys=["a", "b"]).agg(people=people, rows=rows, total=total)


def test_rows_are_not_kept_by_the_order_of_texts() -> None:
    with pytest.raises(ParameterError, match="'k' is TEXT"):
        opened(vm.per("u", rows=1, keep="first by k"))
    with pytest.raises(ParameterError, match="'k' is TEXT"):
        opened(vm.per("u")).limit(rows=1, keep="first by k")
    opened(vm.per("u")).limit(rows=1, keep="first by n").agg(n=vm.count())


def test_rows_are_not_kept_by_a_column_that_is_not_there() -> None:
    with pytest.raises(ParameterError, match="'missing'"):
        opened(vm.per("u")).limit(rows=1, keep="first by missing")
