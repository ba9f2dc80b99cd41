"""Losses in forms: one field for each of their numbers, as text, so that 1/10 is a tenth and nothing near it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from viameter.arith import write
from viameter.core import Loss
from viameter.errors import ParameterError
from viameter.ledger import Scope
from viameter.ledger.plots import share
from viameter.service.documents import scope_document
from viameter.service.page.forms import Form
from viameter.session.written_values import read_loss

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
    "approx": "Approximate differential privacy: Laplace noise, and a small probability that it is more",
    "approx_zcdp": "Approximate zCDP: Gaussian noise, and a small probability that it is more",
}
LONGEST = 40


@dataclass(frozen=True, slots=True)
class LossField:
    """A field for one number of a loss."""

    name: str
    label: str
    value: str


def budget_shown(scope: Scope) -> dict[str, Any]:
    """A budget as replies have it, with the share of it that is nearest to its end: of two numbers, the scarcer one."""
    return {**scope_document(scope), "share_spent": float(share(scope.spent, scope.cap))}


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
