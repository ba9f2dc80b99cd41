"""Bounds of aggregates: numbers of any size, and what is no number, are refused by errors of the library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter.errors import NumberError, ViameterError

BOUNDED: dict[str, Callable[[Any], Any]] = {
    "sum": lambda bounds: vm.sum("v", bounds=bounds),
    "mean": lambda bounds: vm.mean("v", bounds=bounds),
    "variance": lambda bounds: vm.variance("v", bounds=bounds),
    "std": lambda bounds: vm.std("v", bounds=bounds),
    "quantile": lambda bounds: vm.quantile("v", 0.5, bounds=bounds),
    "median": lambda bounds: vm.median("v", bounds=bounds, interval=False),
    "minimum": lambda bounds: vm.minimum("v", bounds=bounds),
    "maximum": lambda bounds: vm.maximum("v", bounds=bounds),
}


@pytest.mark.parametrize("aggregate", BOUNDED)
@pytest.mark.parametrize(
    "bounds",
    [(0, 10**400), (-(10**400), 0), (10**5000, 0), (0, "1e400"), (0, "1e-400"), (0, 1e300), (0, 2**52 + 1)],
    ids=["int", "negative", "unordered", "text", "tiny", "float", "edge"],
)
def test_bounds_of_any_size_are_refused_as_numbers(aggregate: str, bounds: Any) -> None:
    table = vm.open(held({"u": [1, 2], "v": [1, 2]}), unit=vm.per("u", rows=1), budget=vm.zcdp(1))
    with pytest.raises(NumberError, match=r"2\^52|lower < upper"):
        table.agg(x=BOUNDED[aggregate](bounds)).preview(spend=vm.zcdp(1))


@pytest.mark.parametrize("bounds", [(0, None), (0, "many"), (0, float("nan")), (0, 1j), (0, [1])], ids=repr)
def test_bounds_that_are_no_numbers_are_refused(bounds: Any) -> None:
    table = vm.open(held({"u": [1, 2], "v": [1, 2]}), unit=vm.per("u", rows=1), budget=vm.zcdp(1))
    for make in BOUNDED.values():
        with pytest.raises(ViameterError):
            table.agg(x=make(bounds)).preview(spend=vm.zcdp(1))
