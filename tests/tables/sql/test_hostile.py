"""Text that is long, deep or odd: a clear error with a place, at once."""

from __future__ import annotations

import random
import threading

import pytest
from tests.tables.sql.hospital import SCHEMA

from viameter.errors import SqlError
from viameter.tables.sql import read_sql

MANY = 100_000
FEW = 1_200
HOSTILE = {
    "parentheses": "SELECT " + "(" * MANY,
    "closed parentheses": "SELECT " + "(" * MANY + "1" + ")" * MANY,
    "some parentheses": "SELECT COUNT(*) FROM visits WHERE " + "(" * 21 + "late" + ")" * 21,
    "calls": "SELECT COUNT(*) FROM visits WHERE " + "ABS(" * 900 + "wait" + ")" * 900 + " > 1",
    "case": "SELECT COUNT(*) FROM visits WHERE " + "CASE WHEN late THEN " * 500 + "late" + " END" * 500,
    "subqueries": "SELECT COUNT(*) FROM " + "(SELECT * FROM " * 200 + "visits" + ")" * 200,
    "lists": "SELECT " + "[" * 500 + "1" + "]" * 500,
    "not": "SELECT COUNT(*) FROM visits WHERE " + "NOT " * FEW + "late",
    "not equal": "SELECT COUNT(*) FROM visits WHERE " + "NOT late = " * FEW + "late",
    "minus": "SELECT COUNT(*) FROM visits WHERE " + "- " * FEW + "wait > 1",
    "plus": "SELECT COUNT(*) FROM visits WHERE " + "wait + " * FEW + "wait > 1",
    "equal": "SELECT COUNT(*) FROM visits WHERE " + "late = " * FEW + "late",
    "casts": "SELECT COUNT(*) FROM visits WHERE wait" + "::INT64" * FEW + " > 1",
    "intervals": "SELECT COUNT(*) FROM visits WHERE " + "INTERVAL " * FEW + "1",
    "unions": "SELECT COUNT(*) FROM visits" + " UNION SELECT COUNT(*) FROM visits" * 400,
    "joins": "SELECT COUNT(*) FROM visits" + " JOIN visits" * FEW,
    "joins with conditions": "SELECT COUNT(*) FROM visits" + " JOIN visits" * 500 + " ON late = late" * 500,
    "dots": "SELECT COUNT(*) FROM visits WHERE " + "visits." * FEW + "late",
    "remainders": "SELECT COUNT(*) FROM visits WHERE " + "wait" + " % beds" * 60 + " > 1",
    "comment": "SELECT COUNT(*) /* " + "x" * 1000,
    "comments": "/* " * 5000,
    "statements": "SELECT COUNT(*) FROM visits; DROP TABLE visits",
    "semicolons": ";" * 500,
    "NUL": "SELECT COUNT(*)\nFROM vis\0its",
    "lone surrogate": "SELECT COUNT(*) FROM visits WHERE ward = '\ud800'",
    "control character": "SELECT COUNT(*) FROM visits WHERE ward = '\x07'",
    "unclosed text": "SELECT COUNT(*) FROM visits WHERE ward = 'A",
    "unclosed name": 'SELECT COUNT(*) FROM visits WHERE "ward = 1',
    "too long": "SELECT COUNT(*) FROM visits WHERE ward = '" + "a" * 20_000 + "'",
    "many tokens": "SELECT COUNT(*) FROM visits WHERE wait IN (" + "1," * 3_000 + "1)",
    "many aggregates": "SELECT " + ", ".join(f"COUNTIF(wait = {n}) AS n{n}" for n in range(150)) + " FROM visits",
    "doubling": "WITH a0 AS (SELECT * FROM visits), "
    + ", ".join(f"a{n} AS (SELECT * FROM a{n - 1} x JOIN a{n - 1} y ON x.patient = y.patient)" for n in range(1, 40))
    + " SELECT COUNT(*) FROM a39",
    "nothing": "",
    "spaces": " \n\t ",
    "a comment alone": "-- nothing",
    "huge number": "SELECT COUNT(*) FROM visits WHERE wait > " + "9" * 5000,
    "huge exponent": "SELECT COUNT(*) FROM visits WHERE cost > 1e999999999",
    "huge bound": "SELECT SUM(wait, contribution_bounds_per_row => (0, 1e300)) FROM visits",
    "endless bound": "SELECT SUM(wait, contribution_bounds_per_row => (0, 1e999999999)) FROM visits",
    "endless loss": "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1e999999999) COUNT(*) FROM visits",
    "huge loss": "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=" + "9" * 9000 + ") COUNT(*) FROM visits",
    "huge limit": "SELECT COUNT(*) FROM visits LIMIT " + "9" * 9000,
    "huge position": "SELECT COUNT(*) FROM visits GROUP BY " + "9" * 9000,
    "open options": "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(",
    "no options": "SELECT WITH DIFFERENTIAL_PRIVACY",
    "open groups": "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(groups = [",
    "braces": "SELECT {{ x }} FROM visits",
    "template": "{# x #} SELECT COUNT(*) FROM visits {% if %}",
    "dollar": "SELECT $1 FROM visits",
    "parameter": "SELECT COUNT(*) FROM visits WHERE wait > ?",
    "named parameter": "SELECT COUNT(*) FROM visits WHERE wait > @x",
    "lambda": "SELECT COUNT(*) FROM visits WHERE x -> x",
}

