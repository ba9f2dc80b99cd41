"""How two runs draw together: the cost that is said is the cost that the kernel charges."""

import re
from dataclasses import replace
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from tests.cases import for_each

import viameter as vm
from viameter.logic.kernel.assertion import clause
from viameter.logic.kernel.before import Choice, before_sample
from viameter.logic.kernel.context import Context, cost, units_for
from viameter.logic.kernel.rules.mechanism import Mechanism, mechanism
from viameter.logic.lang.core import Program, Sample, statements_of
from viameter.logic.lang.parsing import read_program, read_term
from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.terms import FALSE, TRUE, ZERO, App, Num, Term, Var, le, substitute, variables
from viameter.logic.neighbors import Neighbors
from viameter.logic.present.amounts import inverse, quotient
from viameter.logic.present.draws import FREE, coupling

EPS, SIZE, LOG = Fraction(7, 3), Fraction(5), Fraction(11, 13)


def worth(text: str) -> Fraction:
    """The value of an amount as it is written, read by Python itself."""
    exact = re.sub(r"\bln\(\d+(/\d+)?\)", "LOG", text)
    exact = re.sub(r"\b(\d+)\b", r"Fraction(\1)", exact)
    value = eval(exact, {"Fraction": Fraction, "eps": EPS, "N": SIZE, "LOG": LOG, "q": [0] * 5, "len": lambda q: SIZE})
    assert isinstance(value, Fraction)
    return value


def program_of(draw: str, *, of: str = "int") -> Program:
    text = f"program p\ninput q: {of}\ninput N: int\nbudget eps\nrequires 1 <= N\nbegin\n  x :=$ {draw}\n"
    return read_program(f"{text}  result := x\nend\nreturn result\n")


def context_of(program: Program) -> tuple[Context, Sample]:
    (sample,) = (s for s in statements_of(program.body) if isinstance(s, Sample))
    return Context(program, Neighbors(frozenset({"q"})), units_for(program, None)), sample


def charged(context: Context, sample: Sample, choice: Choice, base: str) -> Fraction:
    """What the kernel charges, in the base itself, where that is a number."""
    most = Var("most")
    (before,) = (
        entry.term
        for entry in before_sample(context, sample, choice, clause(le(cost(base), most)))
        if most in variables(entry.term)
    )
    while isinstance(before, App) and before.op == "=>":
        before = before.args[1]
    assert isinstance(before, App) and before.op == "<="
    spent = before.args[0]
    if spent == cost(base):
        return Fraction(0)
    spent = substitute(spent, {cost(base): ZERO, Var("N"): Num(int(SIZE))})
    assert isinstance(spent, Num), spent
    unit = context.units[base].denominator
    whole = substitute(unit, {Var("N"): Num(int(SIZE))})
    assert isinstance(whole, Num)
    return Fraction(spent.value, whole.value)


def said(line: str, base: str) -> Fraction:
    """What a line says that it costs, in the base."""
    if FREE in line:
        return Fraction(0)
    back = re.fullmatch(r".*, gives (.*) back", line)
    found = back or re.fullmatch(r".*, costs (?:rho |epsilon )?(.*)", line)
    assert found is not None, line
    value = worth(found[1])
    value = value / EPS if base == "eps" else value / LOG if base.startswith("ln") else value
    return -value if back else value


fractions = st.fractions(min_value=Fraction(1, 9), max_value=9, max_denominator=9)


@given(fractions, st.booleans(), st.integers(-4, 4), st.sampled_from(["lap", "expo"]))
def test_the_cost_of_a_fixed_shift_is_what_the_kernel_charges(
    scale: Fraction, factor: bool, shift: int, law: str
) -> None:
    context, sample = context_of(program_of(f"{law}({scale}{'*N' if factor else ''}/eps)"))
    choice = Choice(Num(shift))
    (line,) = coupling(context, sample, choice)
    assert said(line, "eps") == charged(context, sample, choice, "eps")
    moved = f" {'+' if shift > 0 else '-'} {abs(shift)}" if shift else ""
    assert line.startswith(f"x<2> = x<1>{moved}, ")


@given(fractions, st.integers(1, 4))
def test_the_cost_of_gaussian_noise_is_what_the_kernel_charges(sigma: Fraction, most: int) -> None:
    context, sample = context_of(program_of(f"gauss({sigma})"))
    choice = Choice(Num(most), (Num(most),))
    (line,) = coupling(context, sample, choice)
    assert said(line, "rho") == charged(context, sample, choice, "rho") == Fraction(most * most) / (2 * sigma**2)
    assert ", costs rho " in line


@given(st.integers(0, 3), st.integers(0, 3), fractions)
def test_the_cost_of_choosing_is_what_the_kernel_charges(down: int, up: int, scale: Fraction) -> None:
    context, sample = context_of(program_of(f"choose(q, {scale}/eps)", of="list"))
    choice = Choice(ZERO, (Num(-down), Num(up)))
    (line,) = coupling(context, sample, choice)
    assert said(line, "eps") == charged(context, sample, choice, "eps")
    assert f"scores change by {-down} to {up}" in line


