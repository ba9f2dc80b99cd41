"""Integers of neighboring tables are no further apart than theorems say: many pairs in Python, some on engines."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from tests.tables.held import held
from tests.tables.soundness.asked import SALT, Both
from tests.tables.soundness.distances import NORMS, Found, moved, ratios
from tests.tables.soundness.neighboring import KINDS, Opener, case, opened, pair

import viameter as vm
from viameter.tables.bounding import Limits
from viameter.tables.collecting import BIN, Collecting
from viameter.tables.contributing import contributing
from viameter.tables.engines import EngineTable
from viameter.tables.keys import Keys
from viameter.tables.rows import RESERVED
from viameter.tables.statistics import Bins, Total, Units

Load = Callable[[Any, str, Any], EngineTable]
Key = tuple[str, str]


@pytest.fixture(autouse=True)
def one_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both tables are asked with the same salt: for each the theorems hold."""
    monkeypatch.setattr("viameter.tables.collecting.fresh_salt", lambda: SALT)


def opener(backend: Any, load: Load) -> Opener:
    """Tables of an engine: the right one of a pair in the place of the left one."""
    return lambda name, table: load(backend, f"neighbor_{name}", table).expression


def of_no_rows(name: str, table: Any) -> Any:
    """For what is found in Python: the types are all that is looked at."""
    return held(table.schema.empty_table())


def worst(seed: int, kind: str, load: Opener, found: Found, *, order: str) -> dict[Key, float]:
    dice = Random(seed)
    tables, question = pair(dice, kind), case(dice, kind)
    taken = ratios(*opened(tables, load), question, found, order=order)
    assert max(taken.values()) <= 1, (seed, kind, question.by, {key: part for key, part in taken.items() if part > 1})
    return taken


@pytest.mark.parametrize("kind", KINDS)
def test_neighbors_are_within_the_bound_and_some_reach_it(kind: str) -> None:
    reached: dict[Key, float] = {}
    for seed in range(28):
        for key, part in worst(seed, kind, of_no_rows, Both.expected, order="portable").items():
            reached[key] = max(reached.get(key, 0), part)
    # A bound that is never reached would leave room for one that is too small.
    assert all(max(part for (_, norm), part in reached.items() if norm == name) == 1 for name in NORMS)
    assert all(reached[statistic, norm] == 1 for statistic in ("rows", "units") for norm in ("L1", "Linf"))


def test_neighbors_are_within_the_bound_in_the_portable_order(duckdb_backend: Any, load: Load) -> None:
    assert_within_on(duckdb_backend, load, range(7), "portable")


def test_neighbors_are_within_the_bound_on_every_engine(backend: Any, load: Load) -> None:
    assert_within_on(backend, load, range(100, 103 if backend.name == "pyspark" else 107), "native")


def assert_within_on(backend: Any, load: Load, seeds: range, order: str) -> None:
    taken = [worst(seed, KINDS[seed % len(KINDS)], opener(backend, load), Both.found, order=order) for seed in seeds]
    assert max(max(parts.values()) for parts in taken) == 1, "the right tables are others than the left ones"


def test_a_unit_in_every_group_that_there_is_reaches_the_bound(duckdb_backend: Any, load: Load) -> None:
    rows = {"u": ["p"] * 9, "k": ["x", "y", None] * 3}
    table = vm.open(load(duckdb_backend, "in_all", rows).expression, unit=vm.per("u", per_group=2), budget=vm.pure(1))
    asked = table.group_by("k", keys=["x", "y"], other=True).agg(rows=vm.count(), units=vm.count_units())
    counts, units = asked.plan.collecting(table.relation.rows(), [Total(), Units()])
    assert counts.tolist() == [2, 2, 2] and units.tolist() == [1, 1, 1]
    for statistic, numbers in ((Total(), [2, 2, 2]), (Units(), [1, 1, 1])):
        for name, norm in NORMS.items():
            bound = Fraction(contributing(table.relation, statistic, asked.plan.collecting, norm).map(1))
            reached = moved(numbers, [0, 0, 0], name) / (bound**2 if name == "L2" else bound)
            assert Fraction(999, 1000) < reached <= 1


def test_sums_stop_before_64_bits_end_and_move_no_further_for_it(
    duckdb_backend: Any, load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = vm.open(load(duckdb_backend, "few", {"x": [1]}).expression, unit=vm.per_row(), budget=vm.pure(1))
    x = table["x"]
    edges = tuple(map(Fraction, range(5)))
    statistics: list[Any] = [Total(), Bins(x, edges), Bins(x, edges, 2), Bins(x, edges, 4)]

    def found(*sums: int) -> list[list[int]]:
        answer = [{BIN: leaf, f"{BIN}_rows": str(n), f"{RESERVED}total_0": str(n)} for leaf, n in enumerate(sums)]
        monkeypatch.setattr("viameter.tables.collecting.run", lambda *_, **__: answer)
        arrays = Collecting(Keys((), ((),)), Limits(rows=1))(table.relation.rows(), statistics)
        return [array.tolist() for array in arrays]

    for sums in ((2**62, 2**62, 2**62, 2**62), (2**70, 5, 0, 2**61), (2**60 - 1, 1, 2, 2**100), (1, 2, 3, 4)):
        for place in range(4):
            more = found(*(n + (leaf == place) for leaf, n in enumerate(sums)))
            for one, two in zip(found(*sums), more, strict=True):
                assert all(abs(number) < 2**62 for number in (*one, *two))
                assert sum(b - a for a, b in zip(one, two, strict=True)) in (0, 1) and one <= two
    assert found(1, 2, 3, 4) == [[10], [1, 2, 3, 4], [3, 7], [10]]
    assert found(-(2**70), 0, 0, 0)[0] == [-(2**62 - 1)]
