"""The oracle of these tests, against the definition of what it computes."""

from fractions import Fraction
from itertools import chain, combinations
from random import Random

from tests.logic.kernel.enumerator import World, excess, shortfall
from tests.logic.kernel.proving import program


def test_the_shortfall_is_the_largest_over_all_events() -> None:
    random = Random(1)
    for _ in range(150):
        size = random.randint(1, 5), random.randint(1, 5)
        one, other = ({k: Fraction(random.randint(0, 5), 7) for k in range(n)} for n in size)
        pairs = {(a, b) for a in one for b in other if random.random() < 0.5}
        factor = Fraction(random.randint(2, 6), 2)
        worst = Fraction(0)
        for event in chain.from_iterable(combinations(one, n) for n in range(len(one) + 1)):
            images = {b for a, b in pairs if a in event}
            worst = max(worst, sum((one[a] for a in event), Fraction(0)) - factor * sum(other[b] for b in images))
        assert shortfall(one, other, factor, lambda a, b, pairs=pairs: (a, b) in pairs) == worst  # type: ignore[misc]


def test_equality_has_the_excess_as_shortfall() -> None:
    one, other = {0: Fraction(1, 2), 1: Fraction(1, 2)}, {0: Fraction(1, 8), 1: Fraction(3, 4), 2: Fraction(1, 8)}
    assert excess(one, other, Fraction(2)) == shortfall(one, other, Fraction(2), lambda a, b: a == b) == Fraction(1, 4)


def test_a_program_has_the_law_that_one_finds_by_hand() -> None:
    made = program(
        "x :=$ lap(1/eps, q)", "if x > 0 then", "  r := 1", "end", "while r < 3 and x > 0 do", "  r := r + 1", "end"
    )
    world = World({"eps": (Fraction(2), 1)}, window=30)
    found, lost = world.outputs(made.body, {"q": 0}, "r")
    assert (
        lost == Fraction(2, 3) / 2**30
        and found[3] == Fraction(1, 3) - lost / 2
        and found[0] == Fraction(2, 3) - lost / 2
    )
    made = program("x :=$ expo(1/eps)", "b :=$ flip(1/3)", "append(r, x)", "if b then", "  append(r, 7)", "end")
    found, _ = world.outputs(made.body, {"q": 0}, "r")
    assert found[1, 7] == Fraction(1, 12) and found[2,] == Fraction(1, 12)
