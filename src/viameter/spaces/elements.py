"""Domains of single values: integers, floats, strings, categories."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Set
from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from viameter.arith import Number, exact, floats
from viameter.core import Domain, NotAMember
from viameter.errors import ParameterError, plain

INT64 = np.iinfo(np.int64)
LEAST_INT, GREATEST_INT = int(INT64.min), int(INT64.max)
Array: TypeAlias = npt.NDArray[Any]


@dataclass(frozen=True, repr=False, slots=True)
class ScalarDomain(Domain):
    """A set of single values, which also knows arrays of them: vectors and columns of tables are made of it."""

    dtype: ClassVar[Any]
    """What a vector of such values is kept in."""

    @abstractmethod
    def _described(self) -> tuple[str, ...]:
        """What stands in the parentheses of `scalars(...)`."""

    @abstractmethod
    def canonical_array(self, values: Array) -> Array:
        """An array of members in `dtype`, or NotAMember."""

    def __repr__(self) -> str:
        return f"scalars({', '.join(self._described())})"


@dataclass(frozen=True, repr=False, slots=True)
class IntDomain(ScalarDomain):
    """Integers of 64 bits, between bounds (inclusive) if there are any. Members are Python ints."""

    bounds: tuple[int, int] | None = None
    dtype = np.int64

    def __post_init__(self) -> None:
        if self.bounds is None:
            return
        lower, upper = _pair(self.bounds)
        for bound in (lower, upper):
            if isinstance(bound, bool) or not isinstance(bound, Integral):
                raise ParameterError(f"bounds={self.bounds!r}: bounds of integers are integers, not {plain(bound)}")
            if not LEAST_INT <= int(bound) <= GREATEST_INT:
                raise ParameterError(f"bounds={self.bounds!r}: {plain(bound)} does not fit into 64 bits")
        _in_order(self.bounds, lower, upper)
        object.__setattr__(self, "bounds", (int(lower), int(upper)))

    def _canonical(self, value: Any) -> int:
        if isinstance(value, bool | np.bool_) or not isinstance(value, Integral):
            raise NotAMember(f"it is of type {type(value).__name__}, not an integer")
        number = int(value)
        lower, upper = self.bounds or (LEAST_INT, GREATEST_INT)
        if not lower <= number <= upper:
            raise NotAMember(f"{number} is outside of [{lower}, {upper}]")
        return number

    def canonical_array(self, values: Array) -> Array:
        """The values as int64."""
        if values.dtype.kind == "u" and values.size and int(values.max()) > GREATEST_INT:
            raise NotAMember("it has integers that do not fit into 64 bits")
        if values.dtype.kind not in "iu":
            raise NotAMember(f"it has elements of type {values.dtype}, not integers of 64 bits")
        values = values.astype(np.int64, copy=False)
        if self.bounds is not None and values.size:
            lower, upper = self.bounds
            if values.min() < lower or values.max() > upper:
                raise NotAMember(f"it has elements outside of [{lower}, {upper}]")
        return values

    def _described(self) -> tuple[str, ...]:
        return ("int",) if self.bounds is None else ("int", f"bounds={self.bounds!r}")


@dataclass(frozen=True, repr=False, slots=True)
class FloatDomain(ScalarDomain):
    """Floats, between bounds (inclusive) if there are any, and NaN only where it is said. Members are Python floats."""

    bounds: tuple[float, float] | None = None
    nan: bool = False
    dtype = np.float64

    def __post_init__(self) -> None:
        if self.bounds is not None:
            lower, upper = _pair(self.bounds)
            if not (isinstance(lower, float) and isinstance(upper, float) and -math.inf < lower <= upper < math.inf):
                raise ParameterError(f"bounds={self.bounds!r}: expected two finite floats in order")
            object.__setattr__(self, "bounds", (lower, upper))

    def _canonical(self, value: Any) -> float:
        if isinstance(value, bool | np.bool_) or not isinstance(value, float | np.floating | Integral):
            raise NotAMember(f"it is of type {type(value).__name__}, not a float")
        return float(self.canonical_array(np.asarray([value]))[0])

    def canonical_array(self, values: Array) -> Array:
        """The values as float64; what does not convert exactly is refused."""
        if values.dtype.kind not in "fiu" or values.dtype.itemsize > 8:
            raise NotAMember(f"it has elements of type {values.dtype}, not floats of 64 bits")
        if values.dtype.kind in "iu" and ((values > 2**53) | (values < -(2**53))).any():
            raise NotAMember("it has integers beyond 2**53, which are not floats exactly")
        with np.errstate(all="ignore"):  # a signaling NaN of 32 bits warns when it is converted
            converted = values.astype(np.float64, copy=False)
        if not self.nan and np.isnan(converted).any():
            raise NotAMember("it has NaN")
        if self.bounds is not None and converted.size:
            lower, upper = self.bounds
            if (converted < lower).any() or (converted > upper).any():
                raise NotAMember(f"it has elements outside of [{lower!r}, {upper!r}]")
        return converted

    def _described(self) -> tuple[str, ...]:
        bounds = () if self.bounds is None else (f"bounds={self.bounds!r}",)
        return ("float", *bounds, *(("nan=True",) if self.nan else ()))


@dataclass(frozen=True, repr=False, slots=True)
class StringDomain(ScalarDomain):
    """Strings."""

    dtype = np.object_

    def _canonical(self, value: Any) -> str:
        if not isinstance(value, str):
            raise NotAMember(f"it is of type {type(value).__name__}, not a string")
        return str(value)

    def canonical_array(self, values: Array) -> Array:
        """The values as an array of str objects."""
        if values.dtype.kind in "UT":
            values = values.astype(object)
        # NumPy's strings of variable length may hold None or NaN for what is missing.
        if values.dtype.kind != "O" or not all(type(value) is str for value in values):
            raise NotAMember(f"it has elements that are not strings (dtype {values.dtype})")
        return values

    def _described(self) -> tuple[str, ...]:
        return ("str",)


@dataclass(frozen=True, repr=False, slots=True)
class CategoryDomain(ScalarDomain):
    """One of a few public values, all strings or all integers."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        kinds = {type(value) for value in self.values}
        if kinds not in ({str}, {int}):
            raise ParameterError(f"categories are strings or integers, one kind and at least one, not {self.values!r}")
        if len(set(self.values)) != len(self.values):
            raise ParameterError(f"categories={self.values!r} has the same value twice")
        for value in self.values if kinds == {int} else ():
            if not LEAST_INT <= value <= GREATEST_INT:
                raise ParameterError(f"categories={self.values!r}: {value!r} does not fit into 64 bits")

    @property
    def dtype(self) -> Any:
        """What a vector of these values is kept in."""
        return self._kind().dtype

    def _kind(self) -> ScalarDomain:
        return StringDomain() if isinstance(self.values[0], str) else IntDomain()

    def _canonical(self, value: Any) -> Any:
        member = self._kind()._canonical(value)
        if member not in self.values:
            raise NotAMember(f"{member!r} is none of the categories")
        return member

    def canonical_array(self, values: Array) -> Array:
        """The values as strings or as int64."""
        members = self._kind().canonical_array(values)
        strange = set(members.tolist()) - set(self.values)
        if strange:
            raise NotAMember(f"it has {len(strange)} values that are none of the categories")
        return members

    def _described(self) -> tuple[str, ...]:
        return (repr(list(self.values)),)

    def __repr__(self) -> str:
        return f"categories({list(self.values)!r})"


