"""Wrong programs are refuted by witnesses that a second computation confirms; right ones never are."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from tests.logic.refute import corpus, second_opinion
from tests.logic.refute.corpus import all_differ, claim_of, number_differs, one_differs

from viameter.arith import INFINITY
from viameter.errors import ParameterError
from viameter.logic.exact import Bounds, Effort, Exponent
from viameter.logic.lang.core import Program
from viameter.logic.lang.parsing import read_program, read_term
from viameter.logic.neighbors import Neighbors
from viameter.logic.refute import Gap, Witness, largest_loss, refute
from viameter.logic.refute.claims import budgets_for, factor_of, scales_of
from viameter.logic.refute.gap import measured

Adjacency = Callable[[Program], Neighbors]

WRONG: dict[str, tuple[Program, Adjacency, str]] = {
    "threshold without query noise": (corpus.above_threshold("b := 0"), all_differ, "eps"),
    "threshold without cut-off": (corpus.svt("4/eps", forever=True), all_differ, "eps"),
    "threshold with noise not scaled by N": (corpus.svt("4/eps"), all_differ, "eps"),
    "threshold that returns the noisy value": (corpus.svt(yes="q[i] + b", no="-100"), all_differ, "eps"),
    "threshold with a gap without query noise": (corpus.svt(yes="q[i] - noisy", no="-100"), all_differ, "eps"),
    "noisy maximum that returns the value": (corpus.noisy_max(result="best"), all_differ, "eps"),
    "noisy maximum with half the noise": (corpus.noisy_max("1/eps"), all_differ, "eps"),
    "smart sum without noise at the boundary": (corpus.smart_sum("a := 0"), one_differs, "2*eps"),
    "smart sum at half its cost": (corpus.smart_sum(), one_differs, "eps"),
    "twice the noise shows the parity": (corpus.laplace(out="2 * n + q"), number_differs, "eps"),
    "half the noise": (corpus.laplace("1/2/eps"), number_differs, "eps"),
    "partial sum with half the noise": (corpus.partial_sum("1/2/eps"), one_differs, "eps"),
    "histogram at less than its cost": (read_program(corpus.HISTOGRAM), one_differs, "9/10*eps"),
}
INFINITE = {
    "threshold without query noise",
    "smart sum without noise at the boundary",
    "twice the noise shows the parity",
}
RIGHT: dict[str, tuple[Program, Adjacency, str]] = {
    "laplace": (corpus.laplace(), number_differs, "eps"),
    "partial sum": (corpus.partial_sum(), one_differs, "eps"),
    "above threshold": (corpus.above_threshold(), all_differ, "eps"),
    "threshold, N times": (corpus.svt(), all_differ, "eps"),
    "noisy maximum": (corpus.noisy_max(), all_differ, "eps"),
    "smart sum": (corpus.smart_sum(), one_differs, "2*eps"),
    "histogram": (read_program(corpus.HISTOGRAM), one_differs, "eps"),
}


def ratios_of(program: Program, gap: Gap) -> dict[str, Fraction]:
    """exp(-1/scale) for each scale, by hand."""
    budget = gap.budgets["eps"]
    assert isinstance(budget, Exponent)
    found = {}
    for scale in scales_of(program):
        number = scale.coefficient
        for factor in scale.factors:
            number *= Fraction(str(gap.first[str(factor)]))
        steps = budget.times / number
        assert steps.denominator == 1
        found[scale.as_scale()] = budget.base ** -int(steps)
    return found


@cache
def witness_of(name: str) -> Witness:
    program, adjacency, text = WRONG[name]
    # A search that takes long is a search on a slow machine; it ends as soon as it has found something.
    witness = refute(program, (adjacency(program),), claim_of(program, text), seconds=60)
    assert witness is not None
    return witness


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_is_refuted(name: str) -> None:
    program = WRONG[name][0]
    witness = witness_of(name)
    gap = witness.gap
    assert (gap.loss == INFINITY) == (name in INFINITE)
    assert witness.recheck()
    budget = gap.budgets["eps"]
    assert isinstance(budget, Exponent) and witness.factor.exact
    assert witness.factor.low == budget.base ** int(
        budget.times * Fraction(str(witness.claim).partition("*")[0].replace("eps", "1"))
    )
    # The second computation leaves off noise beyond a narrow window, so it must be below the bounds, and near them.
    (event,) = gap.event
    again = [
        second_opinion.probability(program, dict(inputs), ratios_of(program, gap), event, window=6)
        for inputs in (gap.first, gap.second)
    ]
    for mass, bounds in zip(again, (gap.p1, gap.p2), strict=True):
        assert mass <= bounds.high
        assert mass >= bounds.low * Fraction(2, 3)
    assert again[0] > witness.factor.high * again[1]


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_is_not_refuted(name: str) -> None:
    program, adjacency, text = RIGHT[name]
    assert refute(program, (adjacency(program),), claim_of(program, text), seconds=0.25) is None


@pytest.mark.parametrize(
    ("program", "first", "second"),
    [
        (corpus.above_threshold(), {"q": (0, 0, 1), "t": 0}, {"q": (1, 1, 0), "t": 0}),
        (corpus.above_threshold(), {"q": (3, -2), "t": 1}, {"q": (4, -3), "t": 1}),
        (corpus.noisy_max(), {"q": (6, 13)}, {"q": (5, 14)}),
        (corpus.noisy_max(), {"q": (0, 1, 1)}, {"q": (1, 0, 0)}),
    ],
)
def test_no_event_of_a_right_program_shows_more_than_its_cost(
    program: Program, first: dict[str, Any], second: dict[str, Any]
) -> None:
    for base, event in [(b, e) for b in (Fraction(2), Fraction(5, 4)) for e in (-1, 0, 1, 2)]:
        budgets = {"eps": Exponent(base, 4)}
        for one, two in ((first, second), (second, first)):
            gap = measured(program, all_differ(program), budgets, one, two, (event,), Effort(bits=40))
            assert gap.p1.low <= base**4 * gap.p2.high


def test_the_known_ratio_of_the_noisy_maximum_with_half_the_noise() -> None:
    program = corpus.noisy_max("1/eps")
    budgets = {"eps": Exponent(Fraction(4))}
    gap = measured(program, all_differ(program), budgets, {"q": (6, 13)}, {"q": (5, 14)}, (0,), Effort(bits=60))
    # Two discrete Laplace noises of ratio x: P(n0 - n1 >= 7), and 9, by the law of their difference.
    x = Fraction(1, 4)
    scale = ((1 - x) / (1 + x)) ** 2

    def difference(k: int) -> Fraction:
        return scale * sum(x ** (abs(j) + abs(k - j)) for j in range(-60, 120))

    exact = [sum(difference(k) for k in range(least, 90)) for least in (7, 9)]
    assert abs(gap.p1.low / exact[0] - 1) < Fraction(1, 10**9)
    assert abs(gap.p2.high / exact[1] - 1) < Fraction(1, 10**9)
    assert gap.p1.low / gap.p2.high > Fraction("12.9")


@pytest.mark.parametrize("name", ["half the noise", "threshold without query noise", "smart sum at half its cost"])
def test_a_witness_can_be_pasted_and_run_and_stored(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    witness = witness_of(name)
    exec(witness.paste(), {})
    assert "P1 >= " in capsys.readouterr().out
    # The pasted text checks: with a larger factor it fails.
    broken = witness.paste().replace("assert p1 > factor * p2", "assert p1 < factor * p2")
    with pytest.raises(AssertionError):
        exec(broken, {})
    record = json.loads(json.dumps(witness.to_json()))
    assert Fraction(record["p1"][0]) == witness.gap.p1_low
    assert Fraction(record["p2"][1]) == witness.gap.p2_high
    assert record["claim"] == str(witness.claim)


def test_the_text_of_a_witness_says_everything() -> None:
    witness = witness_of("half the noise")
    assert str(witness) == (
        "REFUTED: laplace does not have privacy loss eps\n"
        "  with eps = ln(16)\n"
        "  inputs 1: q = 0\n"
        "  inputs 2: q = 1\n"
        "  neighbors: q differs by at most 1\n"
        "  event: the output is 0\n"
        "  P1 = 255/257\n"
        "  P2 = 255/65792\n"
        "  loss: at least 5.54517 (rounded down) = 2 * eps\n"
        "  e^(eps) = 16, and P1 > e^(eps) * P2"
    )
    assert "infinite" in witness_of("twice the noise shows the parity").text()


def test_what_is_no_witness_cannot_be_made_one() -> None:
    witness = witness_of("half the noise")
    with pytest.raises(ParameterError, match="does not refute"):
        replace(witness, factor=Bounds.of(Fraction(256)))
    with pytest.raises(ParameterError, match="not known to be neighbors"):
        replace(witness.gap, second={"q": 2})
    # Made up probabilities are found out when everything is computed again.
    assert not replace(witness, gap=replace(witness.gap, p2=Bounds.of(Fraction(0)))).recheck()
    assert not replace(witness, gap=replace(witness.gap, first=witness.gap.second, second=witness.gap.first)).recheck()


def test_an_upper_bound_is_used_where_e_to_the_claim_is_irrational() -> None:
    program = read_program("program p\ninput q: int\nbegin\nn :=$ lap(10)\nr := q + n\nend\nreturn r\n")
    near = (number_differs(program),)
    assert refute(program, near, claim_of(program, "1/10"), seconds=0.3) is None
    witness = refute(program, near, claim_of(program, "99/1000"), seconds=30)
    assert witness is not None and not witness.factor.exact and not witness.gap.p1.exact
    assert witness.recheck()
    exec(witness.paste(), {"print": print})


def test_claims_with_delta_are_refuted_by_sets_of_outputs() -> None:
    program = corpus.laplace("1/2/eps")
    near = (number_differs(program),)
    witness = refute(program, near, claim_of(program), delta="1/100", seconds=30)
    assert witness is not None and witness.recheck()
    assert witness.gap.p1.low > witness.factor.high * witness.gap.p2.high + Fraction(1, 100)
    assert "at delta 1/100" in witness.text()
    exec(witness.paste(), {"print": print})
    assert refute(program, near, claim_of(program), delta=1, seconds=0.2) is None
    flipped = read_program("program p\ninput q: int\nbegin\nf :=$ flip(1/100)\nx := ite(f, q, 0)\nend\nreturn x\n")
    near = (number_differs(flipped),)
    assert refute(flipped, near, claim_of(flipped, "1"), delta="1/100", seconds=0.3) is None
    assert refute(flipped, near, claim_of(flipped, "1"), delta="99/10000", seconds=30) is not None


def test_randomized_response_costs_the_logarithm_of_its_odds() -> None:
    program = read_program(corpus.RESPONSE)
    near = (Neighbors(frozenset({"x"}), says="any x"),)
    assert refute(program, near, claim_of(program, "ln(3)"), seconds=1) is None
    witness = refute(program, near, claim_of(program, "ln(299/100)"), seconds=10)
    assert witness is not None and witness.gap.p1.low / witness.gap.p2.high == 3


def test_an_asymmetric_adjacency_is_tried_both_ways() -> None:
    program = read_program("program p\ninput x: bool\nbegin\nf :=$ flip(1/2)\ny := x and f\nend\nreturn y\n")
    upward = Neighbors(frozenset({"x"}), facts=(read_term("not x<1> and x<2>", {"x": "bool"}),))
    witness = refute(program, (upward,), claim_of(program, "5"), seconds=10)
    # The output is true on the second input alone: the direction from it to the first is the one that leaks.
    assert witness is not None and witness.gap.first == {"x": True} and witness.gap.event == (True,)


def test_the_largest_loss_tells_that_a_bound_is_tight() -> None:
    for program, adjacency, ratio in (
        (corpus.laplace(), number_differs, Fraction(1)),
        (corpus.laplace("1/2/eps"), number_differs, Fraction(2)),
        (corpus.laplace("3/eps"), number_differs, Fraction(1, 3)),
        (corpus.smart_sum(), one_differs, Fraction(2)),
    ):
        gap = largest_loss(program, (adjacency(program),), until=ratio, seconds=60)
        assert gap is not None and gap.ratio == ratio
        assert f"= {ratio} * eps" in "\n".join(gap.lines())
    infinite = largest_loss(corpus.laplace(out="q"), (number_differs(corpus.laplace()),), seconds=60)
    assert infinite is not None and infinite.ratio == INFINITY


def test_budgets_make_everything_rational() -> None:
    program = corpus.svt("4*N/eps")
    for budgets in budgets_for(program, claim_of(program, "3/7*eps"), {"q": (0,), "t": 0, "N": 3}):
        budget = budgets["eps"]
        assert isinstance(budget, Exponent) and budget.times % 84 == 0
        assert factor_of(claim_of(program, "3/7*eps"), {"N": 3}, budgets).exact
        assert factor_of(claim_of(program, "len(q)*eps + 2*N*eps"), {"N": 3, "q": (1, 2)}, budgets).low == (
            budget.base ** (8 * budget.times)
        )


def test_progress_is_told_and_wrong_questions_are_refused() -> None:
    program = corpus.noisy_max("1/eps")
    told: list[str] = []
    assert refute(program, (all_differ(program),), claim_of(program), seconds=30, progress=told.append) is not None
    assert told and "eps" in told[-1]
    with pytest.raises(ParameterError, match="neighbors is empty"):
        refute(program, (), claim_of(program))
    other = read_program("program p\ninput q: list\nbudget rho\nbegin\nx := 0\nend\nreturn x\n")
    with pytest.raises(ParameterError, match="base 'rho'"):
        refute(program, (all_differ(program),), claim_of(other, "rho"))
    calling = read_program("program p\ninput q: int\nbegin\nx :=$ call gauss(q)\nend\nreturn x\n")
    assert refute(calling, (number_differs(calling),), claim_of(calling, "1"), seconds=1) is None
