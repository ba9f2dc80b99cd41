"""Tables with everything that engines treat differently, in types that all of them have."""

from __future__ import annotations

from datetime import date, datetime
from random import Random
from typing import Any

import pyarrow as pa

Columns = dict[str, list[Any]]

KINDS = {
    "text": pa.string(),
    "number": pa.int64(),
    "small": pa.int16(),
    "k": pa.string(),
    "g": pa.int64(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "yes": pa.bool_(),
    "x": pa.float64(),
    "i": pa.int64(),
    "single": pa.float32(),
}
TEXT_UNITS = ("O'Brien", '"x"', "", "a", "A", "NULL", "back\\slash", "ünï€🦆", "%_;--", "a\x00b", None)
NUMBER_UNITS = (-1, 0, 1, -(2**63), 2**63 - 1, 2**53 + 1, 2**53, -7, None)
PLACES = ("north", "no'rth", 'so"uth', "", "back\\n", "t1:n", "unlisted", "日本", None)
WHOLE = (-(2**63), 2**63 - 1, 2**62, 0, 3, -3, 12, None)
DAYS = (date(1, 1, 1), date(9999, 12, 31), date(2024, 2, 29), None)
MOMENTS = (datetime(1970, 1, 1), datetime(2024, 3, 10, 2, 30), datetime(1969, 12, 31, 23, 59, 59, 999999), None)
INFINITE = float("inf")
REALS = (
    float("nan"), INFINITE, -INFINITE, 0.0, -0.0, 0.1, 1 / 3, -1 / 3, 2.5, -2.5, 1.5, 9.999999999999998, 10.0, -5.0,
    -5.000000000000001, 1e300, -1e300, 5e-324, 2.0**53, 1e49, 0.7, 0.7000000000000001, None,
)  # fmt: skip
INTEGERS = (0, 1, -1, 3, -3, 7, 10, 11, -6, 2**53 - 1, 2**53, 2**53 + 1, 2**62, -(2**62), 2**63 - 1, -(2**63), None)


def nasty(size: int, *, seed: int, engine: str) -> Columns:
    """Rows of many units, of which some have very many; many rows occur more than once, and in no order."""
    dice = Random(seed)
    texts = [unit for unit in TEXT_UNITS if unit is None or "\x00" not in unit or engine != "postgres"]
    rows: list[dict[str, Any]] = []
    while len(rows) < size:
        row = {
            "text": dice.choice((*texts, "a", "a", "a")),
            "number": dice.choice((*NUMBER_UNITS, -1, -1, -1)),
            "small": dice.choice((-3, 0, 5, 32767, None)),
            "k": dice.choice(PLACES),
            "g": dice.choice(WHOLE),
            "day": dice.choice(DAYS),
            "moment": dice.choice(MOMENTS),
            "yes": dice.choice((True, False, None)),
            "x": dice.choice(REALS),
            "i": dice.choice(INTEGERS),
            "single": dice.choice((0.1, float("nan"), -INFINITE, 2.5, None)),
        }
        rows += [row] * dice.choice((1, 1, 1, 2, 6))
    dice.shuffle(rows)
    return {name: [row[name] for row in rows] for name in KINDS}


def arrow(columns: Columns) -> pa.Table:
    """The columns with their types, also where there are no rows."""
    return pa.table({name: pa.array(values, KINDS[name]) for name, values in columns.items()})


def without_rows() -> Columns:
    """A table that has columns and nothing else."""
    return {name: [] for name in KINDS}
