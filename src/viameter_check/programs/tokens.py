"""Tokens: a text in its smallest parts, and a position among them."""

from __future__ import annotations

import re
from fractions import Fraction

from viameter_check.amounts import shortened
from viameter_check.programs.scopes import NAME
from viameter_check.report import Refused

_TOKEN = re.compile(
    rf"\s*(?:(?P<number>[0-9]+)|(?P<name>(?:cost\.(?:ln\([0-9]+(?:/[0-9]+)?\)|\w+)|{NAME})(?:<[12]>)?)"
    r"|(?P<op>:=\$|:=|=>|==|!=|<=|>=|//|[-+*/%<>()\[\],:]))",
    re.ASCII,
)
MOST_CHARACTERS = 20_000
MOST_DIGITS = 300


class Tokens:
    """A position in the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.text, self.place = text, 0
        self.tokens: list[tuple[str, str]] = []
        self.ends: list[int] = []
        if len(text) > MOST_CHARACTERS:
            raise Refused(f"a text has {len(text)} characters: this checker reads up to {MOST_CHARACTERS}")
        if not text.isprintable():
            raise Refused(f"cannot read {shortened(text)}: it has a character that cannot be printed")
        where, end = 0, len(text.rstrip())
        while where < end:
            found = _TOKEN.match(text, where)
            if found is None:
                raise Refused(f"cannot read {shortened(text[where:].strip())} in {shortened(text.strip())}")
            self.tokens.append((str(found.lastgroup), found[str(found.lastgroup)]))
            where = found.end()
            self.ends.append(where)

    def problem(self, message: str) -> Refused:
        """What to raise where the text cannot be read on."""
        return Refused(f"{shortened(self.text.strip())}: {message}")

    @property
    def kind(self) -> str:
        """What the next token is: number, name, op, or nothing at the end."""
        return self.tokens[self.place][0] if self.place < len(self.tokens) else ""

    @property
    def next(self) -> str:
        """The next token; empty at the end."""
        return self.tokens[self.place][1] if self.place < len(self.tokens) else ""

    def accept(self, *wanted: str) -> str:
        """The next token, if it is one of these; else nothing."""
        found = self.next
        if found not in wanted:
            return ""
        self.place += 1
        return found

    def take(self, wanted: str) -> None:
        """The next token, which must be this one."""
        if not self.accept(wanted):
            raise self.problem(f"expected {wanted!r}, found {self.next[:60] or 'the end'!r}")

    def integer(self) -> int:
        """A number without a sign."""
        if self.kind != "number" or len(self.next) > MOST_DIGITS:
            raise self.problem(f"expected a whole number of up to {MOST_DIGITS} digits, found {self.next[:60]!r}")
        self.place += 1
        return int(self.tokens[self.place - 1][1])

    def ratio(self) -> Fraction:
        """A number such as 3 or 1/2."""
        top = self.integer()
        bottom = self.integer() if self.accept("/") else 1
        if bottom == 0:
            raise self.problem("divides by zero")
        return Fraction(top, bottom)

    def word(self) -> str:
        """A name without a side."""
        if self.kind != "name" or self.next.endswith(">"):
            raise self.problem(f"expected a name, found {self.next[:60] or 'the end'!r}")
        self.place += 1
        return self.tokens[self.place - 1][1]

    @property
    def rest(self) -> str:
        """The text that was not read yet."""
        return self.text[self.ends[self.place - 1] if self.place else 0 :].strip()

    def done(self) -> None:
        """Nothing may be left."""
        if self.next:
            raise self.problem(f"did not expect {self.next[:60]!r}")
