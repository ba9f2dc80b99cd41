"""Random pairs of neighboring tables, and questions about them, made to move answers as far as can be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

import pyarrow as pa
from tests.tables.soundness.asked import Both, Columns
from tests.tables.soundness.cases import WIDE, Case, point
from tests.tables.soundness.plain import owned

import viameter as vm
from viameter.tables.bounding import Limits
from viameter.tables.relation import Relation
from viameter.tables.statistics import Bins, Statistic, Total, Units
from viameter.tables.units import Unit

Row = dict[str, Any]
KINDS = ("row", "row replaced", "person", "person replaced", "event", "window", "entity")
WHO, WINDOW = "it's", 3
TYPES = {"u": pa.string(), "v": pa.int64(), "k": pa.string(), "g": pa.int64(), "x": pa.int64(), "day": pa.int64()}
PUBLIC: Columns = {"k": ["x", "x", "y", "x", None], "z": [1, 2, 3, 4, 5]}
TWICE: Columns = {"g": [1, 1, 2], "w": [0, 40, -9]}


@dataclass(frozen=True)
class Pair:
    """Two tables that one step leads from one to the other."""

    kind: str
    unit: Unit
    left: list[Row]
    right: list[Row]


def pair(dice: Random, kind: str) -> Pair:
    """Neighbors of a kind; what is changed are rows of `WHO`, or a row at each of some times in a row."""
    others = [_row(dice, dice.choice(("a", "b", None))) for _ in range(dice.randrange(8))]
    one, two = _rows(dice), _rows(dice)
    unit: Unit
    if kind in ("person", "person replaced"):
        unit = vm.per("u", **_limits(dice), replace=kind.endswith("replaced"))
        return _shuffled(dice, kind, unit, [*others, *one], [*others, *(two if kind.endswith("replaced") else [])])
    if kind == "entity":
        links: dict[str, Any] = {"visits": ("u", "people"), "rows": ("v", "visits", "v")}
        unit = vm.per_entity("people", key="u", links=links, **_without_keep(_limits(dice)))
        return _shuffled(dice, kind, unit, [*others, *one], others)
    if kind.startswith("row"):
        unit, size = vm.per_row(replace=kind.endswith("replaced")), 1
    else:
        size = WINDOW if kind == "window" else 1
        unit = vm.per_event("day", window=size)
    start = dice.randrange(5)
    changed = [{**row, "day": start + place} for place, row in enumerate(one[:1] * size)]
    put = [{**row, "day": start + place} for place, row in enumerate(two[:1] * size)]
    put = [] if kind == "row" else put if kind == "row replaced" else dice.choice((put, []))
    return _shuffled(dice, kind, unit, [*others, *changed], [*others, *put])


def _shuffled(dice: Random, kind: str, unit: Unit, left: list[Row], right: list[Row]) -> Pair:
    dice.shuffle(left)
    dice.shuffle(right)
    return Pair(kind, unit, left, right) if dice.random() < 0.5 else Pair(kind, unit, right, left)


def _row(dice: Random, unit: str | None) -> Row:
    return {
        "u": unit,
        "v": None if unit is None else sum(map(ord, unit)) * 10 + dice.randrange(2),
        "k": dice.choice(("x", "x", "y", "z", None)),
        "g": dice.choice((1, 2, None)),
        "x": dice.choice((None, -(2**63), -9, -5, 0, 1, 3, 10, 40, 2**63 - 1)),
        "day": dice.randrange(5),
    }


def _rows(dice: Random) -> list[Row]:
    """Rows of the unit that is changed: in one place, in all places, or anywhere; small, large, or mixed."""
    size, value = dice.choice((1, 2, 3, 5, 9)), dice.choice((-(2**63), -9, 10, 40))
    rows = [_row(dice, WHO) for _ in range(size)]
    match dice.randrange(5):
        case 0:
            return [{**row, "k": "x", "g": 1, "x": value} for row in rows]
        case 1:
            return [
                {**row, "k": "xy"[place % 2], "g": 1 + place // 2 % 2, "x": value} for place, row in enumerate(rows)
            ]
        case 2:
            return [{**row, "k": None, "g": None, "x": value} for row in rows]
        case 3:
            return [{**row, "k": ("x", "y", None, "z")[place % 4], "x": value} for place, row in enumerate(rows)]
    return rows


def _limits(dice: Random) -> dict[str, Any]:
    """Limits of every shape: some imply others, some are met exactly, some are enough for a count of units alone."""
    given: dict[str, Any] = {
        name: dice.choice((1, 2, 3, 4)) for name in ("rows", "groups", "per_group") if dice.random() < 0.6
    }
    keep = {"keep": dice.choice((None, "uniform", "first by x", "first by day"))}
    if dice.random() < 0.4 or Limits(**given).is_enough:
        return {**given, **keep}
    return {**given, "rows": dice.choice((1, 2, 3, 5)), **keep}


def columns_of(rows: Sequence[Row]) -> Columns:
    """Rows as columns."""
    return {name: [row[name] for row in rows] for name in TYPES}


def arrow(rows: Sequence[Row], *names: str) -> pa.Table:
    """Rows as a table with types."""
    return pa.table({name: pa.array([row[name] for row in rows], TYPES[name]) for name in names or TYPES})


Opener = Callable[[str, pa.Table], Any]


def opened(pair: Pair, load: Opener) -> tuple[Both, Callable[[], Both]]:
    """The left table, as an engine has it and as Python has it; and what puts the right one in its place."""
    sources = _put(pair.kind, pair.left, load)
    made: Any = vm.open(sources if len(sources) > 1 else sources["rows"], unit=pair.unit, budget=vm.pure(1))
    relation = made["rows"].relation if len(sources) > 1 else made.relation
    unit = "u" if len(sources) > 1 else pair.unit.column

    def right() -> Both:
        _put(pair.kind, pair.right, load)
        return Both(relation, owned(columns_of(pair.right), unit))

    return Both(relation, owned(columns_of(pair.left), unit)), right


def _put(kind: str, rows: list[Row], load: Opener) -> dict[str, Any]:
    if kind != "entity":
        return {"rows": load("rows", arrow(rows))}
    visits = list({row["v"]: row for row in rows if row["v"] is not None}.values())
    people = list({row["u"]: row for row in visits}.values())
    return {
        "people": load("people", arrow(people, "u")),
        "visits": load("visits", arrow(visits, "v", "u")),
        "rows": load("rows", arrow(rows, "v", "k", "g", "x", "day")),
    }


def case(dice: Random, kind: str) -> Case:
    """A question: steps, keys and statistics that fit the kind of unit; limits are those of the unit."""
    by, keys, other = dice.choice(KEYS)
    named = kind.startswith("person") or kind == "entity"
    steps = [step for step in STEPS if named or step not in OF_UNITS]
    steps = [step for step in steps if kind != "entity" or step not in OF_PERSONS]
    chosen = dice.sample(steps, dice.choice((0, 1, 1, 2)))

    def change(rows: Both) -> Both:
        for step in sorted(chosen, key=steps.index):
            rows = step(rows)
        return rows.derive(bin=lambda t: t["x"].bin([-9, 0, 5, 10, 41]))

    return Case(change, by, keys, other, statistics=statistics)


def statistics(table: Relation) -> list[Statistic]:
    """Statistics of all kinds, with bounds of both signs."""
    x = table["x"]
    return [
        Total(), Total(x), Units(), Bins(x, WIDE), Bins(x, WIDE, 2),
        Total(x, point(-5, 10, x, centered=False)), Total(x, point(-9, -2, x, centered=False)),
        Total(x, point(3, 40, x, centered=False)), Total(x, point(-9, 40, x)),
        Total(x, point(-9, 40, x), squared=True), Total(x, point(-9, 3, x, centered=False), squared=True),
        Total(x, point(-9, 40, x), times=Total(x, point(-3, 8, x))),
        Total(x, point(3, 40, x, centered=False), times=Total(x)),
        Total(x, point(-9, -2, x, centered=False), times=Total(x, point(-5, 1, x, centered=False))),
    ]  # fmt: skip


def _with_itself(rows: Both) -> Both:
    other = rows.derive(x2=lambda t: t["x"]).select("x2", "k")
    return rows.join(other, ["k"])


def _with_unit_of_its_own(rows: Both) -> Both:
    return rows.derive(u=lambda t: t["day"].cast("text"))


STEPS: list[Callable[[Both], Both]] = [
    lambda rows: rows.filter(lambda t: t["x"] > 0),
    lambda rows: rows.filter(lambda t: t["x"].is_null() | (t["k"] == "x")),
    lambda rows: rows.join_public(PUBLIC, ["k"]),
    lambda rows: rows.join_public(TWICE, ["g"]),
    lambda rows: rows.filter(lambda t: t["u"] != "a"),
    _with_itself,
    lambda rows: rows.sample(Fraction(3, 4)),
    _with_unit_of_its_own,
]
OF_UNITS, OF_PERSONS = STEPS[5:], [STEPS[4], STEPS[7]]
KEYS: list[tuple[tuple[str, ...], Any, bool]] = [
    ((), None, False),
    (("k",), ["x", "y"], False),
    (("k",), ["y", None], True),
    (("k",), ["nobody"], True),
    (("k", "g"), {"k": ["x", "y", None], "g": [1, 2]}, False),
    (("k", "g"), {"k": ["x"], "g": [1, None]}, True),
    (("k", "g"), [("x", 1), ("y", 2), (None, None), ("x", 2)], False),
    (("k", "g"), [("x", 1), ("y", None)], True),
    (("bin",), [0, 1, 3], False),
    (("bin", "k"), [(0, "x"), (3, "x"), (None, "x")], False),
]


def _without_keep(limits: dict[str, Any]) -> dict[str, Any]:
    """Limits of an entity, whose rows are in tables of different columns."""
    return {name: limit for name, limit in limits.items() if name != "keep"}
