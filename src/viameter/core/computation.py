"""Computation: a function on a Space with a bound; what transformations and measurements have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from viameter.core.bound import Bound
from viameter.core.certificate import Certificate, certify
from viameter.core.sealed import run_sealed
from viameter.core.space import Space
from viameter.errors import DomainMismatch, MetricMismatch
from viameter.theorem import Derivation, Explanation

if TYPE_CHECKING:
    from viameter.core.recipe import Recipe
    from viameter.core.transformation import Transformation


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Computation:
    """A function from a Space, with a bound on how much its output tells of a change of its input.

    Two computations are equal when they were made in the same way on the same space.
    """

    input_space: Space
    function: Callable[[Any], Any]
    """The bare function on members in canonical form: no checks, no seal. For made-up data only."""
    bound: Bound
    parts: tuple[Computation, ...] = ()
    """The steps of a chain, in order; empty for a single step."""
    made_by: str = ""
    """How it was made, as text: `clamp(bounds=(0, 240))`."""
    identity: tuple[Hashable, ...] = field(default=())

    def __call__(self, data: Any) -> Any:
        """Check that the data are in the input domain, then run on them."""
        return self._run(self.input_space.domain.admit(data))

    def _run(self, member: Any) -> Any:
        """Run on a member of the domain in canonical form."""
        return run_sealed(self.function, member)

    def map(self, d_in: Any) -> Any:
        """The bound for members that are `d_in` apart."""
        return self._bound_at(self.input_space.metric.read_distance(d_in))

    def explain(self, d_in: Any) -> Explanation:
        """The claim for members that are `d_in` apart, and the tree of theorems that it rests on."""
        d_in = self.input_space.metric.read_distance(d_in)
        bound, derivation = self._derive(d_in)
        return Explanation(self._claim(d_in, bound), derivation)

    def certificate(self, d_in: Any) -> Certificate:
        """The same as `explain`, as a file that `viameter check` re-derives without this library."""
        d_in = self.input_space.metric.read_distance(d_in)
        return certify(self._derive(d_in)[1], space=self.input_space, d_in=d_in)

    @property
    def steps(self) -> tuple[Computation, ...]:
        """The single steps that this consists of."""
        return self.parts or (self,)

    @abstractmethod
    def _bound_at(self, d_in: Any) -> Any:
        """The bound for a distance in canonical form: that of `_derive`, without the text of a derivation."""

    @abstractmethod
    def _derive(self, d_in: Any) -> tuple[Any, Derivation]:
        """The bound and its derivation, for a distance in canonical form."""

    @abstractmethod
    def _claim(self, d_in: Any, bound: Any) -> str:
        """What is proved for this distance, in a sentence."""

    @abstractmethod
    def _after(self, first: Transformation) -> Computation:
        """This computation on what comes out of `first`; the spaces were seen to agree."""

    @abstractmethod
    def __rshift__(self, other: Any) -> Any: ...

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Computation):
            return NotImplemented
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Hashable:
        # What was made outside of a constructor is equal to itself only.
        made = tuple(step.identity or (id(step),) for step in self.steps)
        return (self.input_space, made)

    def __repr__(self) -> str:
        steps = (step.made_by or type(step).__name__ for step in self.steps)
        return " >> ".join([repr(self.input_space), *steps])


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Functions run one after the other."""

    functions: tuple[Callable[[Any], Any], ...]

    def __call__(self, value: Any) -> Any:
        """Run them in order."""
        for function in self.functions:
            value = function(value)
        return value


def require_same_space(left: Computation, given: Space, right: Computation) -> None:
    """Refuse to chain two computations where the output space of the left is not the input space of the right."""
    left_name, right_name = f"the output of {left.steps[-1].made_by}", f"the input of {right.steps[0].made_by}"
    wanted = right.input_space
    if given.domain != wanted.domain:
        raise DomainMismatch(left_name, given.domain, right_name, wanted.domain)
    if given.metric != wanted.metric:
        raise MetricMismatch(left_name, given.metric, right_name, wanted.metric)


def complete_if_recipe(other: Computation | Recipe[Any], space: Space) -> Computation:
    """What stands on the right of `>>`, made on the space of the left if it is a recipe."""
    from viameter.core.recipe import Recipe, refuse_bare_constructor  # a Recipe makes computations

    refuse_bare_constructor(other)
    return other.complete(space) if isinstance(other, Recipe) else other
