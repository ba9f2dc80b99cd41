"""Guarantees in another measure: pattern by pattern where patterns are listed, and never below any of them."""

import random
from fractions import Fraction
from itertools import combinations
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import ParameterError, ViameterError
from viameter.neighborhood.changes import Change
from viameter.neighborhood.granularities import Granularity
from viameter.neighborhood.listing import list_patterns

DELTA = "1e-6"


def curves(rng: random.Random, count: int) -> list[vm.Loss]:
    """Renyi losses whose bounds at a low and at a high order are in different proportions."""
    return [vm.renyi({2: Fraction(rng.randint(1, 9), 10), 32: rng.randint(1, 20)}) for _ in range(count)]


def epsilon(losses: list[Any]) -> Fraction:
    """The epsilon of losses that one pattern touches."""
    return Fraction(vm.RenyiDP.total(losses).to(vm.ApproxDP, delta=DELTA).epsilon)


@for_each("seed", range(20))
def test_a_record_that_comes_costs_the_worst_curve_and_not_the_worst_of_each_order(seed: int) -> None:
    rng = random.Random(seed)
    losses = curves(rng, 3)
    composed = nb.compose(nb.unbounded(), [nb.leaf(p, c) for p, c in zip(nb.partition(3), losses, strict=True)])
    found: Any = nb.converted(composed, vm.ApproxDP, delta=DELTA)
    assert found.loss.epsilon == max(epsilon([loss]) for loss in losses)
    assert found.loss <= composed.loss.to(vm.ApproxDP, delta=DELTA)
    assert found.granularity == nb.unbounded()


@for_each("seed", range(20))
def test_a_replaced_record_costs_the_worst_pair_of_curves(seed: int) -> None:
    rng = random.Random(seed)
    losses = curves(rng, 3)
    leaves = [nb.leaf(p, c, mode="common") for p, c in zip(nb.partition(3, values=1), losses, strict=True)]
    found: Any = nb.converted(nb.compose(nb.bounded(), leaves), vm.ApproxDP, delta=DELTA)
    assert found.loss.epsilon == max(epsilon(list(pair)) for pair in combinations(losses, 2))


def test_leaves_of_two_cuts_are_touched_together() -> None:
    losses = curves(random.Random(1), 4)
    cuts = (nb.partition(2), nb.partition(2))
    parts = [part for cut in cuts for part in cut]
    composed = nb.compose(nb.unbounded(), [nb.leaf(p, c) for p, c in zip(parts, losses, strict=True)])
    found: Any = nb.converted(composed, vm.ApproxDP, delta=DELTA)
    assert found.loss.epsilon == max(epsilon([one, other]) for one in losses[:2] for other in losses[2:])


def test_where_patterns_are_not_listed_the_bound_on_all_is_converted() -> None:
    losses = curves(random.Random(2), 4)
    leaves = [nb.leaf(p, c) for p, c in zip(nb.subsets(4, at_most=2), losses, strict=True)]
    composed = nb.compose(nb.unbounded(), leaves)
    assert nb.converted(composed, vm.ApproxDP, delta=DELTA).loss == composed.loss.to(vm.ApproxDP, delta=DELTA)


def test_losses_of_one_number_are_converted_as_they_are() -> None:
    composed = nb.compose(nb.unbounded(), nb.leaves(nb.partition(3), vm.zcdp("0.1")))
    assert nb.converted(composed, vm.ApproxDP, delta=DELTA).loss == vm.zcdp("0.1").to(vm.ApproxDP, delta=DELTA)


def test_groups_that_go_step_by_step_are_converted_after_their_law() -> None:
    leaves = nb.leaves(nb.tree({"top": None, "left": "top", "right": "top"}), vm.renyi({2: "0.1", 64: "0.5"}))
    composed = nb.compose(nb.group(nb.event(), 2), leaves)
    assert composed.steps == 2
    assert nb.converted(composed, vm.ApproxDP, delta=DELTA).loss == composed.loss.to(vm.ApproxDP, delta=DELTA)


class OneHot:
    """Costs that tell which parts a pattern touches, and how: a power of a large number for each."""

    def __init__(self, changes: list[Change], size: int) -> None:
        self.changes, self.size = changes, size

    def of(self, part: int, change: Change) -> Any:
        self.changes.append(change)
        return Fraction(part + 1)

    def column(self, change: Change) -> list[Any]:
        self.changes.append(change)
        return [Fraction(part + 1) for part in range(self.size)]


