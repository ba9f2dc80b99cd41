"""Statistics: what an engine adds up for a question, always integers; and their values as fixed-point numbers.

Values are clipped, and rounded to multiples of a public step, *before* they are added up, so that sums are exact and do
not depend on the order of rows. A statistic is public: it says what each row gives, never what rows there are.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from viameter.arith import Number, exact
from viameter.errors import NumberError, ParameterError, plain
from viameter.tables.bounding import Limits
from viameter.tables.expressions import Expression, Kind, evaluate, to_ibis

FINEST = 2**24
"""How many steps half of the range of a real column is cut into: noise is far larger than a step."""
FINEST_OF_SQUARES = 2**16
"""The same where squares are added up, which must stay far below 2^52 with all that is multiplied to them."""

LARGEST_PRODUCT = 2**52
"""What a row gives at most, so that no engine's product leaves 64 bits."""

LARGEST_BOUND = 2**52
EXPECTED_BOUNDS = "bounds are within 2^52 of 0, and 2^-40 apart or more; rescale the column first"


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """How a number becomes an integer: clipped to bounds, its distance from the center in whole steps."""

    lower: Fraction
    upper: Fraction
    center: Fraction
    step: Fraction
    row_error: Fraction
    """How far a number within bounds is from its fixed point at most."""

    @classmethod
    def of(cls, bounds: tuple[Fraction, Fraction], kind: Kind, *, centered: bool, finest: int = FINEST) -> FixedPoint:
        """The fixed point for bounds: whole numbers where a column of integers allows it, else a power of two."""
        lower, upper = bounds
        # Engines compute with floats: the center is one, and so is every number of steps from it.
        center = Fraction(float((lower + upper) / 2)) if centered else Fraction(0)
        reach = max(abs(upper - center), abs(lower - center))
        whole = kind is Kind.INTEGER and all(x.denominator == 1 for x in (lower, upper))
        if whole and reach <= finest:
            return cls(lower, upper, center, Fraction(1, center.denominator), Fraction(0))
        step = Fraction(2) ** math.floor(math.log2(reach / finest))
        while reach / step > finest:
            step *= 2
        # Half a step, and what the subtraction and the product of floats are off by.
        floats = 4 * Fraction(math.ulp(float(max(abs(lower), abs(upper), abs(center)))))
        return cls(lower, upper, center, step, step / 2 + floats)

    @property
    def least(self) -> int:
        """The least integer that comes of a row."""
        return math.floor((self.lower - self.center) / self.step)

    @property
    def greatest(self) -> int:
        """The greatest integer that comes of a row."""
        return math.ceil((self.upper - self.center) / self.step)

    def to_ibis(self, value: Any) -> Any:
        """The integer on an engine, for a value that is not NULL."""
        import ibis

        real = value.cast("float64")
        clipped = ibis.least(ibis.greatest(real, ibis.literal(float(self.lower))), ibis.literal(float(self.upper)))
        steps = (clipped - float(self.center)) * float(1 / self.step)
        whole = (steps + 0.5).floor().cast("int64")
        # What bounds sensitivity is this: whatever floats did before, the integer is within its ends.
        return ibis.least(ibis.greatest(whole, ibis.literal(self.least, "int64")), ibis.literal(self.greatest, "int64"))

    def evaluate(self, value: float) -> int:
        """The integer as Python computes it."""
        clipped = min(max(float(value), float(self.lower)), float(self.upper))
        steps = (clipped - float(self.center)) * float(1 / self.step)
        return min(max(math.floor(steps + 0.5), self.least), self.greatest)


