"""Claims: what a program is said to cost, in which measure, and how a bound on its cost settles it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from viameter.core.measure import Loss
from viameter.errors import ParameterError, plain
from viameter.logic.lang.core import Gaussian, Program, Sample, statements_of
from viameter.logic.lang.parsing import MOST_DIGITS, read_amount
from viameter.logic.lang.scales import Amount, Monomial
from viameter.measures import ApproxDP, approx, zcdp
from viameter.measures.amounts import ApproxLoss, PureLoss, ZCDPLoss

MEASURES = ("pure", "approx", "zcdp")
_DECIMAL = re.compile(
    rf"(?P<below>/\s*)?(?<![\w.])(?P<number>[0-9]{{1,{MOST_DIGITS}}}\.[0-9]{{1,{MOST_DIGITS}}})(?![\w.])"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A bound on the cost of one step of adjacency, with the delta that belongs to it.

    `amount` is what a proof must show, by base; `shown` is what a person is told. A pure claim has no delta and no rho
    in it, one in zcdp is an amount of rho alone, and one in approx has the delta of its amount, or a `rho` of which it
    is the conversion; with `search_least` that rho is still to be found.
    """

    measure: str
    amount: Amount
    delta: Fraction | None = None
    rho: Fraction | None = None
    search_least: bool = False

    def __post_init__(self) -> None:
        if self.measure not in MEASURES or type(self.amount) is not Amount:
            raise ParameterError(f"{plain(self.measure)}: expected an amount in {', '.join(MEASURES)}")
        bases = {part.base for part in self.amount.parts}
        if self.measure == "zcdp":
            fits = bases <= {"rho"} and self.delta is None and not self.search_least
        elif self.measure == "pure":
            fits = not bases & {"rho", "delta"} and self.delta is None and self.rho is None and not self.search_least
        else:
            fits = "rho" not in bases and self.delta is not None and self._has_its_delta()
        if not fits:
            raise ParameterError(
                f"{self.amount} with delta {self.delta} is no claim in {self.measure}: a pure claim has neither delta "
                "nor rho, one in zcdp is an amount of rho, and one in approx says the delta of its amount"
            )

    def _has_its_delta(self) -> bool:
        if not isinstance(self.delta, Fraction) or not 0 <= self.delta <= 1:
            return False
        if self.rho is not None or self.search_least:
            # The delta is that of the conversion, and nothing else has one.
            numbers = [part for part in self.amount.parts if part.base == "1" and not part.factors]
            return len(numbers) == len(self.amount.parts) == 1
        return _number(self.amount.of_base("delta").parts) == self.delta

    def __str__(self) -> str:
        return str(self.shown) if self.delta is None else f"({self.shown}, {self.delta})"

    @property
    def epsilon(self) -> Amount:
        """The part of the amount that is epsilon: everything but delta."""
        return Amount(tuple(part for part in self.amount.parts if part.base != "delta"))

    @property
    def shown(self) -> Amount:
        """The bound without the names of measures: rho as a number."""
        return Amount(tuple(replace(part, base="1") if part.base == "rho" else part for part in self.epsilon.parts))

    def to_json(self) -> dict[str, str]:
        """As a certificate keeps it."""
        found = {"measure": self.measure, "amount": str(self.shown)}
        if self.delta is not None:
            found["delta"] = str(self.delta)
        if self.rho is not None and self.measure == "approx":
            found["rho"] = str(self.rho)
        return found

    @staticmethod
    def from_json(record: Mapping[str, str], program: Program) -> Claim:
        """The claim that a certificate of a program keeps."""
        measure, shown = record["measure"], _read(record["amount"], program, frozenset(program.budgets))
        delta, rho = (
            _number(_read(record[name], program, frozenset()).parts) if name in record else None
            for name in ("delta", "rho")
        )
        if measure == "zcdp":
            amount = Amount(tuple(replace(part, base="rho") for part in shown.parts))
            return Claim(measure, amount, None, _number(shown.parts))
        if delta is not None and rho is None:
            shown = Amount((*shown.parts, Monomial.of(delta, (), "delta")))
        return Claim(measure, shown, delta, rho)

    def follows_from(self, bound: Amount) -> Claim | None:
        """This claim in (epsilon, delta), if a bound on concentrated cost gives it; None if not."""
        rho = _number(bound.parts)
        if rho is None:
            return None  # it grows with an input: no number bounds it
        (epsilon,) = (part.coefficient for part in self.amount.parts)
        assert self.delta is not None
        reached = zcdp(rho).to(ApproxDP, delta=self.delta)
        if not reached <= approx(epsilon, self.delta):
            return None
        return Claim("approx", self.amount, self.delta, rho)