@for_each(
    ("target", "cut"),
    [
        (nb.unbounded(), nb.partition(3)),
        (nb.bounded(), nb.partition(3)),
        (nb.bounded(), nb.partition(3, values=1)),
        (nb.add_remove_or_replace(), nb.partition(3)),
        (nb.unbounded(), nb.memberships({"a": [0, 1], "b": [1, 2], "c": []})),
        (nb.bounded(), nb.memberships({"a": [0, 1], "b": [1, 2], "c": []})),
        (nb.event(), nb.intervals([(0, 3), (2, 5), (4, 4)])),
        (nb.attribute(), nb.partition(3, by="column")),
        (nb.bounded_ordered(), nb.partition(3, by="id")),
        (nb.node(), nb.induced(3)),
        (nb.edge(), nb.induced(3)),
    ],
)
def test_listed_patterns_have_the_worst_that_the_search_finds(target: Granularity, cut: nb.Cut) -> None:
    """With the same costs for every change, the costliest listed pattern costs what the search says."""
    (edit,) = target.edits
    listed = list_patterns(cut, edit)
    assert listed is not None
    best = max(sum((Fraction(part + 1) for part in pattern), Fraction(0)) for pattern in listed)
    assert best == cut.worst(edit, OneHot([], len(cut))).value


# --- pattern-optimum -------------------------------------------------------------------------------------------------


def optimal(losses: list[Fraction], delta: str, deltas: list[Fraction] | None = None) -> Any:
    """The least epsilon by the sum over all sets of Murtagh and Vadhan, in 50 digits, from below."""
    with mp.workdps(50):
        kept = mp.mpf(1)
        for d in deltas or []:
            kept *= 1 - real(d)
        target = 1 - (1 - real(Fraction(delta))) / kept
        exact = [real(e) for e in losses]
        whole = mp.fprod(1 + mp.exp(e) for e in exact)
        sums = [(sum(c), sum(exact) - sum(c)) for r in range(len(exact) + 1) for c in combinations(exact, r)]
        powers, nothing = [(mp.exp(a), mp.exp(b)) for a, b in sums], mp.mpf(0)

        def at(epsilon: Any) -> Any:
            level = mp.exp(epsilon)
            return mp.fsum(max(nothing, one - level * other) for one, other in powers) / whole

        low, high = mp.mpf(0), mp.fsum(exact)
        if at(low) <= target:
            return low
        for _ in range(120):
            middle = (low + high) / 2
            low, high = (low, middle) if at(middle) <= target else (middle, high)
        return low


def real(number: Any) -> Any:
    return mp.mpf(Fraction(number).numerator) / Fraction(number).denominator


@pytest.mark.parametrize("seed", range(5))
def test_pattern_optimum_ensures_the_largest_optimum_over_all_patterns(seed: int) -> None:
    rng = random.Random(seed)
    losses = [Fraction(rng.randint(1, 60), 100) for _ in range(8)]
    kinds = {name: rng.sample(range(8), rng.randint(1, 5)) for name in "abcd"}
    for target, sets in (
        (nb.unbounded(), [set(parts) for parts in kinds.values()]),
        (nb.bounded(), [set(one) | set(other) for one, other in combinations(kinds.values(), 2)]),
    ):
        leaves = [
            nb.leaf(part, vm.pure(e), mode="common") for part, e in zip(nb.memberships(kinds), losses, strict=False)
        ]
        composed = nb.compose(target, leaves)
        for delta in ("1e-6", "1e-2"):
            found: Any = nb.converted(composed, vm.ApproxDP, delta=delta).loss
            truth = max(optimal([losses[part] for part in touched], delta) for touched in sets)
            assert truth <= real(found.epsilon) <= truth * (1 + mp.mpf(10) ** -4) + mp.mpf(10) ** -12
            assert found <= composed.loss.to(vm.ApproxDP, delta=delta)
            at: Any = nb.converted(composed, vm.ApproxDP, epsilon=found.epsilon).loss
            assert at.delta <= Fraction(delta) * (1 + Fraction(1, 10**6))


