"""The theorems of core: chain, post-processing, trusted-map.

Post-processing is checked by enumeration: pairs of small distributions, random Markov kernels, all in Fractions.
"""

import random
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from typing import Any

import pytest
from tests.cases import for_each

import viameter as vm
from viameter.core.bound import by, chain, post_processing, trusted, trusted_map
from viameter.errors import DomainMismatch, MapError, MetricMismatch, ParameterError, RegistryError

ROWS = vm.Space(vm.vectors(int, bounds=(0, 2)), vm.SymmetricDistance())
NUMBER = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
ALL_ROWS = [list(rows) for size in range(4) for rows in product(range(3), repeat=size)]

Distribution = list[Fraction]


# --- chain


def doubled_count(stability: Callable[[Any], Any] = lambda d: 2 * d) -> vm.Transformation:
    return vm.transformation(
        ROWS, function=lambda rows: 2 * len(rows), output=NUMBER, stability=stability, trust="each row counts twice"
    )


def thirds(scale: int = 3) -> vm.Transformation:
    return vm.transformation(
        NUMBER, function=lambda n: scale * n + 1, output=NUMBER, stability=lambda d: scale * d, trust="a line"
    )


def test_chain_ensures_that_the_maps_are_applied_one_after_the_other() -> None:
    assert chain(3, maps=()) == 3
    assert chain(3, maps=(lambda d: 2 * d, lambda d: d + 1)) == 7
    assert chain(3, maps=(lambda d: d + 1, lambda d: 2 * d)) == 8
    whole = doubled_count() >> thirds() >> thirds(5)
    for d_in in (0, 1, 2, 7):
        assert whole.map(d_in) == 30 * d_in == whole.bound(d_in)
    assert whole.map("inf") == float("inf")


def test_chain_ensures_a_distance_that_no_pair_of_members_exceeds() -> None:
    whole = doubled_count() >> thirds()
    for left, right in product(ALL_ROWS, repeat=2):
        d_in = ROWS.distance(left, right)
        assert NUMBER.distance(whole(left), whole(right)) <= whole.map(d_in)


def test_chain_ensures_a_loss_when_the_last_step_is_a_measurement() -> None:
    tell = vm.measurement(
        NUMBER, function=lambda n: n, measure=vm.ZCDP, privacy=lambda d: vm.zcdp(Fraction(d) ** 2), trust="noise"
    )
    whole = doubled_count() >> thirds() >> tell
    assert whole.map(2) == vm.zcdp(144) == whole.bound(2)


def test_chain_requires_that_the_domains_agree() -> None:
    other = vm.Space(vm.scalars(int, bounds=(0, 9)), vm.AbsoluteDistance())
    bounded = vm.transformation(other, function=abs, output=NUMBER, stability=lambda d: d, trust="1-stable")
    with pytest.raises(DomainMismatch) as refused:
        doubled_count() >> bounded
    assert (refused.value.left, refused.value.right) == (NUMBER.domain, other.domain)


def test_chain_requires_that_the_metrics_agree() -> None:
    ordered = vm.Space(ROWS.domain, vm.InsertDeleteDistance())
    first_row = vm.transformation(
        ordered,
        function=lambda rows: int((rows * [10**k for k in range(len(rows))]).sum()),
        output=NUMBER,
        stability=lambda d: 10**4 * d,
        trust="not used",
    )
    same_rows = vm.transformation(
        ROWS, function=lambda rows: rows, output=ROWS, stability=lambda d: d, trust="identity"
    )
    with pytest.raises(MetricMismatch) as refused:
        same_rows >> first_row
    assert (refused.value.left, refused.value.right) == (ROWS.metric, ordered.metric)
    # Without the check the bound would be wrong: the same rows in another order are at distance 0, their images not.
    assert ROWS.distance([1, 2], [2, 1]) == 0
    assert first_row([1, 2]) != first_row([2, 1])
    assert first_row.map(0) == 0


# --- post-processing: divergences of pairs of distributions, exactly


def distribution(dice: random.Random, size: int, *, zeros: bool) -> Distribution:
    weights = [dice.randrange(0 if zeros else 1, 9) for _ in range(size)]
    weights[dice.randrange(size)] += 1
    return [Fraction(weight, sum(weights)) for weight in weights]


def kernel(dice: random.Random, rows: int, columns: int) -> list[Distribution]:
    if dice.random() < 0.3:  # a function
        targets = dice.choices(range(columns), k=rows)
        return [[Fraction(int(column == target)) for column in range(columns)] for target in targets]
    return [distribution(dice, columns, zeros=True) for _ in range(rows)]


def pushed(p: Distribution, through: list[Distribution]) -> Distribution:
    return [sum((p[i] * through[i][j] for i in range(len(p))), Fraction(0)) for j in range(len(through[0]))]


