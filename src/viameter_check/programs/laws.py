"""The text of laws: `lap(2/eps)`, `lap(2/eps, s)`, `gauss(10)`, `flip(3/4)`, `uniform(0, 9)`, `call noisy(x)`."""

from __future__ import annotations

from viameter_check.amounts import shortened
from viameter_check.programs.reading import Reader
from viameter_check.programs.scales import read_monomial
from viameter_check.programs.scopes import read_name
from viameter_check.programs.syntax import Call, Choose, Exponential, Flip, Gaussian, Laplace, Law, Uniform
from viameter_check.programs.terms import INT, Term, number
from viameter_check.report import Refused


def read_law(reader: Reader, budgets: frozenset[str], lists: frozenset[str]) -> Law:
    """A law, with its scale above 0 and its probability at most 1."""
    kind = reader.word()
    if kind == "call":
        name = read_name(reader.word(), "a mechanism")
        return Call(name, _arguments(reader, 1)[0])
    if kind == "uniform":
        return Uniform(*_arguments(reader, 2))
    reader.take("(")
    law = _parametric(kind, reader, budgets, lists)
    reader.take(")")
    return law


def _parametric(kind: str, reader: Reader, budgets: frozenset[str], lists: frozenset[str]) -> Law:
    if kind == "flip":
        probability = reader.ratio()
        if probability > 1:
            raise Refused(f"{probability} is not a probability")
        return Flip(probability)
    scores = ""
    if kind == "choose":
        scores = reader.word()
        if scores not in lists:
            raise Refused(f"{shortened(scores)} is not an input list: choose takes one")
        reader.take(",")
    elif kind not in ("lap", "gauss", "expo"):
        raise Refused(f"{shortened(kind)} is not a law")
    scale = read_monomial(reader, frozenset() if kind == "gauss" else budgets, scale=True)
    if scale.coefficient <= 0 or (kind == "gauss" and scale.base != "1"):
        raise Refused("a scale is above 0, and that of gauss is over no budget")
    if kind in ("choose", "expo"):
        return Choose(scores, scale) if scores else Exponential(scale)
    center = reader.term() if reader.accept(",") else number(0)
    if center.sort != INT:
        raise Refused(f"a center is int, not {center.sort}")
    return Laplace(scale, center) if kind == "lap" else Gaussian(scale, center)


def _arguments(reader: Reader, count: int) -> list[Term]:
    reader.take("(")
    found = [reader.term()]
    while reader.accept(","):
        found.append(reader.term())
    reader.take(")")
    if len(found) != count or any(term.sort != INT for term in found):
        raise Refused(f"expected {count} integers in {shortened(reader.text)}")
    return found
