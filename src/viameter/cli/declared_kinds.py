"""Granularities and cuts by their names in a TOML file, and the keys that each takes."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import partial
from typing import Any

import click

from viameter import neighborhood as nb
from viameter.cli.declared_values import (
    MOST,
    Kind,
    count,
    data_value,
    flag,
    integer,
    list_of,
    number,
    place,
    read_keys,
    read_kind,
    refuse,
    table_of,
    text,
)
from viameter.errors import ParameterError


def read_granularity(value: Any, where: str) -> nb.Granularity:
    """A granularity: its name, or a table with its name and its parameters."""
    table = {"name": value} if isinstance(value, str) else value
    if not isinstance(table, dict):
        raise refuse(value, where, 'a name, as "bounded", or a table, as { name = "w-event", w = 3 }')
    if str(table.get("name")) == "own":
        raise refuse("own", where, "a granularity that has a name here; one of your own is declared in Python")
    read: nb.Granularity = read_kind(GRANULARITIES, table, "name", where)
    return read


_COLUMNS = {"columns": count}
_NODES = {"nodes": count, "degree": count}

GRANULARITIES: Mapping[str, Kind] = {
    "unbounded": Kind(nb.unbounded),
    "bounded": Kind(nb.bounded),
    "add-remove-or-replace": Kind(nb.add_remove_or_replace),
    "insert-delete": Kind(nb.insert_delete),
    "bounded-ordered": Kind(nb.bounded_ordered, optional=_COLUMNS),
    "zero-out": Kind(nb.zero_out),
    "attribute": Kind(nb.attribute, optional=_COLUMNS),
    "local": Kind(nb.local, optional=_COLUMNS),
    "policy": Kind(nb.policy, {"pairs": list_of(list_of(data_value))}),
    "geo": Kind(nb.geo, {"radius": number}),
    "event": Kind(nb.event),
    "w-event": Kind(nb.w_event, {"w": count}),
    "user": Kind(nb.user, optional={"rows": count, "times": count, "alters": flag}),
    "entity": Kind(nb.entity, {"root": text}),
    "edge": Kind(nb.edge),
    "k-edge": Kind(nb.k_edge, {"k": count}),
    "node": Kind(nb.node, optional=_NODES),
    "node-rewire": Kind(nb.node_rewire, optional=_NODES),
    "out-link": Kind(nb.out_link, optional=_NODES),
    "group": Kind(nb.group, {"of": read_granularity, "most": count}, names={"of": "base"}),
    "free-lunch": Kind(nb.free_lunch),
    "personalised": Kind(nb.personalised, {"classes": list_of(text)}, {"of": read_granularity}, names={"of": "base"}),
}


def read_cut(table: Any, where: str) -> nb.Cut:
    """A cut: a table with its kind and its parameters."""
    if not isinstance(table, dict):
        raise refuse(table, where, 'a table, as { kind = "partition", parts = 3 }')
    made: nb.Cut | nb.Part = read_kind(CUTS, table, "kind", where)
    return made.cut if isinstance(made, nb.Part) else made


def _parts_or_lists(value: Any, where: str) -> Any:
    return list_of(list_of(data_value))(value, where) if isinstance(value, list) else count(value, where)


def _partition(parts: Any, by: str = "value", values: int | None = None, blanks: bool | None = None) -> nb.Cut:
    counted = isinstance(parts, int)
    if values is not None and not (counted and by == "value"):
        raise ParameterError('`values` is for a number of parts with by = "value"; elsewhere it would say nothing')
    if blanks is not None and not (counted and by in ("value", "id")):
        raise ParameterError('`blanks` is for a number of parts with by = "value" or "id"')
    if not counted and not all(parts):
        raise ParameterError("a part lists no values: list those of every part")
    return nb.partition(parts, by=by, values=2 if values is None else values, blanks=bool(blanks))


def _listed_values(value: Any, where: str) -> dict[Hashable, list[int]]:
    """Values with their parts: a table, or a list of tables where values are not text."""
    if not isinstance(value, list):
        by_name: dict[Hashable, list[int]] = table_of(list_of(_part))(value, where)
        return by_name
    read: dict[Hashable, list[int]] = {}
    for at, row in enumerate(value):
        keys = read_keys(row, f"{where}[{at}]", {"value": data_value, "parts": list_of(_part)}, {})
        if keys["value"] in read:
            raise refuse(keys["value"], f"{where}[{at}].value", "each value once")
        read[keys["value"]] = keys["parts"]
    return read


def _part(value: Any, where: str) -> int:
    if place(value, where) >= MOST:
        raise refuse(value, where, f"the number of a part, below {MOST}")
    return int(value)


def _tree(within: Mapping[str, str]) -> nb.Cut:
    # A node without one above is said to be so: a misspelt name must not become the top of a tree of its own.
    return nb.tree({node: above or None for node, above in within.items()})


def _above(value: Any, where: str) -> str:
    if not isinstance(value, str):
        raise refuse(value, where, 'the name of the node that it is in, or "" at the top')
    return value


def _values_or_range(value: Any, where: str) -> Sequence[Hashable]:
    if not isinstance(value, dict):
        listed: list[Hashable] = list_of(data_value)(value, where)
        return listed
    ends = read_keys(value, where, {"from": integer, "to": integer}, {})
    if ends["from"] > ends["to"]:
        raise refuse(value, where, "{ from = first, to = last }, both included, first <= last")
    return range(ends["from"], ends["to"] + 1)


def _say(line: str) -> None:
    """A line on how a long search goes, apart from the report."""
    click.echo(line, err=True)


def _predicates(
    conditions: list[dict[str, Collection[Any]]], domains: dict[str, Sequence[Any]], time_limit: int | None = None
) -> nb.Cut:
    for at, condition in enumerate(conditions):
        for name, values in condition.items():
            # What a domain does not list is never looked at, so a value that is missing there would lower the bound.
            ends = (values[0], values[-1]) if isinstance(values, range) else values
            outside = [value for value in ends if value not in domains.get(name, ends)]
            if outside:
                raise ParameterError(f"conditions[{at}].{name} has {outside[0]!r}, which domains.{name} does not have")
    return nb.predicates(conditions, domains=domains, time_limit=time_limit, progress=_say)


def _contributions(size: int, **bounds: int) -> nb.Cut:
    if not {"l1", "linf"} & set(bounds):
        raise ParameterError(
            "give most_rows (of a person, in all) or most_rows_in_a_part: without, nothing bounds them"
        )
    return nb.contributions(size, **bounds)


def _most(value: Any, where: str) -> Any:
    return list_of(place)(value, where) if isinstance(value, list) else place(value, where)


def _constraint(value: Any, where: str) -> tuple[dict[int, int | str], int | str]:
    keys = read_keys(value, where, {"sum": table_of(number), "most": number}, {})
    coefficients: dict[int, int | str] = {}
    for name, coefficient in keys["sum"].items():
        if not (name.isascii() and name.isdigit()) or int(name) in coefficients:
            raise refuse(name, f"{where}.sum", "the number of a part as key, each once")
        coefficients[int(name)] = coefficient
    return coefficients, keys["most"]


_PARTS = {"parts": count}
_SIZE = {"parts": "size"}
"""Every cut calls it parts here."""

CUTS: Mapping[str, Kind] = {
    "partition": Kind(_partition, {"parts": _parts_or_lists}, {"by": text, "values": count, "blanks": flag}),
    "subsets": Kind(nb.subsets, {**_PARTS, "at_most": count}, names=_SIZE),
    "memberships": Kind(
        nb.memberships, {"values": _listed_values}, {**_PARTS, "plural": flag}, names={"values": "parts_of"}
    ),
    "projections": Kind(nb.projections, {"columns": list_of(list_of(text))}),
    "intervals": Kind(nb.intervals, {"spans": list_of(list_of(integer))}),
    "windows": Kind(nb.windows, {"length": count, "horizon": count}, {"step": count}),
    "tree": Kind(_tree, {"within": table_of(_above)}),
    "predicates": Kind(
        _predicates,
        {"conditions": list_of(table_of(_values_or_range)), "domains": table_of(_values_or_range)},
        {"time_limit": count},
    ),
    "induced": Kind(nb.induced, _PARTS, names=_SIZE),
    "incident": Kind(nb.incident, _PARTS, names=_SIZE),
    "by-source": Kind(nb.by_source, _PARTS, names=_SIZE),
    "contributions": Kind(
        _contributions,
        _PARTS,
        {"most_parts": count, "most_rows": count, "most_rows_in_a_part": count},
        names={**_SIZE, "most_parts": "l0", "most_rows": "l1", "most_rows_in_a_part": "linf"},
    ),
    "foreign-keys": Kind(nb.foreign_keys, {"tables": table_of(table_of(count))}),
    "patterns": Kind(nb.patterns, {"patterns": list_of(list_of(place))}, names={"patterns": "listed"}),
    "constrained": Kind(
        partial(nb.constrained, progress=_say),
        {**_PARTS, "most": _most},
        {"constraints": list_of(_constraint), "time_limit": count},
        names=_SIZE,
    ),
    "opaque": Kind(nb.opaque, {"stability": number}, {"name": text}),
    "whole": Kind(nb.whole),
}