def test_pattern_optimum_ensures_the_optimum_of_the_largest_where_any_may_be_touched() -> None:
    losses = [Fraction(n, 40) for n in range(1, 13)]
    leaves = [nb.leaf(p, vm.pure(e), mode="common") for p, e in zip(nb.subsets(12, at_most=4), losses, strict=True)]
    for target, touched in ((nb.unbounded(), losses[-4:]), (nb.bounded(), losses[-8:])):
        found: Any = nb.converted(nb.compose(target, leaves), vm.ApproxDP, delta="1e-3").loss
        truth = optimal(touched, "1e-3")
        assert truth <= real(found.epsilon) <= truth * (1 + mp.mpf(10) ** -4)


def test_pattern_optimum_ensures_deltas_that_are_counted() -> None:
    leaves = nb.leaves(nb.memberships({"a": range(6)}), vm.approx("0.2", "1e-7"))
    composed = nb.compose(nb.unbounded(), leaves)
    found: Any = nb.converted(composed, vm.ApproxDP, delta="1e-3").loss
    truth = optimal([Fraction(1, 5)] * 6, "1e-3", [Fraction(1, 10**7)] * 6)
    assert truth <= real(found.epsilon) <= truth * (1 + mp.mpf(10) ** -4) < real(Fraction(6, 5))
    # Below the sum of deltas nothing is promised.
    with pytest.raises(ViameterError, match="delta"):
        nb.converted(composed, vm.ApproxDP, delta="1e-9")


def test_pattern_optimum_ensures_nothing_for_patterns_that_cost_without_bound() -> None:
    leaves = nb.leaves(nb.partition(3), vm.pure("0.1"))
    assert nb.converted(nb.compose(nb.bounded(), leaves), vm.ApproxDP, delta="1e-3").loss == vm.approx("inf", 1)


def test_pattern_optimum_requires_losses_that_are_fixed_in_advance() -> None:
    composed = nb.compose(nb.unbounded(), nb.leaves(nb.memberships({"a": range(20)}), vm.pure("1/20")))
    fixed: Any = nb.converted(composed, vm.ApproxDP, delta="1e-3")
    chosen = nb.converted(composed, vm.ApproxDP, delta="1e-3", adaptivity=vm.Adaptivity.ADAPTIVE)
    fully: Any = nb.converted(composed, vm.ApproxDP, delta="1e-3", adaptivity=vm.Adaptivity.FULLY_ADAPTIVE)
    assert fixed == chosen and round(float(fixed.loss.epsilon), 6) == 0.497986
    assert fully.loss == composed.loss.to(vm.ApproxDP, delta="1e-3") and fully.loss.epsilon > Fraction(99, 100)
    with pytest.raises(ParameterError, match="adaptivity"):
        nb.converted(composed, vm.ApproxDP, delta="1e-3", adaptivity="adaptive")  # type: ignore[arg-type]
    assert "pattern-optimum" in str(fixed.explain()) and "pattern-optimum" not in str(fully.explain())
    assert "pure-to-approx" in str(fully.explain())
    with pytest.raises(ParameterError, match="explain"):
        composed.guarantee.explain()


@for_each(("length", "horizon", "step"), [(3, 3, 1), (1, 1, 1), (2, 3, 1), (2, 4, 2), (2, 3, 2), (1, 4, 2)])
def test_windows_hold_the_times_before_the_horizon_and_no_others(length: int, horizon: int, step: int) -> None:
    """Against all pairs of times: a window that loses its record is infinitely many steps of bounded() away."""
    cut = nb.windows(length=length, horizon=horizon, step=step)
    spans = [range(start, start + length) for start in range(0, horizon - length + 1, step)]
    pairs = [(a, b) for a in range(horizon) for b in range(horizon)]
    for target in (nb.bounded(), nb.bounded_ordered()):
        separate = nb.compose(target, nb.leaves(cut, vm.pure(1)))
        worst = max(
            float("inf") if any((a in s) != (b in s) for s in spans) else sum(a in s for s in spans) for a, b in pairs
        )
        assert separate.loss == vm.pure("inf" if worst == float("inf") else int(worst)) and separate.tight
    common = nb.compose(nb.bounded(), nb.leaves(cut, vm.pure(1), mode="common"))
    assert common.loss == vm.pure(max(sum(a in s or b in s for s in spans) for a, b in pairs))
