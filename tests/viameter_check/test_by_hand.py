"""Theorems that stand in no computation of their own, in certificates that were written by hand."""

from fractions import Fraction
from typing import Any

from tests.cases import for_each
from tests.viameter_check.forging import refused_at
from tests.viameter_check.zoo import COUNT

import viameter as vm
from viameter.core.certificate import certify
from viameter.mechanisms.additive import rounding_to_a_grid
from viameter.theorem import Derivation, find_theorem
from viameter_check import check


def rounding(size: int, norm: int, d_in: Fraction, bound: Any) -> dict[str, Any]:
    metric = vm.L1Distance() if norm == 1 else vm.L2Distance()
    before, after = vm.Space(vm.vectors(float, size=size), metric), vm.Space(vm.vectors(int, size=size), metric)
    step = Fraction(1, 4)
    derivation = Derivation(
        "rounding",
        find_theorem("rounding-to-a-grid"),
        "",
        "",
        given_value=d_in,
        bound_value=bound,
        parameters=(("step", step), ("size", size), ("norm", norm)),
        space=before,
        output=after,
    )
    return certify(derivation, space=before, d_in=d_in).to_json()


@for_each("size", [1, 2, 7])
@for_each("norm", [1, 2])
@for_each("d_in", [Fraction(0), Fraction(3, 10), Fraction(5)])
def test_rounding_to_a_grid(size: int, norm: int, d_in: Fraction) -> None:
    bound = rounding_to_a_grid(d_in, step=Fraction(1, 4), size=size, norm=norm)
    report = check(rounding(size, norm, d_in, bound))
    assert report.ok, report
    if d_in:
        assert refused_at(rounding(size, norm, d_in, bound * (1 - Fraction(1, 2**100)))) == "derivation.bound"


def test_a_loss_in_its_own_measure_is_itself() -> None:
    noisy = COUNT >> vm.laplace(scale=3)
    below = noisy.explain(1).derivation
    loss = below.bound_value
    same = Derivation(
        "to(PureDP)",
        find_theorem("same-measure"),
        "",
        "",
        premises=(below,),
        given_value=loss,
        bound_value=loss,
    )
    assert check(certify(same, space=noisy.input_space, d_in=Fraction(1)).text).ok