def uses_gaussian(program: Program) -> bool:
    """Whether a program draws Gaussian noise, so that its cost is concentrated."""
    return any(isinstance(s, Sample) and isinstance(s.law, Gaussian) for s in statements_of(program.body))


def _number(parts: tuple[Monomial, ...]) -> Fraction | None:
    """The sum of amounts, or None if one of them grows with an input."""
    if any(part.factors for part in parts):
        return None
    return sum((part.coefficient for part in parts), Fraction(0))


def settled(amount: Amount, program: Program) -> Claim | None:
    """The claim that a proved amount is; None if its delta grows with an input or is above 1, which no claim says."""
    if uses_gaussian(program):
        return Claim("zcdp", amount, None, _number(amount.parts))
    delta = _number(amount.of_base("delta").parts)
    if delta is None or delta > 1:
        return None
    if delta:
        return Claim("approx", amount, delta)
    return Claim("pure", Amount(tuple(part for part in amount.parts if part.base != "delta")))


def claim_of(bound: str | Amount | Loss, program: Program) -> Claim:
    """What a user's bound says of a program."""
    if isinstance(bound, Loss):
        return _of_loss(bound, program)
    if isinstance(bound, str):
        bound = _read(_without_decimals(bound), program, frozenset(program.budgets))
    if not isinstance(bound, Amount):
        raise ParameterError(f'bound={plain(bound)}: expected an amount such as "2*eps", or a loss')
    if uses_gaussian(program):
        raise ParameterError(
            f"{program.name} draws Gaussian noise: its bound is a loss such as vm.zcdp(...) or vm.approx(...)"
        )
    claim = settled(bound, program)
    if claim is None:
        raise ParameterError(f"bound={bound}: expected one number up to 1 as its delta, which grows with no input")
    return claim


def _read(text: str, program: Program, budgets: frozenset[str]) -> Amount:
    sorts = {entry.name: entry.sort for entry in program.inputs}
    try:
        return read_amount(text, budgets, sorts)
    except ParameterError as problem:
        if uses_gaussian(program):
            raise ParameterError(
                f"bound={text!r}: {program.name} draws Gaussian noise, and its bound is a loss: vm.zcdp(...) or "
                'vm.approx(...); for the command, "zcdp 1/200"'
            ) from None
        known = ", ".join(program.budgets) or "none"
        raise ParameterError(
            f'bound={text!r} is not an amount of the budgets ({known}): expected something like "eps", "1/2*eps", '
            f'"len(q)*eps", "eps1 + eps2", "ln(3)" ({problem})'
        ) from None


def _without_decimals(text: str) -> str:
    """The same bound with its decimals as fractions, but for those below a /, which stay and are refused.

    >>> _without_decimals("0.5*eps + 1.25"), _without_decimals("eps / 0.5")
    ('1/2*eps + 5/4', 'eps / 0.5')
    """
    # eps/0.5 is not eps/1/2.
    return _DECIMAL.sub(lambda found: found[0] if found["below"] else str(Fraction(found["number"])), text)


def _of_loss(loss: Loss, program: Program) -> Claim:
    gaussian = uses_gaussian(program)
    if isinstance(loss, PureLoss) and not gaussian:
        return Claim("pure", Amount((Monomial.of(_finite(loss.epsilon)),)))
    if isinstance(loss, ZCDPLoss) and gaussian:
        rho = _finite(loss.rho)
        return Claim("zcdp", Amount((Monomial.of(rho, (), "rho"),)), None, rho)
    if isinstance(loss, ApproxLoss):
        epsilon, delta = Monomial.of(_finite(loss.epsilon)), _finite(loss.delta)
        if gaussian:
            return Claim("approx", Amount((epsilon,)), delta, search_least=True)
        return Claim("approx", Amount((epsilon, Monomial.of(delta, (), "delta"))), delta)
    wanted = "vm.zcdp or vm.approx" if gaussian else "vm.pure or vm.approx"
    raise ParameterError(f"bound={plain(loss)}: for {program.name} expected {wanted}")


def _finite(value: object) -> Fraction:
    if isinstance(value, Fraction | int):
        return Fraction(value)
    raise ParameterError("an infinite bound claims nothing: expected a finite one")
