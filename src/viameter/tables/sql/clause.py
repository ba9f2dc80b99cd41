"""The clause WITH DIFFERENTIAL_PRIVACY OPTIONS(...), as BigQuery has it: read from tokens, and taken out of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from viameter.arith import exact
from viameter.core import Loss
from viameter.measures import approx, approx_zcdp, pure, zcdp
from viameter.tables.bounding import Limits
from viameter.tables.sql.places import Text

PUBLIC, FOUND = "PUBLIC_GROUPS", "LAPLACE_THRESHOLD"
EXAMPLE = "OPTIONS(epsilon = 1, delta = 1e-6, privacy_unit_column = patient)"
NUMBER = re.compile(r"[0-9]+(?:[.][0-9]*)?(?:[eE]([+-]?[0-9]{1,9}))?|[.][0-9]+(?:[eE]([+-]?[0-9]{1,9}))?")


@dataclass(frozen=True, slots=True)
class Options:
    """What OPTIONS(...) says; None for what it does not.

    >>> Options(epsilon=Fraction(1), delta=Fraction(1, 10**6)).loss
    approx(1, 1/1000000)
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    """The loss in zero-concentrated differential privacy, in the place of epsilon."""
    privacy_unit_column: str | None = None
    max_rows_contributed: int | None = None
    max_groups_contributed: int | None = None
    max_rows_per_group: int | None = None
    group_selection_strategy: str | None = None
    groups: tuple[Any, ...] | None = None
    """The public keys: values, or tuples of them."""

    @property
    def given(self) -> dict[str, Any]:
        """What was written, by name."""
        return {one.name: getattr(self, one.name) for one in fields(self) if getattr(self, one.name) is not None}

    @property
    def loss(self) -> Loss | None:
        """What the question may cost; None where that is not said."""
        if self.rho is not None:
            return zcdp(self.rho) if self.delta is None else approx_zcdp(self.rho, self.delta)
        if self.epsilon is None:
            return None
        return pure(self.epsilon) if self.delta is None else approx(self.epsilon, self.delta)

    @property
    def limits(self) -> Limits:
        """What of a unit counts."""
        return Limits(self.max_rows_contributed, self.max_groups_contributed, self.max_rows_per_group)


def take_options(tokens: Sequence[Any], text: Text) -> tuple[list[Any], Options, tuple[int, int]]:
    """The tokens without the clause, what it says, and where it stands; SqlError if it stands in a subquery."""
    for place, (first, second, third) in enumerate(zip(tokens, tokens[1:], tokens[2:], strict=False)):
        written = (first.text.upper(), second.text.upper(), third.text.upper())
        if written[:2] != ("SELECT", "WITH") or first.token_type.name != "SELECT":
            continue
        if written[2] != "DIFFERENTIAL_PRIVACY":
            raise text.error("expected WITH DIFFERENTIAL_PRIVACY " + EXAMPLE, third.start, third.end + 1)
        if sum((one.text == "(") - (one.text == ")") for one in tokens[:place] if not _is_quoted(one)):
            raise text.error(
                "the privacy clause stands in the outermost SELECT: what a subquery shows would not be private twice",
                second.start,
                third.end + 1,
            )
        reader = _Reader(tokens, place + 3, text)
        options = reader.options()
        return [*tokens[: place + 1], *tokens[reader.place :]], options, reader.span(place + 1)
    return list(tokens), Options(), (0, 0)


def _is_quoted(token: Any) -> bool:
    return token.token_type.name in ("STRING", "IDENTIFIER")


