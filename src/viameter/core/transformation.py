"""Transformation: a deterministic function between spaces, with a stability map."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from viameter.arith import Extended, show
from viameter.core.bound import by, chain
from viameter.core.computation import Computation, Pipeline, complete_if_recipe, require_same_space
from viameter.core.space import Space
from viameter.errors import MapError, NumberError
from viameter.theorem import Derivation, theorem_of

if TYPE_CHECKING:
    from viameter.core.measurement import Measurement
    from viameter.core.recipe import Recipe

Right = TypeVar("Right", bound=Computation)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Transformation(Computation):
    """A deterministic function between spaces: members d_in apart have images at most `map(d_in)` apart."""

    output_space: Space

    def check(self, d_in: Any, d_out: Any) -> bool:
        """Whether members `d_in` apart are proved to have images at most `d_out` apart."""
        return bool(self.map(d_in) <= self.output_space.metric.read_distance(d_out, name="d_out"))

    def _bound_at(self, d_in: Extended) -> Extended:
        if self.parts:
            for part in self.parts:
                d_in = part._bound_at(d_in)
            return d_in
        metric = self.output_space.metric
        try:
            return metric.read_distance(self.bound(d_in), name="d_out")
        except NumberError as problem:
            raise MapError(f"the stability map of {self.made_by} gave no distance of {metric!r}: {problem}") from None

    def _derive(self, d_in: Extended) -> tuple[Extended, Derivation]:
        if not self.parts:
            return self._derive_step(d_in)
        distance, premises = d_in, []
        for part in self.parts:
            distance, derivation = part._derive(distance)
            premises.append(derivation)
        whole = Derivation(
            "chain",
            theorem_of(chain),
            show(d_in),
            show(distance),
            premises=tuple(premises),
            given_value=d_in,
            bound_value=distance,
            space=self.input_space,
            output=self.output_space,
        )
        return distance, whole

    def _derive_step(self, d_in: Extended) -> tuple[Extended, Derivation]:
        d_out = self._bound_at(d_in)
        assumes = (*self.input_space.assumptions, *self.output_space.assumptions, *self.bound.assumes)
        return d_out, Derivation(
            self.made_by,
            self.bound.theorem,
            show(d_in),
            show(d_out),
            assumes=assumes,
            given_value=d_in,
            bound_value=d_out,
            parameters=self.bound.parameters,
            space=self.input_space,
            output=self.output_space,
        )

    def _claim(self, d_in: Extended, bound: Extended) -> str:
        return (
            f"Data at most {show(d_in)} apart in {self.input_space.metric!r} "
            f"have images at most {show(bound)} apart in {self.output_space.metric!r}."
        )

    @overload
    def __rshift__(self, other: Recipe[Right]) -> Right: ...
    @overload
    def __rshift__(self, other: Transformation) -> Transformation: ...
    @overload
    def __rshift__(self, other: Measurement) -> Measurement: ...
    def __rshift__(self, other: Any) -> Any:
        """Run `other` on what comes out of this; the spaces must agree."""
        other = complete_if_recipe(other, self.output_space)
        if not isinstance(other, Computation):
            return NotImplemented
        require_same_space(self, self.output_space, other)
        return other._after(self)

    def _after(self, first: Transformation) -> Transformation:
        parts = (*first.steps, *self.steps)
        return Transformation(
            input_space=first.input_space,
            output_space=self.output_space,
            function=Pipeline(tuple(part.function for part in parts)),
            bound=by(chain, maps=tuple(part.map for part in parts)),
            parts=parts,
        )
