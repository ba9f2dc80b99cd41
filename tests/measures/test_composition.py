"""Composition rules: the table cell by cell, and each rule against every way of choosing small finite mechanisms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

import gmpy2  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each
from tests.composition.oracles import (
    LOWS,
    Toy,
    above,
    both_views,
    leaky_laws,
    losses_on,
    range_toy,
    response_laws,
    response_rho,
    strategies,
)
from tests.mechanisms.oracles import (
    ORDERS,
    PRECISION,
    Law,
    at_most,
    close,
    gaussian_pmf,
    hockey_stick,
    loss_range,
    pure_loss,
    real,
    renyi,
    two_way,
)

import viameter as vm
from viameter.core import Adaptivity, Composability, Loss, Measure
from viameter.core.composability import ADAPTIVE, CONCURRENT, FULLY_ADAPTIVE, NON_ADAPTIVE, SEQUENTIAL, require_cell
from viameter.errors import IncomparableLosses, NoTheorem, ParameterError
from viameter.measures.composition import (
    approx_composition,
    approx_zcdp_composition,
    bounded_range_composition,
    gdp_composition,
    pure_composition,
    renyi_composition,
    zcdp_composition,
)
from viameter.measures.records import MEASURES
from viameter.measures.trusted import trusted_composition
from viameter.theorem import theorem_of


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    with gmpy2.context(precision=PRECISION):
        yield


# The table

C, S = CONCURRENT, SEQUENTIAL
CELLS: dict[tuple[str, str], tuple[Composability | None, Composability | None, Composability | None]] = {
    # measure, rule: non-adaptive, adaptive, fully adaptive; from theory/composition.md
    ("pure", "sum"): (C, C, C),
    ("approx", "sum"): (C, C, C),
    ("approx", "optimal"): (C, C, None),
    ("zcdp", "sum"): (C, C, C),
    ("approx-zcdp", "sum"): (S, S, S),
    ("renyi", "sum"): (C, C, C),
    ("gdp", "sum"): (C, C, C),
    ("profile", "convolution"): (C, C, None),
    ("bounded-range", "sum"): (S, None, None),
}
INSTEAD = {
    ("approx", "optimal"): "rule='sum', or a filter with rule='concentrated'",
    ("profile", "convolution"): "ZCDP, RenyiDP or ApproxDP",
    ("bounded-range", "sum"): r"\.to\(ZCDP\) or \.to\(PureDP\)",
}
RULES: dict[str, tuple[Callable[..., Any], Measure]] = {
    "pure": (pure_composition, vm.PureDP),
    "approx": (approx_composition, vm.ApproxDP),
    "zcdp": (zcdp_composition, vm.ZCDP),
    "approx-zcdp": (approx_zcdp_composition, vm.ApproxZCDP),
    "renyi": (renyi_composition, vm.RenyiDP),
    "gdp": (gdp_composition, vm.GaussianDP),
    "bounded-range": (bounded_range_composition, vm.BoundedRange),
}


def test_every_measure_and_rule_is_in_the_table() -> None:
    declared = {(slug, rule.name) for slug, measure in MEASURES.items() for rule in measure.rules}
    assert declared == set(CELLS)


@for_each("adaptivity", list(Adaptivity))
@for_each(("slug", "rule"), list(CELLS))
def test_the_table_cell_by_cell(slug: str, rule: str, adaptivity: Adaptivity) -> None:
    expected = CELLS[slug, rule][list(Adaptivity).index(adaptivity)]
    measure = MEASURES[slug]
    if expected is None:
        with pytest.raises(NoTheorem, match=INSTEAD[slug, rule]):
            measure.composability(adaptivity, rule)
        return
    assert measure.composability(adaptivity, rule) is expected
    assert len(require_cell(measure, adaptivity, rule)[1].cites) > 10, "a cell says who proved it"


def test_the_rule_that_is_used_when_none_is_named_is_the_sum() -> None:
    for slug, measure in MEASURES.items():
        assert measure.rules[0].name == ("convolution" if slug == "profile" else "sum")


def test_rules_that_take_losses_to_a_loss_name_their_theorem_and_the_others_have_none() -> None:
    for slug, measure in MEASURES.items():
        for rule in measure.rules:
            expected = RULES[slug][0] if rule.name == "sum" else None
            assert rule.theorem is expected


def test_the_approximate_measure_is_sequential_for_every_adaptivity() -> None:
    """The source document's `composability` returns Sequential whatever the adaptivity."""
    assert {vm.ApproxZCDP.composability(adaptivity) for adaptivity in Adaptivity} == {SEQUENTIAL}


