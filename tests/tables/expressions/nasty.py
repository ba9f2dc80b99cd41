"""A table whose rows hold what engines treat differently, the same on every engine."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

BIG = 2**63 - 1
INTEGERS = [0, 1, -1, 2, 3, -3, 7, -7, 10, 60, -61, 2**31, 2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62, -(2**62)]
INTEGERS += [BIG, BIG - 1, BIG - 511, -BIG, -(2**63), 3037000500, -3037000500, 4294967296, 10**18 + 1, 2**62 - 1]
REALS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 0.1, 0.30000000000000004, 1 / 3, 1e15, 2.0**53, -(2.0**63)]
REALS += [float("nan"), float("inf"), float("-inf"), 1e308, -1e308, 1.7976931348623157e308, 1e-308, 5e-324, -5e-324]
REALS += [2.0**166, 2.0**166 * (1 + 2**-52), 2.0**-166, 2.0**-166 * (1 - 2**-53), 1e49, -1e49, 1e-49, 2.0**63, 113.9]
REALS += [114.0, 114.5, -114.0, -114.5, 2.0**63 - 1024, 9007199254740993.0, 4.35, 1e22, 123456789.123456789, 1 - 2**-53]
TEXTS = [
    "",
    " ",
    "a",
    "A",
    "  ab ",
    "it's",
    'say "hi"',
    "back\\slash",
    "100%",
    "under_score",
    "%",
    "_",
    "\\",
    "\\n",
    "\n",
]
TEXTS += [
    "naïve",
    "NAÏVE",
    "straße",
    "İı",
    "日本語",
    "🦆",
    "e\u0301",
    "a\tb",
    "\ta",
    "a\n",
    " a\u00a0",
    "$1",
    "a|",
    "--",
    "ab",
]
TEXTS += [
    "\f",
    "\v",
    "\b",
    "\a",
    "\x1a",
    "\x1b",
    "\x7f",
    "\r",
    "f",
    "v",
    "\r\na\r\n",
    "\u2028",
    "\ufeff",
    "{a}",
    ":a",
    "?",
    "\\f",
]
NUMERIC_TEXTS = [
    "0",
    "-0",
    "+5",
    "12",
    "-12",
    "007",
    "9" * 18,
    "-" + "9" * 18,
    "9" * 19,
    "9" * 40,
    "1.5",
    "1e5",
    "1E-50",
]
NUMERIC_TEXTS += [
    "1e99",
    "1e-99",
    "1e400",
    "1e-400",
    ".5",
    "5.",
    "1.",
    "+",
    "-",
    "",
    " 1",
    "1 ",
    "1\n",
    "1\u2028",
    "\n1",
    "NaN",
]
NUMERIC_TEXTS += [
    "Infinity",
    "0x10",
    "1_000",
    "1,000",
    "٣",
    "１２",
    "1|",
    "1|\n",
    "true",
    "false",
    "True",
    "t",
    "1e",
    "1e+05",
]
NUMERIC_TEXTS += [
    "0.1",
    "0.30000000000000",
    "123456789012345.678901234567891",
    "2024-02-29",
    "2023-02-29",
    "1900-02-29",
]
NUMERIC_TEXTS += [
    "2000-02-29",
    "2024-04-31",
    "2024-12-31",
    "2024-13-01",
    "0999-01-01",
    "9999-12-31",
    "2024-1-1",
    "2400-02-29",
]
NUMERIC_TEXTS += [
    "2024-06-30",
    "2024-06-31",
    "1000-01-01",
    "2100-02-29",
    "2024-02-30",
    "2024-00-10",
    "2024-01-00",
    "infinity",
]
NUMERIC_TEXTS += [
    "30.0", "-30.000", "30.5", "9" * 18 + ".0", "30.", "0.30000000000000004", "-1.7976931348623157e99", "9" * 38,
    "." + "9" * 38, "0." + "0" * 37 + "1e-99", "TRUE", "T", "FALSE", "F", "False", "tRUE", "yes", "10",
    "2024-02-29T12:34:56", "2024-02-29 12:34:56.1", "2024-02-29T12:34:56.123456789Z", "2024-02-29T12:34:56+00:00",
    "2024-02-29 12:34:56-0000", "2024-02-29 12:34:56+00", "2024-02-29T23:59:59+05:30", "2024-02-29T12:34",
    "2024-06-30T23:59:60", "2024-06-30T24:00:00", "2024-02-30T12:00:00", "2024-02-29T12:34:56 ", "2024-02-29t12:34:56",
    "9999-12-31T23:59:59", "1000-01-01T00:00:00", "2024-02-29T12:34:56\n", "2024-02-29T12:34:56Z|",
    "1582-10-10T00:00:00",
]  # fmt: skip
DATES = [date(1, 1, 1), date(1, 1, 3), date(9999, 12, 31), date(1970, 1, 1), date(1969, 12, 31), date(2000, 2, 29)]
DATES += [
    date(2024, 5, 31),
    date(1582, 10, 10),
    date(2023, 1, 1),
    date(2024, 12, 30),
    date(1900, 3, 1),
    date(999, 7, 4),
]
MOMENTS = [
    datetime(1970, 1, 1),
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2024, 3, 31, 2, 30),
    datetime(2000, 2, 29, 12),
]
MOMENTS += [
    datetime(9999, 12, 31, 23, 59, 59, 999999),
    datetime(1, 1, 1),
    datetime(2024, 7, 1, 0, 0, 0, 1),
    datetime(1900, 1, 1, 5),
]
ZONED = [moment.replace(tzinfo=UTC) for moment in MOMENTS if 1700 < moment.year < 2200]
MONEY = [
    Decimal("0.00"),
    Decimal("-0.01"),
    Decimal("0.10"),
    Decimal("1234567890.12"),
    Decimal("-9999999999.99"),
    Decimal("4.35"),
]
LONG = [
    Decimal("0"),
    Decimal("12345678901234567890.1234567891"),
    Decimal("-0.0000000001"),
    Decimal("9007199254740993.0000000001"),
]
LONG += [Decimal("99999999999999999999.9999999999"), Decimal("0.3000000000"), Decimal("1234567.1234567891")]

VALUES: dict[str, tuple[Any, list[Any]]] = {
    "a": (pa.int64(), INTEGERS),
    "b": (pa.int64(), INTEGERS),
    "small": (pa.int32(), [0, 1, -1, 2**31 - 1, -(2**31), 7, -7, 100]),
    "tiny": (pa.int16(), [0, 1, -1, 32767, -32768, 5]),
    "x": (pa.float64(), REALS),
    "y": (pa.float64(), REALS),
    "single": (pa.float32(), [0.0, 0.1, float("nan"), float("inf"), -1e38, 1e-45, 2.5, -2.5]),
    "money": (pa.decimal128(12, 2), MONEY),
    "long": (pa.decimal128(30, 10), LONG),
    "number": (pa.decimal128(18, 0), [Decimal(0), Decimal(10**18 - 1), Decimal(1 - 10**18), Decimal(5)]),
    "s": (pa.string(), TEXTS),
    "t": (pa.string(), TEXTS),
    "n": (pa.string(), NUMERIC_TEXTS),
    "day": (pa.date32(), DATES),
    "other_day": (pa.date32(), DATES),
    "moment": (pa.timestamp("us"), MOMENTS),
    "zoned": (pa.timestamp("us", tz="UTC"), ZONED),
    "p": (pa.bool_(), [True, False]),
    "q": (pa.bool_(), [True, False]),
}
ROWS = 150


def nasty_table() -> pa.Table:
    """Every value in some row, NULL too, next to others at random but always the same."""
    source = random.Random(20240531)
    columns: dict[str, Any] = {"row": pa.array(range(ROWS), pa.int64())}
    for name, (kind, values) in VALUES.items():
        picked = [None, *values]
        picked += [source.choice(picked) for _ in range(ROWS - len(picked))]
        source.shuffle(picked)
        columns[name] = pa.array(picked, kind)
    return pa.table(columns)
