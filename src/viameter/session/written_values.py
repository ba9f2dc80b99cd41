"""What written questions (files, requests) say of units, losses and aggregates, in the words of TOML and JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from viameter.core import Loss
from viameter.errors import FormatError
from viameter.measures import approx, approx_zcdp, loss_from_json, pure, zcdp
from viameter.query import (
    count_units,
    maximum,
    median,
    minimum,
    per,
    per_event,
    per_row,
    quantile,
    std,
    variance,
)
from viameter.transforms import count, mean, sum

LOSSES: dict[str, Callable[[Any], Loss]] = {
    "pure": lambda value: pure(str(value)),
    "zcdp": lambda value: zcdp(str(value)),
    "approx": lambda value: approx(*map(str, _pair(value, "approx"))),
    "approx_zcdp": lambda value: approx_zcdp(*map(str, _pair(value, "approx_zcdp"))),
}
LARGEST = int(sys.float_info.max)
AGGREGATES: dict[str, Callable[..., Any]] = {
    "mean": mean,
    "sum": sum,
    "variance": variance,
    "std": std,
    "median": median,
    "minimum": minimum,
    "maximum": maximum,
}


def read_loss(value: Any, name: str) -> Loss:
    """A loss: `{zcdp = "1/2"}`, `{pure = "1"}`, `{approx = ["1", "1e-6"]}`; or as `loss.to_json()` writes it.

    >>> read_loss({"zcdp": "1/2"}, "spend"), read_loss({"measure": "zcdp", "rho": "1/2"}, "spend")
    (zcdp(1/2), zcdp(1/2))
    """
    if isinstance(value, Mapping) and "measure" in value:
        return loss_from_json(dict(value))
    if not isinstance(value, Mapping) or len(value) != 1 or next(iter(value)) not in LOSSES:
        raise FormatError(f'{name}: expected a loss such as {{zcdp = "1/2"}}; measures are {", ".join(LOSSES)}')
    measure, amount = next(iter(value.items()))
    numbers = amount if isinstance(amount, list) else [amount]
    for number in numbers:
        if isinstance(number, float):
            raise FormatError(f'{name}: write {number} in quotes, "{number}", so that it is read exactly')
        if isinstance(number, bool) or not isinstance(number, int | str):
            raise FormatError(f'{name}: expected numbers in quotes, as in {{{measure} = "1/2"}}')
    return LOSSES[measure](amount)


def read_unit(value: Any) -> Any:
    """A unit: `{per = "tailnum", rows = 20}`, `{row = true}`, `{event = "day", window = 7}`."""
    given = dict(value) if isinstance(value, Mapping) else {}
    if "per" in given:
        column = given.pop("per")
        return _made(lambda: per(column, **given), "unit")
    if "event" in given:
        time = given.pop("event")
        return _made(lambda: per_event(time, **given), "unit")
    if given.pop("row", False) is True:
        return _made(lambda: per_row(**given), "unit")
    raise FormatError('unit: expected {per = "patient", rows = 5}, {row = true} or {event = "day", window = 7}')


def read_aggregates(entries: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Aggregates by name: `n = {count = true}`, `delay = {mean = "dep_delay", bounds = [-30, 180]}`."""
    found: dict[str, Any] = {}
    for name, entry in entries.items():
        given = dict(entry) if isinstance(entry, Mapping) else {}
        bounds = given.pop("bounds", None)
        place = f"{where}: {name}"
        what = next((one for one in AGGREGATES if one in given), None)
        if given == {"count": True}:
            found[name] = count()
        elif given == {"count_units": True}:
            found[name] = count_units()
        elif "quantile" in given:
            column, q = given.pop("quantile"), given.pop("q", None)
            if q is None:
                raise FormatError(f"{place}: which quantile? Give q = 0.9")
            found[name] = _aggregate(quantile, (column, q), bounds, given, place)
        elif what is not None:
            found[name] = _aggregate(AGGREGATES[what], (given.pop(what),), bounds, given, place)
        else:
            known = ", ".join(["count", "count_units", "quantile", *AGGREGATES])
            raise FormatError(f'{place}: expected one of {known}, as in {{mean = "delay", bounds = [0, 240]}}')
    return found


def _aggregate(make: Callable[..., Any], of: tuple[Any, ...], bounds: Any, options: Mapping[str, Any], at: str) -> Any:
    if not isinstance(of[0], str):
        raise FormatError(f'{at}: expected the name of a column, as in {{mean = "delay", bounds = [0, 240]}}')
    pair = _pair(bounds, f"{at}: bounds")
    if any(isinstance(bound, int) and abs(bound) > LARGEST for bound in pair):
        raise FormatError(f"{at}: bounds: expected numbers that a float can hold")
    return _made(lambda: make(*of, bounds=pair, **options), at)


def _made(make: Callable[[], Any], where: str) -> Any:
    """What a constructor makes of options that were written; one that it does not have is said in words."""
    try:
        return make()
    except TypeError as problem:
        unknown = str(problem).partition("unexpected keyword argument ")[2]
        raise FormatError(
            f"{where}: {f'there is no option {unknown}' if unknown else 'an option is missing'}"
        ) from None


def _pair(value: Any, name: str) -> tuple[Any, Any]:
    if not isinstance(value, list) or len(value) != 2:
        raise FormatError(f"{name}: expected two values, as in [0, 240]")
    return value[0], value[1]