# What all sums have in common

AMOUNTS = st.fractions(min_value=0, max_value=3, max_denominator=60)
DELTAS = st.fractions(min_value=0, max_value=Fraction(1, 8), max_denominator=1000)


@for_each("slug", list(RULES))
def test_of_nothing_the_loss_is_zero(slug: str) -> None:
    rule, measure = RULES[slug]
    assert rule([]) == measure.zero and rule([measure.zero] * 3) == measure.zero


@for_each("slug", list(RULES))
def test_what_has_no_bound_leaves_none(slug: str) -> None:
    rule, measure = RULES[slug]
    for losses in ([measure.infinite], [measure.zero, measure.infinite], [measure.infinite, measure.infinite]):
        assert rule(losses) == measure.infinite and not rule(losses).is_finite


OTHER = {slug: vm.zcdp(1) if slug == "pure" else vm.pure(1) for slug in RULES}


@for_each("slug", list(RULES))
def test_losses_of_other_measures_are_not_composed(slug: str) -> None:
    rule, measure = RULES[slug]
    for losses in ([OTHER[slug]], [measure.zero, OTHER[slug]], [OTHER[slug], measure.zero]):
        with pytest.raises(IncomparableLosses):
            rule(losses)


WIDE = [Fraction(1, prime**40) for prime in (3, 5, 7, 11, 13, 17)]


def one_field(slug: str, amount: Fraction) -> Loss:
    """A loss whose one number, or both, are this amount; for gdp the square is."""
    measure: Any = MEASURES[slug]
    return vm.renyi({2: amount}) if slug == "renyi" else measure.loss(*[amount] * len(measure.loss.names))


def numbers(loss: Any) -> list[Fraction]:
    return [bound for _, bound in loss.points] if hasattr(loss, "points") else [a for _, a in loss._amounts()]


@for_each("slug", list(RULES))
def test_sums_that_are_not_exact_are_rounded_up_by_next_to_nothing(slug: str) -> None:
    rule, _ = RULES[slug]
    composed = numbers(rule([one_field(slug, amount) for amount in WIDE]))
    assert composed and all(sum(WIDE) < number < sum(WIDE) * (1 + Fraction(1, 2**240)) for number in composed)
    assert all(number.denominator.bit_length() <= 512 for number in composed)


@pytest.mark.parametrize("slug", list(RULES))
@given(amounts=st.lists(st.builds(Fraction, st.integers(0, 9), st.integers(90, 999)), max_size=8))
def test_sums_are_those_of_fractions(slug: str, amounts: list[Fraction]) -> None:
    rule, measure = RULES[slug]
    composed = rule([one_field(slug, amount) for amount in amounts])
    assert composed == (one_field(slug, sum(amounts, Fraction(0))) if amounts else measure.zero)


# pure-composition


def pure_menu() -> list[Toy]:
    return [
        Toy(response_laws(epsilon, flipped=flipped), vm.pure(epsilon))
        for epsilon in (Fraction(1, 2), Fraction(1))
        for flipped in (False, True)
    ]


def test_pure_composition_ensures_every_view_of_every_strategy_is_within_the_sum() -> None:
    """All strategies of two steps over randomized response, also with losses and the end chosen by answers."""
    seen: set[Fraction] = set()
    for strategy in strategies(pure_menu()):
        left, right = both_views(strategy)
        for view in left:
            bound = pure_composition(losses_on(strategy, view)).epsilon  # type: ignore[arg-type]
            ratio = abs(gmpy2.log(left[view] / right[view]))
            assert at_most(ratio, bound)
            if close(ratio, bound):
                seen.add(Fraction(bound))
    assert seen == {Fraction(1, 2), Fraction(1), Fraction(3, 2), Fraction(2)}, "each sum is reached: none is too large"


