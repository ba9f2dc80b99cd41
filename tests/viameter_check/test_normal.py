"""The delta of two Gaussians is enclosed from above, closely; MPFR's erfc is the oracle."""

from fractions import Fraction

import gmpy2  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import for_each

from viameter_check import normal
from viameter_check.report import Refused

PRECISION = 5000


def delta(mu_squared: Fraction, epsilon: Fraction) -> Fraction:
    with gmpy2.context(precision=PRECISION):
        mu = gmpy2.sqrt(gmpy2.mpfr(gmpy2.mpq(mu_squared.numerator, mu_squared.denominator)))
        e, two = gmpy2.mpfr(gmpy2.mpq(epsilon.numerator, epsilon.denominator)), gmpy2.sqrt(gmpy2.mpfr(2))
        near, far = (e / mu - mu / 2) / two, (e / mu + mu / 2) / two
        found = (gmpy2.erfc(near) - gmpy2.exp(e) * gmpy2.erfc(far)) / 2
    return Fraction(*map(int, found.as_integer_ratio()))


@settings(max_examples=40)
@given(
    mu_squared=st.fractions(min_value=Fraction(1, 20), max_value=50),
    epsilon=st.fractions(min_value=0, max_value=8),
)
def test_the_bound_is_above_the_truth_and_close(mu_squared: Fraction, epsilon: Fraction) -> None:
    truth = delta(mu_squared, epsilon)
    try:
        found = normal.gaussian_delta_up(mu_squared, epsilon)
    except Refused:
        assert epsilon**2 / mu_squared + mu_squared > 500
        return
    assert truth * (1 - Fraction(1, 2**1000)) <= found <= truth * (1 + Fraction(1, 2**150))


@for_each("mu_squared", [Fraction(1, 10**8), Fraction(1, 3 * 10**12)])
def test_far_out_there_is_next_to_nothing(mu_squared: Fraction) -> None:
    found = normal.gaussian_delta_up(mu_squared, Fraction(1, 50))
    assert 0 < found < Fraction(1, 2**16384)


def test_what_would_take_too_long_is_refused() -> None:
    with pytest.raises(Refused, match="beyond what this checker computes"):
        normal.gaussian_delta_up(Fraction(1, 10**8), Fraction(1, 100))
    with pytest.raises(Refused, match="beyond what this checker computes"):
        normal.gaussian_delta_up(Fraction(10**6), Fraction(1, 100))


@for_each("bits", [64, 400, 3000])
def test_pi_is_enclosed(bits: int) -> None:
    low, high = normal._pi(bits)
    with gmpy2.context(precision=4000):
        truth = Fraction(*map(int, gmpy2.const_pi().as_integer_ratio()))
    assert low < truth < high and high - low < Fraction(1, 2**bits)


@given(x=st.fractions(min_value=0, max_value=8), bits=st.sampled_from([64, 400]))
def test_the_half_is_enclosed(x: Fraction, bits: int) -> None:
    low, high = normal._half(x, bits)
    with gmpy2.context(precision=2000):
        real = gmpy2.mpfr(gmpy2.mpq(x.numerator, x.denominator))
        truth = Fraction(*map(int, (gmpy2.erf(real / gmpy2.sqrt(gmpy2.mpfr(2))) / 2).as_integer_ratio()))
    slack = Fraction(1, 2**1900)
    assert low <= truth + slack and truth - slack <= high
    assert high - low <= Fraction(1, 2 ** (bits - 8))


def test_the_ends_that_make_delta_the_largest_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(normal, "_tail", lambda x, bits: (Fraction(1, 4), Fraction(1, 2)))
    assert normal.gaussian_delta_up(Fraction(4), Fraction(0)) == Fraction(1, 4)
