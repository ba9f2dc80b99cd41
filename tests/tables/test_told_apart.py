"""Questions that mean different things are told apart; and what is joined, named and checked."""

from __future__ import annotations

import copy
import itertools
import pickle
from pathlib import Path
from typing import Any

import pytest

import viameter as vm
from viameter.errors import KeyTaken, LedgerError, NoTheorem, ParameterError
from viameter.tables.check import check
from viameter.tables.document import plainly, question_from_json, question_to_json
from viameter.tables.expressions import Column, Expression, Kind, Type, case, literal
from viameter.tables.formula import Formula
from viameter.tables.public_tables import PublicTable

WHOLE, TRUE = Column("i", Type(Kind.INTEGER)), Column("True", Type(Kind.BOOLEAN))
ALIKE: list[Expression] = [
    WHOLE * WHOLE > WHOLE,
    WHOLE.cast("real") * WHOLE > WHOLE,
    WHOLE * WHOLE.cast("real") > WHOLE,
    (WHOLE * WHOLE).cast("real") > WHOLE,
    WHOLE / 2 > 1,
    WHOLE // 2 > 1,
    (WHOLE.cast("real") + 1) > 2,
    WHOLE + 1 > 2,
    TRUE,
    TRUE == True,  # noqa: E712
    TRUE & True,
    case((TRUE, WHOLE), default=1) > 0,
    case((TRUE, WHOLE.cast("real")), default=1) > 0,
    WHOLE.cast("real").is_null(),
    case((TRUE, literal(None, Kind.REAL)), default=WHOLE) * WHOLE > WHOLE,
    case((TRUE, None), default=WHOLE) * WHOLE > WHOLE,
    literal(None, Kind.REAL).fill_null(WHOLE) > 1,
    literal(None, Kind.INTEGER).fill_null(WHOLE) > 1,
    WHOLE.is_null(),
]


@pytest.mark.parametrize(("one", "other"), list(itertools.combinations(ALIKE, 2)))
def test_expressions_that_differ_have_texts_that_differ(one: Expression, other: Expression) -> None:
    assert (repr(one) == repr(other)) is one.same_as(other)


def test_a_part_of_other_rows_is_not_one_that_was_paid_for_before(tmp_path: Path) -> None:
    def opened() -> Any:
        rows = {"i": [2**62], "x": [1]}
        return vm.open(rows, unit=vm.per_row(), budget=vm.zcdp(1), ledger=tmp_path / "l.db", dataset="rows", by="me")

    cut: dict[str, Any] = {"keys": ["A", "B"], "budgets": vm.zcdp("1/2")}
    opened().derive(c="case((i * i > i, 'A'), default='B')").partition("c", **cut)
    spent = opened().spent
    with pytest.raises(LedgerError, match="made for something else"):
        opened().derive(c="case((i.cast('real') * i > i, 'A'), default='B')").partition("c", **cut)
    assert opened().spent == spent
    opened().filter("i * i > i").agg(n=vm.count()).release(spend=vm.zcdp("1/10"), key="a")
    with pytest.raises(KeyTaken):
        opened().filter("i.cast('real') * i > i").agg(n=vm.count()).release(spend=vm.zcdp("1/10"), key="a")


def test_columns_are_read_as_they_are_written_whatever_letters_python_takes_for_the_same() -> None:
    rows = {"a": [1] * 4, "\uff41": [5] * 4, "\u00b5": [2] * 4}
    table = vm.open(rows, unit=vm.per_row(), budget=vm.pure(10**9))
    for predicate, count in (("\uff41 == 5", 4), ("a == 5", 0), ("\u00b5 == 2", 4), (table["\uff41"] == 5, 4)):
        answer = table.filter(predicate).agg(n=vm.count()).release(spend=vm.pure(10**6))
        assert answer["n"].value.tolist() == [count]
    assert Formula.of("\uff41 == 5").words >= {"\uff41"}


def test_public_rows_do_not_change_and_can_be_copied() -> None:
    public = vm.public({"g": ["a", "b"], "w": [1, 2]})
    with pytest.raises(TypeError):
        public.columns["g"] = ("a", "a")  # type: ignore[index]
    assert pickle.loads(pickle.dumps(public)) == public == copy.deepcopy(public)
    lists: Any = {"g": ["a"], "w": [1]}
    made = PublicTable(lists, public.schema)
    lists["g"].append("a")
    assert made.columns["g"] == ("a",)