def test_pure_composition_ensures_ten_tenths_are_one() -> None:
    assert pure_composition([vm.pure("1/10")] * 10) == vm.pure(1)


def test_pure_composition_requires_the_same_neighbors() -> None:
    """Of two bits that both changed, two mechanisms for one change each are not within one of them."""
    law: tuple[Law, Law] = tuple(  # type: ignore[assignment]
        {(a, b): p * q for (a, p), (b, q) in itertools.product(laws.items(), laws.items())} for laws in response_laws(1)
    )
    assert close(pure_loss(*law), 2) and not at_most(pure_loss(*law), pure_composition([vm.pure(1)]).epsilon)


# approx-composition


def approx_menu() -> list[Toy]:
    return [
        Toy(leaky_laws("1/2", "1/20"), vm.approx("1/2", "1/20")),
        Toy(leaky_laws("1/2", "1/20", flipped=True), vm.approx("1/2", "1/20")),
        Toy(leaky_laws(1, "1/50"), vm.approx(1, "1/50")),
    ]


def worst_path(strategy: Any, law: Law, rule: Callable[..., Any]) -> Any:
    """The largest composition on any path, where they are ordered; else number by number."""
    composed = [rule(losses_on(strategy, view)) for view in law]
    fields = [name for name, _ in composed[0]._amounts()]
    return type(composed[0])(**{name: max(getattr(loss, name) for loss in composed) for name in fields})


def test_approx_composition_ensures_the_hockey_stick_of_every_strategy_is_within_the_sums() -> None:
    tight = 0
    for strategy in strategies(approx_menu()):
        left, right = both_views(strategy)
        bound = worst_path(strategy, left, approx_composition)
        delta = two_way(hockey_stick, left, right, bound.epsilon)
        assert at_most(delta, bound.delta)
        # Without the smaller of the deltas it would be too little: both events have to be paid for.
        tight += bool(delta > real(bound.delta) * Fraction(9, 10))
    assert tight > 10


def test_approx_composition_ensures_a_delta_of_one_or_more_is_one_and_no_guarantee() -> None:
    composed = approx_composition([vm.approx(1, "2/3"), vm.approx(1, "2/3")])
    assert composed == vm.approx(2, 1) and not composed.is_finite


def test_approx_composition_requires_the_loss_to_hold_for_those_neighbors() -> None:
    """Both deltas are lost if only one is counted."""
    laws = leaky_laws(0, "1/20")
    both: tuple[Law, Law] = tuple(  # type: ignore[assignment]
        {(a, b): p * q for (a, p), (b, q) in itertools.product(law.items(), law.items())} for law in laws
    )
    assert not at_most(hockey_stick(*both, 0), approx_composition([vm.approx(0, "1/20")]).delta)
    assert at_most(hockey_stick(*both, 0), approx_composition([vm.approx(0, "1/20")] * 2).delta)


# zcdp-composition and approx-zcdp-composition


def zcdp_menu(make: Callable[[Fraction], Loss]) -> list[Toy]:
    return [
        Toy(response_laws(epsilon, flipped=flipped), make(response_rho(epsilon)))
        for epsilon in (Fraction(1, 2), Fraction(1))
        for flipped in (False, True)
    ]


def test_zcdp_composition_ensures_renyi_divergences_of_every_strategy_are_within_the_sum() -> None:
    tight = 0
    for strategy in strategies(zcdp_menu(vm.zcdp)):
        left, right = both_views(strategy)
        bound = worst_path(strategy, left, zcdp_composition).rho
        ratios = [two_way(renyi, left, right, order) / real(order) for order in ORDERS]
        assert all(at_most(ratio, bound) for ratio in ratios)
        tight += bool(max(ratios) > real(bound) * Fraction(99, 100))
    assert tight > 10


