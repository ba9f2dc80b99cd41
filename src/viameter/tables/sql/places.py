"""Places: where in the text something stands, for errors that show it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from viameter.errors import ParameterError, SqlError
from viameter.tables.sql.grammar import END, START

LONGEST_SHOWN = 60
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
        starts, ends = [], []
        for one in node.walk():
            starts += [one.meta[key] for key in (START, "start") if key in one.meta]
            ends += [one.meta[END]] if END in one.meta else []
        if not starts:
            return 0, min(len(self.text), LONGEST_SHOWN)
        start, end = min(starts), max([*ends, min(starts)])
        while self.text[start:end].count("(") > self.text[start:end].count(")"):
            rest = self.text[end:]
            space = len(rest) - len(rest.lstrip())
            if rest[space : space + 1] != ")":
                break
            end += space + 1
        return start, end

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
