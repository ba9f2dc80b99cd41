"""Confidence bounds against exact coverage, and evidence that is no refutation."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from tests.logic.refute import corpus
from tests.logic.refute.corpus import claim_of, number_differs

from viameter.errors import ParameterError
from viameter.logic.exact import Exponent
from viameter.logic.lang.parsing import read_program
from viameter.logic.refute import Evidence, evidence
from viameter.logic.refute.binomial import lower_bound, tail_up, upper_bound
from viameter.sampling import Tape


def tail(count: int, of: int, p: Fraction) -> Fraction:
    return sum((comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(count, of + 1)), Fraction(0))


@pytest.mark.parametrize("of", [1, 7, 40])
def test_tails_are_above_the_exact_ones_and_near_them(of: int) -> None:
    for count in range(of + 1):
        for p in (Fraction(1, 100), Fraction(1, 3), Fraction(7, 8), Fraction(0), Fraction(1)):
            exact, found = tail(count, of, p), tail_up(count, of=of, probability=p)
            assert exact <= found
            assert count <= of * p or found - exact < Fraction(1, 2**90)


@pytest.mark.parametrize("error", [Fraction(1, 20), Fraction(1, 1000)])
def test_bounds_fail_at_most_as_often_as_they_may(error: Fraction) -> None:
    of = 15
    lows = [lower_bound(count, of=of, error=error) for count in range(of + 1)]
    highs = [upper_bound(count, of=of, error=error) for count in range(of + 1)]
    assert lows == sorted(lows) and highs == sorted(highs)
    for p in [Fraction(k, 40) for k in range(41)] + lows + highs:
        chances = [comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(of + 1)]
        assert sum(c for c, low in zip(chances, lows, strict=True) if low > p) <= error
        assert sum(c for c, high in zip(chances, highs, strict=True) if high < p) <= error


def test_bounds_are_those_of_clopper_and_pearson() -> None:
    # The probability at which so many or more are exactly as unlikely as the error, to the last place.
    error = Fraction(1, 100)
    for count, of in ((3, 10), (50, 100), (1, 200), (149, 150), (20, 20)):
        low = lower_bound(count, of=of, error=error)
        assert tail(count, of, low) <= error < tail(count, of, low + Fraction(1, 2**40))
    assert lower_bound(0, of=9, error=Fraction(1, 100)) == 0 and upper_bound(9, of=9, error=Fraction(1, 100)) == 1
    with pytest.raises(ParameterError):
        lower_bound(3, of=2, error=Fraction(1, 100))
    with pytest.raises(ParameterError):
        lower_bound(1, of=2, error=Fraction(1, 2))


def test_there_is_evidence_against_half_the_noise() -> None:
    program = corpus.laplace("1/2/eps")
    found = evidence(program, (number_differs(program),), claim_of(program), samples=6000, entropy=Tape.seeded(5))
    assert isinstance(found, Evidence) and found.exceeds
    assert found.loss > 0 and found.draws == 1500
    assert Fraction(998, 1000) < found.confidence < Fraction(999, 1000)
    # Two bounds, each wrong at most half as often as both together may be.
    half = Fraction(1, 2000)
    assert found.p1_low == lower_bound(found.counts[0], of=found.draws, error=half)
    assert found.p2_high == upper_bound(found.counts[1], of=found.draws, error=half)
    assert found.text().startswith("EVIDENCE, no refutation") and "REFUTED" not in found.text()
    assert found.to_json()["exceeds"] is True


def test_there_is_none_against_the_right_noise() -> None:
    program = corpus.laplace()
    for seed in range(4):
        found = evidence(
            program, (number_differs(program),), claim_of(program), samples=2000, entropy=Tape.seeded(seed)
        )
        assert found is not None and not found.exceeds


def test_frequencies_are_those_of_the_law() -> None:
    program = corpus.laplace("2/eps")
    found = evidence(
        program, (number_differs(program),), claim_of(program, "0"), samples=8000, entropy=Tape.seeded(1),
        inputs=({"q": 0}, {"q": 1}), budgets={"eps": Exponent(Fraction(3), 2)},
    )  # fmt: skip
    assert found is not None and found.exceeds
    # On its own side of the middle an output's mass is three times that on the other side, and the event is such a one.
    own = abs(int(str(found.event)) - int(str(found.first["q"])))
    for count, steps in zip(found.counts, (own, own + 1), strict=True):
        mass = Fraction(1, 2) / 3**steps
        assert abs(count - found.draws * mass) < 5 * (found.draws * mass) ** 0.5


def test_inputs_that_are_given_must_be_neighbors() -> None:
    program = corpus.laplace()
    with pytest.raises(ParameterError, match="neighbors"):
        evidence(program, (number_differs(program),), claim_of(program), inputs=({"q": 0}, {"q": 2}))
    with pytest.raises(ParameterError, match="samples"):
        evidence(program, (number_differs(program),), claim_of(program), samples=10)
    with pytest.raises(ParameterError):
        evidence(program, (number_differs(program),), claim_of(program), confidence=1)


def test_programs_with_lists_and_every_law_are_sampled() -> None:
    text = (
        "program p\ninput q: int\nbudget eps\nbegin\na :=$ expo(1/eps)\nb :=$ flip(1/2)\nc :=$ uniform(0, 3)\n"
        "append(out, ite(b, 1, 0))\nappend(out, q)\nend\nreturn out\n"
    )
    program = read_program(text)
    found = evidence(program, (number_differs(program),), claim_of(program), samples=4000, entropy=Tape.seeded(3))
    assert found is not None and found.exceeds and found.counts[1] == 0
