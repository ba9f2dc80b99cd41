"""Losses composed as such: the measure that is chosen, the theorems that are shown, and what is refused."""

from fractions import Fraction

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.composition.losses import given_loss
from viameter.errors import NoTheorem, ParameterError


def slugs(composed: object) -> list[str]:
    return [node.theorem.slug for node in composed.derivation.nodes()]  # type: ignore[attr-defined]


def test_losses_of_one_measure_are_composed_in_it() -> None:
    composed = vm.compose_losses([vm.pure("1/10")] * 10)
    assert composed.loss == vm.pure(1)
    assert slugs(composed) == ["pure-composition", "given-loss"]
    assert "10 times claimed" in str(composed.explain())


@for_each(
    ("losses", "expected"),
    [
        ([vm.pure(1), vm.bounded_range("1/2")], vm.pure("3/2")),
        ([vm.zcdp("1/8"), vm.bounded_range("1/2")], vm.zcdp("5/32")),
        ([vm.zcdp("1/8"), vm.gdp(1)], vm.zcdp("5/8")),
        ([vm.zcdp("1/8"), vm.approx_zcdp("1/8", "1e-6")], vm.approx_zcdp("1/4", "1e-6")),
        ([vm.pure(1), vm.renyi({float("inf"): 2})], vm.pure(3)),
    ],
)
def test_losses_of_several_measures_are_brought_into_one(losses: list[vm.Loss], expected: vm.Loss) -> None:
    assert vm.compose_losses(losses).loss == expected
    assert vm.compose_losses(reversed(losses)).loss == expected


def test_a_measure_that_is_named_is_taken() -> None:
    composed = vm.compose_losses([vm.pure("1/2"), vm.bounded_range(1)], into=vm.ZCDP)
    assert composed.loss.rho >= Fraction(1, 8)  # type: ignore[attr-defined]
    assert slugs(composed) == [
        "zcdp-composition",
        "pure-to-zcdp",
        "given-loss",
        "bounded-range-to-zcdp",
        "given-loss",
    ]


def test_given_loss_ensures_what_was_given() -> None:
    assert given_loss(vm.zcdp(1)) == vm.zcdp(1)
    composed = vm.compose_losses([vm.zcdp(1)])
    assert composed.loss == vm.zcdp(1)


def test_given_loss_requires_trust_which_is_shown() -> None:
    shown = str(vm.compose_losses([vm.zcdp(1)]).explain())
    assert "[given-loss, assumed]" in shown


def test_nothing_composed_is_no_loss_where_the_measure_is_named() -> None:
    assert vm.compose_losses([], into=vm.ZCDP).loss == vm.zcdp(0)
    with pytest.raises(ParameterError, match="give into="):
        vm.compose_losses([])


def test_what_has_no_theorem_is_refused_with_what_would_help() -> None:
    with pytest.raises(NoTheorem, match=r"loss.to\(ApproxDP, delta=...\)"):
        vm.compose_losses([vm.pure(1), vm.profile({1: "1e-3"})])
    with pytest.raises(NoTheorem, match="ranges do not add"):
        vm.compose_losses([vm.bounded_range(1)] * 2, adaptivity=vm.ADAPTIVE)
    assert vm.compose_losses([vm.bounded_range(1)] * 2).loss == vm.bounded_range(2)
    with pytest.raises(NoTheorem, match="Accountant"):
        vm.compose_losses([vm.approx(1, 0)] * 2, rule="optimal")
    with pytest.raises(NoTheorem, match="fail when an answer chooses"):
        vm.compose_losses([vm.approx(1, 0)] * 2, rule="optimal", adaptivity=vm.FULLY_ADAPTIVE)


@pytest.mark.parametrize(
    "arguments", [{"losses": [1]}, {"losses": [vm.pure(1)], "into": "zcdp"}, {"losses": [vm.pure(1)], "rule": "best"}]
)
def test_arguments_that_make_no_sense(arguments: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        vm.compose_losses(**arguments)  # type: ignore[arg-type]
