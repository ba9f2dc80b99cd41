"""What Loss and Measure promise to every measure, shown on the smallest possible one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

import viameter as vm
from viameter.core import Loss, Measure
from viameter.errors import IncomparableLosses


@dataclass(frozen=True)
class Secrets(Loss):
    """So many secrets told."""

    told: frozenset[str]

    @property
    def measure(self) -> Telling:
        return Telling()

    @property
    def is_finite(self) -> bool:
        return True

    def _implies(self, other: Secrets) -> bool:
        return self.told <= other.told

    def _plus(self, other: Secrets) -> Secrets:
        return Secrets(self.told | other.told)

    def to_json(self) -> dict[str, Any]:
        return {"measure": "telling", "told": sorted(self.told)}


@dataclass(frozen=True)
class Telling(Measure):
    """A measure made anew at every question, so that it is equal to itself without being the same object."""

    slug = "telling"

    @property
    def zero(self) -> Secrets:
        return Secrets(frozenset())

    @property
    def infinite(self) -> Secrets:
        raise NotImplementedError

    def from_json(self, record: Mapping[str, Any]) -> Secrets:
        return Secrets(frozenset(record["told"]))


A, B, AB = Secrets(frozenset("a")), Secrets(frozenset("b")), Secrets(frozenset("ab"))


def test_the_order_may_be_partial() -> None:
    assert not A <= B and not B <= A and not A < B and not A >= B
    assert A <= AB and A < AB and AB > A and AB >= B and not AB < A
    again = Secrets(frozenset("a"))
    assert again >= A and again <= A and not again > A and not again < A


def test_a_total_adds_one_by_one_where_a_measure_has_no_faster_way() -> None:
    assert Telling().total(iter([A, B, A])) == AB
    assert Telling().total([]) == Telling().zero
    assert sum([A, B]) == AB


def test_losses_of_other_measures_are_refused_on_either_side() -> None:
    for compare in (lambda: vm.pure(1) >= A, lambda: vm.pure(1) <= A, lambda: A + vm.pure(1), lambda: vm.pure(1) + A):
        with pytest.raises(IncomparableLosses, match="PureDP"):
            compare()
    with pytest.raises(IncomparableLosses):
        Telling().total([A, vm.pure(1)])


def test_a_measurement_takes_any_measure() -> None:
    rows = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    tells = vm.measurement(rows, function=len, measure=Telling(), privacy=lambda _: A, trust="it tells a")
    assert tells.map(1) == A and tells.check(1, AB) and not tells.check(1, B)
