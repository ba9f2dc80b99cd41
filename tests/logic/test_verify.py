"""Verdicts: what `verify` says of programs, bounds, hints and things that are not programs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.programs import by_the_prover, is_proved

import viameter as vm
from viameter.errors import ParameterError
from viameter.logic import program_from_source
from viameter.logic.errors import SolverMissing
from viameter.logic.kernel.judgment import Judgment
from viameter.logic.solving import z3bridge

LAPLACE = "def laplace(q: int, eps: vm.Eps) -> int:\n    return q + vm.lap(1 / eps)\n"


def from_text(text: str, **given: Any) -> Any:
    given.setdefault("adjacent", vm.all_differ("q", by=1))
    return program_from_source(text, **given)


def test_statuses_are_ordered_and_a_verdict_has_no_truth_value() -> None:
    assert vm.Status.REFUTED < vm.Status.UNKNOWN < vm.Status.PROVED
    verdict = vm.verify(from_text(LAPLACE), "eps")
    assert verdict.status is vm.Status.PROVED
    with pytest.raises(TypeError, match="three values"):
        bool(verdict)


def test_a_proof_carries_the_kernels_judgment_and_a_certificate() -> None:
    verdict = vm.verify(from_text(LAPLACE), "eps")
    assert isinstance(verdict.proofs[0].judgment, Judgment)
    assert verdict.certificate is not None
    assert "laplace costs at most eps" in verdict.certificate.claim
    assert verdict.to_json()["status"] == "PROVED"
    assert verdict.to_json()["bound"] == "eps"


@for_each("bound", ["99/100*eps", "1/2*eps", "0"])
def test_a_bound_below_the_cost_is_refuted_for_the_laplace_mechanism(bound: str) -> None:
    verdict = vm.verify(from_text(LAPLACE), bound, seconds=10)
    assert verdict.status is vm.Status.REFUTED
    assert verdict.witness is not None
    assert verdict.witness.recheck()
    assert verdict.certificate is None


@for_each("bound", ["eps", "2*eps", "eps + eps", "101/100*eps"])
def test_a_bound_at_or_above_the_cost_is_proved(bound: str) -> None:
    assert vm.verify(from_text(LAPLACE), bound).status is vm.Status.PROVED


def test_without_a_bound_the_least_one_is_found_and_shown_to_be_tight() -> None:
    verdict = vm.verify(from_text(LAPLACE))
    assert (verdict.status, str(verdict.bound)) == (vm.Status.PROVED, "eps")
    assert verdict.tight == "a witness shows that the bound cannot be lower"


def test_the_least_bound_grows_with_what_it_must_grow_with() -> None:
    text = """
def running(q: list[int], eps: vm.Eps) -> list[int]:
    out = []
    for x in q:
        out.append(x + vm.lap(3 / eps))
    return out
"""
    verdict = vm.verify(from_text(text))
    assert (verdict.status, str(verdict.bound)) == (vm.Status.PROVED, "1/3*len(q)*eps")


def test_a_loop_that_may_not_end_is_unknown_at_its_line() -> None:
    text = """
def waits(q: int, eps: vm.Eps) -> int:
    x = 0
    while x <= 0:
        x = vm.lap(1 / eps)
    return q + vm.lap(1 / eps)
"""
    verdict = by_the_prover(from_text(text), "eps")
    assert verdict.status is vm.Status.UNKNOWN
    assert verdict.missing is not None
    assert "loop" in verdict.missing.what
    assert verdict.source[1][verdict.missing.line] == 4


def test_a_scale_that_may_be_zero_is_not_proved_without_the_requirement() -> None:
    text = "def scaled(q: int, n: int, eps: vm.Eps) -> int:\n    return q + vm.lap(n / eps)\n"
    assert not is_proved(from_text(text), "eps")
    assert is_proved(from_text(text, requires="n >= 1"), "eps")


def test_time_that_is_up_is_unknown() -> None:
    text = """
def many(q: list[int], t: int, eps: vm.Eps) -> list[int]:
    out = []
    a = t + vm.lap(7 / eps)
    b = t + vm.lap(5 / eps)
    for x in q:
        if x + vm.lap(11 / eps) >= a and x + vm.lap(13 / eps) >= b:
            out.append(1)
        else:
            out.append(0)
    return out
