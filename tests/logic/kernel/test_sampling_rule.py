"""The rule for sampling: random judgments against the definition of an approximate coupling, by exact flows."""

from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import pytest
from tests.logic.kernel.enumerator import World, pair_memory, shortfall, value
from tests.logic.kernel.proving import facts, oracle, program, term

from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.rules.sampling import sample
from viameter.logic.lang.core import Sample
from viameter.logic.lang.terms import variables
from viameter.logic.solving.oracle import Oracle

WINDOW = 8
EPS = {"eps": (Fraction(2), 2)}
"""eps = 2 ln 2: noise of scale 1/eps falls by 4 at each step, and of scale 2/eps by 2."""

SHIFTS = (
    "0", "1", "-1", "2", "q<2> - q<1>", "q<1> - q<2>", "q<1> - q<2> + 1", "ite(x<1> >= q<1>, 1, 0)",
    "ite(x<1> > 0, 1, -1)", "ite(x<1> == 0, 1, 0)", "ite(x<1> == 0, 1, ite(x<1> == 1, -1, 0))", "x<1>", "-x<1>",
    "ite(x<1> >= 1, -1, 0)", "ite(x<1> % 2 == 0, 1, -1)", "ite(q<1> > q<2>, 1, 0)",
    "ite(x<1> <= 0, -1, 1) + q<1> - q<2>", "-2*x<1>",
)  # fmt: skip
POSTS = (
    "x<1> == x<2>", "x<1> + 1 == x<2>", "x<1> <= x<2>", "x<1> >= x<2>", "(x<1> >= 0) == (x<2> >= 0)",
    "x<1> - q<1> == x<2> - q<2>", "x<1> >= 1 => x<2> >= 1", "abs(x<1> - x<2>) <= 1", "x<1> != 0 => x<2> != 0",
    "x<2> != 0", "x<2> != 1", "x<1> == 0 => x<2> == 0", "x<1> >= 1 => x<2> >= 2", "x<1> % 2 == x<2> % 2",
    "x<2> % 2 == 0", "x<1> == 2 => x<2> == 1",
)  # fmt: skip


def accepted(
    asks: Oracle, statement: Sample, shift: str, bounds: tuple[str, ...], memory: dict[str, Any], after: tuple[str, ...]
) -> bool:
    """Whether the rule's pre-condition holds of two memories, for all drawn values within the window."""
    choice = Choice(term(asks, shift), tuple(term(asks, text) for text in bounds))
    judgment = sample(asks.context, statement, choice, facts(asks, *after))
    for entry in judgment.pre:
        drawn = sorted((var for var in variables(entry.term) if ".v" in var.name), key=str)
        ranges = [(False, True) if var.sort == "bool" else range(-WINDOW - 1, WINDOW + 2) for var in drawn]
        for values in product(*ranges):
            if not value(entry.term, {**memory, **dict(zip(map(str, drawn), values, strict=True))}):
                return False
    return True


def holds(
    asks: Oracle, statement: Sample, pair: tuple[dict[str, Any], dict[str, Any]], post: str, factor: Fraction
) -> bool:
    """Whether a coupling within the post-condition can exist at this factor, given what was cut off."""
    world = World(EPS, WINDOW)
    one, _ = world.law(statement.law, pair[0])
    other, lost = world.law(statement.law, pair[1])
    related, fixed = term(asks, post), pair_memory(*pair)
    least = shortfall(one, other, factor, lambda a, b: bool(value(related, {**fixed, "x<1>": a, "x<2>": b})))
    return least <= factor * lost


@pytest.mark.parametrize("law", ["lap(1/eps, q)", "lap(2/eps, q)", "lap(1/eps)", "expo(1/eps)", "expo(2/eps)"])
def test_whatever_is_proved_of_shifted_noise_has_a_coupling(law: str) -> None:
    random = Random(law)
    asks = oracle(program(f"x :=$ {law}", "r := x"), "eps", "true")
    statement = first_of(asks)
    number = asks.context.units["eps"].number
    proved = 0
    for _ in range(300):
        shift, post, units = random.choice(SHIFTS), random.choice(POSTS), random.randint(0, 2 * number)
        pair = {"q": random.randint(-1, 1)}, {"q": random.randint(-1, 1)}
        memory = pair_memory(*pair) | {"cost.eps": 0}
        if accepted(asks, statement, shift, (), memory, (post, f"cost.eps <= {units}")):
            proved += 1
            factor = Fraction(4) ** units if number == 1 else Fraction(2) ** units
            assert holds(asks, statement, pair, post, factor), (law, shift, post, units, pair)
    assert 25 <= proved <= 240


