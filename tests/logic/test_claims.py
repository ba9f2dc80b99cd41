"""Claims: sums of terms that cannot be negative, with the delta that belongs to them; checked where they are made."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from tests.cases import for_each
from tests.logic.kernel.proving import amount, oracle, program, relation
from tests.logic.programs import is_proved

import viameter as vm
from viameter.errors import ParameterError
from viameter.logic import program_from_core, program_from_source, verify
from viameter.logic.claims import Claim, claim_of, settled
from viameter.logic.kernel.assertion import clause
from viameter.logic.kernel.context import Context, units_for
from viameter.logic.kernel.derive import derive
from viameter.logic.kernel.judgment import Unproved
from viameter.logic.kernel.proof import Proof
from viameter.logic.kernel.rules.mechanism import mechanism
from viameter.logic.kernel.rules.structure import assign
from viameter.logic.kernel.rules.whole import concluded
from viameter.logic.lang.core import Assign, Program
from viameter.logic.lang.parsing import read_amount, read_program
from viameter.logic.lang.scales import Amount, Monomial, Unit
from viameter.logic.lang.terms import Num, Var, eq, sub
from viameter.logic.verdict import Status

LAPLACE = program_from_source(
    "def noisy(q: int, n: int, flag: bool, eps: vm.Eps) -> int: return q + vm.lap(1 / eps)",
    adjacent=vm.all_differ("q"),
)
SEVEN = program_from_source("def seven(q: int, eps: vm.Eps) -> int: return 7", adjacent=vm.all_differ("q"))
NEGATIVE = (
    "eps + 100*ln(1/2)", "eps + ln(0)", "5*ln(1/2)", "ln(1)", "ln(2/2)", "ln(1/0)", "ln(x)", "(0 - 1)*eps", "(-1)*eps",
    "2*eps + (-1)*eps", "eps*(1 - 3)", "1/0*eps", f"{'9' * 5000}*eps", "ln(2",
)  # fmt: skip


@for_each("bound", NEGATIVE)
@for_each("of", [LAPLACE, SEVEN])
def test_a_bound_that_may_be_negative_is_refused(of: Any, bound: str) -> None:
    with pytest.raises(ParameterError):
        verify(of, bound, seconds=5)


@for_each("bound", ["q*eps", "q*q*eps", "(q + n)*eps"])
def test_a_bound_that_depends_on_private_data_is_refused_by_name(bound: str) -> None:
    with pytest.raises(ParameterError, match=r"the bound .* depends on q: it must be public"):
        verify(LAPLACE, bound, seconds=5)


def test_a_bound_is_an_amount_of_whole_numbers_and_known_budgets() -> None:
    for bound in ("flag*eps", "eps2", "delta", "rho", "eps*eps", "len(q)*eps"):
        with pytest.raises(ParameterError):
            verify(LAPLACE, bound, seconds=5)
    with pytest.raises(ParameterError, match="costs cannot be counted in 'other'"):
        verify(SEVEN, Amount((Monomial(Fraction(1), (), "other"),)), seconds=5)


@for_each(
    ("decimal", "fraction"),
    [
        ("0.5*eps", "1/2*eps"), ("1.25 * eps + 0.1", "5/4*eps + 1/10"), ("n*0.5*eps", "n*1/2*eps"),
        ("0.5/2*eps", "1/4*eps"), ("1/2*0.5*eps", "1/4*eps"), ("ln(1.5)", "ln(3/2)"), ("2.0*eps", "2*eps"),
        ("0.30000000000000000001*eps", f"{3 * 10**19 + 1}/{10**20}*eps"),
    ],
)  # fmt: skip
def test_decimals_of_a_bound_are_exact_and_written_as_fractions(decimal: str, fraction: str) -> None:
    claim = claim_of(decimal, LAPLACE.core)
    assert claim == claim_of(fraction, LAPLACE.core) and "." not in claim.to_json()["amount"]


@for_each(
    "bound",
    [
        "eps/0.5", "1/ 0.5*eps", "1/(0.5)*eps", "1//0.5*eps", "ln(3/0.5)", "0.5e1*eps", ".5*eps", "0.5.5*eps",
        "n0.5*eps", "5.*eps", "(n*0.5)*eps", "-0.5*eps", f"0.{'1' * 5000}*eps", f"0.{'1' * 300}*eps",
    ],
)  # fmt: skip
def test_decimals_that_might_be_misread_are_refused(bound: str) -> None:
    with pytest.raises(ParameterError, match=r"1/2\*eps"):
        claim_of(bound, LAPLACE.core)


def test_a_decimal_does_not_begin_within_a_name() -> None:
    text = "def noisy(q: int, n1: int, eps: vm.Eps) -> int: return q + vm.lap(1 / eps)"
    # Else n0.5 were n1/2.
    with pytest.raises(ParameterError, match="n0"):
        claim_of("n0.5*eps", program_from_source(text, adjacent=vm.all_differ("q")).core)


def test_a_certificate_holds_no_decimals() -> None:
    assert Claim.from_json({"measure": "pure", "amount": "1/2*eps"}, SEVEN.core) == claim_of("0.5*eps", SEVEN.core)
    with pytest.raises(ParameterError, match="cannot read"):
        Claim.from_json({"measure": "pure", "amount": "0.5*eps"}, SEVEN.core)


def test_a_factor_of_a_bound_that_may_be_negative_is_an_obligation() -> None:
    # n*eps + (1 - n)*eps is eps, and a sum of terms one of which is negative.
    assert not is_proved(LAPLACE, "n*eps + (1 - n)*eps")
    some = program_from_source(
        "def noisy(q: int, n: int, eps: vm.Eps) -> int: return q + vm.lap(1 / eps)",
        adjacent=vm.all_differ("q"), requires="n >= 1",
    )  # fmt: skip
    assert verify(some, "n*eps", seconds=20).status is Status.PROVED


@for_each("base", ["ln(1/2)", "ln(1)", "ln(0)", "ln(4/2)", "ln(3/0)", "ln(-1)", "ln(²)", "", "a.b", 1])
def test_a_monomial_has_a_base_above_0(base: Any) -> None:
    with pytest.raises(ParameterError, match="no base of costs"):
        Monomial(Fraction(1), (), base)
    with pytest.raises(ParameterError, match="no base of costs"):
        replace(Monomial(Fraction(1), (), "eps"), base=base)


@for_each("coefficient", [Fraction(-1), -1, 1.5, float("nan"), float("inf"), "1", None])
def test_a_monomial_has_an_exact_coefficient_that_is_not_negative(coefficient: Any) -> None:
    with pytest.raises(ParameterError, match="coefficient >= 0"):
        Monomial(coefficient, (), "eps")


def test_numbers_among_the_factors_do_not_make_it_negative() -> None:
    with pytest.raises(ParameterError, match="coefficient >= 0"):
        Monomial.of(Fraction(1), (Num(-2),), "eps")
    with pytest.raises(ParameterError, match="flag is bool"):
        Monomial.of(Fraction(1), (Var("flag", "bool"),), "eps")


def test_the_kernel_counts_in_no_base_that_is_not_above_0() -> None:
    made = program("r := 7")
    near = relation(made)
    for base in ("ln(1/2)", "ln(1)", "other"):
        with pytest.raises(ParameterError):
            Context(made, near, {base: Unit()})


def test_the_kernel_concludes_no_claim_with_a_negative_term() -> None:
    made = program("r := 7", inputs=("q: int", "n: int"))
    asks = oracle(made, "eps")

    class Forged(Amount):
        pass

    derived = derive(asks, amount(made, "eps"), Proof())
    assert derived.rule == "consequence"
    fine = skip_of(made, asks)
    assert concluded(asks, fine, amount(made, "eps")).budget
    with pytest.raises(ParameterError, match="is no amount"):
        derive(asks, Forged(()), Proof())
    with pytest.raises(ParameterError, match="is no amount"):
        concluded(asks, fine, Forged(()))
    with pytest.raises(ParameterError, match="nothing is counted in 'ln"):
        derive(asks, read_amount("ln(2)", frozenset(), {}), Proof())
    below = Amount((Monomial(Fraction(1), (sub(Num(0), Var("n")),), "eps"),))
    with pytest.raises(Unproved, match=r"the factor .* of the bound is not negative"):
        derive(asks, below, Proof())
    with pytest.raises(Unproved, match=r"the factor .* of the bound is not negative"):
        concluded(asks, fine, below)


def skip_of(made: Program, asks: Any) -> Any:
    """A judgment about the whole program that spends nothing."""
    (statement,) = made.body.statements
    assert isinstance(statement, Assign)
    return assign(asks.context, statement, clause(eq(Var("r", side=1), Var("r", side=2))))


PURE = Amount((Monomial(Fraction(1), (), "eps"),))
WITH_DELTA = Amount((*PURE.parts, Monomial(Fraction(1, 100), (), "delta")))
RHO = Amount((Monomial(Fraction(1), (), "rho"),))
GROWING = Amount((*PURE.parts, Monomial(Fraction(1, 100), (Var("n"),), "delta")))


@for_each(
    "fields",
    [
        ("pure", WITH_DELTA), ("pure", RHO), ("pure", PURE, Fraction(0)), ("pure", PURE, None, Fraction(1)),
        ("zcdp", PURE), ("zcdp", WITH_DELTA), ("zcdp", RHO, Fraction(0)), ("renyi", PURE), ("pure", "eps"),
        ("approx", PURE), ("approx", WITH_DELTA), ("approx", WITH_DELTA, Fraction(1, 1000)),
        ("approx", PURE, Fraction(1, 100)), ("approx", WITH_DELTA, 0.01), ("approx", GROWING, Fraction(1, 100)),
        ("approx", PURE, Fraction(2)), ("approx", PURE, Fraction(-1)), ("approx", RHO, Fraction(0)),
        ("approx", WITH_DELTA, Fraction(1, 100), Fraction(1)),
    ],
)  # fmt: skip
def test_a_claim_has_its_delta_in_its_type(fields: Any) -> None:
    with pytest.raises(ParameterError):
        Claim(*fields)


def test_claims_that_fit_their_measure() -> None:
    assert Claim("approx", WITH_DELTA, Fraction(1, 100)).epsilon == PURE
    assert Claim("approx", PURE, Fraction(0)).delta == 0
    assert str(Claim("zcdp", RHO, None, Fraction(1))) == "1"
    one = Amount((Monomial(Fraction(1)),))
    assert Claim("approx", one, Fraction(1, 100), Fraction(1, 8)).to_json()["rho"] == "1/8"
    for claim in (
        Claim("approx", WITH_DELTA, Fraction(1, 100)), Claim("pure", PURE), Claim("zcdp", RHO, None, Fraction(1)),
        Claim("approx", one, Fraction(1, 100), Fraction(1, 8)),
    ):  # fmt: skip
        assert Claim.from_json(claim.to_json(), SEVEN.core) == claim


def test_an_amount_with_a_delta_is_a_claim_in_approx() -> None:
    assert claim_of(WITH_DELTA, SEVEN.core) == Claim("approx", WITH_DELTA, Fraction(1, 100))
    nothing = Amount((*PURE.parts, Monomial(Fraction(0), (), "delta")))
    assert claim_of(nothing, SEVEN.core) == Claim("pure", PURE)
    for bound in (GROWING, Amount((Monomial(Fraction(3, 2), (), "delta"),)), RHO):
        with pytest.raises(ParameterError):
            claim_of(bound, LAPLACE.core)
    assert settled(GROWING, LAPLACE.core) is None


def _integers() -> Any:
    return vm.Space(vm.scalars(int), vm.AbsoluteDistance())


def _laplace() -> Any:
    return vm.laplace(_integers(), scale=2)


def _gaussian() -> Any:
    return vm.gaussian(_integers(), scale=4)


KINDS: dict[str, Callable[[], Any]] = {
    "pure": _laplace,
    "zcdp": lambda: _gaussian().to(vm.ApproxDP, delta="1/1000"),
    "approx from pure": lambda: _laplace().to(vm.ApproxDP, delta="1/100"),
    "approx without delta": lambda: _laplace().to(vm.ApproxDP),
    "renyi": lambda: _gaussian().to(vm.RenyiDP, order=(2, 4, 8)).to(vm.ApproxDP, delta="1/1000"),
    "approx-zcdp": lambda: _gaussian().to(vm.ApproxZCDP).to(vm.ApproxDP, delta="1/1000"),
}
"""Mechanisms on one integer, in every measure that there is a mechanism for, as a program may call them."""


@cache
def _entry(kind: str) -> Any:
    return mechanism(KINDS[kind]())


def _calling(entry: Any, times: int = 1) -> Any:
    lines = ["program calls", "input x: int", "begin"]
    lines += [f"y{n} :=$ call m(x)" for n in range(times)]
    lines += [f"out := {' + '.join(f'y{n}' for n in range(times))}", "end", "return out"]
    core = replace(read_program("\n".join(lines) + "\n"), mechanisms={"m": entry})
    return program_from_core(core, adjacent=vm.all_differ("x"))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("times", [1, 2])
def test_the_delta_of_a_mechanism_that_is_called_reaches_the_measurement(kind: str, times: int) -> None:
    entry = _entry(kind)
    calling = _calling(entry, times)
    epsilon, delta = times * entry.epsilon, times * entry.delta
    found = verify(calling, seconds=20)
    assert found.status is Status.PROVED and found.measure == ("approx" if delta else "pure")
    made = calling.measurement(verdict=found)
    assert made.map(1) == (vm.approx(epsilon, delta) if delta else vm.pure(epsilon))
    assert made.measure is (vm.ApproxDP if delta else vm.PureDP)
    parts = (Monomial(epsilon), Monomial(delta, (), "delta"))
    stated = calling.measurement(verdict=verify(calling, Amount(parts), seconds=20))
    assert stated.map(1) == made.map(1)
    if delta:
        for small in (Amount(parts[:1]), vm.approx(epsilon, delta / 2), vm.pure(epsilon)):
            assert not is_proved(calling, small), small


def test_the_search_ends_when_neither_proof_nor_counterexample_is_left_to_try() -> None:
    # Calls of mechanisms are never refuted. Once: half a million attempts at nothing, until time was over.
    entry, said = _entry("approx from pure"), list[str]()
    found = verify(_calling(entry), vm.pure(entry.epsilon), seconds=5, progress=said.append)
    assert found.status is Status.UNKNOWN and found.missing is not None
    assert len(said) < 100


def test_units_are_those_of_the_claim_and_the_program() -> None:
    assert set(units_for(SEVEN.core, PURE)) == {"eps"}
