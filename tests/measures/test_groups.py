"""Group laws: against chains of distributions from their definitions, and against laws that are deliberately wrong."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import mpmath as mp  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.measures.conversion_oracles import (
    Pair,
    above,
    at_most,
    close_above,
    gaussian_delta,
    hockey_stick,
    loose,
    loss_range,
    max_divergence,
    number,
)
from tests.measures.conversion_oracles import renyi as divergence

import viameter as vm
from viameter.core import Loss
from viameter.errors import NoTheorem, NumberError, ParameterError
from viameter.measures import group_derivation, group_loss, groups
from viameter.measures.composition import pure_composition
from viameter.measures.conversions import directed
from viameter.measures.groups import (
    group_approx,
    group_bounded_range,
    group_ends,
    group_gdp,
    group_pure,
    group_renyi,
    group_zcdp,
)
from viameter.theorem import Derivation, theorem_of

INFINITY = float("inf")
ORDERS = [Fraction(text) for text in ("1.01", "1.2", "1.5", "2", "3", "5", "8", "20", "100")]
OWN = vm.measure("Own", trust="it is so")
ONE_OF_EACH: list[Loss] = [
    vm.pure("1/3"),
    vm.approx("1/3", "1/1000"),
    vm.zcdp("1/3"),
    vm.gdp("1/3"),
    vm.bounded_range("1/3"),
    vm.renyi({2: "1/3", 5: "1/2"}),
    vm.approx_zcdp("1/3", "1/1000"),
    vm.profile({1: "1/3"}),
    OWN("1/3"),
]
WITHOUT_LAW = ONE_OF_EACH[-3:]
ROWS = vm.Space(vm.vectors(int), vm.SymmetricDistance())

Chain = list[list[Any]]


def chains(count: int, *, seed: int = 11) -> Iterator[Chain]:
    """Random distributions P_0, ..., P_m on 2 to 4 outcomes; some drift one way, which is what costs most."""
    chance = random.Random(seed)
    for index in range(count):
        size, steps = chance.randint(2, 4), chance.randint(2, 5)
        spread = 10 ** chance.uniform(-2, 0.3)
        weights = [mp.mpf(10) ** chance.uniform(-2, 0) for _ in range(size)]
        drift = [chance.uniform(-spread, spread) for _ in range(size)]
        chain = []
        for _ in range(steps + 1):
            chain.append([w / mp.fsum(weights) for w in weights])
            moves = drift if index % 2 else [chance.uniform(-spread, spread) for _ in range(size)]
            weights = [w * mp.exp(move) for w, move in zip(weights, moves, strict=True)]
        yield chain


def steps_of(chain: Chain) -> list[Pair]:
    return list(itertools.pairwise(chain))


def ends(chain: Chain) -> Pair:
    return chain[0], chain[-1]


def distance(chain: Chain) -> Fraction:
    return Fraction(len(chain) - 1)


def gaussian_mu(pair: Pair) -> Any:
    """The least mu for which a pair is mu-GDP: over all events, how much further Phi^-1 moves."""
    # An event moves as far as its complement.
    others = range(1, len(pair[0]))
    events = [(0, *e) for size in range(len(others)) for e in itertools.combinations(others, size)]
    places = [[quantile(mp.fsum(p[i] for i in event)) for event in events] for p in pair]
    return max(abs(a - b) for a, b in zip(*places, strict=True))


@cache
def quantile(p: Any) -> Any:
    """Phi^-1."""
    return mp.sqrt(2) * mp.erfinv(2 * p - 1)


# What each theorem ensures


def test_group_pure_ensures_a_bound_on_the_ends_of_every_chain() -> None:
    for chain in chains(60):
        loss = vm.pure(above(max(map(max_divergence, steps_of(chain)))))
        assert at_most(max_divergence(ends(chain)), group_pure(loss, distance=distance(chain)).epsilon)


def test_group_pure_ensures_no_more_than_a_chain_that_goes_one_way_attains() -> None:
    # P_k = (e^(k eps) x, 1 - e^(k eps) x): the ratio of the first outcome is e^eps at each step.
    eps, x = Fraction(1, 3), mp.mpf("0.001")
    for m in range(2, 9):
        tops = [x * mp.exp(number(k * eps)) for k in range(m + 1)]
        chain = [[top, 1 - top] for top in tops]
        assert all(at_most(max_divergence(step), eps) for step in steps_of(chain))
        bound = group_pure(vm.pure(eps), distance=Fraction(m)).epsilon
        assert close_above(max_divergence(ends(chain)), bound)
        assert not at_most(max_divergence(ends(chain)), (m - 1) * eps)
    assert group_pure(vm.pure("1/10"), distance=Fraction(3)) == vm.pure("3/10")


def test_group_approx_ensures_a_bound_on_the_ends_of_every_chain() -> None:
    for chain in chains(60):
        largest = max(map(max_divergence, steps_of(chain)))
        for part in ("0", "0.3", "0.8"):
            eps = Fraction(part) * above(largest)
            delta = min(above(max(hockey_stick(step, eps) for step in steps_of(chain))), Fraction(1))
            found = group_approx(vm.approx(eps, delta), distance=distance(chain))
            assert found.epsilon == distance(chain) * eps
            assert at_most(hockey_stick(ends(chain), found.epsilon), found.delta)


def attaining(eps: Fraction, delta: Fraction, steps: int) -> Chain:
    """The chain whose first outcome has x_k = e^eps x_(k+1) + delta, down from 0 at the end."""
    tops = [mp.mpf(0)]
    for _ in range(steps):
        tops.append(mp.exp(number(eps)) * tops[-1] + number(delta))
    return [[top, 1 - top] for top in reversed(tops)]


@for_each("steps", [2, 3, 7])
@for_each("eps", ["0", "1e-30", "1/10", "1"])
def test_group_approx_ensures_no_more_than_some_chain_attains_so_m_delta_is_wrong(eps: str, steps: int) -> None:
    epsilon, delta = Fraction(eps), Fraction(1, 10**6)
    chain = attaining(epsilon, delta, steps)
    assert all(at_most(hockey_stick(step, epsilon), delta) for step in steps_of(chain))
    truth = hockey_stick(ends(chain), steps * epsilon)
    found = group_approx(vm.approx(epsilon, delta), distance=Fraction(steps))
    assert close_above(truth, found.delta, within=1e-30)
    if epsilon >= Fraction(1, 10):
        assert not at_most(truth, steps * delta), "m delta is too small"


def test_group_approx_ensures_exact_numbers_where_epsilon_or_delta_is_0_and_a_delta_of_at_most_1() -> None:
    assert group_approx(vm.approx(0, "1/7"), distance=Fraction(3)) == vm.approx(0, "3/7")
    assert group_approx(vm.approx(0, "1/7"), distance=Fraction(30)) == vm.approx(0, 1)
    assert group_approx(vm.approx("1/7", 0), distance=Fraction(30)) == vm.approx("30/7", 0)
    assert group_approx(vm.approx("1/7", "1/7"), distance=Fraction(1)) == vm.approx("1/7", "1/7")
    assert group_approx(vm.approx(5, "1/7"), distance=Fraction(3)) == vm.approx(15, 1)
    assert group_approx(vm.approx("inf", "1/7"), distance=Fraction(3)) == vm.ApproxDP.infinite
    assert group_approx(vm.approx(5, "1/7"), distance=Fraction(10**30)).delta == 1


@pytest.mark.parametrize("bits", [4, 6, 9])
def test_group_approx_ensures_a_bound_with_few_bits_since_every_step_is_rounded_outward(bits: int) -> None:
    # Next to numbers of so few bits some roundings are small, and do not hide one that goes the wrong way.
    chance = random.Random(bits)
    try:
        directed.UP.precision = directed.DOWN.precision = bits
        for _ in range(3000):
            m, tiny = chance.randint(2, 9), Fraction(chance.randint(-1, 1), 10**9 + 7)
            grid = chance.choice((1, m)) * 2 ** chance.randint(bits, bits + 3)
            eps = Fraction(chance.randint(1, 2**bits), grid) + tiny
            delta = (chance.randint(1, 2**bits) + Fraction(chance.choice((0, 9)), 10)) / 2**30
            truth = number(delta) * mp.expm1(number(m * eps)) / mp.expm1(number(eps))
            found = group_approx(vm.approx(eps, delta), distance=Fraction(m)).delta
            assert at_most(min(truth, mp.mpf(1)), found)
    finally:
        directed.UP.precision = directed.DOWN.precision = directed.WORK


def test_group_zcdp_ensures_a_bound_on_the_ends_of_every_chain() -> None:
    for chain in chains(25):
        # D_a/a is smooth in a: between the orders looked at it is at most 2 % more than at the worst. Where divergences
        # are small it is largest at large orders.
        fine = [1 + mp.mpf(10) ** (mp.mpf(k) / 10) for k in range(-20, 61)]
        rho = above(max(divergence(step, a) / a for step in steps_of(chain) for a in fine) * mp.mpf("1.02"))
        found = group_zcdp(vm.zcdp(rho), distance=distance(chain)).rho
        assert all(at_most(divergence(ends(chain), a), found * a) for a in ORDERS)


@pytest.mark.parametrize("m", [2, 3, 10])
def test_group_zcdp_ensures_what_two_gaussians_attain_so_m_rho_is_wrong(m: int) -> None:
    rho = Fraction(1, 18)  # N(k/3, 1), k = 0, ..., m: divergence of order a is a (difference of means)^2/2
    for a in ORDERS:
        truth = a * Fraction(m, 3) ** 2 / 2
        assert group_zcdp(vm.zcdp(rho), distance=Fraction(m)).rho * a == truth
        assert truth > m * rho * a, "m rho is too small"


def test_group_gdp_ensures_a_bound_on_the_ends_of_every_chain() -> None:
    for chain in chains(40):
        mu = above(max(map(gaussian_mu, steps_of(chain))))
        found = group_gdp(vm.gdp(mu), distance=distance(chain))
        assert at_most(gaussian_mu(ends(chain)) ** 2, found.mu_squared)


@pytest.mark.parametrize("m", [2, 3, 10])
def test_group_gdp_ensures_what_two_gaussians_attain(m: int) -> None:
    found = group_gdp(vm.gdp("1/3"), distance=Fraction(m))
    assert found.mu_squared == Fraction(m, 3) ** 2
    # Composition, by which the squares would be multiplied by m only, is another matter and too small.
    truth = gaussian_delta(number(Fraction(m, 3)), 1)
    assert at_most(truth, gaussian_delta(mp.sqrt(number(found.mu_squared)), 1))
    assert not at_most(truth, gaussian_delta(mp.sqrt(m) / 3, 1))


def test_group_bounded_range_ensures_a_bound_on_the_ends_of_every_chain() -> None:
    for chain in chains(60):
        eta = above(max(map(loss_range, steps_of(chain))))
        assert at_most(
            loss_range(ends(chain)), group_bounded_range(vm.bounded_range(eta), distance=distance(chain)).eta
        )


def test_group_bounded_range_ensures_no_more_than_exponential_weights_attain() -> None:
    eta = Fraction(1, 3)
    for m in range(2, 6):
        tops = [1 / (1 + mp.exp(number(k * eta))) for k in range(m + 1)]
        found = group_bounded_range(vm.bounded_range(eta), distance=Fraction(m)).eta
        assert close_above(loss_range(([tops[0], 1 - tops[0]], [tops[-1], 1 - tops[-1]])), found)


def listed(chain: Chain, orders: list[Fraction], *, infinite: bool) -> vm.core.Loss:
    bounds: dict[Any, Any] = {a: above(max(divergence(step, a) for step in steps_of(chain))) for a in orders}
    if infinite:
        bounds["inf"] = above(max(map(max_divergence, steps_of(chain))))
    return vm.renyi(bounds)


@pytest.mark.parametrize("infinite", [False, True])
def test_group_renyi_ensures_a_bound_on_the_ends_of_every_chain(infinite: bool) -> None:
    for chain in chains(40):
        loss = listed(chain, ORDERS[1:], infinite=infinite)
        found = group_renyi(loss, distance=distance(chain))  # type: ignore[arg-type]
        assert len(found.points) >= 3
        for order, bound in found.points:
            truth = max_divergence(ends(chain)) if order == INFINITY else divergence(ends(chain), order)
            assert at_most(truth, bound)


@pytest.mark.parametrize("m", [2, 3, 10, 100])
def test_group_renyi_ensures_at_least_and_about_what_two_gaussians_attain_so_m_r_is_wrong(m: int) -> None:
    # N(0, 1) and N(k/10, 1) have the divergence a k^2/200 at order a.
    orders = [1 + Fraction(9, 8) ** k for k in range(-8, 60)]
    found = group_renyi(vm.renyi({a: a / 200 for a in orders}), distance=Fraction(m))
    assert len(found.points) > 20
    for order, bound in found.points:
        truth = Fraction(order) * m * m / 200
        assert bound >= truth > m * Fraction(order) / 200
    for wanted in (Fraction(5, 4), Fraction(2), Fraction(4)):
        assert found.at(wanted) <= wanted * m * m / 200 * Fraction(5, 4)


def by_recursion(loss: vm.measures.curves.RenyiLoss, m: int) -> list[tuple[Any, Any]]:
    """All that Hoelder's inequality gives, step by step, for every sequence of listed orders."""
    known: list[tuple[Any, Any]] = list(loss.points)
    for _ in range(m - 1):
        known = [_hoelder(first, rest) for first in loss.points for rest in known]
    return known


