"""Invariants from Spacer are judged by the kernel; what is read back is judged by z3."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.programs import ALL, ONE, RIGHT, amount, program

from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.context import Context
from viameter.logic.kernel.derive import derive, goal, start
from viameter.logic.kernel.judgment import Obligation
from viameter.logic.kernel.proof import Proof
from viameter.logic.lang.core import If, Program, Sample, While, assigned, statements_of
from viameter.logic.lang.parsing import read_term
from viameter.logic.lang.scales import Amount
from viameter.logic.lang.terms import App, Num, Sort, Term, Var, and_, eq, le, read, substitute, variables
from viameter.logic.neighbors import Neighbors
from viameter.logic.search import spacer
from viameter.logic.search.prover import context_for
from viameter.logic.search.spacer import Clauses, Linear, spacer_invariants
from viameter.logic.solving.oracle import Oracle
from viameter.logic.solving.z3bridge import Translator, load

z3 = load()

ENOUGH = 60.0
"""Seconds; what is found here is found in one or two, whatever the machine is busy with."""

STOPS = "ite(noisy_t<1> <= q<1>[i<1>] + eta<1>, q<1>[i<1>] - q<2>[i<2>] - (noisy_t<1> - noisy_t<2>), 0)"
ITEM = "q<1>[i<1>] - q<2>[i<2>]"
LEFT = "len(q) - i"


def term(context: Context, text: str) -> Term:
    sorts: dict[str, Sort] = {entry.name: entry.sort for entry in context.program.inputs}
    sorts |= {var.name: var.sort for var in assigned(context.program.body)}
    return read_term(text, {**sorts, **dict.fromkeys(context.neighbors.constants, "int"), "out.R": "int"})


def proof_of(context: Context, shifts: Mapping[str, str], *, variants: str = LEFT) -> Proof:
    """Shifts by the name of what is drawn; the variants of the loops, one after another."""
    statements = list(statements_of(context.program.body))
    loops = [s.at for s in statements if isinstance(s, While)]
    return Proof(
        choices={s.at: Choice(term(context, shifts[s.target.name])) for s in statements if isinstance(s, Sample)},
        variants={at: term(context, text) for at, text in zip(loops, variants.split("; "), strict=True)}
        if loops
        else {},
    )


def pointwise(context: Context, proof: Proof) -> Proof:
    split = frozenset(s.at for s in statements_of(context.program.body) if isinstance(s, If))
    return replace(proof, pointwise=True, split=split)


def confirmed(context: Context, claim: Amount, proof: Proof) -> Mapping[int, tuple[Term, ...]]:
    """The invariants, after the kernel made a judgment about the whole program with them."""
    found = spacer_invariants(context, claim, proof, seconds=ENOUGH)
    assert found is not None
    judgment = derive(Oracle(context), claim, replace(proof, invariants=found))
    assert judgment.left == judgment.right == context.program.body
    assert (judgment.pre, judgment.post) == (start(context), goal(context, claim, pointwise=proof.pointwise))
    return found


def made(body: str, output: str, *inputs: str, of: Neighbors = ONE, claim: str = "eps") -> tuple[Context, Amount]:
    entry = program("small", body, output, *inputs)
    return context_for(entry, of, amount(claim, entry)), amount(claim, entry)


def known(name: str) -> tuple[Context, Amount]:
    entry: Program = RIGHT[name][0]
    return context_for(entry, RIGHT[name][1], RIGHT[name][2]), RIGHT[name][2]


@pytest.mark.parametrize(
    ("name", "shifts", "variant"),
    [
        ("above_threshold", {"noise": "1", "eta": STOPS}, f"ite(not returned and i < len(q), {LEFT}, 0)"),
        ("sparse_vector", {"noise": "1", "eta": STOPS}, LEFT),
        ("partial_sum", {"z": "s<1> - s<2>"}, LEFT),
        ("prefix_sum", {"z": f"s<1> - s<2> + ({ITEM})"}, LEFT),
        ("dummy_sum_2", {"z": "0"}, LEFT),
        ("histogram", {"z": ITEM}, LEFT),
    ],
)
def test_the_kernel_accepts_the_invariants_for_right_shifts(name: str, shifts: Mapping[str, str], variant: str) -> None:
    context, claim = known(name)
    confirmed(context, claim, proof_of(context, shifts, variants=variant))


def test_the_kernel_accepts_the_invariants_of_a_pointwise_proof() -> None:
    context, claim = known("noisy_max")
    confirmed(context, claim, pointwise(context, proof_of(context, {"eta": "ite(i<1> == out.R, 2, 0)"})))


@pytest.mark.parametrize(
    ("name", "shifts", "claim"),
    [
        ("sparse_vector", {"noise": "1", "eta": "0"}, "eps"),
        ("partial_sum", {"z": "0"}, "eps"),
        ("partial_sum", {"z": "s<1> - s<2>"}, "1/2*eps"),
    ],
)
def test_there_are_no_invariants_for_wrong_shifts_or_too_small_a_claim(
    name: str, shifts: Mapping[str, str], claim: str
) -> None:
    entry, neighbors, _ = RIGHT[name]
    wanted = amount(claim, entry)
    context = context_for(entry, neighbors, wanted)
    assert spacer_invariants(context, wanted, proof_of(context, shifts), seconds=ENOUGH) is None


SUM = """  i := 0
  s := 0
  while i < len(q) do
    s := s + q[i]
    i := i + 1
  end
