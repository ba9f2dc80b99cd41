"""What written questions (files, requests) say of units, losses and aggregates, in the words of TOML and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from viameter.core import Loss
from viameter.errors import FormatError
from viameter.measures import approx, approx_zcdp, loss_from_json, pure, zcdp
from viameter.tables.aggregates import aggregate_from_json
from viameter.tables.units import per, per_event, per_row

LOSSES: dict[str, Callable[[Any], Loss]] = {
    "pure": lambda value: pure(str(value)),
    "zcdp": lambda value: zcdp(str(value)),
    "approx": lambda value: approx(*map(str, _pair(value, "approx"))),
    "approx_zcdp": lambda value: approx_zcdp(*map(str, _pair(value, "approx_zcdp"))),
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
    return {name: aggregate_from_json(entry, f"{where}: {name}") for name, entry in entries.items()}


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