def _hoelder(first: Any, rest: Any) -> tuple[Any, Any]:
    (c, r), (b, s) = first, rest
    if c == INFINITY:
        return b, (r if b == INFINITY else r * b / (b - 1)) + s  # p is infinite and q is 1
    if b == INFINITY:
        return c, r + s  # p is 1 and q is infinite
    a = b * c / (b + c - 1)
    p = c / a
    q = p / (p - 1)
    assert q * (a - 1 / p) == b
    return a, (a - 1 / p) / (a - 1) * r + s


def test_group_renyi_ensures_exactly_the_best_of_all_sequences_where_there_are_few() -> None:
    chance = random.Random(5)
    for trial in range(40):
        size, m = chance.randint(1, 3), chance.randint(2, 4)
        bounds: dict[Any, Any] = {
            1 + Fraction(chance.randint(1, 60), 7): Fraction(chance.randint(0, 50), 9) for _ in range(size)
        }
        if trial % 3 == 0:
            bounds["inf"] = 6
        loss = vm.renyi(bounds)
        every = by_recursion(loss, m)
        found = group_renyi(loss, distance=Fraction(m))
        for order in {a for a, _ in every}:
            assert found.at(order) == min(bound for a, bound in every if a >= order)
        assert set(found.points) <= set(every)


