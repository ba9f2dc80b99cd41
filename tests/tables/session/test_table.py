"""Tables under a budget: filters, columns, joins, groups, several tables, practice; and what is refused."""

import threading
from typing import Any

import pytest

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables import Table, Tables
from viameter.tables.engines import DataWarning

LOUD = vm.zcdp(10**9)
ROWS = {
    "who": ["a", "a", "b", "c"],
    "k": ["x", "y", "x", None],
    "n": [1, 2, 3, 4],
    "flag": [True, False, True, None],
}
CLINIC: dict[str, Any] = {
    "patients": {"id": [1, 2, 3], "age": [50, 61, 70]},
    "visits": {"nr": [10, 11, 12, 13], "patient": [1, 1, 2, 9], "wait": [5, 6, 7, 8]},
    "drugs": {"visit": [10, 10, 12, 99], "dose": [1, 2, 3, 4]},
}
LINKS: dict[str, Any] = {"visits": ("patient", "patients"), "drugs": ("visit", "visits", "nr")}


def table(unit: Any = None, source: Any = None, **options: Any) -> Table:
    opened: Table = vm.open(
        ROWS if source is None else source, unit=unit or vm.per("who", rows=9), budget=vm.zcdp(10**12), **options
    )
    return opened


def clinic(rows: int = 9) -> Tables:
    opened: Tables = vm.open(
        CLINIC, unit=vm.per_entity("patients", key="id", links=LINKS, rows=rows), budget=vm.zcdp(10**12)
    )
    return opened


def count(question_of: Any) -> int:
    return int(question_of.agg(n=vm.count()).release(spend=LOUD)["n"].value[0])


def test_a_filter_keeps_rows_for_which_the_predicate_is_true() -> None:
    t = table()
    assert count(t.filter(t["n"] > 1)) == 3
    assert count(t.filter(t["k"] == "x")) == 2
    assert count(t.filter(~(t["k"] == "x"))) == 1  # NULL is neither
    assert count(t.filter(t["flag"])) == 2
    assert count(t.filter(t["k"].is_null())) == 1


def test_a_filter_takes_an_expression_that_is_true_or_false_of_columns_that_exist() -> None:
    t = table()
    for wrong in (True, 1, None, ["n > 1"], {"column": "flag"}, "n + 1", t["n"] + 1):
        with pytest.raises(ParameterError, match="filter"):
            t.filter(wrong)  # type: ignore[arg-type]
    assert repr(t.filter("n > 1").agg(n=vm.count())) == repr(t.filter(t["n"] > 1).agg(n=vm.count()))
    for unread in ("n >", "n > 'a'", "m > 1", ""):
        with pytest.raises(ParameterError):
            t.filter(unread)
    other = table(source={**ROWS, "m": [1, 2, 3, 4]})
    with pytest.raises(ParameterError, match="there is no column 'm'"):
        t.filter(other["m"] > 1)


def test_columns_can_be_derived_and_selected_and_the_unit_stays() -> None:
    t = table().derive(double=table()["n"] * 2).select("double")
    assert list(t.schema) == ["double"]
    assert int(t.agg(s=vm.sum("double", bounds=(0, 100))).release(spend=LOUD)["s"].value[0]) == 20
    assert int(t.limit(rows=1).agg(n=vm.count()).release(spend=LOUD)["n"].value[0]) == 3
    with pytest.raises(ParameterError, match="viameter_"):
        t.derive(viameter_unit=t["double"])
    with pytest.raises(ParameterError, match="there is no column 'n'"):
        t["n"]


def test_booleans_need_no_keys_and_intervals_are_public_groups() -> None:
    answer = table().group_by("flag").agg(n=vm.count()).release(spend=LOUD)
    assert answer.groups == ((False,), (True,)) and answer["n"].value.tolist() == [1, 2]
    answer = table().group_by("n", edges=[1, 3, 4]).agg(rows=vm.count()).release(spend=LOUD)
    assert answer.groups == (("[1, 3)",), ("[3, 4]",)) and answer["rows"].value.tolist() == [2, 2]
    answer = table().group_by("n", edges=[1, 2, 3], other=True).agg(rows=vm.count()).release(spend=LOUD)
    assert answer["rows"].value.tolist() == [1, 2, 1]
    assert table().histogram("n", [0, 5]).release(spend=LOUD)["rows"].value.tolist() == [4]


def test_groups_of_several_columns_are_tuples_or_all_combinations() -> None:
    t = table()
    some = t.group_by("k", "n", keys=[("x", 1), ("y", 9)]).agg(c=vm.count()).release(spend=LOUD)
    assert some["c"].value.tolist() == [1, 0]
    every = t.group_by("k", "flag", keys={"k": ["x", "y"], "flag": [True, False]}).agg(c=vm.count()).release(spend=LOUD)
    assert every["c"].value.tolist() == [2, 0, 0, 1] and every.columns[:2] == ("k", "flag")


