"""Coupling: two witnesses that were checked when they were put together."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from dataclasses import KW_ONLY, dataclass, fields
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from viameter.arith import ZERO, nonnegative, probability, show
from viameter.errors import ParameterError
from viameter.logic.couplings.checking import Fault, check_coupling
from viameter.logic.couplings.drawing import draw_html, draw_text, headline
from viameter.logic.couplings.powers import at_most_power, read_factor
from viameter.logic.couplings.reading import (
    Distribution,
    Joint,
    Pair,
    read_distribution,
    read_joint,
    related_pairs,
)


@dataclass(frozen=True, slots=True, repr=False)
class Coupling:
    """An R-(epsilon, delta)-coupling of mu1 and mu2 with its witnesses; it cannot be made with wrong ones.

    Printed, it shows the tables of mu_L and mu_R.

    >>> Coupling(
    ...     {"h": "1/2", "t": "1/2"}, {"h": 1}, relation={("h", "h"), ("t", "h")}, factor=1, epsilon=0, delta="1/4",
    ...     left={("h", "h"): "1/2", ("t", "h"): "1/2"}, right={("h", "h"): "1/4", ("t", "h"): "3/4"},
    ... )
    Coupling(factor = 1, epsilon = 0, delta = 1/4, an upper bound, of 2 and 1 values)
    """

    mu1: Distribution
    mu2: Distribution
    _: KW_ONLY
    relation: frozenset[Pair]
    """The pairs of A x B that are related."""
    factor: Fraction
    """A rational at most e**epsilon: the distance of left from right at this factor is at most delta."""
    epsilon: Fraction
    delta: Fraction
    left: Joint
    """mu_L, without zeros."""
    right: Joint
    """mu_R, without zeros."""
    star: bool = False
    """Whether it is a star-lifting, which may put mass on (a, STAR) in left and on (STAR, b) in right."""
    event: frozenset[Any] | None = None
    """A set S of values of A with mu1(S) - factor mu2(R(S)) = delta: the proof that no less will do at this factor."""
    exact: bool = False
    """Whether delta is known to be the least; else it is only an upper bound of that."""

    def __post_init__(self) -> None:
        """Take the numbers exactly, and refuse witnesses that are wrong."""
        mu1, mu2 = read_distribution(self.mu1, name="mu1"), read_distribution(self.mu2, name="mu2")
        read = {
            "mu1": mu1,
            "mu2": mu2,
            "relation": related_pairs(self.relation, mu1, mu2),
            "factor": read_factor(self.factor),
            "epsilon": nonnegative(self.epsilon, name="epsilon"),
            "delta": probability(self.delta, name="delta"),
            "left": read_joint(self.left, name="left"),
            "right": read_joint(self.right, name="right"),
            "event": None if self.event is None else frozenset(self.event),
        }
        for name, value in read.items():
            object.__setattr__(self, name, value)
        faults = self.check()
        if faults:
            raise ParameterError(f"no coupling: {'; '.join(map(str, faults))}")

    def check(self) -> list[Fault]:
        """What is wrong with the witnesses, as `check_coupling` tells it, with the factor, and with the event."""
        faults = check_coupling(
            self.mu1,
            self.mu2,
            self.left,
            self.right,
            relation=self.relation,
            factor=self.factor,
            delta=self.delta,
            star=self.star,
        )
        return [*faults, *self._wrong_claims()]

    def __str__(self) -> str:
        return draw_text(self)

    def __repr__(self) -> str:
        return f"Coupling({headline(self)}, of {len(self.mu1)} and {len(self.mu2)} values)"

    def _repr_html_(self) -> str:
        return draw_html(self)

    def __reduce__(self) -> tuple[Any, ...]:
        # Mappings that cannot be changed cannot be pickled either; what comes back is checked again.
        given: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        given |= {name: dict(value) for name, value in given.items() if isinstance(value, MappingProxyType)}
        return functools.partial(Coupling, **given), ()

    def _wrong_claims(self) -> Iterator[Fault]:
        if not at_most_power(self.factor, self.epsilon):
            text = f"the factor {show(self.factor)} is more than e**epsilon for epsilon = {show(self.epsilon)}"
            yield Fault("factor", self.factor, text)
        if self.event is None:
            if self.exact:
                yield Fault("event", None, "delta is said to be the least, but no event is given that shows it")
            return
        for value in self.event:
            if value not in self.mu1:
                yield Fault("event", value, f"the event has {value!r}, which is not a value of mu1")
        bound = gap(self.event, mu1=self.mu1, mu2=self.mu2, relation=self.relation, factor=self.factor)
        if bound != self.delta:
            text = f"the event shows that delta is at least {show(bound)}, not {show(self.delta)}"
            yield Fault("event", self.event, text)


def gap(
    event: frozenset[Any], *, mu1: Distribution, mu2: Distribution, relation: Iterable[Pair], factor: Fraction
) -> Fraction:
    """mu1(S) - factor mu2(R(S)) for the event S."""
    images = {b for a, b in relation if a in event}
    own = sum((mu1.get(a, ZERO) for a in event), ZERO)
    return own - factor * sum((mu2[b] for b in images), ZERO)
