"""Columns given as lists, made into an Arrow table without ever showing a value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from viameter.errors import ParameterError, plain
from viameter.tables.engines.imports import import_ibis, import_optional

_UNFIT = re.compile("[\0\ud800-\udfff]")
"""Letters of names at which DuckDB cuts, or Arrow fails."""


def arrow_table(columns: Mapping[str, Sequence[Any]], *, types: Mapping[str, Any] | None = None) -> Any:
    """An Arrow table of columns of one length, each of one type; None is NULL.

    `types` maps names of columns to Ibis types, for those whose values do not tell.
    """
    arrow = import_optional("pyarrow", extra="query", wanted_for="tables given as lists")
    if not isinstance(columns, Mapping) or not columns or not all(isinstance(name, str) for name in columns):
        raise ParameterError("a table given as lists is a mapping of names of columns to their values")
    if unfit := [name for name in columns if _UNFIT.search(name)]:
        raise ParameterError(
            f"column name {plain(unfit[0])}: expected Unicode without NUL and surrogates, as engines take; rename it"
        )
    types = dict(types or {})
    if unknown := sorted(types.keys() - columns.keys()):
        raise ParameterError(f"types= names columns that are not there: {', '.join(unknown)}")
    arrays = {name: _array(arrow, name, values, types.get(name)) for name, values in columns.items()}
    lengths = {name: len(array) for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ParameterError(f"the columns have different lengths: {', '.join(sorted(lengths))}")
    return arrow.table(arrays)


def _array(arrow: Any, name: str, values: Sequence[Any], kind: Any) -> Any:
    if isinstance(values, str | bytes):
        raise ParameterError(f"the column {name!r} is one text; expected a list of values")
    wanted = None if kind is None else import_ibis().dtype(kind).to_pyarrow()
    try:
        array = arrow.array(list(values), type=wanted)
    except (arrow.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise ParameterError(
            f"the column {name!r} cannot be made ({type(error).__name__}): its values must be of one type (int64, "
            "float, bool, text, date or datetime; None where there is none)"
        ) from None
    if arrow.types.is_null(array.type):
        raise ParameterError(f"the column {name!r} has no value that tells its type")
    return array
