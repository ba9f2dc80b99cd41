"""Joins of private tables, and links from table to table: whether they fail is decided by types, and not by rows."""

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any

import pyarrow as pa
import pytest

import viameter as vm
from viameter.errors import ViameterError
from viameter.tables.engines import EngineTable, open_source

KINDS: dict[str, tuple[Any, list[Any], list[Any]]] = {
    "int8": (pa.int8(), [1, 2], [1, -128]),
    "int64": (pa.int64(), [1, 2], [-(2**63), 2**63 - 1]),
    "uint64": (pa.uint64(), [1, 2], [1, 2**64 - 1]),
    "decimal of integers": (pa.decimal128(18, 0), [Decimal(1), Decimal(2)], [Decimal(1), Decimal(10**18 - 1)]),
    "wide decimal": (pa.decimal128(38, 0), [Decimal(1), Decimal(2)], [Decimal(1), Decimal(10**37)]),
    "decimal of cents": (pa.decimal128(20, 2), [Decimal(1), Decimal(2)], [Decimal(1), Decimal(10**17)]),
    "fine decimal": (pa.decimal128(38, 30), [Decimal(1), Decimal(2)], [Decimal(1), Decimal("1e-30")]),
    "float": (pa.float64(), [1.0, 2.0], [float("nan"), 1e308]),
    "text": (pa.string(), ["1", "2"], ["", "\ud7ff" * 50]),
    "date": (pa.date32(), [1, 2], [-(10**6), 2**30]),
    "seconds": (pa.timestamp("s"), [1, 2], [1, 10**14]),
    "moments": (pa.timestamp("us", tz="UTC"), [1, 2], [-(2**62), 2**62]),
    "truth": (pa.bool_(), [True, False], [None, True]),
}
PATIENTS = pa.table({"id": ["p", "q"]})
LINKS: dict[str, Any] = {"visits": ("u", "patients"), "drugs": ("k", "visits", "k")}
Ask = Callable[[str, str, bool], object]


@cache
def opened(rows: str, hostile: bool, side: str) -> EngineTable:
    """A table of a kind of column, or the patients, all in one DuckDB."""
    beside = None if rows == "patients" else opened("patients", False, "")
    if rows == "patients":
        return open_source(PATIENTS, beside=beside)
    dtype, plain, extreme = KINDS[rows]
    return open_source(pa.table({"u": ["p", "q"], "k": pa.array(extreme if hostile else plain, dtype)}), beside=beside)


@cache
def together(hostile: bool) -> Any:
    """All kinds on either side of a join."""
    tables = {f"{side} {kind}": opened(kind, hostile, side).expression for kind in KINDS for side in ("left", "right")}
    return vm.open(tables, unit=vm.per("u", rows=1), budget=vm.pure(1000))


def join(left: str, right: str, hostile: bool) -> object:
    tables = together(hostile)
    joined = tables[f"left {left}"].join(tables[f"right {right}"], on="k")
    return joined.agg(n=vm.count()).release(spend=vm.pure(1))


def lead(left: str, right: str, hostile: bool) -> object:
    tables = {
        "patients": opened("patients", False, "").expression,
        "visits": opened(left, hostile, "left").expression,
        "drugs": opened(right, hostile, "right").expression,
    }
    made: Any = vm.open(tables, unit=vm.per_entity("patients", key="id", links=LINKS, rows=1), budget=vm.pure(1))
    return made["drugs"].agg(n=vm.count()).release(spend=vm.pure(1))


def outcome(ask: Ask, left: str, right: str, *, hostile: bool) -> str:
    try:
        ask(left, right, hostile)
    except ViameterError as refusal:
        return f"{type(refusal).__name__}: {refusal}"
    return "answered"


@pytest.mark.parametrize("ask", [join, lead])
@pytest.mark.parametrize("left", KINDS)
def test_whether_tables_are_joined_or_linked_is_decided_by_types(left: str, ask: Ask) -> None:
    for right in KINDS:
        said = outcome(ask, left, right, hostile=False)
        assert "SealedError" not in said, right
        # Not even what a custodian's rows would be refused for when they are opened: these were opened.
        assert outcome(ask, left, right, hostile=True) == said, right
