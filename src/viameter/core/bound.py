"""Bound: a theorem with its parameters filled in, which takes a distance to a distance or a loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from viameter.arith import Extended
from viameter.errors import MapError, ViameterError
from viameter.theorem import Numbers, Theorem, theorem, theorem_of


@dataclass(frozen=True, slots=True)
class Bound:
    """A theorem with its public parameters filled in: the stability or privacy map of one computation."""

    theorem: Theorem
    parameters: tuple[tuple[str, Any], ...] = ()
    assumes: tuple[str, ...] = ()

    def __call__(self, d_in: Any) -> Any:
        """What the theorem says for this distance."""
        return self.theorem.function(d_in, **dict(self.parameters))


def by(function: Callable[..., Any], **parameters: Any) -> Bound:
    """The bound that a registered theorem gives with these parameters."""
    return Bound(theorem_of(function), tuple(parameters.items()))


def trusted(map: Callable[[Any], Any], *, trust: str) -> Bound:
    """The bound that somebody vouches for; `trust` is shown wherever the number is explained."""
    return Bound(theorem_of(trusted_map), (("map", map),), assumes=(trust,))


@theorem("trusted-map", cites="the person who defined it", numbers=Numbers.ASSUMED)
def trusted_map(d_in: Extended, *, map: Callable[[Any], Any]) -> Any:
    """A map that somebody vouches for.

    Theorem
        If the statement of trust that came with the map is true, members of the space that are d_in apart have images
        (or output distributions) that are map(d_in) apart.
    Requires
        The statement of trust, which no program checks. It is listed in every explanation that uses the map.
    Ensures
        The bound is map(d_in), and it is a distance of the output metric or a loss of the output measure: anything
        else (negative, NaN, a float, another measure's loss) is refused.
    Proof
        None: it is assumed.
    Example
        >>> trusted_map(3, map=lambda d_in: 2 * d_in)
        6
    """
    try:
        return map(d_in)
    except ViameterError:
        raise
    except Exception as problem:  # a user's function; it is given a distance, and never rows
        raise MapError(f"the map of somebody's own failed for d_in={d_in}: {type(problem).__name__}") from None


@theorem("chain", cites="composition of Lipschitz maps; Dwork and Roth 2014, Section 2.3")
def chain(d_in: Any, *, maps: tuple[Callable[[Any], Any], ...]) -> Any:
    """Steps run one after the other: what bounds the output of one is the distance of the next.

    Theorem
        If step i takes members d_(i-1) apart to members d_i apart for i = 1..n, then the chain of the steps takes
        members d_0 apart to members d_n apart; the last step may be a measurement, with d_n a loss.
    Requires
        The output space of each step is the input space of the next. `>>` checks domain and metric of both sides.
    Ensures
        The bound is map_n(... map_1(d_in)).
    Proof
        By induction on n: members that are d_(i-1) apart after step i - 1 are d_i apart after step i.
    Example
        >>> chain(3, maps=(lambda d: 2 * d, lambda d: d + 1))
        7
    """
    for step in maps:
        d_in = step(d_in)
    return d_in


@theorem("post-processing", cites="Dwork and Roth 2014, Proposition 2.1; data processing inequality")
def post_processing(d_in: Any) -> Any:
    """What is computed from a release alone costs nothing more.

    Theorem
        If M is private with loss l between x and x', and f is any function (randomized or not) that does not look at
        the data, then f after M is private with loss l between x and x'.
    Requires
        f reads nothing but the release. It is handed nothing else.
    Ensures
        The bound is the loss of the release, unchanged.
    Proof
        Every measure of this library is a divergence (or a family of divergences) that no Markov kernel increases.
    Example
        >>> post_processing("any loss")
        'any loss'
    """
    return d_in
