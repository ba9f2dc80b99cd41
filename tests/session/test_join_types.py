"""Joins of private tables, and links from table to table: whether they fail is decided by types, and not by rows."""

import itertools
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import viameter as vm
from viameter.errors import ViameterError

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
PAIRS = list(itertools.product(KINDS, repeat=2))


def outcome(ask: Any) -> str:
    try:
        ask()
    except ViameterError as refusal:
        return f"{type(refusal).__name__}: {refusal}"
    return "answered"


def column(kind: str, *, hostile: bool) -> pa.Array:
    dtype, plain, extreme = KINDS[kind]
    return pa.array(extreme if hostile else plain, dtype)


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_whether_a_join_of_private_tables_fails_is_decided_by_types(left: str, right: str) -> None:
    def ask(*, hostile: bool) -> None:
        one = pa.table({"u": ["p", "q"], "k": column(left, hostile=hostile)})
        other = pa.table({"u": ["p", "q"], "k": column(right, hostile=hostile)})
        tables = vm.open({"one": one, "other": other}, unit=vm.per("u", rows=1), budget=vm.pure(1))
        tables["one"].join(tables["other"], on="k").agg(n=vm.count()).release(spend=vm.pure(1))

    said = outcome(lambda: ask(hostile=False))
    assert "SealedError" not in said
    hostile = outcome(lambda: ask(hostile=True))
    # What a custodian's rows are refused for when they are opened is no answer to a question.
    assert hostile == said or hostile.startswith("UnreadableData")


@pytest.mark.parametrize(("left", "right"), PAIRS)
def test_whether_links_lead_from_table_to_table_is_decided_by_types(left: str, right: str) -> None:
    unit = vm.per_entity(
        "patients", key="id", links={"visits": ("patient", "patients"), "drugs": ("visit", "visits", "nr")}, rows=1
    )

    def ask(*, hostile: bool) -> None:
        visits = pa.table({"patient": [1, 2], "nr": column(left, hostile=hostile)})
        drugs = pa.table({"visit": column(right, hostile=hostile)})
        tables = vm.open({"patients": {"id": [1, 2]}, "visits": visits, "drugs": drugs}, unit=unit, budget=vm.pure(1))
        tables["drugs"].agg(n=vm.count()).release(spend=vm.pure(1))

    said = outcome(lambda: ask(hostile=False))
    assert "SealedError" not in said
    hostile = outcome(lambda: ask(hostile=True))
    assert hostile == said or hostile.startswith("UnreadableData")
