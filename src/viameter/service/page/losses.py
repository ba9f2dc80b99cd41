"""Losses in forms: one field for each of their numbers, as text, so that 1/10 is a tenth and nothing near it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from viameter.arith import INFINITY, write
from viameter.arith.rationals import Extended
from viameter.core import Loss
from viameter.errors import ParameterError
from viameter.ledger import Scope
from viameter.ledger.plots import share
from viameter.measures import loss_from_json
from viameter.measures.amounts import AmountLoss, GaussianLoss
from viameter.service.documents import scope_document
from viameter.service.page.forms import Form
from viameter.tables.cost import read_loss

NUMBERS: dict[str, tuple[str, ...]] = {
    "zcdp": ("rho",),
    "pure": ("epsilon",),
    "approx": ("epsilon", "delta"),
    "approx_zcdp": ("rho", "delta"),
}
"""The measures that budgets are in, each with what its numbers are called."""
WORDS = {
    "zcdp": "Zero-concentrated differential privacy (zCDP): Gaussian noise",
    "pure": "Pure differential privacy: Laplace noise",
    "approx": "Approximate differential privacy: Laplace or Gaussian noise, whichever has the narrower intervals",
    "approx_zcdp": "Approximate zCDP: Gaussian noise, and a small probability that it is more",
}
LONGEST = 40
DIGITS, LONGEST_SHORT = 4, 10
"""How many digits tables show of a number that is not exactly written with fewer signs."""
MORE_DIGITS, LONGEST_EXACT = 12, 200
"""The same for what is shown of it where somebody points at it."""


@dataclass(frozen=True, slots=True)
class LossField:
    """A field for one number of a loss."""

    name: str
    label: str
    value: str


def budget_shown(scope: Scope) -> dict[str, Any]:
    """A budget as replies have it, with the share of it that is nearest to its end: of two numbers, the scarcer one."""
    return {**scope_document(scope), "share_spent": float(share(scope.spent, scope.cap))}


def show_spent(loss: Loss | Mapping[str, Any] | None) -> Markup:
    """What was spent or is to be, in few digits: rounded up, and never down; the exact amount is its title.

    >>> import viameter as vm
    >>> show_spent(vm.zcdp("1/10")), show_spent(vm.zcdp("1234567/37037037")).striptags()
    (Markup('zcdp(1/10)'), 'zcdp(<=0.03334)')
    """
    return _short(loss, up=True)


def show_left(loss: Loss | Mapping[str, Any] | None) -> Markup:
    """What is left, in few digits: rounded down, and never up; the exact amount is its title.

    >>> import viameter as vm
    >>> show_left(vm.zcdp("1234567/37037037")).striptags()
    'zcdp(>=0.03333)'
    """
    return _short(loss, up=False)


def _short(loss: Loss | Mapping[str, Any] | None, *, up: bool) -> Markup:
    if loss is None:
        return Markup("")
    if not isinstance(loss, Loss):
        loss = loss_from_json({name: value for name, value in loss.items() if name != "text"})
    # The number that is shown of Gaussian privacy is a root of the one that is kept; curves have many.
    if not isinstance(loss, AmountLoss) or isinstance(loss, GaussianLoss):
        return Markup("{}").format(repr(loss))
    texts = []
    for digits, longest in ((DIGITS, LONGEST_SHORT), (MORE_DIGITS, LONGEST_EXACT)):
        numbers = [rounded(getattr(loss, name), digits, longest, up=up) for name in loss.names]
        texts.append(f"{loss.measure.maker}({', '.join(numbers)})")
    short, exact = texts
    if short == exact:
        return Markup("{}").format(short)
    return Markup('<span class="amount" title="{}">{}</span>').format(exact, short)


def rounded(number: Extended, digits: int, longest: int, *, up: bool) -> str:
    """A number >= 0: exactly, where that takes so few signs, else so many digits of it, rounded up or down.

    >>> rounded(Fraction(1, 3), 4, 10, up=True), rounded(Fraction(2, 10**9), 4, 5, up=True)
    ('1/3', '2e-9')
    >>> rounded(Fraction(99999, 7 * 10**5), 2, 5, up=True), rounded(Fraction(99999, 7 * 10**5), 2, 5, up=False)
    ('<=0.15', '>=0.14')
    """
    if number == INFINITY:
        return "inf"
    number = Fraction(number)
    # The length is looked at first: Python refuses to write integers of many digits.
    if max(number.numerator, number.denominator).bit_length() <= 4 * longest and len(str(number)) <= longest:
        return str(number)
    power = _power_of_ten(number)
    scaled = number / Fraction(10) ** (power - digits + 1)
    whole = math.ceil(scaled) if up else math.floor(scaled)
    marked = "" if whole == scaled else "<=" if up else ">="
    if whole == 10**digits:
        whole, power = whole // 10, power + 1
    figures = str(whole).rstrip("0")
    if -5 < power < 0:
        return f"{marked}0.{'0' * (-power - 1)}{figures}"
    if 0 <= power < digits:
        before, after = figures[: power + 1].ljust(power + 1, "0"), figures[power + 1 :]
        return f"{marked}{before}.{after}" if after else f"{marked}{before}"
    return f"{marked}{figures[0]}{'.' if figures[1:] else ''}{figures[1:]}e{power}"


def _power_of_ten(number: Fraction) -> int:
    """The greatest power of ten that is not above a number > 0: guessed by its length, then made right."""
    power = int((number.numerator.bit_length() - number.denominator.bit_length()) * 0.30103)
    while Fraction(10) ** power > number:
        power -= 1
    while Fraction(10) ** (power + 1) <= number:
        power += 1
    return power


def measure_of(loss: Loss) -> str:
    """What the measure of a loss is called in forms and questions.

    >>> import viameter as vm
    >>> measure_of(vm.approx_zcdp(1, 0))
    'approx_zcdp'
    """
    return str(loss.measure.slug).replace("-", "_")


def fields_of(measure: str, *, prefix: str = "", typed: Form | None = None, loss: Loss | None = None) -> list[Any]:
    """The fields of a loss: with what was typed, or with the numbers of a loss where they are short."""
    found = []
    for name in NUMBERS[measure]:
        value = ""
        if typed is not None:
            value = typed.text(prefix + name)
        elif loss is not None:
            exact = write(getattr(loss, name))
            value = exact if len(exact) <= LONGEST else ""
        found.append(LossField(prefix + name, name, value))
    return found


def read_fields(form: Form, measure: str, *, prefix: str = "") -> Loss:
    """The loss that was typed."""
    if measure not in NUMBERS:
        raise ParameterError(f"budget: choose one of {', '.join(NUMBERS)}")
    typed = [form.word(prefix + name) for name in NUMBERS[measure]]
    for name, text in zip(NUMBERS[measure], typed, strict=True):
        if not text:
            raise ParameterError(f"{name} is missing: expected a number such as 1/10 or 0.1")
    return read_loss({measure: typed if len(typed) > 1 else typed[0]}, "budget")
