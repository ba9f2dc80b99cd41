"""Laplace noise with a fixed budget: the couplings exist at the stated cost, and at no smaller one."""

from fractions import Fraction
from random import Random
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.kernel.enumerator import World, pair_memory, shortfall, value
from tests.logic.kernel.proving import facts, oracle, program, term

from viameter.errors import NoTheorem, ParameterError
from viameter.logic.kernel.judgment import Judgment
from viameter.logic.kernel.rules.amounts import logarithmic_budget, rate_of, ratio_of_steps_up
from viameter.logic.kernel.rules.laplace_rules import (
    laplace_general,
    laplace_interval,
    laplace_null,
    laplace_shifted,
    laplace_simple,
    probability_of,
)
from viameter.logic.lang.core import Sample
from viameter.logic.lang.scales import Monomial, Unit, logarithm_of
from viameter.logic.lang.terms import ONE, ZERO, Num, Var
from viameter.logic.solving.oracle import Oracle

STEP = Fraction(1, 2)
WORLD = World({"eps": (Fraction(2), 1)}, window=14)


def asks_for(law: str = "lap(1/eps, q)") -> Oracle:
    made = program(f"x :=$ {law}", "y :=$ lap(1/eps, q + 1)", "r := x + y", inputs=("q: int", "N: int"))
    return oracle(made, "eps", "true")


def draws(asks: Oracle) -> tuple[Sample, Sample]:
    first, second = asks.context.program.body.statements[:2]
    assert isinstance(first, Sample) and isinstance(second, Sample)
    return first, second


