"""Exact distributions against a naive enumeration of paths, and every mass accounted for."""

from __future__ import annotations

from fractions import Fraction
from random import Random
from typing import Any
from unittest.mock import patch

import mpmath  # type: ignore[import-untyped]
import pytest
from tests.cases import for_each
from tests.logic.exact import naive
from tests.logic.exact.random_programs import SCALES, random_text, threshold_text

from viameter.errors import ParameterError
from viameter.logic.exact import Effort, Exponent, distribution, law_of, masses_of
from viameter.logic.exact import enumerating as enumerating_file
from viameter.logic.exact.compiling import Step, machine_of
from viameter.logic.lang.core import Laplace, Program
from viameter.logic.lang.parsing import read_program
from viameter.logic.lang.scales import Monomial

BASE = Fraction(3, 2)
BUDGETS = {"eps": Exponent(BASE, 4)}
RATIOS = {
    scale: BASE ** -int(4 / Fraction(*map(int, (scale.removesuffix("/eps") + "/1").split("/")[:2]))) for scale in SCALES
}

ABOVE = """program above
input q: list
input t: int
budget eps
begin
  a :=$ lap(2/eps)
  noisy := t + a
  i := 0
  found := false
  result := -1
  while i < len(q) and not found do
    b :=$ lap(4/eps)
    if q[i] + b >= noisy then
      result := i
      found := true
    end
    i := i + 1
  end
end
return result
"""


def enclosed(program: Program, inputs: dict[str, Any], window: int) -> None:
    """The bounds on each output's probability are within what the naive enumeration knows."""
    masses, lost = naive.distribution(program, inputs, RATIOS, window)
    found = distribution(program, inputs, BUDGETS, window=window)
    assert found.exact
    assert found.below.total() == 1
    for output in {*masses, *found.outcomes}:
        mass = masses.get(output, Fraction(0))
        bounds = found.probability(output)
        assert mass <= bounds.low <= bounds.high <= mass + lost
        if program.output.sort == "list":
            aimed = distribution(program, inputs, BUDGETS, window=window, goal=output)
            assert aimed.below.total() == 1
            again = aimed.probability(output)
            assert mass <= again.low <= again.high <= mass + lost
            # Where a tail meets the goal, one way may know less than the other.
            assert again.low <= bounds.high and bounds.low <= again.high


@for_each("seed", range(70))
def test_random_programs_have_the_masses_of_all_their_paths(seed: int) -> None:
    random = Random(seed)
    program = read_program(random_text(random))
    inputs = {
        "q": tuple(random.randint(-3, 3) for _ in range(random.randint(0, 3))),
        "t": random.randint(-1, 2),
        "yes": random.random() < 0.5,
    }
    enclosed(program, inputs, window=2)
    # And the long way, on which every value drawn is gone through.
    with patch.object(enumerating_file, "_machine", lambda p, *, aimed: machine_of(p, aimed=aimed, short=False)):
        enclosed(program, inputs, window=2)


@for_each("seed", range(60))
def test_however_narrow_the_window_the_bounds_hold_the_truth(seed: int) -> None:
    random = Random(seed)
    text = threshold_text(random)
    try:
        program = read_program(text)
    except ParameterError:  # a variable that is never assigned
        program = read_program(text.replace("begin\n", "begin\nx := 0\np := false\n"))
    inputs = {"q": (random.randint(-2, 2),), "t": random.randint(-2, 2), "yes": random.random() < 0.5}
    masses, lost = naive.distribution(program, inputs, RATIOS, 8)
    some = random.sample(sorted(masses), min(8, len(masses)))
    for window in (0, 1, 3):
        found = distribution(program, inputs, BUDGETS, window=window)
        assert found.below.total() == 1
        for output in masses:
            bound = found.probability(output)
            assert bound.low <= masses[output] + lost
            assert bound.high >= masses[output]
        for output in some if program.output.sort == "list" else ():
            aimed = distribution(program, inputs, BUDGETS, window=window, goal=output)
            assert aimed.below.total() == 1
            bound = aimed.probability(output)
            assert bound.low <= masses[output] + lost
            assert bound.high >= masses[output]


@for_each("seed", range(160, 210))
def test_with_more_window_the_bounds_only_close(seed: int) -> None:
    random = Random(seed)
    program = read_program(random_text(random, samples=4))
    inputs = {"q": (1, -2), "t": random.randint(0, 1), "yes": True}
    narrow = distribution(program, inputs, BUDGETS, window=1)
    wide = distribution(program, inputs, BUDGETS, window=5)
    assert narrow.below.total() == wide.below.total() == 1
    for output in wide.outcomes:
        less, more = narrow.probability(output), wide.probability(output)
        assert less.low <= more.low <= more.high <= less.high


