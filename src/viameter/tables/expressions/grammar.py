"""What text can be cast: regular expressions that Python, RE2, Java and PostgreSQL read alike.

Digits are limited so that no cast can overflow, and written one by one: on some engines ranges follow collations.
"""

DIGIT = "[0123456789]"
INTEGER_TEXT = f"[+-]?{DIGIT}{{1,18}}([.]0{{1,18}})?"
"""An optional sign and 1 to 18 digits; behind a point nothing but zeros, as programs write that know floats alone."""
FRACTION_OF_INTEGER = "[.]0*$"
REAL_TEXT = f"[+-]?({DIGIT}{{1,38}}([.]{DIGIT}{{0,38}})?|[.]{DIGIT}{{1,38}})([eE][+-]?{DIGIT}{{1,2}})?"
"""An optional sign, up to 38 digits before and after a point, optionally an exponent of 1 to 2 digits."""
TRUE_TEXTS, FALSE_TEXTS = ("true", "True", "TRUE", "t", "T", "1"), ("false", "False", "FALSE", "f", "F", "0")

_YEAR = f"[123456789]{DIGIT}{DIGIT}{DIGIT}"
_LEAP_IN_CENTURY = "(0[48]|[2468][048]|[13579][26])"
_LEAP_CENTURY = "(1[26]|[2468][048]|[3579][26])"
_LEAP_YEAR = f"([123456789]{DIGIT}{_LEAP_IN_CENTURY}|{_LEAP_CENTURY}00)"
_MONTH = "(0[123456789]|1[012])"
_DAY_UP_TO_28 = f"(0[123456789]|1{DIGIT}|2[012345678])"
_DATE = f"({_YEAR}-({_MONTH}-{_DAY_UP_TO_28}|(0[13456789]|1[012])-(29|30)|(0[13578]|1[02])-31)|{_LEAP_YEAR}-02-29)"
_TIME = f"([01]{DIGIT}|2[0123]):[012345]{DIGIT}:[012345]{DIGIT}([.]{DIGIT}{{1,9}})?"
_UTC = "(Z|[+]00|[+-]00:?00)"
DATE_TEXT = f"{_DATE}([T ]{_TIME}(Z|[+-]{DIGIT}{DIGIT}(:?{DIGIT}{DIGIT})?)?)?"
"""A date of the years 1000 to 9999 that exists, as YYYY-MM-DD; a time behind it, of whatever zone, is left out."""
MOMENT_TEXT = f"{_DATE}([T ]{_TIME}{_UTC}?)?"
"""A date, optionally with a time of day in UTC; without one it is midnight. Seconds end at 59."""
ZONE = f"{_UTC}$"
DATE_LENGTH, MOMENT_LENGTH = len("YYYY-MM-DD"), len("YYYY-MM-DDTHH:MM:SS.uuuuuu")
"""How many letters are read; digits after microseconds are cut off."""

UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
LOWER = UPPER.lower()
WHITESPACE = " \t\n\r"
"""What is stripped."""
