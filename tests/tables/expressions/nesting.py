"""Expressions that are nested: each operation in itself, and random ones upon one another."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.tables.expressions.generating import COMPARISONS, OF_INTEGERS, OF_NUMBERS

from viameter.tables.expressions import Call, Expression, Kind, case, greatest, least

Nest = Callable[[Any, dict[str, Any]], Expression]


def _as_day(value: Any) -> Expression:
    made: Expression = value.cast("text").cast("date")
    return made


def _as_moment(value: Any) -> Expression:
    made: Expression = value.cast("text").cast("timestamp")
    return made


NESTED: dict[str, list[tuple[str, Nest]]] = {
    "add": [
        ("a", lambda e, c: e + 1),
        ("a", lambda e, c: e + e),
        ("x", lambda e, c: e + e),
        ("a", lambda e, c: c["b"] + e),
    ],
    "subtract": [("a", lambda e, c: e - c["b"]), ("x", lambda e, c: c["y"] - e)],
    "multiply": [("a", lambda e, c: e * c["b"]), ("x", lambda e, c: e * e)],
    "divide": [("x", lambda e, c: e / e), ("x", lambda e, c: c["y"] / e)],
    "floor_divide": [("a", lambda e, c: e // c["b"]), ("a", lambda e, c: c["b"] // e), ("a", lambda e, c: e // 7)],
    "modulo": [("a", lambda e, c: e % c["b"]), ("a", lambda e, c: c["b"] % e), ("a", lambda e, c: e % 7)],
    "negate": [("a", lambda e, c: -e), ("x", lambda e, c: -e)],
    "absolute": [("a", lambda e, c: abs(e)), ("x", lambda e, c: abs(e))],
    "sqrt": [("x", lambda e, c: e.sqrt())],
    "log": [("x", lambda e, c: e.log())],
    "exp": [("x", lambda e, c: e.exp())],
    "settle": [("x", lambda e, c: Call("settle", (e,)))],
    "least": [("a", lambda e, c: least(e, c["b"])), ("x", lambda e, c: least(e, e))],
    "greatest": [("a", lambda e, c: greatest(c["b"], e)), ("day", lambda e, c: greatest(e, c["other_day"]))],
    "clip": [
        ("a", lambda e, c: e.clip(0, 9)),
        ("x", lambda e, c: e.clip(lower=0)),
        ("day", lambda e, c: e.clip("1900-01-01", "2000-01-01")),
    ],
    "round_to": [("a", lambda e, c: e.round_to(3)), ("x", lambda e, c: e.round_to(0.1))],
    "floor": [("x", lambda e, c: e.floor().cast("real"))],
    "bin": [("x", lambda e, c: e.bin([-10, 0, 1, 7, 100]).cast("real"))],
    "eq": [("p", lambda e, c: e == c["q"]), ("s", lambda e, c: (e == c["t"]).cast("text"))],
    "ne": [("p", lambda e, c: e != c["q"])],
    "lt": [("a", lambda e, c: (e < c["b"]).cast("integer"))],
    "le": [("x", lambda e, c: (e <= c["y"]).cast("integer").cast("real"))],
    "gt": [("a", lambda e, c: (e > 3).cast("integer"))],
    "ge": [("day", lambda e, c: _as_day(e >= c["other_day"]))],
    "between": [("a", lambda e, c: e.between(-1, 7).cast("integer"))],
    "and": [("p", lambda e, c: e & c["q"]), ("p", lambda e, c: e & ~e)],
    "or": [("p", lambda e, c: e | c["q"])],
    "not": [("p", lambda e, c: ~e)],
    "is_null": [("p", lambda e, c: e.is_null())],
    "is_in": [("p", lambda e, c: e.is_in([True, False])), ("a", lambda e, c: e.is_in([0, 1, 7]).cast("integer"))],
    "case": [
        ("a", lambda e, c: case((e > 3, e), (e < 0, -e), default=c["b"])),
        ("s", lambda e, c: case((c["p"], e), default=e)),
    ],
    "fill_null": [("a", lambda e, c: e.fill_null(3)), ("x", lambda e, c: e.fill_null(e))],
    "cast": [
        ("a", lambda e, c: e.cast("text").cast("integer")),
        ("p", lambda e, c: e.cast("text").cast("boolean")),
        ("p", lambda e, c: e.cast("integer").cast("text").cast("boolean")),
        ("x", lambda e, c: e.floor().cast("text").cast("real")),
        ("day", lambda e, c: e.cast("timestamp").cast("date").cast("text").cast("date")),
        ("s", lambda e, c: e.cast("timestamp").cast("date").cast("text")),
    ],
    "year": [("day", lambda e, c: _as_day(e.year()))],
    "month": [("day", lambda e, c: _as_day(e.month()))],
    "day": [("moment", lambda e, c: _as_moment(e.day()))],
    "weekday": [("day", lambda e, c: _as_day(e.weekday()))],
    "hour": [("moment", lambda e, c: _as_moment(e.hour()))],
    "days_since": [
        ("day", lambda e, c: _as_day(e.days_since(c["other_day"]))),
        ("day", lambda e, c: _as_day(c["day"].days_since(e))),
    ],
    "truncate": [
        ("day", lambda e, c: e.truncate("week")),
        ("moment", lambda e, c: e.truncate("month").cast("timestamp")),
    ],
    "lower": [("s", lambda e, c: e.lower())],
    "upper": [("s", lambda e, c: e.upper())],
    "strip": [("s", lambda e, c: e.strip())],
    "length": [("s", lambda e, c: e.length().cast("text"))],
    "starts_with": [("s", lambda e, c: e.starts_with("t").cast("text"))],
    "ends_with": [("s", lambda e, c: e.ends_with("e").cast("text"))],
    "contains": [("s", lambda e, c: e.contains("r").cast("text"))],
    "slice": [("s", lambda e, c: e.slice(0, 5)), ("s", lambda e, c: e.slice(1, 3))],
}  # fmt: skip
"""By operation, columns to begin with and what is done with them again and again."""


def nested(start: Expression, nest: Nest, columns: dict[str, Any], depth: int) -> Expression:
    """An operation so many times upon itself."""
    for _ in range(depth):
        start = nest(start, columns)
    return start


def spine(columns: dict[str, Any], depth: int, seed: int) -> Expression:
    """Random operations upon one another, on values of any kind; now and then one has the same value twice."""
    dice = random.Random(seed)
    found: Any = columns[dice.choice("abxyst")]
    for level in range(depth):
        kind = found.type.kind
        own = [column for column in columns.values() if column.type.kind is kind]
        # The reference computes twice what occurs twice.
        other = found if level % 6 == 0 else dice.choice(own)
        found = dice.choice(_steps(kind, found, other, dice))()
    made: Expression = found
    return made


def _steps(kind: Kind, one: Any, other: Any, dice: random.Random) -> list[Callable[[], Any]]:
    any_kind: list[Callable[[], Any]] = [
        lambda: one.fill_null(other),
        lambda: case((one.is_null(), other), default=one),
    ]
    if kind in (Kind.INTEGER, Kind.REAL):
        pair = dice.sample([one, other], 2)
        binary = [*OF_NUMBERS, *(OF_INTEGERS if kind is Kind.INTEGER else ())]
        operation, compare = dice.choice(binary), dice.choice(COMPARISONS)
        of_integers: list[Callable[[], Any]] = [lambda: one.cast("text"), lambda: one.cast("real")]
        of_reals: list[Callable[[], Any]] = [one.floor, one.sqrt, lambda: one.round_to(0.5)]
        return [
            *any_kind,
            *[lambda: operation(*pair)] * 6,
            *[lambda: one.round_to(dice.choice([3, 10])), lambda: one.clip(-5, 10**6), lambda: abs(one), lambda: -one],
            lambda: compare(one, other),
            *(of_integers if kind is Kind.INTEGER else of_reals),
        ]
    if kind is Kind.BOOLEAN:
        return [
            *any_kind,
            lambda: one & other,
            lambda: one | ~other,
            lambda: one.cast("integer"),
            lambda: one.cast("text"),
        ]
    if kind is Kind.TEXT:
        casts = [lambda name=name: one.cast(name) for name in ("integer", "real", "date")]
        return [*any_kind, one.strip, one.upper, lambda: one.slice(0, 4), one.length, *casts]
    return [*any_kind, lambda: one.truncate("month"), lambda: least(one, other), one.year, lambda: one.cast("text")]
