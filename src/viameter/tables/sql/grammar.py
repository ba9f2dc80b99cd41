"""The grammar: sqlglot's parser with few keywords, no functions of its own, and a place on every node.

Words that are no keywords here are names, and functions keep the names that were written, so that nothing is rewritten
on the way. `parser` and `tokenizer` import sqlglot when they are called.
"""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

START, END = "viameter_start", "viameter_end"
"""Under which names a node's place in the text is kept in its `meta`."""


@cache
def tokenizer() -> Any:
    """A class that cuts a text into tokens: text in single quotes, names in double quotes or backticks."""
    from sqlglot import TokenType
    from sqlglot.tokens import Tokenizer

    types = ("INT", "BIGINT", "SMALLINT", "TINYINT", "FLOAT", "DOUBLE", "BOOLEAN", "TEXT", "VARCHAR", "DATE")
    words = (
        "SELECT", "FROM", "WHERE", "HAVING", "LIMIT", "OFFSET", "AND", "OR", "NOT", "IN", "IS", "NULL", "TRUE", "FALSE",
        "LIKE", "ILIKE", "BETWEEN", "CASE", "WHEN", "THEN", "ELSE", "END", "ON", "USING", "JOIN", "LEFT", "RIGHT",
        "INNER", "OUTER", "FULL", "CROSS", "NATURAL", "UNION", "INTERSECT", "EXCEPT", "DISTINCT", "ALL", "EXISTS",
        "WITH", "FILTER", "OVER", "ESCAPE", "ASC", "DESC", "UNNEST", "INTERVAL", "QUALIFY", "WINDOW", "RECURSIVE",
    )  # fmt: skip

    class Tokens(Tokenizer):
        """Standard SQL, with names in backticks as in BigQuery."""

        QUOTES: ClassVar[Any] = ["'"]
        IDENTIFIERS: ClassVar[Any] = ['"', "`"]
        STRING_ESCAPES: ClassVar[Any] = ["'"]
        IDENTIFIER_ESCAPES: ClassVar[Any] = ['"']
        BIT_STRINGS: ClassVar[list[Any]] = []
        BYTE_STRINGS: ClassVar[list[Any]] = []
        HEX_STRINGS: ClassVar[list[Any]] = []
        RAW_STRINGS: ClassVar[list[Any]] = []
        HEREDOC_STRINGS: ClassVar[list[Any]] = []
        UNICODE_STRINGS: ClassVar[list[Any]] = []
        NESTED_COMMENTS = False
        HINT_START = ""
        COMMENTS: ClassVar[Any] = ["--", ("/*", "*/")]
        KEYWORDS: ClassVar[Any] = {
            **{word: TokenType[word] for word in (*words, *types)},
            **dict.fromkeys(("INT64", "INTEGER"), TokenType.BIGINT),
            **dict.fromkeys(("FLOAT64", "DOUBLE PRECISION", "REAL", "FLOAT8"), TokenType.DOUBLE),
            **dict.fromkeys(("NUMERIC", "DECIMAL"), TokenType.DECIMAL),
            **dict.fromkeys(("STRING", "CHAR"), TokenType.TEXT),
            **dict.fromkeys(("TIMESTAMP", "DATETIME"), TokenType.TIMESTAMP),
            "TIME": TokenType.TIME,
            "BOOL": TokenType.BOOLEAN,
            "AS": TokenType.ALIAS,
            "GROUP BY": TokenType.GROUP_BY,
            "ORDER BY": TokenType.ORDER_BY,
            "PARTITION BY": TokenType.PARTITION_BY,
            "||": TokenType.DPIPE,
            "<>": TokenType.NEQ,
            "!=": TokenType.NEQ,
            "<=": TokenType.LTE,
            ">=": TokenType.GTE,
            "=>": TokenType.FARROW,
            "::": TokenType.DCOLON,
        }

    return Tokens


@cache
def parser() -> Any:
    """A class that parses tokens to a tree whose nodes know where they stand."""
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.parser import Parser

    class Reader(Parser):
        """Without functions of its own."""

        FUNCTIONS = dict[str, Any]()  # noqa: RUF012
        FUNCTION_PARSERS = dict[str, Any](  # noqa: RUF012
            CAST=Parser.FUNCTION_PARSERS["CAST"],
            TRY_CAST=Parser.FUNCTION_PARSERS["TRY_CAST"],
            SAFE_CAST=Parser.FUNCTION_PARSERS["TRY_CAST"],
            EXTRACT=Parser.FUNCTION_PARSERS["EXTRACT"],
        )
        NO_PAREN_FUNCTIONS = dict[Any, Any]()  # noqa: RUF012
        NO_PAREN_FUNCTION_PARSERS = dict[str, Any](CASE=Parser.NO_PAREN_FUNCTION_PARSERS["CASE"])  # noqa: RUF012

        def expression(self, exp_class: Any, *args: Any, **kwargs: Any) -> Any:
            """A node, with where it begins and ends."""
            node = super().expression(exp_class, *args, **kwargs)
            last = self._prev
            if last is not None:
                begins = [child.meta[START] for child in node.iter_expressions() if START in child.meta]
                node.meta[START] = min([*begins, last.start])
                node.meta[END] = last.end + 1
            return node

    class Words(Dialect):
        """What reads the text here; it writes none."""

        NULL_ORDERING = "nulls_are_last"
        INDEX_OFFSET = 0
        Tokenizer = tokenizer()
        Parser = Reader

    def made() -> Any:
        return Reader(dialect=Words())

    return made
