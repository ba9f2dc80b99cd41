"""How two runs draw together at a sampling statement, and what it costs, in readable form."""

from __future__ import annotations

from fractions import Fraction

from viameter.logic.kernel.before import Choice
from viameter.logic.kernel.context import Context, charge_of
from viameter.logic.lang.core import Call, Choose, Exponential, Flip, Gaussian, Laplace, Sample, Uniform
from viameter.logic.lang.scales import Monomial
from viameter.logic.lang.terms import FALSE, TRUE, ZERO, App, Num, Term, Var, add, le, magnitude, show, sub
from viameter.logic.present.amounts import inverse, named

FREE = "costs nothing"
_SHORT = 84


def coupling(context: Context, statement: Sample, choice: Choice) -> tuple[str, ...]:
    """What the second run draws when the first draws x<1>, with its cost: one line, or one for each case."""
    match statement.law:
        case Laplace() | Exponential():
            return tuple(_cases(context, statement, choice.shift, ""))
        case Gaussian():
            return _gaussian(context, statement, choice)
        case Flip():
            return (_flip(context, statement, choice.shift),)
        case Uniform():
            return (_uniform(statement, choice.shift),)
        case Choose(scale=scale):
            low, high = choice.bounds
            moved = f"scores change by {show(low)} to {show(high)}"
            return _line(f"{_equal(statement)}; {moved}", _fixed(sub(high, low), scale))
        case Call(name=name):
            return _call(context, statement, name)


def _cases(context: Context, statement: Sample, shift: Term, pad: str) -> list[str]:
    match shift:
        case App("ite", (test, then, orelse)):
            found = _branch(context, statement, then, pad, f"if {show(test)}")
            while isinstance(orelse, App) and orelse.op == "ite":
                test, then, orelse = orelse.args
                found += _branch(context, statement, then, pad, f"else if {show(test)}")
            return found + _branch(context, statement, orelse, pad, "else")
    return [pad + line for line in _line(_shifted(statement, shift), _spent(context, statement, shift))]


def _line(together: str, spent: str) -> tuple[str, ...]:
    """How the runs draw, and what it costs: in one line if it is short."""
    if len(together) + len(spent) <= _SHORT:
        return (f"{together}, {spent}",)
    return (f"{together},", f"   {spent}")


def _branch(context: Context, statement: Sample, shift: Term, pad: str, test: str) -> list[str]:
    return [f"{pad}{test}:", *_cases(context, statement, shift, pad + "   ")]


def _shifted(statement: Sample, shift: Term) -> str:
    first = Var(statement.target.name, statement.target.sort, 1)
    match shift:
        case App("neg", (inner,)):
            return f"{_second(statement)} = {show(sub(first, inner))}"
    return f"{_second(statement)} = {show(add(first, shift))}"


def _second(statement: Sample) -> str:
    return str(Var(statement.target.name, statement.target.sort, 2))


def _equal(statement: Sample) -> str:
    return _shifted(statement, ZERO)


def _spent(context: Context, statement: Sample, shift: Term) -> str:
    (scale,) = charge_of(statement.law, context.program)
    if isinstance(statement.law, Exponential):
        return _signed(shift, scale)
    assert isinstance(statement.law, Laplace)
    moved = add(shift, _apart(context, statement.law.center))
    if isinstance(moved, Num):
        return _fixed(Num(abs(moved.value)), scale)
    return f"costs {inverse(scale)} for each step" + ("" if moved == shift else f" of {show(magnitude(moved))}")


def _apart(context: Context, center: Term) -> Term:
    """How far the first run's center is above the second's."""
    return sub(context.run(center, 1), context.run(center, 2))


def _signed(shift: Term, scale: Monomial) -> str:
    match shift:
        case Num(value) if value < 0:
            return f"gives {inverse(scale, Fraction(-value))} back"
        case Num():
            return _fixed(shift, scale)
    return f"costs {inverse(scale)} for each step up, and gives as much back for each step down"


def _fixed(steps: Term, scale: Monomial) -> str:
    match steps:
        case Num(0):
            return FREE
        case Num(value):
            return f"costs {named(inverse(scale, Fraction(value)), scale.base)}"
    return f"costs {named(inverse(scale), scale.base)} for each step of {show(steps)}"


def _gaussian(context: Context, statement: Sample, choice: Choice) -> tuple[str, ...]:
    (scale,) = charge_of(statement.law, context.program)
    assert isinstance(statement.law, Gaussian)
    (most,) = choice.bounds
    moved = add(choice.shift, _apart(context, statement.law.center))
    together = _shifted(statement, choice.shift)
    if most == ZERO:
        return _line(together, FREE)
    within = "" if isinstance(moved, Num) else f"; {show(le(magnitude(moved), most))}"
    match most:
        case Num(value):
            spent = f"costs {named(inverse(scale, Fraction(value * value)), 'rho')}"
        case _:
            spent = f"costs {named(inverse(scale), 'rho')} times the square of {show(most)}"
    return _line(f"{together}{within}", spent)


def _flip(context: Context, statement: Sample, differ: Term) -> str:
    charges = charge_of(statement.law, context.program)
    spent = f"costs {charges[0].base}" if charges else FREE
    first = Var(statement.target.name, "bool", 1)
    if differ == FALSE:
        return f"{_second(statement)} = {first}, {FREE}"
    if differ == TRUE:
        return f"{_second(statement)} = not {first}, {spent}"
    return f"{_second(statement)} = not {first} if {show(differ)}, which {spent}; else {_second(statement)} = {first}"


def _uniform(statement: Sample, shift: Term) -> str:
    if shift == ZERO:
        return f"{_equal(statement)}, {FREE}"
    return f"{_shifted(statement, shift)}, going round at the ends of the range, {FREE}"


def _call(context: Context, statement: Sample, name: str) -> tuple[str, ...]:
    entry = context.program.mechanisms[name]
    charges = charge_of(statement.law, context.program)
    spent = " and ".join(named(inverse(scale), scale.base) for scale in charges)
    close = f"; the arguments are at most {entry.distance} apart"
    return _line(f"{_equal(statement)}{close}", f"costs {spent}" if spent else FREE)