@for_each("m", [9, 64, 1000, 10**6])
def test_group_renyi_ensures_orders_rounded_down_and_bounds_rounded_up_where_they_are_wide(m: int) -> None:
    loss = vm.renyi({2: "1/7", Fraction(100, 3): "1/3", 1000: 1, 10**6 + 1: 3, "inf": 50})
    found = groups._listed(loss, m)
    wide = 0
    with mp.workdps(120):
        for order, (bound, chosen) in found.items():
            assert sum(count for _, count in chosen) == m
            share, total = mp.mpf(1), mp.mpf(0)
            for c, count in reversed(chosen):
                t = mp.mpf(1) if c == INFINITY else 1 - 1 / mp.mpf(number(c))
                steps = mp.mpf(count) if t == 1 else (t**-count - 1) / (1 / t - 1)
                total += number(loss.at(c)) * steps / share
                share *= t**count
            truth = mp.inf if share == 1 else 1 / (1 - share)
            slack = mp.mpf(10) ** -100
            assert number(order) <= truth * (1 + slack) and total <= number(bound) * (1 + slack)
            assert order == INFINITY or number(order) >= truth * (1 - mp.mpf(10) ** -40)
            assert number(bound) <= total * (1 + mp.mpf(10) ** -40)
            wide += order != INFINITY and Fraction(order).denominator.bit_length() > 100
            assert order == INFINITY or Fraction(order).denominator.bit_length() <= 512
    assert wide > 5


