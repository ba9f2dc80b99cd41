"""Quotients and least losses, against enumeration of all paths and against random mechanisms."""

from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.neighborhood.finite.instances import LINE, hop, kinked, paths, random_instance

from viameter.arith import INFINITY, Extended
from viameter.errors import ParameterError
from viameter.measures import approx, bounded_range, gdp, pure, renyi, zcdp
from viameter.neighborhood.finite import PrivacySpace, least_loss, loss_at, quotient, random_private_table

WORD = "abebc".__getitem__
STEPS = PrivacySpace(range(5), relation=lambda a, b: abs(a - b) == 1, name="line")


@pytest.mark.parametrize("line", [LINE, STEPS])
def test_on_the_line_four_becomes_two_and_the_law_at_two_is_unsound(line: PrivacySpace) -> None:
    assert line.distance(0, 4) == 4
    assert quotient(line, WORD).distance("a", "c") == 2
    assert least_loss(line, WORD, pure(".1")).between("a", "c") == pure(".2")
    assert least_loss(line, WORD, lambda d: d / 10).between("a", "c") == pure(".2")
    least = least_loss(line, WORD, kinked)
    assert least.between("a", "c") == pure(2) and kinked(Fraction(2)) == 1
    # A mechanism that shows it: private with the law on the whole, and of loss 2 between a and c.
    exponents = {"a": 0, "b": 1, "e": 1, "c": 2}
    assert all(
        abs(exponents[WORD(i)] - exponents[WORD(j)]) <= kinked(Fraction(abs(i - j))) for i in range(5) for j in range(5)
    )


def test_quotients_and_least_losses_are_the_least_over_all_paths() -> None:
    random = Random(2)
    for _ in range(150):
        space, function = random_instance(random)
        images = sorted(set(function.values()))
        hops = {(a, b): hop(space, function, a, b) for a in images for b in images}
        cuts = sorted(random.randint(0, 9) for _ in range(4))

        def law(d: Extended, cuts: list[int] = cuts) -> Extended:
            """Zero at zero, never falling, neither convex nor concave; what it is at infinity may be finite."""
            return Fraction(0) if d == 0 else Fraction(cuts[min(int(d) if d != INFINITY else 3, 3)], 7)

        divided = quotient(space, function.__getitem__)
        least = least_loss(space, function.__getitem__, law)
        for one in images:
            for other in images:
                found = paths(images, one, other) if one != other else [(one,)]
                lengths = [[hops[pair] for pair in pairwise(path)] for path in found]
                assert divided.distance(one, other) == min(sum(each) for each in lengths)
                assert least.between(one, other) == pure(min(sum(map(law, each), Fraction(0)) for each in lengths))
                # The printed formula is one direct hop: never better.
                assert divided.distance(one, other) <= hops[one, other]


def test_depending_on_the_image_and_private_is_private_on_the_quotient() -> None:
    """Either way, for random mechanisms, private ones and others."""
    random = Random(3)
    verdicts = set()
    for _ in range(120):
        space, function = random_instance(random)
        divided = quotient(space, function.__getitem__)
        images = divided.members

        def stretched(a: Any, b: Any, divided: PrivacySpace = divided) -> Extended:
            return 2 * divided.distance(a, b)

        distance = random.choice((divided.distance, stretched))
        table = random_private_table(images, distance, random=random, outcomes=random.choice((2, 3)))
        pulled = {member: table[function[member]] for member in space.members}
        verdict = divided.is_private(table)
        assert space.is_private(pulled) == verdict
        verdicts.add(verdict)
        if distance is not stretched:
            assert verdict
    assert verdicts == {True, False}


