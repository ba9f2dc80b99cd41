"""From privacy profiles: to (epsilon, delta) at one point."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended, probability, show
from viameter.core.conversion import conversion
from viameter.errors import NoTheorem, plain
from viameter.measures.amounts import ApproxDP, ApproxLoss
from viameter.measures.curves import Profile, ProfileLoss
from viameter.theorem import Numbers, theorem

PROFILES = "Balle, Barthe and Gaboardi 2018, Section 2 (privacy profiles)"


@conversion(source=Profile, target=ApproxDP, takes=("delta",))
@theorem("profile-to-approx", cites=PROFILES, numbers=Numbers.OUTWARD)
def profile_to_approx(loss: ProfileLoss, *, delta: Fraction) -> ApproxLoss:
    """A profile gives an epsilon at a delta.

    Theorem
        A mechanism whose profile is at most delta at eps is (eps, delta)-differentially private.
    Requires
        A delta that the profile comes down to. A profile given by a function is one that never rises.
    Ensures
        The loss is approx(eps, delta), eps being the least one listed whose delta is small enough; of a function, one
        that is small enough and at most 10^-12 above the least, relatively. approx(0, 0) if the profile is zero,
        infinite if it is.
    Proof
        It is what a profile says.
    Example
        >>> from viameter.measures import profile
        >>> profile_to_approx(profile({1: "1e-3", 2: "1e-6"}), delta=Fraction(1, 100))
        approx(1, 1/100)
    """
    if not loss.is_finite:
        return ApproxDP.infinite
    if loss == Profile.zero:
        return ApproxDP.zero
    epsilon = _listed(loss, delta) if loss.function is None else _searched(loss.function, delta)
    if epsilon == INFINITY:
        raise NoTheorem(f"{plain(loss)} does not come down to delta={show(delta)}: ask for a larger one")
    return ApproxLoss(epsilon, delta)


@conversion(source=Profile, target=ApproxDP, takes=("epsilon",))
@theorem("profile-to-approx-at-epsilon", cites=PROFILES)
def profile_to_approx_at_epsilon(loss: ProfileLoss, *, epsilon: Fraction) -> ApproxLoss:
    """A profile gives a delta at an epsilon.

    Theorem
        A mechanism whose profile is at most delta at eps is (eps, delta)-differentially private.
    Requires
        eps >= 0.
    Ensures
        The loss is approx(eps, delta), delta being what the profile says at eps; approx(0, 0) if the profile is zero,
        infinite if it is.
    Proof
        It is what a profile says.
    Example
        >>> from viameter.measures import profile
        >>> profile_to_approx_at_epsilon(profile({1: "1e-3", 2: "1e-6"}), epsilon=Fraction(3))
        approx(3, 1/1000000)
    """
    if not loss.is_finite:
        return ApproxDP.infinite
    if loss == Profile.zero:
        return ApproxDP.zero
    return ApproxLoss(epsilon, loss.at(epsilon))


def _listed(loss: ProfileLoss, delta: Fraction) -> Extended:
    if delta == 1:
        return Fraction(0)
    return next((epsilon for epsilon, known in loss.points if known <= delta), INFINITY)


_FIRST, _LAST = -64, 20
_HALVINGS = 50


def _searched(function: Callable[[Fraction], Any], delta: Fraction) -> Extended:
    """An epsilon at which a function is at most delta: looked for between powers of two, then by halving."""
    own = getattr(function, "epsilon_at", None)
    if own is not None:
        found: Extended = own(delta)
        return found

    def enough(epsilon: Fraction) -> bool:
        return probability(function(epsilon), name="delta") <= delta

    if enough(Fraction(0)):
        return Fraction(0)
    exponents = range(_FIRST, _LAST + 1)
    high = next((Fraction(2) ** exponent for exponent in exponents if enough(Fraction(2) ** exponent)), None)
    if high is None:
        return INFINITY
    low = high / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return high
