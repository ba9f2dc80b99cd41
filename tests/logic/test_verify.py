"""Verdicts: what `verify` says of programs, bounds, hints and things that are not programs."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

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


@pytest.mark.parametrize("bound", ["99/100*eps", "1/2*eps", "0"])
def test_a_bound_below_the_cost_is_refuted_for_the_laplace_mechanism(bound: str) -> None:
    verdict = vm.verify(from_text(LAPLACE), bound, seconds=10)
    assert verdict.status is vm.Status.REFUTED
    assert verdict.witness is not None
    assert verdict.witness.recheck()
    assert verdict.certificate is None


@pytest.mark.parametrize("bound", ["eps", "2*eps", "eps + eps", "101/100*eps"])
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
    verdict = vm.verify(from_text(text), "eps", seconds=5)
    assert verdict.status is vm.Status.UNKNOWN
    assert verdict.missing is not None
    assert "loop" in verdict.missing.what
    assert verdict.source[1][verdict.missing.line] == 4


def test_a_scale_that_may_be_zero_is_not_proved_without_the_requirement() -> None:
    text = "def scaled(q: int, n: int, eps: vm.Eps) -> int:\n    return q + vm.lap(n / eps)\n"
    verdict = vm.verify(from_text(text), "eps", seconds=3)
    assert verdict.status is not vm.Status.PROVED
    assert vm.verify(from_text(text, requires="n >= 1"), "eps").status is vm.Status.PROVED


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
    assert vm.verify(from_text(text.format("0")), "eps", seconds=2).status is not vm.Status.PROVED
    with pytest.raises(ParameterError, match="is not a variable here"):
        vm.verify(from_text(text.format("p<1>")), "eps")


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
    assert vm.verify(wrong, "1/2*eps", seconds=4).status is not vm.Status.PROVED


def test_gaussian_programs_take_losses() -> None:
    program = from_text("def noisy(q: int) -> int:\n    return q + vm.gauss(10)\n")
    assert vm.verify(program, vm.zcdp("1/200")).status is vm.Status.PROVED
    assert vm.verify(program, vm.zcdp("99/20000"), seconds=2).status is vm.Status.UNKNOWN
    assert vm.verify(program, vm.approx("3/5", "1e-6")).status is vm.Status.PROVED
    assert vm.verify(program, vm.approx("1/10", "1e-6"), seconds=4).status is not vm.Status.PROVED
    assert str(vm.verify(program).bound) == "1/200"
    with pytest.raises(ParameterError, match="Gaussian"):
        vm.verify(program, "1/200")
    with pytest.raises(ParameterError, match=r"expected vm\.zcdp"):
        vm.verify(program, vm.pure(1))


def test_gaussian_and_laplace_noise_are_not_mixed() -> None:
    text = "def both(q: int, eps: vm.Eps) -> int:\n    return q + vm.gauss(10) + vm.lap(1 / eps)\n"
    verdict = vm.verify(from_text(text), vm.zcdp("1/2"), seconds=2)
    assert verdict.status is vm.Status.UNKNOWN


@pytest.mark.parametrize("thing", [None, 3, "eps", lambda q: q])
def test_what_is_no_program_is_refused(thing: Any) -> None:
    with pytest.raises(ParameterError, match=r"@vm\.program"):
        vm.verify(thing, "eps")


@pytest.mark.parametrize(
    ("bound", "says"),
    [("eps2", "not a variable"), ("1/eps", "amount"), ("eps*eps", "amount"), (3.5, "amount"), ("", "expected")],
)
def test_bounds_that_make_no_sense_are_refused(bound: Any, says: str) -> None:
    with pytest.raises(ParameterError, match=says):
        vm.verify(from_text(LAPLACE), bound)


@pytest.mark.parametrize("seconds", [0, -1, float("nan")])
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
    found = [vm.verify(program, bound, seconds=3).status for bound in ("2*eps1", "2*eps2")]
    assert found == [vm.Status.PROVED, vm.Status.PROVED]
    assert vm.verify(program, "eps1", seconds=3).status is not vm.Status.PROVED


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