"""
LAST = "  z :=$ lap(1/eps)\n  result := s + z\n"


def test_a_second_loop_hands_on_what_the_first_one_left() -> None:
    count = "  k := 0\n  while k < 3 do\n    k := k + 1\n  end\n"
    context, claim = made(SUM + count + LAST, "result")
    found = confirmed(context, claim, proof_of(context, {"z": "s<1> - s<2>"}, variants="len(q) - i; 3 - k"))
    assert any(Var("s", side=1) in variables(clause) for clause in found[max(found)])


def test_a_loop_in_a_branch_is_followed_by_what_follows_the_branch() -> None:
    context, claim = made(f"  if 0 < m then\n{SUM}  else\n    s := 1\n  end\n{LAST}", "result", "m: int")
    confirmed(context, claim, proof_of(context, {"z": "s<1> - s<2>"}))


def test_every_way_between_loop_heads_is_a_stretch_once() -> None:
    count = "  k := 0\n  while k < 3 do\n    k := k + 1\n  end\n"
    context, claim = made(f"  if 0 < m then\n{SUM}  else\n    s := 1\n  end\n{count}{LAST}", "result", "m: int")
    clauses = Clauses(context, claim, proof_of(context, {"z": "s<1> - s<2>"}, variants="len(q) - i; 3 - k"))
    first, second = sorted(clauses.heads)
    ways = sorted((s.source or 0, s.target or 0) for s in clauses.stretches)
    # From each head one stretch is about the tests alone.
    assert ways == sorted([
        (0, first), (0, second), (first, 0), (first, first), (first, second),
        (second, 0), (second, 0), (second, second),
    ])  # fmt: skip
    begun = [s for s in clauses.stretches if s.source is None]
    taken = {s.target: [str(term) for term in s.hypotheses if str(term).endswith("0 < m")] for s in begun}
    assert taken == {first: ["0 < m"], second: ["not 0 < m"]}


def test_a_loop_is_known_to_have_ended() -> None:
    body = "  k := 0\n  while k < 3 do\n    k := k + 1\n  end\n  result := ite(3 <= k, 0, q[0])\n"
    context, claim = made(body, "result")
    confirmed(context, claim, proof_of(context, {}, variants="3 - k"))


def test_there_are_no_invariants_for_a_variant_that_does_not_count_down() -> None:
    context, claim = known("partial_sum")
    proof = proof_of(context, {"z": "s<1> - s<2>"}, variants="len(q)")
    assert spacer_invariants(context, claim, proof, seconds=ENOUGH) is None


def test_a_branch_with_a_loop_must_be_taken_together() -> None:
    inner = "    while k < 3 do\n      k := k + 1\n    end\n"
    context, claim = made(f"  k := 0\n  if 0 < q[0] then\n{inner}  end\n  result := 0\n", "result")
    assert spacer_invariants(context, claim, proof_of(context, {}, variants="3 - k"), seconds=ENOUGH) is None


def test_what_is_known_of_a_draw_is_not_taken_for_known_on_the_other_branch() -> None:
    body = """  i := 0
  s := 0
  while i < len(q) do
    if 0 < n then
      u :=$ uniform(1, n)
    else
      s := s + q[i]
    end
    i := i + 1
  end
"""
    context, claim = made(body + LAST, "result", "n: int")
    confirmed(context, claim, proof_of(context, {"u": "0", "z": "s<1> - s<2>"}))


def test_quotients_by_unknowns_are_the_same_for_the_same_arguments() -> None:
    body = """  i := 0
  while i < len(q) do
    if i % M == 0 then
      z :=$ lap(1/eps)
      append(out, q[i] + z)
    end
    i := i + 1
  end
