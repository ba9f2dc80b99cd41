"""Numbers: exact rationals in, and roundings that say their direction in their name.

- `rationals`: what people write, taken exactly.
- `sums`: sums that are exact while they are narrow and rounded up after.
- `floats`, `dyadic`, `vectors`: `add_up`, `exp_down`, ... on floats, on rationals and on NumPy arrays.
- `text`: exact numbers as short text.
"""

from viameter.arith.rationals import (
    INFINITY,
    ZERO,
    Extended,
    Number,
    as_given,
    exact,
    exactly,
    extended,
    nonnegative,
    probability,
    times,
    whole,
)
from viameter.arith.sums import add_settled_up, difference_down, settle_up, sum_settled_up
from viameter.arith.text import read_written, show, write

__all__ = [
    "INFINITY",
    "ZERO",
    "Extended",
    "Number",
    "add_settled_up",
    "as_given",
    "difference_down",
    "exact",
    "exactly",
    "extended",
    "nonnegative",
    "probability",
    "read_written",
    "settle_up",
    "show",
    "sum_settled_up",
    "times",
    "whole",
    "write",
]