def least_factor(made: Judgment, runs: tuple[dict[str, Any], dict[str, Any]]) -> tuple[Fraction, Fraction]:
    """What is missing of a coupling within the post-condition at the stated cost, and at a slightly smaller one."""
    (post,) = made.post
    left, right = made.left.statements[0], made.right.statements[0]
    assert isinstance(left, Sample) and isinstance(right, Sample)
    one, _ = WORLD.law(left.law, runs[0])
    other, lost = WORLD.law(right.law, runs[1])
    fixed = pair_memory(*runs)
    names = f"{left.target.name}<1>", f"{right.target.name}<2>"
    factor = Fraction(1)
    for base, amount in made.budget.items():
        assert isinstance(amount, Num)
        ratio = Fraction(2) if base == "eps" else logarithm_of(base)
        unit = made.context.units[base].number
        assert ratio is not None and amount.value % unit == 0
        factor *= ratio ** (amount.value // unit)

    def missing(at: Fraction) -> Fraction:
        related = lambda a, b: bool(value(post.term, {**fixed, names[0]: a, names[1]: b}))  # noqa: E731
        return shortfall(one, other, at, related) - at * lost

    return missing(factor), missing(factor * Fraction(99, 100))


def test_the_rules_of_the_slides_are_stated_as_on_the_slides() -> None:
    asks = asks_for()
    first, second = draws(asks)
    simple = laplace_simple(asks.context, first)
    assert (simple.pre, simple.post) == (facts(asks, "abs(q<1> - q<2>) <= 1"), facts(asks, "x<1> == x<2>"))
    assert dict(simple.budget) == {"eps": ONE}
    general = laplace_general(asks.context, first, second, distance=Num(3))
    assert (general.pre, general.post) == (facts(asks, "abs(q<1> - (q<2> + 1)) <= 3"), facts(asks, "x<1> == y<2>"))
    assert dict(general.budget) == {"eps": Num(3)}
    null = laplace_null(asks.context, first)
    assert (null.pre, null.post, dict(null.budget)) == ((), facts(asks, "x<1> - q<1> == x<2> - q<2>"), {})
    public = laplace_general(asks.context, first, distance=Var("N"))
    assert dict(public.budget) == {"eps": Var("N")}


def test_shifted_couplings_exist_at_their_cost_and_the_worst_needs_it() -> None:
    random, tight = Random(3), 0
    asks = asks_for()
    for _ in range(60):
        left, right = random.choice(draws(asks)), random.choice(draws(asks))
        shift, distance = random.choice(("0", "1", "-2", "q<1>", "q<2> - q<1>")), random.randint(0, 3)
        made = laplace_shifted(asks.context, left, right, shift=term(asks, shift), distance=Num(distance))
        q = random.randint(-2, 2), random.randint(-2, 2)
        runs = {"q": q[0], "x": 5, "y": 5}, {"q": q[1], "x": 6, "y": 7}
        if all(value(entry.term, pair_memory(*runs)) for entry in made.pre):
            enough, less = least_factor(made, runs)
            assert enough <= 0
            tight += less > 0
    assert tight >= 5


def test_the_null_coupling_costs_nothing() -> None:
    asks = asks_for()
    first, second = draws(asks)
    for q in (-3, 0, 4):
        assert least_factor(laplace_null(asks.context, first, second), ({"q": 0}, {"q": q}))[0] <= 0


@for_each("shift", ["x<1>", "x<2>", "0 - x<1>", "cost.eps", "N + nobody", "x.v3", "true", "q"])
def test_a_shift_is_an_integer_that_the_draw_does_not_change(shift: str) -> None:
    """x<1> + x<1> == x<2> as a post-condition would relate what was drawn, not what was there before."""
    asks = asks_for()
    first, _ = draws(asks)
    told = term(asks, shift, "nobody", "x.v3")
    with pytest.raises(ParameterError):
        laplace_shifted(asks.context, first, shift=told, distance=ONE)


@for_each("distance", ["q<1>", "x<1>", "q<1> - q<2>", "cost.eps", "any.k", "r"])
def test_a_distance_is_fixed(distance: str) -> None:
    """|q<1> - q<2>| <= |q<1> - q<2>| always holds: it would be free to spend what the data say."""
    asks = asks_for()
    with pytest.raises(ParameterError):
        laplace_general(asks.context, draws(asks)[0], distance=term(asks, distance))


def test_scales_are_the_same_public_and_positive() -> None:
    asks = asks_for("lap(2/eps, q)")
    first, second = draws(asks)
    for rule in (laplace_simple, laplace_null):
        with pytest.raises(ParameterError, match="the same in both runs"):
            rule(asks.context, first, second)
    _, good = draws(asks)
    one = Fraction(1)
    bad = [
        Monomial(one, (Var("q"),), "eps"), Monomial(one, (Var("r"),), "eps"), Monomial(Fraction(0), (), "eps"),
        Monomial(one, (term(asks, "abs(q<1>) + 1"),), "eps"),
        Monomial(one, (), "other"), Monomial(3 * one, (), "eps"), Monomial(one, (Var("N"),), "eps"),
    ]  # fmt: skip
    for scale in bad:
        with pytest.raises(ParameterError):
            rate_of(asks.context, scale, 1)
    assert rate_of(asks.context, Monomial(Fraction(2), (), "eps"), 1) == ONE
    with pytest.raises(ParameterError):
        laplace_null(asks.context, Sample(good.target, good.law.__class__(bad[0], ZERO)))  # type: ignore[call-arg,arg-type]
    wrong = oracle(asks.context.program, "eps", "true", units={"eps": Unit(2, (Var("N"),))})
    assert rate_of(wrong.context, Monomial(Fraction(2), (), "eps"), 1) == Var("N")
    assert rate_of(wrong.context, Monomial(Fraction(2), (Var("N"),), "eps"), 1) == ONE


def test_a_center_that_the_draw_changes_has_no_null_coupling() -> None:
    """x :=$ lap(1/eps, x): afterwards x<1> - x<1> == x<2> - x<2> says nothing."""
    asks = oracle(program("x := q", "x :=$ lap(1/eps, x)", "r := x"), "ln(2)", "true")
    statement = asks.context.program.body.statements[1]
    assert isinstance(statement, Sample)
    with pytest.raises(ParameterError, match="the center speaks of x"):
        laplace_null(asks.context, statement)
    assert laplace_simple(asks.context, statement).pre == facts(asks, "abs(x<1> - x<2>) <= 1")
    other = oracle(program("x :=$ flip(1/2)", "if x then", "r := 1", "end"), "eps", "true").context
    coin = other.program.body.statements[0]
    assert isinstance(coin, Sample)
    with pytest.raises(ParameterError):
        laplace_simple(other, coin)


def interval_asks(claim: str = "ln(2)") -> Oracle:
    return oracle(program("x :=$ lap(1/ln(2), q)", "r := x"), claim, "true")


def test_intervals_have_the_probability_that_one_adds_up() -> None:
    table, lost = WORLD.law(draws(asks_for("lap(1/eps)"))[0].law, {})
    for low, high in ((0, 0), (-2, 3), (1, 4), (-5, -1), (2, 1), (None, -2), (None, 3), (1, None), (None, None)):
        inside = sum(
            (p for k, p in table.items() if (low is None or low <= k) and (high is None or k <= high)), Fraction(0)
        )
        assert inside <= probability_of(STEP, (low, high)) <= inside + lost
    assert probability_of(STEP, (2, 1)) == 0 and probability_of(STEP, (None, None)) == 1


def test_intervals_are_coupled_at_the_exact_worst_ratio() -> None:
    cases = [
        ((0, None), (0, None), (0, 1)), ((0, None), (0, None), (-1, 0)), ((0, None), (1, None), None),
        ((0, 2), (-1, 2), (0, 2)), ((-1, 1), (-1, 1), (-2, 2)), ((None, 3), (None, 1), (0, 1)),
        ((1, 0), (5, 4), (0, 0)),
    ]  # fmt: skip
    for mine, theirs, apart in cases:
        gaps = [0] if apart is None else range(apart[0], apart[1] + 1)
        ratios = []
        for gap in gaps:
            moved = tuple(None if end is None else end - gap for end in theirs)
            p, q = probability_of(STEP, mine), probability_of(STEP, moved)  # type: ignore[arg-type]
            ratios.append(max(p / q if p else 0, (1 - p) / (1 - q) if p < 1 else 0))
        asks = interval_asks(f"ln({max(ratios)})" if max(ratios) > 1 else "ln(2)")
        statement = draws_of(asks)
        made = laplace_interval(asks.context, statement, mine=mine, theirs=theirs, apart=apart)
        tight = []
        for gap in gaps if apart is not None else (-2, 0, 3):
            enough, less = least_factor(made, ({"q": 7}, {"q": 7 + gap}))
            assert enough <= 0
            tight.append(less > 0)
        assert any(tight)


def draws_of(asks: Oracle) -> Sample:
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Sample)
    return statement