def test_roots_add_along_chains_of_concentrated_losses() -> None:
    path = PrivacySpace(range(4), metric=lambda a, b: abs(a - b))
    # Steps of 1 cost 1, of 2 cost 9, of 3 cost 100: three steps of 1 are best, (1 + 1 + 1)^2.
    law = (0, 1, 9, 100).__getitem__
    assert least_loss(path, lambda a: a, lambda d: zcdp(law(int(d)))).between(0, 3) == zcdp(9)
    assert least_loss(path, lambda a: a, lambda d: gdp(law(int(d)))).between(0, 3) == gdp(3)
    assert least_loss(path, lambda a: a, lambda d: bounded_range(law(int(d)))).between(0, 3) == bounded_range(3)
    # (sqrt 2 + sqrt 3)^2 is irrational: it is met from above, closely.
    uneven = {(0, 1): 1, (1, 2): 2, (0, 2): 3}
    ends = PrivacySpace(range(3), metric=lambda a, b: 0 if a == b else uneven[min(a, b), max(a, b)])
    mixed = least_loss(ends, lambda a: a, lambda d: zcdp((0, 2, 3, 50)[int(d)])).between(0, 2)
    rho = mixed.rho  # type: ignore[attr-defined]
    with mpmath.workdps(100):
        true = (mpmath.sqrt(2) + mpmath.sqrt(3)) ** 2
        assert 0 <= mpmath.mpf(rho.numerator) / rho.denominator - true < mpmath.mpf(2) ** -200


def test_other_measures_take_the_group_law_at_the_quotient_distance_or_one_direct_hop() -> None:
    step = approx("1/2", "1e-3")
    assert least_loss(STEPS, WORD, step).between("a", "b") == step
    two = least_loss(STEPS, WORD, step).between("a", "c")
    assert two == loss_at(step, Fraction(2))
    assert two.epsilon == 1 and two.delta > Fraction(2, 1000)  # type: ignore[attr-defined]
    direct = least_loss(STEPS, WORD, lambda d: approx(d, Fraction(d) / 100))
    # From a to b by 0 and 1; from a to c only by 0 and 4, since c is 4 alone.
    assert direct.between("a", "b") == approx(1, "1/100") and direct.between("a", "c") == approx(4, "1/25")
    curve = least_loss(STEPS, WORD, renyi({2: 1, 4: 3, 8: 7}))
    assert curve.between("a", "c") == loss_at(renyi({2: 1, 4: 3, 8: 7}), Fraction(2))


def test_costs_beyond_floats_are_added_exactly() -> None:
    """Numbers of two thousand bits, beside infinite ones."""
    huge = Fraction(2**2000, 3)
    law = (Fraction(0), huge, 2 * huge + 1, INFINITY, INFINITY).__getitem__
    least = least_loss(LINE, lambda a: a, lambda d: law(int(d)))
    assert least.between(0, 2) == pure(2 * huge) and least.between(0, 4) == pure(4 * huge)
    islands = PrivacySpace(range(3), relation=lambda a, b: {a, b} == {0, 1})
    apart = least_loss(islands, lambda a: a, lambda d: INFINITY if d == INFINITY else d * huge)
    assert apart.between(0, 1) == pure(huge) and apart.between(0, 2) == apart.between(2, 1) == pure("inf")
    clamped = least_loss(islands, lambda a: a, lambda d: min(d, Fraction(7)))
    assert clamped.between(0, 1) == pure(1) and clamped.between(0, 2) == pure(7)
    far = PrivacySpace(range(3), metric=lambda a, b: 0 if a == b else huge if {a, b} == {0, 1} else INFINITY)
    assert quotient(far, lambda a: a).distance(0, 1) == huge and quotient(far, lambda a: a).distance(0, 2) == INFINITY


def test_laws_that_fall_or_cost_something_at_distance_zero_are_refused() -> None:
    with pytest.raises(ParameterError, match="never falls"):
        least_loss(LINE, lambda a: a, lambda d: (0, 2, 1, 1, 1)[int(d)]).between(0, 1)
    with pytest.raises(ParameterError, match="at distance 0"):
        least_loss(LINE, lambda a: a, lambda d: 1)
    with pytest.raises(ParameterError, match="whole numbers of steps"):
        loss_at(approx(1, "1e-3"), Fraction(3, 2))


def test_losses_at_a_distance() -> None:
    far = Fraction(3, 2)
    assert loss_at(pure("1/3"), far) == pure("1/2")
    assert loss_at(zcdp("1/3"), far) == zcdp("3/4")
    assert loss_at(gdp("1/3"), far) == gdp("1/2")
    assert loss_at(bounded_range("1/3"), far) == bounded_range("1/2")
    for loss in (pure(0), pure(1), zcdp(0), approx(0, 0), approx(1, "1/2"), renyi({2: 1})):
        assert loss_at(loss, Fraction(0)) == loss.measure.zero
        assert loss_at(loss, Fraction(1)) == loss
        assert loss_at(loss, INFINITY) == loss.measure.infinite
