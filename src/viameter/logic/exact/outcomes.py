"""What an enumeration found: outputs with their masses, outputs that are known in part, and what was lost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.errors import ParameterError
from viameter.logic.exact.evaluating import Output
from viameter.logic.exact.powers import Bounds
from viameter.logic.exact.ranges import Range


@dataclass(frozen=True, slots=True)
class Masses:
    """Outputs with integer weights over a denominator; an output is vague if a part of it is known by its range alone.

    `lost` went to no output that is known, `missed` to others than the goal; `cut` says whether a limit was reached.
    """

    weights: Mapping[Any, int]
    denominator: int
    lost: Fraction
    missed: Fraction
    cut: bool = False

    def total(self) -> Fraction:
        """Everything together: 1 where weights are exact."""
        return Fraction(sum(self.weights.values()), self.denominator) + self.lost + self.missed

    def outright(self, output: Output) -> Fraction:
        """The mass of an output, without what tails may add."""
        return Fraction(self.weights.get(output, 0), self.denominator)

    def slack(self, event: Iterable[Output]) -> Fraction:
        """The mass that may belong to the event, or not: lost, or of vague outputs that may be in it."""
        event = tuple(event)
        vague = sum(w for key, w in self.weights.items() if is_vague(key) and any(may_be(key, o) for o in event))
        return self.lost + Fraction(vague, self.denominator)


@dataclass(frozen=True, slots=True)
class Enumerated:
    """The distribution of a program's output, between what lower and what upper weights give."""

    below: Masses
    above: Masses

    @property
    def exact(self) -> bool:
        """Whether all masses are rationals that are known, but for what tails may add."""
        return self.below is self.above

    @property
    def outcomes(self) -> dict[Output, Bounds]:
        """The outputs that were found, with their masses, but for what is lost."""
        return {key: self._mass(key) for key in self._keys() if not is_vague(key)}

    @property
    def vague(self) -> dict[Any, Bounds]:
        """The outputs of which a part is known by its range alone, with their masses."""
        return {key: self._mass(key) for key in self._keys() if is_vague(key)}

    @property
    def lost(self) -> Bounds:
        """The mass that may belong to any output."""
        return Bounds(min(self.below.lost, self.above.lost), self.above.lost)

    @property
    def missed(self) -> Bounds:
        """With a goal: the mass that belongs to other outputs."""
        return Bounds(min(self.below.missed, self.above.missed), self.above.missed)

    def probability(self, *event: Output) -> Bounds:
        """The probability that the output is one of these; it is certain to be between the bounds."""
        outputs = set(event)
        if not outputs:
            raise ParameterError("an event without outputs: expected at least one")
        low = sum((self.below.outright(output) for output in outputs), Fraction(0))
        high = sum((self.above.outright(output) for output in outputs), Fraction(0)) + self.above.slack(outputs)
        return Bounds(low, max(low, min(Fraction(1), high)))

    def _keys(self) -> list[Any]:
        return list({**self.below.weights, **self.above.weights})

    def _mass(self, key: Any) -> Bounds:
        low = self.below.outright(key)
        return Bounds(low, max(low, self.above.outright(key)))


def is_vague(output: Any) -> bool:
    """Whether a part of an output is known by its range alone."""
    if isinstance(output, tuple):
        return any(entry.__class__ is Range for entry in output)
    return output.__class__ is Range


def may_be(vague: Any, output: Output) -> bool:
    """Whether a vague output may be this one."""
    if isinstance(vague, tuple):
        return (
            isinstance(output, tuple)
            and len(output) == len(vague)
            and all(
                entry.holds(o) if isinstance(entry, Range) else entry == o
                for entry, o in zip(vague, output, strict=True)
            )
        )
    return isinstance(vague, Range) and vague.holds(output)
