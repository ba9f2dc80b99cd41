"""Domains and metrics, read from the text that certificates give them: just enough to tell where a theorem applies."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from viameter_check.report import Refused
from viameter_check.units import QUOTED, Units, is_table, read_units, tables_of, unquoted

ADDING = ("SymmetricDistance()", "InsertDeleteDistance()")
REPLACING = ("ChangeOneDistance()", "HammingDistance()")
ROWS = (*ADDING, *REPLACING)
"""Metrics that count rows."""
NORMS = ("L1Distance()", "L2Distance()", "LInfDistance()")
NUMBER = "AbsoluteDistance()"
DISCRETE = "DiscreteDistance()"
MONOTONE = "MonotoneDistance()"
"""The largest difference of vectors, one of which is nowhere above the other."""
_OF_PROGRAMS = re.compile(
    r"InputDistance\((?P<inner>\w+\(\)), of='[A-Za-z_]\w{0,99}'(?:, grid='[0-9]{1,30}(?:/[1-9][0-9]{0,30})?')?\)",
    re.ASCII,
)
MEASURES = ("pure", "approx", "zcdp", "approx-zcdp", "gdp", "bounded-range", "renyi", "profile")

_USERS = re.compile(r"(SymmetricIdDistance|ChangeOneIdDistance)\(id=('[^'\\]*'|\"[^\"\\]*\"|'([^'\\]|\\.)*')\)")
_WHOLE, _FLOAT = r"-?[0-9]{1,20}", r"-?[0-9]{1,20}\.[0-9]{1,20}(?:e[+-][0-9]{1,3})?|-?[0-9]{1,20}e[+-][0-9]{1,3}"
_SCALAR = re.compile(
    rf"(?P<kind>int|float|str)(?:, bounds=\((?P<lower>{_WHOLE}|{_FLOAT}), (?P<upper>{_WHOLE}|{_FLOAT})\))?"
    r"(?P<nan>, nan=True)?"
)
_SIZE = re.compile(r"(?P<rest>.*[^,]), size=(?P<size>[0-9]{1,20})", re.DOTALL)
_COLUMN = re.compile(rf"(?P<name>{QUOTED}): ")
_MARK, _QUOTED = re.compile(r"[()'\"]"), re.compile(QUOTED)
COUNTS = "int, bounds=(0, 9223372036854775807)"
"""What a number of rows is, as an element."""
_LONGEST_LIST = 10**6


@dataclass(frozen=True, slots=True)
class Domain:
    """What is known of a domain.

    `shape` is scalars, vectors, tables, engine table, engine database, other (of the library) or unknown.
    """

    shape: str
    kind: str = ""
    """int, float, str or categories, for scalars and vectors."""
    bounds: tuple[Fraction, Fraction] | None = None
    nan: bool = False
    size: int | None = None
    """The public number of rows or coordinates, if there is one."""
    answers: int = 0
    """How many categories there are."""
    element: str = ""
    """The text of what vectors hold, or of the columns of tables."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number is measured: in a domain with a metric, or in a measure."""

    domain: str = ""
    metric: str = ""
    measure: str = ""

    @property
    def is_space(self) -> bool:
        """Whether it is a space and not a measure."""
        return not self.measure

    @property
    def counts(self) -> bool:
        """Whether distances are whole numbers."""
        inner = _OF_PROGRAMS.fullmatch(self.metric)
        metric = inner["inner"] if inner else self.metric
        counts = metric in (*ROWS, DISCRETE) or metric.startswith("ProgramAdjacency(")
        return counts or self.counts_users or self.units is not None

    @property
    def counts_users(self) -> bool:
        """Whether distances are numbers of users."""
        return _USERS.fullmatch(self.metric) is not None

    @property
    def units(self) -> Units | None:
        """The units that distances are numbers of, on tables that stay on an engine; None for other metrics."""
        return read_units(self.metric)

    @property
    def users(self) -> str:
        """The domain of the column that names the users whom distances count; empty where there is none."""
        match = _USERS.fullmatch(self.metric)
        name = "" if match is None else unquoted(match[2])
        return columns_of(self.domain).get(name, "") if name else ""

    @property
    def replaces(self) -> bool:
        """Whether a step replaces rows, so that both datasets have one size."""
        return self.metric in REPLACING or (self.counts_users and self.metric.startswith("ChangeOne"))

    @property
    def is_of_the_library(self) -> bool:
        """Whether the metric and the domain, or the measure, are known; others come with an assumption."""
        if self.measure:
            return self.measure in MEASURES
        return (is_metric(self.metric) or self.is_of_a_program) and self.data.shape != "unknown"

    @property
    def is_of_a_program(self) -> bool:
        """Whether distances are those of a program's inputs, which only verified-program speaks of."""
        own = self.metric == MONOTONE or self.metric.startswith("ProgramAdjacency(")
        return own or _OF_PROGRAMS.fullmatch(self.metric) is not None

    @property
    def is_fitting(self) -> bool:
        """Whether the metric measures the domain; of a metric that is not of the library nobody knows."""
        data = self.data
        if _OF_PROGRAMS.fullmatch(self.metric):
            return data.shape == "inputs"
        if self.metric == MONOTONE:
            return data.shape == "vectors" and data.kind == "int"
        if self.units is not None:
            return data.shape in ("engine table", "engine database")
        if self.counts_users:
            return self.users != ""
        if self.metric in ROWS:
            return data.shape in ("vectors", "tables")
        if self.metric in (*NORMS, NUMBER):
            shape = "scalars" if self.metric == NUMBER else "vectors"
            return data.shape == shape and data.kind in ("int", "float") and not data.nan
        return True

    @property
    def data(self) -> Domain:
        """What is known of the domain."""
        return read_domain(self.domain)

    @property
    def steps_per_change(self) -> int | None:
        """How many steps replace one row, where the number of rows is public; None where it is not."""
        if self.replaces:
            return 1
        return None if self.data.size is None else 2

    def __str__(self) -> str:
        return self.measure or f"{self.metric} on {self.domain}"