def scalars(kind: type, *, bounds: tuple[Number, Number] | None = None, nan: bool = False) -> ScalarDomain:
    """The single values of a kind: `int`, `float` or `str`, with bounds and NaN-ness where they apply.

    >>> scalars(int, bounds=(0, 120))
    scalars(int, bounds=(0, 120))
    >>> scalars(float, bounds=("-0.5", 1)).contains(0.25)
    True
    """
    if nan and kind is not float:
        raise ParameterError(f"nan=True: only floats may be NaN, not {kind!r}")
    if kind is int:
        return IntDomain(bounds)  # type: ignore[arg-type]  # checked when made
    if kind is float:
        return FloatDomain(None if bounds is None else float_bounds(bounds), nan)
    if bounds is not None:
        raise ParameterError(f"bounds={bounds!r}: only integers and floats have bounds, not {kind!r}")
    if kind is str:
        return StringDomain()
    raise ParameterError(f"kind={kind!r} is not a kind of scalars: expected int, float or str (or categories([...]))")


def categories(values: Any) -> CategoryDomain:
    """One of a few public values, all strings or all integers.

    >>> categories(["A", "B"]).contains("C")
    False
    """
    return CategoryDomain(read_list(values, "categories"))


def read_list(values: Any, name: str, *, ordered: bool = True) -> tuple[Any, ...]:
    """Take a list of public values; text is not one, although Python would take it letter by letter."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise ParameterError(f"{name} takes a list of values, not {values!r}")
    if ordered and isinstance(values, Set):
        raise ParameterError(f"{name} takes a list of values, not a set, whose order is another in every run")
    return tuple(values)


def float_bounds(bounds: tuple[Number, Number]) -> tuple[float, float]:
    """The least and the greatest float between two exact numbers: the same floats lie between them."""
    lower, upper = (exact(bound, name="bound") for bound in _pair(bounds))
    _in_order(bounds, lower, upper)
    least, greatest = floats.from_fraction_up(lower), floats.from_fraction_down(upper)
    if not (math.isfinite(least) and math.isfinite(greatest) and least <= greatest):
        raise ParameterError(f"bounds={bounds!r}: no finite float lies between them")
    return least, greatest


def _pair(bounds: Any) -> tuple[Any, Any]:
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError(f"bounds={plain(bounds)} is not a pair: expected (lower, upper)")
    return bounds[0], bounds[1]


def _in_order(bounds: Any, lower: int | Fraction, upper: int | Fraction) -> None:
    if lower > upper:
        raise ParameterError(f"bounds={bounds!r}: the lower bound is above the upper one")
