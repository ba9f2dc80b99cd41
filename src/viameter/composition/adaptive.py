"""Adaptive composition: losses are fixed before the first answer, mechanisms are chosen by the answers so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from viameter.arith import Extended
from viameter.composition.admission import Admission
from viameter.composition.queries import AskPermission
from viameter.core import External, Internal, Loss, Measure, Measurement, Query, Queryable, Space, by, constructor
from viameter.core.composability import ADAPTIVE, SEQUENTIAL, require_cell
from viameter.errors import (
    MeasureMismatch,
    NoTheorem,
    OverBudget,
    ParameterError,
    PermissionGone,
    QueryableEnded,
    UnknownQuery,
)
from viameter.spaces import lend, own_copy
from viameter.theorem import Numbers, theorem, theorem_of


@theorem(
    "adaptive-composition",
    cites="Dwork, Rothblum and Vadhan 2010, Section III; the rule of the measure",
    numbers=Numbers.OUTWARD,
)
def adaptive_composition(d_in: Extended, *, at: Extended, losses: tuple[Loss, ...], measure: Measure) -> Loss:
    """Mechanisms chosen by earlier answers, of losses that were fixed in advance, cost the composition of these.

    Theorem
        Let losses l_1, ..., l_k be fixed before the first answer. A queryable that runs an i-th measurement, chosen by
        the answers so far, only if its loss on data D apart is at most l_i, has the composition of l_1, ..., l_k as its
        loss on data at most D apart.
    Requires
        The measure composes adaptively. Each loss is finite. Where the measure composes sequentially only, what was
        released answers until the next measurement is asked for.
    Ensures
        The loss is the composition of all k losses for distances up to D, also if fewer are used; infinite beyond.
    Proof
        Adaptive composition in the rule of the measure; a measurement that is not asked for is a constant.
    Example
        >>> from viameter.measures import PureDP, pure
        >>> adaptive_composition(1, at=1, losses=(pure("1/10"), pure("1/5")), measure=PureDP)
        pure(3/10)
    """
    if d_in > at:
        return measure.infinite
    theorem = require_cell(measure, ADAPTIVE)[0].theorem
    assert theorem is not None
    return theorem(losses) if losses else measure.zero


@constructor
def adaptive(space: Space, *, d_in: Any, losses: Sequence[Loss], measure: Measure | None = None) -> Measurement:
    """A queryable that runs one measurement for each of some losses, in order: each costs at most its loss.

    >>> import viameter as vm
    >>> space = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> plan = vm.adaptive(space, d_in=1, losses=[vm.pure("1/10"), vm.pure("1/5")])
    >>> plan.map(1)
    pure(3/10)
    >>> ask = plan([3, 1, 4, 1, 5])
    >>> number = ask(vm.count(space) >> vm.laplace(scale=10))
    """
    distance, planned = space.metric.read_distance(d_in), tuple(losses)
    common = _measure(planned, measure)
    rule, cell = require_cell(common, ADAPTIVE)
    if rule.theorem is None:
        raise NoTheorem(f"{common!r} by {rule.name!r} takes more than losses to compose: an Accountant does it")
    sequential = cell.composability is SEQUENTIAL
    admission = Admission(space, common, theorem=theorem_of(adaptive_composition), convert=False)

    def function(member: Any) -> Queryable:
        member = own_copy(member)
        used = 0

        def transition(self: Queryable, query: Query) -> Any:
            nonlocal used
            if isinstance(query, Internal) and isinstance(query.query, AskPermission):
                if query.query.child != used:
                    raise PermissionGone(
                        f"{self!r} was asked for another measurement since: only what came last answers"
                    )
                return None
            measurement = admission.measurement(query.query) if isinstance(query, External) else None
            if measurement is None:
                raise UnknownQuery(self, query.query)
            if used == len(planned):
                raise QueryableEnded(f"{self!r} has run {used} measurements, all that it was made for")
            allowed, asked = planned[used], measurement.map(distance)
            if not asked <= allowed:
                spent = common.total(planned[:used])
                raise OverBudget(spent=spent, asked=asked, left=allowed, budget=common.total(planned))
            # It is used before it runs: one that fails has had its turn, and what was released before answers no more.
            used += 1
            child, guard = used, None
            if sequential:

                def guard() -> Any:
                    return self.holding(AskPermission(child))

            return measurement.release(lend(member), guard=guard)

        return Queryable(transition, name="adaptive plan")

    return Measurement(
        input_space=space,
        measure=common,
        function=function,
        bound=by(adaptive_composition, at=distance, losses=planned, measure=common),
    )


def _measure(losses: tuple[Any, ...], given: Measure | None) -> Measure:
    if given is None and not losses:
        raise ParameterError("losses=[] does not say what losses are counted in: give measure=...")
    for place, loss in enumerate(losses):
        if not isinstance(loss, Loss):
            raise ParameterError(f"losses[{place}] is of type {type(loss).__name__}: expected a loss, as pure('1/10')")
        if not loss.is_finite:
            raise ParameterError(f"losses[{place}]={loss!r} is no limit: expected a finite loss")
    common: Measure = losses[0].measure if given is None else given
    for place, loss in enumerate(losses):
        if loss.measure != common:
            raise MeasureMismatch("the plan", common, f"losses[{place}]", loss.measure)
    return common
