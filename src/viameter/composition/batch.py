"""Batch composition: several measurements, all fixed before the first answer, as one measurement."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from viameter.arith import Extended, show
from viameter.composition.derivations import compose_derivations
from viameter.composition.turns import Turns
from viameter.core import Loss, Measure, Measurement, PostProcessing, Queryable, Recipe, Rule, Space, by, constructor
from viameter.core.composability import ADAPTIVE, NON_ADAPTIVE, SEQUENTIAL, require_cell
from viameter.core.conversion import convertible
from viameter.errors import DomainMismatch, MeasureMismatch, MetricMismatch, NoTheorem, ParameterError
from viameter.spaces import lend
from viameter.theorem import Derivation, Numbers, theorem, theorem_of


@theorem("batch-composition", cites="the rule of the measure, for mechanisms fixed in advance", numbers=Numbers.OUTWARD)
def batch_composition(d_in: Extended, *, maps: tuple[Callable[[Any], Loss], ...], rule: Rule, measure: Measure) -> Loss:
    """Measurements that are all fixed before the first answer cost the composition of their losses.

    Theorem
        Measurements of one space and one measure, fixed before the first answer, have together the composition of the
        losses map_i(d_in) as their loss on data d_in apart, for every d_in.
    Requires
        All have the same domain, metric and measure: three different mismatch errors. The measure composes
        non-adaptively. If it does so sequentially only, interactive ones answer in their order: once a later one was
        queried, those before it answer no more. One that has released more than a queryable, or any where the measure
        does not compose adaptively, answers no queries beside others.
    Ensures
        The loss is the composition by the measure's rule; of no measurement, it is zero.
    Proof
        Non-adaptive composition in the rule of the measure. Those that are not interactive are released first, which is
        an order as good as any since none was chosen by another.
    Example
        >>> from viameter.measures import PureDP, pure
        >>> batch_composition(2, maps=(pure, pure), rule=PureDP.rules[0], measure=PureDP)
        pure(4)
    """
    assert rule.theorem is not None
    return rule.theorem([map(d_in) for map in maps]) if maps else measure.zero


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Composition(Measurement):
    """Measurements of one space and one measure, released together; `members` are they."""

    members: tuple[Measurement, ...]
    rule: Rule

    def _derive_step(self, d_in: Any) -> tuple[Loss, Derivation]:
        derived = [member._derive(d_in) for member in self.members]
        composed = compose_derivations(self._bare_measure, self.rule, tuple(derivation for _, derivation in derived))
        loss: Loss = composed.bound_value
        return loss, Derivation(
            self.made_by,
            theorem_of(batch_composition),
            show(d_in),
            repr(loss),
            assumes=self.input_space.assumptions,
            premises=(composed,),
            given_value=d_in,
            bound_value=loss,
            space=self.input_space,
        )


@constructor
def compose(
    space: Space,
    measurements: Sequence[Measurement | Recipe[Measurement]],
    *,
    measure: Measure | None = None,
    rule: str | None = None,
) -> Composition:
    """Several measurements as one, which releases a tuple; all are fixed before the first answer.

    `measure` is what losses are counted in: that of the measurements, or one that each of them is converted to.

    >>> import viameter as vm
    >>> space = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
    >>> both = vm.compose(space, [vm.count() >> vm.laplace(scale=10), vm.sum() >> vm.laplace(scale=90)])
    >>> both.map(1)
    pure(1/5)
    >>> count, total = both([3, 1, 4, 1, 5])
    """
    if isinstance(measurements, Measurement | Recipe):
        raise ParameterError("compose takes a list of measurements, as in compose(space, [one, other])")
    members = tuple(part.complete(space) if isinstance(part, Recipe) else part for part in measurements)
    common = _common_measure(members) if measure is None else measure
    members = tuple(_fitting(member, place, space, common, measure is not None) for place, member in enumerate(members))
    chosen, cell = require_cell(common, NON_ADAPTIVE, rule)
    if chosen.theorem is None:
        raise NoTheorem(
            f"{common!r} by {chosen.name!r} takes more than losses to compose: an Accountant does it, for a delta"
        )
    sequential, interactive = cell.composability is SEQUENTIAL, ADAPTIVE in chosen.table

    def function(member: Any) -> tuple[Any, ...]:
        turns = Turns("the composition")
        guards = [turns.guard(place) if sequential else None for place in range(len(members))]
        released = tuple(part.release(lend(member), guard=guard) for part, guard in zip(members, guards, strict=True))
        # All are closed until the last one has begun. Those open then that have said nothing yet: a bare queryable, as
        # its function released it. What is beside a queryable, or was made of one, has been said: used later, that one
        # would be interleaved with others. Where nothing is proved for mechanisms chosen by answers, no queries may be
        # chosen by them either, unless there are no others.
        for place, (part, answer) in enumerate(zip(members, released, strict=True)):
            bare = isinstance(answer, Queryable) and not any(isinstance(step, PostProcessing) for step in part.after)
            if len(members) == 1 or (interactive and bare):
                turns.open(place)
        return released

    return Composition(
        input_space=space,
        measure=common,
        function=function,
        bound=by(batch_composition, maps=tuple(member.map for member in members), rule=chosen, measure=common),
        members=members,
        rule=chosen,
    )


def _common_measure(members: tuple[Measurement, ...]) -> Measure:
    if not members:
        raise ParameterError("measurements=[] does not say what losses are counted in: give measure=...")
    if not isinstance(members[0], Measurement):
        raise ParameterError(f"measurements[0] is a {type(members[0]).__name__}, not a Measurement")
    return members[0].measure


def _fitting(member: Any, place: int, space: Space, measure: Measure, convert: bool) -> Measurement:
    name = f"measurements[{place}]"
    if not isinstance(member, Measurement):
        raise ParameterError(f"{name} is a {type(member).__name__}, not a Measurement")
    if member.input_space.domain != space.domain:
        raise DomainMismatch("the composition", space.domain, name, member.input_space.domain)
    if member.input_space.metric != space.metric:
        raise MetricMismatch("the composition", space.metric, name, member.input_space.metric)
    if member.measure == measure:
        return member
    if not convert:
        way = convertible(member.measure, measure)
        own = "" if way is None else f"convert it, {name}.to({measure!r}{way}), or "
        hint = f"{own}give compose a measure=... that all convert to"
        raise MeasureMismatch("the composition", measure, name, member.measure, hint)
    return member.to(measure)
