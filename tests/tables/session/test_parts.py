"""Parts of a budget: shares under a name, and parts of a table with budgets of their own."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter import neighborhood as nb
from viameter.core import Loss
from viameter.errors import DomainMismatch, MeasureMismatch, NoTheorem, OverBudget, ParameterError
from viameter.tables import parts
from viameter.tables.expressions import case
from viameter.tables.parts import partition, sub_budget
from viameter.tables.purse import FilterPurse
from viameter.tables.table import Table
from viameter.tables.touching import most_touched

public: Any = vm.public
HUGE = vm.pure(2000)
"""Noise of such a loss is 0 but for one time in 10^800."""
ROWS = {"ward": ["A", "A", "B", "C", None], "x": [1, 2, 3, 4, 5]}


def opened(budget: Loss, unit: Any = None, data: Any = None) -> Table:
    table: Table = vm.open(held(ROWS if data is None else data), unit=unit or vm.per_row(), budget=budget)
    return table


def rows_of(table: Table) -> list[tuple[Any, ...]]:
    """The rows that a part has, as the engine finds them."""
    rows = table.relation.rows()
    found = rows.expression.select(*rows.schema).to_pyarrow().to_pylist()
    return sorted((tuple(row.values()) for row in found), key=repr)


# ---------------------------------------------------------------------------------------------------- sub-budgets


@pytest.mark.parametrize("loss", [vm.pure, vm.zcdp, lambda x: vm.approx(x, "1e-6")])
def test_a_share_is_charged_at_once_and_spent_on_its_own(loss: Callable[[Any], Any]) -> None:
    table = opened(loss(1))
    share = sub_budget(table, "maps", budget=loss("1/4"))
    assert (table.spent, share.budget, share.spent) == (loss("1/4"), loss("1/4"), share.session.measure.zero)
    assert [charged.question for charged in table.history] == ["sub-budget 'maps'"]
    share.agg(n=vm.count()).release(spend=loss("1/8"))
    table.agg(n=vm.count()).release(spend=loss("1/2"))
    share.agg(n=vm.count()).release(spend=loss("1/8"))
    before = table.spent
    with pytest.raises(OverBudget):
        share.agg(n=vm.count()).release(spend=loss("1/100"))
    assert table.spent == before
    assert len(share.history) == 2 and len(table.history) == 2


def test_a_share_that_is_not_there_is_refused_and_nothing_is_charged() -> None:
    table = opened(vm.pure(1))
    sub_budget(table, "one", budget=vm.pure("3/4"))
    with pytest.raises(OverBudget):
        sub_budget(table, "other", budget=vm.pure("1/2"))
    assert table.left == vm.pure("1/4")


def test_shares_of_shares_and_of_parts_are_counted_where_they_come_from() -> None:
    table = opened(vm.pure(1))
    outer = sub_budget(table, "outer", budget=vm.pure("1/2"))
    inner = sub_budget(outer, "inner", budget=vm.pure("1/4"))
    wards = partition(inner, "ward", keys=["A", "B"], budgets=vm.pure("1/8"))
    own = sub_budget(wards["A"], "own", budget=vm.pure("1/16"))
    found = [each.spent for each in (table, outer, inner, wards["A"], wards["B"], own)]
    assert found == [vm.pure(x) for x in ("1/2", "1/4", "1/8", "1/16", "0", "0")]


def test_parts_of_a_table_with_columns_of_its_own_are_divided_further() -> None:
    table = opened(HUGE)
    derived = table.derive(y=table["x"] * 2).filter(table["x"] > 1)
    ward = partition(derived, "ward", keys=["A"], budgets=vm.pure(1000))["A"]
    share = sub_budget(ward, "share", budget=vm.pure(500))
    inner = partition(share, "y", keys=[2, 4], budgets=vm.pure(200))
    assert [rows_of(part) for part in inner.values()] == [[], [("A", 2, 4)]]
    assert share.agg(n=vm.count()).release(spend=vm.pure(200))["n"].value.tolist() == [1]
    assert (ward.left, share.left, inner[2].left) == (vm.pure(500), vm.pure(100), vm.pure(200))


def test_a_share_may_hold_several_tables() -> None:
    tables = vm.open(
        {"one": held({"u": [1, 2], "x": [1, 2]}), "two": held({"u": [1], "y": [3]})},
        unit=vm.per("u", rows=2),
        budget=HUGE,
    )
    share = sub_budget(tables["one"], "joined", budget=vm.pure(1000))
    joined = share.join(tables["two"])
    assert joined.agg(n=vm.count()).release(spend=vm.pure(500))["n"].value.tolist() == [1]
    assert (tables.left, share.left) == (vm.pure(1000), vm.pure(500))


@pytest.mark.parametrize("ask", [lambda t, b: sub_budget(t, "a", budget=b), lambda t, b: partition(
    t, "ward", keys=["A"], budgets=b)])  # fmt: skip
def test_where_answers_may_not_be_interleaved_nothing_is_charged(ask: Callable[[Table, Loss], Any]) -> None:
    table = opened(vm.approx_zcdp(1, "1e-6"))
    with pytest.raises(NoTheorem, match="interleaved"):
        ask(table, vm.approx_zcdp("1/2", "1e-7"))
    assert not table.history


@pytest.mark.parametrize(
    ("name", "budget", "error", "text"),
    [
        ("", vm.pure(1), ParameterError, "name"),
        (3, vm.pure(1), ParameterError, "name"),
        ("a", 1, ParameterError, "not a loss"),
        ("a", vm.zcdp(1), MeasureMismatch, "PureDP"),
        ("a", vm.PureDP.infinite, ParameterError, "finite"),
        ("a", vm.pure(0), ParameterError, "above 0"),
    ],
)
def test_shares_that_are_none_are_refused(name: Any, budget: Any, error: type[Exception], text: str) -> None:
    table = opened(vm.pure(1))
    with pytest.raises(error, match=text):
        sub_budget(table, name, budget=budget)
    assert not table.history


# ------------------------------------------------------------------------------------------------------ partitions


def test_each_part_has_its_rows_and_no_others() -> None:
    table = opened(HUGE)
    found = partition(table, "ward", keys=["B", "A", "Z", None], budgets=vm.pure(1000))
    assert {key: rows_of(part) for key, part in found.items()} == {
        "A": [("A", 1), ("A", 2)],
        "B": [("B", 3)],
        "Z": [],
        None: [(None, 5)],
    }
    counts = {key: part.agg(n=vm.count()).release(spend=vm.pure(500))["n"].value[0] for key, part in found.items()}
    assert counts == {"A": 2, "B": 1, "Z": 0, None: 1}


def test_other_keys_make_a_part_only_if_they_are_asked_for() -> None:
    found = partition(opened(HUGE), "ward", keys=["A"], budgets=vm.pure(100), other=True)
    assert list(found) == ["A", "(other)"]
    assert rows_of(found["(other)"]) == [("B", 3), ("C", 4), (None, 5)]
    with pytest.raises(ParameterError, match="other"):
        partition(opened(HUGE), "ward", keys=["(other)"], budgets=vm.pure(1), other=True)


def test_keys_of_other_kinds_find_their_rows() -> None:
    import datetime

    days = [datetime.date(2024, 1, day) for day in (1, 2, 2)]
    data = {"day": days, "flag": [True, False, None], "number": [7, -7, 7]}
    table = opened(vm.pure(10), data=data)
    assert [len(rows_of(part)) for part in partition(table, "day", keys=days[:2], budgets=vm.pure(1)).values()] == [
        1,
        2,
    ]
    assert [
        len(rows_of(part)) for part in partition(table, "flag", keys=[True, False], budgets=vm.pure(1)).values()
    ] == [1, 1]
    assert [len(rows_of(part)) for part in partition(table, "number", keys=[7, -7], budgets=vm.pure(1)).values()] == [
        2,
        1,
    ]


def test_a_row_is_in_one_part_even_if_the_engine_takes_two_keys_for_the_same(tmp_path: Any) -> None:
    import duckdb

    path = tmp_path / "collated.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (c VARCHAR COLLATE NOCASE, x INTEGER)")
        connection.execute("INSERT INTO t VALUES ('a', 1), ('A', 2), ('b', 3)")
    table = vm.open(path, table="t", unit=vm.per_row(), budget=vm.pure(1))
    found = partition(table, "c", keys=["a", "A", "b"], budgets=vm.pure(1))
    everywhere = [row for part in found.values() for row in rows_of(part)]
    assert sorted(x for _, x in everywhere) == [1, 2, 3]


def test_questions_of_parts_do_not_change_what_the_parent_spent() -> None:
    table = opened(vm.zcdp(1))
    found = partition(table, "ward", keys=["A", "B"], budgets={"A": vm.zcdp("1/2"), "B": vm.zcdp("1/4")})
    assert table.spent == vm.zcdp("1/2")
    assert [charged.question for charged in table.history] == ["partition by ward into 2 parts"]
    spend = vm.zcdp("1/8")
    for _ in range(2):  # interleaved; what is asked next may depend on what was answered
        answer = found["A"].agg(n=vm.count()).release(spend=spend)
        which = "x" if answer["n"].value[0] > 2 else "ward"
        found["B"].filter(~found["B"][which].is_null()).agg(n=vm.count()).release(spend=spend)
    assert table.spent == vm.zcdp("1/2")
    with pytest.raises(OverBudget) as refused:
        found["B"].agg(n=vm.count()).release(spend=vm.zcdp("1/4"))
    assert refused.value.budget == vm.zcdp("1/4")
    found["A"].agg(n=vm.count()).release(spend=spend)
    assert (table.spent, len(table.history), len(found["A"].history)) == (vm.zcdp("1/2"), 1, 3)


def test_a_part_answers_for_its_own_rows_whatever_measurement_it_is_asked() -> None:
    table = opened(HUGE)
    part = partition(table, "ward", keys=["A"], budgets=vm.pure(1000))["A"]
    of_all = table.agg(n=vm.count()).measurement(spend=vm.pure(500))
    # The same columns: it runs, and finds the rows of the part.
    assert [int(n) for (n,) in part.session.charge(of_all)] == [2]
    derived = partition(
        table.derive(y=table["x"] * 2), "ward", keys=["A"], budgets=vm.pure(500)
    )["A"]  # fmt: skip
    with pytest.raises(DomainMismatch):
        derived.session.charge(of_all)
    assert not derived.history


def test_parts_are_not_joined_with_what_they_were_made_of() -> None:
    table = opened(vm.pure(1), unit=vm.per("u", rows=1), data={"u": [1, 2], "k": ["a", "b"], "x": [1, 2]})
    found = partition(table, "k", keys=["a", "b"], budgets=vm.pure("1/4"))
    for other in (table, found["b"]):
        with pytest.raises(ParameterError, match="opened together"):
            found["a"].select("k").join(other.select("x"))


def test_a_partition_that_does_not_fit_charges_nothing() -> None:
    table = opened(vm.pure(1), unit=vm.per("u", rows=1), data={"u": [1, 2], "k": ["a", "b"]})
    with pytest.raises(OverBudget):
        partition(table, "k", keys=["a", "b"], budgets=vm.pure("3/4"))
    assert not table.history
    partition(table, "k", keys=["a", "b"], budgets=vm.pure("3/4"), parts_per_unit=1)
    assert table.spent == vm.pure("3/4")


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"budgets": 3}, "not a loss"),
        ({"budgets": vm.zcdp(1)}, "PureDP"),
        ({"budgets": {"A": vm.pure(1)}}, "no loss for the part"),
        ({"budgets": {"A": vm.pure(1), "B": vm.pure(1), "Q": vm.pure(1)}}, "none of them"),
        ({"budgets": vm.pure(0)}, "above 0"),
        ({"parts_per_unit": 1}, "single rows"),
        ({"parts_per_unit": 0}, "whole"),
        ({"parts_per_unit": True}, "whole"),
        ({"keys": ["A", "A"]}, "twice"),
        ({"keys": []}, "empty"),
        ({"column": "wrad"}, "ward"),
    ],
)
def test_partitions_that_are_none_are_refused(given: dict[str, Any], text: str) -> None:
    table = opened(vm.pure(1))
    arguments = {"column": "ward", "keys": ["A", "B"], "budgets": vm.pure("1/4"), **given}
    with pytest.raises((ParameterError, MeasureMismatch), match=text):
        partition(table, arguments.pop("column"), **arguments)
    assert not table.history


# ------------------------------------------------------------------------------------------- what partitions cost


AMOUNTS = [Fraction(1, 7), Fraction(1, 2), Fraction(1, 3), Fraction(1, 5)]
KEYS = ["A", "B", "C", "D"]


@cache
def table_for(unit: Any, make: Callable[[Any], Any], join: bool) -> Table:
    table = opened(make(10**4), unit=unit, data={"u": [1], "ward": ["A"], "day": [1], "g": [1]})
    return table.join(public({"g": [1, 1, 2], "h": ["A", "B", "A"]}), on="g") if join else table


def charged_for(unit: Any, *, make: Any = vm.pure, join: bool = False, **more: Any) -> Any:
    table = table_for(unit, make, join)
    budgets = dict(zip(KEYS, map(make, AMOUNTS), strict=True))
    partition(table, "h" if join else "ward", keys=KEYS, budgets=budgets, **more)
    return table.history[-1].loss


@pytest.mark.parametrize(
    ("unit", "more", "most"),
    [
        (vm.per_row(), {}, 1),
        (vm.per_row(replace=True), {}, 2),
        (vm.per_row(), {"join": True}, 2),
        (vm.per_row(replace=True), {"join": True}, 4),
        (vm.per("u", rows=1), {}, 4),
        (vm.per("u", rows=9), {"parts_per_unit": 1}, 1),
        (vm.per("u", rows=9), {"parts_per_unit": 3}, 3),
        (vm.per("u", rows=9), {"parts_per_unit": 7}, 4),
        (vm.per("u", rows=9, replace=True), {}, 4),
        (vm.per("u", rows=9, replace=True), {"parts_per_unit": 1}, 2),
        (vm.per_event("day"), {}, 2),
        (vm.per_event("day", window=2), {}, 4),
    ],
)
@pytest.mark.parametrize("make", [vm.pure, vm.zcdp, lambda x: vm.approx(x, Fraction(x) / 10**6)])
def test_a_partition_costs_as_many_of_the_largest_budgets_as_a_unit_can_touch(
    unit: Any, more: Any, most: int, make: Any
) -> None:
    largest = sorted(AMOUNTS, reverse=True)[:most]
    losses = [make(amount) for amount in largest]
    assert charged_for(unit, make=make, **more) == losses[0].measure.total(losses)


def test_entities_touch_all_parts_unless_they_are_kept_in_few() -> None:
    unit = vm.per_entity("people", key="id", links={"visits": ("who", "people")}, rows=3)
    for few, most in ((None, 4), (2, 2)):
        tables = vm.open(
            {"people": held({"id": [1, 2]}), "visits": held({"who": [1, 1, 2], "ward": ["A", "B", "A"]})},
            unit=unit,
            budget=vm.pure(100),
        )
        found = partition(
            tables["visits"],
            "ward",
            keys=KEYS,
            budgets=dict(zip(KEYS, map(vm.pure, AMOUNTS), strict=True)),
            parts_per_unit=few,
        )
        assert tables.spent == vm.pure(sum(sorted(AMOUNTS)[-most:]))
        found["A"].agg(n=vm.count()).release(spend=vm.pure("1/10"))


def test_rows_and_events_cost_what_the_neighborhood_room_says_of_cuts_it_knows() -> None:
    for unit, cut in (
        (vm.per_row(), nb.partition(4, by="value")),
        (vm.per_row(replace=True), nb.partition(4, by="value")),
        (vm.per_event("day"), nb.partition(4, by="value")),
        (vm.per("u", rows=1), nb.partition(4, by="value")),
        (vm.per("u", rows=1, replace=True), nb.partition(4, by="value")),
    ):
        for make in (vm.pure, vm.zcdp):
            leaves = [nb.leaf(part, make(a), mode="common") for part, a in zip(cut, AMOUNTS, strict=True)]
            assert charged_for(unit, make=make) == nb.compose(unit.granularity, leaves).loss
    for unit in (vm.per("u", rows=1), vm.per("u", rows=1, replace=True)):
        for few in (1, 2, 3):
            persons = nb.contributions(4, l0=few, linf=1)
            leaves = [nb.leaf(part, vm.pure(a)) for part, a in zip(persons, AMOUNTS, strict=True)]
            assert charged_for(unit, parts_per_unit=few) == nb.compose(unit.granularity, leaves).loss


def tables_of(units: int, places: int) -> list[tuple[frozenset[int], ...]]:
    """All tables, as the set of parts that each unit has rows in."""
    subsets = [frozenset(c) for size in range(places + 1) for c in itertools.combinations(range(places), size)]
    return list(itertools.product(subsets, repeat=units))


@pytest.mark.parametrize("few", [None, 1, 2])
@pytest.mark.parametrize("replaces", [False, True])
def test_no_two_neighbors_differ_in_more_parts_than_are_counted(few: int | None, replaces: bool) -> None:
    """Enumeration: whichever parts of a unit are kept, as long as that depends on the unit alone."""
    places, unit = 4, vm.per("u", rows=1, replace=replaces)

    def kept(parts_of: frozenset[int], who: int) -> frozenset[int]:
        order = sorted(parts_of, key=lambda part: (part * 7 + who * 5) % 11)
        return frozenset(order if few is None else order[:few])

    most = 0
    for table in tables_of(2, places):
        for changed in tables_of(1, places):
            if not replaces and table[0] and changed[0]:
                continue  # one comes or goes: there are no rows before, or none after
            other = (changed[0], table[1])
            sees = [
                tuple((who, parts_of) for who, parts_of in enumerate(each) if part in kept(parts_of, who))
                for each in (table, other)
                for part in range(places)
            ]
            most = max(most, sum(sees[part] != sees[places + part] for part in range(places)))
    assert most == most_touched(unit, fanout=1, parts_per_unit=few, size=places)


# ------------------------------------------------------------------------------------------------ units in few parts


PEOPLE = {
    "u": [person for person in range(12) for _ in range(5)],
    "k": [["A", "B", "C", "D", None][(person + i * i) % 5] for person in range(12) for i in range(5)],
    "x": list(range(60)),
}


def parts_of_people(data: Any, few: int, *, unit: Any = None, order: Any = "native") -> dict[Any, list[Any]]:
    table = vm.open(held(data), unit=unit or vm.per("u", rows=50), budget=vm.pure(100), order=order)
    found = partition(table, "k", keys=["A", "B", "C"], budgets=vm.pure(1), parts_per_unit=few, other=True)
    return {key: rows_of(part) for key, part in found.items()}


@pytest.mark.parametrize("order", ["native", "portable"])
@pytest.mark.parametrize("few", [1, 2, 3])
def test_each_unit_is_in_few_parts_with_all_of_its_rows_there(few: int, order: str) -> None:
    found = parts_of_people(PEOPLE, few, order=order)
    for person in range(12):
        mine = {key: [row for row in rows if row[0] == person] for key, rows in found.items()}
        here = {key: rows for key, rows in mine.items() if rows}
        all_mine = [row for row in zip(*PEOPLE.values(), strict=True) if row[0] == person]
        places = {row[1] if row[1] in ("A", "B", "C") else "(other)" for row in all_mine}
        assert len(here) == min(few, len(places))
        for key, rows in here.items():
            wanted = [row for row in all_mine if (row[1] if row[1] in ("A", "B", "C") else "(other)") == key]
            assert rows == sorted(wanted, key=repr)


def test_which_parts_a_unit_is_kept_in_depends_on_its_own_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "fresh_salt", lambda: "5a17")
    whole = parts_of_people(PEOPLE, 2)
    for person in range(0, 12, 3):
        left = [row for row in zip(*PEOPLE.values(), strict=True) if row[0] != person]
        without = parts_of_people(dict(zip(PEOPLE, map(list, zip(*left, strict=True)), strict=True)), 2)
        expected = {key: [row for row in rows if row[0] != person] for key, rows in whole.items()}
        assert without == expected


def test_units_that_the_engine_takes_for_one_do_not_decide_on_each_other(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import duckdb

    monkeypatch.setattr(parts, "fresh_salt", lambda: "5a17")

    def found(name: str, rows: list[tuple[str, str]]) -> set[tuple[str, str]]:
        path = tmp_path / f"{name}.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE t (u VARCHAR COLLATE NOCASE, k VARCHAR)")
            connection.executemany("INSERT INTO t VALUES (?, ?)", rows)
        table = vm.open(path, table="t", unit=vm.per("u", rows=5), budget=vm.pure(1))
        made = partition(table, "k", keys=["A", "B", "C", "D"], budgets=vm.pure(1), parts_per_unit=1)
        return {row for part in made.values() for row in rows_of(part)}

    lower = [("p", key) for key in "ABCD"]
    upper = [("P", key) for key in "ABCD"]
    both, alone = found("both", lower + upper), found("alone", lower)
    assert len(both) == 2
    assert {row for row in both if row[0] == "p"} == alone


def test_a_unit_stays_in_its_parts_from_question_to_question_and_is_drawn_anew_for_each_partition() -> None:
    table = opened(HUGE, unit=vm.per("u", rows=50), data=PEOPLE)
    drawn = set()
    for _ in range(6):
        part = partition(table, "k", keys=["A", "B", "C"], budgets=vm.pure(200), parts_per_unit=1)["A"]
        first = rows_of(part)
        assert rows_of(part) == first
        drawn.add(tuple(first))
    assert len(drawn) > 1


def test_units_of_the_same_parts_are_spread_over_them() -> None:
    data = {"u": [person for person in range(40) for _ in "ABC"], "k": list("ABC") * 40}
    found = parts_of_people(data, 1)
    assert all(0 < len(found[key]) < 40 for key in "ABC")


def test_rows_of_keys_that_are_not_listed_take_no_place() -> None:
    data = {"u": [1] * 6, "k": ["A", "x", "y", "z", "v", "w"]}
    for _ in range(5):
        table = opened(vm.pure(1), unit=vm.per("u", rows=9), data=data)
        found = partition(table, "k", keys=["A"], budgets=vm.pure(1), parts_per_unit=1)
        assert rows_of(found["A"]) == [(1, "A")]


def test_rows_that_a_join_multiplied_count_as_often_in_a_part() -> None:
    table = opened(vm.pure(1), data={"g": [1]})
    joined = table.join(public({"g": [1, 1, 1], "h": ["A", "A", "B"]}), on="g")
    part = partition(joined, "h", keys=["A", "B"], budgets=vm.pure("1/3"))["A"]
    assert table.spent == vm.pure("2/3")
    part.agg(n=vm.count()).release(spend=vm.pure("1/3"))
    scale = part.agg(n=vm.count()).preview(spend=vm.pure("1/3")).rows[0].noise
    assert scale == "laplace 9"  # three rows of one


def test_what_a_partition_rests_on_is_explained() -> None:
    table = opened(vm.pure(1))
    partition(table, "ward", keys=["A", "B"], budgets=vm.pure("1/4"))
    purse = table.session.purse
    assert isinstance(purse, FilterPurse)
    text = repr(purse._meter.explain())
    assert "composition-over-parts" in text and "privacy-filter" in text and "ward = 'A'" in text


def test_places_are_numbers_of_the_first_key_that_matches() -> None:
    place = parts._place(opened(vm.pure(1))["ward"], ["A", None], other=True)
    column = opened(vm.pure(1))["ward"]
    assert place.same_as(case((column == "A", 0), (column.is_null(), 1), default=2))
