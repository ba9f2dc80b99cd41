"""Randomized response: tell the truth with a known probability, else one of the other answers."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from viameter.arith import INFINITY, ZERO, Extended, Number, dyadic, exact, times
from viameter.core import Measurement, Space, by, constructor
from viameter.core.deadlines import while_awaited
from viameter.errors import NoTheorem, ParameterError
from viameter.measures import PureDP, pure
from viameter.measures.amounts import PureLoss
from viameter.sampling import bernoulli, uniform_below
from viameter.spaces import Array, CategoryDomain, DiscreteDistance, HammingDistance, VectorDomain
from viameter.theorem import Numbers, theorem


@theorem("randomized-response", cites="Warner 1965; Kairouz, Oh and Viswanath 2016 (k-ary)", numbers=Numbers.OUTWARD)
def randomized_response_loss(d_in: Extended, *, probability: Fraction, answers: int) -> PureLoss:
    """Telling one of k answers truly with probability p costs |ln(p (k - 1)/(1 - p))| for each answer that changes.

    Theorem
        Let M keep an answer with probability p, and give each of the k - 1 others with probability (1 - p)/(k - 1).
        Then M is pure(|ln(p (k - 1)/(1 - p))|) for one answer, and this is attained. For a vector of answers of which
        d change, each answered on its own, it is d times that.
    Requires
        One of k >= 2 public answers; a rational p, drawn exactly. A single answer changes or not (DiscreteDistance);
        answers of a vector change in their place (HammingDistance).
    Ensures
        The loss is d_in times the logarithm, rounded up; infinite for p = 0 or 1, unless d_in = 0; 0 for p = 1/k.
    Proof
        Every outcome has probability p or (1 - p)/(k - 1), on both sides. Losses of independent answers add up.
    Example
        >>> float(randomized_response_loss(Fraction(1), probability=Fraction(3, 4), answers=2).epsilon)
        1.0986122886681098
    """
    if d_in == 0:
        return pure(0)
    # Infinitely far apart, vectors may be of different size.
    if probability in (0, 1) or d_in == INFINITY:
        return pure(INFINITY)
    odds = probability * (answers - 1) / (1 - probability)
    one = dyadic.log_up(max(odds, 1 / odds)) if odds != 1 else ZERO
    return pure(times(one, d_in))


@constructor
def randomized_response(space: Space, *, probability: Number) -> Measurement:
    """Keep a category with a known probability, else give one of the others: for one answer, or for each of a vector.

    >>> import viameter as vm
    >>> answer = vm.Space(vm.categories(["yes", "no"]), vm.DiscreteDistance())
    >>> ask = vm.randomized_response(answer, probability="3/4")
    >>> ask("yes") in ("yes", "no"), float(ask.map(1).epsilon)
    (True, 1.0986122886681098)
    """
    vector = isinstance(space.domain, VectorDomain)
    element = space.domain.element if isinstance(space.domain, VectorDomain) else space.domain
    if not isinstance(element, CategoryDomain) or len(element.values) < 2:
        raise ParameterError(
            f"randomized_response takes categories([...]) of two or more, or vectors of them, not {space.domain!r}"
        )
    if not isinstance(space.metric, HammingDistance if vector else DiscreteDistance):
        raise NoTheorem(
            "randomized_response is known for DiscreteDistance() on one answer and HammingDistance() on a vector, "
            f"not for {space.metric!r}"
        )
    chance = exact(probability, name="probability")
    if not 0 <= chance <= 1:
        raise ParameterError(f"probability={probability!s} is not between 0 and 1")
    answers = element.values

    def one(answer: Any) -> Any:
        return answer if bernoulli(probability=chance) else _another(answers, answer)

    def many(member: Array) -> Array:
        kept = bernoulli(len(member), chance)
        told = np.array(member)
        for place in while_awaited(np.flatnonzero(~kept).tolist()):
            told[place] = _another(answers, member[place])
        return told

    return Measurement(
        input_space=space,
        measure=PureDP,
        function=many if vector else one,
        bound=by(randomized_response_loss, probability=chance, answers=len(answers)),
    )


def _another(answers: tuple[Any, ...], answer: Any) -> Any:
    """One of the other answers, each with the same probability: the answers in order, without the true one."""
    place = answers.index(answer)
    other = uniform_below(len(answers) - 1)
    return answers[other + (other >= place)]