"""
    verdict = vm.verify(
        from_text(text.replace(" and ", " or ").replace("x + vm.lap(13 / eps)", "x")), "eps", seconds=0.5
    )
    assert verdict.status is not vm.Status.PROVED


def test_an_asymmetric_relation_is_proved_in_both_directions() -> None:
    grows = vm.related("0 <= q<2> - q<1> <= 1")
    verdict = vm.verify(from_text(LAPLACE, adjacent=grows), "eps")
    assert verdict.status is vm.Status.PROVED
    assert len(verdict.proofs) == 2


def test_one_direction_is_not_enough() -> None:
    # Exponential noise: when q grows, the second run's draw must shrink, and cannot at 0.
    text = "def one_sided(q: int, eps: vm.Eps) -> int:\n    return q + vm.expo(1 / eps)\n"
    verdict = vm.verify(from_text(text, adjacent=vm.all_differ("q", by=1, monotone=True)), "eps", seconds=5)
    assert verdict.status is vm.Status.REFUTED


def test_hints_are_used_and_checked() -> None:
    text = LAPLACE.replace("vm.lap(1 / eps)", 'vm.lap(1 / eps, shift="{}")')
    assert vm.verify(from_text(text.format("q<1> - q<2>")), "eps").status is vm.Status.PROVED
    assert not is_proved(from_text(text.format("0")), "eps")
    for hint in ("p<1>", "q", "q<1> = 3", "cost.eps"):
        with pytest.raises(ParameterError, match=r"line 2: the shift .* cannot be used"):
            vm.verify(from_text(text.format(hint)), "eps")


def test_an_invariant_given_by_hand_is_tried_and_never_trusted() -> None:
    text = """
def total(q: list[int], eps: vm.Eps) -> int:
    s = 0
    for x in q:
        vm.invariant("{}")
        s = s + x
    return s + vm.lap(1 / eps)
"""
    one = vm.one_differs("q", by=1)
    assert vm.verify(from_text(text.format("s<1> - s<2> <= 1"), adjacent=one), "eps").status is vm.Status.PROVED
    wrong = from_text(text.format("s<1> == s<2>"), adjacent=one)
    assert not is_proved(wrong, "1/2*eps")


def test_gaussian_programs_take_losses() -> None:
    program = from_text("def noisy(q: int) -> int:\n    return q + vm.gauss(10)\n")
    assert vm.verify(program, vm.zcdp("1/200")).status is vm.Status.PROVED
    assert vm.verify(program, vm.zcdp("99/20000"), seconds=2).status is vm.Status.UNKNOWN
    assert vm.verify(program, vm.approx("3/5", "1e-6")).status is vm.Status.PROVED
    assert not is_proved(program, vm.approx("1/10", "1e-6"))
    assert str(vm.verify(program).bound) == "1/200"
    with pytest.raises(ParameterError, match="Gaussian"):
        vm.verify(program, "1/200")
    with pytest.raises(ParameterError, match=r"expected vm\.zcdp"):
        vm.verify(program, vm.pure(1))


def test_gaussian_and_laplace_noise_are_not_mixed() -> None:
    text = "def both(q: int, eps: vm.Eps) -> int:\n    return q + vm.gauss(10) + vm.lap(1 / eps)\n"
    assert vm.verify(from_text(text), vm.zcdp("1/2"), seconds=2).status is vm.Status.UNKNOWN


@for_each("thing", [None, 3, "eps", lambda q: q])
def test_what_is_no_program_is_refused(thing: Any) -> None:
    with pytest.raises(ParameterError, match=r"@vm\.program"):
        vm.verify(thing, "eps")


@for_each(
    ("bound", "says"),
    [
        ("eps2", "amount"),
        ("1/eps", "amount"),
        ("eps*eps", "amount"),
        (3.5, "amount"),
        ("", "amount"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(bound: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        vm.verify(from_text(LAPLACE), bound)


@for_each("seconds", [0, -1, float("nan")])
def test_times_that_make_no_sense_are_refused(seconds: float) -> None:
    with pytest.raises(ParameterError, match="seconds"):
        vm.verify(from_text(LAPLACE), "eps", seconds=seconds)


def test_a_missing_solver_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins

    real = builtins.__import__

    def without_z3(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "z3":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_z3)
    with pytest.raises(SolverMissing, match=r"viameter\[verify\]"):
        z3bridge.load()


def test_progress_says_what_is_tried() -> None:
    said: list[str] = []
    vm.verify(from_text(LAPLACE), "eps", progress=said.append)
    assert any("shifts" in text for text in said)
    assert any("kernel" in text for text in said)


def test_several_budgets_are_kept_apart() -> None:
    text = """
def two(q: int, eps1: vm.Eps, eps2: vm.Eps) -> int:
    return (q + vm.lap(1 / eps1)) + (q + vm.lap(1 / eps2))
