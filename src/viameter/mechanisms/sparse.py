"""Above-threshold, or the sparse vector technique: many questions, of which only the few that are answered yes cost."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from viameter.arith import INFINITY, Extended, Number, nonnegative
from viameter.core import External, Measurement, Query, Queryable, Space, Transformation, by, constructor
from viameter.core.sealed import attempt
from viameter.errors import (
    DomainMismatch,
    MetricMismatch,
    NoTheorem,
    ParameterError,
    QueryableEnded,
    SealedError,
    UnknownQuery,
    plain,
)
from viameter.measures import PureDP, pure
from viameter.measures.amounts import PureLoss
from viameter.sampling import discrete_laplace
from viameter.sampling.noise import read_scale
from viameter.spaces import AbsoluteDistance, IntDomain, lend, own_copy
from viameter.theorem import theorem


@theorem(
    "sparse-vector",
    cites="Dwork and Roth 2014, Section 3.6; Lyu, Su and Li 2017, Theorem 4; discrete noise derived here",
)
def sparse_vector_loss(
    d_in: Extended, *, at: Extended, sensitivity: Fraction, threshold_scale: Fraction, scale: Fraction, limit: int
) -> PureLoss:
    """Any number of questions whether a count is above a threshold, up to c answers yes, cost D/s1 + 2cD/s2.

    Theorem
        Let the threshold have discrete Laplace noise of scale s1, drawn once, and each integer query noise of scale
        s2, drawn anew. Answer each query, chosen by the answers before, by whether its noisy value reaches the noisy
        threshold, and stop after c answers yes. If every query differs by at most D between two datasets, the answers
        are pure(D/s1 + 2cD/s2).
    Requires
        Queries are integers, and each one's stability map says at most D for the distance that was fixed when the
        measurement was made; a query that says more is refused before it is run. The noisy values are not released.
    Ensures
        The loss is that for d_in up to the fixed distance, with D rounded down to a whole number; 0 for d_in = 0; no
        guarantee beyond.
    Proof
        Fix the answers. Shift the threshold's noise by D, which costs D/s1: then every query answered no on x is
        answered no on x', as it rose by at most D. Shift the noise of each of the c queries answered yes by 2D, which
        costs 2D/s2 each: they fell by at most D, and the threshold rose by D. Shifts are whole, so that they map
        integers to integers.
    Example
        >>> sparse_vector_loss(
        ...     Fraction(1), at=Fraction(1), sensitivity=Fraction(1),
        ...     threshold_scale=Fraction(4), scale=Fraction(8), limit=1,
        ... )
        pure(1/2)
    """
    if d_in == 0:
        return pure(0)
    if d_in > at:
        return pure(INFINITY)
    whole = Fraction(sensitivity // 1)
    return pure(whole / threshold_scale + 2 * limit * whole / scale)


@constructor
def sparse_vector(
    space: Space,
    *,
    threshold: int,
    scale: Number,
    threshold_scale: Number | None = None,
    limit: int = 1,
    d_in: Number = 1,
    sensitivity: Number = 1,
) -> Measurement:
    """A queryable that answers whether counts are above a threshold, until it has said yes `limit` times.

    Queries are transformations from the same space to an integer, at most `sensitivity` apart on data `d_in` apart. The
    noise of the threshold is half that of queries unless it is given.

    >>> import viameter as vm
    >>> visits = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> watch = vm.sparse_vector(visits, threshold=500, scale=8)
    >>> watch.map(1)
    pure(1/2)
    >>> above = watch([1] * 1000 + [2])
    >>> above(visits >> vm.filter(vm.is_in([2])) >> vm.count()), above(visits >> vm.filter(vm.is_in([1])) >> vm.count())
    (False, True)
    >>> above(visits >> vm.count())
    Traceback (most recent call last):
    viameter.errors.QueryableEnded: <sparse vector> has said yes 1 times, its limit, and answers no more
    """
    query_scale = read_scale(scale)
    own = query_scale / 2 if threshold_scale is None else read_scale(threshold_scale)
    distance, most = space.metric.read_distance(d_in), nonnegative(sensitivity, name="sensitivity")
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ParameterError(f"limit={plain(limit)} is not a number of answers: expected a whole number >= 1")
    level = IntDomain((threshold, threshold)).admit(threshold)  # refuses what is no integer of 64 bits

    def function(member: Any) -> Queryable:
        member = own_copy(member)  # it is kept, and whoever handed it over may change theirs
        left, failed, noisy_threshold = limit, False, level + discrete_laplace(scale=own)

        def transition(self: Queryable, query: Query) -> bool:
            nonlocal left, failed
            if not isinstance(query, External) or not isinstance(query.query, Transformation):
                raise UnknownQuery(self, query.query)
            _check_query(query.query, space, distance, most)
            if failed:
                raise QueryableEnded(f"a query of {self!r} has failed on the data, and it answers no more")
            if left == 0:
                raise QueryableEnded(f"{self!r} has said yes {limit} times, its limit, and answers no more")
            asked = query.query.function
            succeeded, value = attempt(lambda data: int(asked(data)), lend(member))  # a NumPy integer would wrap around
            if not succeeded:
                # That it failed is an answer that nobody counts: it is the last one.
                failed = True
                raise SealedError
            above = bool(value + discrete_laplace(scale=query_scale) >= noisy_threshold)
            left -= above
            return above

        return Queryable(transition, name="sparse vector")

    return Measurement(
        input_space=space,
        measure=PureDP,
        function=function,
        bound=by(
            sparse_vector_loss, at=distance, sensitivity=most, threshold_scale=own, scale=query_scale, limit=limit
        ),
    )


def _check_query(query: Transformation, space: Space, d_in: Extended, sensitivity: Fraction) -> None:
    if query.input_space.domain != space.domain:
        raise DomainMismatch("the sparse vector", space.domain, "the query", query.input_space.domain)
    if query.input_space.metric != space.metric:
        raise MetricMismatch("the sparse vector", space.metric, "the query", query.input_space.metric)
    output = query.output_space
    if not isinstance(output.domain, IntDomain) or not isinstance(output.metric, AbsoluteDistance):
        raise NoTheorem(f"the sparse vector answers queries that give an integer, not {plain(output)}")
    if query.map(0) != 0:
        raise NoTheorem(f"{query!r} may differ on data 0 apart, on which the sparse vector promises the same answers")
    if query.map(d_in) > sensitivity:
        raise NoTheorem(
            f"{query!r} may differ by {query.map(d_in)} on data {d_in} apart, "
            f"and the sparse vector was made for {sensitivity}; make it with sensitivity={query.map(d_in)}"
        )
