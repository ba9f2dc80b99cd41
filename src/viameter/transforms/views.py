"""The same data under another metric."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended, dyadic, times
from viameter.core import Metric, Space, Transformation, by, constructor
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.spaces import (
    ChangeOneDistance,
    ChangeOneIdDistance,
    HammingDistance,
    InsertDeleteDistance,
    L1Distance,
    L2Distance,
    LInfDistance,
    SymmetricDistance,
    SymmetricIdDistance,
)
from viameter.theorem import Numbers, theorem

Kind = type[Metric]
ADDED_FROM_REPLACED: dict[Kind, tuple[Kind, ...]] = {
    ChangeOneDistance: (SymmetricDistance,),
    HammingDistance: (SymmetricDistance, InsertDeleteDistance),
    ChangeOneIdDistance: (SymmetricIdDistance,),
}
COARSER: dict[Kind, tuple[Kind, ...]] = {
    InsertDeleteDistance: (SymmetricDistance,),
    HammingDistance: (ChangeOneDistance,),
    L1Distance: (L2Distance, LInfDistance),
    L2Distance: (LInfDistance,),
}
SPREADS: dict[tuple[Kind, Kind], int] = {
    (L2Distance, L1Distance): 2,
    (LInfDistance, L2Distance): 2,
    (LInfDistance, L1Distance): 1,
}
"""Norms that grow with the size n of vectors: by the square root of n (2) or by n (1)."""


@theorem("coarser-metric", cites="OpenDP, metric casts; inequalities between norms")
def coarser_metric(d_in: Extended) -> Extended:
    """A metric that overlooks more gives no larger distances.

    Theorem
        The symmetric distance is at most the insert-delete distance, the change-one distance at most the Hamming
        distance, and Linf <= L2 <= L1.
    Requires
        The pair of metrics is one of those.
    Ensures
        The bound is d_in.
    Proof
        A way of steps that respect the order of rows is a way of steps that ignore it. For norms: the largest
        coordinate is at most the root of the sum of squares, which is at most the sum.
    Example
        >>> coarser_metric(Fraction(3))
        Fraction(3, 1)
    """
    return d_in


@theorem("added-from-replaced", cites="Kifer and Machanavajjhala 2011, Section 2 (bounded and unbounded neighbors)")
def added_from_replaced(d_in: Extended) -> Extended:
    """To replace is to remove and to add.

    Theorem
        The symmetric distance is at most twice the change-one distance; the insert-delete and the symmetric distance at
        most twice the Hamming distance; and so for users.
    Requires
        The pair of metrics is one of those.
    Ensures
        The bound is 2 d_in.
    Proof
        Each replacement is one removal and one addition, in the same place where the order matters.
    Example
        >>> added_from_replaced(Fraction(3))
        Fraction(6, 1)
    """
    return times(Fraction(2), d_in)


@theorem("replaced-from-added", cites="derived here")
def replaced_from_added(d_in: Extended) -> Extended:
    """Datasets of one public size that differ by additions and removals differ by half as many replacements.

    Theorem
        For datasets of the same size, the change-one distance is half of the symmetric distance, and at most half of
        the insert-delete distance.
    Requires
        The number of rows is public.
    Ensures
        The bound is d_in/2, rounded down: replacements are whole.
    Proof
        Of two datasets of one size, as many rows are missing in the one as in the other; pair them up.
    Example
        >>> replaced_from_added(Fraction(3))
        Fraction(1, 1)
    """
    return INFINITY if d_in == INFINITY else Fraction(Fraction(d_in) // 2)


@theorem("norm-of-a-sized-vector", cites="inequalities between norms", numbers=Numbers.OUTWARD)
def norm_of_a_sized_vector(d_in: Extended, *, size: int, root: int) -> Extended:
    """In n dimensions, larger norms are larger by at most the root of n, or n.

    Theorem
        For vectors of n numbers, L1 <= sqrt(n) L2, L2 <= sqrt(n) Linf and L1 <= n Linf.
    Requires
        The number of coordinates is public.
    Ensures
        The bound is d_in times n (root 1) or times sqrt(n), rounded up (root 2).
    Proof
        Cauchy-Schwarz, and n times the largest coordinate.
    Example
        >>> norm_of_a_sized_vector(Fraction(3), size=4, root=2)
        Fraction(6, 1)
    """
    factor = Fraction(size) if root == 1 else dyadic.sqrt_up(Fraction(size))
    return times(factor, d_in)


@constructor
def measured_by(space: Space, metric: Metric) -> Transformation:
    """Look at the same data under another metric.

    >>> import viameter as vm
    >>> replaced = vm.Space(vm.vectors(int), vm.ChangeOneDistance())
    >>> (replaced >> vm.measured_by(vm.SymmetricDistance())).map(1)
    Fraction(2, 1)
    """
    if not isinstance(metric, Metric):
        raise ParameterError(f"metric={plain(metric)} is not a Metric: expected e.g. SymmetricDistance()")
    return Transformation(
        input_space=space,
        output_space=Space(space.domain, metric),
        function=_unchanged,
        bound=_relation(space, metric),
    )


def _relation(space: Space, metric: Metric) -> Any:
    frm, to = type(space.metric), type(metric)
    size = getattr(space.domain, "size", None)
    if getattr(space.metric, "id", None) == getattr(metric, "id", None):
        # Metrics that users define are of one class, and still different.
        if space.metric == metric or to in COARSER.get(frm, ()):
            return by(coarser_metric)
        if to in ADDED_FROM_REPLACED.get(frm, ()):
            return by(added_from_replaced)
        if size is not None and frm in (SymmetricDistance, InsertDeleteDistance) and to is ChangeOneDistance:
            return by(replaced_from_added)
        if size is not None and (frm, to) in SPREADS:
            return by(norm_of_a_sized_vector, size=size, root=SPREADS[frm, to])
    raise NoTheorem(
        f"nothing bounds {plain(metric)} by {space.metric!r} on {space.domain!r}"
        + ("" if size is not None else "; with a public size more is known: resize(size=...) makes it so")
    )


def _unchanged(member: Any) -> Any:
    return member