def test_intervals_that_cannot_be_coupled_are_refused() -> None:
    asks = interval_asks()
    statement = draws_of(asks)
    for mine, theirs in (((0, 0), (1, 0)), ((0, 0), (None, None)), ((None, None), (3, 2))):
        with pytest.raises(NoTheorem):
            laplace_interval(asks.context, statement, mine=mine, theirs=theirs)
    with pytest.raises(ParameterError):
        laplace_interval(asks.context, statement, mine=(0, 0), theirs=(0, 0), apart=(1, 0))
    plain = asks_for()
    with pytest.raises(NoTheorem, match="rational"):
        laplace_interval(plain.context, draws(plain)[0], mine=(0, 0), theirs=(0, 0))
    half = oracle(program("x :=$ lap(2/ln(2), q)", "r := x"), "ln(2)", "true")
    with pytest.raises(NoTheorem, match="rational"):
        laplace_interval(half.context, draws_of(half), mine=(0, 0), theirs=(0, 0))


def test_logarithms_are_exact_or_rounded_up() -> None:
    made = program("r := q")
    for units, ratio, expected in (
        ({"ln(2)": Unit(1)}, "4", {"ln(2)": 2}),
        ({"ln(2)": Unit(3)}, "4", {"ln(2)": 6}),
        ({"ln(2)": Unit(1)}, "5", {"ln(2)": 3}),
        ({"ln(2)": Unit(100)}, "3", {"ln(2)": 159}),
        ({"ln(2)": Unit(1), "ln(5/4)": Unit(2)}, "5/4", {"ln(5/4)": 2}),
        ({"ln(10)": Unit(1), "ln(3)": Unit(1)}, "9", {"ln(3)": 2}),
        ({"ln(3)": Unit(1)}, "1", {}),
    ):
        context = oracle(made, "0", "true", units=units).context
        assert dict(logarithmic_budget(context, Fraction(ratio))) == {base: Num(n) for base, n in expected.items()}
    with pytest.raises(NoTheorem):
        logarithmic_budget(oracle(made, "eps", "true").context, Fraction(2))
    assert Fraction(2) ** 159 >= Fraction(3) ** 100 > Fraction(2) ** 158


def test_the_ratio_of_steps_is_rounded_up() -> None:
    assert ratio_of_steps_up(Monomial(Fraction(1, 2), (), "ln(3)"), 1) == Fraction(1, 9)
    found = ratio_of_steps_up(Monomial(Fraction(2), (), "ln(3)"), 1)  # 3^(-1/2)
    assert 0 < found**2 - Fraction(1, 3) < Fraction(1, 10**15)
    assert Fraction(36787944117, 10**11) < ratio_of_steps_up(Monomial(Fraction(1)), 1) < Fraction(36787944118, 10**11)
    one = Fraction(1)
    for scale in (Monomial(one, (), "eps"), Monomial(one, (Var("N"),)), Monomial(Fraction(0))):
        with pytest.raises(NoTheorem):
            ratio_of_steps_up(scale, 1)
