"""Counterexamples are replayed by the product of the runs, and random trials find nothing that they miss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product as combinations
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.programs import ALL, ONE, RIGHT, amount

import viameter as vm
from viameter.errors import ParameterError
from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.derive import bounds_of
from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules.mechanism import mechanism
from viameter.logic.lang.core import Choose, Sample, assigned, statements_of
from viameter.logic.lang.parsing import read_amount, read_program, read_term
from viameter.logic.lang.terms import ZERO, Num, Sort, Term
from viameter.logic.neighbors import Neighbors, sorts_of
from viameter.logic.search import unrolling
from viameter.logic.search.choosing import shift_of
from viameter.logic.search.pairs import Pairs
from viameter.logic.search.product import Pair, Product, accepts
from viameter.logic.search.prover import context_for
from viameter.logic.search.unrolling import LONGEST, counterexample

MILLISECONDS = 60_000
"""What is asked here takes less than a tenth of a second, whatever the machine is busy with."""

STOPS = "ite(noisy_t<1> <= q<1>[i<1>] + eta<1>, q<1>[i<1>] - q<2>[i<2>] - (noisy_t<1> - noisy_t<2>), 0)"
ITEM = "q<1>[i<1>] - q<2>[i<2>]"
Goal = tuple[Context, Mapping[str, Term]]


def goal(name: str) -> Goal:
    entry, neighbors, claim = RIGHT[name]
    context = context_for(entry, neighbors, claim)
    return context, bounds_of(context, claim)


def small(
    body: str, output: str, *head: str, of: Neighbors | str, claim: str, mechanisms: Mapping[str, Any] | None = None
) -> Goal:
    """A small program; its adjacency may be one fact about a number x that is private."""
    lines = "".join(f"{line}\n" for line in head)
    statements = body.replace("; ", "\n")
    program = read_program(f"program small\n{lines}begin\n{statements}\nend\nreturn {output}\n")
    program = replace(program, mechanisms=dict(mechanisms or {}))
    if isinstance(of, str):
        of = Neighbors(frozenset({"x"}), (read_term(of, sorts_of(program)),))
    wanted = read_amount(claim, frozenset({*program.budgets, "rho"}), sorts_of(program))
    context = context_for(program, of, wanted)
    return context, bounds_of(context, wanted)


def term(context: Context, text: str) -> Term:
    sorts: dict[str, Sort] = {entry.name: entry.sort for entry in context.program.inputs}
    sorts |= {var.name: var.sort for var in assigned(context.program.body)}
    return read_term(text, {**sorts, **dict.fromkeys(context.neighbors.constants, "int"), "out.R": "int"})


def proof_of(context: Context, shifts: Mapping[str, str], *, pointwise: bool = False) -> Proof:
    """Shifts by the name of what is drawn; 0 where none is given."""
    samples = [s for s in statements_of(context.program.body) if isinstance(s, Sample)]
    choices = {s.at: Choice(term(context, shifts[s.target.name])) for s in samples if s.target.name in shifts}
    for sample in samples:
        if isinstance(sample.law, Choose):
            choices[sample.at] = Choice(ZERO, (Num(-1), Num(1)))
    return Proof(pointwise=pointwise, choices=choices)


def rejects(context: Context, bounds: Mapping[str, Term], proof: Proof, pair: Pair) -> bool:
    samples = [s for s in statements_of(context.program.body) if isinstance(s, Sample)]
    shifts = {s.at: shift_of(proof.choice(s), s) for s in samples}
    return not Product(context).attempt(pair, shifts, accepts(context, bounds, pointwise=proof.pointwise))[0]


def found(context: Context, bounds: Mapping[str, Term], proof: Proof, *, rounds: int = 3) -> Pair | None:
    return counterexample(context, bounds, proof, rounds=rounds, milliseconds=MILLISECONDS)


RIGHT_SHIFTS: list[tuple[str, dict[str, str], bool]] = [
    ("above_threshold", {"noise": "1", "eta": STOPS}, False),
    ("sparse_vector", {"noise": "1", "eta": STOPS}, False),
    ("numeric_sparse_vector", {"noise": "1", "eta": STOPS, "extra": ITEM}, False),
    ("noisy_max", {"eta": "ite(i<1> == out.R, 2, 0)"}, True),
    ("noisy_max_exponential", {"eta": "ite(i<1> == out.R, 2, 0)"}, True),
    ("partial_sum", {"z": "s<1> - s<2>"}, False),
    ("prefix_sum", {"z": f"s<1> - s<2> + ({ITEM})"}, False),
    ("dummy_sum_1", {"z": "0"}, False),
    ("histogram", {"z": ITEM}, False),
]
WRONG_SHIFTS: list[tuple[str, dict[str, str], bool]] = [
    ("above_threshold", {"noise": "0", "eta": "0"}, False),
    ("above_threshold", {"noise": "1", "eta": "2"}, False),
    ("above_threshold", {"noise": "1", "eta": "ite(noisy_t<1> <= q<1>[i<1>] + eta<1>, 1, 0)"}, False),
    ("above_threshold", {"noise": "1", "eta": "ite(noisy_t<1> < q<1>[i<1>] + eta<1>, 2, 0)"}, False),
    ("sparse_vector", {"noise": "1", "eta": "ite(noisy_t<1> <= q<1>[i<1>] + eta<1>, 3, 0)"}, False),
    ("numeric_sparse_vector", {"noise": "1", "eta": STOPS, "extra": "0"}, False),
    ("noisy_max", {"eta": "0"}, True),
    ("noisy_max", {"eta": "ite(i<1> == out.R, 1, 0)"}, True),
    ("noisy_max", {"eta": "ite(i<1> == out.R, 3, 0)"}, True),
    ("noisy_max_exponential", {"eta": "ite(i<1> == out.R, 2, -1)"}, True),
    ("partial_sum", {"z": "s<2> - s<1>"}, False),
    ("prefix_sum", {"z": ITEM + " + 1"}, False),
    ("dummy_sum_1", {"z": "1"}, False),
    ("histogram", {"z": "0"}, False),
]


@pytest.mark.parametrize(("name", "shifts", "pointwise"), RIGHT_SHIFTS)
def test_right_shifts_have_no_counterexample(name: str, shifts: Mapping[str, str], pointwise: bool) -> None:
    context, bounds = goal(name)
    assert found(context, bounds, proof_of(context, shifts, pointwise=pointwise)) is None


def adjacent(pair: Pair, neighbors: Neighbors) -> bool:
    """Whether the lists are adjacent, said again without the library's formulas."""
    first, second = pair.inputs["q<1>"], pair.inputs["q<2>"]
    steps = [abs(a - b) for a, b in zip(first, second, strict=True)]
    if neighbors is ONE:
        steps = [step if k == pair.inputs["q.at"] else 2 * step for k, step in enumerate(steps)]
    return len(first) == pair.inputs["len(q)"] <= LONGEST and max(steps, default=0) <= 1


