"""The composition as a measurement: real maps and real mechanisms, which run on data and can be metered."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from viameter.arith import INFINITY, Extended, show
from viameter.composition.batch import Composition
from viameter.composition.batch import compose as compose_batch
from viameter.core import Loss, Measurement, Space, Transformation, by
from viameter.core.certificate import Certificate
from viameter.core.computation import require_same_space
from viameter.errors import DomainMismatch, FormatError, MetricMismatch, NoTheorem, ParameterError
from viameter.neighborhood.claims import GRANULARITY_OF, Leaf
from viameter.neighborhood.composed import Composed
from viameter.neighborhood.cuts.given import Whole
from viameter.neighborhood.laws import OfMeasurement
from viameter.theorem import Derivation, Numbers, theorem, theorem_of


@theorem(
    "composition-over-parts",
    cites="Guerra-Balboa, Miranda-Pascual, Parra-Arnau and Strufe 2024, Theorem III.1",
    numbers=Numbers.OUTWARD,
)
def composition_over_parts(d_in: Extended, *, composed: Composed) -> Loss:
    """Measurements of parts of the data, released together, cost what the worst touch pattern costs.

    Theorem
        Let each leaf be a transformation f_i of the data and a measurement of its output. On data d_in apart in a
        metric whose steps are the neighbors of a granularity, all together cost the composition over the worst touch
        pattern of d_in such steps.
    Requires
        The metric of the data is the canonical metric of the granularity; each transformation is the map that its leaf
        says, which is known of a split and trusted of others; each measurement takes what its transformation gives.
    Ensures
        The loss at one step is that of the composition; at none, zero; at several, that of as many steps at once.
    Proof
        The general composition theorem, for neighbors of the granularity and for groups of them.
    Example
        >>> import viameter as vm
        >>> from viameter import neighborhood as nb
        >>> halves = nb.compose(nb.unbounded(), nb.leaves(nb.partition(2), vm.pure("1/2")))
        >>> composition_over_parts(3, composed=halves)
        pure(3/2)
    """
    if d_in == INFINITY:
        return composed.measure.infinite
    steps = math.ceil(d_in)
    return composed.measure.zero if steps == 0 else composed.at_steps(steps).loss


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Released(Composition):
    """Measurements of parts, released together, with the composition that says what they cost."""

    composed: Composed

    def certificate(self, d_in: Any) -> Certificate:
        """There is none: the checker would have to search for the worst touch pattern again."""
        raise FormatError(
            "a composition over parts has no certificate, since no checker repeats the search for the worst touch "
            "pattern: explain(d_in) shows it, and the certificates of its leaves hold each on its own"
        )

    def _derive_step(self, d_in: Any) -> tuple[Loss, Derivation]:
        loss = composition_over_parts(d_in, composed=self.composed)
        steps = 1 if d_in in (0, INFINITY) else math.ceil(d_in)
        below = self.composed.at_steps(steps).explain().derivation
        trusts = tuple(dict.fromkeys(leaf.part.trust for leaf in self.composed.leaves if leaf.part.trust))
        return loss, Derivation(
            self.made_by or "measurements of parts",
            theorem_of(composition_over_parts),
            show(d_in),
            repr(loss),
            assumes=(*self.input_space.assumptions, *trusts),
            premises=(below,),
            given_value=d_in,
            bound_value=loss,
            parameters=(("composed", self.composed),),
            space=self.input_space,
        )


def measurement(composed: Composed, space: Space | None = None) -> Released:
    """The composition as a measurement that runs: every leaf must be a Measurement, on a map that is a Transformation.

    `space` is needed where no map says where the data live. Its metric must be that of the composition's granularity.

    >>> import viameter as vm
    >>> from viameter import neighborhood as nb
    >>> visits = vm.Space(vm.tables({"ward": str, "wait": int}), vm.SymmetricDistance())
    >>> wards = nb.split(visits, [["A"], ["B"], ["C"]], column="ward")
    >>> counts = nb.compose(nb.unbounded(), [nb.leaf(ward, vm.count() >> vm.laplace(scale=10)) for ward in wards])
    >>> release = nb.measurement(counts)
    >>> release.map(1), release.map(2)
    (pure(1/10), pure(1/5))
    >>> a, b, c = release({"ward": ["A", "A", "B"], "wait": [10, 20, 30]})
    """
    if not isinstance(composed, Composed):
        raise ParameterError("measurement takes what compose(granularity, leaves) made")
    space = space or _space_of(composed)
    own = GRANULARITY_OF.get(type(space.metric))
    if own != composed.granularity:
        raise NoTheorem(
            f"the composition is for {composed.granularity!r}, and the data's metric is {space.metric!r}: "
            f"compose for the granularity of that metric{'' if own is None else f', {own!r}'}"
        )
    members = [chain(leaf, f"leaves[{place}]", space) for place, leaf in enumerate(composed.leaves)]
    batch = compose_batch(space, members, measure=composed.measure)
    return Released(
        input_space=space,
        measure=composed.measure,
        function=batch.function,
        bound=by(composition_over_parts, composed=composed),
        members=batch.members,
        rule=batch.rule,
        composed=composed,
        made_by=f"measurements of {len(members)} parts",
    )


def _space_of(composed: Composed) -> Space:
    for leaf in composed.leaves:
        if leaf.part.transformation is not None:
            return leaf.part.transformation.input_space
    raise ParameterError("no leaf's map is a transformation of real data: give space=..., or make parts by split(...)")


def chain(leaf: Leaf, name: str, space: Space) -> Measurement:
    """The leaf's map and its mechanism, as one measurement of the data."""
    law = leaf.claims[0].law if len(leaf.claims) == 1 else None
    if not isinstance(law, OfMeasurement):
        raise ParameterError(f"{name} is known by its loss only: a composition that runs takes Measurements as leaves")
    mechanism, first = law.measurement, leaf.part.transformation
    if leaf.part.stability != 1:
        raise ParameterError(f"{name} has a map after its part that is known by its stability only")
    if leaf.claims[0].mode == "common":
        _require_space(mechanism, space, name)
        return _on_the_whole(mechanism, first, name)
    if first is None:
        if not isinstance(leaf.part.cut, Whole):
            raise ParameterError(f"{name}: its map is no transformation: make it by split(...), or part.through(...)")
        _require_space(mechanism, space, name)
        return mechanism
    if first.input_space != space:
        raise ParameterError(f"{name}: its map takes data of {first.input_space!r}, and the others of {space!r}")
    require_same_space(first, first.output_space, mechanism)
    return first >> mechanism


def _require_space(mechanism: Measurement, space: Space, name: str) -> None:
    """Refuse a mechanism that was made for data of another domain or metric than those at hand."""
    if mechanism.input_space.domain != space.domain:
        raise DomainMismatch("the data", space.domain, name, mechanism.input_space.domain)
    if mechanism.input_space.metric != space.metric:
        raise MetricMismatch("the data", space.metric, name, mechanism.input_space.metric)


def _on_the_whole(mechanism: Measurement, first: Transformation | None, name: str) -> Measurement:
    """A mechanism that is private on the whole data and looks at a part: its first steps are the map to that part."""
    steps = () if first is None else first.steps
    if not steps or mechanism.steps[: len(steps)] != steps:
        raise ParameterError(
            f"{name} is on the common domain, so it must look at its part only: expected a measurement of the whole "
            "data that begins with the part's transformation, as part.transformation >> ..."
        )
    return mechanism