def test_group_renyi_ensures_that_rounding_goes_outward_with_few_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    loss = vm.renyi({3: "1/7", 10: "1/3", 40: 1})
    exact = {chosen: groups._bounded(loss, chosen) for _, chosen in groups._listed(loss, 12).values()}
    monkeypatch.setattr(groups, "_WIDTH", 8)
    for bits in (4, 9, 20):
        monkeypatch.setattr(groups, "_BITS", bits)
        for chosen, (order, bound) in exact.items():
            rough_order, rough_bound = groups._bounded(loss, chosen)
            assert rough_order < order and rough_bound > bound


def test_group_renyi_ensures_the_pure_law_at_infinite_order_for_any_number_of_steps() -> None:
    for m in (2, 3, 10**9, 2**60, 10**400):
        assert group_renyi(vm.renyi({2: 1, "inf": "3/2"}), distance=Fraction(m)).at("inf") == Fraction(3, 2) * m
        assert group_renyi(vm.RenyiDP.zero, distance=Fraction(m)) == vm.RenyiDP.zero


def test_group_renyi_ensures_nothing_where_only_orders_next_to_1_are_left() -> None:
    assert group_renyi(vm.renyi({2: 1}), distance=Fraction(1000)) == vm.RenyiDP.infinite
    assert group_renyi(vm.renyi({2: 1}), distance=Fraction(2**60)) == vm.RenyiDP.infinite
    assert group_renyi(vm.RenyiDP.infinite, distance=Fraction(2)) == vm.RenyiDP.infinite
    assert group_renyi(vm.renyi({2: Fraction(10) ** 400}), distance=Fraction(2)) == vm.RenyiDP.infinite
    near = 1 + Fraction(1, 10**40)
    assert group_renyi(vm.renyi({near: 1}), distance=Fraction(2)) == vm.RenyiDP.infinite
    assert group_renyi(vm.renyi({near: "1/2", 3: 1}), distance=Fraction(2)).orders[-1] == Fraction(9, 5)


