"""What a TOML file of questions says of units, budgets and aggregates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import viameter as vm
from viameter.errors import FormatError

LOSSES: dict[str, Callable[[Any], vm.Loss]] = {
    "pure": lambda value: vm.pure(str(value)),
    "zcdp": lambda value: vm.zcdp(str(value)),
    "approx": lambda value: vm.approx(*map(str, _pair(value, "approx"))),
    "approx_zcdp": lambda value: vm.approx_zcdp(*map(str, _pair(value, "approx_zcdp"))),
}
AGGREGATES = {
    "mean": vm.mean,
    "sum": vm.sum,
    "variance": vm.variance,
    "std": vm.std,
    "median": vm.median,
    "minimum": vm.minimum,
    "maximum": vm.maximum,
}


def read_budget(value: Any, name: str) -> vm.Loss:
    """A loss: `{zcdp = "1/2"}`, `{pure = "1"}`, `{approx = ["1", "1e-6"]}`."""
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in LOSSES:
        raise FormatError(f'{name}: expected a loss such as {{zcdp = "1/2"}}; measures are {", ".join(LOSSES)}')
    measure, amount = next(iter(value.items()))
    if isinstance(amount, float):
        raise FormatError(f'{name}: write {amount} in quotes, "{amount}", so that it is read exactly')
    return LOSSES[measure](amount)


def read_unit(value: Any) -> Any:
    """A unit: `{per = "tailnum", rows = 20}`, `{row = true}`, `{event = "day", window = 7}`."""
    given = dict(value) if isinstance(value, Mapping) else {}
    for name, make in (("per", vm.per), ("event", vm.per_event)):
        if name in given:
            return make(given.pop(name), **given)
    if given.pop("row", False) is True:
        return vm.per_row(**given)
    raise FormatError('unit: expected {per = "patient", rows = 5}, {row = true} or {event = "day", window = 7}')


def read_aggregates(entries: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Aggregates by name: `n = {count = true}`, `delay = {mean = "dep_delay", bounds = [-30, 180]}`."""
    found: dict[str, Any] = {}
    for name, entry in entries.items():
        given = dict(entry) if isinstance(entry, Mapping) else {}
        bounds = given.pop("bounds", None)
        if given == {"count": True}:
            found[name] = vm.count()
        elif given == {"count_units": True}:
            found[name] = vm.count_units()
        elif "quantile" in given:
            column, q = given.pop("quantile"), given.pop("q", None)
            if q is None:
                raise FormatError(f"{where}: {name}: which quantile? Give q = 0.9")
            found[name] = vm.quantile(column, q, bounds=_bounds(bounds, where, name), **given)
        elif len(given) >= 1 and next(iter(given)) in AGGREGATES:
            what = next(iter(given))
            column = given.pop(what)
            make: Any = AGGREGATES[what]
            found[name] = make(column, bounds=_bounds(bounds, where, name), **given)
        else:
            known = ", ".join(["count", "count_units", "quantile", *AGGREGATES])
            raise FormatError(f'{where}: {name}: expected one of {known}, as in {{mean = "delay", bounds = [0, 240]}}')
    return found


def _bounds(value: Any, where: str, name: str) -> tuple[Any, Any]:
    lower, upper = _pair(value, f"{where}: {name}: bounds")
    return lower, upper


def _pair(value: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise FormatError(f"{name}: expected two values, as in [0, 240]")
    return value[0], value[1]