@given(st.fractions(min_value=Fraction(1, 20), max_value=Fraction(19, 20), max_denominator=20), st.booleans())
def test_the_cost_of_a_flip_is_what_the_kernel_charges(p: Fraction, differ: bool) -> None:
    text = program_of("flip(" + str(p) + ")")
    context, sample = context_of(text)
    choice = Choice(TRUE if differ else FALSE)
    (line,) = coupling(context, sample, choice)
    for base in context.units:
        assert said(line, base) == charged(context, sample, choice, base)
    if not context.units:
        assert line.endswith(FREE)
    assert ("= not x<1>" in line) == differ


def test_a_shift_that_depends_on_a_test_is_shown_by_cases() -> None:
    context, sample = context_of(program_of("lap(2/eps)"))
    sorts = {"x": "int", "q": "int", "N": "int"}
    shift = read_term("ite(N <= x<1>, ite(N == 3, 1, 2), ite(N == 4, -1, 0))", sorts)  # type: ignore[arg-type]
    assert coupling(context, sample, Choice(shift)) == (
        "if N <= x<1>:",
        "   if N == 3:",
        "      x<2> = x<1> + 1, costs eps/2",
        "   else:",
        "      x<2> = x<1> + 2, costs eps",
        "else if N == 4:",
        "   x<2> = x<1> - 1, costs eps/2",
        "else:",
        "   x<2> = x<1>, costs nothing",
    )


@for_each(
    ("draw", "shift", "line"),
    [
        ("lap(3/eps)", "q<1> - q<2>", "x<2> = x<1> + (q<1> - q<2>), costs eps/3 for each step"),
        ("lap(3/eps)", "-q<1>", "x<2> = x<1> - q<1>, costs eps/3 for each step"),
        ("lap(3/eps, q)", "0", "x<2> = x<1>, costs eps/3 for each step of abs(q<1> - q<2>)"),
        ("lap(3/eps, q)", "1", "x<2> = x<1> + 1, costs eps/3 for each step of abs(1 + (q<1> - q<2>))"),
        ("lap(2*N/eps, N)", "1", "x<2> = x<1> + 1, costs eps/(2*N)"),
        (
            "expo(3/eps)",
            "q<1>",
            "x<2> = x<1> + q<1>, costs eps/3 for each step up, and gives as much back for each step down",
        ),
        ("uniform(0, N)", "0", "x<2> = x<1>, costs nothing"),
        ("uniform(0, N)", "q<2>", "x<2> = x<1> + q<2>, going round at the ends of the range, costs nothing"),
    ],
)
def test_shifts_that_are_not_fixed_cost_by_the_step(draw: str, shift: str, line: str) -> None:
    context, sample = context_of(program_of(draw))
    term = read_term(shift, {"q": "int", "N": "int"})
    assert " ".join(part.strip() for part in coupling(context, sample, Choice(term))) == line


def test_a_centered_shift_costs_how_far_the_noise_itself_moves() -> None:
    context, sample = context_of(program_of("lap(1/eps, N)"))
    assert coupling(context, sample, Choice(Num(-2))) == ("x<2> = x<1> - 2, costs 2*eps",)


def test_bounds_of_gaussian_shifts_are_shown() -> None:
    context, sample = context_of(program_of("gauss(10)"))
    choice = Choice(read_term("q<1> - q<2>", {"q": "int"}), (Num(2),))
    assert coupling(context, sample, choice) == ("x<2> = x<1> + (q<1> - q<2>); abs(q<1> - q<2>) <= 2, costs rho 1/50",)
    public = Choice(read_term("q<1> - q<2>", {"q": "int"}), (Var("N"),))
    assert coupling(context, sample, public)[-1].endswith("costs rho 1/200 times the square of N")


@given(st.fractions(min_value=Fraction(1, 30), max_value=30), st.integers(0, 2))
def test_amounts_are_read_back_to_what_they_are(times: Fraction, factors: int) -> None:
    sizes: tuple[Term, ...] = (Var("N"),) * factors
    assert worth(quotient(times, "eps", sizes)) == times * EPS / SIZE**factors
    assert worth(quotient(times, "ln(3)", sizes)) == times * LOG / SIZE**factors
    assert worth(quotient(times, "1", sizes)) == times / SIZE**factors
    assert worth(inverse(Monomial.of(times, sizes, "eps"))) == EPS / (times * SIZE**factors)


INTEGERS = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
CALLED = [
    mechanism(vm.laplace(INTEGERS, scale=3), distance=2),
    mechanism(vm.gaussian(INTEGERS, scale=5).to(vm.ApproxDP, delta="1/100"), distance=1),
    mechanism(vm.laplace(INTEGERS, scale=3), distance=0),
]


@for_each("called", CALLED)
def test_the_cost_of_a_called_mechanism_is_what_the_kernel_charges(called: Mechanism) -> None:
    context, sample = context_of(replace(program_of("call other(q)"), mechanisms={"other": called}))
    line = " ".join(part.strip() for part in coupling(context, sample, Choice()))
    assert line.startswith(f"x<2> = x<1>; the arguments are at most {called.distance} apart, ")
    parts = {"1": called.epsilon, "delta": called.delta}
    assert {base: charged(context, sample, Choice(), base) for base in context.units} == {
        base: amount for base, amount in parts.items() if amount
    }
    spent = [f"{name} {amount}" for name, amount in (("epsilon", called.epsilon), ("delta", called.delta)) if amount]
    assert line.endswith(f"costs {' and '.join(spent)}" if spent else FREE)