def ratios(p: Distribution, q: Distribution) -> list[Fraction | float]:
    return [float("inf") if b == 0 else a / b for a, b in zip(p, q, strict=True) if a or b]


def largest_ratio(p: Distribution, q: Distribution) -> Fraction | float:
    """The exponential of the max divergence, either way."""
    return max(*ratios(p, q), *ratios(q, p), Fraction(1))


def range_of_ratios(p: Distribution, q: Distribution) -> Fraction | float:
    """The exponential of the range of the privacy loss."""
    seen = ratios(p, q)
    return float("inf") if 0 in seen or float("inf") in seen else Fraction(max(seen)) / Fraction(min(seen))


def hockey_stick(p: Distribution, q: Distribution, factor: Fraction) -> Fraction:
    return sum((max(Fraction(0), a - factor * b) for a, b in zip(p, q, strict=True)), Fraction(0))


def renyi_moment(p: Distribution, q: Distribution, order: int) -> Fraction:
    """The exponential of (order - 1) times the Renyi divergence; q has no zeros."""
    return sum((a**order / b ** (order - 1) for a, b in zip(p, q, strict=True)), Fraction(0))


def renyi_moment_of_order_three_halves(p: Distribution, q: Distribution) -> Decimal:
    def decimal(number: Fraction) -> Decimal:
        return Decimal(number.numerator) / Decimal(number.denominator)

    return sum((decimal(a) * (decimal(a) / decimal(b)).sqrt() for a, b in zip(p, q, strict=True)), Decimal(0))


def cases(seed: int, *, zeros: bool) -> list[tuple[Distribution, Distribution, Distribution, Distribution]]:
    """Pairs of distributions, and the same pairs after a random kernel."""
    dice = random.Random(seed)
    made = []
    for _ in range(300):
        size, after = dice.randrange(2, 6), dice.randrange(1, 6)
        p, q = distribution(dice, size, zeros=zeros), distribution(dice, size, zeros=zeros)
        through = kernel(dice, size, after)
        pairs = zip(pushed(p, through), pushed(q, through), strict=True)
        p_after, q_after = zip(*((a, b) for a, b in pairs if a or b), strict=True)  # what neither has is no outcome
        made.append((p, q, list(p_after), list(q_after)))
    return made


def test_post_processing_ensures_that_pure_losses_do_not_grow() -> None:
    for p, q, p_after, q_after in cases(1, zeros=True):
        assert largest_ratio(p_after, q_after) <= largest_ratio(p, q)


def test_post_processing_ensures_that_approximate_losses_profiles_and_trade_offs_do_not_grow() -> None:
    # Factors below 1 too: together they make up the whole trade-off curve, which Gaussian privacy bounds.
    factors = [Fraction(n, 4) for n in (0, 1, 2, 3, 4, 5, 6, 8, 12, 40)]
    for p, q, p_after, q_after in cases(2, zeros=True):
        for factor in factors:
            assert hockey_stick(p_after, q_after, factor) <= hockey_stick(p, q, factor)
            assert hockey_stick(q_after, p_after, factor) <= hockey_stick(q, p, factor)


def test_post_processing_ensures_that_renyi_and_concentrated_losses_do_not_grow() -> None:
    for p, q, p_after, q_after in cases(3, zeros=False):
        for order in (2, 3, 4, 9):
            assert renyi_moment(p_after, q_after, order) <= renyi_moment(p, q, order)
        with localcontext() as context:
            context.prec = 60
            before, after = (renyi_moment_of_order_three_halves(*pair) for pair in ((p, q), (p_after, q_after)))
            assert after <= before + Decimal("1e-50")


def test_post_processing_ensures_that_bounded_ranges_do_not_grow() -> None:
    for p, q, p_after, q_after in cases(4, zeros=True):
        assert range_of_ratios(p_after, q_after) <= range_of_ratios(p, q)


@for_each(
    "loss",
    [
        vm.pure("1/3"),
        vm.approx(1, "1e-6"),
        vm.zcdp("1/2"),
        vm.approx_zcdp(1, "1e-9"),
        vm.gdp(1),
        vm.bounded_range(1),
        vm.renyi({2: 1}),
        vm.profile({1: "1e-3"}),
        vm.PureDP.infinite,
    ],
)
def test_post_processing_ensures_that_the_loss_is_unchanged_in_every_measure(loss: vm.Loss) -> None:
    tell = vm.measurement(ROWS, function=len, measure=loss.measure, privacy=lambda _: loss, trust="assumed")
    processed = tell >> vm.postprocess(str) >> vm.postprocess(len)
    assert processed.map(1) == loss == post_processing(loss)
    assert processed([0, 1, 2]) == 1


