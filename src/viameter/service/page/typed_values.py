"""Values as people type them into a form, by the type of their column; and the same values as text again."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from viameter.errors import ParameterError, plain

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_DECIMAL = re.compile(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,3})?")
_FRACTION = re.compile(r"[+-]?[0-9]{1,19}/0*[1-9][0-9]{0,18}")
DOUBLE = '"'
_TRUE, _FALSE = ("true", "yes", "1"), ("false", "no", "0")


def read_value(text: str, kind: str) -> Any:
    """A value of a column of this kind, as documents have it: dates are ISO text.

    >>> read_value("60", "INTEGER"), read_value(" A ", "TEXT"), read_value("Yes", "BOOLEAN")
    (60, 'A', True)
    """
    text = text.strip()
    if kind in ("INTEGER", "REAL"):
        return read_number(text)
    if kind == "BOOLEAN":
        if text.lower() in _TRUE + _FALSE:
            return text.lower() in _TRUE
        raise ParameterError(f"{plain(text)}: expected true or false")
    if kind in ("DATE", "TIMESTAMP"):
        return _read_time(text, kind)
    return text


def read_number(text: str) -> int | float:
    """A number: whole ones are exact."""
    text = _plain_sign(text)
    if _WHOLE.fullmatch(text):
        return int(text)
    if not _DECIMAL.fullmatch(text) or not math.isfinite(float(text)):
        raise ParameterError(f"{plain(text)}: expected a number such as 60 or 2.5")
    return float(text)


def read_exact(text: str) -> int | str:
    """A number that stays as exact as it was typed: what is not whole is text, and may be a fraction.

    >>> read_exact("60"), read_exact("2.50"), read_exact("1/3")
    (60, '2.50', '1/3')
    """
    text = _plain_sign(text)
    if _FRACTION.fullmatch(text):
        return text
    found = read_number(text)
    return found if isinstance(found, int) else text


def kind_in_words(kind: str) -> str:
    """A type as people say it."""
    words = {
        "INTEGER": "a whole number",
        "REAL": "a number",
        "BOOLEAN": "true or false",
        "TEXT": "text",
        "DATE": "a day",
        "TIMESTAMP": "a time",
    }
    return words[kind]


def text_of(value: Any) -> str:
    """A value of a document as one would type it.

    >>> text_of(2.5), text_of(True), text_of("A")
    ('2.5', 'true', 'A')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def read_line(text: str, kind: str) -> list[Any]:
    """Several values in one line, with commas between them; one that has a comma stands in double quotes.

    >>> read_line('A, "B, north"', "TEXT")
    ['A', 'B, north']
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        raise ParameterError(
            "expected values with commas between them; close every double quote, and write two for one within"
        ) from None
    return [read_value(value, kind) for value in (rows[0] if rows else []) if value.strip()]


def line_of(values: Sequence[Any]) -> str:
    """Several values as one line."""
    return ", ".join(_quoted(text_of(value)) for value in values)


def read_lines(text: str, kind: str) -> list[Any]:
    """Several values, one in each line."""
    return [read_value(line, kind) for line in text.splitlines() if line.strip()]


def lines_of(values: Sequence[Any]) -> str:
    """Several values, one in each line."""
    return "\n".join(text_of(value) for value in values)


def _quoted(text: str) -> str:
    return f'"{text.replace(DOUBLE, DOUBLE * 2)}"' if "," in text or DOUBLE in text else text


def _plain_sign(text: str) -> str:
    # What word processors make of a hyphen before a number.
    return text.strip().replace("\N{MINUS SIGN}", "-")


def _read_time(text: str, kind: str) -> str:
    try:
        found = date.fromisoformat(text) if kind == "DATE" else datetime.fromisoformat(text)
    except ValueError:
        example = "2024-05-31" if kind == "DATE" else "2024-05-31T23:59"
        what = "a day" if kind == "DATE" else "a time"
        raise ParameterError(f"{plain(text)}: expected {what} such as {example}") from None
    return found.isoformat()
