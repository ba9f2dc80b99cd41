"""Facts in text about a program's inputs, in the inputs' own units: `requires=`, and relations between two runs."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from viameter.errors import ParameterError, plain
from viameter.logic.front.kinds import BOOL, INT, number
from viameter.logic.front.source import Source
from viameter.logic.front.values import Value, absolute, arithmetic, as_truth, compared, either, negated, on_grid
from viameter.logic.lang.core import Input
from viameter.logic.lang.parsing import read_term
from viameter.logic.lang.terms import FALSE, LOGICAL, App, Num, Sort, Term, Truth, Var, apply


def required(source: Source, requires: str | Iterable[str], inputs: tuple[Input, ...]) -> tuple[Term, ...]:
    """The facts that a program requires of its inputs: `N >= 1`, `0 <= a <= b`."""
    found: list[Term] = []
    for text in [requires] if isinstance(requires, str) else requires:
        if not isinstance(text, str):
            raise ParameterError(f"requires={plain(text)}: expected facts as text, such as 'N >= 1'")
        try:
            found.extend(facts(text, inputs))
        except ParameterError as problem:
            raise source.error(
                source.tree, f"requires={text!r} cannot be read: {problem}",
                "requires= states facts about inputs, such as 'N >= 1' or '0 <= a <= b'",
            ) from None  # fmt: skip
    return tuple(found)


def facts(text: str, inputs: tuple[Input, ...], constants: tuple[str, ...] = ()) -> list[Term]:
    """The facts that a text states, one for each part of a conjunction; numbers in it are not in grid steps.

    >>> [str(fact) for fact in facts("0 <= x <= 1", (Input("x", "int", Fraction(1, 100)),))]
    ['0 <= x', 'x <= 100']
    """
    sorts: dict[str, Sort] = {entry.name: entry.sort for entry in inputs} | dict.fromkeys(constants, "int")
    grids = {entry.name: entry.grid for entry in inputs}
    whole = as_truth(_value(read_term(text, sorts), grids))
    if whole is None:
        raise ParameterError(f"{text!r} is a number: expected a fact, such as a comparison")
    if whole == FALSE:
        raise ParameterError(f"{text!r} never holds, and of nothing everything can be proved")
    parts = whole.args if isinstance(whole, App) and whole.op == "and" else (whole,)
    return [part for part in parts if part != Truth(True)]


def _value(term: Term, grids: dict[str, Fraction]) -> Value:
    match term:
        case Var(name=name, sort=sort):
            return Value(term, BOOL if sort == "bool" else number(grids.get(name, Fraction(1))))
        case Num(value):
            return Value(term, INT if value else number(0))
        case Truth():
            return Value(term, BOOL)
        case App("len", _):
            return Value(term, INT)
        case App("read", (Var(name=name) as items, index)):
            place = on_grid(_value(index, grids), Fraction(1))
            if place is None:
                raise ParameterError(f"{term}: an index is a whole number")
            return Value(apply("read", (items, place)), number(grids.get(name, Fraction(1))))
        case App("ite", (test, then, orelse)):
            chosen = either(_truth(test, grids), _value(then, grids), _value(orelse, grids))
            if chosen is None:
                raise ParameterError(f"{term}: both branches must be of one sort")
            return chosen
        case App("neg", (inner,)):
            return negated(_value(inner, grids))
        case App("abs", (inner,)):
            return absolute(_value(inner, grids))
        case App(op, args) if op in LOGICAL:
            return Value(apply(op, tuple(_truth(arg, grids) for arg in args)), BOOL)
        case App("==" | "<=" | "<" as op, (left, right)):
            return compared(op, _value(left, grids), _value(right, grids))
        case App(op, (left, right)):
            return arithmetic(op, _value(left, grids), _value(right, grids))
    raise ParameterError(f"{term} cannot be read as a fact about inputs")


def _truth(term: Term, grids: dict[str, Fraction]) -> Term:
    found = as_truth(_value(term, grids))
    if found is None:
        raise ParameterError(f"{term} is a number: expected a comparison")
    return found
