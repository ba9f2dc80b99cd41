"""Composition under any neighborhood: what mechanisms on parts of the data cost together, and who shows it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from viameter.composition.losses import common_measure
from viameter.core import Loss, Measure
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.measures.groups import group_loss
from viameter.neighborhood.arguments import read_listed
from viameter.neighborhood.arrangement import Arrangement, Pattern, arrange
from viameter.neighborhood.changes import Change
from viameter.neighborhood.claims import Leaf
from viameter.neighborhood.conditions import Check, check_c1, check_c2
from viameter.neighborhood.explaining import derive, show_pattern
from viameter.neighborhood.granularities import Geo, Granularity, Group, Personalised, Unbounded, User
from viameter.neighborhood.guarantee import Guarantee
from viameter.neighborhood.scales import scale_of
from viameter.neighborhood.tightness import pattern_is_exact, why_not_tight
from viameter.neighborhood.uniform import UniformLeaves, distinct_claims, with_claims
from viameter.neighborhood.witness import Witness
from viameter.theorem import Explanation


@dataclass(frozen=True, eq=False, repr=False)
class Composed:
    """What leaves cost together for a granularity: the loss, the pair of neighbors that it is for, and why."""

    granularity: Granularity
    leaves: Sequence[Leaf]
    arrangement: Arrangement
    loss: Loss
    pattern: Pattern
    """The touch pattern that costs most (in the first number of the loss, where it has several)."""
    steps: int = 1
    """How many times the pattern counts, by the law for groups."""
    one: Composed | None = field(default=None, repr=False)
    """The composition for one of those steps."""
    through: str | None = None
    """How the bound was found, if not from the patterns of the granularity itself."""
    by_class: tuple[tuple[str, Loss], ...] = field(default=())
    """The loss for each class of people, where guarantees are personalised."""

    @property
    def measure(self) -> Measure:
        """What the loss is an amount of."""
        return self.loss.measure

    @property
    def guarantee(self) -> Guarantee:
        """The loss with the granularity that it is for."""
        return Guarantee(self.loss, self.granularity)

    @property
    def tight(self) -> bool:
        """Whether leaves with these losses exist that cost just this; False where that is not known."""
        return self.why_not_tight is None

    @cached_property
    def why_not_tight(self) -> str | None:
        """What keeps the bound from being known to be the least; None if it is."""
        return why_not_tight(self)

    @cached_property
    def witness(self) -> Witness:
        """Two neighbors that touch the leaves so that they cost most, and what each part sees of them."""
        one_step = self.steps == 1 and self.through is None
        attained = one_step and pattern_is_exact(self.arrangement, self.pattern)
        return show_pattern(self.arrangement, self.pattern, attained=attained)

    def explain(self) -> Explanation:
        """The claim, the theorem, and the laws of the leaves that the worst pattern touches."""
        near = f"neighbors in {self.granularity!r} ({self.granularity.protects})"
        amount = "not bounded at all" if not self.loss.is_finite else f"{self.loss!r}"
        least = "no bound on it is smaller" if self.tight else f"it may be less: {self.why_not_tight}"
        claim = f"On {near}, what these {len(self.leaves)} leaves release costs {amount}; {least}."
        return Explanation(claim, derive(self))

    def check_c1(self) -> Check:
        """Condition C1: neighbors differ in at most one part."""
        return check_c1(self.granularity, [gathered.cut for gathered in self.arrangement.cuts])

    def check_c2(self) -> Check:
        """Condition C2: each part of two neighbors is at most one step apart, in this granularity on its own data."""
        return check_c2(self.granularity, [gathered.cut for gathered in self.arrangement.cuts])

    def to_measure(self, measure: Measure) -> Composed:
        """The same with the leaves' losses in another measure."""
        if measure == self.measure:
            return self
        if self.one is not None and isinstance(self.granularity, Group):
            return _step_by_step(self.granularity, _converted(self.leaves, measure), self.one.to_measure(measure))
        return compose(self.granularity, [leaf.to(measure) for leaf in self.leaves], measure=measure)

    def at_steps(self, steps: int) -> Composed:
        """The same leaves, on data that are so many steps of the granularity apart."""
        if steps == 1:
            return self
        if self.one is not None and self.through is None:
            return self.one.at_steps(self.steps * steps)
        # Claims stay those of one step: what they are for does not grow with the distance that is asked about.
        pinned = _pinned(self.leaves, self.granularity)
        several = Group(self.granularity, steps)
        # What is declared for one step says nothing of several; and those of a person may be of different classes.
        if isinstance(self.granularity, Personalised) or any(one.cut.per_step for one in self.arrangement.cuts):
            return _step_by_step(several, pinned, self)
        return compose(several, pinned, measure=self.measure)

    def __repr__(self) -> str:
        return f"<composed: {self.guarantee!r}>"


