"""Units: costs are counted in whole units of base / (number * factors), one unit for each base.

A base is a budget's name, `1` for bare numbers, `ln(3)` for the logarithm of a rational above 1, `rho` and `delta`.
Whatever a rule adds to a cost must be a whole number of units, else the unit is refused.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter_check.amounts import read_number, shortened
from viameter_check.document import require_fields
from viameter_check.programs.frame import inside, read_list
from viameter_check.programs.reading import read_term
from viameter_check.programs.relations import Runs
from viameter_check.programs.scales import Monomial
from viameter_check.programs.scopes import read_name
from viameter_check.programs.showing import show
from viameter_check.programs.syntax import (
    Block,
    Call,
    Choose,
    Exponential,
    Flip,
    Gaussian,
    Laplace,
    Law,
    Sample,
    statements_in,
)
from viameter_check.programs.terms import INT, Term, make, number
from viameter_check.programs.tokens import MOST_DIGITS
from viameter_check.programs.walking import parts
from viameter_check.report import Refused

RHO, DELTA, ONE = "rho", "delta", "1"
_LOGARITHM = re.compile(r"ln\(([0-9]{1,300})(?:/([0-9]{1,300}))?\)", re.ASCII)
_MOST_FACTORS = 20


@dataclass(frozen=True, slots=True)
class Unit:
    """base / (number * factors)."""

    number: int = 1
    factors: tuple[Term, ...] = ()

    def whole(self, amount: Fraction, over: Iterable[Term] = (), times: Iterable[Term] = ()) -> Term:
        """amount * times / over of the base, in units; refused where it is not whole for every public input."""
        count = amount * self.number
        left = Counter(self.factors)
        left.subtract(Counter(over))
        if count.denominator != 1 or min(left.values(), default=0) < 0:
            missing = next((show(factor) for factor, many in left.items() if many < 0), f"{count.denominator}")
            raise Refused(f"the unit is too coarse: it needs {missing} more often, for whole costs")
        return product([number(count.numerator), *left.elements(), *times])


@dataclass(frozen=True, slots=True)
class Mechanism:
    """What is known of a mechanism that a program calls: its loss for arguments that are no further apart."""

    distance: int
    epsilon: Fraction
    delta: Fraction


def product(terms: Iterable[Term]) -> Term:
    """The product of some terms."""
    found = number(1)
    for term in terms:
        found = make("*", found, term)
    return found


def read_mechanisms(record: Any) -> dict[str, Mechanism]:
    """The table of mechanisms that a program calls."""
    if not isinstance(record, dict):
        raise Refused("expected an object from names to mechanisms")
    return {read_name(name, "a mechanism"): inside(name, _mechanism, entry) for name, entry in record.items()}


def _mechanism(record: Any) -> Mechanism:
    require_fields(record, ("distance", "epsilon", "delta"), optional=("says",))
    found = {name: inside(name, read_number, record[name]) for name in ("distance", "epsilon", "delta")}
    for name, value in found.items():
        if isinstance(value, float) or (name == "delta" and value > 1):
            raise Refused("expected a finite number, and a delta up to 1", name)
    distance = math.floor(found["distance"])  # arguments are integers
    return Mechanism(distance, found["epsilon"], found["delta"])


def odds_of(flip: Flip) -> Fraction | None:
    """By how much a flip's outcomes differ in probability at most; None where an outcome is impossible."""
    least = min(flip.probability, 1 - flip.probability)
    return (1 - least) / least if least else None


def bases_of(law: Law, mechanisms: Mapping[str, Mechanism]) -> set[str]:
    """The bases in which drawing from a law may cost something."""
    match law:
        case Laplace() | Exponential() | Choose():
            return {law.scale.base}
        case Gaussian():
            return {RHO}
        case Flip():
            odds = odds_of(law)
            return set() if odds in (None, 1) else {f"ln({odds})"}
        case Call():
            entry = mechanism_of(law, mechanisms)
            return {base for base, amount in ((ONE, entry.epsilon), (DELTA, entry.delta)) if amount}
    return set()


def mechanism_of(law: Call, mechanisms: Mapping[str, Mechanism]) -> Mechanism:
    """The mechanism that is called."""
    if law.name not in mechanisms:
        raise Refused(f"nothing is said of the mechanism {law.name[:60]!r} that the program calls", "mechanisms")
    return mechanisms[law.name]


def bases_in(body: Block, mechanisms: Mapping[str, Mechanism]) -> set[str]:
    """The bases in which a program may cost something."""
    draws = (statement for statement in statements_in(body) if isinstance(statement, Sample))
    return {base for draw in draws for base in bases_of(draw.law, mechanisms)}


def is_base(name: str, budgets: Iterable[str]) -> bool:
    """Whether costs may be counted in this base."""
    found = _LOGARITHM.fullmatch(name)
    if found is None:
        return name in (ONE, RHO, DELTA, *budgets)
    top, bottom = int(found[1]), int(found[2] or 1)
    return top > bottom > 0 and f"ln({Fraction(top, bottom)})" == name


def read_units(record: Any, runs: Runs) -> dict[str, Unit]:
    """The units of a proof, by base."""
    if not isinstance(record, dict):
        raise Refused("expected an object from bases to units")
    for name in record:
        if not is_base(name, runs.program.budgets):
            raise Refused(f"{shortened(name)} is not a base that costs are counted in")
    return {name: inside(f"[{name}]", _unit, entry, runs) for name, entry in record.items()}


def _unit(record: Any, runs: Runs) -> Unit:
    require_fields(record, ("number",), optional=("factors",))
    count = record["number"]
    if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count < 10**MOST_DIGITS:
        raise Refused(f"{shortened(count)}: expected a whole number from 1", "number")
    factors = inside("factors", read_list, record.get("factors", []))
    if len(factors) > _MOST_FACTORS:
        raise Refused(f"has more than {_MOST_FACTORS} factors", "factors")
    scope = runs.public_scope("a unit, whose factors are public")
    read = (inside(f"factors[{n}]", read_term, text, scope, INT) for n, text in enumerate(factors))
    return Unit(count, tuple(read))


def scales_in(body: Block) -> list[tuple[int, Monomial]]:
    """The scales of all draws, with their lines."""
    draws = [statement for statement in statements_in(body) if isinstance(statement, Sample)]
    return [
        (draw.line, draw.law.scale) for draw in draws if isinstance(draw.law, Laplace | Exponential | Gaussian | Choose)
    ]


def factors_in(body: Block, units: Mapping[str, Unit], runs: Runs) -> dict[Term, str]:
    """Every factor that must be at least 1, with its place; those of scales must be public."""
    found: dict[Term, str] = {}
    for line, scale in scales_in(body):
        for factor in scale.factors:
            _require_public(factor, runs, line)
            found.setdefault(factor, f"text[{line}]")
    for base, unit in units.items():
        for n, factor in enumerate(unit.factors):
            found.setdefault(factor, f"units[{base}].factors[{n}]")
    return found


def _require_public(factor: Term, runs: Runs, line: int) -> None:
    lengths = {term.args[0] for term in parts([factor]) if term.op == "len"}
    for term in parts([factor]):
        private_read = term.op == "read" and term.args[0].name not in runs.public
        if private_read or (term.op == "name" and term not in lengths and term.name not in runs.public):
            raise Refused(f"line {line}: the scale's factor {show(factor)} is not public", f"text[{line}]")
