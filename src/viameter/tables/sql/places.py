"""Places: where in the text something stands, for errors that show it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from viameter.errors import ParameterError, SqlError
from viameter.tables.sql.grammar import END, START

LONGEST_SHOWN = 60
FIRST_WORDS = {
    "Select": "SELECT", "Case": "CASE", "Cast": "CAST", "Exists": "EXISTS", "Unnest": "UNNEST", "Interval": "INTERVAL",
    "Extract": "EXTRACT", "Not": "NOT", "Limit": "LIMIT", "Offset": "OFFSET", "Where": "WHERE", "Having": "HAVING",
    "Group": "GROUP BY", "Order": "ORDER BY", "Join": "JOIN", "Qualify": "QUALIFY", "With": "RECURSIVE",
}  # fmt: skip
"""With which word a node starts, whose own place the parser does not tell."""
IN_SQL = (
    ('.cast("integer") or .cast("real")', "CAST(... AS INT64) or CAST(... AS FLOAT64)"),
    ('.cast("integer")', "CAST(... AS INT64)"),
    ('.cast("date")', "CAST(... AS DATE)"),
    ('.cast("text")', "CAST(... AS STRING)"),
    (".floor() or .round_to(1).floor()", "FLOOR(...), or FLOOR(ROUND(...))"),
    (".is_null()", "IS NULL"),
    ("only == and != compare it", "only = and <> compare it"),
    (", with parentheses around it: (a > 1) & (b < 2)", ", as in a > 1 AND b < 2"),
)
"""What errors of expressions say to write, in the words of SQL."""


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a question, and errors that point into it."""

    text: str

    def error(self, problem: str, start: int, end: int) -> SqlError:
        """An error about the letters from start to before end."""
        start = min(max(start, 0), len(self.text))
        shown = " ".join(self.text[start : max(end, start)].split())
        shown = shown if len(shown) <= LONGEST_SHOWN else f"{shown[: LONGEST_SHOWN - 3]}..."
        before = self.text[:start]
        return SqlError(problem, line=before.count("\n") + 1, column=start - before.rfind("\n"), text=shown)

    def at(self, node: Any, problem: str) -> SqlError:
        """An error about a node of the tree."""
        return self.error(problem, *self.span(node))

    def span(self, node: Any) -> tuple[int, int]:
        """Where a node stands, with the parentheses that close in it."""
        begins: dict[int, int] = {}
        ends = []
        for one in reversed(list(node.walk())):  # parts before what they are part of
            known = [one.meta[key] for key in (START, "start") if key in one.meta]
            known += [begins[id(part)] for part in one.iter_expressions() if id(part) in begins]
            if known:
                begins[id(one)] = self._first_word(one, min(known))
            ends += [one.meta[END]] if END in one.meta else []
        if id(node) not in begins:
            return 0, min(len(self.text), LONGEST_SHOWN)
        start = begins[id(node)]
        end = max([*ends, start])
        while self.text[start:end].count("(") > self.text[start:end].count(")"):
            rest = self.text[end:]
            space = len(rest) - len(rest.lstrip())
            if rest[space : space + 1] != ")":
                break
            end += space + 1
        return start, end

    def _first_word(self, node: Any, start: int) -> int:
        """Where a node starts with the word before what the parser tells the place of."""
        word = node.this.name if type(node).__name__ == "Kwarg" else FIRST_WORDS.get(type(node).__name__)
        if not word:
            return start
        first = max(0, start - LONGEST_SHOWN)
        before = re.search(rf"\b{re.escape(word)}\b(?:\s+WHEN\b)?[^A-Za-z]*$", self.text[first:start], re.IGNORECASE)
        return start if before is None else first + before.start()

    @contextmanager
    def blaming(self, node: Any) -> Iterator[None]:
        """Errors of what is made there are errors at the node."""
        try:
            yield
        except SqlError:
            raise
        except (ParameterError, ValueError) as problem:
            said = str(problem)
            for python, sql in IN_SQL:
                said = said.replace(python, sql)
            raise self.at(node, said) from None
