"""Reading: a text of SQL, whose size is limited before it is parsed, made a question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from viameter.errors import ParameterError, SqlError, plain
from viameter.tables.expressions import Schema
from viameter.tables.public_tables import PublicTable, public
from viameter.tables.sql.clause import Options, take_options
from viameter.tables.sql.grammar import parser, tokenizer
from viameter.tables.sql.places import Text
from viameter.tables.sql.selecting import Selecting
from viameter.tables.sql.shaping import SqlQuestion
from viameter.tables.sql.sources import Known, Sources
from viameter.tables.units import PerId, Unit

MOST_LETTERS = 20_000
MOST_TOKENS = 5_000
DEEPEST = 20
"""How deeply brackets and CASE may be nested: the parser takes some 25 calls of Python for a level."""
OPENING, CLOSING = ("L_PAREN", "L_BRACKET", "L_BRACE", "CASE"), ("R_PAREN", "R_BRACKET", "R_BRACE", "END")
SELECT_ONLY = "a question starts with SELECT or WITH: tables are never changed"
TOO_DEEP = f"it is nested too deeply: at most {DEEPEST} levels of brackets, CASE and NOT are read"
PARTS = (
    "expressions",
    "from",
    "from_",
    "joins",
    "where",
    "with",
    "with_",
    "group",
    "having",
    "order",
    "limit",
    "offset",
)
NOT_ASKED = {
    "distinct": "SELECT DISTINCT shows values of rows: write SELECT ward, COUNT(*) ... GROUP BY ward",
    "qualify": "window functions (QUALIFY) are not read: HAVING leaves out groups",
    "windows": "window functions (WINDOW) are not read",
}


def read_sql(
    text: str,
    schema: Schema | Mapping[str, Schema] | None = None,
    *,
    tables: Mapping[str, Any] | None = None,
    unit: Unit | str | None = None,
) -> SqlQuestion:
    """The question of a SELECT, as data; SqlError with the place in the text for what cannot be asked.

    `schema` has the columns of the private table, or of several by name: types are checked then, and names of columns
    may be written in other capitals. `tables` has public tables by name, as `vm.public` takes them. `unit` is whose
    presence is hidden, or the column that names it, where OPTIONS(privacy_unit_column = ...) does not say it.

    >>> read_sql("SELECT MIN(wait) FROM visits")
    Traceback (most recent call last):
    viameter.errors.SqlError: line 1, column 8, at 'MIN(wait)': the least row cannot be told: ...
    """
    if not isinstance(text, str):
        raise ParameterError(f"SQL is text: got {plain(text)}")
    whole = Text(text)
    tokens = _tokens(whole)
    tokens, options, clause = take_options(tokens, whole)
    select = _parsed(tokens, whole)
    known = _known(schema, tables, unit, options, whole, clause)
    try:
        return _read(select, whole, known, options, clause)
    except RecursionError:
        raise whole.at(select, TOO_DEEP) from None


def _read(select: Any, text: Text, known: Known, options: Options, clause: tuple[int, int]) -> SqlQuestion:
    for name, problem in NOT_ASKED.items():
        found = select.args.get(name)
        if found:
            raise text.at(found[0] if isinstance(found, list) else found, problem)
    sources = Sources(text, known)
    sources.only(select, *PARTS)
    scope = sources.rows(select, {})
    return Selecting(text, options, scope, clause).read(select)


def _tokens(text: Text) -> list[Any]:
    """The tokens of a text that is not too long, nor nested too deeply."""
    from sqlglot.errors import TokenError

    if len(text.text) > MOST_LETTERS:
        raise SqlError(
            f"the text has {len(text.text):,} characters: at most {MOST_LETTERS:,} are read", line=1, column=1, text=""
        )
    for place, letter in enumerate(text.text):
        if (letter < " " and letter not in "\t\n\r") or "\ud800" <= letter <= "\udfff":
            shown = "a control character" if letter < " " else "half of a surrogate pair"
            before = Text(text.text[:place]).error("", place, place)
            raise SqlError(f"{shown} stands here: remove it", line=before.line, column=before.column, text="")
    try:
        tokens = tokenizer()().tokenize(text.text)
    except TokenError:
        raise _unclosed(text) from None
    if len(tokens) > MOST_TOKENS:
        raise text.error(f"the text has more than {MOST_TOKENS:,} words and signs", tokens[MOST_TOKENS].start, 0)
    depth = 0
    for token in tokens:
        kind = token.token_type.name
        depth += (kind in OPENING) - (kind in CLOSING)
        if depth > DEEPEST:
            raise text.error(TOO_DEEP, token.start, token.end + 1)
    if not tokens:
        raise text.error("the text is empty: write SELECT ward, COUNT(*) FROM visits GROUP BY ward", 0, 0)
    return list(tokens)


def _unclosed(text: Text) -> SqlError:
    """The error for a text, name or comment that does not end."""
    place, closing = 0, {"'": "'", '"': '"', "`": "`", "--": "\n", "/*": "*/"}
    while place < len(text.text):
        opened = next((one for one in closing if text.text.startswith(one, place)), None)
        if opened is None:
            place += 1
            continue
        end = text.text.find(closing[opened], place + len(opened))
        if end < 0 and opened != "--":
            return text.error(f"what {opened} begins does not end: {closing[opened]} is missing", place, len(text.text))
        place = len(text.text) if end < 0 else end + len(closing[opened])
    return text.error("this is not understood", 0, len(text.text))


def _parsed(tokens: Sequence[Any], text: Text) -> Any:
    """The tree of the one SELECT."""
    from sqlglot.errors import ParseError

    first = tokens[0]
    if first.token_type.name not in ("SELECT", "WITH", "L_PAREN"):
        raise text.error(SELECT_ONLY, first.start, first.end + 1)
    ends = [place for place, token in enumerate(tokens) if token.token_type.name == "SEMICOLON"]
    if ends and ends[0] != len(tokens) - 1:
        after = tokens[ends[0] + 1]
        raise text.error("one question at a time: leave out what stands behind the first ;", after.start, after.end + 1)
    for token in tokens:
        if token.token_type.name == "UNKNOWN":
            raise text.error("this sign is not understood", token.start, token.end + 1)
    try:
        trees = parser()().parse([token for token in tokens if token.token_type.name != "SEMICOLON"], text.text)
    except ParseError as problem:
        raise _misparsed(problem, tokens, text) from None
    except RecursionError:
        raise text.error(TOO_DEEP, first.start, first.end + 1) from None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        # On some texts that are no SQL, the parser fails on itself.
        raise text.error("this is not understood", first.start, tokens[-1].end + 1) from None
    tree = trees[0]
    while type(tree).__name__ in ("Subquery", "Paren") and not tree.args.get("alias"):
        tree = tree.this
    if type(tree).__name__ in ("Union", "Intersect", "Except"):
        sign = next(token for token in tokens if token.token_type.name in ("UNION", "INTERSECT", "EXCEPT"))
        raise text.error(f"{sign.text.upper()} is not read: ask one question for each part", sign.start, sign.end + 1)
    if type(tree).__name__ != "Select":
        raise text.at(tree, SELECT_ONLY)
    return tree


def _misparsed(problem: Any, tokens: Sequence[Any], text: Text) -> SqlError:
    """The error of a text that is no SQL, at the token where the parser stopped."""
    found = problem.errors[0] if problem.errors else {}
    place = next((one for one in tokens if (one.line, one.col) == (found.get("line"), found.get("col"))), tokens[-1])
    said = str(found.get("description") or "this is not understood")
    if said.startswith("Required keyword"):
        said = "something is missing here"
    said = {"Invalid expression / Unexpected token": "this is not understood here"}.get(said, said)
    return text.error(f"{said[:1].lower()}{said[1:]}", place.start, place.end + 1)


def _known(
    schema: Schema | Mapping[str, Schema] | None,
    tables: Mapping[str, Any] | None,
    unit: Unit | str | None,
    options: Options,
    text: Text,
    clause: tuple[int, int],
) -> Known:
    """What is known of tables and of the unit, which is not to be said in two ways."""
    given = (
        {}
        if tables is None
        else {name: one if isinstance(one, PublicTable) else public(one) for name, one in tables.items()}
    )
    written = options.privacy_unit_column
    if written is None:
        return Known(schema, given, unit)
    if unit is None:
        return Known(schema, given, written)
    of = unit if isinstance(unit, str) else unit.id if isinstance(unit, PerId) else None
    if of is None:
        raise text.error(f"the table hides {unit!r}, and no unit that a column names", *clause)
    if of.casefold() != written.casefold():
        raise text.error(f"the table hides whoever {of} names: write privacy_unit_column = {of}", *clause)
    return Known(schema, given, unit)