@for_each("factor", [2, 3, -2, -3])
@for_each("op", ["<=", "<", ">=", ">"])
def test_a_test_of_a_multiple_loses_nothing_within_the_window(factor: int, op: str) -> None:
    text = f"program p\nbegin\nb :=$ uniform(-5, 5)\nx := 1 + ({factor}) * b {op} 2\nend\nreturn x\n"
    expected = sum(eval(f"1 + ({factor}) * {b} {op} 2") for b in range(-5, 6))
    found = distribution(read_program(text), {}, {})
    assert found.probability(True).low == found.probability(True).high == Fraction(expected, 11)
    noisy = distribution(read_program(text.replace("uniform(-5, 5)", "lap(3/ln(2))")), {}, {}, window=4)
    assert noisy.lost.high == 0


def test_above_threshold_has_the_masses_of_all_its_paths() -> None:
    enclosed(read_program(ABOVE), {"q": (0, 1), "t": 0}, window=9)


def test_only_what_is_undecided_is_lost() -> None:
    program = read_program(ABOVE)
    _, naively = naive.distribution(program, {"q": (0,), "t": 0}, RATIOS, 6)
    found = distribution(program, {"q": (0,), "t": 0}, BUDGETS, window=6)
    assert 0 < found.lost.high < naively / 20


def test_a_noisy_number_loses_nothing_and_its_tails_are_vague() -> None:
    text = "program p\ninput q: int\nbudget eps\nbegin\nx :=$ lap(1/eps)\ny := q + 2 * x\nend\nreturn y\n"
    found = distribution(read_program(text), {"q": 1}, {"eps": Exponent(Fraction(2))}, window=3)
    assert found.lost.high == 0
    assert sorted(map(str, found.vague)) == ["-inf..-7", "9..inf"]
    assert {key: mass.low for key, mass in found.outcomes.items()} == {
        1 + 2 * k: Fraction(1, 3) / 2 ** abs(k) for k in range(-3, 4)
    }
    # No tail can reach an even number within the window; what it can reach beyond is bounded by the tail.
    assert found.probability(2).high == 0
    assert found.probability(9).high == Fraction(1, 24)


def test_a_tail_counts_only_where_the_rest_of_the_list_agrees() -> None:
    text = (
        "program p\nbudget eps\nbegin\nf :=$ flip(1/2)\nx :=$ lap(1/eps)\nappend(o, f)\nappend(o, x)\nend\nreturn o\n"
    )
    found = distribution(read_program(text), {}, {"eps": Exponent(Fraction(2))}, window=2)
    tail = Fraction(1, 2) * Fraction(1, 12)
    assert found.probability((True, 5)).high == found.probability((False, -3)).high == tail
    assert found.probability((True,)).high == found.probability((True, 5, 5)).high == 0
    assert found.probability((True, 5), (False, 5)).high == 2 * tail


def test_budgets_that_are_rational_give_bounds_around_the_closed_form() -> None:
    text = "program p\ninput q: int\nbudget eps\nbegin\nx :=$ lap(2/eps, q)\nend\nreturn x\n"
    found = distribution(read_program(text), {"q": 0}, {"eps": Fraction(1, 3)})
    assert not found.exact
    with mpmath.workdps(80):
        x = mpmath.exp(-mpmath.mpf(1) / 6)
        for k in range(-5, 6):
            bounds = found.probability(k)
            mass = (1 - x) / (1 + x) * x ** abs(k)
            assert mpmath.mpf(bounds.low.numerator) / bounds.low.denominator < mass
            assert mpmath.mpf(bounds.high.numerator) / bounds.high.denominator > mass
            assert bounds.high - bounds.low < Fraction(1, 10**50)
    assert found.below.total() < 1 < found.above.total()


def test_a_limit_on_states_loses_the_lightest_and_says_so() -> None:
    text = "program p\nbudget eps\nbegin\nx :=$ lap(1/eps)\ny :=$ lap(1/eps)\nz := x + 3 * y\nend\nreturn z\n"
    program = read_program(text)
    cut = distribution(program, {}, BUDGETS, effort=Effort(window=5, states=7))
    whole = distribution(program, {}, BUDGETS, effort=Effort(window=5))
    assert cut.below.cut and not whole.below.cut
    assert cut.below.total() == 1 and cut.lost.low > 0
    for output, mass in cut.outcomes.items():
        assert (
            mass.low <= whole.probability(output).low <= whole.probability(output).high <= cut.probability(output).high
        )