@pytest.mark.parametrize("loss", WITHOUT_LAW, ids=repr)
def test_group_ends_ensures_zero_the_loss_itself_and_no_guarantee(loss: Loss) -> None:
    assert group_ends(loss, distance=Fraction(0)) == loss.measure.zero
    assert group_ends(loss, distance=Fraction(1)) == loss == group_ends(loss, distance=Fraction(1, 2))
    assert group_ends(loss, distance=INFINITY) == loss.measure.infinite


# What each theorem requires

LAWS: list[tuple[Any, Loss]] = [
    (group_pure, vm.pure(1)),
    (group_approx, vm.approx(1, "1/9")),
    (group_zcdp, vm.zcdp(1)),
    (group_gdp, vm.gdp(1)),
    (group_bounded_range, vm.bounded_range(1)),
    (group_renyi, vm.renyi({2: 1})),
]


def refuses_other_losses_and_distances(law: Any) -> None:
    own = next(loss for known, loss in LAWS if known is law)
    for _, loss in LAWS:
        if loss is not own:
            with pytest.raises(ParameterError, match=r"is not a \w+Loss: group_loss finds"):
                law(loss, distance=Fraction(2))
    for wrong in (Fraction(-1), -1, "-1/2", float("nan"), 2.5, -INFINITY, True, None):
        with pytest.raises(NumberError, match="distance"):
            law(own, distance=wrong)


def test_group_pure_requires_a_pure_loss_and_a_distance() -> None:
    refuses_other_losses_and_distances(group_pure)


def test_group_pure_requires_steps_within_the_domain() -> None:
    # With seven rows always, nobody is one row apart, and two steps cost more than twice nothing.
    mean = vm.Space(vm.vectors(int, bounds=(0, 9), size=7), vm.SymmetricDistance()) >> vm.mean()
    noisy = mean >> vm.laplace(scale=1, grid="1/8")
    assert noisy.map(1) == vm.pure(0) < noisy.map(2)
    with pytest.raises(NoTheorem, match="a step changes the size, which is fixed"):
        group_derivation(noisy.explain(1).derivation, 2)


def test_group_approx_requires_an_approximate_loss_and_a_distance() -> None:
    refuses_other_losses_and_distances(group_approx)


def test_group_zcdp_requires_a_concentrated_loss_and_a_distance() -> None:
    refuses_other_losses_and_distances(group_zcdp)


def test_group_gdp_requires_a_gaussian_loss_and_a_distance() -> None:
    refuses_other_losses_and_distances(group_gdp)


def test_group_bounded_range_requires_a_range_and_a_distance() -> None:
    refuses_other_losses_and_distances(group_bounded_range)


def test_group_renyi_requires_a_renyi_loss_and_a_distance() -> None:
    refuses_other_losses_and_distances(group_renyi)


