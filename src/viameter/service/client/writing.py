"""Writing: aggregates, keys, edges and costs as the document that is sent; numbers are exact, fractions text."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any

from viameter.arith import exact
from viameter.core import Measure
from viameter.errors import ParameterError, plain
from viameter.tables.aggregates import read_aggregate
from viameter.tables.estimates.noise import read_alpha
from viameter.tables.expressions import Column, Schema
from viameter.tables.formula import Formula
from viameter.tables.keys import read_keys
from viameter.tables.planning import noise_kinds, read_spend


def written_aggregates(aggregates: Mapping[str, Any], schema: Schema, measure: Measure) -> dict[str, dict[str, Any]]:
    """Aggregates by name, as in `agg(n=vm.count())`, for the columns of a table.

    >>> import viameter as vm
    >>> written_aggregates({"n": vm.count()}, Schema({}), vm.ZCDP)
    {'n': {'count': True}}
    """
    if not aggregates:
        raise ParameterError("agg: name at least one aggregate, as in agg(n=vm.count())")
    found = {}
    for name, given in aggregates.items():
        made = read_aggregate(name, given)
        found[name] = _written(name, made)
        # What cannot be asked of these columns is refused here, in the words of a local table.
        made.read(schema, noise_kinds(measure)[0])
    return found


def _written(name: str, made: Any) -> dict[str, Any]:
    for value in (getattr(made, one.name) for one in fields(made)):
        if isinstance(value, Formula):
            raise ParameterError(
                f"{name}: aggregates of an expression cannot be sent, those of columns can: "
                f"table.derive({name}_of={value!r}), then name that"
            )
    document: dict[str, Any] = made.to_json()
    return document


def written_groups(
    schema: Schema, columns: Sequence[str], *, keys: Any, other: bool, edges: Sequence[Any] | None
) -> dict[str, Any]:
    """Which groups are asked for: public keys, intervals between edges, or those that occur often enough."""
    if not columns:
        raise ParameterError("group_by: name at least one column")
    for name in columns:
        if not isinstance(name, str):
            raise ParameterError(
                f"group_by: {plain(name)} is not the name of a column: a service groups by columns, so that an "
                "expression is given a name first, table.derive(name=...)"
            )
        schema.require(name)
    if not isinstance(other, bool):
        raise ParameterError(f"group_by: other={plain(other)}: expected True or False")
    found: dict[str, Any] = {"group_by": list(columns), **({"other": True} if other else {})}
    if edges is not None:
        if len(columns) != 1 or keys is not None:
            raise ParameterError("group_by: edges=... cuts one column into intervals, and leaves no keys to be given")
        ends = list(edges)
        Column(columns[0], schema.require(columns[0])).bin(ends)  # edges that make no sense are refused here
        return {**found, "edges": [_edge(end) for end in ends]}
    if keys is None:
        return found
    made = read_keys(schema, columns, keys, other=other)
    if isinstance(keys, Mapping):
        assert made.each is not None
        listed: Any = {name: list(map(_value, values)) for name, values in zip(columns, made.each, strict=True)}
    elif len(columns) == 1:
        listed = [_value(group[0]) for group in made.groups]
    else:
        listed = [list(map(_value, group)) for group in made.groups]
    return {**found, "keys": listed}


def _edge(end: Any) -> int | float:
    value = end.item() if hasattr(end, "item") else end
    if isinstance(value, Fraction | Decimal):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ParameterError(f"edges: {plain(end)} is not a number")
    return value


def _value(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value


def written_cost(
    measure: Measure,
    *,
    spend: Any,
    within: Any,
    alpha: Any = None,
    weights: Any = None,
    raw: Any = False,
) -> dict[str, Any]:
    """What a question may cost: a loss, or widths; how often intervals may miss, and how the loss is shared."""
    if (spend is None) == (within is None):
        raise ParameterError("give spend=... (a loss) or within=... (widths that are to be reached)")
    found: dict[str, Any] = {}
    if spend is not None:
        found["spend"] = read_spend(spend, measure).to_json()
    else:
        if not isinstance(within, Mapping) or not within:
            raise ParameterError(f'within={plain(within)}: expected widths by name, as in within={{"n": 25}}')
        found["within"] = {_name(name): str(exact(width, name=f"within[{name!r}]")) for name, width in within.items()}
    if alpha is not None:
        found["alpha"] = str(read_alpha(alpha))
    if weights is not None:
        if not isinstance(weights, Mapping):
            raise ParameterError(f'weights={plain(weights)}: expected numbers by name, as in weights={{"n": 2}}')
        found["weights"] = {_name(name): _weight(name, weight) for name, weight in weights.items()}
    if not isinstance(raw, bool):
        raise ParameterError(f"raw={plain(raw)}: expected True or False")
    return {**found, **({"raw": True} if raw else {})}


def _name(name: Any) -> str:
    if not isinstance(name, str):
        raise ParameterError(f"{plain(name)} is not the name of an aggregate: expected text")
    return name


def _weight(name: str, weight: Any) -> str:
    # How a loss is shared is no loss: a float is what it is.
    try:
        return str(Fraction(weight))
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise ParameterError(f"weights[{name!r}]={plain(weight)} is not a number above 0") from None
