"""What is left of a budget: never more than there is, and never less than nothing."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each

import viameter as vm
from viameter.arith import difference_down
from viameter.errors import IncomparableLosses

AMOUNTS = st.fractions(min_value=0, max_value=3, max_denominator=60)
DISTANCE = vm.measure("Distance", adds=True, trust="distances add")


@given(budget=AMOUNTS, spent=AMOUNTS)
def test_a_difference_is_exact_or_nothing(budget: Fraction, spent: Fraction) -> None:
    assert difference_down(budget, spent) == (budget - spent if budget > spent else 0)


def test_of_what_has_no_limit_everything_is_left_and_of_what_was_spent_without_limit_nothing() -> None:
    assert difference_down(Fraction(1), math.inf) == 0
    assert difference_down(math.inf, math.inf) == 0
    assert difference_down(math.inf, Fraction(7)) == math.inf


@for_each(
    ("budget", "spent", "left"),
    [
        (vm.pure(1), vm.pure("1/10"), vm.pure("9/10")),
        (vm.pure(1), vm.pure(2), vm.pure(0)),
        (vm.pure(1), vm.pure(math.inf), vm.pure(0)),
        (vm.approx(1, "1e-6"), vm.approx("1/2", "1e-7"), vm.approx("1/2", "9e-7")),
        (vm.approx(1, "1e-6"), vm.approx(2, 0), vm.approx(0, "1e-6")),
        (vm.zcdp("1/2"), vm.zcdp("1/8"), vm.zcdp("3/8")),
        (vm.approx_zcdp("1/2", "1e-6"), vm.approx_zcdp("1/8", "1e-6"), vm.approx_zcdp("3/8", 0)),
        (vm.gdp(5), vm.gdp(3), vm.gdp(4)),
        (vm.bounded_range(1), vm.bounded_range("1/4"), vm.bounded_range("3/4")),
        (vm.renyi({2: 1, 4: 2}), vm.renyi({2: "1/2", 4: "1/2"}), vm.renyi({2: "1/2", 4: "3/2"})),
        (DISTANCE(3), DISTANCE(1), DISTANCE(2)),
        (DISTANCE(3), DISTANCE(4), DISTANCE(0)),
    ],
)
def test_what_is_left_is_the_budget_less_what_was_spent(budget: vm.Loss, spent: vm.Loss, left: vm.Loss) -> None:
    assert budget.left_after(spent) == left


@given(budget=st.tuples(AMOUNTS, AMOUNTS), spent=st.tuples(AMOUNTS, AMOUNTS), more=st.tuples(AMOUNTS, AMOUNTS))
def test_a_renyi_loss_fits_into_what_is_left_only_if_it_fits_into_the_budget(
    budget: tuple[Fraction, Fraction], spent: tuple[Fraction, Fraction], more: tuple[Fraction, Fraction]
) -> None:
    """What is left at a high order says nothing of the lower ones: it may be less there than at the lower."""
    whole, used, asked = (vm.renyi({2: low, 8: high}) for low, high in (budget, spent, more))
    left = whole.left_after(used)
    if used <= whole and asked <= left:
        assert used + asked <= whole
    for order, bound in left.points:  # type: ignore[attr-defined]
        assert bound == max(0, Fraction(whole.at(order)) - Fraction(used.at(order)))


def test_nothing_is_left_at_orders_that_the_spent_loss_does_not_bound() -> None:
    left: Any = vm.renyi({2: 1, 8: 2}).left_after(vm.renyi({2: "1/2"}))
    assert dict(left.points) == {2: Fraction(1, 2), 8: 0}


@for_each(
    ("budget", "spent"),
    [
        (vm.pure(1), vm.zcdp(1)),
        (vm.approx(1, 0), vm.approx_zcdp(1, 0)),
        (vm.renyi({2: 1}), vm.pure(1)),
        (DISTANCE(1), vm.pure(1)),
        (DISTANCE(1), vm.measure("Other", adds=True, trust="another")(1)),
    ],
)
def test_losses_of_different_measures_are_not_subtracted(budget: vm.Loss, spent: vm.Loss) -> None:
    with pytest.raises(IncomparableLosses):
        budget.left_after(spent)


def test_profiles_do_not_say_what_is_left() -> None:
    with pytest.raises(IncomparableLosses, match="does not say what is left"):
        vm.profile({1: "1e-6"}).left_after(vm.profile({1: "1e-7"}))
