"""Calls: what a program runs when it calls a mechanism of the library or another program by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

from viameter.core import Measurement
from viameter.errors import ParameterError, plain
from viameter.sampling.entropy import Entropy
from viameter.spaces import GREATEST_INT, LEAST_INT, IntDomain, VectorDomain


def caller(name: str, mechanisms: Mapping[str, Any]) -> Callable[[Any, Entropy], int]:
    """What calls the mechanism of a name, on one integer or one list; what it releases must be one integer.

    A measurement of the library draws from its own source of randomness. Arguments outside of the bounds of its domain
    stop there, which brings no two of them further apart.
    """
    if name not in mechanisms:
        known = ", ".join(sorted(mechanisms)) or "none"
        raise ParameterError(f"the program calls {name!r}, which is no mechanism that it was given; known: {known}")
    mechanism = mechanisms[name]
    if not callable(mechanism):
        raise ParameterError(f"the mechanism {name!r} is {plain(mechanism)}: expected a Measurement")
    fit = _fitting(mechanism) if isinstance(mechanism, Measurement) else _as_is

    def call(argument: Any, _: Entropy) -> int:
        released = mechanism(fit(argument))
        if isinstance(released, bool) or not isinstance(released, Integral):
            raise ParameterError(f"the mechanism {name!r} released a {type(released).__name__}: expected an integer")
        return int(released)

    return call


def _fitting(mechanism: Measurement) -> Callable[[Any], Any]:
    domain = mechanism.input_space.domain
    if isinstance(domain, IntDomain):
        return _stopping(domain)
    if isinstance(domain, VectorDomain) and isinstance(domain.element, IntDomain):
        stop = _stopping(domain.element)
        return lambda items: [stop(item) for item in items]
    return _as_is


def _stopping(domain: IntDomain) -> Callable[[int], int]:
    low, high = domain.bounds or (LEAST_INT, GREATEST_INT)
    return lambda number: min(max(number, low), high)


def _as_is(argument: Any) -> Any:
    return argument
