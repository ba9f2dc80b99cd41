"""Granularities and cuts by their names in a file, and the keys that each takes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from typing import Any

from viameter.errors import FormatError, ParameterError
from viameter.neighborhood import cuts, granularities
from viameter.neighborhood.cuts import Cut, Part
from viameter.neighborhood.declared.values import (
    MOST,
    Kind,
    count,
    data_value,
    flag,
    integer,
    list_of,
    nearest,
    number,
    place,
    read_keys,
    read_kind,
    refuse,
    table_of,
    text,
)
from viameter.neighborhood.granularities import Granularity


def read_granularity(value: Any, where: str) -> Granularity:
    """A granularity: its name, or a table with its name and its parameters."""
    table = {"name": value} if isinstance(value, str) else value
    if not isinstance(table, dict):
        raise refuse(value, where, 'a name, as "bounded", or a table, as { name = "w-event", w = 3 }')
    if str(table.get("name")) == "own":
        raise refuse("own", where, "a granularity that has a name here; one of your own is declared in Python")
    read: Granularity = read_kind(GRANULARITIES, table, "name", where)
    return read


_COLUMNS = {"columns": count}
_NODES = {"nodes": count, "degree": count}

GRANULARITIES: Mapping[str, Kind] = {
    "unbounded": Kind(granularities.unbounded),
    "bounded": Kind(granularities.bounded),
    "add-remove-or-replace": Kind(granularities.add_remove_or_replace),
    "insert-delete": Kind(granularities.insert_delete),
    "bounded-ordered": Kind(granularities.bounded_ordered, optional=_COLUMNS),
    "zero-out": Kind(granularities.zero_out),
    "attribute": Kind(granularities.attribute, optional=_COLUMNS),
    "local": Kind(granularities.local, optional=_COLUMNS),
    "policy": Kind(granularities.policy, {"pairs": list_of(list_of(data_value))}),
    "geo": Kind(granularities.geo, {"radius": number}),
    "event": Kind(granularities.event),
    "w-event": Kind(granularities.w_event, {"w": count}),
    "user": Kind(granularities.user, optional={"rows": count, "times": count, "alters": flag}),
    "entity": Kind(granularities.entity, {"root": text}),
    "edge": Kind(granularities.edge),
    "k-edge": Kind(granularities.k_edge, {"k": count}),
    "node": Kind(granularities.node, optional=_NODES),
    "node-rewire": Kind(granularities.node_rewire, optional=_NODES),
    "out-link": Kind(granularities.out_link, optional=_NODES),
    "group": Kind(granularities.group, {"of": read_granularity, "most": count}, names={"of": "base"}),
    "free-lunch": Kind(granularities.free_lunch),
    "personalised": Kind(
        granularities.personalised, {"classes": list_of(text)}, {"of": read_granularity}, names={"of": "base"}
    ),
}


def read_cut(table: Any, where: str, *, progress: Callable[[str], None] | None = None) -> Cut:
    """A cut: a table with its kind and its parameters; `progress` is told how a long search in it goes."""
    if not isinstance(table, dict):
        raise refuse(table, where, 'a table, as { kind = "partition", parts = 3 }')
    made: Cut | Part = read_kind(CUTS, table, "kind", where, progress=progress)
    return made.cut if isinstance(made, Part) else made


def read_part(cut: Cut, value: Any, where: str) -> int:
    """The number of a part: a value that is the number itself, or the part's name where the cut has names."""
    names: tuple[Any, ...] = getattr(cut, "names", ())
    if isinstance(value, str) and names:
        if value in names:
            return names.index(value)
        raise FormatError(
            f"{where} = {value!r} is not the name of a part: {nearest(value, [str(name) for name in names])}"
        )
    if type(value) is not int or not 0 <= value < len(cut):
        named = f", or one of {', '.join(map(str, names[:8]))}" if names else ""
        raise refuse(value, where, f"the number of a part, from 0 to {len(cut) - 1}{named}")
    return value


