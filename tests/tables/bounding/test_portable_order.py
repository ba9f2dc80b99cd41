"""The portable order keeps exactly the rows that the rule in plain Python keeps, on every engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from tests.tables.bounding import reference
from tests.tables.bounding.tables import as_rows, awkward, kept_by_engine, sums_by_engine

from viameter.tables.bounding import Limits
from viameter.tables.engines import EngineTable

Load = Callable[[Any, str, Any], EngineTable]
GROUPS = ["place", "year"]

SHAPES = [
    Limits(),
    Limits(rows=7),
    Limits(per_group=2),
    Limits(groups=3),
    Limits(groups=3, per_group=2),
    Limits(rows=4, groups=3),
    Limits(rows=6, per_group=2),
    Limits(rows=5, groups=4, per_group=3),
    Limits(rows=3, groups=4, per_group=5),
]
ON_EVERY_ENGINE = [SHAPES[1], SHAPES[2], SHAPES[4], SHAPES[5], SHAPES[7]]


def plain(limits: Limits) -> tuple[int | None, int | None, int | None]:
    return limits.rows, limits.groups, limits.per_group


@pytest.mark.parametrize("limits", ON_EVERY_ENGINE, ids=str)
def test_the_portable_order_keeps_and_sums_the_same_on_every_engine(backend: Any, load: Load, limits: Limits) -> None:
    data = awkward()
    table = load(backend, "awkward", data)
    expected = reference.kept(as_rows(data, GROUPS, ["value", "bin"]), plain(limits), "salt")
    sums = sums_by_engine(table, limits, groups=GROUPS, totals=["value"], bins="bin", order="portable")
    assert sums == reference.sums(expected, [0], 1)


@pytest.mark.parametrize("totals", [[], ["other", "value"]], ids=str)
@pytest.mark.parametrize("groups", [[], GROUPS], ids=str)
@pytest.mark.parametrize("limits", SHAPES, ids=str)
def test_sums_without_bins_are_those_of_the_rows_that_the_rule_keeps(
    duckdb_backend: Any, load: Load, limits: Limits, groups: list[str], totals: list[str]
) -> None:
    data = awkward(seed=2)
    table = load(duckdb_backend, "awkward", data)
    # Where all is one group, its limits are of all rows.
    rows, most_groups, each = plain(limits)
    rule = (rows, most_groups, each) if groups else (None, None, int(limits.most_in_group) if rows or each else None)
    expected = reference.kept(as_rows(data, groups, totals), rule, "2")
    how: dict[str, Any] = {"groups": groups, "totals": totals, "salt": "2", "order": "portable"}
    sums = sums_by_engine(table, limits, **how)
    assert sums == reference.sums(expected, range(len(totals)), None)
    assert Counter(kept_by_engine(table, limits, **how)) == Counter(expected)