"""
    program = from_text(text)
    assert vm.verify(program, "eps1 + eps2").status is vm.Status.PROVED
    # Only the sum is released, so that either noise alone protects twice the change.
    assert is_proved(program, "2*eps1") and is_proved(program, "2*eps2")
    assert not is_proved(program, "eps1")


def test_verdicts_do_not_depend_on_who_else_is_verifying() -> None:
    programs = [from_text(LAPLACE) for _ in range(3)]
    found = [vm.verify(p, "eps").certificate for p in programs]
    assert all(
        one is not None and other is not None and one.digest == other.digest for one, other in itertools.pairwise(found)
    )


def test_evidence_from_samples_never_changes_the_status() -> None:
    text = 'def noisy(q: int, eps: vm.Eps) -> int:\n    return q + vm.lap(1 / eps, shift="0")\n'
    verdict = vm.verify(from_text(text), "eps", seconds=0.5, samples=4000)
    assert verdict.status is vm.Status.UNKNOWN
    assert verdict.evidence is not None
    assert "no refutation" in verdict.explain()


BOUNDED = """
def bounded_sum(rows: list[vm.Between(0, 100)], eps: vm.Eps) -> int:
    s = 0
    for x in rows:
        s = s + x
    return s + vm.lap(100 / eps)
"""


def test_the_ends_of_a_range_are_tried_as_bounds() -> None:
    verdict = vm.verify(from_text(BOUNDED, adjacent=vm.added_or_removed("rows")), "eps")
    assert verdict.status is vm.Status.PROVED
    less = from_text(BOUNDED.replace("lap(100", "lap(99"), adjacent=vm.added_or_removed("rows"))
    assert not is_proved(less, "eps")


def test_a_budget_in_three_unequal_parts_is_added_up() -> None:
    text = """
def numeric(q: list[int], t: int, k: int, eps: vm.Eps) -> list[int]:
    out = []
    noisy_t = t + vm.lap(4 / eps)
    found = 0
    i = 0
    while i < len(q) and found < k:
        if q[i] + vm.lap(8 * k / eps) >= noisy_t:
            out.append(q[i] + vm.lap(2 * k / eps))
            found = found + 1
        else:
            out.append(0)
        i = i + 1
    return out
"""
    assert vm.verify(from_text(text, requires="k >= 1"), "eps").status is vm.Status.PROVED


def test_a_public_sensitivity_is_multiplied() -> None:
    text = "def scaled(q: int, k: int, eps: vm.Eps) -> int:\n    return k * q + vm.lap(k / eps)\n"
    assert vm.verify(from_text(text, requires="k >= 1"), "eps").status is vm.Status.PROVED


def test_without_a_bound_an_infinite_loss_refutes_all_pure_bounds() -> None:
    verdict = vm.verify(from_text("def bare(q: int, eps: vm.Eps) -> int:\n    return q\n"), seconds=20)
    assert verdict.status is vm.Status.REFUTED and verdict.bound is None
    assert verdict.witness is not None and verdict.witness.gap.loss == float("inf")
    assert repr(verdict) == "<REFUTED: no pure bound holds for what bare costs when q differs by at most 1>"
    assert "loss: infinite" in verdict.explain() and verdict.to_json()["bound"] is None
    assert "No pure bound holds for what bare costs" in verdict.to_html()


def test_without_a_bound_a_finite_loss_refutes_nothing() -> None:
    text = "def steep(q: int, eps: vm.Eps) -> int:\n    return 64 * q * q + vm.lap(1 / eps)\n"
    verdict = vm.verify(from_text(text), seconds=5)
    assert verdict.status is vm.Status.UNKNOWN and verdict.bound is None and verdict.missing is not None
    assert verdict.missing.what.startswith("no bound was found within 5 seconds")
    assert "16" not in repr(verdict)
    assert repr(verdict) == "<UNKNOWN: no bound was found for what steep costs when q differs by at most 1>"
    assert "no bound was found for what steep costs" in verdict.explain()


def test_what_is_missing_comes_with_two_runs() -> None:
    text = LAPLACE.replace("vm.lap(1 / eps)", 'vm.lap(1 / eps, shift="0")')
    verdict = by_the_prover(from_text(text), "eps")
    assert verdict.missing is not None
    assert verdict.missing.model is not None
    assert {"q<1>", "q<2>"} <= set(verdict.missing.model)


def test_a_verdict_has_a_short_text() -> None:
    assert repr(vm.verify(from_text(LAPLACE), "eps")) == (
        "<PROVED: laplace costs at most eps when q differs by at most 1>"
    )


def test_a_concentrated_cost_that_grows_with_the_input_gives_no_epsilon() -> None:
    text = """
