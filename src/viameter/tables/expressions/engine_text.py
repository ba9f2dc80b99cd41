"""Text on engines, by functions on which all engines agree; casts from text are guarded by regular expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from viameter.tables.expressions import grammar
from viameter.tables.expressions.engine_values import constant, representable, settled
from viameter.tables.expressions.grammar import LOWER, UPPER, WHITESPACE
from viameter.tables.expressions.types import Kind


def _matching(value: Any, pattern: str) -> Any:
    """The text where it is of the grammar, else NULL."""
    import ibis

    # Java's $ matches before a line's end too; behind a bar there is none.
    found = (value + "|").re_search(f"^({pattern})[|]$")
    return ibis.ifelse(found, value, ibis.null("string"))


def _integer(value: Any) -> Any:
    return _matching(value, grammar.INTEGER_TEXT).re_replace(grammar.FRACTION_OF_INTEGER, "").cast("int64")


def _boolean(value: Any) -> Any:
    import ibis

    arms = ((value.isin(texts), meant) for texts, meant in ((grammar.TRUE_TEXTS, True), (grammar.FALSE_TEXTS, False)))
    return ibis.cases(*arms, else_=ibis.null("boolean"))


def _moment(value: Any) -> Any:
    in_utc = _matching(value, grammar.MOMENT_TEXT).re_replace(grammar.ZONE, "")
    return representable(in_utc.substr(0, grammar.MOMENT_LENGTH).cast("timestamp"))


PARSERS: dict[Kind, Callable[[Any], Any]] = {
    Kind.INTEGER: _integer,
    Kind.REAL: lambda value: settled(_matching(value, grammar.REAL_TEXT).cast("float64")),
    Kind.BOOLEAN: _boolean,
    Kind.DATE: lambda value: _matching(value, grammar.DATE_TEXT).substr(0, grammar.DATE_LENGTH).cast("date"),
    Kind.TIMESTAMP: _moment,
}


def written(value: Any, kind: Kind) -> Any:
    """A value of a kind as text."""
    import ibis

    if kind is Kind.BOOLEAN:
        return ibis.cases((value, "true"), (~value, "false"), else_=ibis.null("string"))
    return value.cast("string")


def _strip(value: Any) -> Any:
    # Ibis's own strip takes letters off on Spark, whose SQL has no escapes for all of the white space in it.
    without_end = (value + "|").re_replace(f"[{WHITESPACE}]*[|]$", "")
    return without_end.re_replace(f"^[{WHITESPACE}]+", "")


def _ends_with(value: Any, end: str) -> Any:
    return value.right(len(end)) == end if end else value == value  # noqa: PLR0124


def _starts_with(value: Any, start: str) -> Any:
    return value.substr(0, len(start)) == constant(start, Kind.TEXT)


OPERATIONS: dict[str, Callable[..., Any]] = {
    "lower": lambda value: value.translate(UPPER, LOWER),
    "upper": lambda value: value.translate(LOWER, UPPER),
    "strip": _strip,
    "length": lambda value: value.length().cast("int64"),
    "starts_with": _starts_with,
    "ends_with": _ends_with,
    "contains": lambda value, part: value.contains(part),
    "slice": lambda value, start, stop: value.substr(start, stop - start),
}
