"""Plans that a session keeps: the same for the same question, another for any other, and gone with the session."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest

import viameter as vm
from viameter.tables import planned, relation

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
        table.sample("1/2").agg(**count).measurement(spend=SPEND),  # the same text, and another salt
    ]
    assert len({id(one) for one in measurements}) == len(measurements)
    assert sampled.agg(**count).measurement(spend=SPEND) is measurements[-2]


def test_releases_of_a_kept_plan_are_charged_and_drawn_each_time() -> None:
    table = opened()
    cost = asked(table).measurement(spend=SPEND).map(1)
    answers = {tuple(asked(table).release(spend=SPEND, raw=True)["n"].value.tolist()) for _ in range(8)}
    assert table.spent == cost.measure.total([cost] * 8)
    # Noise of scale 3 or more for two counts, eight times: all the same has a chance below 1e-9.
    assert len(answers) > 1


def test_plans_are_kept_up_to_a_number_and_not_if_they_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planned, "MOST_PLANS", 2)
    monkeypatch.setattr(planned, "MOST_GROUPS", 2)
    table = opened()
    made = [table.filter(table["n"] > place).agg(n=vm.count()).measurement(spend=SPEND) for place in range(3)]
    again = [table.filter(table["n"] > place).agg(n=vm.count()).measurement(spend=SPEND) for place in (2, 1, 0)]
    assert [new is old for new, old in zip(again, reversed(made), strict=True)] == [True, True, False]
    large = table.group_by("k", keys=["x", "y", "z"]).agg(n=vm.count())
    assert large.measurement(spend=SPEND) is not large.measurement(spend=SPEND)


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
