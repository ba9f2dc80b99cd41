"""Functions of rows that the library has: the domain of their images, from that of rows and their parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from viameter_check.amounts import read_signed
from viameter_check.places import Domain, columns_of, domain_text, numbers, read_domain
from viameter_check.report import Refused

WHERE = "parameters.row"
OWN = "own"
"""The name of a function of rows that is not of the library."""
KEEP_COLUMNS = ("select",)
"""Functions of rows of tables that leave the values of every column that they keep as they are."""
LEAST, GREATEST = -(2**63), 2**63 - 1


def row_function(record: Any) -> tuple[str, ...]:
    """The name of a function of rows, and what it was given."""
    if not isinstance(record, list) or not record or not all(isinstance(part, str) for part in record):
        raise Refused("expected the name of a function of rows, and its parameters")
    if record[0] not in (OWN, *FUNCTIONS):
        raise Refused(f"this checker knows no function of rows called {record[0][:40]!r}")
    if record[0] == OWN and len(record) > 1:
        raise Refused("a function of somebody's own has no parameters that this checker knows")
    return tuple(record)


def image(domain: str, row: tuple[str, ...]) -> str:
    """The domain that the function takes the rows of this one to; their number stays."""
    return FUNCTIONS[row[0]](domain, row[1:])


def _numbers_of(domain: str, *kinds: str) -> Domain:
    data = read_domain(domain)
    if data.shape != "vectors" or data.kind not in kinds:
        raise Refused(f"takes vectors of {' or '.join(kinds)}", "input.domain")
    return data


def _given(parameters: tuple[str, ...], count: int) -> list[Fraction]:
    values = [read_signed(text) for text in parameters]
    if len(values) != count or not all(isinstance(value, Fraction) for value in values):
        raise Refused(f"expected finite numbers: {count}", WHERE)
    return [Fraction(value) for value in values]


def _clamp(domain: str, parameters: tuple[str, ...]) -> str:
    """Bounds are those of what is clamped, brought into those that were given."""
    data = _numbers_of(domain, "int", "float")
    lower, upper = _given(parameters, 2)
    if lower > upper or (data.kind == "int" and not LEAST <= lower == int(lower) <= upper == int(upper) <= GREATEST):
        raise Refused("are no bounds", WHERE)
    old = data.bounds or (lower, upper)
    clamped = (min(max(old[0], lower), upper), min(max(old[1], lower), upper))
    return domain_text("vectors", numbers(data.kind, clamped, nan=data.nan), data.size)


def _impute(domain: str, parameters: tuple[str, ...]) -> str:
    """NaN is replaced by a value, which the bounds then include."""
    data = _numbers_of(domain, "float")
    (value,) = _given(parameters, 1)
    bounds = None if data.bounds is None else (min(data.bounds[0], value), max(data.bounds[1], value))
    return domain_text("vectors", numbers("float", bounds), data.size)


def _cast(domain: str, parameters: tuple[str, ...]) -> str:
    """Bounds of integers stay; of all else nothing is known but its kind."""
    data = _numbers_of(domain, "int", "float", "str", "categories")
    if len(parameters) != 1 or parameters[0] not in ("int", "float", "str"):
        raise Refused("expected int, float or str", WHERE)
    (kind,) = parameters
    kept = data.bounds if data.kind == "int" and kind != "str" else None
    return domain_text("vectors", numbers(kind, kept), data.size)


def _to_grid(domain: str, parameters: tuple[str, ...]) -> str:
    """Which multiple of a step is nearest: the bounds are rounded alike."""
    data = _numbers_of(domain, "float")
    (step,) = _given(parameters, 1)
    if data.nan or data.bounds is None or step <= 0:
        raise Refused("takes floats between bounds, and a step above 0", "input.domain")
    lower, upper = (Fraction(math.floor(end / step + Fraction(1, 2))) for end in data.bounds)
    if lower < LEAST or upper > GREATEST:
        raise Refused("multiples do not fit into 64 bits", WHERE)
    return domain_text("vectors", numbers("int", (lower, upper)), data.size)


def _select(domain: str, parameters: tuple[str, ...]) -> str:
    """Some columns, as they are."""
    columns = _columns(domain, parameters)
    if len(set(parameters)) != len(parameters):
        raise Refused("names a column twice", WHERE)
    kept = ", ".join(f"{name!r}: {columns[name]}" for name in parameters)
    return domain_text("tables", f"{{{kept}}}", read_domain(domain).size)


def _column(domain: str, parameters: tuple[str, ...]) -> str:
    """One column as a vector."""
    columns = _columns(domain, parameters)
    if len(parameters) != 1:
        raise Refused("expected one column", WHERE)
    held = columns[parameters[0]]
    element = held.removeprefix("scalars(").removesuffix(")") if held.startswith("scalars(") else held
    return domain_text("vectors", element, read_domain(domain).size)


def _columns(domain: str, names: tuple[str, ...]) -> dict[str, str]:
    columns = columns_of(domain)
    if not columns or not all(name in columns for name in names):
        raise Refused("names a column that the table does not have", WHERE)
    return columns


FUNCTIONS: dict[str, Callable[[str, tuple[str, ...]], str]] = {
    "clamp": _clamp,
    "impute": _impute,
    "cast": _cast,
    "to_grid": _to_grid,
    "select": _select,
    "column": _column,
}
"""Functions of rows that the library has."""
