"""What is kept follows the law that is stated: under a limit on rows alone, that of a uniform sample."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import pyarrow as pa
import pytest
from tests.tables.bounding.law import Kept, assert_follows, kept_by_unit, law_of
from tests.tables.bounding.reference import Row
from tests.tables.bounding.tables import keeping, kept_by_engine

from viameter.tables.bounding import Limits
from viameter.tables.engines import EngineTable

Load = Callable[[Any, str, Any], EngineTable]
OWN = [("a", 0)] * 5 + [("a", 1)] * 2 + [("b", 0)] * 2 + [("b", None)] + [("c", 1)]
"""The rows of each unit: a place and a number, many of which are equal."""
SHAPES = [
    Limits(rows=3),
    Limits(per_group=2),
    Limits(groups=2),
    Limits(groups=2, per_group=2),
    Limits(rows=3, groups=2),
    Limits(rows=3, per_group=2),
    Limits(rows=2, per_group=1),
    Limits(rows=4, groups=2, per_group=3),
]
ORDERS = [("native", SHAPES), ("portable", [SHAPES[0], SHAPES[5]])]
COLUMNS: dict[str, Any] = {"groups": ["place"], "totals": [], "bins": "bin"}
FIRST_BY = {0: 0, 1: 1, None: 2}
"""NULL is last."""


def plain(limits: Limits) -> tuple[int | None, int | None, int | None]:
    return limits.rows, limits.groups, limits.per_group


@cache
def table_of(units: int) -> pa.Table:
    columns = {
        "unit": [unit for unit in range(units) for _ in OWN],
        "place": [place for place, _ in OWN] * units,
        "bin": [number for _, number in OWN] * units,
    }
    return pa.table(columns)


def kept(table: EngineTable, limits: Limits, **how: Any) -> list[Kept]:
    return list(kept_by_unit(kept_by_engine(table, limits, **{**COLUMNS, **how})).values())


def seen_in(tables: Iterable[list[Kept]]) -> Counter[Kept]:
    return Counter(outcome for rows in tables for outcome in rows)


def own_rows() -> list[Row]:
    return [Row(0, (place,), (number,)) for place, number in OWN]


@pytest.mark.parametrize("most", [1, 3, 7])
def test_the_stated_law_of_a_limit_on_rows_is_that_of_a_uniform_sample(most: int) -> None:
    counts = Counter(own_rows())
    uniform = {
        frozenset((row, n) for row, n in zip(counts, taken, strict=True) if n): Fraction(
            math.prod(math.comb(counts[row], n) for row, n in zip(counts, taken, strict=True)),
            math.comb(len(OWN), most),
        )
        for taken in product(*(range(n + 1) for n in counts.values()))
        if sum(taken) == most
    }
    assert law_of(own_rows(), (most, None, None)) == uniform


@pytest.mark.parametrize(("order", "limits"), [(order, limits) for order, shapes in ORDERS for limits in shapes])
def test_what_is_kept_follows_the_law_that_is_stated(
    duckdb_backend: Any, load: Load, order: str, limits: Limits
) -> None:
    rows = keeping(load(duckdb_backend, "law", table_of(2500)), limits, order=order, **COLUMNS)
    seen = seen_in(list(kept_by_unit(rows(salt)).values()) for salt in ("a1", "b2"))
    assert_follows(seen, law_of(own_rows(), plain(limits)))


@pytest.mark.parametrize("limits", [SHAPES[0], SHAPES[7]], ids=str)
def test_what_is_kept_follows_the_law_on_every_engine(backend: Any, load: Load, limits: Limits) -> None:
    seen = seen_in([kept(load(backend, "law", table_of(2500)), limits, salt="c3")])
    assert_follows(seen, law_of(own_rows(), plain(limits)))


def test_what_is_kept_of_one_unit_follows_the_law_over_salts(duckdb_backend: Any, load: Load) -> None:
    rows = keeping(load(duckdb_backend, "law_of_one", table_of(1)), Limits(rows=2), **COLUMNS)
    seen = seen_in(list(kept_by_unit(rows(f"{salt:x}")).values()) for salt in range(250))
    assert_follows(seen, law_of(own_rows(), (2, None, None)))


@pytest.mark.parametrize("limits", [SHAPES[0], SHAPES[3], SHAPES[5]], ids=str)
def test_rows_that_add_nothing_but_one_follow_the_same_law(duckdb_backend: Any, load: Load, limits: Limits) -> None:
    table = load(duckdb_backend, "law_of_counts", table_of(2500))
    seen = seen_in([kept(table, limits, bins=None)])
    assert_follows(seen, law_of([Row(0, row.group) for row in own_rows()], plain(limits)))


@pytest.mark.parametrize("limits", [SHAPES[0], SHAPES[4], SHAPES[5], SHAPES[7]], ids=str)
def test_what_comes_first_by_a_column_is_kept_and_ties_are_broken_uniformly(
    backend: Any, load: Load, limits: Limits
) -> None:
    seen = seen_in([kept(load(backend, "law_of_first", table_of(2000)), limits, first="bin", salt="d4")])
    assert_follows(seen, law_of(own_rows(), plain(limits), blocks=FIRST_BY))


def test_how_finely_rows_are_grouped_does_not_change_what_is_kept_of_them(duckdb_backend: Any, load: Load) -> None:
    table = load(duckdb_backend, "law_of_cuts", table_of(2500))
    whole = kept_by_unit(kept_by_engine(table, Limits(rows=3), groups=[], totals=[], bins="bin"))
    cut = kept_by_unit(kept_by_engine(table, Limits(rows=3), groups=["place"], totals=[], bins="bin"))

    def numbers(rows: dict[Any, Kept]) -> Counter[Any]:
        return Counter(
            frozenset(Counter(row.content for row, n in one for _ in range(n)).items()) for one in rows.values()
        )

    law = law_of([Row(0, (), (number,)) for _, number in OWN], (3, None, None))
    by_content = {frozenset((row.content, n) for row, n in outcome): chance for outcome, chance in law.items()}
    assert_follows(numbers(whole), by_content)
    assert_follows(numbers(cut), by_content)