def test_zcdp_composition_requires_the_same_neighbors() -> None:
    laws = response_laws(1)
    both: tuple[Law, Law] = tuple(  # type: ignore[assignment]
        {(a, b): p * q for (a, p), (b, q) in itertools.product(law.items(), law.items())} for law in laws
    )
    once = zcdp_composition([vm.zcdp(response_rho(1))]).rho
    assert any(not at_most(renyi(*both, order) / real(order), once) for order in ORDERS)


def conditioned(law: Law) -> tuple[Law, Any]:
    """The views in which nothing leaked, as a law of their own; and how likely they are."""
    kept = {view: p for view, p in law.items() if not any(isinstance(answer, str) for answer in view)}
    total = sum(kept.values())
    return {view: p / total for view, p in kept.items()}, total


def test_approx_zcdp_composition_ensures_outside_of_delta_divergences_are_within_rho() -> None:
    """Conditioned on no leak, every strategy's views are within the sum of rhos; leaks are within the sum of deltas."""
    deltas = (Fraction(1, 20), Fraction(1, 50))
    menu = [
        Toy(leaky_laws(epsilon, delta), vm.approx_zcdp(response_rho(epsilon), delta))
        for epsilon, delta in zip((Fraction(1, 2), Fraction(1)), deltas, strict=True)
    ]
    tight = 0
    for strategy in strategies(menu):
        left, right = both_views(strategy)
        bound = worst_path(strategy, left, approx_zcdp_composition)
        (kept_left, weight), (kept_right, other) = conditioned(left), conditioned(right)
        assert at_most(1 - weight, bound.delta) and at_most(1 - other, bound.delta)
        ratios = [two_way(renyi, kept_left, kept_right, order) / real(order) for order in ORDERS]
        assert all(at_most(ratio, bound.rho) for ratio in ratios)
        tight += bool(max(ratios) > real(bound.rho) * Fraction(9, 10) and 1 - weight > real(bound.delta) * 0.9)
    assert tight > 3


@given(pairs=st.lists(st.tuples(AMOUNTS, DELTAS), max_size=8))
def test_approx_zcdp_composition_ensures_sums_of_rho_and_of_delta_apart(pairs: list[tuple[Fraction, Fraction]]) -> None:
    composed = approx_zcdp_composition([vm.approx_zcdp(rho, delta) for rho, delta in pairs])
    assert composed.rho == sum(rho for rho, _ in pairs)
    assert composed.delta == min(Fraction(1), sum((delta for _, delta in pairs), Fraction(0)))


def test_approx_zcdp_composition_requires_sequential_use() -> None:
    """Nothing is declared for interleaved use; that it is refused is tested where meters are."""
    assert all(cell.composability is SEQUENTIAL for cell in vm.ApproxZCDP.rules[0].table.values())


# renyi-composition


def test_renyi_composition_ensures_divergences_at_each_order_are_within_the_sum_there() -> None:
    orders = [Fraction(3, 2), Fraction(2), Fraction(8), Fraction(32)]
    menu = [
        Toy(laws, vm.renyi({order: above(two_way(renyi, *laws, order)) for order in orders}))
        for laws in (response_laws("1/2"), response_laws(1), response_laws(1, flipped=True))
    ]
    tight = 0
    for strategy in strategies(menu):
        left, right = both_views(strategy)
        for order in orders:
            bound = max(renyi_composition(losses_on(strategy, view)).at(order) for view in left)  # type: ignore[arg-type]
            divergence = two_way(renyi, left, right, order)
            assert at_most(divergence, bound)
            tight += bool(divergence > real(bound) * Fraction(99, 100))
    assert tight > 20


def test_renyi_composition_ensures_orders_that_only_some_bound_are_taken_from_the_order_above() -> None:
    composed = renyi_composition([vm.renyi({2: "0.1", 8: 1}), vm.renyi({4: "0.2"})])
    assert composed == vm.renyi({2: "0.3", 4: "1.2"}) and composed.at(8) == math.inf
    assert renyi_composition([vm.renyi({4: "0.2"}), vm.renyi({math.inf: "0.5"})]) == vm.renyi({4: "0.7"})