def test_post_processing_requires_that_the_function_reads_nothing_but_the_release() -> None:
    handed: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def record(*args: Any, **kwargs: Any) -> str:
        handed.append((args, kwargs))
        return "processed"

    tell = vm.measurement(
        ROWS, function=lambda _: "released", measure=vm.PureDP, privacy=lambda _: vm.pure(0), trust="constant"
    )
    assert (tell >> vm.postprocess(record))([0, 1]) == "processed"
    assert handed == [(("released",), {})]
    # The conclusion fails for a function that looks at the data: a constant release, and then the data themselves.
    p = q = [Fraction(1)]
    assert largest_ratio(p, q) == 1
    looked_at_x, looked_at_y = [Fraction(1), Fraction(0)], [Fraction(0), Fraction(1)]
    assert largest_ratio(looked_at_x, looked_at_y) == float("inf")


# --- trusted-map


def test_trusted_map_ensures_that_the_bound_is_what_the_map_gives() -> None:
    asked = []

    def stability(d_in: Fraction) -> Fraction:
        asked.append(d_in)
        return 2 * d_in

    assert trusted_map(3, map=lambda d: 2 * d) == 6
    assert doubled_count(stability).map(3) == 6
    assert asked == [Fraction(3)] and type(asked[0]) is Fraction


def test_trusted_map_ensures_that_infinite_bounds_are_taken() -> None:
    for infinite in (float("inf"), "inf"):
        assert doubled_count(lambda _, infinite=infinite: infinite).map(1) == float("inf")  # type: ignore[misc]


@for_each(
    "wrong",
    [-1, Fraction(-1, 2), 0.5, 1.0, float("nan"), float("-inf"), True, None, "x", "-1", [1], vm.pure(1)],
)
def test_trusted_map_ensures_a_distance_and_refuses_everything_else(wrong: Any) -> None:
    broken = doubled_count(lambda _: wrong)
    for ask in (broken.map, broken.explain, (broken >> thirds()).map, lambda d: broken.check(d, 1)):
        with pytest.raises(MapError, match="stability map of transformation"):
            ask(1)


def test_trusted_map_ensures_whole_distances_where_the_metric_counts() -> None:
    halves = vm.transformation(ROWS, function=lambda rows: rows, output=ROWS, stability=lambda d: d / 2, trust="wrong")
    assert halves.map(2) == 1
    with pytest.raises(MapError, match="whole"):
        halves.map(1)


def test_trusted_map_ensures_a_distance_also_where_the_wrong_one_is_too_long_to_be_written() -> None:
    # Once: ValueError (Exceeds the limit (4300 digits)) instead of MapError.
    with pytest.raises(MapError):
        doubled_count(lambda _: -(10**5000)).map(1)


@for_each(
    "wrong",
    [-1, 1, 0.5, float("nan"), float("inf"), None, "1", Fraction(1), vm.zcdp(1), vm.approx(1, 0), vm.PureDP],
)
def test_trusted_map_ensures_a_loss_of_the_measure_and_refuses_everything_else(wrong: Any) -> None:
    tell = vm.measurement(NUMBER, function=abs, measure=vm.PureDP, privacy=lambda _: wrong, trust="wrong")
    for ask in (tell.map, tell.explain, (doubled_count() >> tell).map, lambda d: tell.check(d, vm.pure(1))):
        with pytest.raises(MapError, match="expected a loss of PureDP"):
            ask(1)


def test_trusted_map_requires_a_statement_of_trust() -> None:
    for trust in ("", "   ", None, 1):
        wrong: Any = trust
        with pytest.raises(ParameterError, match="trust="):
            vm.transformation(ROWS, function=len, output=NUMBER, stability=lambda d: d, trust=wrong)
        with pytest.raises(ParameterError, match="trust="):
            vm.measurement(ROWS, function=len, measure=vm.PureDP, privacy=lambda _: vm.pure(0), trust=wrong)


def test_trusted_map_requires_that_the_statement_is_true_so_it_is_listed_in_every_explanation() -> None:
    # The conclusion fails when it is not: this one is vouched for as 0-stable, and is not.
    broken = doubled_count(lambda _: 0)
    assert broken.map(1) == 0 and NUMBER.distance(broken([1]), broken([])) == 2
    for explained in (broken, broken >> thirds()):
        assert "each row counts twice (transformation <lambda>)" in explained.explain(1).assumptions
        assert "each row counts twice" in str(explained.explain(1))


# --- bounds


def test_a_bound_is_made_by_registered_theorems_only() -> None:
    assert by(chain, maps=(abs,))(-3) == 3
    with pytest.raises(RegistryError, match="len"):
        by(len)


def test_a_trusted_bound_carries_its_statement() -> None:
    bound = trusted(lambda d: 3 * d, trust="three at most")
    assert bound(2) == 6 and bound.assumes == ("three at most",) and bound.theorem.slug == "trusted-map"
