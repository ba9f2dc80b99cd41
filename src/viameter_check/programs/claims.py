"""Claims: what a certificate says that its program costs, and what must hold at the end of a run for it to be true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter_check.amounts import shortened
from viameter_check.document import require_fields
from viameter_check.programs.frame import inside
from viameter_check.programs.relations import Runs
from viameter_check.programs.scales import Monomial, read_amount
from viameter_check.programs.terms import Term, make, number
from viameter_check.programs.units import DELTA, ONE, RHO, Unit
from viameter_check.report import Refused
from viameter_check.rules.concentrated import delta_of_zcdp, epsilon_of_zcdp

_FIELDS = {"pure": ("amount",), "zcdp": ("amount",), "approx": ("amount", "delta")}


@dataclass(frozen=True, slots=True)
class Bound:
    """What one base may cost at most: a sum of monomials, and where the certificate says it."""

    parts: tuple[Monomial, ...]
    place: str

    @property
    def factors(self) -> tuple[Term, ...]:
        """What the bound grows with."""
        return tuple(factor for part in self.parts for factor in part.factors)

    def counted(self, unit: Unit) -> Term:
        """The bound in units."""
        total = number(0)
        for part in self.parts:
            total = make("+", total, unit.whole(part.coefficient, times=part.factors))
        return total


@dataclass(frozen=True, slots=True)
class Claim:
    """A measure, and a bound for every base that is mentioned; no other base may cost anything."""

    measure: str
    bounds: Mapping[str, Bound]
    words: str
    amounts: Mapping[str, tuple[Monomial, ...]]
    """The sums of the claim as they are written: `amount`, and `delta` where there is one."""

    def bound(self, base: str) -> Bound:
        """What a base may cost."""
        return self.bounds.get(base, Bound((), "claim.amount"))


def read_claim(record: Any, runs: Runs) -> Claim:
    """The claim, as bounds on what each base may cost; amounts are over public inputs."""
    measure = record.get("measure") if isinstance(record, dict) else None
    if not isinstance(measure, str) or measure not in _FIELDS:
        raise Refused(f"{shortened(measure)}: expected pure, zcdp or approx", "measure")
    fields = _FIELDS[measure]
    require_fields(record, ("measure", *fields), optional=("rho",) if measure == "approx" else ())
    scope = runs.public_scope("a claim")
    read = {
        name: inside(name, read_amount, record[name], scope, runs.program.budgets if name == "amount" else frozenset())
        for name in (*fields, "rho")
        if name in record
    }
    for name in ("delta", "rho") if measure != "zcdp" else ("amount",):
        if any(part.base != ONE for part in read.get(name, ())):
            raise Refused(f"{shortened(record[name])} is no number: expected one without budgets", name)
    if measure == "zcdp":
        return Claim(
            measure, {RHO: Bound(read["amount"], "claim.amount")}, f"zcdp: rho at most {record['amount']}", read
        )
    words = f"epsilon at most {record['amount']}"
    bounds: dict[str, Bound] = {}
    if "rho" in read:
        _require_conversion({name: _plain(name, parts) for name, parts in read.items()})
        bounds[RHO] = Bound(read["rho"], "claim.rho")
        words += f" and delta at most {record['delta']} (from rho at most {record['rho']})"
    else:
        for base in dict.fromkeys(part.base for part in read["amount"]):
            bounds[base] = Bound(tuple(part for part in read["amount"] if part.base == base), "claim.amount")
        if measure == "approx":
            if not any(part.factors for part in read["delta"]) and not 0 <= _plain("delta", read["delta"]) <= 1:
                raise Refused(f"{shortened(record['delta'])} is not a probability", "delta")
            bounds[DELTA] = Bound(read["delta"], "claim.delta")
            words += f" and delta at most {record['delta']}"
    return Claim(measure, bounds, f"{measure}: {words}", read)


def _plain(name: str, parts: tuple[Monomial, ...]) -> Fraction:
    if any(part.base != ONE or part.factors for part in parts):
        raise Refused("expected a number: only numbers are converted from rho", name)
    return sum((part.coefficient for part in parts), start=Fraction(0))


def _require_conversion(numbers: Mapping[str, Fraction]) -> None:
    """Whatever is rho-zCDP must be (amount, delta)-private: by the least epsilon for this delta, or conversely."""
    rho, epsilon, delta = numbers["rho"], numbers["amount"], numbers["delta"]
    if min(rho, epsilon, delta) < 0 or delta > 1:
        raise Refused("expected numbers >= 0, and a delta up to 1")
    if rho == 0 or delta == 1:
        return
    if delta > 0 and epsilon_of_zcdp(rho, delta).high <= epsilon:
        return
    if delta_of_zcdp(rho, epsilon).high > delta:
        raise Refused("is too small for this rho and delta", "amount")
