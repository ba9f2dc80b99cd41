"""Which event tells two distributions apart best: floats rank events, exact numbers decide elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from heapq import nlargest
from math import exp, inf, isinf, log

from viameter.logic.exact import Masses, Output
from viameter.logic.exact.outcomes import is_vague

_LOOKED_AT = 4


@dataclass(frozen=True, slots=True)
class View:
    """The output on one input, by lower and by upper weights."""

    low: Masses
    high: Masses


@dataclass(frozen=True, slots=True)
class Judged:
    """An event, whether it is likelier on the second input, and the loss that it shows.

    `loss` counts everything that was cut off; `hope` is what the loss would be if that came to nothing.
    """

    loss: float
    hope: float
    likely: float
    """The logarithm of the larger probability."""
    event: tuple[Output, ...]
    flipped: bool

    @property
    def rank(self) -> tuple[float, float]:
        """By loss; of losses that floats cannot tell apart, the likelier event is better."""
        return (self.loss if isinf(self.loss) else round(self.loss, 9)), self.likely


def judged(one: View, two: View) -> Judged | None:
    """The single output whose probabilities differ most, in either direction."""
    return max(
        (*_directed(one, two, flipped=False), *_directed(two, one, flipped=True)),
        key=lambda found: found.rank,
        default=None,
    )


def judged_at(one: View, two: View, event: tuple[Output, ...]) -> Judged:
    """What one event shows, in the better direction."""
    return max(
        (_of_event(one, two, event, flipped=False), _of_event(two, one, event, flipped=True)),
        key=lambda found: found.rank,
    )


def judged_at_delta(one: View, two: View, factor: Fraction, delta: Fraction) -> Judged | None:
    """The event of all outputs that are likelier by more than a factor; its loss at delta."""
    found = []
    for left, right, flipped in ((one, two, False), (two, one, True)):
        # left > factor * right, over the two denominators.
        side, other = right.high.denominator * factor.denominator, left.low.denominator * factor.numerator
        event = tuple(
            key
            for key, weight in left.low.weights.items()
            if not is_vague(key) and weight * side > other * right.high.weights.get(key, 0)
        )
        if not event:
            continue
        mass = sum((left.low.outright(key) for key in event), Fraction(0))
        least = sum((right.high.outright(key) for key in event), Fraction(0))
        slack = right.high.slack(event)
        loss = _log(mass - delta) - _log(least + slack)
        found.append(Judged(loss, max(loss, _log(mass - delta) - _log(least)), _log(mass), event, flipped))
    return max(found, key=lambda entry: entry.rank, default=None)


def _directed(one: View, two: View, *, flipped: bool) -> Iterator[Judged]:
    below, above = log(one.low.denominator), log(two.high.denominator)
    lost = _log(two.high.lost)
    others = two.high.weights
    ranked = []
    for output, weight in one.low.weights.items():
        if is_vague(output):
            continue
        other = others.get(output, 0)
        least = log(other) - above if other else -inf
        likely = log(weight) - below
        loss = likely - _log_sum(least, lost)
        ranked.append((loss if isinf(loss) else round(loss, 9), likely, output))
    for _, _, output in nlargest(_LOOKED_AT, ranked, key=lambda entry: entry[:2]):
        yield _of_event(one, two, (output,), flipped=flipped)


def _of_event(one: View, two: View, event: tuple[Output, ...], *, flipped: bool) -> Judged:
    mass = sum((one.low.outright(output) for output in event), Fraction(0))
    least = sum((two.high.outright(output) for output in event), Fraction(0))
    first = _log(mass)
    if first == -inf:
        return Judged(-inf, -inf, -inf, event, flipped)
    return Judged(first - _log(least + two.high.slack(event)), first - _log(least), first, event, flipped)


def _log(number: Fraction) -> float:
    return log(number.numerator) - log(number.denominator) if number > 0 else -inf


def _log_sum(left: float, right: float) -> float:
    if left < right:
        left, right = right, left
    return left if right == -inf else left + log(1 + exp(right - left))
