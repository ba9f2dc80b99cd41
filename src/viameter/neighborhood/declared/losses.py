"""Losses by the names of their measures in a file, and the numbers that each takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from viameter.core import Loss
from viameter.errors import FormatError
from viameter.measures import approx, approx_zcdp, bounded_range, gdp, pure, renyi, zcdp
from viameter.neighborhood.declared.values import at_place, list_of, nearest, number, refuse, table_of

LOSSES: Mapping[str, tuple[Callable[..., Loss], tuple[str, ...]]] = {
    "pure": (pure, ("epsilon",)),
    "approx": (approx, ("epsilon", "delta")),
    "zcdp": (zcdp, ("rho",)),
    "approx_zcdp": (approx_zcdp, ("rho", "delta")),
    "gdp": (gdp, ("mu",)),
    "bounded_range": (bounded_range, ("eta",)),
    "renyi": (renyi, ()),
}
"""The measures, what makes a loss of each, and which numbers that takes; none where it takes a table."""


def read_loss(value: Any, where: str) -> Loss:
    """A loss: a table with a measure and its number, or its numbers."""
    if not isinstance(value, dict) or len(value) != 1:
        raise refuse(value, where, 'a table with one measure, as { pure = "0.1" } or { approx = ["1", "1e-6"] }')
    [(measure, amount)] = value.items()
    return read_amount(measure, amount, where)


def read_amount(measure: str, amount: Any, where: str) -> Loss:
    """An amount of a measure that is named: a number, a list of two, or a table by order for Renyi."""
    name = measure.replace("-", "_")
    if name not in LOSSES:
        raise FormatError(f"{where}: the measure {measure!r} is not known: {nearest(name, LOSSES)}")
    make, names = LOSSES[name]
    inside = f"{where}.{measure}"
    with at_place(inside):
        if not names:
            return make(table_of(number)(amount, inside))
        if len(names) == 1:
            return make(number(amount, inside))
        if not isinstance(amount, list) or len(amount) != len(names):
            raise refuse(amount, inside, f"a list of {' and '.join(names)}")
        return make(*list_of(number)(amount, inside))
