"""The checker's rule for discrete Gaussian noise that is counted as real noise: what it accepts, and forgeries."""

from fractions import Fraction
from typing import Any

from tests.cases import for_each
from tests.viameter_check.forging import changed, refused_at

import viameter as vm
from viameter.mechanisms.smoothed import smoothed_gaussian
from viameter_check import check


def document(size: int = 5, mu: str = "1/4") -> Any:
    space = vm.Space(vm.vectors(int, size=size), vm.L2Distance())
    made = smoothed_gaussian(space, distance=Fraction(3), mu_squared=Fraction(mu) ** 2)
    assert made is not None
    return made.certificate(3).to_json()


@for_each("size", [1, 5, 1000])
@for_each("mu", ["1/100", "1/4", "3"])
def test_a_certificate_is_derived_again_and_the_least_bit_less_is_not(size: int, mu: str) -> None:
    good = document(size, mu)
    report = check(good)
    assert report.ok and report.remarks == ()
    bound = ("derivation", "bound", "mu_squared")
    less = str(Fraction(good["derivation"]["bound"]["mu_squared"]) * (1 - Fraction(1, 2**100)))
    assert refused_at(changed(good, (bound, less))) == "derivation.bound.mu_squared"


def test_every_parameter_is_tied_to_what_it_is_about() -> None:
    good = document()
    for value in ("1", "4", "6", "0"):
        forged = changed(good, (("derivation", "parameters", "size"), value))
        assert refused_at(forged) == "derivation.parameters.size"
    scale = Fraction(good["derivation"]["parameters"]["scale"])
    for name, other in (
        ("scale", str(scale * Fraction(99, 100))), ("smoothing", "3"), ("smoothing", "1/100"), ("smoothing", "1/5"),
        ("smoothing", "100000"), ("scale", "1"),
    ):  # fmt: skip
        forged = changed(good, (("derivation", "parameters", name), other))
        assert refused_at(forged) == "derivation.bound.mu_squared", (name, other)
    for name in ("scale", "smoothing"):
        for strange in ("0", "-1", "x"):
            forged = changed(good, (("derivation", "parameters", name), strange))
            assert refused_at(forged) == f"derivation.parameters.{name}"
    assert refused_at(changed(good, (("derivation", "given"), "4"))) == "derivation.bound.mu_squared"
    for domain in ("vectors(float, size=5)", "vectors(int)"):
        forged = changed(good, (("derivation", "input", "domain"), domain))
        assert str(refused_at(forged)).startswith("derivation.")
    for metric in ("L1Distance()", "LInfDistance()"):
        forged = changed(good, (("derivation", "input", "metric"), metric))
        assert refused_at(forged) == "derivation.input.metric"


def test_no_finite_loss_is_accepted_where_the_theorem_says_nothing() -> None:
    good, bound = document(), ("derivation", "bound", "mu_squared")
    many = "100000000000000000"
    domain = ("derivation", "input", "domain")
    for changes in (
        [(("derivation", "parameters", "smoothing"), "1/10")],
        [(("derivation", "parameters", "size"), many), (domain, f"vectors(int, size={many})")],
    ):
        assert refused_at(changed(good, *changes, (bound, str(10**9)))) == "derivation.bound.mu_squared"