"""
    context, claim = made(body, "out", "M: int")
    confirmed(context, claim, proof_of(context, {"z": ITEM}))


def test_a_shift_may_look_at_a_variable_that_the_program_has_forgotten() -> None:
    body = "  d := q[0]\n  e := d\n  k := 0\n  while k < 3 do\n    k := k + 1\n  end\n"
    context, claim = made(f"{body}  z :=$ lap(1/eps)\n  result := d + z\n", "result", of=ALL)
    confirmed(context, claim, proof_of(context, {"z": "e<1> - e<2>"}, variants="3 - k"))


NESTED = """  i := 0
  while i < len(q) do
    k := 0
    while k < i do
      k := k + 1
    end
    z :=$ lap(1/eps)
    append(out, q[i] + z + k)
    i := i + 1
  end
"""


def test_the_invariant_of_an_inner_loop_remembers_the_outer_variant() -> None:
    """Checked stretch by stretch: each goal, and each clause at the next loop head, follows from what is known."""
    context, claim = made(NESTED, "out")
    proof = proof_of(context, {"z": ITEM}, variants="len(q) - i; i - k")
    found = spacer_invariants(context, claim, proof, seconds=ENOUGH)
    assert found is not None
    outer, inner = sorted(found)
    spoken = {var.name for clause in found[inner] for var in variables(clause)}
    assert {f"before.{outer}.left", f"before.{outer}.right"} <= spoken
    clauses, oracle = Clauses(context, claim, proof), Oracle(context)
    assert {(s.source, s.target) for s in clauses.stretches} >= {(None, outer), (outer, inner), (inner, outer)}
    for stretch in clauses.stretches:
        hypotheses = (*stretch.hypotheses, *(found[stretch.source] if stretch.source is not None else ()))
        wanted = list(stretch.goals)
        if stretch.target is not None:
            pairs = zip(clauses.heads[stretch.target], stretch.values, strict=True)
            values = {arg: value for arg, value in pairs if isinstance(arg, Var)}
            wanted += [substitute(clause, values) for clause in found[stretch.target]]
        for entry in wanted:
            assert oracle.ask(Obligation(hypotheses, entry, "", 0, "test")).holds, str(entry)


def test_a_program_without_loops_needs_no_invariants() -> None:
    context, claim = made("  z :=$ lap(1/eps)\n  result := q[0] + z\n", "result")
    assert spacer_invariants(context, claim, proof_of(context, {"z": "q<1>[0] - q<2>[0]"}), seconds=ENOUGH) == {}


def easy() -> tuple[Context, Amount, Proof]:
    context, claim = known("histogram")
    return context, claim, proof_of(context, {"z": ITEM})


def test_without_time_nothing_is_found() -> None:
    context, claim, proof = easy()
    assert spacer_invariants(context, claim, proof, seconds=0) is None


@pytest.mark.parametrize(
    "child",
    ["import time; time.sleep(600)", "raise SystemExit(3)", "print('unsat')", "print('unsat'); print('(true')", ""],
)
def test_a_process_that_hangs_or_fails_or_babbles_means_that_nothing_is_found(
    child: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, claim, proof = easy()
    monkeypatch.setattr(spacer, "_CHILD", child)
    monkeypatch.setattr(spacer, "GRACE", 0.1)
    assert spacer_invariants(context, claim, proof, seconds=0.5) is None


def test_without_an_interpreter_nothing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    context, claim, proof = easy()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert spacer_invariants(context, claim, proof, seconds=1) is None


def test_after_a_verdict_that_something_wrong_is_reached_nothing_else_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    context, claim, proof = easy()
    asked: list[Any] = []

    def answer(*arguments: Any) -> tuple[str, str]:
        asked.append(arguments)
        return ("unknown", "") if len(asked) == 1 else ("sat", "")

    monkeypatch.setattr(spacer, "_asked", answer)
    assert spacer_invariants(context, claim, proof, seconds=9) is None
    assert len(asked) == 2


HEADS = {7: (Var("x", side=1), Var("x", side=2), Var("b", "bool", 1))}


def relation() -> Any:
    return {7: z3.Function("invariant.7", z3.IntSort(), z3.IntSort(), z3.BoolSort(), z3.BoolSort())}


def read_back(formula: str) -> Mapping[int, tuple[Term, ...]]:
    text = f"(and (= wrong false) (forall ((A Int) (B Int) (C Bool)) (= (invariant.7 A B C) {formula})))"
    return spacer._read_back(z3, text, relation(), HEADS)


def number(rng: Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["A", "B", str(rng.randint(0, 5)), f"(- {rng.randint(1, 5)})"])
    one, other, third = (number(rng, depth - 1) for _ in range(3))
    return rng.choice([
        f"(+ {one} {other})", f"(+ {one} {other} {third})", f"(- {one} {other})", f"(- {one} {other} {third})",
        f"(- {one})", f"(* {rng.randint(0, 3)} {one})", f"(* (- {rng.randint(1, 3)}) {one})",
        f"(ite {truth(rng, depth - 1)} {one} {other})",
    ])  # fmt: skip


def truth(rng: Random, depth: int) -> str:
    if depth == 0:
        return rng.choice(["C", "true", "false", f"(<= A {rng.randint(0, 2)})"])
    left, right = number(rng, depth - 1), number(rng, depth - 1)
    one, other = truth(rng, depth - 1), truth(rng, depth - 1)
    compares = [f"({op} {left} {right})" for op in ("<=", "<", ">=", ">", "=")]
    return rng.choice([
        *compares, *(f"(not {entry})" for entry in compares), f"(and {one} {other})", f"(or {one} {other})",
        f"(=> {one} {other})", f"(= {one} {other})", f"(ite {one} {other} {compares[0]})",
        f"(and (<= {left} {right}) (<= {right} {left}))", f"(not {one})",
    ])  # fmt: skip


def test_what_is_read_back_means_the_same() -> None:
    rng = Random(3)
    sorts = {"A": z3.Int("x<1>"), "B": z3.Int("x<2>"), "C": z3.Bool("b<1>")}
    for _ in range(120):
        formula = truth(rng, 3)
        found = read_back(formula)[7]
        (meant,) = z3.parse_smt2_string(f"(assert (= true {formula}))", decls=sorts)
        solver = z3.Solver()
        solver.add(Translator(z3, exact=True)(and_(*found)) != meant)
        assert solver.check() == z3.unsat, (formula, [str(clause) for clause in found])


def test_two_inequalities_are_read_back_as_an_equation() -> None:
    assert read_back("(and C (<= (+ A (* (- 1) B)) 0) (>= (+ A (* (- 1) B)) 0))")[7] == (
        Var("b", "bool", 1),
        eq(Var("x", side=1), Var("x", side=2)),
    )
    assert read_back("(not (<= 3 A))")[7] == (le(Var("x", side=1), Num(2)),)


@for_each(
    "formula",
    ["(exists ((k Int)) (= A (* 2 k)))", "(= 0 (mod A 2))", "(= A (* A B))", "(<= (to_real A) 0.5)", "(xor C true)"],
)
def test_what_the_language_of_terms_cannot_say_is_not_read_back(formula: str) -> None:
    with pytest.raises(spacer._Foreign):
        read_back(formula)


@pytest.mark.parametrize("answer", ["(forall ((A Int)) (<= A 0))", "(exists ((k Int)) (= k 3))", "wrong"])
def test_an_answer_of_another_form_means_that_nothing_is_found(answer: str, monkeypatch: pytest.MonkeyPatch) -> None:
    context, claim, proof = easy()
    monkeypatch.setattr(spacer, "_asked", lambda *_: ("unsat", answer))
    assert spacer_invariants(context, claim, proof, seconds=9) is None


def test_unknowns_stand_for_reads_and_products_and_no_more() -> None:
    linear = Linear()
    one, other = Var("i", side=1), Var("i", side=2)
    items = Var("q", "list", 1)
    first, second = linear(read(items, one)), linear(read(items, other))
    assert linear(read(items, one)) == first != second
    assert linear(read(Var("q", "list", 2), one)) not in (first, second)
    product = linear(App("*", (one, other)))
    assert isinstance(product, Var)
    assert linear(App("*", (Num(3), one))) == App("*", (Num(3), one))
    rest = linear(App("%", (one, other)))
    facts = {str(fact) for fact in linear.facts()}
    assert f"0 < i<2> => 0 <= {rest} and {rest} < i<2>" in facts
    assert f"i<2> == 0 => {rest} == i<1>" in facts
    assert f"i<1> == i<2> => {first} == {second}" in facts
    assert not any(str(product) in fact for fact in facts)