def test_whatever_is_proved_of_coins_has_a_coupling() -> None:
    posts = ("x<1> == x<2>", "x<1> != x<2>", "x<1> => x<2>", "x<2>", "not x<2>", "x<1> == x<2> or q<1> > q<2>")
    proved = 0
    for p in ("1/2", "1/4", "4/5", "0", "1"):
        claim = {"1/4": "ln(3)", "4/5": "ln(4)"}.get(p, "ln(2)")
        asks = oracle(program(f"x :=$ flip({p})", "if x then", "  r := 1", "end"), claim, "true")
        for post, shift, units, first in product(posts, ("false", "true", "q<1> > q<2>"), (0, 1), (0, 1)):
            if p in ("0", "1") and shift != "false":
                continue
            pair = {"q": first}, {"q": 0}
            memory = pair_memory(*pair) | {f"cost.{claim}": 0}
            if accepted(asks, first_of(asks), shift, (), memory, (post, f"cost.{claim} <= {units}")):
                proved += 1
                factor = Fraction(int(claim[3:-1])) ** units
                assert holds(asks, first_of(asks), pair, post, factor), (p, post, shift, units)
    assert proved >= 40


def test_whatever_is_proved_of_uniform_draws_has_a_coupling() -> None:
    random, proved = Random(4), 0
    shifts = ("0", "1", "-1", "2", "q<1> - q<2>", "q<2>", "7*q<1>")
    same, apart = (oracle(program(f"x :=$ uniform({low}, 2)", "r := x"), "eps", "true") for low in ("0 - 1", "q"))
    for _ in range(400):
        asks = random.choice((same, apart))
        pair = {"q": random.randint(-1, 2)}, {"q": random.randint(-1, 2)}
        post, shift, memory = random.choice(POSTS), random.choice(shifts), pair_memory(*pair) | {"cost.eps": 0}
        if accepted(asks, first_of(asks), shift, (), memory, (post, "cost.eps <= 0")):
            proved += 1
            assert holds(asks, first_of(asks), pair, post, Fraction(1)), (post, shift, pair)
    assert 15 <= proved <= 200


def test_whatever_is_proved_of_the_exponential_mechanism_has_a_coupling() -> None:
    random, proved = Random(5), 0
    made = program("x :=$ choose(l, 2/eps)", "r := x", inputs=("l: list",))
    asks = oracle(made, "eps", "len(l) == 3", private=("l",))
    posts = ("x<1> == x<2>", "x<1> == x<2>", "x<2> <= 2", "x<1> == x<2> and x<1> <= 2", "x<2> != 0", "x<1> <= 0")
    for _ in range(350):
        low, high = random.choice(((0, 1), (-1, 1), (-1, 0), (0, 0), (1, 1), (-2, -1)))
        first = tuple(random.randint(0, 2) for _ in range(random.randint(0, 3)))
        second = tuple(entry + random.randint(low, high) for entry in first)
        bounds = random.choice(((low, high), (low, high), (low + 1, high), (low, high - 1)))
        units, post = random.randint(0, 2), random.choice(posts)
        memory = pair_memory({"l": first}, {"l": second}) | {"cost.eps": 0}
        if accepted(asks, first_of(asks), "0", tuple(map(str, bounds)), memory, (post, f"cost.eps <= {units}")):
            proved += 1
            pair = {"l": first}, {"l": second}
            assert holds(asks, first_of(asks), pair, post, Fraction(2) ** units), (pair, bounds, units)
    assert 40 <= proved <= 400


def test_an_empty_list_gives_the_first_index_in_both_runs() -> None:
    made = program("x :=$ choose(l, 1/eps)", "r := x", inputs=("l: list",))
    asks = oracle(made, "eps", "len(l) == 0", private=("l",))
    memory = pair_memory({"l": ()}, {"l": ()}) | {"cost.eps": 0}
    assert accepted(asks, first_of(asks), "0", ("0", "0"), memory, ("x<1> == 0 and x<2> == 0", "cost.eps <= 0"))
    assert not accepted(asks, first_of(asks), "0", ("0", "0"), memory, ("x<1> == 1",))


def first_of(asks: Oracle) -> Sample:
    statement = asks.context.program.body.statements[0]
    assert isinstance(statement, Sample)
    return statement