@pytest.mark.parametrize("loss", WITHOUT_LAW, ids=repr)
def test_group_ends_requires_fewer_than_two_steps_or_infinitely_many(loss: Loss) -> None:
    for steps in (2, "3/2", 10**9):
        for ask in (group_loss, lambda loss, d: group_derivation(claimed(loss), d)):
            with pytest.raises(NoTheorem, match=r"has no group law, so that the leaf must give its own map"):
                ask(loss, steps)


# The two functions


@for_each("loss", ONE_OF_EACH)
def test_no_step_costs_nothing_one_step_the_loss_and_infinitely_many_all(loss: Loss) -> None:
    assert group_loss(loss, 0) == loss.measure.zero
    assert group_loss(loss, 1) == loss
    assert group_loss(loss, "1/2") == loss
    assert group_loss(loss, INFINITY) == group_loss(loss, "inf") == loss.measure.infinite


@for_each("loss", ONE_OF_EACH[:-3])
def test_parts_of_steps_count_as_steps_and_more_steps_never_cost_less(loss: Loss) -> None:
    assert group_loss(loss, "5/2") == group_loss(loss, 3) != group_loss(loss, 2)
    losses = [group_loss(loss, m) for m in (0, 1, 2, 3, 7, 8, 20, INFINITY)]
    assert all(less <= more for less, more in itertools.pairwise(losses))


@for_each("measure", [vm.PureDP, vm.ApproxDP, vm.ZCDP, vm.GaussianDP, vm.BoundedRange, vm.RenyiDP])
def test_what_costs_nothing_at_a_step_costs_nothing_after_many_but_all_where_no_steps_lead(measure: Any) -> None:
    assert group_loss(measure.zero, 10**9) == measure.zero
    assert group_loss(measure.zero, INFINITY) == measure.infinite
    # The number of rows: it never changes when one is replaced, and it tells data apart that no steps join.
    count = vm.Space(vm.vectors(int), vm.ChangeOneDistance()) >> vm.count() >> vm.laplace(scale=1)
    assert count.map(1) == vm.pure(0) and count.map(INFINITY) == vm.PureDP.infinite


@for_each("wrong", [-1, Fraction(-1, 2), float("nan"), 1.5, "x", True, None])
def test_a_distance_that_is_none_is_refused_by_name(wrong: Any) -> None:
    for loss in ONE_OF_EACH:
        for ask in (loose.measures.group_loss, lambda loss, d: group_derivation(claimed(loss), d)):
            with pytest.raises(NumberError, match="distance"):
                ask(loss, wrong)


def test_what_is_no_loss_is_refused() -> None:
    with pytest.raises(ParameterError, match="3 is not a loss"):
        loose.measures.group_loss(3, 2)
    with pytest.raises(ParameterError, match="expected the derivation of a loss"):
        group_derivation((ROWS >> vm.count()).explain(1).derivation, 2)


def claimed(loss: Loss, d_in: int = 1) -> Derivation:
    """The derivation of a measurement that somebody vouches for."""
    made = vm.measurement(ROWS, function=len, measure=loss.measure, privacy=lambda _: loss, trust="it is so")
    return made.explain(d_in).derivation


@for_each("loss", ONE_OF_EACH)
def test_a_derivation_is_the_theorem_of_the_measure_over_its_premise_at_the_distance(loss: Loss) -> None:
    premise = claimed(loss)
    for distance in (1, 3, INFINITY):
        if loss in WITHOUT_LAW and distance == 3:
            continue
        made = group_derivation(premise, distance)
        assert made.premises == (premise,) and made.space == ROWS
        assert made.bound_value == group_loss(loss, distance) and made.bound == repr(made.bound_value)
        assert made.given_value == distance
        law = {type(own): law for law, own in LAWS}.get(type(loss), group_ends)
        assert made.theorem is theorem_of(law)
        assert set(premise.assumptions) <= set(made.assumptions)
        assert (loss.measure.assumption is None) == (made.assumes == ())


