"""What every aggregate has: fields that are written as JSON, statistics that it needs, and an estimate made of them.

An aggregate is read against the columns of a table, which gives a `Reading`: statistics to collect, and functions that
turn them, noisy, into numbers with intervals. Estimates are post-processing: they see nothing but noisy integers.
"""

from __future__ import annotations

import inspect
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from typing import Any, ClassVar

from viameter.errors import FormatError, ParameterError, plain
from viameter.tables.estimates import Estimate, Noise, count_estimate
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.expressions import Expression, Kind, Schema
from viameter.tables.expressions.nullability import never_null
from viameter.tables.formula import Formula, Operand, operand_expression
from viameter.tables.planning import Noisy
from viameter.tables.statistics import Statistic, Total, product_of, read_bounds

RANK = " rows of rank"
"""What the width of a quantile is given in beforehand."""
SIZES = (100, 1_000, 10_000)
"""Group sizes for which the width of a mean is shown beforehand."""
LARGEST = int(sys.float_info.max)

Bounds = tuple[Fraction, Fraction]
Estimating = Callable[[Sequence[Noisy], Fraction], Estimate]
Widths = Callable[[Sequence[Any], Fraction], dict[str, float]]
FixedWidth = Callable[[Sequence[Noise], Fraction], Fraction]


@dataclass(frozen=True, slots=True)
class Reading:
    """An aggregate of the columns of a table."""

    statistics: tuple[Statistic, ...]
    estimate: Estimating
    widths: Widths
    """How far a number may be from the truth, by what it depends on: nothing, or the size of a group."""
    covers: str
    """What the interval covers, in a sentence."""
    fixed_width: FixedWidth | None = None
    """The width, where public parameters determine it."""
    raw: Estimating | None = None
    """The estimate before what cannot be true was cut off, such as counts below 0."""
    q: Fraction | None = None
    """Which quantile it is: those of the same column and bounds are made to rise with it."""
    span: tuple[Fraction, Fraction] | None = None
    """The least and the greatest number it can be, whatever the rows are; None if there are no such ends."""
    made_of: tuple[Fraction, ...] = ()
    """What each statistic is multiplied with, where the number is their sum."""
    note: Callable[[Sequence[Any], Fraction], str] | None = None
    """What an answer says beside its numbers, from the noise and alpha; a sentence that follows the name."""


@dataclass(frozen=True, slots=True)
class Word:
    """A name by which an aggregate is asked for, in documents, forms and SQL."""

    name: str
    title: str
    """What it is called in a form."""
    make: Callable[..., Aggregate]
    """Makes it of a column and options by name; of options alone if it is of no column."""
    inputs: tuple[str, ...] = ("column", "bounds")
    """What a form asks for, in order: "column", "bounds", "q", ... as `make` calls them.

    "column:y" is a further column, the option `y`, and "columns:on" a list of columns, the option `on`. "bounds:y" and
    "bounds:on" are their bounds, a pair each. Where there are bounds of several columns, the option `bounds` is the
    list of all pairs, in this order: `{"covariance": "x", "y": "y", "bounds": [[0, 240], [0, 10]]}`.
    """
    example: str = "[0, 240]"

    @property
    def columns(self) -> tuple[str, ...]:
        """The options that are columns, or lists of them, beside the first one."""
        return tuple(one.partition(":")[2] for one in self.inputs if one.startswith(("column:", "columns:")))


@dataclass(frozen=True, slots=True)
class Aggregate(ABC):
    """What is asked of each group: frozen data. Its fields are what its constructor takes, the column first."""

    word: ClassVar[str]
    """By which name it is written down."""

    @abstractmethod
    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """This aggregate of the columns of a table, where noise is of a kind."""

    def parts(self, name: str) -> dict[str, Aggregate]:
        """The numbers that it has in an answer, by name: one, unless it says otherwise."""
        return {name: self}

    @property
    def reads(self) -> frozenset[str]:
        """The words in it that may name columns."""
        found: set[str] = set()
        for one in fields(self):
            value = getattr(self, one.name)
            for part in value if isinstance(value, tuple) else (value,):
                found |= {part} if isinstance(part, str) else part.words if isinstance(part, Formula) else set()
        return frozenset(found)

    def to_json(self) -> dict[str, Any]:
        """It as a document: `{"mean": "wait", "bounds": [0, 240]}`; fields that have their default are left out."""
        given = {
            one.name: _written(getattr(self, one.name))
            for one in fields(self)
            if one.init and (one.default is MISSING or getattr(self, one.name) != one.default)
        }
        first = next((one.name for one in fields(self)), None)
        return {self.word: True if first is None else given.pop(first), **given}

    def __str__(self) -> str:
        return f"{self.word}({', '.join(_shown_fields(self))})"