def compose(target: Granularity, leaves: Iterable[Leaf], *, measure: Measure | None = None) -> Composed:
    """What leaves cost together for the neighbors of a granularity: the largest sum over touch patterns.

    Leaves of one cut are touched as the cut says; leaves of different cuts, and of maps that were made one by one, are
    taken to be touched independently. Losses of several measures are converted into the first that all have a theorem
    for, or into `measure`.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> parts = nb.partition(3, by="value")
    >>> leaves = [nb.leaf(p, vm.pure(e), mode="common") for p, e in zip(parts, ("0.2", "0.5", "0.3"))]
    >>> nb.compose(nb.bounded(), leaves).loss, nb.compose(nb.unbounded(), leaves).loss
    (pure(4/5), pure(1/2))
    """
    if not isinstance(target, Granularity):
        hint = f": call it, {target.__name__.lower()}()" if isinstance(target, type) else ": expected e.g. bounded()"
        raise ParameterError(f"target={plain(target)} is not a granularity{hint}")
    given: Sequence[Leaf] = leaves if isinstance(leaves, UniformLeaves) else _read(leaves)
    if isinstance(target, Personalised):
        return _personalised(target, given, measure)
    unit = target.innermost
    if isinstance(unit, Geo):
        given = with_claims(given, lambda claim: claim.pinned(unit))
    losses = _losses(given)
    if measure is None:
        if not losses:
            raise ParameterError("leaves=[] does not say what losses are counted in: give measure=...")
        measure = common_measure(losses)
    if any(loss.measure != measure for loss in losses):
        given = _converted(given, measure)
        losses = _losses(given)
    scale = scale_of(measure, losses)
    arrangement = arrange(target, scale, given)
    try:
        direct = _composed(target, given, arrangement, target.edits)
    except NoTheorem:
        if not isinstance(target, Group):
            raise
    else:
        return _through_rows(target, direct) if isinstance(target, User) and target.rows is not None else direct
    return _step_by_step(target, given, compose(target.base, _pinned(given, target), measure=measure))


def _through_rows(target: User, direct: Composed) -> Composed:
    """A person is so many rows that come or go: as many steps, if that costs less than what parts see of a person."""
    assert target.rows is not None
    rows = Group(Unbounded(), 2 * target.rows if target.alters else target.rows)
    try:
        other = compose(rows, _pinned(direct.leaves, target), measure=direct.measure)
    except NoTheorem:
        return direct
    if not other.loss < direct.loss:
        return direct
    return replace(
        other,
        granularity=target,
        leaves=direct.leaves,
        through=f"the bound is that of {rows!r}, of which a person is one",
    )


def _step_by_step(target: Group, leaves: Sequence[Leaf], one: Composed) -> Composed:
    """What a step costs, so many times over: sound for every mechanism, if not the least bound."""
    loss = group_loss(one.loss, target.most)
    return Composed(target, leaves, one.arrangement, loss, one.pattern, steps=target.most, one=one)


def _composed(
    target: Granularity, leaves: Sequence[Leaf], arrangement: Arrangement, edits: tuple[Change, ...]
) -> Composed:
    patterns = [arrangement.worst(edits, number) for number in range(arrangement.scale.size)]
    if not patterns:  # Renyi losses that are known at no order
        raise ParameterError("the leaves' losses are known at no order: expected e.g. renyi({2: '0.1'})")
    loss = arrangement.scale.loss([pattern.value for pattern in patterns])
    return Composed(target, leaves, arrangement, loss, patterns[0])


def _pinned(leaves: Sequence[Leaf], target: Granularity) -> Sequence[Leaf]:
    return with_claims(leaves, lambda claim: claim.pinned(target))


def _read(leaves: Iterable[Leaf]) -> tuple[Leaf, ...]:
    if isinstance(leaves, Leaf):
        raise ParameterError("compose takes a list of leaves, as in compose(granularity, [leaf])")
    given = tuple(read_listed(leaves, "leaves", "[leaf(part, pure('1/10'))]"))
    for place, leaf in enumerate(given):
        if not isinstance(leaf, Leaf):
            raise ParameterError(f"leaves[{place}]={plain(leaf)} is not a leaf: expected leaf(map, loss)")
    return given


def _losses(leaves: Sequence[Leaf]) -> list[Loss]:
    """The losses of all claims at one step, those of compositions within leaves included."""
    found = [claim.law.first for claims in distinct_claims(leaves) for claim in claims]
    if isinstance(leaves, UniformLeaves):
        return found
    for leaf in leaves:
        if leaf.by_class:
            raise ParameterError("a leaf has a loss for each class of people: compose for personalised([...]) of those")
        if leaf.inner is not None:
            found += _losses(leaf.inner.leaves)
    return found


def _converted(leaves: Sequence[Leaf], measure: Measure) -> Sequence[Leaf]:
    if any(leaf.inner is not None for leaf in leaves):
        return tuple(leaf.to(measure) for leaf in leaves)
    return with_claims(leaves, lambda claim: claim.to(measure))


def _personalised(target: Personalised, leaves: Sequence[Leaf], measure: Measure | None) -> Composed:
    answers = {
        name: compose(target.base, [leaf.for_class(name) for leaf in leaves], measure=measure)
        for name in target.classes
    }
    worst = answers[target.classes[0]]
    for answer in answers.values():
        if not answer.loss <= worst.loss:
            worst = answer
    if not all(answer.loss <= worst.loss for answer in answers.values()):
        raise NoTheorem("the losses of the classes cannot be compared: compose for each class on its own")
    by_class = tuple((name, answer.loss) for name, answer in answers.items())
    return Composed(
        target,
        leaves,
        worst.arrangement,
        worst.loss,
        worst.pattern,
        worst.steps,
        through=worst.through,
        by_class=by_class,
    )
