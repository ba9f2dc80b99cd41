"""The least delta of a coupling for an epsilon, and the least epsilon for a delta, by flows.

Theorem
    Let R be a relation between finite A and B, mu1 and mu2 distributions on them, f = e**epsilon, and

        d(f) = max over the subsets S of A of mu1(S) - f mu2(R(S)),   R(S) the set of partners of values of S.

    (i)  The least delta of a star-lifting is d(f): it exists for delta if and only if delta >= d(f).
    (ii) Without the star, no coupling exists, with any delta, unless every value of positive probability has a partner
         (any one, also of probability 0). If all have one, the least delta is d(f) as well.
    (iii) d(f) = 1 - (the greatest flow from A to B through R, where a supplies mu1(a) and b takes up to f mu2(b)).
Proof
    No delta is smaller. Let mu_L, mu_R be witnesses of either kind and S a subset of A. All of mu1(S) is what mu_L has
    on E = S x (B + star). By 3. this is at most f mu_R(E) + delta. As pi_2(mu_R) = mu2 has nothing at the star, what
    mu_R has on E is within R, hence within A x R(S), and so at most mu2(R(S)).
    (iii) A cut keeps a set S on the side of the source. It is finite only if R(S) is there too, and then least if no
    more of B is: mu1(A - S) + f mu2(R(S)) = 1 - (mu1(S) - f mu2(R(S))). The greatest flow is the least cut.
    d(f) is enough. Let x be a greatest flow, of value 1 - d(f). Start with mu_L = x and mu_R = x / f, both within R.
    Of mu1(a) there is some r(a) >= 0 left, in total d(f): put it on (a, b) for any partner b, or on (a, *). Of mu2(b)
    there is something >= 0 left, since x into b is at most f mu2(b): put it on any (a, b) of R, or on (*, b). Now the
    marginals are right, and on every pair mu_L - f mu_R is at most what was added to mu_L: the sum of its positive
    parts is at most the sum of the r(a), which is d(f).
    (ii) If mu1(a) > 0 then mu_L has a pair (a, b), and it must be in R; likewise for mu2(b) > 0 and mu_R. If all have
    partners, the proof above needs no star.

d is the maximum of finitely many lines with slopes -mu2(R(S)) <= 0, so it is convex and does not increase: a smaller
factor gives a larger delta. For an epsilon the factor is therefore a rational at or below e**epsilon, and the witnesses
for it are witnesses for epsilon. Where the event S has mu2(R(S)) = 0, d is constant from there on, and delta is exact.
The star is used here only for values without partner, so that both kinds give the same witnesses where both exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended, Number, dyadic, probability, show
from viameter.errors import NoTheorem, ParameterError
from viameter.logic.couplings.coupling import Coupling
from viameter.logic.couplings.powers import FEW_BITS, read_power
from viameter.logic.couplings.reading import Relation
from viameter.logic.couplings.transport import Solution, Transport


def least_delta(
    mu1: Mapping[Any, Number],
    mu2: Mapping[Any, Number],
    *,
    relation: Relation,
    epsilon: Number | None = None,
    factor: Number | None = None,
    star: bool = False,
) -> Coupling:
    """The coupling of least delta for an epsilon, or for a factor e**epsilon.

    For a factor everything is exact, and the epsilon of the result is its logarithm rounded up. For an epsilon the
    factor is a rational at or just below e**epsilon; delta is exact if `exact` is true, else rounded up by little.
    Where no coupling exists, whatever delta (see the theorem above), `NoTheorem` is raised and names the values.

    >>> step = {("lo", "lo"), ("lo", "hi"), ("hi", "hi")}
    >>> print(least_delta({"lo": "1/4", "hi": "3/4"}, {"lo": "1/2", "hi": "1/2"}, relation=step, factor="5/4"))
    coupling: factor = 5/4, epsilon <= 0.223143551315, delta = 1/8
    mu_L  lo    hi
    lo    0.25
    hi          0.75
    mu_R  lo   hi
    lo    0.5
    hi         0.5
    """
    power = read_power(epsilon=epsilon, factor=factor)
    transport = Transport(mu1, mu2, relation=relation)
    lonely = "" if star else transport.without_partner()
    if lonely:
        raise NoTheorem(
            f"no coupling exists, with any delta: {lonely}; "
            "star=True takes such values, or give a value that is related to them (of probability 0, if need be)"
        )
    bits = FEW_BITS
    while True:
        low, high = power.bounds(bits=bits, cap=transport.largest_factor)
        solution = transport.at(low)
        exact = low == high or solution.image == 0
        # The line of this event is d at both bounds, so in between as well: d has no break near e**epsilon.
        if exact or (bits >= dyadic.BITS and solution.gap_at(high) == transport.at(high).delta):
            return _made(transport, solution, epsilon=power.epsilon, star=star, exact=exact)
        bits *= 4


@dataclass(frozen=True, slots=True)
class LeastEpsilon:
    """The least factor and epsilon for which the delta that was asked for is enough, and a coupling that attains it."""

    delta: Fraction
    coupling: Coupling | None
    """None where no factor is enough; its delta is the least for the factor, and at most the delta asked for."""
    obstacle: str = ""
    """Why no factor is enough, if none is."""

    def __post_init__(self) -> None:
        """A coupling that does what it is for, or an obstacle."""
        if (self.coupling is None) != bool(self.obstacle):
            raise ParameterError("a least epsilon has a coupling, or an obstacle if there is none")
        if self.coupling is not None and self.coupling.delta > self.delta:
            raise ParameterError(f"the coupling has delta {self.coupling.delta}, more than the {self.delta} asked for")

    @property
    def factor(self) -> Extended:
        """The least e**epsilon, exactly, or infinity."""
        return INFINITY if self.coupling is None else self.coupling.factor

    @property
    def epsilon(self) -> Extended:
        """The logarithm of the factor, rounded up, or infinity."""
        return INFINITY if self.coupling is None else self.coupling.epsilon


def least_epsilon(
    mu1: Mapping[Any, Number],
    mu2: Mapping[Any, Number],
    *,
    relation: Relation,
    delta: Number,
    star: bool = False,
) -> LeastEpsilon:
    """The least epsilon for which a coupling of this delta exists, infinite if there is none.

    Newton's method on d(f) = delta, from f = 1: the event S where d is attained gives a line below d, and the factor at
    which that line is delta is the next f. A line that was used is never more than delta again, so that every step uses
    another S, and there are finitely many. No smaller factor is enough, since a line of d is above delta there; if the
    line is constant, no factor is.

    >>> mu1, mu2 = {0: "1/2", 1: "1/4", 2: "1/4"}, {0: "1/4", 1: "1/4", 2: "1/2"}
    >>> least_epsilon(mu1, mu2, relation=lambda a, b: a == b, delta="1/8").factor
    Fraction(3, 2)
    >>> least_epsilon(mu1, mu2, relation=lambda a, b: a < b, delta="1/8", star=True).obstacle
    'the event {2} has probability 1/4, more than delta = 1/8, and what it is related to has probability 0'
    """
    asked = probability(delta, name="delta")
    transport = Transport(mu1, mu2, relation=relation)
    lonely = "" if star else transport.without_partner()
    if lonely:
        return LeastEpsilon(asked, None, lonely)
    solution = transport.at(Fraction(1))
    while solution.delta > asked:
        if solution.image == 0:
            obstacle = (
                f"the event {solution.shown()} has probability {show(solution.own)}, more than delta = {show(asked)}, "
                "and what it is related to has probability 0"
            )
            return LeastEpsilon(asked, None, obstacle)
        solution = transport.at((solution.own - asked) / solution.image)
    rounded = dyadic.log_up(solution.factor)
    return LeastEpsilon(asked, _made(transport, solution, epsilon=rounded, star=star, exact=True))


def _made(transport: Transport, solution: Solution, *, epsilon: Fraction, star: bool, exact: bool) -> Coupling:
    left, right = transport.witnesses(solution)
    return Coupling(
        transport.mu1,
        transport.mu2,
        relation=transport.relation,
        factor=solution.factor,
        epsilon=epsilon,
        delta=solution.delta,
        left=left,
        right=right,
        star=star,
        event=solution.event,
        exact=exact,
    )
