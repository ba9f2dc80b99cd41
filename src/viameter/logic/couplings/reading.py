"""What callers hand over: distributions, joint distributions and relations.

Values are shown in errors: distributions of couplings are written down by people, or come from a mechanism's
description, and are public.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np

from viameter.arith import ZERO, Number, nonnegative, show
from viameter.errors import ParameterError

Pair: TypeAlias = tuple[Any, Any]
Distribution: TypeAlias = Mapping[Any, Fraction]
Joint: TypeAlias = Mapping[Pair, Fraction]
Relation: TypeAlias = Callable[[Any, Any], bool] | AbstractSet[Pair]

_MOST_LISTED = 6


class _Star(Enum):
    STAR = "*"

    def __repr__(self) -> str:
        return "*"

    __str__ = __repr__


STAR: Final = _Star.STAR
"""The partner of values without partner in a star-lifting; it is no value of a distribution."""


def read_distribution(given: Mapping[Any, Number], *, name: str) -> Distribution:
    """A distribution {value: probability}: exact, not empty, of sum 1. Values of probability 0 are kept."""
    if not isinstance(given, Mapping):
        raise ParameterError(f"{name} is of type {type(given).__name__}: expected a mapping {{value: probability}}")
    if not given:
        raise ParameterError(f"{name} has no values: expected a mapping {{value: probability}} of sum 1")
    if STAR in given:
        raise ParameterError(f"{name} has the star as a value: expected other values, the star stands for no partner")
    read = {value: nonnegative(p, name=f"{name}[{value!r}]") for value, p in given.items()}
    total = sum(read.values(), ZERO)
    if total != 1:
        raise ParameterError(
            f"the probabilities of {name} sum to {show(total)}: expected exactly 1; if what is missing is the "
            "probability of giving no value, give it to a value of its own, such as None"
        )
    return MappingProxyType(read)


def read_joint(given: Mapping[Pair, Number], *, name: str) -> Joint:
    """A witness {(a, b): probability}, exact; pairs of probability 0 are left out. Its sum is not looked at here."""
    if not isinstance(given, Mapping):
        raise ParameterError(f"{name} is of type {type(given).__name__}: expected a mapping {{(a, b): probability}}")
    for pair in given:
        _check_pair(pair, f"a key of {name}")
    read = {pair: nonnegative(p, name=f"{name}[{pair!r}]") for pair, p in given.items()}
    return MappingProxyType({pair: p for pair, p in read.items() if p})


def read_relation(relation: Relation, mu1: Distribution, mu2: Distribution) -> Callable[[Any, Any], bool]:
    """The relation as a function of values of A and B that gives True or False, and nothing else."""
    if isinstance(relation, AbstractSet):
        for pair in relation:
            _check_pair(pair, "a member of the relation")
            for end, mu, name in zip(pair, (mu1, mu2), ("mu1", "mu2"), strict=True):
                if end not in mu:
                    raise ParameterError(
                        f"the relation has the pair {pair!r}, but {end!r} is not a value of {name}: "
                        f"give it probability 0 in {name} if it is meant, else leave the pair out"
                    )
        pairs = frozenset(relation)
        return lambda a, b: (a, b) in pairs
    if not callable(relation):
        raise ParameterError(
            f"the relation is of type {type(relation).__name__}: expected a function (a, b) -> bool or a set of pairs"
        )

    def holds(a: Any, b: Any) -> bool:
        told = relation(a, b)
        # A formula, or any other object, would be taken for true.
        if not isinstance(told, bool | np.bool_):
            raise ParameterError(
                f"the relation gives a value of type {type(told).__name__} for {(a, b)!r}: expected True or False"
            )
        return bool(told)

    return holds


def related_pairs(relation: Relation, mu1: Distribution, mu2: Distribution) -> frozenset[Pair]:
    """The pairs of A x B that are in the relation."""
    holds = read_relation(relation, mu1, mu2)
    if isinstance(relation, AbstractSet):
        return frozenset(relation)
    return frozenset((a, b) for a in mu1 for b in mu2 if holds(a, b))


def listed(texts: Iterable[str]) -> str:
    """Texts as a list in a sentence, the first few of them.

    >>> listed("abc"), listed(map(str, range(10)))
    ('a, b, c', '0, 1, 2, 3, 4, 5 and 4 more')
    """
    told = list(texts)
    more = f" and {len(told) - _MOST_LISTED} more" if len(told) > _MOST_LISTED else ""
    return ", ".join(told[:_MOST_LISTED]) + more


def _check_pair(pair: object, what: str) -> None:
    if not isinstance(pair, tuple) or len(pair) != 2:
        raise ParameterError(f"{what} is {pair!r}: expected a pair (a, b)")