def test_rows_are_joined_with_public_ones() -> None:
    names = vm.public({"k": ["x", "y", "y"], "name": ["one", "two", "three"]})
    answer = table().join(names, on="k").group_by("name", keys=["one", "two", "three"]).agg(n=vm.count())
    assert answer.release(spend=LOUD)["n"].value.tolist() == [2, 1, 1]
    with pytest.raises(ParameterError, match="both tables have the column 'n'"):
        table().join(vm.public({"k": ["x"], "n": [1]}), on="k")
    with pytest.raises(ParameterError, match=r"is TEXT here and INTEGER"):
        table().join(vm.public({"k": [1]}), on="k")
    with pytest.raises(ParameterError, match="names no column"):
        table().join(names)


def test_a_row_that_a_join_makes_into_several_counts_as_several() -> None:
    names = vm.public({"k": ["x", "y", "y"], "name": ["one", "two", "three"]})
    joined = table(vm.per_row()).join(names, on="k").agg(n=vm.count()).measurement(spend=vm.zcdp(1))
    members: Any = joined
    assert members.members[0].steps[-2].map(1) == 2


def test_private_tables_are_joined_on_the_unit() -> None:
    tables = clinic()
    both = tables["visits"].join(tables["patients"].select("age"))
    assert list(both.schema) == ["nr", "patient", "wait", "age"]
    assert count(both) == 3  # patient 9 is in no other table
    assert count(both.filter(both["age"] > 60)) == 1
    assert tables.spent == both.spent == tables["drugs"].spent
    for wrong in (table(), 3):
        with pytest.raises(ParameterError, match="join"):
            tables["visits"].join(wrong)  # type: ignore[arg-type]


def test_entities_are_found_along_their_links() -> None:
    tables = clinic()
    assert [count(tables[name]) for name in ("patients", "visits", "drugs")] == [3, 4, 3]
    # Patient 1 has two drugs by one visit; the drug of a visit that does not exist belongs to nobody.
    few = clinic(rows=1)
    assert [count(few[name]) for name in ("patients", "visits", "drugs")] == [3, 3, 2]
    assert tables["drugs"].unit.granularity == vm.neighborhood.entity("patients")
    assert tables.check_keys() == {"visits.nr": 0}


def test_a_key_that_names_two_rows_is_found_by_the_custodian() -> None:
    broken = {**CLINIC, "visits": {"nr": [10, 10, 12, 12], "patient": [1, 2, 2, 9], "wait": [5, 6, 7, 8]}}
    opened = vm.open(broken, unit=vm.per_entity("patients", key="id", links=LINKS, rows=3), budget=vm.zcdp(1))
    assert opened.check_keys() == {"visits.nr": 2}


def test_several_tables_need_one_unit_and_their_links() -> None:
    unit = vm.per_entity("patients", key="id", links=LINKS, rows=3)
    with pytest.raises(ParameterError, match="which was not opened with it"):
        vm.open({"drugs": CLINIC["drugs"]}, unit=unit, budget=vm.zcdp(1))
    with pytest.raises(ParameterError, match="spans several tables"):
        vm.open(CLINIC["drugs"], unit=unit, budget=vm.zcdp(1))
    with pytest.raises(ParameterError, match="there is no table 'x'"):
        clinic()["x"]
    shared = vm.open(
        {"one": {"who": [1], "a": [2]}, "other": {"who": [1], "b": [3]}},
        unit=vm.per("who", rows=2),
        budget=vm.zcdp(10**12),
    )
    assert count(shared["one"].join(shared["other"])) == 1


def test_units_can_be_sampled_and_always_the_same_ones() -> None:
    many = {"who": [f"u{i}" for i in range(400)]}
    half = table(source=many).sample("1/2")
    first = count(half)
    assert 100 < first < 300 and first == count(half)
    assert count(table(source=many).sample(1)) == 400
    with pytest.raises(ParameterError, match="hides single rows"):
        table(vm.per_row()).sample("1/2")
    with pytest.raises(vm.errors.NumberError, match="between 0 and 1"):
        table(source=many).sample(2)


def test_a_dry_run_has_the_same_columns_and_its_own_budget() -> None:
    private = table()
    practice = private.dry_run(rows=50, values={"k": ["x", "y"], "n": (0, 10)})
    assert list(practice.schema) == list(private.schema) and practice.budget == private.budget
    practice.group_by("k", keys=["x", "y"]).agg(n=vm.mean("n", bounds=(0, 10))).release(spend=LOUD)
    assert practice.history and not private.history
    assert practice.dry_run(rows=3).schema == practice.schema
    with pytest.raises(ParameterError, match="as it was opened"):
        private.filter(private["n"] > 1).dry_run()
    with pytest.raises(ParameterError, match="there is no column 'z'"):
        private.dry_run(values={"z": [1]})