class _Reader:
    """Reads OPTIONS(name = value, ...) from tokens."""

    def __init__(self, tokens: Sequence[Any], place: int, text: Text) -> None:
        self.tokens, self.place, self.text = tokens, place, text

    def span(self, first: int) -> tuple[int, int]:
        return self.tokens[first].start, self.tokens[min(self.place, len(self.tokens)) - 1].end + 1

    def options(self) -> Options:
        if self._peek().upper() != "OPTIONS":
            raise self._error(f"expected {EXAMPLE}")
        self.place += 1
        self._expect("(")
        found: dict[str, Any] = {}
        while self._peek() != ")":
            name = self._peek().lower()
            if name not in _READERS or name in found:
                known = ", ".join(_READERS)
                raise self._error("it is said twice" if name in found else f"options are {known}")
            self.place += 1
            if self._peek() not in ("=", "=>"):
                raise self._error(f"expected {EXAMPLE}")
            self.place += 1
            found[name] = _READERS[name](self)
            if self._peek() == ",":
                self.place += 1
            elif self._peek() != ")":
                raise self._error("expected , or )")
        first = self.place
        self.place += 1
        options = Options(**found)
        with_both = options.epsilon is not None and options.rho is not None
        if with_both or (options.delta is not None and options.epsilon is None and options.rho is None):
            self.place = first
            raise self._error("give epsilon, or rho, and beside it a delta where one is to be spent")
        return options

    def number(self) -> Fraction:
        """A number, to the digit that was written."""
        first = self.place
        written = self._word("NUMBER", "a number that is 0 or more")
        match = NUMBER.fullmatch(written)
        if match is None or len(written) > 100 or abs(int(match[1] or match[2] or 0)) > 300:
            self.place = first
            raise self._error("expected a number of a moderate size, such as 1, 0.5 or 1e-6")
        return exact(written)

    def count(self) -> int:
        """A whole number from 1 on."""
        first = self.place
        written = self._word("NUMBER", "a whole number from 1 on")
        if not written.isdecimal() or not int(written[:18]) >= 1 or len(written) > 18:
            self.place = first
            raise self._error("expected a whole number from 1 on")
        return int(written)

    def name(self) -> str:
        """A column, perhaps of a table, of which the last part is kept."""
        found = self._word("VAR", "the name of a column", "IDENTIFIER", "STRING")
        while self._peek() == ".":
            self.place += 1
            found = self._word("VAR", "the name of a column", "IDENTIFIER")
        return found

    def strategy(self) -> str:
        """How groups are chosen."""
        first = self.place
        found = self._word("VAR", f"{FOUND} or {PUBLIC}").upper()
        if found not in (FOUND, PUBLIC):
            self.place = first
            raise self._error(f"expected {FOUND} (groups are found) or {PUBLIC} (they are listed)")
        return found

    def groups(self) -> tuple[Any, ...]:
        """A list of values, or of tuples of them."""
        self._expect("[")
        found: list[Any] = []
        while self._peek() != "]" or not found:
            found.append(self._tuple() if self._peek() == "(" else self._value())
            if self._peek() == ",":
                self.place += 1
            elif self._peek() != "]":
                raise self._error("expected , or ]")
        self.place += 1
        return tuple(found)

    def _tuple(self) -> tuple[Any, ...]:
        self._expect("(")
        found = [self._value()]
        while self._peek() == ",":
            self.place += 1
            found.append(self._value())
        self._expect(")")
        return tuple(found)

    def _value(self) -> Any:
        token = self._token()
        words = {"TRUE": True, "FALSE": False, "NULL": None}
        kind, written = token.token_type.name, token.text
        if kind == "DASH":
            self.place += 1
            found = self._word("NUMBER", "a number")
            return -int(found) if found.isdecimal() else -float(found)
        if kind == "DATE" and self._next_kind() == "STRING":
            self.place += 1
            return self._value()
        if kind not in ("STRING", "NUMBER") and written.upper() not in words:
            raise self._error("expected a value: text in single quotes, a number, TRUE, FALSE or NULL")
        self.place += 1
        if kind == "STRING":
            return written
        if kind == "NUMBER":
            return int(written) if written.isdecimal() else float(written)
        return words[written.upper()]

    def _next_kind(self) -> str:
        return self.tokens[self.place + 1].token_type.name if self.place + 1 < len(self.tokens) else ""

    def _word(self, kind: str, expected: str, *kinds: str) -> str:
        token = self._token()
        # Names of columns may be words such as DATE.
        is_word = kind == "VAR" and token.text.isidentifier() and token.token_type.name != "STRING"
        if token.token_type.name not in (kind, *kinds) and not is_word:
            raise self._error(f"expected {expected}")
        self.place += 1
        found: str = token.text
        return found

    def _peek(self) -> str:
        token = self._token()
        return "" if _is_quoted(token) else token.text

    def _token(self) -> Any:
        if self.place >= len(self.tokens):
            last = self.tokens[-1]
            raise self.text.error(f"the text ends where more was expected, as in {EXAMPLE}", last.start, last.end + 1)
        return self.tokens[self.place]

    def _expect(self, written: str) -> None:
        if self._peek() != written:
            raise self._error(f"expected {written}")
        self.place += 1

    def _error(self, problem: str) -> Exception:
        token = self._token()
        return self.text.error(problem, token.start, token.end + 1)


_READERS: dict[str, Any] = {
    "epsilon": _Reader.number,
    "delta": _Reader.number,
    "rho": _Reader.number,
    "privacy_unit_column": _Reader.name,
    "max_rows_contributed": _Reader.count,
    "max_groups_contributed": _Reader.count,
    "max_rows_per_group": _Reader.count,
    "group_selection_strategy": _Reader.strategy,
    "groups": _Reader.groups,
}