def test_a_derivation_speaks_of_the_data_below_all_losses_and_starts_at_one_step() -> None:
    noisy = ROWS >> vm.count() >> vm.laplace(scale=2) >> vm.postprocess(abs)
    made = group_derivation(noisy.to(vm.ZCDP).explain(1).derivation, 3)
    assert made.space == ROWS and made.bound_value == group_loss(noisy.to(vm.ZCDP).map(1), 3)
    for wrong in (0, 2):
        with pytest.raises(ParameterError, match=f"is of data {wrong} apart: expected the derivation at distance 1"):
            group_derivation(noisy.explain(wrong).derivation, 3)
    bare = Derivation("bare", theorem_of(group_pure), "", "", given_value=vm.pure(1), bound_value=vm.pure(1))
    assert group_derivation(bare, 3).space is None and group_derivation(bare, 3).bound_value == vm.pure(3)


def test_a_derivation_looks_through_sums_on_the_same_data_and_not_into_compositions_of_parts() -> None:
    noisy = ROWS >> vm.count() >> vm.laplace(scale=2)
    total = vm.pure(1)
    for at, theorem, space in (
        (1, theorem_of(pure_composition), ROWS),
        (1, theorem_of(group_pure), None),
        (2, theorem_of(group_pure), None),
    ):
        premise = noisy.explain(at).derivation
        both = Derivation("", theorem, "", "", premises=(premise,) * 2, given_value=(total,) * 2, bound_value=total)
        made = group_derivation(both, 3)
        assert made.space == space and made.bound_value == vm.pure(3)
    both = Derivation(
        "",
        theorem_of(pure_composition),
        "",
        "",
        premises=(noisy.explain(2).derivation,),
        given_value=(total,),
        bound_value=total,
    )
    with pytest.raises(ParameterError, match="is of data 2 apart"):
        group_derivation(both, 3)
    # Steps of a bare claim are of no space, and so may be parts of another composition.
    bare = Derivation("bare", theorem_of(group_pure), "", "", given_value=total, bound_value=total)
    assert group_derivation(group_derivation(bare, 2), 3).bound_value == vm.pure(6)


L1, L2, LARGEST = vm.L1Distance(), vm.L2Distance(), vm.LInfDistance()
TABLE = {"who": str, "age": int}


@for_each(
    ("domain", "metric", "distance", "said"),
    [
        (vm.vectors(int, size=3), vm.InsertDeleteDistance(), 2, "the size, which is fixed"),
        (vm.tables(TABLE, size=3), vm.SymmetricIdDistance("who"), 2, "the size, which is fixed"),
        (vm.tables(TABLE, size=3), vm.ChangeOneIdDistance("who"), 2, "the size, which is fixed"),
        (vm.vectors(int, size=3), L2, 2, "the straight way"),
        (vm.vectors(float, size=3), L1, 2, "floats may lie further apart"),
        (vm.vectors(float, size=3), LARGEST, 2, "floats may lie further apart"),
        (vm.scalars(float), vm.AbsoluteDistance(), 2, "floats may lie further apart"),
        (vm.scalars(float), vm.AbsoluteDistance(), 0, "0.0 and -0.0"),
        (vm.vectors(int), vm.SymmetricDistance(), 0, "in another order"),
        (vm.vectors(int), vm.ChangeOneDistance(), 0, "in another order"),
        (vm.vectors(int), vm.SymmetricDistance(), 2, None),
        (vm.vectors(int, size=3), vm.ChangeOneDistance(), 2, None),
        (vm.vectors(int, size=3), vm.HammingDistance(), 0, None),
        (vm.tables(TABLE), vm.SymmetricIdDistance("who"), 2, None),
        (vm.vectors(int, size=3), L1, 2, None),
        (vm.vectors(int, size=3), LARGEST, "5/2", None),
        (vm.vectors(int, size=3), L2, 0, None),
        (vm.scalars(int), vm.AbsoluteDistance(), 2, None),
    ],
)
def test_a_derivation_needs_a_space_in_which_distances_are_steps(
    domain: Any, metric: Any, distance: Any, said: str | None
) -> None:
    made = vm.measurement(
        vm.Space(domain, metric), function=len, measure=vm.PureDP, privacy=lambda _: vm.pure(1), trust="it is so"
    )
    premise = made.explain(1).derivation
    if said is None:
        assert group_derivation(premise, distance).bound_value == group_loss(vm.pure(1), distance)
    else:
        with pytest.raises(NoTheorem, match=said):
            group_derivation(premise, distance)
    assert group_derivation(premise, 1).bound_value == vm.pure(1)
    assert group_derivation(premise, INFINITY).bound_value == vm.PureDP.infinite
