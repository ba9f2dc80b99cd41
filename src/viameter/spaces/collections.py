"""Domains of many values: vectors, tables, finite sets."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from viameter.arith import Number
from viameter.core import Domain, NotAMember
from viameter.errors import ParameterError, plain
from viameter.spaces.elements import Array, ScalarDomain, read_list, scalars


@dataclass(frozen=True, repr=False, slots=True)
class VectorDomain(Domain):
    """Vectors of scalars, of a fixed size if one is given. Members are read-only one-dimensional NumPy arrays."""

    element: ScalarDomain
    size: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.element, ScalarDomain):
            raise ParameterError(f"element={self.element!r} is not a domain of scalars: expected e.g. scalars(int)")
        _check_size(self.size)

    def _canonical(self, value: Any) -> Array:
        return _canonical_column(self.element, value, self.size)

    def __repr__(self) -> str:
        size = () if self.size is None else (f"size={self.size}",)
        inside = self.element._described() if repr(self.element).startswith("scalars(") else (repr(self.element),)
        return f"vectors({', '.join((*inside, *size))})"


@dataclass(frozen=True, repr=False, slots=True)
class TableDomain(Domain):
    """Tables with named columns of scalars, of a fixed number of rows if one is given.

    Members are dicts from names to read-only NumPy arrays of one length.
    """

    columns: tuple[tuple[str, ScalarDomain], ...]
    size: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        names = [name for name, _ in self.columns]
        if not names or len(set(names)) != len(names) or not all(isinstance(name, str) for name in names):
            raise ParameterError(f"columns={names!r}: expected one or more different names")
        for name, domain in self.columns:
            if not isinstance(domain, ScalarDomain):
                raise ParameterError(f"column {name!r} has {plain(domain)}: expected a domain of scalars")
        _check_size(self.size)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name, _ in self.columns)

    def column(self, name: str) -> ScalarDomain:
        """The domain of a column."""
        for known, domain in self.columns:
            if known == name:
                return domain
        raise ParameterError(f"column={name!r} does not exist: the columns are {', '.join(map(repr, self.names))}")

    def _canonical(self, value: Any) -> dict[str, Array]:
        if not isinstance(value, Mapping):
            raise NotAMember(f"it is of type {type(value).__name__}, not a dict from column names to columns")
        if set(value) != set(self.names):
            missing, extra = sorted(set(self.names) - set(value)), sorted(map(str, set(value) - set(self.names)))
            raise NotAMember(f"its columns are other ones: missing are {missing}, and too many are {extra}")
        table = {}
        for name, domain in self.columns:
            try:
                table[name] = _canonical_column(domain, value[name], self.size)
            except NotAMember as reason:
                raise NotAMember(f"column {name!r}: {reason}") from None
        if len({len(column) for column in table.values()}) > 1:
            raise NotAMember("its columns are of different lengths")
        return table

    def __repr__(self) -> str:
        size = "" if self.size is None else f", size={self.size}"
        return f"tables({{{', '.join(f'{name!r}: {domain!r}' for name, domain in self.columns)}}}{size})"


@dataclass(frozen=True, repr=False, slots=True)
class FiniteDomain(Domain):
    """One of finitely many public values of any kind."""

    values: frozenset[Any]

    def _canonical(self, value: Any) -> Any:
        # The member, and not what is equal to it: True and 1.0 are equal to 1.
        for member in self.values:
            if type(member) is type(value) and to_the_bit(member) == to_the_bit(value):
                return member
        raise NotAMember("it is none of the values")

    def __repr__(self) -> str:
        return f"finite({sorted(self.values, key=repr)!r})"


def vectors(
    element: type | ScalarDomain,
    *,
    bounds: tuple[Number, Number] | None = None,
    nan: bool = False,
    size: int | None = None,
) -> VectorDomain:
    """Vectors of a kind of scalars.

    >>> vectors(int, bounds=(0, 120), size=3)
    vectors(int, bounds=(0, 120), size=3)
    >>> vectors(float).contains([0.5, float("nan")])
    False
    """
    if isinstance(element, ScalarDomain):
        if bounds is not None or nan:
            raise ParameterError(f"bounds and nan belong into the element: {element!r} has its own")
        return VectorDomain(element, size)
    return VectorDomain(scalars(element, bounds=bounds, nan=nan), size)


def tables(columns: Mapping[str, type | ScalarDomain], *, size: int | None = None) -> TableDomain:
    """Tables by schema: a domain of scalars, or just `int`, `float` or `str`, for every column.

    >>> tables({"age": scalars(int, bounds=(0, 120)), "ward": str}).contains({"age": [33, 48], "ward": ["A", "B"]})
    True
    """
    if not isinstance(columns, Mapping):
        raise ParameterError(f"tables takes a schema by name, as in tables({{'age': int}}), not {columns!r}")
    schema = {name: kind if isinstance(kind, ScalarDomain) else scalars(kind) for name, kind in columns.items()}
    return TableDomain(tuple(schema.items()), size)


def finite(values: Any) -> FiniteDomain:
    """One of finitely many public values.

    >>> finite({"yes", "no"}).contains("maybe")
    False
    """
    try:
        members = frozenset(read_list(values, "finite", ordered=False))
    except TypeError:
        raise ParameterError("finite takes values that are hashable, such as numbers, strings and tuples") from None
    if not members:
        raise ParameterError("finite([]) has no members: expected at least one value")
    return FiniteDomain(members)


def to_the_bit(member: Any) -> Any:
    """A value so that it is equal to another when the two are the same to the bit: NaN to itself, 0.0 not to -0.0."""
    if isinstance(member, tuple):
        return tuple(to_the_bit(part) for part in member)
    return ("float", struct.pack("<d", member)) if isinstance(member, float) else member


def own_copy(member: Any) -> Any:
    """A member that nobody else can change, for those who keep it."""
    if isinstance(member, dict):
        return {name: own_copy(column) for name, column in member.items()}
    if not isinstance(member, np.ndarray):
        return deepcopy(member)  # of a domain that users define it may be anything; what cannot change stays itself
    copied = member.copy()
    copied.flags.writeable = False
    return copied


def lend(member: Any) -> Any:
    """A member for somebody who is not to change it: a table in a dict of their own, since columns are read-only."""
    return dict(member) if isinstance(member, dict) else member


def row_count(member: Any) -> int:
    """How many rows a member of a vector or table domain has."""
    return len(next(iter(member.values()))) if isinstance(member, dict) else len(member)


def _check_size(size: Any) -> None:
    if size is not None and (isinstance(size, bool) or not isinstance(size, int) or size < 0):
        raise ParameterError(f"size={plain(size)} is not a size: expected a whole number >= 0, or None if not public")


def _canonical_column(element: ScalarDomain, value: Any, size: int | None) -> Array:
    column = element.canonical_array(_as_array(value, element))
    if size is not None and len(column) != size:
        raise NotAMember(f"it has {len(column)} elements, not {size}")
    column = column.view()
    column.flags.writeable = False
    return column


def _as_array(value: Any, element: ScalarDomain) -> Array:
    if isinstance(value, list | tuple):
        if not value:
            return np.empty(0, dtype=element.dtype)
        # NumPy would turn [1, "a"] into two strings, [1, 0.5] into two floats and [True, 2] into two integers.
        kinds = {type(item) for item in value}
        if len(kinds) > 1 and not kinds <= {int, float}:
            raise NotAMember("its elements are of several types")
        if kinds == {str}:
            array = np.empty(len(value), dtype=object)
            array[:] = value
            return array
        if kinds == {int, float} and element.dtype is not np.float64:
            raise NotAMember("its elements are of several types")
        if int in kinds and element.dtype is np.float64:
            whole = [item for item in value if type(item) is int]
            if max(whole) > 2**53 or min(whole) < -(2**53):
                raise NotAMember("it has integers beyond 2**53, which are not floats exactly")
    elif not hasattr(value, "__array__"):
        raise NotAMember(f"it is of type {type(value).__name__}, not a list, a tuple or an array")
    try:
        array = np.asanyarray(value)
    except Exception as problem:  # whatever a foreign __array__ or an int beyond 64 bits makes of it
        raise NotAMember(f"it does not convert to an array ({type(problem).__name__})") from None
    if isinstance(array, np.ma.MaskedArray):
        raise NotAMember("it is a masked array, whose mask would be lost: fill it first")
    array = np.asarray(array)
    if array.ndim != 1:
        raise NotAMember(f"it has {array.ndim} dimensions, not one")
    return array