def from_json(entry: Any, words: Mapping[str, Word], where: str) -> Aggregate:
    """The aggregate of a document, in one of these words; FormatError or ParameterError for what is none."""
    given = dict(entry) if isinstance(entry, Mapping) else {}
    word = next((words[name] for name in given if name in words), None)
    if word is None:
        known = ", ".join(words)
        raise FormatError(f'{where}: expected one of {known}, as in {{mean = "delay", bounds = [0, 240]}}')
    of = given.pop(word.name)
    takes_column = "column" in inspect.signature(word.make).parameters
    if takes_column and not isinstance(of, str | Mapping):
        raise FormatError(f'{where}: expected the name of a column, as in {{mean = "delay", bounds = [0, 240]}}')
    if not takes_column and of is not True:
        raise FormatError(f"{where}: {word.name} is of no column: expected {{{word.name} = true}}")
    options = {
        name: _read_column(value, f"{where}: {name}") if name in word.columns else _read(word, name, value, where)
        for name, value in given.items()
    }
    arguments = ((of if isinstance(of, str) else Formula.of(of)),) if takes_column else ()
    _require_options(word, arguments, options, where)
    return word.make(*arguments, **options)


def _require_options(word: Word, arguments: tuple[Any, ...], options: Mapping[str, Any], where: str) -> None:
    parameters = inspect.signature(word.make).parameters
    for name in options:
        if name not in parameters:
            raise FormatError(f"{where}: there is no option {name!r}")
    for name in list(parameters)[len(arguments) :]:
        if name not in options and parameters[name].default is inspect.Parameter.empty:
            hints = {"q": "which quantile? Give q = 0.9", "bounds": "bounds: expected two values, as in [0, 240]"}
            raise FormatError(f"{where}: {hints.get(name, f'{name} is missing')}")


def _read_column(value: Any, where: str) -> Any:
    """A column or an expression as documents have it, or a list of such."""
    if isinstance(value, list):
        return [_read_column(one, where) for one in value]
    if not isinstance(value, str | Mapping):
        raise FormatError(f"{where}: expected the name of a column, or an expression")
    return value if isinstance(value, str) else Formula.of(value)


def _read(word: Word, name: str, value: Any, where: str) -> Any:
    """An option as a constructor takes it: bounds are pairs of numbers, of several columns a list or by name."""
    if name != "bounds":
        return value
    several = sum(one.startswith("bounds") for one in word.inputs) > 1
    if several and isinstance(value, Mapping):
        return {column: _read_pair(pair, f"{where}: {name}") for column, pair in value.items()}
    if several and isinstance(value, list):
        return [_read_pair(pair, f"{where}: {name}") for pair in value]
    return _read_pair(value, f"{where}: {name}")


def _read_pair(value: Any, where: str) -> Any:
    if not isinstance(value, list) or len(value) != 2:
        raise FormatError(f"{where}: expected two values, as in [0, 240]")
    ends = [end for one in value for end in (one if isinstance(one, list) else [one])]
    if any(isinstance(bound, int) and abs(bound) > LARGEST for bound in ends):
        raise FormatError(f"{where}: expected numbers that a float can hold")
    return tuple(tuple(one) if isinstance(one, list) else one for one in value)


def _written(value: Any) -> Any:
    if isinstance(value, Formula):
        return value.to_json()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple):
        whole = (one.numerator if isinstance(one, Fraction) and one.denominator == 1 else one for one in value)
        return [_written(one) for one in whole]
    return value


def _shown_fields(aggregate: Aggregate) -> Iterator[str]:
    for place, one in enumerate(fields(aggregate)):
        value = getattr(aggregate, one.name)
        if one.init and (one.default is MISSING or value != one.default):
            yield shown_value(value) if place == 0 else f"{one.name}={shown_value(value)}"


