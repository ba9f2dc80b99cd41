"""Several tables opened together: one space, one budget, and each table picked from it at no cost."""

import copy
from typing import Any

import pytest

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.database import Database, DatabaseOnEngine, database_space, picking
from viameter.tables.rows import Rows
from viameter.tables.spaces import UnitDistance, space_of
from viameter.tables.units import per

SOURCES: dict[str, Any] = {"visits": {"u": ["a", "b"], "x": [1, 2]}, "it's": {"u": ["a"], "y": ["secret"]}}
UNIT = per("u", rows=1)


def opened(sources: dict[str, Any] = SOURCES) -> Any:
    return vm.open(sources, unit=UNIT, budget=vm.pure(1))


def database(sources: dict[str, Any] = SOURCES) -> Database:
    found = opened(sources).session.source
    assert isinstance(found, Database)
    return found


def test_a_database_is_a_mapping_of_handles_that_shows_no_rows() -> None:
    made = database()
    assert list(made) == ["visits", "it's"] and len(made) == 2 and "visits" in made and "u" not in made
    assert all(isinstance(rows, Rows) for rows in made.values())
    assert repr(made) == "<database of visits, it's>" and "secret" not in repr(made)
    assert copy.copy(made) is made is copy.deepcopy(made)
    with pytest.raises(KeyError):
        made["other"]
    with pytest.raises(AttributeError):
        made.more = 1  # type: ignore[attr-defined]
    with pytest.raises(TypeError):
        made["visits"] = 1  # type: ignore[index]


def test_what_it_was_made_of_may_change_without_it() -> None:
    tables = dict(database())
    made = Database(tables)
    tables.clear()
    assert list(made) == ["visits", "it's"]


def test_the_space_of_a_database_says_its_tables() -> None:
    made = database()
    space = database_space(made, UNIT)
    assert isinstance(space.domain, DatabaseOnEngine) and space.metric == UnitDistance.of(UNIT)
    assert repr(space.domain) == (
        "engine_database({'visits': engine_table(Schema('u': TEXT, 'x': INTEGER)), "
        "\"it's\": engine_table(Schema('u': TEXT, 'y': TEXT))})"
    )
    assert space == database_space(database(), UNIT) != database_space(made, per("u", replace=True))


def test_members_are_databases_of_these_tables() -> None:
    made = database()
    domain = database_space(made, UNIT).domain
    assert domain.admit(made) is made and domain.contains(database())
    for value in (SOURCES, made["visits"], None):
        assert (domain.why_not(value) or "").endswith("and no database of tables on an engine")
    for other in (
        {"visits": SOURCES["visits"], "more": SOURCES["it's"]},
        {"visits": SOURCES["it's"], "it's": SOURCES["visits"]},
        {**SOURCES, "more": {"u": ["a"]}},
    ):
        assert domain.why_not(database(other)) == "it has other tables or columns"


def test_a_table_is_picked_at_the_distance_of_the_database() -> None:
    made = database()
    step = picking(made, "it's", UNIT)
    assert step(made) is made["it's"] and [step.map(d_in) for d_in in (0, 1, 5)] == [0, 1, 5]
    assert step.input_space == database_space(made, UNIT)
    assert step.output_space == space_of(made["it's"].schema, UNIT)
    assert step.made_by == 'table("it\'s")'
    assert [node.theorem.slug for node in step.explain(1).derivation.nodes()][-1] == "units-one-by-one"


def test_all_tables_are_paid_for_from_one_budget() -> None:
    tables = opened()
    for name in tables:
        tables[name].agg(n=vm.count()).release(spend=vm.pure("1/4"))
    assert tables.spent == tables["visits"].spent == vm.pure("1/2")
    with pytest.raises(ParameterError, match="there is no table 'other'; there are visits, it's"):
        tables["other"]
