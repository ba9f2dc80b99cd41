"""Tables on an engine as a space: their members are handles, and the distance counts units."""

import copy
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter.arith import INFINITY
from viameter.errors import NotInDomain, ViameterError
from viameter.tables.expressions import Schema
from viameter.tables.expressions.types import INTEGER, TEXT
from viameter.tables.rows import Rows
from viameter.tables.spaces import TablesOnEngine, UnitDistance, space_of
from viameter.tables.units import per, per_entity, per_event, per_row

COLUMNS: dict[str, list[Any]] = {"u": ["a", "b"], "x": [1, 2]}
UNIT = per("u", rows=1)


def rows(columns: dict[str, list[Any]]) -> Rows:
    found = vm.open(held(columns), unit=UNIT, budget=vm.pure(1)).relation.source
    assert isinstance(found, Rows)
    return found


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        (per_row(), "UnitDistance('unbounded')"),
        (per_row(replace=True), "UnitDistance('bounded', replaces=True)"),
        (per("it's", rows=3), "UnitDistance('user', by=\"it's\")"),
        (per("u", replace=True), "UnitDistance('user', by='u', replaces=True)"),
        (per_event("t"), "UnitDistance('event', by='t', replaces=True)"),
        (per_event("t", window=7), "UnitDistance('w-event', by='t', replaces=True, window=7)"),
        (per_entity("p", key="id", links={}), "UnitDistance('entity', by='p.id')"),
    ],
)
def test_the_distance_of_a_unit_says_what_it_counts(unit: Any, text: str) -> None:
    distance = UnitDistance.of(unit)
    assert repr(distance) == text and distance.counts
    assert distance == UnitDistance.of(unit)


def test_distances_of_different_units_differ_and_limits_do_not_matter() -> None:
    units = (per_row(), per_row(replace=True), per("u"), per("v"), per("u", replace=True), per_event("u"))
    several = {UnitDistance.of(unit) for unit in (*units, per_event("u", window=2), per_event("u", window=3))}
    assert len(several) == 8
    assert UnitDistance.of(per("u", rows=3)) == UnitDistance.of(per("u", groups=1, per_group=9))


def test_a_table_is_at_no_distance_from_itself_and_of_others_nothing_is_known() -> None:
    one, other = rows(COLUMNS), rows(COLUMNS)
    distance = UnitDistance.of(UNIT)
    assert distance.distance(one, one) == 0 and distance.distance(one, other) == INFINITY


def test_the_distance_measures_tables_on_an_engine_alone() -> None:
    distance = UnitDistance.of(UNIT)
    table = TablesOnEngine(Schema({"u": TEXT}))
    assert distance.fits(table) is None
    assert "vm.open" in (distance.fits(vm.vectors(int)) or "")
    for metric in (vm.SymmetricDistance(), vm.L1Distance()):
        assert metric.fits(table) is not None
    with pytest.raises(ViameterError, match="units"):
        vm.Space(vm.vectors(int), distance)
    with pytest.raises(ViameterError):
        vm.Space(table, vm.SymmetricDistance())


def test_members_are_handles_to_tables_of_these_columns() -> None:
    space = space_of(Schema({"u": TEXT, "x": INTEGER}), UNIT)
    member = rows(COLUMNS)
    assert space.domain.admit(member) is member
    assert space.domain.why_not(COLUMNS) == "it is of type dict, and no table on an engine"
    with pytest.raises(NotInDomain):
        space.domain.admit(COLUMNS)
    others: list[dict[str, list[Any]]] = [{"u": ["a"]}, {"u": ["a"], "y": [1]}, {"u": ["a"], "x": ["b"]}]
    for other in others:
        assert space.domain.why_not(rows(other)) == "it has other columns"


def test_a_handle_is_not_copied_and_does_not_show_rows() -> None:
    handle = rows({"u": ["secret"], "x": [1]})
    assert copy.copy(handle) is handle is copy.deepcopy(handle)
    assert repr(handle) == "<rows on duckdb: u, x>"


def test_a_space_says_its_columns_with_their_types() -> None:
    space = space_of(Schema({"u": TEXT, "x": INTEGER}), UNIT)
    assert repr(space.domain) == "engine_table(Schema('u': TEXT, 'x': INTEGER))"
    assert space == space_of(Schema({"u": TEXT, "x": INTEGER}), UNIT)
    assert space != space_of(Schema({"u": TEXT, "x": TEXT}), UNIT) and space != space_of(Schema({"u": TEXT}), UNIT)
    assert space != space_of(Schema({"u": TEXT, "x": INTEGER}), per_row())


def test_a_measurement_of_one_table_does_not_run_on_another() -> None:
    table = vm.open(held(COLUMNS), unit=UNIT, budget=vm.pure(1))
    counted = table.agg(n=vm.count()).measurement(spend=vm.pure("1/2"))
    assert counted.map(1) == vm.pure("1/2")
    with pytest.raises(ViameterError):
        counted(COLUMNS)
    with pytest.raises(ViameterError):
        counted(rows({"u": ["a"]}))
    (released,) = counted(rows({"u": ["c"], "x": [3]}))  # another table of the same columns
    assert released.shape == (1,)