def test_renyi_composition_requires_that_every_order_stays_below_its_budget() -> None:
    """To stop when *some* order is below its bound is more than the theorem has: losses say so, both are compared."""
    budget = vm.renyi({2: 1, 8: 2})
    assert not vm.renyi({2: "1/2", 8: 3}) <= budget and not vm.renyi({2: "3/2", 8: 2}) <= budget
    assert vm.renyi({2: 1, 8: 2}) <= budget


# gdp-composition


def normal_cdf(x: float) -> float:
    return math.erfc(-x / math.sqrt(2)) / 2


def gaussian_delta(mu: float, epsilon: float) -> float:
    """The hockey stick of N(0, 1) and N(mu, 1), for any real epsilon."""
    return normal_cdf(-epsilon / mu + mu / 2) - math.exp(epsilon) * normal_cdf(-epsilon / mu - mu / 2)


def composed_delta(first: float, second: float, epsilon: float) -> float:
    """The hockey stick of two Gaussian mechanisms, integrated over the privacy loss of the first."""
    step, total = 1 / 256, 0.0
    for k in range(-10 * 256, 10 * 256 + 1):
        z = k * step
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        total += step * density * gaussian_delta(second, epsilon - (first * first / 2 + first * z))
    return total


@pytest.mark.parametrize(("first", "second"), [("0.6", "0.8"), ("1", "1/2"), ("1/3", "1/3")])
def test_gdp_composition_ensures_the_trade_off_of_both_is_that_of_the_composed_mu(first: str, second: str) -> None:
    mu = gdp_composition([vm.gdp(first), vm.gdp(second)]).mu
    for epsilon in (0.0, 0.5, 1.0, 2.0):
        truth = composed_delta(float(Fraction(first)), float(Fraction(second)), epsilon)
        assert truth == pytest.approx(gaussian_delta(float(mu), epsilon), rel=1e-9)
        assert truth > gaussian_delta(float(mu) * 0.999, epsilon) * (1 + 1e-6), "and of no smaller one"


@given(mus=st.lists(AMOUNTS, max_size=6))
def test_gdp_composition_ensures_squares_add(mus: list[Fraction]) -> None:
    composed = gdp_composition([vm.gdp(mu) for mu in mus])
    squares = sum((mu * mu for mu in mus), Fraction(0))
    assert composed.mu_squared == squares and Fraction(composed.mu) ** 2 >= squares


def test_gdp_composition_requires_continuous_gaussians_since_discrete_ones_are_not_gaussian() -> None:
    """Two discrete Gaussians of scale 1 are told apart better than two continuous ones."""
    law = {z: gaussian_pmf(z, Fraction(1)) for z in range(-40, 41)}
    shifted = {z: gaussian_pmf(z - 1, Fraction(1)) for z in range(-39, 42)}
    single = hockey_stick(law, shifted, 1)
    assert close(single, 0.14135, Fraction(1, 10**4)) and single > gaussian_delta(1.0, 1.0) + 0.01
    # The loss of the pair (a, b) is (1 - 2a)/2 + (1 - 2b)/2.
    losses: Law = {}
    for a, p in law.items():
        for b, q in law.items():
            losses[1 - a - b] = losses.get(1 - a - b, real(0)) + p * q
    composed = float(gdp_composition([vm.gdp(1), vm.gdp(1)]).mu)
    for epsilon in (0.5, 1.5):  # between two losses that occur
        both = sum(p * max(real(0), 1 - gmpy2.exp(real(epsilon) - loss)) for loss, p in losses.items())
        assert both > gaussian_delta(composed, epsilon) + 0.001


# bounded-range-composition


