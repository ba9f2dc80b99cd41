"""What cannot change any more: measurements of which texts and costs that were found once hold for good.

A computation is frozen, but what it was made of need not be: a map that somebody vouches for may read a list that
grows, a function that is applied to releases may hold a dict. Such a one is looked at anew each time that it is
charged. Told here, on the safe side, are those that are the library's own through and through and hold plain values.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from typing import Any

from viameter.core import Rule
from viameter.core.computation import Computation
from viameter.core.recipe import Constructor

_PACKAGE = __name__.partition(".")[0]
_PLAIN = (str, int, float, bool, bytes, type(None), Fraction)


@dataclass(frozen=True, slots=True, eq=False)
class Itself:
    """An object that equals itself alone. It is held, so that no other is ever at its address."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def is_settled(value: Any) -> bool:
    """Whether nothing that its text, its costs or its certificate are made of can change.

    >>> import viameter as vm
    >>> counting = vm.Space(vm.vectors(int), vm.SymmetricDistance()) >> vm.count() >> vm.laplace(scale=2)
    >>> is_settled(counting), is_settled(counting >> vm.postprocess({0: "none"}.get))
    (True, False)
    """
    return _Looking().at(value)


class _Looking:
    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}  # held, so that no other is at an address meanwhile

    def at(self, value: Any) -> bool:
        """Whether it is settled; what was seen before, or is being looked at, is not looked at again."""
        kind = type(value)
        if kind in _PLAIN or id(value) in self._seen:
            return True
        if kind in (tuple, frozenset):
            return self._all(value)
        if kind is types.FunctionType:
            # What a closure holds may be anybody's.
            return _is_own(value) and value.__closure__ is None
        if kind is types.MethodType:
            return _is_own(value.__func__) and self.at(value.__self__)
        if isinstance(value, type | enum.Enum):
            return _is_own(value if isinstance(value, type) else kind)
        self._seen[id(value)] = value
        return _is_own(kind) and self._own(value)

    def _all(self, values: Iterable[Any]) -> bool:
        return all(map(self.at, values))

    def _own(self, value: Any) -> bool:
        """An object of a class of the library."""
        if isinstance(value, Constructor):
            return _is_own(value.function)
        if isinstance(value, Rule):
            # Its table decided what could be composed at all.
            return value.theorem is None or self.at(value.theorem)
        if isinstance(value, Computation) and not _is_own(value.function):
            return False
        if is_dataclass(value):
            frozen: bool = type(value).__dataclass_params__.frozen  # type: ignore[union-attr]
            # Of a function that is the library's, nothing is charged or written down.
            left = "function" if isinstance(value, Computation) else None
            return frozen and self._all(getattr(value, one.name) for one in fields(value) if one.name != left)
        # A mapping with a hash of its own, such as a schema, promises to stay what it is; what it holds may not.
        lasting = isinstance(value, Mapping) and "__hash__" in vars(type(value))
        return lasting and self._all(item for pair in value.items() for item in pair)


def _is_own(value: Any) -> bool:
    return (getattr(value, "__module__", None) or "").partition(".")[0] == _PACKAGE
