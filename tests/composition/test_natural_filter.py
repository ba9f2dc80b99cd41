"""The natural filter on exact composition is not one: its counterexample in exact numbers, and that it is refused."""

import math

import pytest

import viameter as vm
from viameter.errors import NoTheorem

SPACE = vm.Space(vm.vectors(int), vm.SymmetricDistance())


def hockey_stick(left: list[float], right: list[float], epsilon: float) -> float:
    return sum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(left, right, strict=True))


def response(epsilon: float) -> tuple[list[float], list[float]]:
    """The distributions of randomized response on neighboring data."""
    truth = 1 / (1 + math.exp(-epsilon))
    return [truth, 1 - truth], [1 - truth, truth]


def test_to_stop_where_exact_composition_reaches_a_budget_exceeds_the_budget() -> None:
    """After +, RR(b) with tanh(b/2) = d/P(+); after -, an answer that tells all with chance d.

    The exact composition of what is on a path never exceeds (1, d), and the whole is (1, 1.269 d).
    """
    d, first = 1e-3, response(1.0)
    b = 2 * math.atanh(d / first[0][0])
    second = response(b)
    plus = [[first[side][0] * p for p in second[side]] for side in (0, 1)]
    # (0, d): with chance d it shows which data it was run on.
    minus = [[first[0][1] * (1 - d), first[0][1] * d, 0.0], [first[1][1] * (1 - d), 0.0, first[1][1] * d]]
    whole = hockey_stick(plus[0] + minus[0], plus[1] + minus[1], 1.0)

    # Composed as if fixed in advance, each path is within the budget.
    both = [[first[side][i] * second[side][j] for i in (0, 1) for j in (0, 1)] for side in (0, 1)]
    assert hockey_stick(both[0], both[1], 1.0) == pytest.approx(d, rel=1e-9)
    told = [first[0] + [0.0], first[1] + [0.0]]
    leak = [[x * (1 - d) for x in told[side]] for side in (0, 1)]
    leak[0][2], leak[1] = d, [*leak[1][:2], 0.0]
    assert hockey_stick(leak[0], leak[1], 1.0) <= d * (1 + 1e-9)

    assert whole == pytest.approx(1.269 * d, rel=1e-3)


def test_the_library_has_no_filter_on_exact_composition() -> None:
    odometer = vm.Odometer(SPACE, vm.ApproxDP)
    with pytest.raises(NoTheorem, match="fail when an answer chooses the next parameters or when to stop"):
        odometer.filter(d_in=1, budget=vm.approx(1, "1e-3"), rule="optimal")
    with pytest.raises(NoTheorem, match="fail when an answer chooses the next parameters or when to stop"):
        vm.Odometer(SPACE, vm.Profile)
    with pytest.raises(NoTheorem, match="ranges do not add"):
        vm.Odometer(SPACE, vm.BoundedRange)
