"""What programs release has the probabilities that their texts say: 20000 runs each, against exact laws.

An outcome of probability p that occurs k times in n runs is taken as wrong where n KL(k/n, p) is above a limit: by
Chernoff's bound this is the case for a right sampler with probability at most 2 exp(-limit) for each outcome, so that
all tests of this file together raise a false alarm with probability at most 1e-9.
"""

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest
from tests.logic.running.programs import ABOVE, LAPLACE, RESPONSE, program

from viameter.logic.lang.core import Program
from viameter.logic.running.interpreter import Runner
from viameter.sampling import Tape

RUNS = 20_000
HALF = {"eps": Fraction(1, 2)}
OUTCOMES = 1000  # far more than are looked at in this file
LIMIT = math.log(2 * OUTCOMES / 1e-9)


def kl(share: float, chance: float) -> float:
    """The divergence of two coins."""
    total = 0.0
    for mine, other in ((share, chance), (1 - share, 1 - chance)):
        if mine > 0:
            total += mine * math.log(mine / other) if other > 0 else math.inf
    return total


def counts(core: Program, inputs: Mapping[str, Any], seed: int, runs: int = RUNS) -> Counter[Any]:
    runner = Runner.of(core, HALF if core.budgets else {})
    draws, entropy = runner.prepare(inputs), Tape.seeded(seed)
    return Counter(runner.run(inputs, draws, entropy) for _ in range(runs))


def off(found: Counter[Any], law: Mapping[Any, float]) -> float:
    """How far the outcome that is furthest off is off; what the law does not list is one outcome more."""
    rest, runs = 1 - sum(law.values()), found.total()
    others = runs - sum(found[outcome] for outcome in law)
    pairs = [(found[outcome], chance) for outcome, chance in law.items()] + [(others, max(rest, 1e-12))]
    return max(runs * kl(count / runs, chance) for count, chance in pairs)


def laplace_law(scale: float, center: int = 0, reach: int = 40) -> dict[int, float]:
    ratio = math.exp(-1 / scale)
    return {center + k: (1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-reach, reach + 1)}


def gauss_law(sigma: float, center: int = 0, reach: int = 40) -> dict[int, float]:
    weights = {center + k: math.exp(-(k**2) / (2 * sigma**2)) for k in range(-reach, reach + 1)}
    return normed(weights)


def normed(weights: Mapping[Any, float]) -> dict[Any, float]:
    total = sum(weights.values())
    return {outcome: weight / total for outcome, weight in weights.items()}


def above_law(q: list[int], t: int, epsilon: float) -> dict[int, float]:
    """The first index whose noisy value reaches the noisy threshold, by summing over the threshold's noise."""
    law = dict.fromkeys((-1, *range(len(q))), 0.0)
    ratio = math.exp(-epsilon / 4)

    def tail(least: int) -> float:
        return ratio**least / (1 + ratio) if least >= 0 else 1 - ratio ** (1 - least) / (1 + ratio)

    for noise, chance in laplace_law(2 / epsilon, reach=300).items():
        left = chance
        for place, value in enumerate(q):
            reached = tail(t + noise - value)
            law[place] += left * reached
            left *= 1 - reached
        law[-1] += left
    return law


def drawing(law: str, *inputs: str) -> Program:
    return program("program one", *inputs, "budget eps", "begin", f"y :=$ {law}", "end", "return y")


SCORES = [3, 0, 5, 4]
CASES: list[tuple[str, Program, dict[str, Any], dict[Any, float]]] = [
    ("laplace", LAPLACE, {"x": 7}, laplace_law(4, 7)),
    ("above threshold", ABOVE, {"q": [1, 6, 3, 9], "t": 8}, above_law([1, 6, 3, 9], 8, 0.5)),
    ("uniform", drawing("uniform(n, 3 * n)", "input n: int"), {"n": 3}, dict.fromkeys(range(3, 10), 1 / 7)),
    ("one-sided", drawing("expo(3/2/eps)"), {}, normed({k: math.exp(-k / 3) for k in range(100)})),
    ("gaussian", drawing("gauss(5/2, 3)"), {}, gauss_law(2.5, 3)),
    ("flip", drawing("flip(2/7)"), {}, {True: 2 / 7, False: 5 / 7}),
    (
        "choice",
        drawing("choose(q, 1/eps)", "input q: list"),
        {"q": SCORES},
        normed({i: math.exp(s / 2) for i, s in enumerate(SCORES)}),
    ),
    ("laplace over ln 3", drawing("lap(1/ln(3), 5)"), {}, laplace_law(1 / math.log(3), 5)),
    ("laplace over a root", drawing("lap(5/2/ln(3))"), {}, laplace_law(2.5 / math.log(3))),
    ("geometric of p = 1/4", drawing("expo(1/ln(4/3))"), {}, {k: 0.25 * 0.75**k for k in range(80)}),
    (
        "choice over ln 2",
        drawing("choose(q, 2/ln(2))", "input q: list"),
        {"q": SCORES},
        normed({i: 2 ** (s / 2) for i, s in enumerate(SCORES)}),
    ),
]


@pytest.mark.parametrize(("name", "core", "inputs", "law"), CASES, ids=[case[0] for case in CASES])
def test_programs_have_the_laws_that_they_say(name: str, core: Program, inputs: Any, law: Any) -> None:
    runs = 5000 if name == "choice" else RUNS
    assert off(counts(core, inputs, seed=sum(map(ord, name)), runs=runs), law) < LIMIT


def test_randomized_response_tells_the_truth_three_times_in_four() -> None:
    for truth in (True, False):
        assert off(counts(RESPONSE, {"b": truth}, seed=11), {truth: 0.75, not truth: 0.25}) < LIMIT


def test_draws_of_one_run_are_independent() -> None:
    core = program(
        "program pair",
        "budget eps",
        "begin",
        "x :=$ expo(1/eps)",
        "y :=$ expo(1/eps)",
        "z := min(x, 3) * 10 + min(y, 3)",
        "end",
        "return z",
    )
    ratio = math.exp(-0.5)
    single = [1 - ratio, ratio * (1 - ratio), ratio**2 * (1 - ratio), ratio**3]
    law = {10 * a + b: single[a] * single[b] for a in range(4) for b in range(4)}
    assert off(counts(core, {}, seed=5), law) < LIMIT


@pytest.mark.parametrize(("name", "wrong"), [
    ("laplace", laplace_law(5, 7)), ("laplace", laplace_law(4, 8)), ("above threshold", above_law([1, 6, 3, 9], 8, 1)),
    ("uniform", dict.fromkeys(range(3, 9), 1 / 6)), ("one-sided", normed({k: math.exp(-k / 3.6) for k in range(100)})),
    ("gaussian", gauss_law(2.9, 3)), ("flip", {True: 0.32, False: 0.68}),
])  # fmt: skip
def test_laws_that_are_a_little_off_are_seen(name: str, wrong: Any) -> None:
    core, inputs = next((core, inputs) for known, core, inputs, _ in CASES if known == name)
    assert off(counts(core, inputs, seed=1), wrong) > LIMIT