@for_each(("name", "shifts", "pointwise"), WRONG_SHIFTS)
def test_wrong_shifts_have_a_counterexample_that_the_product_rejects(
    name: str, shifts: Mapping[str, str], pointwise: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unrolling, "_fails", lambda *_: True)  # no second look: what z3 found must hold by itself
    context, bounds = goal(name)
    proof = proof_of(context, shifts, pointwise=pointwise)
    pair = found(context, bounds, proof)
    assert pair is not None
    assert adjacent(pair, context.neighbors)
    assert rejects(context, bounds, proof, pair)


@pytest.mark.parametrize("name", ["above_threshold", "noisy_max", "histogram"])
def test_a_claim_that_is_too_small_has_a_counterexample(name: str) -> None:
    entry, neighbors, _ = RIGHT[name]
    half = amount("1/2*eps", entry)
    context = context_for(entry, neighbors, half)
    shifts, pointwise = next((shifts, mode) for known, shifts, mode in RIGHT_SHIFTS if known == name)
    proof = proof_of(context, shifts, pointwise=pointwise)
    assert found(context, bounds_of(context, half), proof) is not None


EPS = "budget eps"
NEAR = "abs(x<1> - x<2>) <= 1"
NOISY = mechanism(vm.laplace(vm.Space(vm.scalars(int), vm.AbsoluteDistance()), scale=4), distance=2)
LAWS: dict[str, tuple[Goal, dict[str, list[str]]]] = {
    "laplace": (
        small("z :=$ lap(1/eps); y := x + z", "y", "input x: int", EPS, of=NEAR, claim="eps"),
        {"z": ["0", "1", "x<1> - x<2>", "x<2> - x<1>", "ite(0 <= z<1>, 1, 0)", "ite(0 <= z<1>, 0, 1)", "-2 * z<1>"]},
    ),
    "center": (
        small("z :=$ lap(1/eps, x); y := z", "y", "input x: int", EPS, of=NEAR, claim="eps"),
        {"z": ["0", "1", "x<2> - x<1>", "ite(x<1> <= z<1>, 1, 0)", "ite(z<1> <= x<1>, 1, 0)"]},
    ),
    "exponential": (
        small(
            "n :=$ expo(1/eps); if x <= n then; y := 1; else; m :=$ lap(1/eps); y := 0; end",
            "y", "input x: int", EPS, of="0 <= x<2> - x<1> and x<2> - x<1> <= 1", claim="eps",
        ),
        {"n": ["0", "1", "-1", "x<2> - x<1>", "x<1> - x<2>", "ite(1 <= n<1>, -1, 0)"], "m": ["0", "1"]},
    ),
    "flip": (
        small("k :=$ flip(3/4); y := x == k", "y", "input x: bool", of="x<1> != x<2>", claim="ln(3)"),
        {"k": ["false", "true", "x<1> != x<2>", "x<1>"]},
    ),
    "uniform": (
        small(
            "u :=$ uniform(2, 6); y := (x + u) % 5", "y", "input x: int", of="abs(x<1> - x<2>) <= 7", claim="0",
        ),
        {"u": ["0", "1", "x<1> - x<2>", "x<2> - x<1>"]},
    ),
    "gaussian": (
        small("z :=$ gauss(10); y := x + z", "y", "input x: int", of="abs(x<1> - x<2>) <= 3", claim="9/200*rho"),
        {"z": ["0", "x<1> - x<2>", "x<2> - x<1>"]},
    ),
    "choose": (
        small(
            "k :=$ choose(q, 2/eps); if 0 < q[k] then; y := k; else; y := 0; end",
            "y", "input q: list", EPS, of=ALL, claim="eps",
        ),
        {},
    ),
    "choose enough": (
        small("k :=$ choose(q, 2/eps); y := k", "y", "input q: list", EPS, of=ALL, claim="eps"), {},
    ),
    "choose too much": (
        small("k :=$ choose(q, 1/eps); y := k", "y", "input q: list", EPS, of=ALL, claim="eps"), {},
    ),
    "call enough": (
        small("y :=$ call noisy(x)", "y", "input x: int", of=NEAR, claim="1/2", mechanisms={"noisy": NOISY}), {},
    ),
    "call too much": (
        small("y :=$ call noisy(x)", "y", "input x: int", of=NEAR, claim="1/3", mechanisms={"noisy": NOISY}), {},
    ),
    "append in a branch": (
        small("if 0 < q[0] then; append(out, 1); else; append(out, 2); end", "out", "input q: list", of=ALL, claim="0"),
        {},
    ),
    "append in a public branch": (
        small("if 0 < t then; append(out, 1); else; append(out, 2); end", "out", "input q: list", "input t: int",
              of=ALL, claim="0"),
        {},
    ),
    "branches apart": (
        small("y := 0; if 0 < q[0] then; y := 1; else; if q[0] < 5 then; y := 1; end; end", "y", "input q: list",
              of=ALL, claim="0"),
        {},
    ),
    "branches apart for good": (
        small("y := 0; if 0 < q[0] then; y := 1; else; if q[0] < 5 then; y := 2; end; end", "y", "input q: list",
              of=ALL, claim="0"),
        {},
    ),
    "noise in a loop": (
        small(
            "i := 0; while i < len(q) do; if q[i] < 2 then; z :=$ lap(2/eps); append(out, q[i] + z); end; i := i + 1; "
            "end",
            "out", "input q: list", EPS, of=ONE, claim="eps",
        ),
        {"z": ["0", ITEM]},
    ),
    "noise around a count": (
        small(
            "i := 0; s := 0; while i < len(q) do; if 0 < q[i] then; s := s + 1; end; i := i + 1; end; "
            "z :=$ lap(1/eps); append(out, s + z)",
            "out", "input q: list", EPS, of=ONE, claim="eps",
        ),
        {"z": ["0", "1", "s<1> - s<2>"]},
    ),
    "center moves": (
        small("z :=$ lap(1/eps, x); y := 0", "y", "input x: int", EPS, of=NEAR, claim="0"),
        {"z": ["0", "x<2> - x<1>", "x<1> - x<2>"]},
    ),
    "one to one": (
        small("z :=$ lap(1/eps); y := 0", "y", EPS, "input x: int", of=NEAR, claim="2*eps"),
        {"z": ["ite(0 <= z<1>, 1, 0)", "ite(0 <= z<1>, 0, 1)", "ite(z<1> == 0, 2, 0)", "ite(z<1> == 0, 3, 0)"]},
    ),
    "exponential swap": (
        small("m :=$ expo(1/eps); z :=$ lap(1/eps); y := 0", "y", "input x: int", EPS, of=NEAR, claim="eps"),
        {
            "m": ["ite(m<1> == 0, 1, ite(m<1> == 1, -1, 0))", "-1"],
            "z": ["ite(m<1> == 1, 1, 0)", "ite(m<1> == 0, 1, 0)"],
        },
    ),
    "flip for nothing": (
        small("k :=$ flip(1/3); y := 0", "y", "input x: int", of=NEAR, claim="0"), {"k": ["false", "true"]},
    ),
    "gaussian too far": (
        small("z :=$ gauss(10); y := x + z", "y", "input x: int", of="abs(x<1> - x<2>) <= 3", claim="8/200*rho"),
        {"z": ["x<1> - x<2>"]},
    ),
    "loop that tells": (
        small("i := 0; while i < x do; i := i + 1; end; y := 0", "y", "input x: int", of=NEAR, claim="0"), {},
    ),
    "loop that ends only if it is skipped": (
        small("k := t; while k < 1 do; k := 0; end; y := x", "y", "input x: int", "input t: int", of=NEAR, claim="0"),
        {},
    ),
    "early end": (
        small(
            "k := 0; while k < 2 do; z :=$ lap(1/eps); if z == 9 then; k := 3; else; k := k + 1; end; end; "
            "w :=$ lap(1/eps); y := ite(k == 3 and w == 7, x, 0)",
            "y", "input x: int", EPS, of=NEAR, claim="eps",
        ),
        {"z": ["0"], "w": ["0", "ite(k<1> == 3, 20, 0)"]},
    ),
    "draw in a branch": (
        small(
            "v :=$ lap(1/eps); if 0 < v then; z :=$ lap(1/eps); else; a :=$ lap(1/eps); b :=$ lap(1/eps); end; "
            "w :=$ lap(1/eps); y := ite(v == 3 and w == 7 or v == -3 and w == 5, x, 0)",
            "y", "input x: int", EPS, of=NEAR, claim="eps",
        ),
        {"z": ["0"], "w": ["0"]},
    ),
}  # fmt: skip
HOLDS: dict[str, set[tuple[str, ...]]] = {
    "laplace": {("x<1> - x<2>",)},
    "center": {("0",)},
    "exponential": {("x<2> - x<1>", "0")},
    "flip": {("x<1> != x<2>",), ("true",)},
    "uniform": {("x<1> - x<2>",)},
    "gaussian": {("x<1> - x<2>",)},
    "choose": set(),
    "choose enough": {()},
    "choose too much": set(),
    "call enough": {()},
    "call too much": set(),
    "append in a branch": set(),
    "append in a public branch": {()},
    "branches apart": {()},
    "branches apart for good": set(),
    "noise in a loop": set(),
    "noise around a count": {("s<1> - s<2>",)},
    "center moves": {("x<2> - x<1>",)},
    "one to one": {("ite(0 <= z<1>, 1, 0)",)},
    "exponential swap": {("ite(m<1> == 0, 1, ite(m<1> == 1, -1, 0))", "ite(m<1> == 1, 1, 0)")},
    "flip for nothing": {("false",)},
    "gaussian too far": set(),
    "loop that tells": set(),
    "loop that ends only if it is skipped": set(),
    "early end": set(),
    "draw in a branch": set(),
}

