"""What WITH and FROM name is what is read: nothing is passed over, and no name is taken for another."""

from __future__ import annotations

import pytest

import viameter as vm
from viameter.errors import SqlError
from viameter.tables import Table


@pytest.fixture(scope="module")
def table() -> Table:
    rows = {"patient": list(range(12)), "a": [0] * 12, "b": list(range(12))}
    opened: Table = vm.open(rows, unit=vm.per("patient", rows=1), budget=vm.zcdp(100))
    return opened


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("WITH q(a, b) AS (SELECT b, a FROM visits) SELECT COUNT(*) AS n FROM q WHERE a > 5", "COLUMNS is not read"),
        ("SELECT COUNT(*) AS n FROM (SELECT b, a FROM visits) AS q(a, b) WHERE a > 5", "COLUMNS is not read"),
        ("WITH a AS (SELECT b FROM b), b AS (SELECT b FROM visits) SELECT COUNT(*) AS n FROM a", "not used"),
        ("WITH q AS (SELECT a FROM visits) SELECT COUNT(*) AS n FROM qq", "q is named here and not used"),
        ("WITH q AS (SELECT a FROM visits), r AS (SELECT a FROM p) SELECT COUNT(*) AS n FROM r", "not used|no table"),
        ("WITH q AS (SELECT a FROM x) SELECT COUNT(*) AS n FROM q JOIN y ON q.a = y.a", "no table y"),
        ("WITH b AS (SELECT a FROM visits), B AS (SELECT b FROM visits) SELECT COUNT(*) AS n FROM b", "called B"),
        ("SELECT COUNT(*) AS n FROM (SELECT *, b * 0 AS b FROM visits) AS x", "one of them by"),
        ("SELECT COUNT(*) AS n FROM visits@x", "expected a name"),
        ("SELECT COUNT(*) AS n FROM ONLY visits", "ONLY is not read"),
    ],
)
def test_what_would_be_passed_over_is_refused(table: Table, text: str, said: str) -> None:
    with pytest.raises(SqlError, match=said):
        table.sql(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("SELECT COUNT(*) AS n FROM visits AS v JOIN (SELECT *, y AS x FROM pub) AS p ON v.b = p.b", "are called x"),
        ("SELECT COUNT(*) AS n FROM visits AS v JOIN (SELECT b, x, y AS x FROM pub) AS p ON v.b = p.b", "called x"),
        ("SELECT COUNT(*) AS n FROM visits AS v JOIN (SELECT zzz.b FROM pub) AS p ON v.b = p.b", "no table zzz"),
        (
            "SELECT COUNT(*) AS n FROM visits AS v "
            "JOIN (WITH u AS (SELECT o FROM w) SELECT b FROM pub) AS p ON v.b = p.b",
            "u is named here and not used",
        ),
        (
            "SELECT p.b, COUNT(*) AS n FROM visits AS v "
            "RIGHT JOIN (SELECT DISTINCT ON (x) b FROM pub) AS p ON v.b = p.b GROUP BY p.b",
            "ON is not read",
        ),
        ("SELECT COUNT(*) AS n FROM visits AS v OUTER JOIN pub AS p ON v.b = p.b", "joins are"),
    ],
)
def test_of_public_tables_nothing_is_passed_over_either(table: Table, text: str, said: str) -> None:
    with pytest.raises(SqlError, match=said):
        table.sql(text, tables={"pub": vm.public({"b": [1, 2], "x": ["p", "q"], "y": ["r", "s"]})})


def test_parts_of_with_are_read_in_their_order(table: Table) -> None:
    text = "WITH q AS (SELECT a, b FROM visits WHERE b > 8), r AS (SELECT b FROM q) SELECT COUNT(*) AS n FROM r"
    assert str(table.sql(text).query.question) == "table.filter(b > 8).select(a, b).select(b).agg(n=count())"
