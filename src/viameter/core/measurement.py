"""Measurement: a randomized function on a space, with a privacy map; and what may be done with its release."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from viameter.arith import Number, show
from viameter.core.bound import by, chain, post_processing
from viameter.core.computation import Computation, Pipeline
from viameter.core.conversion import To
from viameter.core.measure import Loss, Measure
from viameter.core.queryable import Guard, guarded_by, making_sealed
from viameter.core.sealed import run_sealed
from viameter.core.transformation import Transformation
from viameter.errors import MapError, ParameterError, SealedError, plain
from viameter.theorem import Derivation, theorem_of


@dataclass(frozen=True, slots=True)
class PostProcessing:
    """A function of a release alone; `measurement >> postprocess(f)` applies it."""

    function: Callable[[Any], Any]
    name: str

    def __repr__(self) -> str:
        return f"postprocess({self.name})"


def postprocess(function: Callable[[Any], Any], *, name: str | None = None) -> PostProcessing:
    """What is to be done with a release; it sees nothing else, and costs nothing."""
    if not callable(function):
        raise ParameterError(f"postprocess takes a function of the release, not {type(function).__name__}")
    return PostProcessing(function, name or str(getattr(function, "__name__", type(function).__name__)))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Measurement(Computation):
    """A randomized function on a space: on members d_in apart, its outputs are `map(d_in)`-close in `measure`.

    Its release may be a Queryable, which then answers queries about the data within the same loss.
    """

    measure: Measure
    after: tuple[PostProcessing | To, ...] = ()
    """What follows the release, in order: processing of it, and conversions of its loss to other measures."""

    def check(self, d_in: Any, loss: Loss) -> bool:
        """Whether outputs on members `d_in` apart are proved to be `loss`-close."""
        return bool(self.map(d_in) <= loss)

    def invoke(self, data: Any, *, guard: Guard | None = None) -> Any:
        """Release; every queryable that this spawns, now or later, answers only under the guard."""
        return self.release(self.input_space.domain.admit(data), guard=guard)

    def release(self, member: Any, *, guard: Guard | None = None) -> Any:
        """Release from a member of the domain that was admitted before."""
        with guarded_by(guard) as keep:
            with making_sealed():
                released = keep(run_sealed(self.function, member))
            if isinstance(released, Iterator | Awaitable):
                # It would look at the data later, when nobody counts, guards or seals it any more.
                raise SealedError
            # Post-processing is not sealed: it fails on what was released, not on rows.
            for processing in self.after:
                if isinstance(processing, PostProcessing):
                    released = keep(processing.function(released))
            return released

    def _run(self, member: Any) -> Any:
        return self.release(member)

    def _bound_at(self, d_in: Any) -> Loss:
        if self.parts:
            for part in self.parts:
                d_in = part._bound_at(d_in)
            loss: Loss = d_in
        else:
            loss = self._step_loss(d_in)
        for step in self.after:
            if isinstance(step, To):
                loss = step.apply(loss).loss
        return loss

    def _derive(self, d_in: Any) -> tuple[Loss, Derivation]:
        if not self.parts:
            loss, derivation = self._derive_step(d_in)
        else:
            distance, premises = d_in, []
            for part in self.parts:
                distance, premise = part._derive(distance)
                premises.append(premise)
            loss = distance
            derivation = Derivation(
                "chain",
                theorem_of(chain),
                show(d_in),
                repr(loss),
                premises=tuple(premises),
                given_value=d_in,
                bound_value=loss,
                space=self.input_space,
            )
        for processing in self.after:
            if isinstance(processing, To):
                converted = processing.apply(loss)
                for step in converted.steps:
                    derivation = step.over((derivation,))
                loss = converted.loss
                continue
            derivation = Derivation(
                repr(processing),
                theorem_of(post_processing),
                repr(loss),
                repr(loss),
                premises=(derivation,),
                given_value=loss,
                bound_value=loss,
            )
        return loss, derivation

    def _step_loss(self, d_in: Any) -> Loss:
        """What the bound of a single step gives, seen to be a loss of its measure."""
        loss, measure = self.bound(d_in), self._bare_measure
        if not isinstance(loss, Loss) or loss.measure != measure:
            given = repr(loss) if isinstance(loss, Loss) else f"a value of type {type(loss).__name__}"
            raise MapError(f"the privacy map of {self.made_by} gave {given}: expected a loss of {measure!r}")
        return loss

    def _derive_step(self, d_in: Any) -> tuple[Loss, Derivation]:
        loss, measure = self._step_loss(d_in), self._bare_measure
        assumed = () if measure.assumption is None else (measure.assumption,)
        assumes = (*self.input_space.assumptions, *assumed, *self.bound.assumes)
        return loss, Derivation(
            self.made_by,
            self.bound.theorem,
            show(d_in),
            repr(loss),
            assumes=assumes,
            given_value=d_in,
            bound_value=loss,
            parameters=self.bound.parameters,
            space=self.input_space,
        )

    def _claim(self, d_in: Any, bound: Loss) -> str:
        verb = "are" if bound.is_finite else "may differ without limit:"
        near = f"{bound!r}-close in {self.measure!r}" if bound.is_finite else f"{bound!r} is no guarantee"
        return f"On data at most {show(d_in)} apart in {self.input_space.metric!r}, releases {verb} {near}."

    def to(
        self,
        measure: Measure,
        *,
        by: str | None = None,
        delta: Number | None = None,
        epsilon: Number | None = None,
        order: Number | float | Iterable[Number | float] | None = None,
    ) -> Measurement:
        """The same measurement, its loss counted in another measure; the arguments are those of `Loss.to`.

        >>> import viameter as vm
        >>> count = vm.Space(vm.vectors(int), vm.SymmetricDistance()) >> vm.count() >> vm.laplace(scale=2)
        >>> count.map(1), count.to(vm.ZCDP, by="pure-to-zcdp-quadratic").map(1)
        (pure(1/2), zcdp(1/8))
        """
        request = To.read(
            self.measure, measure, by=by, delta=delta, epsilon=epsilon, order=order, loss=self.made_by or "measurement"
        )
        if request == To(self.measure, self.measure):
            return self
        return replace(self, measure=measure, after=(*self.after, request))

    @property
    def _bare_measure(self) -> Measure:
        """The measure before conversions: the one that the bound is in."""
        return next((step.source for step in self.after if isinstance(step, To)), self.measure)

    def __rshift__(self, other: PostProcessing) -> Measurement:
        """Process what is released; it costs nothing."""
        if not isinstance(other, PostProcessing):
            hint = "wrap a function of the release as postprocess(f)" if callable(other) else "a release is no dataset"
            raise ParameterError(f"{self.made_by or 'a measurement'} >> {plain(other)} is not possible: {hint}")
        return replace(self, after=(*self.after, other))

    def _after(self, first: Transformation) -> Measurement:
        parts = (*first.steps, *self._bare_steps())
        return Measurement(
            input_space=first.input_space,
            measure=self.measure,
            function=Pipeline(tuple(part.function for part in parts)),
            bound=by(chain, maps=tuple(part.map for part in parts)),
            parts=parts,
            after=self.after,
        )

    def _bare_steps(self) -> tuple[Computation, ...]:
        """The steps without post-processing and conversions, which belong to the whole."""
        return self.parts or (replace(self, measure=self._bare_measure, after=()),)

    def _key(self) -> Any:
        return (super()._key(), self.after)

    def __repr__(self) -> str:
        shown = (step for step in self.after if not (isinstance(step, To) and step.implied))
        return " >> ".join([super().__repr__(), *map(repr, shown)])