EXACT = [
    ("lap(1/eps, t + 3)", "z == 5"),
    ("expo(1/eps)", "z == 5"),
    ("flip(3/4)", "z"),
    ("flip(3/4)", "not z"),
    ("uniform(t, t + 9)", "z == t + 5"),
    ("choose(r, 2/eps)", "z == 2"),
]
for drawn, test in EXACT:
    # It fails for one value alone, so that a draw which is replayed as another one is noticed.
    head = ("input x: int", "input t: int", "input r: list", EPS)
    body = f"z :=$ {drawn}; if {test} then; append(out, x); end"
    LAWS[f"{drawn}, {test}"] = (small(body, "out", *head, of=NEAR, claim="eps"), {})
    HOLDS[f"{drawn}, {test}"] = set()


def proofs(law: str) -> Iterator[tuple[tuple[str, ...], Proof]]:
    (context, _), options = LAWS[law]
    for picked in combinations(*options.values()):
        yield picked, proof_of(context, dict(zip(options, picked, strict=True)))


@for_each("law", LAWS)
def test_what_z3_finds_the_product_rejects_and_what_random_trials_find_z3_finds(
    law: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unrolling, "_fails", lambda *_: True)
    (context, bounds), _ = LAWS[law]
    trials = Pairs(context, seed=5).some(150, longest=3, long=3)
    assert len(trials) > 20
    without: set[tuple[str, ...]] = set()
    for picked, proof in proofs(law):
        pair = found(context, bounds, proof)
        if pair is None:
            without.add(picked)
            assert not any(rejects(context, bounds, proof, trial) for trial in trials), picked
        else:
            assert rejects(context, bounds, proof, pair), (picked, pair)
    assert without == HOLDS[law]


