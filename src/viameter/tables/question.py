"""Question: what a person asks of a private table, as frozen data: nothing of rows, and nothing that runs.

A question has rows (a table, and steps), limits on what counts of a unit, groups, and what is asked of each group. Two
questions are equal if they are written alike. `document` writes and reads them as JSON, `plans` makes Measurements
of them; tables, files, requests, forms and SQL are ways to write one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from viameter.arith import Number, exact
from viameter.errors import NumberError, ParameterError, plain
from viameter.tables.aggregates import Aggregate, read_aggregate
from viameter.tables.bounding import Limits
from viameter.tables.formula import Formula, Json, Operand
from viameter.tables.public_tables import PublicTable

Counted = Literal["rows", "units"]
Spacing = Literal["even", "logarithmic"]


@dataclass(frozen=True, slots=True)
class Filter:
    """Keeps the rows for which a predicate is true."""

    predicate: Formula

    def __str__(self) -> str:
        return f"filter({self.predicate})"


@dataclass(frozen=True, slots=True)
class Derive:
    """Adds a column for each formula, or puts it in the place of the one of that name; all are of the rows before."""

    columns: tuple[tuple[str, Formula], ...]

    def __str__(self) -> str:
        return f"derive({', '.join(f'{name}={made}' for name, made in self.columns)})"


@dataclass(frozen=True, slots=True)
class Select:
    """Keeps these columns alone."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return f"select({', '.join(self.names)})"


@dataclass(frozen=True, slots=True)
class Join:
    """Joins rows with public ones, or with another private table on the unit, where columns agree."""

    other: PublicTable | Source
    on: tuple[str, ...] = ()

    def __str__(self) -> str:
        on = f", on=[{', '.join(self.on)}]" if self.on else ""
        return f"join({self.other}{on})"


@dataclass(frozen=True, slots=True)
class Sample:
    """Keeps about this fraction of units, with all of their rows: which ones, a secret of the backend says."""

    fraction: str
    """As it was written."""

    def __str__(self) -> str:
        return f"sample({self.fraction})"


Step = Filter | Derive | Select | Join | Sample


@dataclass(frozen=True, slots=True)
class Source:
    """Rows of a table, after steps."""

    table: str = ""
    """By name; empty where there is but one."""
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return ".".join([self.table or "table", *map(str, self.steps)])


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


def read_names(names: Sequence[Any], where: str, *, least: int = 1) -> tuple[str, ...]:
    """Names of columns; ParameterError for what is none."""
    if len(names) < least:
        raise ParameterError(f"{where}: name at least one column")
    for name in names:
        if not isinstance(name, str):
            raise ParameterError(f"{where}: {plain(name)} is not the name of a column")
    return tuple(names)


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
        if part in [f"{other}{end}" for other in parts for end in ("_lower", "_upper")]:
            raise ParameterError(f"agg: {part!r} is what an end of another aggregate's interval is called; rename it")
        if parts.count(part) > 1:
            raise ParameterError(f"agg: {part!r} is the name of two numbers; rename one of them")
    return Aggregates(tuple(made.items()))


def read_top(k: Any, by: Any) -> Top:
    """What `top` takes."""
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise ParameterError(f"top: k={plain(k)}: expected a whole number from 1 to the number of keys")
    if by not in ("rows", "units"):
        raise ParameterError(f"top: by={plain(by)}: expected 'rows' or 'units'")
    return Top(k, by)


def read_sample(fraction: Number) -> Sample:
    """What `sample` takes."""
    if not 0 < exact(fraction, name="fraction") <= 1:
        raise NumberError(f"fraction={fraction!s} is not between 0 and 1")
    return Sample(str(fraction))
