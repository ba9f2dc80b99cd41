"""Question: what a person asks of a private table, as frozen data: nothing of rows, and nothing that runs.

A question has rows (a table, and steps), limits on what counts of a unit, groups, and what is asked of each group. Two
questions are equal if they are written alike. `document` writes and reads them as JSON, `plans` makes Measurements
of them; tables, files, requests, forms and SQL are ways to write one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from viameter.arith import exact
from viameter.errors import NumberError, ParameterError, plain
from viameter.tables.aggregates import Aggregate, read_aggregate
from viameter.tables.bounding import Limits
from viameter.tables.formula import Json, Operand, read_operand
from viameter.tables.statistics import read_bounds
from viameter.tables.steps import Source, read_names

Counted = Literal["rows", "units"]
Spacing = Literal["even", "logarithmic"]


@dataclass(frozen=True, slots=True)
class All:
    """All rows as one group."""

    columns: tuple[str, ...] = field(init=False, default=())
    other: bool = field(init=False, default=False)


@dataclass(frozen=True, slots=True)
class Listed:
    """Groups whose keys are public: tuples of values, or lists of them by column whose combinations are all meant."""

    columns: tuple[str, ...]
    keys: Json
    other: bool = False


@dataclass(frozen=True, slots=True)
class Edges:
    """Groups by the intervals between edges of a number: [e0, e1), [e1, e2), ...; the last has both ends."""

    column: str
    edges: Json
    other: bool = False

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that is cut."""
        return (self.column,)


@dataclass(frozen=True, slots=True)
class Found:
    """Groups whose keys nobody listed: those that occur often enough are found, for a delta. Of columns that are true
    or false, all keys are known.
    """

    columns: tuple[str, ...]
    other: bool = False


Groups = All | Listed | Edges | Found


@dataclass(frozen=True, slots=True)
class Aggregates:
    """Numbers of each group, by the names that they have in the answer."""

    named: tuple[tuple[str, Aggregate], ...]

    def __str__(self) -> str:
        return f"agg({', '.join(f'{name}={one}' for name, one in self.named)})"


@dataclass(frozen=True, slots=True)
class Top:
    """Which k of the groups have the most rows or units, in order and without numbers."""

    k: int
    by: Counted = "rows"

    def __str__(self) -> str:
        return f"top({self.k}, by={self.by!r})"


@dataclass(frozen=True, slots=True)
class HeavyHitters:
    """Which values of columns are frequent, of which nobody has a list, and how many units have them."""

    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"heavy_hitters({', '.join(self.columns)})"


@dataclass(frozen=True, slots=True)
class FindBounds:
    """Bounds between which most of a column lies, looked for within a public range: two quantiles of all rows."""

    column: Operand
    within: tuple[Fraction, Fraction]
    q: tuple[Fraction, Fraction] = (Fraction(1, 100), Fraction(99, 100))
    spacing: Spacing | None = None

    def __str__(self) -> str:
        return f"find_bounds({self.column}, within=({float(self.within[0]):g}, {float(self.within[1]):g}))"


Asked = Aggregates | Top | HeavyHitters | FindBounds


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a private table: which rows, how many of a unit, by which groups, and what of each.

    >>> from viameter.tables.aggregates import Count
    >>> from viameter.tables.formula import Formula
    >>> from viameter.tables.steps import Filter
    >>> late = Source(steps=(Filter(Formula.of("wait > 60")),))
    >>> print(Question(late, groups=Found(("ward",)), asked=Aggregates((("n", Count()),))))
    table.filter(wait > 60).group_by(ward).agg(n=count())
    """

    source: Source = field(default_factory=Source)
    limits: Limits = field(default_factory=Limits)
    groups: Groups = field(default_factory=All)
    asked: Asked = field(default_factory=lambda: Aggregates(()))

    def __str__(self) -> str:
        limits = ", ".join(f"{name}={value!r}" for name, value in self.limits.given.items())
        parts = [str(self.source), *([f"limit({limits})"] if limits else [])]
        match self.groups:
            case Listed(keys=keys):
                given = [f"keys={keys}"]
            case Edges(edges=edges):
                given = [f"edges={edges}"]
            case _:
                given = []
        if self.groups.columns:
            other = ["other=True"] if self.groups.other else []
            parts.append(f"group_by({', '.join([*self.groups.columns, *given, *other])})")
        return ".".join([*parts, str(self.asked)])


def read_groups(columns: Sequence[Any], *, keys: Any = None, other: Any = False, edges: Any = None) -> Groups:
    """Groups as `group_by` takes them."""
    names = read_names(columns, "group_by")
    if not isinstance(other, bool):
        raise ParameterError(f"group_by: other={plain(other)}: expected True or False")
    if edges is not None:
        if len(names) != 1 or keys is not None:
            raise ParameterError("group_by: edges=... cuts one column into intervals, and leaves no keys to be given")
        return Edges(names[0], Json.of(edges if isinstance(edges, str) else list(edges)), other)
    if keys is None:
        return Found(names, other)
    return Listed(names, Json.of(keys), other)


def read_aggregates(named: Mapping[str, Any], groups: Groups) -> Aggregates:
    """Aggregates by name, as `agg` takes them."""
    if not named:
        raise ParameterError("agg: name at least one aggregate, as in agg(n=vm.count())")
    made = {name: read_aggregate(name, given) for name, given in named.items()}
    parts = [part for name, one in made.items() for part in one.parts(name)]
    for part in parts:
        if part in groups.columns:
            raise ParameterError(f"agg: {part!r} is the name of a column that groups rows; choose another")
        if any(f"{part}{end}" in groups.columns for end in ("_lower", "_upper")):
            raise ParameterError(
                f"agg: an end of the interval of {part!r} is called as a column that groups rows; choose another name"
            )
        if part in [f"{other}{end}" for other in parts for end in ("_lower", "_upper")]:
            raise ParameterError(f"agg: {part!r} is what an end of another aggregate's interval is called; rename it")
        if parts.count(part) > 1:
            raise ParameterError(f"agg: {part!r} is the name of two numbers; rename one of them")
    return Aggregates(tuple(made.items()))


def read_top(k: Any, by: Any, *, keys: int | None = None) -> Top:
    """What `top` takes, of so many keys if they are known."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1 or (keys is not None and k > keys):
        most = "the number of keys" if keys is None else f"{keys}, the number of keys"
        raise ParameterError(f"top: k={plain(k)}: expected a whole number from 1 to {most}")
    if by not in ("rows", "units"):
        raise ParameterError(f"top: by={plain(by)}: expected 'rows' or 'units'")
    return Top(k, by)


def read_bounds_question(column: Any, *, within: Any, q: Any = ("1/100", "99/100"), spacing: Any = None) -> FindBounds:
    """What `find_bounds` takes: a public range within which bounds are looked for, and two quantiles."""
    if spacing not in (None, "even", "logarithmic"):
        raise ParameterError(f"spacing={plain(spacing)}: expected 'even' or 'logarithmic'")
    if not isinstance(q, tuple | list) or len(q) != 2:
        raise ParameterError(f"q={plain(q)}: expected two quantiles, such as ('1/100', '99/100')")
    # How much of the rows is no loss: 0.01 means a hundredth.
    low, high = (exact(Decimal(repr(one)) if isinstance(one, float) else one, name="q") for one in q)
    if not 0 <= low < high <= 1:
        raise NumberError(f"q=({q[0]!s}, {q[1]!s}): expected two numbers between 0 and 1, the lower one first")
    public = read_bounds(within, "find_bounds: within")
    return FindBounds(read_operand(column, "find_bounds"), public, (low, high), spacing)