def test_a_choice_by_scores_needs_bounds() -> None:
    context, bounds = LAWS["choose enough"][0]
    with pytest.raises(ParameterError, match=r"choose needs bounds \(low, high\)"):
        found(context, bounds, Proof())


SPENDS = "i := 0; while i < len(q) do; z :=$ lap(1/eps); append(out, z); i := i + 1; end"


def test_what_takes_three_rounds_is_not_found_in_two() -> None:
    body = SPENDS.replace("lap(1/eps)", "lap(1/eps, q[i])")
    context, bounds = small(body, "out", "input q: list", EPS, of=ALL, claim="2*eps")
    proof = proof_of(context, {"z": "0"})
    assert found(context, bounds, proof, rounds=2) is None
    pair = found(context, bounds, proof, rounds=3)
    assert pair is not None
    assert pair.inputs["len(q)"] == 3


def test_without_rounds_only_runs_that_skip_the_loop_are_looked_at() -> None:
    context, bounds = small(SPENDS, "out", "input q: list", EPS, of=ALL, claim="eps")
    proof = proof_of(context, {"z": "1"})
    assert found(context, bounds, proof, rounds=0) is None
    assert found(context, bounds, proof, rounds=1) is not None
    with pytest.raises(ParameterError, match="rounds = -1"):
        found(context, bounds, proof, rounds=-1)


