"""The data of a meter: mechanisms cannot change it, and errors do not depend on it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.cases import for_each
from tests.composition.oracles import DATA, PURE, ROWS, measurement, tenth

import viameter as vm
from viameter.composition.queries import (
    LossQuery,
)
from viameter.errors import (
    NotInDomain,
    SealedError,
    ViameterError,
)

# The data


def test_the_data_are_copied() -> None:
    rows = np.array(DATA)
    meter, capped = PURE(rows), PURE.filter(d_in=1, budget=vm.pure(1))(rows)
    rows[:] = 0
    for ask in (meter, capped):
        assert ask(tenth(function=lambda data: data.tolist())) == DATA


def test_the_data_are_read_only_for_mechanisms() -> None:
    meter = PURE(DATA)

    def overwrite(data: Any) -> Any:
        data[0] = 99

    with pytest.raises(SealedError):
        meter(tenth(function=overwrite))
    assert meter(tenth(function=lambda data: data.tolist())) == DATA


TABLE = vm.Space(vm.tables({"age": int, "ward": str}), vm.SymmetricDistance())


@for_each("make", ["odometer", "filter", "plan", "batch"])
def test_a_mechanism_that_changes_a_table_changes_its_own_only(make: str) -> None:
    """Or what one mechanism left behind would be the data of the next, whose loss is stated for the real ones."""
    ages = np.array([33, 48])
    data = {"age": ages, "ward": ["A", "B"]}

    def drop(rows: Any) -> Any:
        rows["age"] = rows["age"] * 0
        del rows["ward"]

    dropping = tenth(function=drop, space=TABLE)
    looking = tenth(function=lambda rows: (sorted(rows), rows["age"].tolist()), space=TABLE)
    if make == "batch":
        assert vm.compose(TABLE, [dropping, looking])(data)[1] == (["age", "ward"], [33, 48])
        return
    odometer = vm.Odometer(TABLE, vm.PureDP)
    meters: dict[str, Any] = {
        "odometer": odometer,
        "filter": odometer.filter(d_in=1, budget=vm.pure(1)),
        "plan": vm.adaptive(TABLE, d_in=1, losses=[vm.pure("1/10")] * 2),
    }
    meter = meters[make](data)
    ages[:] = 0
    meter(dropping)
    assert meter(looking) == (["age", "ward"], [33, 48])


def test_data_outside_of_the_domain_are_refused() -> None:
    with pytest.raises(NotInDomain):
        PURE(["a", "b"])
    with pytest.raises(NotInDomain):
        PURE.filter(d_in=1, budget=vm.pure(1))(["a", "b"])


# Errors that do not depend on the data


def domain_members() -> list[list[int]]:
    return [list(rows) for n in range(3) for rows in itertools.product((0, 1), repeat=n)]


SMALL = vm.Space(vm.vectors(int, bounds=(0, 1)), vm.SymmetricDistance())


def outcome(ask: Callable[[], Any]) -> str:
    try:
        ask()
    except ViameterError as problem:
        return f"{type(problem).__name__}: {problem}"
    return "an answer"


@for_each(
    "query",
    [
        lambda: vm.count(SMALL) >> vm.laplace(scale=10),
        lambda: vm.count() >> vm.laplace(scale=10),
        lambda: vm.sum(SMALL) >> vm.laplace(scale=1),
        lambda: measurement(space=ROWS),
        lambda: measurement(vm.zcdp(1), space=SMALL),
        lambda: measurement(privacy=lambda _: None, space=SMALL),
        lambda: measurement(vm.pure(5), space=SMALL),
        lambda: "hello",
        lambda: LossQuery(0.5),
        lambda: LossQuery(2),
    ],
)
def test_a_query_raises_the_same_error_on_all_data_or_none(query: Callable[[], Any]) -> None:
    odometer = vm.Odometer(SMALL, vm.PureDP)
    for make in (odometer, odometer.filter(d_in=1, budget=vm.pure(1))):
        outcomes = set()
        for data in domain_members():
            meter = make(data)
            asked = query()
            told = [outcome(lambda: meter(asked)), repr(meter.loss(1)), outcome(lambda: meter(asked))]  # noqa: B023
            outcomes.add(tuple(told))
        assert len(outcomes) == 1