def shown_value(value: Any) -> str:
    """A field as people read it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(shown_value, value))})"
    return f"{float(value):g}" if isinstance(value, Fraction) else str(value)


def number(schema: Schema, column: Operand, what: str) -> Expression:
    """The column or expression that is asked about, which must be numeric."""
    value = operand_expression(column, schema)
    if value.type.kind is Kind.BOOLEAN:
        return value.cast(Kind.INTEGER)  # the mean of what is true or false is how often it is true
    if value.type.kind not in (Kind.INTEGER, Kind.REAL):
        raise ParameterError(f"{what} of {value!r}: it is {value.type.kind.value}, and no number")
    return value


def bounds_by_column(bounds: Any, columns: Sequence[Operand], what: str) -> tuple[Bounds, ...]:
    """The bounds of several columns: a pair for each, in order, or by the names of columns.

    >>> bounds_by_column({"y": (0, 2), "x": (0, 1)}, ["x", "y"], "covariance")[1]
    (Fraction(0, 1), Fraction(2, 1))
    """
    example = "bounds=((0, 240), (0, 10))"
    if isinstance(bounds, Mapping):
        unknown = [name for name in bounds if name not in columns]
        missing = [name for name in columns if not isinstance(name, str) or name not in bounds]
        if unknown or missing:
            said = (
                f"{plain(unknown[0])} is not among {', '.join(map(str, columns))}"
                if unknown
                else f"{missing[0]} is missing"
            )
            raise ParameterError(f"{what}: bounds={plain(bounds)}: {said}; expected a pair for each, as in {example}")
        bounds = [bounds[name] for name in columns if isinstance(name, str)]
    # Bounds that were found are a pair, too.
    if not isinstance(bounds, tuple | list) or len(bounds) != len(columns):
        raise ParameterError(f"{what}: bounds={plain(bounds)}: expected a pair for each column, as in {example}")
    if not all(isinstance(one, tuple | list) or hasattr(one, "bounds") for one in bounds):
        raise ParameterError(f"{what}: bounds={plain(bounds)}: expected a pair for each column, as in {example}")
    return tuple(read_bounds(one, f"{what} of {column}") for one, column in zip(bounds, columns, strict=True))


def moment(factors: Sequence[Total], over: Sequence[Expression], schema: Schema) -> Total:
    """The sum of products over the rows that have all of some values: rows that cannot be without one are not asked."""
    return product_of([*factors, *(Total(one) for one in over if not never_null(one, schema.required))])


def rows_with(value: Expression, schema: Schema) -> Total:
    """How many rows have this value: all of them, if no row can be without it."""
    return Total() if never_null(value, schema.required) else Total(value)


def counting(statistic: Statistic) -> Reading:
    """A number that is one statistic, of which nothing is below 0."""

    def width(noises: Sequence[Noise], alpha: Fraction) -> Fraction:
        return noises[0].width(alpha)

    return Reading(
        (statistic,),
        lambda noisy, alpha: count_estimate(noisy[0].values, noisy[0].noise, alpha),
        lambda noises, alpha: {"": float(width(noises, alpha))},
        "noise",
        width,
        raw=lambda noisy, alpha: count_estimate(noisy[0].values, noisy[0].noise, alpha, raw=True),
    )


def widths_by_size(estimate: Estimating, exact_numbers: Callable[[int], list[int]]) -> Widths:
    """Half the width of the interval where the noise happens to be 0, for groups of several sizes."""

    def widths(noises: Sequence[Noise], alpha: Fraction) -> dict[str, float]:
        import numpy as np

        found = {}
        for size in SIZES:
            values = [np.array([value], dtype=np.int64) for value in exact_numbers(size)]
            made = estimate([Noisy(value, noise) for value, noise in zip(values, noises, strict=True)], alpha)
            found[f" at {size:,} rows"] = float(made.upper[0] - made.lower[0]) / 2
        return found

    return widths


def shown_bounds(bounds: Bounds) -> str:
    """Bounds as people read them."""
    return f"[{float(bounds[0]):g}, {float(bounds[1]):g}]"
