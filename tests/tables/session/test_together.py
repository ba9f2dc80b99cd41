"""Questions asked together: what they cost, how that was counted, and what they answer."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from tests.tables.held import held

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import MeasureMismatch, OverBudget, ParameterError
from viameter.tables import counting, overlapping
from viameter.tables.asked_together import Together, together
from viameter.tables.counting import predicate_of
from viameter.tables.expressions import Expression, evaluate
from viameter.tables.parts import partition
from viameter.tables.table import Table

DATA = {"x": [0, 1, 2, 3, 4, None], "k": ["a", "b", "a", None, "c", "a"], "u": [1, 1, 2, 2, 3, 3], "t": [1] * 6}
HUGE = vm.pure(10**5)
public: Any = vm.public


@cache
def shared(unit: Any = None, budget: Any = None) -> Table:
    """A table for tests that spend nothing."""
    return opened(unit, budget)


def opened(unit: Any = None, budget: Any = None, data: Any = None) -> Table:
    table: Table = vm.open(held(data or DATA), unit=unit or vm.per_row(), budget=budget or vm.pure(1))
    return table


def ask(table: Table, *predicates: Expression) -> Together:
    asked = {f"q{i}": table.filter(predicate).agg(n=vm.count()) for i, predicate in enumerate(predicates)}
    return together(**asked)


def share_of(table: Table, *predicates: Expression) -> Fraction:
    return ask(table, *predicates).share


# ------------------------------------------------------------------------------------------------------- what it costs


def test_questions_that_exclude_one_another_cost_what_one_does() -> None:
    t = shared()
    asked = ask(t, t["x"] < 2, t["x"] == 2, t["x"] > 2, t["x"].is_null())
    assert asked.share == 1
    assert asked.measurement(spend=vm.pure("1/2")).map(1) == vm.pure("1/2")
    assert "1 of 4 questions" in asked.preview(spend=vm.pure("1/2")).counted


def test_questions_that_overlap_cost_the_worst_pattern_and_get_the_largest_common_share() -> None:
    t = shared()
    asked = ask(t, t["x"] < 3, t["x"] > 1, t["x"] == 2, t["x"] > 7)
    assert asked.share == Fraction(1, 3)
    assert asked.measurement(spend=vm.pure("3/4")).map(1) == vm.pure("3/4")
    previews = asked.preview(spend=vm.pure("3/4")).questions
    assert {preview.loss for preview in previews.values()} == {vm.pure("1/4")}


def test_rows_that_turn_into_others_touch_two_patterns() -> None:
    t = shared(vm.per_row(replace=True))
    assert share_of(t, t["x"] < 1, t["x"] == 1, t["x"] == 2, t["x"] > 2) == Fraction(1, 2)
    assert share_of(t, t["x"] < 3, t["x"] < 2, t["x"] == 3, t["x"] == 4, t["x"] == 5) == Fraction(1, 3)
    event = shared(vm.per_event("t"))
    assert share_of(event, event["x"] < 1, event["x"] == 1, event["x"] == 2) == Fraction(1, 2)


def touched_by_neighbors(unit: Any, predicates: list[Expression], rows: list[dict[str, Any]]) -> int:
    """The most questions whose rows differ, over all tables of rows of a domain that are neighbors; naively."""
    most = 0
    for before, after in itertools.product([None, *rows], repeat=2):
        if not unit.replaces and before is not None and after is not None:
            continue  # one comes or goes
        touched = [
            predicate
            for predicate in predicates
            if any(row is not None and evaluate(predicate, row) is True for row in (before, after))
        ]
        most = max(most, len(touched))
    return most


@pytest.mark.parametrize("unit", [vm.per_row(), vm.per_row(replace=True), vm.per_event("t")])
def test_the_share_is_that_of_the_worst_neighbors(unit: Any) -> None:
    t, dice = shared(unit), random.Random(5)
    rows = [{"x": x, "k": k} for x in (None, *range(-1, 6)) for k in (None, "a", "b", "z")]
    kinds = [
        lambda: t["x"] < dice.randrange(5),
        lambda: t["x"] == dice.randrange(5),
        lambda: t["x"].between(dice.randrange(3), dice.randrange(5)),
        lambda: t["k"] == dice.choice("ab"),
        lambda: ~t["x"].is_null(),
        lambda: (t["k"] != "a") & (t["x"] > dice.randrange(4)),
    ]
    for _ in range(25):
        predicates = [dice.choice(kinds)() for _ in range(dice.randrange(1, 6))]
        most = touched_by_neighbors(unit, predicates, rows)
        assert share_of(t, *predicates) == Fraction(1, max(most, 1))


def test_the_loss_is_what_all_leaves_of_the_worst_pattern_cost_by_brute_force() -> None:
    t = shared()
    predicates = [t["x"] < 3, t["x"] > 1, t["k"] == "a", t["k"] == "b"]
    asked = ask(t, *predicates).measurement(spend=vm.pure("3/5"))
    rows = list(itertools.product((None, 0, 2, 4), (None, "a", "b", "z")))
    lists = {
        repr(row): [i for i, each in enumerate(predicates) if evaluate(each, dict(zip("xk", row, strict=True))) is True]
        for row in rows
    }
    leaves = [nb.leaf(part, vm.pure("1/5")) for part in nb.memberships(lists, parts=4)]
    assert asked.map(1) == nb.brute_force(nb.unbounded(), leaves).loss == vm.pure("3/5")


def test_four_hundred_intervals_cost_what_one_does() -> None:
    t = shared()
    asked = ask(t, *(t["x"].between(10 * i, 10 * i + 9) for i in range(400)))
    assert asked.share == 1


def test_a_condition_that_never_holds_costs_nothing() -> None:
    t = shared()
    asked = ask(t, (t["x"] < 1) & (t["x"] > 3))
    assert asked.share == 1
    asked = ask(t, (t["x"] < 1) & (t["x"] > 3), (t["x"] < 1) & t["x"].is_null())
    assert asked.measurement(spend=vm.pure(1)).map(1) == vm.pure(0)


def test_a_row_that_turns_into_one_of_the_same_pattern_is_counted() -> None:
    t = shared(vm.per_row(replace=True))
    asked = together(every=t.agg(n=vm.count()), never=t.filter((t["x"] < 1) & (t["x"] > 3)).agg(n=vm.count()))
    assert asked.share == 1
    assert asked.measurement(spend=vm.pure("1/2")).map(1) == vm.pure("1/2")


@pytest.mark.parametrize(
    ("make", "measure"),
    [
        (vm.pure, vm.PureDP),
        (vm.zcdp, vm.ZCDP),
        (lambda x: vm.approx(x, "1e-9"), vm.ApproxDP),
        (lambda x: vm.approx_zcdp(x, "1e-9"), vm.ApproxZCDP),
    ],
)
@pytest.mark.parametrize("unit", [vm.per_row(replace=True), vm.per("u", rows=2)])
def test_one_charge_of_no_more_than_was_to_be_spent_in_every_measure(make: Any, measure: Any, unit: Any) -> None:
    table = opened(unit, make(1))
    asked = ask(table, table["x"] < 2, table["x"] >= 2, table["x"].is_null())
    preview = asked.preview(spend=make("1/2"))
    assert preview.fits and not table.history and preview.spent == measure.zero
    answers = asked.release(spend=make("1/2"))
    assert [charged.question for charged in table.history] == ["together(q0, q1, q2)"]
    assert table.spent == preview.loss <= make("1/2")
    assert table.spent.measure == measure
    # Not less than asked, but for what scales of noise are rounded by.
    spent: Any = table.spent
    amount, wanted = getattr(spent, spent.names[0]), Fraction(1, 2)
    assert wanted * Fraction(99, 100) <= amount <= wanted
    assert list(answers) == ["q0", "q1", "q2"] and all(answer["n"].value.shape == (1,) for answer in answers.values())


def test_what_does_not_fit_is_refused_and_nothing_is_charged() -> None:
    table = opened()
    asked = ask(table, table["x"] < 2, table["x"] >= 2)
    assert not asked.preview(spend=vm.pure(2)).fits
    with pytest.raises(OverBudget):
        asked.release(spend=vm.pure(2))
    assert not table.history
    with pytest.raises(MeasureMismatch):
        asked.release(spend=vm.zcdp(1))


# -------------------------------------------------------------------------------------------------- where it is the sum


def sum_said(asked: Together, text: str) -> bool:
    counted = asked.preview(spend=asked.session.measure.zero + vm.pure("1/2")).counted
    return asked.share == Fraction(1, len(asked.questions)) and counted.startswith("the sum") and text in counted


def test_units_of_several_rows_are_counted_by_the_sum() -> None:
    for unit in (vm.per("u", rows=1), vm.per("u", rows=5, replace=True), vm.per_event("t", window=2)):
        t = shared(unit)
        assert sum_said(ask(t, t["x"] < 2, t["x"] >= 2), "may be part of every question")


def test_rows_that_a_join_multiplied_are_counted_by_the_sum() -> None:
    t = shared()
    joined = t.join(public({"k": ["a", "a"], "w": [1, 2]}), on="k")
    assert sum_said(ask(joined, joined["w"] == 1, joined["w"] == 2), "join")
    part = partition(opened(), "k", keys=["a"], budgets=vm.pure("1/2"))["a"]
    assert share_of(part, part["x"] == 1, part["x"] == 2) == 1
    source = opened()
    of_joined = partition(
        source.join(public({"k": ["a", "a"], "w": [1, 2]}), on="k"), "k", keys=["a"], budgets=vm.pure("1/4")
    )["a"]  # fmt: skip
    assert share_of(of_joined, of_joined["w"] == 1, of_joined["w"] == 2) == Fraction(1, 2)
    halves = [of_joined.filter(of_joined["w"] == number).agg(n=vm.count()) for number in (1, 2)]
    assert together(all=of_joined.agg(n=vm.count()), a=halves[0], b=halves[1]).share == Fraction(1, 3)
    # One match at most: rows stay rows.
    single = t.join(public({"k": ["a", "b"], "w": [1, 2]}), on="k")
    assert share_of(single, single["w"] == 1, single["w"] == 2) == 1


def test_too_many_combinations_are_counted_by_the_sum(monkeypatch: pytest.MonkeyPatch) -> None:
    t = shared()
    monkeypatch.setattr(overlapping, "MOST_COMBINATIONS", 3)
    assert sum_said(ask(t, t["x"] < 2, t["x"] >= 2), "too many")
    monkeypatch.undo()
    monkeypatch.setattr(counting, "MOST_TOUCHES", 1)
    assert sum_said(ask(t, t["x"] < 2, t["x"] >= 2), "too many")


def test_where_all_overlap_it_is_the_sum_with_a_certificate() -> None:
    t = shared()
    asked = ask(t, t["x"] < 2, t["x"] < 3)
    assert sum_said(asked, "may reach every question")
    assert "batch-composition" in str(asked.measurement(spend=vm.pure("1/2")).certificate(1).to_json())


def test_conditions_on_columns_that_are_made_anew_say_nothing() -> None:
    t = shared()
    low, made = t.filter(t["x"] < 2), t.derive(x=t["x"] * 0)
    high = made.filter(made["x"] >= 2)
    assert together(low=low.agg(n=vm.count()), high=high.agg(n=vm.count())).share == Fraction(1, 2)
    # Written alike, two columns are one; written otherwise they are two, whatever their names.
    once = t.derive(y=t["x"] + 1)
    for again, share in ((t.derive(y=t["x"] + 1), 1), (t.derive(y=1 + t["x"]), Fraction(1, 2))):
        both = together(
            low=once.filter(once["y"] < 2).agg(n=vm.count()), high=again.filter(again["y"] >= 2).agg(n=vm.count())
        )
        assert both.share == share
    assert share_of(once, once["y"] < 2, once["y"] >= 2) == 1
    # A filter before the column that both share speaks of another column of that name.
    before = t.filter(t["x"] < 1)
    shared_step = before.derive(x=t["x"] + 5)
    assert share_of(shared_step, shared_step["x"] < 6, shared_step["x"] >= 6) == 1
    assert share_of(shared_step, shared_step["x"] < 6, shared_step["x"] >= 3) == Fraction(1, 2)
    # After a filter, other steps may follow: what did not pass is not there.
    after = [t.filter(t["x"] < 2), t.filter(t["x"] >= 2)]
    questions = [each.derive(x=each["x"] * 0).filter(each["x"] < 1).agg(n=vm.count()) for each in after]
    assert together(a=questions[0], b=questions[1]).share == 1
    mixed = [t.derive(x=t["x"] * 0).filter(t["x"] < 2), t.filter(t["x"] >= 2).derive(x=t["x"] * 0)]
    assert together(a=mixed[0].agg(n=vm.count()), b=mixed[1].agg(n=vm.count())).share == Fraction(1, 2)


def test_histograms_and_groups_are_asked_beside_counts() -> None:
    t = shared()
    low, high = t.filter(t["x"] < 2), t.filter(t["x"] >= 2)
    asked = together(bins=low.histogram("x", [0, 1, 2]), groups=high.group_by("k", keys=["a"]).agg(n=vm.count()))
    assert asked.share == 1


def test_a_condition_that_is_not_known_may_hold_for_every_row() -> None:
    t = shared()
    assert share_of(t, t["x"] % 2 == 0, t["x"] % 2 == 1) == Fraction(1, 2)
    assert share_of(t, t["x"] % 2 == 0, t["x"] < 1, t["x"] > 3) == Fraction(1, 2)


def test_tables_that_were_opened_together_are_told_apart() -> None:
    tables = vm.open({"one": held({"x": [1]}), "two": held({"x": [2]})}, unit=vm.per_row(), budget=vm.pure(1))
    one, two = tables["one"], tables["two"]
    assert share_of(one, one["x"] < 2, one["x"] >= 2) == 1
    across = together(a=one.filter(one["x"] < 2).agg(n=vm.count()), b=two.filter(two["x"] >= 2).agg(n=vm.count()))
    assert across.share == Fraction(1, 2)


def test_the_predicate_of_a_filter_is_found_and_of_nothing_else() -> None:
    t = shared()
    predicate = t["x"] < 2
    step = t.filter(predicate).relation.steps[0]
    found = predicate_of(step)
    assert found is not None and found.key == predicate.key
    for other in (t.select("x"), t.derive(y=t["x"]), t.join(public({"k": ["a"], "w": [1]}), on="k")):
        assert predicate_of(other.relation.steps[0]) is None
    # Nor of what looks like one, and may do anything with it.
    assert predicate_of(replace(step, function=lambda rows: (rows, predicate)[0])) is None
    assert predicate_of(replace(step, function=print)) is None


# ------------------------------------------------------------------------------------------------------ what it answers


def test_answers_are_those_of_the_questions() -> None:
    table = opened(budget=HUGE)
    low, high = table.filter(table["x"] < 2), table.filter(table["x"] >= 2)
    asked = together(
        low=low.agg(n=vm.count()),
        high=high.group_by("k", keys=["a", "c"]).agg(n=vm.count(), s=vm.sum("x", bounds=(0, 9))),
    )
    answers = asked.release(spend=vm.pure(10**4))
    assert answers["low"]["n"].value.tolist() == [2]
    assert answers["high"]["n"].value.tolist() == [1, 1]
    assert "released together with 1 other" in answers["low"].notes[-1]
    raw = asked.release(spend=vm.pure(10**4), raw=True)
    assert raw["low"]["n"].value.tolist() == [2]


def test_texts_that_an_engine_takes_for_the_same_are_told_apart(tmp_path: Any) -> None:
    import duckdb

    path = tmp_path / "collated.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (c VARCHAR COLLATE NOCASE, x INTEGER)")
        connection.execute("INSERT INTO t VALUES ('a', 1), ('A', 2), ('b', 3)")
    table = vm.open(path, table="t", unit=vm.per_row(), budget=HUGE)
    asked = ask(table, table["c"] == "a", table["c"] == "A", ~table["c"].is_in(["a", "A"]))
    assert asked.share == 1
    answers = asked.release(spend=vm.pure(10**4))
    # A row that were in two of them would have cost twice what was charged.
    assert [answer["n"].value.tolist() for answer in answers.values()] == [[1], [1], [1]]


def test_rows_of_an_engine_change_only_answers_of_patterns() -> None:
    """Each row of a domain, added to a table, changes the exact numbers of the questions of one pattern alone."""
    rows = [(x, k) for x in (None, 0, 2, 4) for k in (None, "a", "b")]
    t = shared()
    predicates = [t["x"] < 2, t["x"] >= 2, t["k"] == "a", (t["k"] != "a") & (t["x"] > 1), t["x"].is_null()]
    patterns = overlapping.touch_patterns([[predicate] for predicate in predicates])
    table = vm.open(
        held({"x": [x for x, _ in rows], "k": [k for _, k in rows], "id": list(range(len(rows)))}),
        unit=vm.per_row(),
        budget=vm.pure(1),
    )
    seen: dict[int, set[int]] = {row: set() for row in range(len(rows))}
    for place, predicate in enumerate(predicates):
        for row in table.filter(predicate).relation.rows().expression["id"].to_pyarrow().to_pylist():
            seen[row].add(place)
    assert {frozenset(places) for places in seen.values()} <= set(patterns or ())


def test_what_it_rests_on_is_explained() -> None:
    t = shared()
    asked = ask(t, t["x"] < 2, t["k"] == "a", t["x"] >= 2).measurement(spend=vm.pure("1/2"))
    text = repr(asked.explain(1))
    assert "composition-over-parts" in text and "contributions-of-added-units" in text
    assert "texts as they are written" in text
    assert asked.map(2) == vm.pure(1)


def test_a_preview_says_it_in_words() -> None:
    t = shared()
    text = repr(ask(t, t["x"] < 2, t["x"] >= 2).preview(spend=vm.pure(2)))
    assert "it does not fit" in text and "touch patterns" in text and "q1: pure(2)" in text
    assert repr(ask(t, t["x"] < 2)) == "<questions asked together: q0>"


def test_what_is_no_question_of_one_session_is_refused() -> None:
    t = shared()
    with pytest.raises(ParameterError, match="at least one"):
        together()
    with pytest.raises(ParameterError, match="no question"):
        together(a=t)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="one session"):
        together(a=t.agg(n=vm.count()), b=opened().agg(n=vm.count()))


def test_a_name_cannot_stand_for_two_questions() -> None:
    table = vm.open({"x": [1]}, unit=vm.per_row(), budget=vm.pure(1))
    asked = table.agg(n=vm.count())
    plain: Any = together(a=asked, b=asked)
    crafted: Any = together(**{f"a: {plain._numbers['a'].identity}\nb": asked})
    assert plain._identity() != crafted._identity()
    assert plain._identity().splitlines()[0].startswith("a: ")