def _parts_or_lists(value: Any, where: str) -> Any:
    return list_of(list_of(data_value))(value, where) if isinstance(value, list) else count(value, where)


def _partition(parts: Any, by: str = "value", values: int | None = None, blanks: bool | None = None) -> Cut:
    counted = isinstance(parts, int)
    if values is not None and not (counted and by == "value"):
        raise ParameterError('`values` is for a number of parts with by = "value"; elsewhere it would say nothing')
    if blanks is not None and not (counted and by in ("value", "id")):
        raise ParameterError('`blanks` is for a number of parts with by = "value" or "id"')
    if not counted and not all(parts):
        raise ParameterError("a part lists no values: list those of every part")
    return cuts.partition(parts, by=by, values=2 if values is None else values, blanks=bool(blanks))


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


def _tree(within: Mapping[str, str]) -> Cut:
    # A node without one above is said to be so: a misspelt name must not become the top of a tree of its own.
    return cuts.tree({node: above or None for node, above in within.items()})


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


def _predicates(
    conditions: list[dict[str, Collection[Any]]],
    domains: dict[str, Sequence[Any]],
    time_limit: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Cut:
    for at, condition in enumerate(conditions):
        for name, values in condition.items():
            # What a domain does not list is never looked at, so a value that is missing there would lower the bound.
            ends = (values[0], values[-1]) if isinstance(values, range) else values
            outside = [value for value in ends if value not in domains.get(name, ends)]
            if outside:
                raise ParameterError(f"conditions[{at}].{name} has {outside[0]!r}, which domains.{name} does not have")
    return cuts.predicates(conditions, domains=domains, time_limit=time_limit, progress=progress)


def _contributions(size: int, **bounds: int) -> Cut:
    if not {"l1", "linf"} & set(bounds):
        raise ParameterError(
            "give most_rows (of a person, in all) or most_rows_in_a_part: without, nothing bounds them"
        )
    return cuts.contributions(size, **bounds)


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
    "subsets": Kind(cuts.subsets, {**_PARTS, "at_most": count}, names=_SIZE),
    "memberships": Kind(
        cuts.memberships, {"values": _listed_values}, {**_PARTS, "plural": flag}, names={"values": "parts_of"}
    ),
    "projections": Kind(cuts.projections, {"columns": list_of(list_of(text))}),
    "intervals": Kind(cuts.intervals, {"spans": list_of(list_of(integer))}),
    "windows": Kind(cuts.windows, {"length": count, "horizon": count}, {"step": count}),
    "tree": Kind(_tree, {"within": table_of(_above)}),
    "predicates": Kind(
        _predicates,
        {"conditions": list_of(table_of(_values_or_range)), "domains": table_of(_values_or_range)},
        {"time_limit": count},
        searches=True,
    ),
    "induced": Kind(cuts.induced, _PARTS, names=_SIZE),
    "incident": Kind(cuts.incident, _PARTS, names=_SIZE),
    "by-source": Kind(cuts.by_source, _PARTS, names=_SIZE),
    "contributions": Kind(
        _contributions,
        _PARTS,
        {"most_parts": count, "most_rows": count, "most_rows_in_a_part": count},
        names={**_SIZE, "most_parts": "l0", "most_rows": "l1", "most_rows_in_a_part": "linf"},
    ),
    "foreign-keys": Kind(cuts.foreign_keys, {"tables": table_of(table_of(count))}),
    "patterns": Kind(cuts.patterns, {"patterns": list_of(list_of(place))}, names={"patterns": "listed"}),
    "constrained": Kind(
        cuts.constrained,
        {**_PARTS, "most": _most},
        {"constraints": list_of(_constraint), "time_limit": count},
        names=_SIZE,
        searches=True,
    ),
    "opaque": Kind(cuts.opaque, {"stability": number}, {"name": text}),
    "whole": Kind(cuts.whole),
}
