"""Coins and uniform draws with any relation: the cost is the least there is, by enumeration of all events."""

from fractions import Fraction
from random import Random

import pytest
from tests.cases import for_each
from tests.logic.kernel.enumerator import World, shortfall, value
from tests.logic.kernel.proving import oracle, program, term

from viameter.errors import NoTheorem, ParameterError
from viameter.logic.kernel.rules.finite import finite
from viameter.logic.lang.core import Sample
from viameter.logic.lang.scales import Unit
from viameter.logic.lang.terms import Num, Term
from viameter.logic.solving.oracle import Oracle

UNITS = {"ln(2)": Unit(1), "delta": Unit(120)}


def pair(first: str, second: str, units: dict[str, Unit] | None = None) -> tuple[Oracle, Sample, Sample]:
    made = program(f"x :=$ {first}", f"y :=$ {second}", "r := 0")
    left, right = made.body.statements[:2]
    assert isinstance(left, Sample) and isinstance(right, Sample)
    return oracle(made, "0", "true", units=UNITS if units is None else units), left, right


COINS = ("flip(1/2)", "flip(1/3)", "flip(0)", "flip(3/4)")
RANGES = ("uniform(0, 1)", "uniform(0 - 1, 2)", "uniform(1, 3)", "uniform(0, 4)")
OF_COINS = ("x<1> => y<2>", "x<1> == y<2>", "x<1> != y<2>", "true")
OF_RANGES = (
    "x<1> <= y<2>", "abs(x<1> - y<2>) <= 1", "x<1> == y<2>", "(x<1> > 0) == (y<2> > 0)", "x<1> % 2 == y<2> % 2"
)  # fmt: skip


def test_the_coupling_exists_and_no_smaller_delta_will_do() -> None:
    random, made = Random(8), 0
    for _ in range(80):
        laws, texts = random.choice(((COINS, OF_COINS), (RANGES, OF_RANGES)))
        asks, left, right = pair(random.choice(laws), random.choice(laws))
        relation, factor = term(asks, random.choice(texts)), Fraction(2) ** random.randint(0, 3)

        def related(a: object, b: object, relation: Term = relation) -> bool:
            return bool(value(relation, {"x<1>": a, "y<2>": b}))

        try:
            found = finite(asks.context, left, right, relation=relation, factor=factor)
        except NoTheorem:
            continue
        made += 1
        world = World()
        least = shortfall(world.law(left.law, {})[0], world.law(right.law, {})[0], factor, related)
        told = found.budget.get("delta", Num(0))
        assert isinstance(told, Num) and Fraction(told.value - 1, 120) < least <= Fraction(told.value, 120)
        assert found.budget.get("ln(2)", Num(0)) == Num(factor.numerator.bit_length() - 1)
    assert made >= 40


def test_without_a_factor_it_is_the_least_for_the_delta() -> None:
    asks, left, right = pair("flip(3/4)", "flip(1/4)", {"ln(3)": Unit(1), "delta": Unit(100)})
    made = finite(asks.context, left, right, relation=term(asks, "x<1> == y<2>"))
    assert (dict(made.budget), made.pre) == ({"ln(3)": Num(1)}, ())
    made = finite(asks.context, left, right, relation=term(asks, "x<1> == y<2>"), delta="1/2")
    assert dict(made.budget) == {"delta": Num(50)}
    assert dict(finite(asks.context, left, right, relation=term(asks, "x<1> == (not y<2>)")).budget) == {}


def test_the_example_of_the_slides_is_a_uniform_draw_against_a_biased_one() -> None:
    """(1/4, ...) against (1/5, 1/4, 1/4, 3/10) costs ln(5/4); as coins: 1/4 against 1/5."""
    asks, left, right = pair("flip(1/4)", "flip(1/5)", {"ln(5/4)": Unit(1)})
    assert dict(finite(asks.context, left, right, relation=term(asks, "x<1> == y<2>")).budget) == {"ln(5/4)": Num(1)}


def test_what_has_no_coupling_is_refused() -> None:
    asks, left, right = pair("uniform(0, 2)", "uniform(0, 2)")
    for text in ("x<1> < y<2>", "false", "x<1> == 0"):
        with pytest.raises(NoTheorem):
            finite(asks.context, left, right, relation=term(asks, text))
    asks, left, right = pair("flip(1/2)", "flip(0)")
    with pytest.raises(NoTheorem):
        finite(asks.context, left, right, relation=term(asks, "x<1> == y<2>"))
    made = finite(asks.context, left, right, relation=term(asks, "x<1> == y<2>"), delta="1/2")
    assert dict(made.budget) == {"delta": Num(60)}


@for_each("text", ["x<1> == q<1>", "x<2> == y<1>", "cost.delta == 0", "y<1> == y<2>", "x<1> + 1", "r<1> == 0"])
def test_a_relation_speaks_of_the_two_draws_alone(text: str) -> None:
    asks, left, right = pair("uniform(0, 2)", "uniform(0, 2)")
    with pytest.raises(ParameterError):
        finite(asks.context, left, right, relation=term(asks, text))


def test_a_law_is_finite_and_constant() -> None:
    for law in ("lap(1/ln(2))", "uniform(0, q)", "uniform(0, 5000)", "uniform(3, 2)", "flip(5/4)"):
        try:
            asks, left, _ = pair(law, "uniform(0, 2)")
        except ParameterError:
            continue
        with pytest.raises(ParameterError):
            finite(asks.context, left, relation=term(asks, "true"))


def test_a_cost_that_nobody_counts_is_refused() -> None:
    asks, left, right = pair("flip(1/2)", "flip(1/3)", {"eps": Unit(1)})
    with pytest.raises(NoTheorem):
        finite(asks.context, left, right, relation=term(asks, "x<1> == y<2>"))
    with pytest.raises(ParameterError):
        finite(asks.context, left, right, relation=term(asks, "x<1> == y<2>"), factor=1)
