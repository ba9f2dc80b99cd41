"""What text can be cast: regular expressions that Python, RE2, Java and PostgreSQL read alike.

Digits are limited so that no cast can overflow, and written one by one: on some engines ranges follow collations.
"""

DIGIT = "[0123456789]"
INTEGER_TEXT = f"[+-]?{DIGIT}{{1,18}}"
"""An optional sign and 1 to 18 digits."""
REAL_TEXT = f"[+-]?{DIGIT}{{1,15}}([.]{DIGIT}{{1,15}})?([eE][+-]?{DIGIT}{{1,2}})?"
"""An optional sign, 1 to 15 digits, optionally a point and 1 to 15 digits, optionally an exponent of 1 to 2 digits."""

_YEAR = f"[123456789]{DIGIT}{DIGIT}{DIGIT}"
_LEAP_IN_CENTURY = "(0[48]|[2468][048]|[13579][26])"
_LEAP_CENTURY = "(1[26]|[2468][048]|[3579][26])"
_LEAP_YEAR = f"([123456789]{DIGIT}{_LEAP_IN_CENTURY}|{_LEAP_CENTURY}00)"
_MONTH = "(0[123456789]|1[012])"
_DAY_UP_TO_28 = f"(0[123456789]|1{DIGIT}|2[012345678])"
DATE_TEXT = f"({_YEAR}-({_MONTH}-{_DAY_UP_TO_28}|(0[13456789]|1[012])-(29|30)|(0[13578]|1[02])-31)|{_LEAP_YEAR}-02-29)"
"""A date of the years 1000 to 9999 that exists, as YYYY-MM-DD."""

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()
WHITESPACE = " \t\n\r"
"""What is stripped."""