def many(q: list[int]) -> list[int]:
    out = []
    for x in q:
        out.append(x + vm.gauss(10))
    return out
"""
    least = vm.verify(from_text(text))
    assert (least.status, str(least.bound), least.rho) == (vm.Status.PROVED, "1/200*len(q)", None)
    assert not is_proved(from_text(text), vm.approx("0.6", "1e-6"))


@for_each(
    ("relation", "requires", "says"),
    [
        (vm.related("q<1> - q<2> == 1 and q<1> + q<2> == 0"), (), "no two inputs are adjacent"),
        (vm.all_differ("q"), "q > 3 and q < 3", "no two inputs are adjacent"),
    ],
)
def test_an_adjacency_that_nothing_satisfies_is_refused(relation: Any, requires: Any, says: str) -> None:
    bare = from_text("def bare(q: int, eps: vm.Eps) -> int:\n    return q\n", adjacent=relation, requires=requires)
    with pytest.raises(ParameterError, match=says):
        vm.verify(bare, "0")


def test_nothing_is_required_of_how_many_rows_there_are() -> None:
    text = "def told(q: list[int], n: int, eps: vm.Eps) -> int:\n    return n\n"
    program = from_text(text, adjacent=vm.added_or_removed("q"), requires="n == len(q)")
    with pytest.raises(ParameterError, match="how many rows"):
        vm.verify(program, "0")


def test_two_parts_that_change_in_one_direction_each_are_stated_as_one_relation() -> None:
    text = "def total(q: int, r: int, eps: vm.Eps) -> int:\n    return q + r + vm.lap(1 / eps)\n"
    parts = (vm.all_differ("q", monotone=True), vm.all_differ("r", monotone=True))
    with pytest.raises(ParameterError, match=r"vm\.related"):
        vm.verify(from_text(text, adjacent=parts), "2*eps")


@for_each(
    "before",
    ["N += 4\n", "N = int('5')\n", "N, K = 5, 6\n", "if True:\n    N = 5\n", "N: int = 5\n", "import N\n", "del N\n"],
)
def test_a_number_of_the_module_that_may_have_changed_is_not_known(before: str) -> None:
    text = "def f(q: int, eps: vm.Eps) -> int:\n    return N * q + vm.lap(1 / eps)\n"
    assert vm.verify(from_text("N = 1\n" + text), "eps").status is vm.Status.PROVED
    with pytest.raises(vm.logic.ProgramError, match="N"):
        from_text("N = 1\n" + before + text)


def test_a_logarithm_is_the_natural_one() -> None:
    import math

    text = "def f(q: int) -> int:\n    return q + vm.lap(1 / log(8))\n"
    assert "ln(8)" in from_text(text, names={"log": math.log}).text
    with pytest.raises(vm.logic.ProgramError, match="natural"):
        from_text(text, names={"log": math.log2})


times = 1


def test_a_name_that_is_not_bound_yet_is_not_the_global_of_its_name() -> None:
    def outer() -> Any:
        @vm.program(adjacent=vm.all_differ("q"))
        def f(q: int, eps: vm.Eps) -> int:
            return times * q + vm.lap(1 / eps)

        times = 5
        return f, times

    with pytest.raises(vm.logic.ProgramError, match="times"):
        outer()


def test_another_decorator_between_is_refused() -> None:
    import functools

    def other(function: Any) -> Any:
        return functools.wraps(function)(lambda *given: 0)

    with pytest.raises(vm.logic.ProgramError, match="wrapped"):

        @vm.program(adjacent=vm.all_differ("q"))
        @other
        def f(q: int, eps: vm.Eps) -> int:
            return q + vm.lap(1 / eps)


@pytest.mark.parametrize("bound", ["1000000", "1" + "0" * 290, "ln(2) + 10000000"])
def test_a_bound_whose_exponential_is_beyond_range_has_a_verdict(bound: str) -> None:
    assert vm.verify(from_text(LAPLACE), bound, seconds=0.5, samples=200).status is vm.Status.UNKNOWN
    assert vm.verify(from_text(LAPLACE), f"{bound} + eps", seconds=5).status is vm.Status.PROVED


@for_each("bound", ["\u0662*eps", "eps + \u0662", "ln(\u0663)", "\uff12*eps", "1/\u0967*eps", "eps\u00a0+ 1"])
def test_digits_of_bounds_are_those_of_ascii(bound: str) -> None:
    with pytest.raises(ParameterError, match="is not an amount"):
        vm.verify(from_text(LAPLACE), bound)