WORDS = """
SELECT FROM WHERE GROUP~BY ORDER~BY HAVING LIMIT visits wait ward late ( ) , * + - / % = <> < AND OR NOT IN IS
NULL LIKE BETWEEN CASE WHEN THEN ELSE END AS n COUNT(*) COUNT( SUM(
""AVG(wait,~contribution_bounds_per_row~=>~(0,~9)) 1 2.5 'A' "x" JOIN RIGHT~JOIN UNNEST(['A']) ON ""USING WITH
DISTINCT OPTIONS DIFFERENTIAL_PRIVACY epsilon [ ] => ; . CAST( EXTRACT( YEAR DATE day FILTER OVER UNION EXISTS
INTERVAL :: || `w` LEFT OFFSET DESC NULLS~FIRST WITHIN~GROUP ALL TRUE
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_refused_with_a_place(name: str) -> None:
    for schema in (SCHEMA, None):
        with pytest.raises(SqlError) as error:
            read_sql(HOSTILE[name], schema, unit="patient")
        assert error.value.line >= 1
        assert error.value.column >= 1
        assert len(error.value.text) <= 60
        assert len(str(error.value)) < 1_500


def test_what_is_long_and_means_something_is_read() -> None:
    long = "SELECT COUNT(*) FROM visits WHERE " + " OR ".join(f"wait = {n}" for n in range(900))
    assert read_sql(long, SCHEMA).question.source.steps
    listed = "SELECT COUNT(*) FROM visits WHERE wait IN (" + ", ".join(map(str, range(2_000))) + ")"
    assert read_sql(listed, SCHEMA).question.source.steps
    deep = "SELECT COUNT(*) FROM visits WHERE " + "(" * 18 + "late" + ")" * 18
    assert read_sql(deep, SCHEMA).question.source.steps


def test_the_place_of_a_sign_that_may_not_stand_there_is_told() -> None:
    with pytest.raises(SqlError, match="control character") as error:
        read_sql("SELECT COUNT(*)\nFROM vis\0its")
    assert (error.value.line, error.value.column) == (2, 9)


def test_no_text_whatever_makes_another_error() -> None:
    words = [word.replace("~", " ") for word in WORDS.split()]
    draw, read = random.Random(3), 0
    start = ["SELECT", "COUNT(*)", "FROM", "visits"]
    for _ in range(3_000):
        given = [*start[: draw.randrange(5)], *(draw.choice(words) for _ in range(draw.randrange(1, 14)))]
        try:
            read_sql(" ".join(given), draw.choice([SCHEMA, None]), unit="patient")
            read += 1
        except SqlError:
            pass
    assert read > 20


def test_it_is_read_in_a_thread_that_is_deep_already() -> None:
    found: list[object] = []

    def deep(level: int) -> None:
        if level:
            deep(level - 1)
        else:
            found.append(read_sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", SCHEMA))

    thread = threading.Thread(target=deep, args=(500,))
    thread.start()
    thread.join()
    assert found
