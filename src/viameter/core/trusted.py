"""Parts that users define: each carries a statement of the trust it asks for, which shows in every explanation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from viameter.arith import Extended
from viameter.core.bound import trusted
from viameter.core.domain import Domain, NotAMember
from viameter.core.measure import Measure
from viameter.core.measurement import Measurement
from viameter.core.metric import Metric
from viameter.core.recipe import constructor
from viameter.core.space import Space
from viameter.core.transformation import Transformation
from viameter.errors import ParameterError, plain


def require_trust(what: str, trust: str) -> str:
    """Refuse a part that does not say what it asks to be trusted."""
    if not isinstance(trust, str) or not trust.strip():
        raise ParameterError(
            f'{what}: trust={trust!r} says nothing; write what must be true, as in trust="f is 1-stable"'
        )
    return f"{trust.strip()} ({what})"


@dataclass(frozen=True, repr=False)
class TrustedDomain(Domain):
    """A domain given by a membership test."""

    name: str
    member: Callable[[Any], bool]
    assumption: str

    def _canonical(self, value: Any) -> Any:
        if not self.member(value):
            raise NotAMember(f"the membership test of {self.name} says no")
        return value

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, repr=False)
class TrustedMetric(Metric):
    """A metric given by a distance function."""

    name: str
    between: Callable[[Any, Any], Any]
    measures: Callable[[Domain], bool]
    assumption: str

    def fits(self, domain: Domain) -> str | None:
        """Whether whoever defined it says that it measures the domain."""
        return None if self.measures(domain) else f"its `measures` refuses {domain!r}"

    def distance(self, left: Any, right: Any) -> Extended:
        """The distance that whoever defined it computes."""
        return self.read_distance(self.between(left, right), name="distance")

    def __repr__(self) -> str:
        return self.name


def domain(name: str, *, member: Callable[[Any], bool], trust: str) -> TrustedDomain:
    """Define a domain by a membership test."""
    return TrustedDomain(name, member, require_trust(f"domain {name}", trust))


def metric(
    name: str, *, distance: Callable[[Any, Any], Any], trust: str, measures: Callable[[Domain], bool] = lambda _: True
) -> TrustedMetric:
    """Define a metric by a distance function, and optionally by which domains it measures."""
    return TrustedMetric(name, distance, measures, require_trust(f"metric {name}", trust))


@constructor
def transformation(
    space: Space, *, function: Callable[[Any], Any], output: Space, stability: Callable[[Any], Any], trust: str
) -> Transformation:
    """Define a transformation by a function and the stability map that you vouch for.

    What the function returns is checked against the output domain, and whatever it raises is sealed.

    >>> import viameter as vm
    >>> rows = vm.Space(vm.vectors(int, bounds=(0, 9)), vm.SymmetricDistance())
    >>> number = vm.Space(vm.scalars(int), vm.AbsoluteDistance())
    >>> distinct = vm.transformation(
    ...     rows, function=lambda data: len(set(data.tolist())), output=number,
    ...     stability=lambda d_in: d_in, trust="a row more or less changes the number of distinct values by at most 1",
    ... )
    >>> distinct([1, 1, 7]), distinct.map(2)
    (2, Fraction(2, 1))
    """
    if not isinstance(output, Space):
        raise ParameterError(f"transformation: output={plain(output)} is not a Space")

    def checked(member: Any) -> Any:
        return output.domain.admit(function(member))

    name = f"transformation {getattr(function, '__name__', 'function')}"
    return Transformation(
        input_space=space,
        output_space=output,
        function=checked,
        bound=trusted(stability, trust=require_trust(name, trust)),
    )


@constructor
def measurement(
    space: Space, *, function: Callable[[Any], Any], measure: Measure, privacy: Callable[[Any], Any], trust: str
) -> Measurement:
    """Define a measurement by a randomized function and the privacy map that you vouch for.

    >>> import viameter as vm
    >>> rows = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    >>> constant = vm.measurement(
    ...     rows, function=lambda data: 42, measure=vm.PureDP,
    ...     privacy=lambda d_in: vm.pure(0), trust="the function does not look at the data",
    ... )
    >>> constant([1, 2, 3]), constant.map(1)
    (42, pure(0))
    """
    if not isinstance(measure, Measure):
        raise ParameterError(f"measurement: measure={plain(measure)} is not a Measure: expected e.g. PureDP")
    name = f"measurement {getattr(function, '__name__', 'function')}"
    return Measurement(
        input_space=space,
        measure=measure,
        function=function,
        bound=trusted(privacy, trust=require_trust(name, trust)),
    )
