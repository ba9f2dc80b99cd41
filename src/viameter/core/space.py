"""Space: a domain with a metric that measures it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from viameter.core.domain import Domain
from viameter.core.metric import Metric
from viameter.errors import ParameterError, plain

if TYPE_CHECKING:
    from viameter.core.computation import Computation
    from viameter.core.recipe import Recipe

    Made = TypeVar("Made", bound=Computation)


@dataclass(frozen=True, slots=True)
class Space:
    """A domain with a metric: where the data live and what "one change" means there."""

    domain: Domain
    metric: Metric

    def __post_init__(self) -> None:
        if not isinstance(self.domain, Domain):
            raise ParameterError(f"domain={plain(self.domain)} is not a Domain: expected e.g. vectors(int)")
        if not isinstance(self.metric, Metric):
            raise ParameterError(f"metric={plain(self.metric)} is not a Metric: expected e.g. SymmetricDistance()")
        for part, make in ((self.domain, "vm.domain"), (self.metric, "vm.metric")):
            # A class of somebody's own may do anything; what it asks to be trusted has to be said.
            if not type(part).__module__.startswith("viameter.") and part.assumption is None:
                raise ParameterError(
                    f"{type(part).__name__} is not of this library and says nothing of the trust it asks for: "
                    f"define it with {make}(..., trust=...), or set its `assumption`"
                )
        needed = self.metric.fits(self.domain)
        if needed is not None:
            raise ParameterError(f"{self.metric!r} does not measure {self.domain!r}: {needed}")

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What a user-defined domain or metric asks to be trusted."""
        return tuple(text for text in (self.domain.assumption, self.metric.assumption) if text is not None)

    def distance(self, left: Any, right: Any) -> Any:
        """How far apart two members are. This looks at data: it is for tests and for whoever may see them."""
        return self.metric.distance(self.domain.admit(left), self.domain.admit(right))

    def __rshift__(self, recipe: Recipe[Made]) -> Made:
        from viameter.core.recipe import Recipe, refuse_bare_constructor  # a Recipe is completed by a Space

        refuse_bare_constructor(recipe)
        if not isinstance(recipe, Recipe):
            return NotImplemented
        return recipe.complete(self)