def test_elements_that_no_run_reads_are_adjacent_too() -> None:
    numbered = "q<1>[any.k] == q<2>[any.k] + 1 and q<2>[any.k] == any.k + 7"
    grown = Neighbors(frozenset({"q"}), each=(("q", read_term(numbered, {"q": "list", "any.k": "int"})),))
    context, bounds = small("y := ite(len(q) == 4, q[0], 0)", "y", "input q: list", of=grown, claim="0")
    pair = found(context, bounds, Proof())
    assert pair is not None
    assert len(pair.draws) > 0
    assert (pair.inputs["q<1>"], pair.inputs["q<2>"]) == ((8, 9, 10, 11), (7, 8, 9, 10))


def test_longer_lists_are_not_looked_at() -> None:
    for longest, reached in ((LONGEST, True), (LONGEST + 1, False)):
        body = f"y := ite(len(q) == {longest}, q[0], 0)"
        context, bounds = small(body, "y", "input q: list", of=ALL, claim="0")
        assert (found(context, bounds, Proof()) is not None) is reached


def test_a_shift_need_not_be_one_to_one_where_an_exponential_draw_cannot_be() -> None:
    """The product looks at negative neighbors too, and is stricter here; the kernel is not."""
    context, bounds = small("n :=$ expo(1/eps); y := 0", "y", "input x: int", EPS, of=NEAR, claim="eps")
    assert found(context, bounds, proof_of(context, {"n": "ite(n<1> < 0, 1, 0)"})) is None


def test_a_pair_that_the_product_accepts_is_not_returned(monkeypatch: pytest.MonkeyPatch) -> None:
    context, bounds = goal("histogram")
    fine = Pair({"q.at": 0, "out.R": 0, "len(q)": 1, "q<1>": (0,), "q<2>": (1,)}, (0,))
    apart = Pair({**fine.inputs, "q<2>": (2,)}, (0,))
    proof = proof_of(context, {"z": ITEM})
    for pair in (fine, apart):
        monkeypatch.setattr(unrolling, "_violation", lambda *_, pair=pair: pair)
        assert found(context, bounds, proof) is None
    assert rejects(context, bounds, proof, apart)


def test_a_range_that_is_empty_on_one_branch_hides_nothing_on_the_other() -> None:
    body = "y := 0; if 0 < n then; u :=$ uniform(1, n); else; y := x; end"
    context, bounds = small(body, "y", "input x: int", "input n: int", of=NEAR, claim="0")
    pair = found(context, bounds, Proof())
    assert pair is not None
    assert pair.inputs["n"] <= 0