def test_what_can_be_opened_and_how() -> None:
    for unit in ("who", None, 3):
        with pytest.raises(ParameterError, match="whose presence is hidden"):
            vm.open(ROWS, unit=unit, budget=vm.zcdp(1))  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match=r"budget=.*is not a loss"):
        vm.open(ROWS, unit=vm.per_row(), budget=1)  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="there is no column 'whom'; did you mean 'who'"):
        vm.open(ROWS, unit=vm.per("whom", rows=1), budget=vm.zcdp(1))
    with pytest.raises(ParameterError, match="units are named by text or integers"):
        vm.open({"x": [1.5]}, unit=vm.per("x", rows=1), budget=vm.zcdp(1))
    with pytest.raises(ParameterError, match="'native' or 'portable'"):
        vm.open(ROWS, unit=vm.per_row(), budget=vm.zcdp(1), order="other")  # type: ignore[call-overload]
    with pytest.raises(ParameterError, match="library's own"):
        vm.open({"viameter_unit": [1]}, unit=vm.per_row(), budget=vm.zcdp(1))


def test_threads_share_a_budget_that_is_never_overspent() -> None:
    t = vm.open(ROWS, unit=vm.per("who", rows=2), budget=vm.zcdp(1))
    question = t.agg(n=vm.count())
    answered, refused = [], []

    def ask() -> None:
        for _ in range(4):
            try:
                answered.append(question.release(spend=vm.zcdp("1/8")))
            except vm.errors.OverBudget as problem:
                refused.append(problem)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answered) == 8 and len(refused) == 8 and t.spent <= vm.zcdp(1)


def test_a_table_shows_columns_and_budget_and_never_a_row() -> None:
    shown = repr(vm.open({"who": ["CANARY"], "n": [987654]}, unit=vm.per("who", rows=2), budget=vm.zcdp(1)))
    assert "who" in shown and "INTEGER" in shown and "CANARY" not in shown and "987654" not in shown


def test_types_can_be_said_instead_of_found_in_rows() -> None:
    source = {"who": ["a", "b", "c"], "x": ["1", "n/a", "3"], "y": [1.5, 2.0, None], "z": [1, 2, 3]}
    with pytest.warns(DataWarning, match="1 of 'x' is no integer, 1 of 'y' is no integer; they are read as NULL"):
        t = table(source=source, types={"x": "integer", "y": "integer", "z": "real"})
    assert [kind.kind.value for kind in t.schema.values()] == ["TEXT", "INTEGER", "INTEGER", "REAL"]
    answer = t.agg(x=vm.sum("x", bounds=(0, 9)), y=vm.sum("y", bounds=(0, 9)), z=vm.sum("z", bounds=(0, 9))).release(
        spend=LOUD
    )
    assert [round(float(answer[name].value[0])) for name in "xyz"] == [4, 2, 6]
    import pandas as pd

    nothing = pd.DataFrame({"who": [1], "g": [None]})
    assert (
        count(
            table(source=nothing, types={"g": "text"}).filter(table(source=nothing, types={"g": "text"})["g"].is_null())
        )
        == 1
    )
    with pytest.raises(ParameterError, match="there is no column 'q'"):
        table(types={"q": "text"})
    assert table(source=nothing).schema["g"].kind.value == "TEXT"


def test_dates_are_keys_as_text_and_as_pandas_has_them() -> None:
    import datetime

    import pandas as pd

    days = [datetime.date(2013, 1, 1), datetime.date(2013, 1, 2)]
    t = table(source={"who": [1, 2], "day": days})
    for keys in (days, ["2013-01-01", "2013-01-02"], pd.date_range("2013-01-01", periods=2)):
        assert t.group_by("day", keys=keys).agg(n=vm.count()).release(spend=LOUD)["n"].value.tolist() == [1, 1]
    for wrong in (["2013-13-01"], ["2013-01-01T10:00"]):
        with pytest.raises(ParameterError, match="no value of a column that is DATE"):
            t.group_by("day", keys=wrong)


def test_bounds_that_were_found_are_bounds() -> None:
    t = table(source={"who": list(range(500)), "x": [i % 50 for i in range(500)]})
    found = t.find_bounds("x", within=(0, 1000), spend=LOUD)
    assert int(t.agg(s=vm.sum("x", bounds=found)).release(spend=LOUD)["s"].value[0]) == sum(i % 50 for i in range(500))


def test_made_up_values_must_fit_their_column() -> None:
    with pytest.raises(ParameterError, match=r"values\['k'\] are no values of a column that is TEXT"):
        table().dry_run(values={"k": (0, 10)})


def test_times_are_whole_numbers_or_dates() -> None:
    for column in ("k", "flag"):
        with pytest.raises(ParameterError, match="times are integers, dates or timestamps"):
            table(vm.per_event(column))
    assert count(table(vm.per_event("n", window=2))) == 4
