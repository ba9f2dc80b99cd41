"""Losses composed as such: claims of several measures brought into one, and what they come to together."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from viameter.composition.derivations import compose_derivations
from viameter.core import Adaptivity, Loss, Measure
from viameter.core.composability import NON_ADAPTIVE, require_cell
from viameter.core.conversion import convert
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures import ZCDP, ApproxDP, ApproxZCDP, PureDP, RenyiDP
from viameter.theorem import Derivation, Explanation, Numbers, theorem, theorem_of

COMMON: tuple[Measure, ...] = (PureDP, ZCDP, ApproxZCDP, RenyiDP, ApproxDP)
"""Where losses of different measures are brought, if nothing is said: the first of these that all convert to."""


@theorem("given-loss", cites="the person who gave it", numbers=Numbers.ASSUMED)
def given_loss(loss: Loss) -> Loss:
    """A loss that somebody claims for a mechanism.

    Theorem
        If the mechanism has the loss that is claimed, it has that loss.
    Requires
        The claim, which nothing here checks. A Measurement proves its own: compose those where there are any.
    Ensures
        The loss is what was given.
    Proof
        None: it is assumed.
    Example
        >>> from viameter.measures import pure
        >>> given_loss(pure(1))
        pure(1)
    """
    return loss


@dataclass(frozen=True, slots=True)
class ComposedLoss:
    """What several losses come to together, and why."""

    loss: Loss
    derivation: Derivation

    def explain(self) -> Explanation:
        """The claim, and the theorems behind it."""
        return Explanation(f"Mechanisms of these losses are together {self.loss!r}.", self.derivation)

    def __repr__(self) -> str:
        return f"<composed: {self.loss!r}>"


def compose_losses(
    losses: Iterable[Loss],
    *,
    into: Measure | None = None,
    adaptivity: Adaptivity = NON_ADAPTIVE,
    rule: str | None = None,
) -> ComposedLoss:
    """Compose losses that are claimed for mechanisms, of one measure or several.

    Losses of other measures are converted `into` one; if none is named, into the first of PureDP, ZCDP, ApproxZCDP,
    RenyiDP and ApproxDP that all have a theorem for. `adaptivity` says how the mechanisms are chosen.

    >>> import viameter as vm
    >>> compose_losses([vm.bounded_range("1/2"), vm.zcdp("1/32")]).loss
    zcdp(1/16)
    """
    given = list(losses)
    for place, loss in enumerate(given):
        if not isinstance(loss, Loss):
            raise ParameterError(f"losses[{place}] is of type {type(loss).__name__}: expected a loss, as pure('1/10')")
    measure = common_measure(given) if into is None else into
    if not isinstance(measure, Measure):
        raise ParameterError(f"into={plain(into)} is not a Measure: expected e.g. ZCDP")
    chosen = require_cell(measure, adaptivity, rule)[0]
    if chosen.theorem is None:
        raise NoTheorem(f"{plain(measure)} by {chosen.name!r} takes more than losses to compose: an Accountant does it")
    times: dict[Loss, int] = {}
    for loss in given:
        times[loss] = times.get(loss, 0) + 1
    premises = tuple(replace(_converted(loss, measure), times=count) for loss, count in times.items())
    composed = compose_derivations(measure, chosen, premises)
    return ComposedLoss(composed.bound_value, composed)


def common_measure(losses: list[Loss]) -> Measure:
    """The measure of the losses, or the first of `COMMON` that all of them convert to."""
    if not losses:
        raise ParameterError("losses=[] does not say what losses are counted in: give into=...")
    measures = list(dict.fromkeys(loss.measure for loss in losses))
    if len(measures) == 1:
        return measures[0]
    for candidate in COMMON:
        try:
            for loss in losses:
                convert(loss, candidate)
        except (NoTheorem, ParameterError):
            continue
        return candidate
    raise NoTheorem(
        f"losses of {', '.join(map(repr, measures))} have no common measure that they convert to without further "
        "numbers: convert each, loss.to(ApproxDP, delta=...), and compose those"
    )


def _converted(loss: Loss, measure: Measure) -> Derivation:
    claim = Derivation("claimed", theorem_of(given_loss), repr(loss), repr(loss), given_value=loss, bound_value=loss)
    for step in convert(loss, measure).steps:
        claim = step.over((claim,))
    return claim