class _Same(ABC):
    """Equality by what a statistic is: expressions have no equality of their own, since `==` makes a new one."""

    __slots__ = ()

    @property
    @abstractmethod
    def key(self) -> tuple[Any, ...]:
        """What two statistics agree in that are the same."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Total(_Same):
    """By group, the sum of what rows give: 1 each, or a fixed-point number, or its square, or a product of such; 0
    where a value is NULL.
    """

    value: Expression | None = None
    point: FixedPoint | None = None
    """None: each row with a value counts 1."""
    squared: bool = False
    times: Total | None = None
    """What the integer of each row is multiplied with: that of the same row here. Of rows counted 1, those that have
    both values are left.
    """

    def __post_init__(self) -> None:
        if max(map(abs, self.ends)) > LARGEST_PRODUCT:
            raise NumberError(f"{self!r}: a row may give more than 2^52; name a smaller number of columns")

    @property
    def key(self) -> tuple[Any, ...]:
        """What two statistics agree in that are the same."""
        own = ("total", None if self.value is None else self.value.key, self.point, self.squared)
        return own if self.times is None else (*own, self.times.key)

    @property
    def ends(self) -> tuple[int, int]:
        """The least and the greatest integer that a row gives, 0 among them."""
        least, greatest = self._own_ends
        if self.times is None:
            return least, greatest
        # Both are on both sides of 0, or 0: so are the products of their ends.
        products = [one * other for one in (least, greatest) for other in self.times.ends]
        return min(products), max(products)

    @property
    def _own_ends(self) -> tuple[int, int]:
        if self.point is None:
            return 0, 1
        least, greatest = min(self.point.least, 0), max(self.point.greatest, 0)
        return (0, max(least**2, greatest**2)) if self.squared else (least, greatest)

    @property
    def cells(self) -> int:
        """How many numbers there are by group."""
        return 1

    @property
    def step(self) -> Fraction:
        """What 1 stands for, in the unit of the column, or the product of the units of several."""
        own = Fraction(1) if self.point is None else self.point.step ** (2 if self.squared else 1)
        return own if self.times is None else own * self.times.step

    def limits(self, limits: Limits) -> Limits:
        """What of a unit counts."""
        return limits

    def column(self, table: Any) -> Any:
        """The integer of each row, on an engine."""
        import ibis

        if self.value is None:
            own = ibis.literal(1, "int64")
        else:
            value = to_ibis(self.value, table)
            one = ibis.literal(1, "int64") if self.point is None else self.point.to_ibis(value)
            own = ibis.ifelse(value.isnull(), ibis.literal(0, "int64"), one * one if self.squared else one)
        return own if self.times is None else own * self.times.column(table)

    def evaluate(self, row: dict[str, Any]) -> int:
        """The integer of one row, as Python computes it."""
        own = self._evaluate(row)
        return own if self.times is None else own * self.times.evaluate(row)

    def _evaluate(self, row: dict[str, Any]) -> int:
        value = None if self.value is None else evaluate(self.value, row)
        if self.value is None or value is None:
            return 1 if self.value is None else 0
        number = 1 if self.point is None else self.point.evaluate(value)
        return number**2 if self.squared else number

    def __repr__(self) -> str:
        factors: list[Total] = [self]
        while factors[-1].times is not None:
            factors.append(factors[-1].times)
        numbers = [f"{one.value!r}{' squared' if one.squared else ''}" for one in factors if one.point is not None]
        given = " and ".join(repr(one.value) for one in factors if one.point is None and one.value is not None)
        if not numbers:
            return f"rows with {given}" if given else "rows"
        return f"sum of {' times '.join(numbers)}{f' of rows with {given}' if given else ''}"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Units(_Same):
    """By group, how many units have rows in it."""

    ends = (0, 1)
    cells = 1
    step = Fraction(1)

    @property
    def key(self) -> tuple[Any, ...]:
        """What two statistics agree in that are the same."""
        return ("units",)

    def limits(self, limits: Limits) -> Limits:
        """A unit counts once in a group."""
        return limits.tightened(Limits(per_group=1))

    def __repr__(self) -> str:
        return "units"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bins(_Same):
    """By group and bin, how many rows fall into the bin; values beyond the ends are in the outermost bins."""

    value: Expression
    edges: tuple[Fraction, ...]
    """The ends of the leaves, ascending: one more than there are leaves."""
    ways: int = 1
    """How many neighboring leaves make a bin."""

    ends = (0, 1)
    step = Fraction(1)

    @property
    def key(self) -> tuple[Any, ...]:
        """What two statistics agree in that are the same."""
        return ("bins", self.value.key, self.edges, self.ways)

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return len(self.edges) - 1

    @property
    def cells(self) -> int:
        """How many bins there are."""
        return -(-self.leaves // self.ways)

    def limits(self, limits: Limits) -> Limits:
        """What of a unit counts."""
        return limits

    @property
    def is_even(self) -> bool:
        """Whether all leaves are of one width, so that a leaf is found by a division."""
        width = self.edges[1] - self.edges[0]
        return all(right - left == width for left, right in zip(self.edges, self.edges[1:], strict=False))

    def column(self, table: Any) -> Any:
        """The leaf of each row on an engine; NULL where there is no value."""
        import ibis

        value = to_ibis(self.value, table)
        real = value.cast("float64")
        first, last = float(self.edges[0]), float(self.edges[-1])
        if self.is_even:
            clipped = ibis.least(ibis.greatest(real, ibis.literal(first)), ibis.literal(last))
            steps = ((clipped - first) * float(self.leaves / (self.edges[-1] - self.edges[0]))).floor().cast("int64")
            leaf = ibis.least(ibis.greatest(steps, ibis.literal(0, "int64")), ibis.literal(self.leaves - 1, "int64"))
        else:
            pairs = [(real < float(edge), ibis.literal(leaf, "int64")) for leaf, edge in enumerate(self.edges[1:-1])]
            last_leaf = ibis.literal(self.leaves - 1, "int64")
            leaf = ibis.cases(*pairs, else_=last_leaf) if pairs else last_leaf
        return ibis.ifelse(value.isnull(), ibis.null("int64"), leaf)

    def evaluate(self, row: dict[str, Any]) -> int | None:
        """The leaf of one row, as Python computes it."""
        value = evaluate(self.value, row)
        if value is None:
            return None
        first, last = float(self.edges[0]), float(self.edges[-1])
        if self.is_even:
            clipped = min(max(float(value), first), last)
            steps = math.floor((clipped - first) * float(self.leaves / (self.edges[-1] - self.edges[0])))
            return min(max(steps, 0), self.leaves - 1)
        return next((leaf for leaf, edge in enumerate(self.edges[1:-1]) if float(value) < float(edge)), self.leaves - 1)

    def __repr__(self) -> str:
        return f"rows by {self.cells} bins of {self.value!r}"


Statistic = Total | Units | Bins


def product_of(factors: Sequence[Total]) -> Total:
    """The sum of the products of what rows give, the same in whatever order factors are named.

    A factor that is named twice is squared, and rows that are counted for a value are not counted for it twice.

    >>> from viameter.tables.expressions import Column, Type
    >>> x, y = (Column(name, Type(Kind.INTEGER)) for name in "xy")
    >>> product_of([Total(y), Total(x)]), product_of([Total(x), Total(y), Total(x)]) == product_of([Total(y), Total(x)])
    (rows with x and y, True)
    """
    kept: list[Total] = []
    for one in factors:
        if one.times is not None or one.squared:
            raise ParameterError(f"{one!r} is a product itself: expected its factors")
        if one in kept and one.point is not None:
            kept[kept.index(one)] = replace(one, squared=True)
        elif one not in kept and one.value is not None:
            kept.append(one)
    numbers = {one.value.key for one in kept if one.value is not None and one.point is not None}
    kept = [one for one in kept if one.point is not None or (one.value is not None and one.value.key not in numbers)]
    made: Total | None = None
    for one in sorted(kept, key=lambda one: repr(one.key), reverse=True):
        made = replace(one, times=made)
    return Total() if made is None else made


def read_bounds(bounds: Any, name: str) -> tuple[Fraction, Fraction]:
    """Bounds as people write them: two numbers, the lower one first; or what found them."""
    bounds = getattr(bounds, "bounds", bounds)
    if not isinstance(bounds, tuple | list) or len(bounds) != 2:
        raise ParameterError(f"{name}: bounds={plain(bounds)} are not two numbers, such as bounds=(0, 240)")
    lower, upper = (_read_bound(value, name) for value in bounds)
    if lower >= upper:
        raise NumberError(f"{name}: bounds=({bounds[0]!s}, {bounds[1]!s}) are not in order: expected lower < upper")
    if upper - lower < Fraction(1, 2**40):
        raise NumberError(f"{name}: {EXPECTED_BOUNDS}")
    return lower, upper


def _read_bound(value: Number | float, name: str) -> Fraction:
    if isinstance(value, float) and not math.isfinite(value):
        raise NumberError(f"{name}: bounds={value} is not finite: expected two numbers")
    # A bound says where values are clipped, and is no loss: floats are what they are.
    bound = Fraction(value) if isinstance(value, float) else exact(value, name=f"{name}: bounds")
    if abs(bound) > LARGEST_BOUND:
        raise NumberError(f"{name}: {EXPECTED_BOUNDS}")
    return Fraction(float(bound))
