"""Typed scalar expressions over the columns of one row; the same value on every engine, and never an error.

This is the contract. `evaluate` is its reference in plain Python; `to_ibis` gives the same on DuckDB, PySpark and
PostgreSQL (exactly, but for the last digits of `log` and `exp`), and no row makes an engine fail.

**NULL.** Every value may be NULL (None). Arithmetic, comparisons, `least`, `greatest`, `is_in` and functions of NULL
are NULL. `&` and `|` are Kleene's: FALSE & NULL is FALSE, TRUE | NULL is TRUE;
`between` is the `&` of its two comparisons. `case` takes the first arm whose
condition is TRUE. A filter keeps rows where its predicate is TRUE. **NaN and infinities are NULL**, wherever they
come from.

**INTEGER** has 64 bits. A result beyond is NULL, operation by operation. Unsigned columns are read alike, beyond
2**63 - 1 as NULL. `//` and `%` round down as in Python and are NULL for a divisor of 0.

**REAL** is float64, rounded to nearest after each operation. A value read from a column (or from text) is *settled*:
beyond 2**166 (9e49) in magnitude it is NULL, below 2**-166 (1e-50) it is 0. Results may grow further; where the sizes
that are possible for the operands of + - * / would let a result leave 2**-1000 to 2**1000, these operands are settled
first. That depends on the expression and never on rows, and takes a product of five columns or more. 0.0 and -0.0 are
one value. `/` gives REAL always, NULL for a divisor of 0. Decimals are read as the nearest float; those of at most 18
digits without a fraction as INTEGER. An INTEGER that meets a REAL becomes the nearest float first, in comparisons
too. `round_to` is floor(x / multiple + 1/2) * multiple: halves go up. It and `floor` are NULL where floor leaves 64
bits. `sqrt` is NULL below 0, `log` at 0 and below, `exp` above 114; below -114 it is 0.

**TEXT** is compared by == and != only, code point by code point; `lower` and `upper` change A to Z alone; `strip`
takes off spaces, tabs and line ends; lengths and slices count code points.

**DATE** is a day of the years 1 to 9999, others are NULL. **TIMESTAMP** is a moment in UTC, to the microsecond, of
the years 2 to 9998; others are NULL. Weeks begin on Monday.

**Casts.** INTEGER to REAL or TEXT; BOOLEAN to INTEGER (0, 1) or TEXT (true, false); DATE to TEXT (ISO) or TIMESTAMP
(midnight); TIMESTAMP to DATE; REAL to INTEGER by `floor` or `round_to`. From TEXT by the whole text, else NULL:
INTEGER is an optional sign and 1 to 18 digits; REAL an optional sign, 1 to 15 digits, optionally a point and 1 to 15
digits, optionally e or E, a sign and 1 to 2 digits; BOOLEAN is true or false; DATE is YYYY-MM-DD of a day that
exists, from the year 1000.

Expressions are data: frozen, compared by `same_as` or `key`, stored by `to_json`. Their constants are public.
"""

from viameter.tables.expressions.binding import filtered, with_columns
from viameter.tables.expressions.building import case, greatest, least, make
from viameter.tables.expressions.constants import literal
from viameter.tables.expressions.document import from_json, to_json
from viameter.tables.expressions.nodes import Call, Column, Expression, Literal
from viameter.tables.expressions.reference import evaluate
from viameter.tables.expressions.schema import Schema
from viameter.tables.expressions.to_engine import to_ibis
from viameter.tables.expressions.types import Kind, Type, type_of_ibis, type_of_value

__all__ = [
    "Call",
    "Column",
    "Expression",
    "Kind",
    "Literal",
    "Schema",
    "Type",
    "case",
    "evaluate",
    "filtered",
    "from_json",
    "greatest",
    "least",
    "literal",
    "make",
    "to_ibis",
    "to_json",
    "type_of_ibis",
    "type_of_value",
    "with_columns",
]
