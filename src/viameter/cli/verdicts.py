"""Verdicts on a claimed guarantee: right, larger than need be, wrong, or not proved by what was declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import viameter as vm
from viameter import neighborhood as nb
from viameter.core.conversion import convert
from viameter.errors import FormatError, NoTheorem, ParameterError
from viameter.measures.amounts import ApproxLoss
from viameter.neighborhood.declared import read_amount

Word = Literal["RIGHT", "LOOSE", "WRONG", "UNPROVED"]
EXIT_CODES: dict[Word, int] = {"RIGHT": 0, "LOOSE": 0, "WRONG": 1, "UNPROVED": 4}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be said of a claim, and why."""

    claim: vm.Loss
    word: Word
    reason: str

    @property
    def exit_code(self) -> int:
        """What the command exits with: 0 if the claim holds."""
        return EXIT_CODES[self.word]


def read_claim(written: str) -> vm.Loss:
    """A claim as the option takes it: a measure and its numbers.

    >>> read_claim("pure 0.5"), read_claim("approx 1 1e-6"), read_claim("renyi 2=0.1 4=0.3")
    (pure(1/2), approx(1, 1/1000000), renyi({2: 1/10, 4: 3/10}))
    """
    measure, *numbers = written.split() or [""]
    where = f"--claim {written!r}"
    if measure != "renyi":
        return read_amount(measure, numbers[0] if len(numbers) == 1 else numbers, where)
    pairs = [item.split("=") for item in numbers]
    if any(len(pair) != 2 for pair in pairs) or len({pair[0] for pair in pairs}) < len(pairs):
        raise FormatError(f"{where}: expected a bound for each order, each order once, as in 'renyi 2=0.1 4=0.3'")
    return read_amount(measure, dict(pairs), where)


def judge(claim: vm.Loss, composed: nb.Composed, *, at_delta: vm.Loss | None = None) -> Verdict:
    """Compare a claim with what is proved: the composed loss, and what it is at the claim's own delta.

    `at_delta` is for claims that have none: the loss at the delta that was asked for.
    """
    proved = [composed.loss]
    if isinstance(claim, ApproxLoss):
        proved += _at_own_delta(claim, composed)
    elif at_delta is not None:
        proved.append(at_delta)
    bounds = [bound for loss in proved if (bound := _converted(loss, claim.measure)) is not None]
    if not bounds:
        raise FormatError(
            f"the claim {claim!r} is of another measure than {composed.loss!r}, from which no theorem leads to "
            f"{claim.measure!r} without further numbers: claim in {composed.measure!r}, or compose in another measure "
            "by --into"
        )
    if any(bound <= claim for bound in bounds):
        return _holding(claim, composed, bounds)
    reason = composed.why_not_tight
    # In another measure than the bound's, the claim says this much in the bound's.
    implied = _converted(claim, composed.measure)
    if reason is None and implied is not None and not composed.loss <= implied:
        what = (
            f"cost {composed.loss!r}" if composed.loss.is_finite else "tell two neighbors apart by more than any bound"
        )
        return Verdict(
            claim, "WRONG", f"some mechanisms that keep to every declared loss {what}, on the pair of neighbors shown"
        )
    if reason is None:
        reason = f"that {composed.loss!r} is attained says nothing of less in {claim.measure!r}"
    text = (
        f"it does not follow from {bounds[-1]!r}, which is proved; whether it holds all the same is not known: {reason}"
    )
    return Verdict(claim, "UNPROVED", text)


def _holding(claim: vm.Loss, composed: nb.Composed, bounds: Sequence[vm.Loss]) -> Verdict:
    below = [bound for bound in bounds if bound < claim]
    if below:
        return Verdict(claim, "LOOSE", f"it holds, and so does {below[-1]!r}, which is less")
    if claim.measure != composed.measure:
        reason: str | None = f"the bound was converted from {composed.loss!r}"
    else:
        reason = composed.why_not_tight
    if reason is None:
        return Verdict(
            claim, "RIGHT", "it is what is proved, and nothing less holds for all mechanisms of these losses"
        )
    return Verdict(claim, "RIGHT", f"it is what is proved; whether less holds too is not known: {reason}")


def _at_own_delta(claim: ApproxLoss, composed: nb.Composed) -> list[vm.Loss]:
    """What is proved at the delta that is claimed, if a theorem leads there."""
    try:
        return [nb.converted(composed, vm.ApproxDP, delta=claim.delta).loss]
    except (NoTheorem, ParameterError):
        return []


def _converted(loss: vm.Loss, measure: vm.Measure) -> vm.Loss | None:
    """The loss in another measure, if a theorem leads there that takes no further numbers."""
    try:
        return convert(loss, measure).loss
    except (NoTheorem, ParameterError):
        return None
