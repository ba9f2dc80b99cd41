"""Expressions by the hundred: each operation on each column that it fits, and random trees."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import date
from typing import Any

from tests.tables.expressions.nasty import DATES, INTEGERS, REALS, TEXTS

from viameter.tables.expressions import Column, Expression, Kind, Schema, case, greatest, least, literal

APPROXIMATE = ("log", "exp")
"""Operations whose last digit engines may round differently; they stay outermost."""
OF_NUMBERS: tuple[Callable[[Any, Any], Expression], ...] = (
    lambda x, y: x + y,
    lambda x, y: x - y,
    lambda x, y: x * y,
    lambda x, y: x / y,
    least,
    greatest,
)
OF_INTEGERS: tuple[Callable[[Any, Any], Expression], ...] = (lambda x, y: x // y, lambda x, y: x % y)
COMPARISONS: tuple[Callable[[Any, Any], Expression], ...] = (
    lambda x, y: x == y,
    lambda x, y: x != y,
    lambda x, y: x < y,
    lambda x, y: x <= y,
    lambda x, y: x > y,
    lambda x, y: x >= y,
)


def columns_of(schema: Schema) -> dict[str, Expression]:
    return {name: Column(name, schema.require(name)) for name in schema if name != "row"}


def single_operations(c: dict[str, Expression]) -> list[Expression]:
    """Every operation at least once on nasty columns."""
    a, b, x, y, s, t, n = (c[name] for name in ("a", "b", "x", "y", "s", "t", "n"))
    made: list[Expression] = list(c.values())
    for operation in (*OF_NUMBERS, *COMPARISONS):
        made += [operation(a, b), operation(x, y), operation(a, x), operation(c["small"], a), operation(c["tiny"], 3)]
        made += [operation(c["single"], c["long"]), operation(c["money"], 1), operation(c["number"], c["number"])]
    for operation in OF_INTEGERS:
        made += [operation(a, b), operation(c["small"], c["tiny"]), operation(c["number"], c["small"])]
        made += [
            operation(a, k)
            for k in (1, -1, 3, -7, 0, 60, 2**14 - 1, -(2**14), 1000003, -1000, 2**62, 2**62 + 1, 2**63 - 1, -(2**63))
        ]
        made += [operation(k, b) for k in (0, 1, -1, 2**63 - 1, -(2**63))]
        made += [operation(c["small"], k) for k in (-3, 7, 0)]
    for v in (a, c["small"], c["number"], x, c["single"], c["money"], c["long"]):
        made += [-v, abs(v), v.floor(), v.round_to(1), v.round_to(10), v.sqrt(), v.log(), v.exp(), v.is_null()]
        made += [v.clip(-5, 7), v.clip(lower=0), v.clip(upper=2.5), v.bin([-10, 0, 1, 7, 100]), v.fill_null(3)]
        made += [
            v.between(-1, 7),
            v.is_in([0, 1, 7]),
            v.is_in([]),
            v.round_to(0.1),
            v.bin([0.5, 2.5]),
            v.fill_null(0.5),
        ]
    made += [
        a.round_to(7),
        a.round_to(2**62),
        a.round_to(2**63 - 1),
        a.cast("real"),
        a.cast("text"),
        a.bin([0, 2**53 + 1, 2**62]),
    ]
    made += [
        (x * x) * (x * x) * (x * x),
        ((x / y) / (y / x)) / ((x / y) / x),
        x.bin([-0.1, 0.1, 0.30000000000000004, 1.0]),
    ]
    made += [x + literal(value) for value in REALS[:15]] + [x == value for value in REALS[:15]]
    for p in (s, t, n):
        made += [p.lower(), p.upper(), p.strip(), p.length(), p.slice(0, 1), p.slice(1, 3), p.slice(2, 2), p.is_null()]
        made += [p.fill_null("?'\\"), p.is_in(["", "a", "it's", "\\", "%", "日本語"])]
        made += [p.cast(kind) for kind in ("integer", "real", "boolean", "date", "timestamp")]
    for part in ("", "a", "%", "_", "\\", "'", "🦆", "日", "e\u0301", "\n", " "):
        made += [s.starts_with(part), s.ends_with(part), s.contains(part)]
    made += [s == t, s != t] + [s == value for value in TEXTS if value not in "\f\v\b\a\x1a\x1b" or not value]
    made += [c["p"] & c["q"], c["p"] | c["q"], ~c["p"], c["p"] == c["q"], c["p"].cast("integer"), c["p"].cast("text")]
    made += [c["p"].is_in([True]), c["p"].fill_null(False), c["p"] & False, c["p"] | True]
    for d in (c["day"], c["moment"], c["zoned"]):
        made += [d.year(), d.month(), d.day(), d.weekday(), d.is_null()]
        made += [d.truncate(unit) for unit in ("day", "week", "month", "year")]
        made += [
            d == "1970-01-01",
            d >= date(2000, 2, 29),
            d.between("1900-01-01", "2024-05-31"),
            d.fill_null("2001-01-01"),
        ]
        made += [
            d.is_in(["1970-01-01", "2000-02-29"]),
            d.clip("1900-01-01", "2000-01-01"),
            d.bin(["1900-01-01", "2000-01-01", "2024-01-01"]),
        ]
    made += [
        c["day"].days_since(c["other_day"]),
        c["day"].days_since("1970-01-01"),
        c["day"].cast("text"),
        c["day"].cast("timestamp"),
    ]
    made += [
        c["moment"].cast("date"),
        c["moment"].hour(),
        c["zoned"].hour(),
        c["moment"] < c["zoned"],
        c["zoned"] > "2000-02-29T11:59:59",
    ]
    made += [
        least(c["day"], c["other_day"]),
        greatest(c["moment"], c["zoned"]),
        case((c["p"], a), (c["q"], x), default=None),
    ]
    return made


class Trees:
    """Random trees of each kind."""

    def __init__(self, columns: dict[str, Expression], seed: int) -> None:
        self.random = random.Random(seed)
        self.columns = columns

    def some(self, depth: int) -> Expression:
        """A tree of any kind."""
        return self.of(
            self.random.choice([Kind.INTEGER, Kind.INTEGER, Kind.REAL, Kind.REAL, Kind.BOOLEAN, Kind.TEXT, Kind.DATE]),
            depth,
        )

    def of(self, kind: Kind, depth: int) -> Expression:
        """A tree of a kind."""
        pick = self.random.choice
        if depth == 0 or self.random.random() < 0.1:
            return pick([column for column in self.columns.values() if column.type.kind is kind])
        if self.random.random() < 0.12:
            return self.shared(kind, depth - 1)
        made: Expression = {
            Kind.INTEGER: self.integer,
            Kind.REAL: self.real,
            Kind.BOOLEAN: self.boolean,
            Kind.TEXT: self.text,
            Kind.DATE: self.date,
        }[kind](depth - 1)
        return made

    def shared(self, kind: Kind, depth: int) -> Expression:
        if self.random.random() < 0.5:
            return self.of(kind, depth).fill_null(self.of(kind, depth))
        default = self.of(kind, depth) if self.random.random() < 0.5 else None
        return case((self.boolean(depth), self.of(kind, depth)), default=default)

    def operand(self, kind: Kind, depth: int) -> Any:
        """A tree or a constant."""
        if self.random.random() < 0.75:
            return self.of(kind, depth)
        return self.random.choice(
            INTEGERS if kind is Kind.INTEGER else [value for value in REALS if 1e-49 < abs(value) < 1e49]
        )

    def integer(self, depth: int) -> Expression:
        left, choice = self.of(Kind.INTEGER, depth), self.random.randrange(12)
        if choice < 6:
            operation = self.random.choice([*OF_NUMBERS[:3], *OF_NUMBERS[4:], *OF_INTEGERS])
            # Divisors are mentioned often in what an engine gets: large ones would take long to plan.
            return operation(left, self.operand(Kind.INTEGER, 0 if operation in OF_INTEGERS else depth))
        if choice == 6:
            return self.random.choice([-left, abs(left), left.round_to(self.random.choice([1, 2, 10, 2**40]))])
        if choice == 7:
            return left.clip(*sorted(self.random.sample(INTEGERS, 2)))
        if choice == 8:
            return self.of(Kind.REAL, depth).floor()
        if choice == 9:
            return self.of(Kind.TEXT, depth).length()
        if choice == 10:
            return self.of(Kind.REAL, depth).bin(sorted({0.5, -1.0, 1e6, self.random.choice([3.0, 2.5])}))
        return self.of(Kind.DATE, depth).days_since(self.of(Kind.DATE, depth))

    def real(self, depth: int) -> Expression:
        left, choice = self.of(Kind.REAL, depth), self.random.randrange(9)
        if choice < 5:
            return self.random.choice(OF_NUMBERS)(left, self.operand(Kind.REAL, depth))
        if choice == 5:
            return self.random.choice([-left, abs(left), left.round_to(self.random.choice([1, 0.1, 1e6])), left.sqrt()])
        if choice == 6:
            return left.clip(-1000, self.random.choice([0, 1e6, 1e40]))
        if choice == 7:
            return OF_NUMBERS[3](self.of(Kind.INTEGER, depth), self.operand(Kind.INTEGER, depth))
        return self.of(Kind.INTEGER, depth).cast("real")

    def boolean(self, depth: int) -> Expression:
        depth, choice = max(depth, 0), self.random.randrange(8)
        if choice < 3:
            kind = self.random.choice([Kind.INTEGER, Kind.REAL])
            compare = self.random.choice(COMPARISONS)
            return compare(self.of(kind, depth), self.operand(kind, depth))
        if choice == 3:
            return self.of(Kind.BOOLEAN, depth) & self.of(Kind.BOOLEAN, depth)
        if choice == 4:
            return self.of(Kind.BOOLEAN, depth) | ~self.of(Kind.BOOLEAN, depth)
        if choice == 5:
            return self.of(self.random.choice([Kind.INTEGER, Kind.REAL, Kind.TEXT]), depth).is_null()
        if choice == 6:
            return self.of(Kind.TEXT, depth) == self.of(Kind.TEXT, depth)
        return self.of(Kind.DATE, depth) >= self.random.choice(DATES)

    def text(self, depth: int) -> Expression:
        inner = self.of(Kind.TEXT, depth)
        return self.random.choice(
            [inner.lower(), inner.upper(), inner.strip(), inner.slice(0, 2), self.of(Kind.INTEGER, depth).cast("text")]
        )

    def date(self, depth: int) -> Expression:
        inner = self.of(Kind.DATE, depth)
        return self.random.choice(
            [inner.truncate("week"), inner.truncate("month"), least(inner, self.of(Kind.DATE, depth))]
        )