def is_metric(text: str) -> bool:
    """Whether this is the text of a metric of the library."""
    fixed = (*ROWS, *NORMS, NUMBER, DISCRETE)
    return text in fixed or _USERS.fullmatch(text) is not None or read_units(text) is not None


@lru_cache(maxsize=256)
def read_domain(text: str) -> Domain:
    """What the text of a domain says."""
    shape, _, inside = text.partition("(")
    if not inside.endswith(")"):
        return Domain("unknown")
    inside = inside[:-1]
    if shape == "engine_table":
        return Domain("engine table" if is_table(text) else "unknown")
    if shape == "engine_database":
        return Domain("engine database" if tables_of(text) else "unknown")
    if shape in ("finite", "graphs", "streams"):
        return Domain("other")
    if shape == "inputs":
        return Domain("inputs")
    if shape == "categories":
        return _scalar("scalars", text, None)
    if shape == "scalars":
        return _scalar(shape, inside, None)
    if shape not in ("vectors", "tables"):
        return Domain("unknown")
    # The size comes last: what stands before it ends with the element, or with the brace of the columns.
    sized = _SIZE.fullmatch(inside)
    rest, size = (sized["rest"], int(sized["size"])) if sized else (inside, None)
    if shape == "tables":
        return Domain(shape, size=size, element=rest) if _read_columns(rest) is not None else Domain("unknown")
    return replace(_scalar(shape, rest, size), element=rest)


def domain_text(shape: str, element: str, size: int | None = None) -> str:
    """The text of a domain, as the library writes it."""
    return f"{shape}({element})" if size is None else f"{shape}({element}, size={size})"


def resized(text: str, size: int | None) -> str:
    """The same vectors or tables, of another number of rows."""
    data = read_domain(text)
    return domain_text(data.shape, data.element, size)


def numbers(kind: str, bounds: tuple[Fraction, Fraction] | None, *, nan: bool = False) -> str:
    """The text of integers or floats as an element."""
    parts = [kind]
    if bounds is not None:
        try:
            lower, upper = (int(end) if kind == "int" else float(end) for end in bounds)
        except OverflowError:
            raise Refused("has bounds beyond the largest float") from None
        parts.append(f"bounds=({lower!r}, {upper!r})")
    return ", ".join([*parts, "nan=True"] if nan else parts)


def columns_of(text: str) -> dict[str, str]:
    """The columns of tables, each with the text of its domain; none for other domains."""
    data = read_domain(text)
    return (_read_columns(data.element) or {}) if data.shape == "tables" else {}


@lru_cache(maxsize=256)
def _read_columns(text: str) -> dict[str, str] | None:
    """The columns in braces, in their order; None if it is no list of columns, or if one is there twice."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    found: dict[str, str] = {}
    place, end = 1, len(text) - 1
    while place < end:
        named = _COLUMN.match(text, place)
        if named is None:
            return None
        place = named.end()
        stop = _end_of_call(text, place)
        name = unquoted(named["name"])
        if name in found or read_domain(text[place:stop]).shape != "scalars":
            return None
        found[name] = text[place:stop]
        if stop < end and not text.startswith(", ", stop):
            return None
        place = stop + len(", ") if stop < end else end
    return found


def _end_of_call(text: str, place: int) -> int:
    """Where the first parenthesis that opens is closed again, outside of quotes; the end if it never is."""
    depth = 0
    while (mark := _MARK.search(text, place)) is not None:
        if mark[0] in "()":
            depth += 1 if mark[0] == "(" else -1
            place = mark.end()
            if depth <= 0:
                return place
            continue
        quoted = _QUOTED.match(text, mark.start())
        if quoted is None:
            break
        place = quoted.end()
    return len(text)


def _scalar(shape: str, text: str, size: int | None) -> Domain:
    if text.startswith("categories(["):
        answers = _length(text.removeprefix("categories(").removesuffix(")"))
        return Domain(shape, "categories", size=size, answers=answers) if answers else Domain("unknown")
    match = _SCALAR.fullmatch(text)
    if match is None:
        return Domain("unknown")
    bounds = None
    if match["lower"] is not None:
        # The text of a float is read as the float that it is the text of, and then exactly.
        read: Any = int if match["kind"] == "int" else float
        try:
            bounds = (Fraction(read(match["lower"])), Fraction(read(match["upper"])))
        except (ValueError, OverflowError):
            return Domain("unknown")
        if match["kind"] == "str" or bounds[0] > bounds[1]:
            return Domain("unknown")
    return Domain(shape, match["kind"], bounds, nan=match["nan"] is not None, size=size)


def _length(text: str) -> int:
    """How many different values a list of categories has; 0 if it is none."""
    if len(text) > _LONGEST_LIST:
        return 0
    try:
        values = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return 0
    if not isinstance(values, list) or not all(type(value) in (str, int) for value in values):
        return 0
    return len(set(values)) if len({type(value) for value in values}) == 1 else 0