def test_a_loop_that_does_not_end_is_lost() -> None:
    text = "program p\nbegin\nx :=$ flip(1/3)\ny := 1\nwhile x do\ny := 1 - y\nend\nend\nreturn y\n"
    found = distribution(read_program(text), {}, {}, effort=Effort(rounds=50))
    assert found.lost.low == found.lost.high == Fraction(1, 3)
    assert found.probability(1).low == Fraction(2, 3) and found.probability(1).high == 1


def test_after_its_deadline_everything_is_lost() -> None:
    found = distribution(read_program(ABOVE), {"q": (0,), "t": 0}, BUDGETS, effort=Effort(deadline=0.0))
    assert found.lost.low == 1 and found.outcomes == {}


def test_an_output_that_is_an_input_is_certain() -> None:
    text = "program p\ninput q: int\nbegin\nx :=$ flip(1/2)\nend\nreturn q\n"
    assert distribution(read_program(text), {"q": 7}, {}).probability(7).low == 1


def test_noise_around_the_variable_that_it_goes_to() -> None:
    text = "program p\nbudget eps\nbegin\nx := 3\nx :=$ lap(1/eps, x)\nx :=$ lap(1/eps, x)\nend\nreturn x\n"
    found = distribution(read_program(text), {}, {"eps": Exponent(Fraction(2))}, effort=Effort(bits=60))
    third = sum(Fraction(1, 9) / 4 ** abs(k) for k in range(-60, 61))
    assert third <= found.probability(3).high and abs(third - found.probability(3).low) < Fraction(1, 2**100)


def test_a_uniform_law_whose_ends_depend_on_the_state() -> None:
    text = "program p\nbegin\nx :=$ uniform(0, 2)\ny :=$ uniform(0, x)\nend\nreturn y\n"
    found = distribution(read_program(text), {}, {})
    assert {key: mass.low for key, mass in found.outcomes.items()} == {
        0: Fraction(11, 18), 1: Fraction(5, 18), 2: Fraction(1, 9),
    }  # fmt: skip


def test_wrong_inputs_are_refused() -> None:
    program = read_program(ABOVE)
    for inputs in ({"q": (0,)}, {"q": (0,), "t": 0, "u": 0}, {"q": 0, "t": 0}, {"q": (0,), "t": True}):
        with pytest.raises(ParameterError):
            distribution(program, inputs, BUDGETS)
    with pytest.raises(ParameterError, match="no budget"):
        distribution(program, {"q": (0,), "t": 0}, {})
    with pytest.raises(ParameterError, match="goal"):
        distribution(program, {"q": (0,), "t": 0}, BUDGETS, goal=(1,))
    calling = read_program("program p\ninput q: int\nbegin\nx :=$ call gauss(q)\nend\nreturn x\n")
    with pytest.raises(ParameterError, match="mechanism"):
        distribution(calling, {"q": 0}, {})


def test_upper_weights_are_never_below_lower_ones() -> None:
    program = read_program(ABOVE)
    for high in (False, True):
        masses, exact = masses_of(program, {"q": (0, 2), "t": 1}, {"eps": Fraction(1)}, high=high)
        assert not exact
        assert (masses.total() > 1) == high


def test_a_choice_with_sampling_in_it_goes_by_its_test_alone() -> None:
    text = """program p
input t: int
budget eps
begin
  a :=$ lap(1/eps)
  b :=$ lap(4/eps)
  if t <= a + b then
    x :=$ flip(1/2)
    if x then
      c :=$ flip(1/3)
    end
  end
end
return c
"""
    program = read_program(text)
    enclosed(program, {"t": 1}, window=6)
    machine = machine_of(program)
    # After the second noise its test is all that is left of both: two states.
    first, second = machine.operations[:2]
    assert isinstance(first, Step) and isinstance(second, Step)
    table = law_of(Laplace(Monomial(Fraction(1), (), "eps")), {}, BUDGETS, window=6)
    states, lost, _ = first.run({(False,) * len(machine.start): 1}, table.deck(), table.denominator, None, (1,))
    states, more, _ = second.run(states, table.deck(), table.denominator, None, (1,))
    assert len(states) == 2 and sum(states.values()) + lost + more == table.denominator**2
