"""Tables of laws against closed forms, and powers of e."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each

from viameter.errors import ParameterError
from viameter.logic.exact import Bounds, Exponent, Range, Real, Table, law_of, power_of_e
from viameter.logic.exact import laws as laws_file
from viameter.logic.exact.laws import uniform
from viameter.logic.lang.core import Flip, Gaussian, Law, Sample
from viameter.logic.lang.parsing import read_program

TWO = {"eps": Exponent(Fraction(2), 2)}


def law(text: str) -> Law:
    program = read_program(f"program p\ninput q: list\ninput N: int\nbudget eps\nbegin\nx :=$ {text}\nend\nreturn x\n")
    (only,) = program.body.statements
    assert isinstance(only, Sample)
    return only.law


def masses(table: Table) -> dict[Any, Fraction]:
    assert table.exact
    return {v: Fraction(w, table.denominator) for v, w in zip(table.values, table.low, strict=True)}


def test_laplace_masses_are_those_of_the_closed_form() -> None:
    found = masses(law_of(law("lap(N/eps)"), {"N": 2}, TWO, window=5))
    half = Fraction(1, 2)
    expected: dict[Any, Fraction] = {
        **{k: Fraction(1, 3) * half ** abs(k) for k in range(-5, 6)},
        Range(None, -6): Fraction(1, 96),
        Range(6, None): Fraction(1, 96),
    }
    assert found == expected


def test_laplace_masses_of_a_ratio_that_is_no_unit_fraction() -> None:
    found = masses(law_of(law("lap(2/eps)"), {}, {"eps": Exponent(Fraction(3, 2), 4)}, window=3))
    x = Fraction(4, 9)
    assert found[2] == (1 - x) / (1 + x) * x**2
    assert found[Range(4, None)] == sum(found[0] * x**k for k in range(4, 5)) / (1 - x)
    assert sum(found.values()) == 1


def test_exponential_masses_are_those_of_the_geometric_law() -> None:
    found = masses(law_of(law("expo(1/eps)"), {}, TWO, window=2))
    assert found == {0: Fraction(3, 4), 1: Fraction(3, 16), 2: Fraction(3, 64), Range(3, None): Fraction(1, 64)}


def test_a_window_by_bits_leaves_tails_below_them() -> None:
    for bits in (10, 40, 100):
        for text in ("lap(4/eps)", "lap(10)", "gauss(3)", "expo(7)"):
            table = law_of(law(text), {}, TWO, bits=bits)
            tails = [w for v, w in zip(table.values, table.high, strict=True) if isinstance(v, Range)]
            assert all(Fraction(w, table.denominator) <= Fraction(1, 2**bits) for w in tails)
            assert len(table.values) < 30 * bits


@pytest.mark.parametrize("sigma", ["1/2", "1", "7/2", "20"])
@pytest.mark.parametrize("window", [0, 4, 90])
def test_gaussian_masses_are_enclosed(sigma: str, window: int) -> None:
    table = law_of(law(f"gauss({sigma})"), {}, {}, window=window)
    with mpmath.workdps(80):
        variance = mpmath.mpf(Fraction(sigma).numerator) ** 2 / Fraction(sigma).denominator ** 2
        weights = {k: mpmath.exp(-mpmath.mpf(k * k) / (2 * variance)) for k in range(-800, 801)}
        total = mpmath.fsum(weights.values())
        for value, low, high in zip(table.values, table.low, table.high, strict=True):
            inside = [k for k in weights if (value.holds(k) if isinstance(value, Range) else value == k)]
            mass = mpmath.fsum(weights[k] for k in inside) / total * table.denominator
            assert low <= mass <= high
            assert high - low <= 2**20


@for_each("text", ["lap(3)", "expo(5/2)", "lap(2/ln(3))", "lap(100)"])
def test_irrational_masses_are_enclosed(text: str) -> None:
    table = law_of(law(text), {}, {}, window=12)
    with mpmath.workdps(80):
        one = mpmath.mpf(1)
        x = {
            "lap(3)": mpmath.exp(-one / 3),
            "expo(5/2)": mpmath.exp(-2 * one / 5),
            "lap(2/ln(3))": 1 / mpmath.sqrt(3),
            "lap(100)": mpmath.exp(-one / 100),
        }[text]
        for value, low, high in zip(table.values, table.low, table.high, strict=True):
            one_sided = text.startswith("expo")
            at_zero = (1 - x) if one_sided else (1 - x) / (1 + x)
            far = 13 if isinstance(value, Range) else abs(int(value))
            mass = at_zero * x**far / ((1 - x) if isinstance(value, Range) else 1) * table.denominator
            assert low <= mass <= high and high - low <= 2**20


def test_choose_is_the_exponential_mechanism() -> None:
    found = masses(law_of(law("choose(q, 2/eps)"), {"q": (0, 3, -1)}, TWO))
    assert found == {0: Fraction(2, 19), 1: Fraction(16, 19), 2: Fraction(1, 19)}
    assert masses(law_of(law("choose(q, 2/eps)"), {"q": ()}, TWO)) == {0: Fraction(1)}
    table = law_of(law("choose(q, 2)"), {"q": (0, 3, -1)}, {})
    weights = [mpmath.exp(mpmath.mpf(score) / 2) for score in (0, 3, -1)]
    for weight, low, high in zip(weights, table.low, table.high, strict=True):
        assert low / table.denominator - 1e-12 < weight / sum(weights) < high / table.denominator + 1e-12
        assert 0 < high - low < 2**20


def test_flips_and_uniform_laws_are_exact() -> None:
    assert masses(law_of(Flip(Fraction(3, 4)), {}, {})) == {True: Fraction(3, 4), False: Fraction(1, 4)}
    assert masses(law_of(law("uniform(N, N + 2)"), {"N": -1}, {})) == dict.fromkeys((-1, 0, 1), Fraction(1, 3))
    with pytest.raises(ParameterError, match="no values"):
        uniform(1, 0)


def test_scales_that_are_not_positive_are_refused() -> None:
    for spec in (law("lap(N/eps)"), law("gauss(N)"), law("expo(N/eps)"), law("choose(q, N/eps)")):
        with pytest.raises(ParameterError, match="not positive"):
            law_of(spec, {"N": 0, "q": (1,)}, TWO)
    assert isinstance(law("gauss(N)"), Gaussian)


def test_tables_that_enclose_no_distribution_are_refused() -> None:
    with pytest.raises(ParameterError):
        Table((0, 1), (1, 1), (1, 1), 3)
    with pytest.raises(ParameterError):
        Table((0, 1), (1, 1), (1, 1, 0), 2)


def test_powers_of_e_are_exact_where_they_are_rational() -> None:
    assert power_of_e(Real(logs=((Fraction(2), Fraction(3)), (Fraction(8), Fraction(-1, 3))))) == Bounds.of(Fraction(4))
    assert power_of_e(Real()) == Bounds.of(Fraction(1))
    for exponent in (Real(Fraction(1)), Real(logs=((Fraction(2), Fraction(1, 2)),)), Real(Fraction(-7, 3))):
        bounds = power_of_e(exponent)
        assert not bounds.exact
        low, high = exponent.bounds()
        with mpmath.workdps(90):
            for end, side in ((low, -1), (high, 1)):
                true = mpmath.exp(mpmath.mpf(end.numerator) / end.denominator)
                mine = bounds.low if side < 0 else bounds.high
                assert (mpmath.mpf(mine.numerator) / mine.denominator - true) * side >= 0
    assert power_of_e(Real(logs=((Fraction(2), Fraction(1, 2)),))).low ** 2 < 2


def test_budgets_must_be_positive() -> None:
    with pytest.raises(ParameterError):
        Exponent(Fraction(1))
    with pytest.raises(ParameterError):
        Exponent(Fraction(2), 0)
    with pytest.raises(ParameterError):
        law_of(law("lap(1/eps)"), {}, {"eps": Fraction(0)})
    assert str(Exponent(Fraction(5, 4), 12)) == "12*ln(5/4)"


@for_each("x", ["3/10", "9/20", "3/5"])
def test_whatever_a_ratio_is_within_wide_bounds_its_masses_are_enclosed(x: str) -> None:
    wide, ratio = Bounds(Fraction(3, 10), Fraction(3, 5)), Fraction(x)
    scores = (2, 0, 1, 2)
    cases = [
        (laws_file._laplace(wide, 3, 0), laws_file._laplace(Bounds.of(ratio), 3, 0)),
        (laws_file._geometric(wide, 3, 0), laws_file._geometric(Bounds.of(ratio), 3, 0)),
        (laws_file._choose(wide, scores), laws_file._choose(Bounds.of(ratio), scores)),
    ]
    for loose, exact in cases:
        assert loose.values == exact.values
        for low, mass, high in zip(loose.low, exact.low, loose.high, strict=True):
            assert Fraction(low, loose.denominator) <= Fraction(mass, exact.denominator)
            assert Fraction(mass, exact.denominator) <= Fraction(high, loose.denominator)


def test_a_gaussian_sum_that_ends_early_is_bounded_by_a_geometric_series(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laws_file, "_gaussian_reach", lambda sigma, bits: 2)
    table = laws_file._gaussian.__wrapped__(Fraction(2), 1, 0)
    weights = {k: mpmath.exp(-mpmath.mpf(k * k) / 8) for k in range(-60, 61)}
    total = mpmath.fsum(weights.values())
    for value, low, high in zip(table.values, table.low, table.high, strict=True):
        inside = [k for k in weights if (value.holds(k) if isinstance(value, Range) else value == k)]
        mass = mpmath.fsum(weights[k] for k in inside) / total * table.denominator
        assert low * 1.001 < mass < high * 0.999