def test_a_column_that_is_derived_anew_may_be_missing_whatever_the_other_table_has() -> None:
    sources = {
        "visits": {"patient": ["1", "1", "2", "3"], "wait": [10, 30, 5, 7]},
        "patients": {"patient": ["1", "2", "3"], "age": [50, 61, 3]},
    }
    tables: Any = vm.open(sources, unit=vm.per("patient", rows=3), budget=vm.zcdp(10**9))
    visits, patients = tables["visits"], tables["patients"]
    named = visits.derive(patient=vm.case((visits["wait"] > 6, visits["wait"]), default=None))
    joined = named.join(patients.filter(~patients["patient"].is_null()))
    assert "patient" not in joined.schema.required
    mean = joined.agg(m=vm.mean("patient", bounds=(0, 100))).release(spend=vm.zcdp(10**8))["m"].value[0]
    assert abs(mean - 47 / 3) < 0.1


@pytest.mark.parametrize("name", ["n_lower", "n_upper"])
def test_no_key_is_hidden_by_the_end_of_an_interval(name: str) -> None:
    budget = vm.approx_zcdp(1, "1e-6")
    table = vm.open({name: ["A", "B"], "u": [1, 2]}, unit=vm.per("u", rows=1), budget=budget)
    for grouped in (table.group_by(name, keys=["A", "B"]), table.group_by(name)):
        with pytest.raises(ParameterError, match="an end of the interval of 'n'"):
            grouped.agg(n=vm.count())
    rows = {name: ["A"] for name in ("units_lower", "count", "units_2", "u")}
    taken = vm.open(rows, unit=vm.per("u", rows=1), budget=budget).heavy_hitters("units_lower", "count", "units_2")
    plan: Any = taken.plan
    assert plan.count == "units_3"


@pytest.mark.parametrize(
    "written",
    [
        {"aggregates": {"n": {"count": True}}},
        {"heavy_hitters": ["g"]},
        {"group_by": "g", "keys": ["A"], "top": 1},
        {"version": 2, "steps": [{"select": ["g", "g"]}]},
        {"limit": {"rows": 1, "keep": "first by d"}, "version": 2, "steps": [{"select": ["g"]}]},
    ],
)
def test_what_cannot_be_asked_is_found_by_the_check_and_when_it_is_asked(written: dict[str, Any]) -> None:
    unit = vm.per("u")
    table = vm.open({"u": [1], "g": ["A"], "d": [1]}, unit=unit, budget=vm.approx_zcdp(1, "1e-6"))
    question = question_from_json(written)
    assert check(question, table.schema, unit=unit, measure=table.backend.measure)
    with pytest.raises((ParameterError, NoTheorem)):
        table.query(question)


def test_columns_of_one_step_are_checked_as_they_are_made() -> None:
    table = vm.open({"g": ["A"], "i": [1], "q": ["x"]}, unit=vm.per_row(), budget=vm.zcdp(1))
    asked = table.derive(g="i + 1", q="g").agg(m=vm.mean("g", bounds=(0, 9)))
    assert check(asked.question, table.schema, unit=table.unit, measure=vm.ZCDP) == ()
    for step, place in (
        ({"sample": "1/2"}, "sample"),
        ({"join": {"table": "t", "steps": []}, "on": []}, "join"),
        ({"select": []}, "select"),
        ({"derive": {"x": "i", "X": "i"}}, "derive"),
    ):
        wrong = question_from_json({"version": 2, "steps": [step]})
        (problem, *_) = check(wrong, table.schema, unit=table.unit, measure=vm.ZCDP)
        assert problem.place == f"steps[0].{place}"
        with pytest.raises(ParameterError):
            table.query(wrong)


@pytest.mark.parametrize("name", ["a·b", "été", "ªb"])
def test_steps_keep_their_order_where_a_column_is_read_under_any_name_of_python(name: str) -> None:
    written = {"version": 2, "steps": [{"filter": f"{name} > 0"}, {"derive": {Formula.of(name).to_json(): "z * 0"}}]}
    question = question_from_json(written)
    assert name in question.source.steps[0].predicate.words  # type: ignore[union-attr]
    assert plainly(question) == question and "steps" in question_to_json(question)