def test_bounded_range_composition_ensures_ranges_of_fixed_mechanisms_add() -> None:
    bound = bounded_range_composition([vm.bounded_range(1), vm.bounded_range("1/2")]).eta
    for first, second in itertools.product(LOWS, LOWS):
        one, other = range_toy(1, first), range_toy(Fraction(1, 2), second / 2)
        law: tuple[Law, Law] = tuple(  # type: ignore[assignment]
            {(a, b): p * q for (a, p), (b, q) in itertools.product(left.items(), right.items())}
            for left, right in zip(one, other, strict=True)
        )
        assert close(loss_range(*law), bound)


def test_bounded_range_composition_requires_mechanisms_that_are_not_chosen_by_answers() -> None:
    """Two of range 1, the second chosen by the answer of the first, have a range of nearly 3, not 2."""
    menu = [Toy(range_toy(1, low), vm.bounded_range(1)) for low in (LOWS[0], LOWS[-1])]
    bound = bounded_range_composition([vm.bounded_range(1)] * 2).eta
    ranges = [loss_range(*both_views(strategy)) for strategy in strategies(menu, fixed=True)]
    assert min(ranges) > 0 and max(ranges) > real(bound) + Fraction(1, 2)
    for adaptivity in (ADAPTIVE, FULLY_ADAPTIVE):
        with pytest.raises(NoTheorem, match="ranges do not add when a mechanism is chosen by an earlier answer"):
            vm.BoundedRange.composability(adaptivity)


def test_bounded_range_losses_have_no_plus() -> None:
    """Whoever adds two of them does not say that they were fixed in advance."""
    with pytest.raises(IncomparableLosses):
        vm.bounded_range(1) + vm.bounded_range(1)


# trusted-composition


def total_variation(left: Law, right: Law) -> Fraction:
    return sum((abs(left[o] - right[o]) for o in left), Fraction(0)) / 2


CHANCES = st.fractions(min_value=0, max_value=1, max_denominator=12)


@given(chances=st.lists(st.tuples(CHANCES, CHANCES), min_size=1, max_size=4))
def test_trusted_composition_ensures_the_sum(chances: Sequence[tuple[Fraction, Fraction]]) -> None:
    """Total variation distances of products are at most the sum: coins, enumerated."""
    measure = vm.measure("TotalVariation", adds=True, trust="total variation distances of products add up")
    laws: list[dict[Any, Fraction]] = [{(): Fraction(1)}, {(): Fraction(1)}]
    for pair in chances:
        laws = [
            {(*view, side): p * (q if side else 1 - q) for view, p in law.items() for side in (0, 1)}
            for law, q in zip(laws, pair, strict=True)
        ]
    losses = [measure(abs(p - q)) for p, q in chances]
    composed = trusted_composition(losses)
    assert composed == measure(sum((abs(p - q) for p, q in chances), Fraction(0)))
    assert measure(total_variation(laws[0], laws[1])) <= composed


def test_trusted_composition_requires_a_loss_that_says_which_measure_is_meant() -> None:
    with pytest.raises(ParameterError, match="does not say which measure"):
        trusted_composition([])


def test_trusted_composition_requires_a_statement_of_trust_and_losses_that_add() -> None:
    for trust in ("", "  ", None):
        with pytest.raises(ParameterError, match="says nothing"):
            vm.measure("Distance", adds=True, trust=trust)  # type: ignore[arg-type]
    alone = vm.measure("Alone", trust="an order only")
    with pytest.raises(IncomparableLosses, match="do not add"):
        trusted_composition([alone(1), alone(2)])
    one = vm.measure("Distance", adds=True, trust="one")
    with pytest.raises(IncomparableLosses):
        trusted_composition([one(1), vm.measure("Distance", adds=True, trust="another")(1)])
    assert theorem_of(trusted_composition).numbers.name == "ASSUMED"


def test_the_default_table_of_a_trusted_measure_has_one_cell() -> None:
    measure = vm.measure("Distance", adds=True, trust="distances add")
    assert measure.rules[0].theorem is trusted_composition
    assert {adaptivity: cell.composability for adaptivity, cell in measure.rules[0].table.items()} == {
        NON_ADAPTIVE: SEQUENTIAL
    }
