"""Laws to samplers: what draws from a law of the core language once its scale is known.

A scale is known before any private data are: its factors are terms over public inputs and lengths of lists.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from numbers import Integral
from typing import Any

import numpy as np

from viameter.arith import as_given
from viameter.errors import NumberError, ParameterError
from viameter.logic.lang.core import Call, Choose, Exponential, Flip, Gaussian, Laplace, Law, Sample, Uniform
from viameter.logic.lang.scales import Monomial, logarithm_of
from viameter.logic.lang.terms import show
from viameter.logic.lang.text import show_law
from viameter.logic.running.ratios import Ratio
from viameter.logic.running.values import Value, evaluate
from viameter.sampling.bernoulli import bernoulli, uniform_below
from viameter.sampling.entropy import Entropy
from viameter.sampling.noise import gaussian_engine, laplace_engine, read_scale
from viameter.sampling.selection import exponential

Draw = Callable[..., Any]
"""What a sampling statement calls: with the value that its law reads, if there is one, and the entropy."""


def scale_of(law: Law) -> Monomial | None:
    """The scale of a law, or None if it has none."""
    match law:
        case Laplace(scale=scale) | Exponential(scale=scale) | Choose(scale=scale) | Gaussian(sigma=scale):
            return scale
    return None


def sampler(
    statement: Sample, *, budgets: Mapping[str, Fraction], values: Mapping[str, Value], mechanisms: Mapping[str, Any]
) -> Draw:
    """What draws for a sampling statement; a scale that cannot be drawn from is refused by name."""
    law = statement.law
    scale = scale_of(law)
    try:
        match law:
            case Flip(probability):
                return _flip(probability)
            case Uniform():
                return _uniform
            case Call(name):
                return _caller(name, mechanisms)
            case _:
                assert scale is not None  # the others have one
                return _scaled(law, _amount(scale, values), scale.base, budgets)
    except NumberError as problem:
        depends = [] if scale is None else sorted({*map(show, scale.factors), *({scale.base} & budgets.keys())})
        given = f"; it depends on {', '.join(depends)}" if depends else ""
        where = f"line {statement.at} ({statement.target} :=$ {show_law(law)})"
        raise ParameterError(f"{where} cannot be drawn: {problem}{given}") from None


def _amount(scale: Monomial, values: Mapping[str, Value]) -> Fraction:
    """coefficient * factors, each of which must be positive."""
    amount = scale.coefficient
    for factor in scale.factors:
        number = evaluate(factor, values)
        if number < 1:
            raise NumberError(f"{show(factor)} is {as_given(number)}: expected a number >= 1")
        amount *= number
    return amount


def _scaled(law: Law, amount: Fraction, base: str, budgets: Mapping[str, Fraction]) -> Draw:
    logarithm = logarithm_of(base)
    if logarithm is not None:
        return _over_logarithm(law, Ratio.of(amount, logarithm))
    scale = amount if base == "1" else amount / budgets[base]
    if isinstance(law, Choose):
        if scale <= 0:
            raise NumberError(f"scale={as_given(scale)} is not above 0: a choice needs a positive scale")
        return _chooser(scale)
    read_scale(scale)
    if isinstance(law, Gaussian):
        return gaussian_engine(scale).draw
    draw = laplace_engine(scale).draw
    return draw if isinstance(law, Laplace) else _folded(draw)


def _over_logarithm(law: Law, ratio: Ratio) -> Draw:
    match law:
        case Laplace():
            return ratio.laplace
        case Exponential():
            return ratio.geometric
        case Choose():
            return ratio.choose
    raise NumberError("Gaussian noise has a rational scale, not one over a logarithm")


def _folded(draw: Callable[[Entropy], int]) -> Draw:
    """Geometric noise: discrete Laplace noise is G or -(G + 1), and which of the two does not depend on G."""

    def geometric(entropy: Entropy) -> int:
        drawn = draw(entropy)
        return drawn if drawn >= 0 else ~drawn

    return geometric


def _chooser(scale: Fraction) -> Draw:
    def choose(scores: list[int], entropy: Entropy) -> int:
        return exponential(np.array(scores, dtype=np.int64), scale, entropy=entropy) if scores else 0

    return choose


def _flip(probability: Fraction) -> Draw:
    if not 0 <= probability <= 1:
        raise NumberError(f"probability={probability} is not between 0 and 1")
    return lambda entropy: bernoulli(probability, entropy.stream(8))


def _uniform(low: int, high: int, entropy: Entropy) -> int:
    """One of low..high; `low` if there is none, which proofs exclude."""
    if high <= low:
        return low
    return low + uniform_below(high - low + 1, entropy.stream(8))


def _caller(name: str, mechanisms: Mapping[str, Any]) -> Draw:
    """What calls a mechanism, which draws from its own source; it must release one integer."""
    mechanism = mechanisms.get(name)
    if not callable(mechanism):
        known = ", ".join(sorted(mechanisms)) or "none"
        raise ParameterError(f"the program calls {name!r}, which is no mechanism that it was given; known: {known}")

    def call(argument: Any, _: Entropy) -> int:
        released = mechanism(argument)
        if isinstance(released, bool) or not isinstance(released, Integral):
            raise ParameterError(f"the mechanism {name!r} released a {type(released).__name__}: expected an integer")
        return int(released)

    return call
