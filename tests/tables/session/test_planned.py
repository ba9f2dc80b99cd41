"""Plans that a session keeps: the same for the same question, another for any other, and gone with the session."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables import relation
from viameter.tables import session as sessions
from viameter.tables.question import Question, read_groups

ROWS = {"who": ["a", "a", "b", "c"], "k": ["x", "y", "x", None], "n": [1, 2, 3, 4], "flag": [True, False, True, None]}
SPEND = vm.zcdp("1/10")


def opened() -> Any:
    return vm.open(ROWS, unit=vm.per("who", rows=9), budget=vm.zcdp(10**9))


def asked(table: Any) -> Any:
    return table.filter(table["n"] > 1).group_by("k", keys=["x", "y"]).agg(n=vm.count(), m=vm.mean("n", bounds=(0, 9)))


def test_a_question_made_again_has_the_same_measurement() -> None:
    table = opened()
    first = asked(table).measurement(spend=SPEND)
    assert asked(table).measurement(spend=SPEND) is first
    assert asked(table).measurement(spend=SPEND, weights={"n": 1}) is first
    assert asked(opened()).measurement(spend=SPEND) is not first


def test_questions_that_differ_in_anything_have_measurements_of_their_own() -> None:
    table = opened()
    n, k, count = table["n"], ["x", "y"], {"c": vm.count()}
    sampled = table.sample("1/2")
    measurements = [
        asked(table).measurement(spend=SPEND),
        asked(table).measurement(spend=vm.zcdp("1/11")),
        asked(table).measurement(spend=SPEND, weights={"n": 2}),
        table.filter(n > 1).group_by("k", keys=k).agg(**count).measurement(spend=SPEND),
        table.filter(n > 2).group_by("k", keys=k).agg(**count).measurement(spend=SPEND),
        table.filter(n > 2.0).group_by("k", keys=k).agg(**count).measurement(spend=SPEND),
        table.filter(n > 2).group_by("k", keys=k).agg(d=vm.count()).measurement(spend=SPEND),
        table.filter(n > 2).group_by("k", keys=["y", "x"]).agg(**count).measurement(spend=SPEND),
        table.filter(n > 2).group_by("k", keys=k, other=True).agg(**count).measurement(spend=SPEND),
        table.filter(n > 2).limit(rows=2).group_by("k", keys=k).agg(**count).measurement(spend=SPEND),
        table.group_by("n", keys=[1]).agg(**count).measurement(spend=SPEND),
        table.group_by("flag", keys=[True]).agg(**count).measurement(spend=SPEND),
        table.derive(n=n * 1).group_by("n", keys=[1]).agg(**count).measurement(spend=SPEND),
        table.agg(s=vm.sum("n", bounds=(0, 9))).measurement(spend=SPEND),
        table.agg(s=vm.sum("n", bounds=(0, 8))).measurement(spend=SPEND),
        sampled.agg(**count).measurement(spend=SPEND),
        sampled.sample("1/2").agg(**count).measurement(spend=SPEND),
        table.filter(n > 2).agg(**count).measurement(spend=SPEND),
        table.filter("n > 2").agg(**count).measurement(spend=SPEND),  # text is another way to write it
        table.filter(n > 2).filter(n > 2).agg(**count).measurement(spend=SPEND),
    ]
    assert len({id(one) for one in measurements}) == len(measurements)
    assert table.sample("1/2").agg(**count).measurement(spend=SPEND) is measurements[-5]
    assert opened().sample("1/2").agg(**count).measurement(spend=SPEND) is not measurements[-5]


def test_one_and_one_that_is_real_or_true_are_three_questions() -> None:
    table = vm.open({"who": ["a", "b"], "n": [0, 1], "f": [False, True]}, unit=vm.per("who", rows=1), budget=vm.zcdp(1))
    plans = table.session.plan
    n, f = table["n"], table["f"]
    asked = [
        *(table.filter(n > one).agg(n=vm.count()) for one in (1, 1.0)),
        *(table.derive(y=vm.case((f, one), default=one)).agg(n=vm.count()) for one in (1, 1.0, True)),
        *(table.group_by("n", edges=[0, one]).agg(c=vm.count()) for one in (1, 1.0)),
        *(table.group_by(name, keys=[one]).agg(c=vm.count()) for name, one in (("n", 1), ("f", True))),
        *(table.group_by(name, keys={name: [one]}).agg(c=vm.count()) for name, one in (("n", 1), ("f", True))),
    ]
    questions = [one.question for one in asked]
    assert len(set(questions)) == len(questions) and len({id(plans(one)) for one in questions}) == len(questions)
    for one, other in (([1], [True]), ([1], [1.0]), ({"n": [1]}, {"n": [True]})):
        assert Question(groups=read_groups(["n"], keys=one)) != Question(groups=read_groups(["n"], keys=other))
    with pytest.raises(ParameterError, match="is no value of a column that is INTEGER"):
        table.group_by("n", keys=[True])


def test_releases_of_a_kept_plan_are_charged_and_drawn_each_time() -> None:
    table = opened()
    cost = asked(table).measurement(spend=SPEND).map(1)
    answers = {tuple(asked(table).release(spend=SPEND, raw=True)["n"].value.tolist()) for _ in range(8)}
    assert table.spent == cost.measure.total([cost] * 8)
    # Noise of scale 3 or more for two counts, eight times: all the same has a chance below 1e-9.
    assert len(answers) > 1


def test_a_plan_is_one_object_for_all_who_ask_the_same() -> None:
    table = opened()
    plan = asked(table).plan
    assert asked(table).plan is plan
    assert table.query(asked(table).to_json()).plan is plan
    assert asked(opened()).plan is not plan


def test_plans_are_kept_up_to_a_number_and_large_ones_up_to_a_smaller_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_PLANS", 2)
    monkeypatch.setattr(sessions, "MOST_LARGE", 1)
    monkeypatch.setattr(sessions, "LARGE", 12)
    table = opened()
    made = [table.filter(table["n"] > place).agg(n=vm.count()).measurement(spend=SPEND) for place in range(3)]
    again = [table.filter(table["n"] > place).agg(n=vm.count()).measurement(spend=SPEND) for place in (2, 1, 0)]
    assert [new is old for new, old in zip(again, reversed(made), strict=True)] == [True, True, False]
    kept = table.filter(table["n"] > 1).agg(n=vm.count()).plan
    large, larger = (table.group_by("k", keys=keys).agg(n=vm.count()) for keys in (["x", "y", "z"], list("uvwxyz")))
    plan = large.plan
    assert large.plan is plan
    assert larger.plan is larger.plan
    # One of them was kept: it made room for another large one, and neither took the place of a small one.
    assert large.plan is not plan
    assert table.filter(table["n"] > 1).agg(n=vm.count()).plan is kept
    assert (len(table.session._plans), len(table.session._large)) == (2, 1)


def test_rows_after_steps_are_kept_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_RELATIONS", 3)
    table = opened()
    filtered = [table.filter(table["n"] > place) for place in range(9)]
    assert len(table.session._relations) == 3
    assert filtered[-1].relation is filtered[-1].relation
    # What is not kept any more is made again, of the same steps.
    texts = [[step.made_by for step in one.relation.steps] for one in filtered]
    assert texts == [[f"filter(n > {place})"] for place in range(9)]


def test_losses_of_a_kept_plan_are_kept_up_to_a_number(monkeypatch: pytest.MonkeyPatch) -> None:
    from viameter.tables.plans import numbers

    monkeypatch.setattr(numbers, "MOST_PLANS", 2)
    question = asked(opened())
    for place in range(1, 9):
        question.measurement(spend=vm.zcdp(place))
        assert len(question.plan._noise) <= 2
    assert question.measurement(spend=SPEND) is question.measurement(spend=SPEND)


def test_filters_are_made_once_for_each_source(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    original = vars(relation)["to_ibis"]

    def counted(expression: Any, table: Any) -> Any:
        made.append(expression)
        return original(expression, table)

    monkeypatch.setattr(relation, "to_ibis", counted)
    table = opened()
    rows = table.filter(table["n"] > 1).filter(table["n"] < 4)
    measurement = rows.agg(n=vm.count()).measurement(spend=vm.zcdp(10**8))
    made.clear()
    assert [measurement.release(table.session.source)[0].tolist() for _ in range(3)] == [[2]] * 3
    assert len(made) == 2
    # Other rows, which the same measurement may be given, are not taken for these.
    fewer = vm.open({**ROWS, "n": [2, 9, 9, 9]}, unit=vm.per("who", rows=9), budget=vm.zcdp(1)).session.source
    for _ in range(2):
        assert measurement.release(fewer)[0].tolist() == [1]
        assert measurement.release(table.session.source)[0].tolist() == [2]
    assert repr(measurement) == repr(rows.agg(n=vm.count()).measurement(spend=vm.zcdp(10**8)))


def test_a_session_is_let_go_at_once_with_its_plans() -> None:
    table = opened()
    asked(table).release(spend=SPEND)
    gone = [weakref.ref(table.session), weakref.ref(table.session.source.on.backend)]
    gc.disable()
    try:
        del table
        assert [ref() for ref in gone] == [None, None]
    finally:
        gc.enable()


def test_a_plan_and_a_question_keep_no_session_alive() -> None:
    table = opened()
    query = asked(table)
    plan, question, measurement = query.plan, query.question, query.measurement(spend=SPEND)
    gone = weakref.ref(table.session)
    gc.disable()
    try:
        del table, query
        assert gone() is None
        # They say what was asked, and nothing of rows.
        assert plan.name == measurement.made_by and str(question).startswith("table.filter(n > 1)")
    finally:
        gc.enable()
