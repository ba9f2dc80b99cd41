"""Measurement: a randomized function on a space, with a privacy map; and what may be done with its release."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from viameter.arith import show
from viameter.core.bound import by, chain, post_processing
from viameter.core.computation import Computation, Pipeline
from viameter.core.measure import Loss, Measure
from viameter.core.queryable import Guard, guarded_by, making_sealed
from viameter.core.sealed import run_sealed
from viameter.core.transformation import Transformation
from viameter.errors import MapError, ParameterError
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
    after: tuple[PostProcessing, ...] = ()

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
            # Post-processing is not sealed: it fails on what was released, not on rows.
            for processing in self.after:
                released = keep(processing.function(released))
            return released

    def _run(self, member: Any) -> Any:
        return self.release(member)

    def _derive(self, d_in: Any) -> tuple[Loss, Derivation]:
        if not self.parts:
            loss, derivation = self._derive_step(d_in)
        else:
            distance, premises = d_in, []
            for part in self.parts:
                distance, premise = part._derive(distance)
                premises.append(premise)
            loss = distance
            derivation = Derivation("chain", theorem_of(chain), show(d_in), repr(loss), premises=tuple(premises))
        for processing in self.after:
            derivation = Derivation(
                repr(processing), theorem_of(post_processing), repr(loss), repr(loss), premises=(derivation,)
            )
        return loss, derivation

    def _derive_step(self, d_in: Any) -> tuple[Loss, Derivation]:
        loss = self.bound(d_in)
        if not isinstance(loss, Loss) or loss.measure != self.measure:
            given = repr(loss) if isinstance(loss, Loss) else f"a value of type {type(loss).__name__}"
            raise MapError(f"the privacy map of {self.made_by} gave {given}: expected a loss of {self.measure!r}")
        assumed = () if self.measure.assumption is None else (self.measure.assumption,)
        assumes = (*self.input_space.assumptions, *assumed, *self.bound.assumes)
        return loss, Derivation(self.made_by, self.bound.theorem, show(d_in), repr(loss), assumes=assumes)

    def _claim(self, d_in: Any, bound: Loss) -> str:
        verb = "are" if bound.is_finite else "may differ without limit:"
        near = f"{bound!r}-close in {self.measure!r}" if bound.is_finite else f"{bound!r} is no guarantee"
        return f"On data at most {show(d_in)} apart in {self.input_space.metric!r}, releases {verb} {near}."

    def __rshift__(self, other: PostProcessing) -> Measurement:
        """Process what is released; it costs nothing."""
        if not isinstance(other, PostProcessing):
            hint = "wrap a function of the release as postprocess(f)" if callable(other) else "a release is no dataset"
            raise ParameterError(f"{self.made_by or 'a measurement'} >> {other!r} is not possible: {hint}")
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
        """The steps without post-processing, which belongs to the whole."""
        return self.parts or (replace(self, after=()),)

    def _key(self) -> Any:
        return (super()._key(), self.after)

    def __repr__(self) -> str:
        return " >> ".join([super().__repr__(), *map(repr, self.after)])
