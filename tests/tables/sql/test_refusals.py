"""What cannot be asked, with its place in the text and what to write instead."""

from __future__ import annotations

import pickle

import pytest
from tests.tables.sql.hospital import SCHEMA

import viameter as vm
from viameter.errors import ParameterError, SqlError
from viameter.tables.sql import read_sql

VISITS = "FROM visits"
REFUSED = [
    # What is written, what is shown of it, and what is said.
    ("SELECT * FROM visits", "*", "rows are never shown"),
    ("SELECT visits.* FROM visits", "visits.*", "rows are never shown"),
    ("SELECT wait FROM visits", "wait", "GROUP BY wait, or an aggregate"),
    ("SELECT ward, wait, COUNT(*) FROM visits GROUP BY ward", "wait", "GROUP BY wait"),
    ("SELECT ward FROM visits GROUP BY ward", "ward", "ask an aggregate"),
    ("SELECT DISTINCT ward FROM visits", "DISTINCT", "SELECT ward, COUNT(*)"),
    ("SELECT COUNT(*) AS n, 5 AS five FROM visits", "5 AS five", "constant"),
    ("SELECT COUNT(*) + 1 FROM visits", "COUNT(*) + 1", "give it a name"),
    ("SELECT MIN(wait) FROM visits", "MIN(wait)", "PERCENTILE_CONT(x, 0.01"),
    ("SELECT ward, MAX(wait) AS m FROM visits GROUP BY ward", "MAX(wait)", "PERCENTILE_CONT(x, 0.99"),
    ("SELECT ANY_VALUE(ward) FROM visits", "ANY_VALUE(ward)", "never shown"),
    ("SELECT VAR_SAMP(CLAMP(wait, 0, 9)) FROM visits", "VAR_SAMP(CLAMP(wait, 0, 9))", "VAR_POP"),
    ("SELECT COUNT(DISTINCT ward) FROM visits", "COUNT(DISTINCT ward)", "group by the column"),
    ("SELECT SUM(DISTINCT wait) FROM visits", "SUM(DISTINCT wait)", "DISTINCT is not read"),
    ("SELECT APPROX_COUNT_DISTINCT(ward) FROM visits", "APPROX_COUNT_DISTINCT(ward)", "COUNT(DISTINCT unit)"),
    ("SELECT AVG(wait) FROM visits", "AVG(wait)", "AVG(wait, contribution_bounds_per_row => (l, u))"),
    ("SELECT PERCENTILE_CONT(wait, 0.5) FROM visits", "PERCENTILE_CONT(wait, 0.5)", "0.9, contribution_bounds_per_row"),
    ("SELECT SUM(wait, contribution_bounds_per_row => (9, 0)) FROM visits", "SUM(wait", "not in order"),
    ("SELECT SUM(wait, contribution_bounds_per_row => (0, beds)) FROM visits", "beds", "written out"),
    ("SELECT SUM(wait, contribution_bounds_per_row => 9) FROM visits", "9", "two numbers"),
    (
        "SELECT SUM(wait, contribution_bounds_per_group => (0, 9)) FROM visits",
        "contribution_bounds",
        "per_row => (l, u)",
    ),
    ("SELECT SUM(wait, bounds => (0, 9)) FROM visits", "bounds", "contribution_bounds_per_row"),
    ("SELECT COUNT(*, contribution_bounds_per_row => (0, 9)) FROM visits", "COUNT(*", "max_rows_per_group"),
    ("SELECT SUM(AVG(CLAMP(wait, 0, 1)), contribution_bounds_per_row => (0, 9)) FROM visits", "AVG(CLAMP", "not in an"),
    ("SELECT SUM(ward, contribution_bounds_per_row => (0, 9)) FROM visits", "SUM(ward", "is TEXT, and no number"),
    ("SELECT APPROX_QUANTILES(CLAMP(wait, 0, 9), 4) FROM visits", "APPROX_QUANTILES(", "[OFFSET(90)]"),
    ("SELECT APPROX_QUANTILES(CLAMP(wait, 0, 9), 4)[OFFSET(5)] FROM visits", "APPROX_QUANTILES(", "[OFFSET(90)]"),
    ("SELECT SUM(CLAMP(wait, 0, 9))[0] FROM visits", "SUM(CLAMP", "only after APPROX_QUANTILES"),
    ("SELECT PERCENTILE_CONT(CLAMP(wait, 0, 9), 1.5) FROM visits", "PERCENTILE_CONT", "not between 0 and 1"),
    ("SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY wait DESC) FROM visits", "PERCENTILE_CONT", "ascending"),
    ("SELECT COUNT(*) OVER (PARTITION BY ward) FROM visits", "COUNT(*)", "leave OVER (...) out"),
    ("SELECT ROW_NUMBER() OVER (ORDER BY wait) AS r FROM visits", "ROW_NUMBER", "window functions"),
    ("SELECT ROW_NUMBER() FROM visits", "ROW_NUMBER()", "window functions"),
    ("SELECT COUNT(*) FROM visits QUALIFY 1 = 1", "QUALIFY 1 = 1", "QUALIFY"),
    ("SELECT COUNT(*) FROM visits UNION ALL SELECT COUNT(*) FROM visits", "UNION", "one question for each part"),
    ("SELECT COUNT(*) FROM visits; SELECT COUNT(*) FROM visits", "SELECT", "one question at a time"),
    ("INSERT INTO visits VALUES (1)", "INSERT", "never changed"),
    ("DROP TABLE visits", "DROP", "never changed"),
    ("CREATE TABLE x AS SELECT COUNT(*) FROM visits", "CREATE", "never changed"),
    ("EXPLAIN SELECT COUNT(*) FROM visits", "EXPLAIN", "SELECT or WITH"),
    ("SELECT COUNT(*)", "SELECT COUNT(*)", "FROM is missing"),
    ("SELECT COUNT(*) FROM visits WHERE wat > 5", "wat", "did you mean wait?"),
    ("SELECT COUNT(*) FROM visits WHERE v.wait > 5", "v.wait", "there is no table v"),
    ("SELECT COUNT(*) FROM visits WHERE COUNT(*) > 5", "COUNT(*)", "of a group"),
    ("SELECT COUNT(*) FROM visits WHERE wait", "wait", "WHERE takes a condition"),
    ("SELECT COUNT(*) FROM visits WHERE ward > 'A'", "ward > 'A'", "only = and <>"),
    ("SELECT COUNT(*) FROM visits WHERE ward = 5", "ward = 5", "TEXT"),
    ("SELECT COUNT(*) FROM visits WHERE wait = 'A'", "wait = 'A'", "INTEGER"),
    ("SELECT COUNT(*) FROM visits WHERE wait = NULL", "wait = NULL", "IS NULL"),
    ("SELECT COUNT(*) FROM visits WHERE wait <> NULL", "wait <> NULL", "IS NULL"),
    ("SELECT COUNT(*) FROM visits WHERE wait NOT IN (1, NULL)", "wait NOT IN (1, NULL)", "leave it out of the list"),
    ("SELECT COUNT(*) FROM visits WHERE wait IN (SELECT 1 FROM visits)", "wait IN (", "list the values"),
    ("SELECT COUNT(*) FROM visits WHERE wait > (SELECT AVG(wait) FROM visits)", "SELECT AVG", "subquery"),
    ("SELECT COUNT(*) FROM visits WHERE EXISTS (SELECT 1 FROM visits)", "EXISTS", "EXISTS is not read"),
    ("SELECT COUNT(*) FROM visits WHERE ward LIKE '_a%'", "ward LIKE '_a%'", "patterns are"),
    ("SELECT COUNT(*) FROM visits WHERE ward LIKE '%a%b%'", "ward LIKE", "patterns are"),
    ("SELECT COUNT(*) FROM visits WHERE ward LIKE '%'", "ward LIKE '%'", "patterns are"),
    ("SELECT COUNT(*) FROM visits WHERE ward LIKE 'a!%' ESCAPE '!'", "ward LIKE", "ESCAPE"),
    ("SELECT COUNT(*) FROM visits WHERE ward ILIKE 'a%'", "ward ILIKE 'a%'", "LOWER(x) LIKE"),
    ("SELECT COUNT(*) FROM visits WHERE ward || 'x' = 'Ax'", "ward || 'x'", "group by both"),
    ("SELECT COUNT(*) FROM visits WHERE day > CURRENT_DATE", "CURRENT_DATE", "DATE '2024-05-31'"),
    ("SELECT COUNT(*) FROM visits WHERE day > NOW()", "NOW()", "another value each time"),
    ("SELECT COUNT(*) FROM visits WHERE RAND() < 0.5", "RAND()", "another value each time"),
    ("SELECT COUNT(*) FROM visits WHERE day > DATE '2024-02-30'", "'2024-02-30'", "ISO"),
    ("SELECT COUNT(*) FROM visits WHERE day + INTERVAL 1 DAY > '2024-01-01'", "INTERVAL 1 DAY", "DATE_DIFF"),
    ("SELECT COUNT(*) FROM visits WHERE LOG(wait) > 1", "LOG(wait)", "LN(x)"),
    ("SELECT COUNT(*) FROM visits WHERE LENGHT(ward) > 1", "LENGHT(ward)", "did you mean LENGTH?"),
    ("SELECT COUNT(*) FROM visits WHERE LENGTH(ward, 2) > 1", "LENGTH(ward, 2)", "LENGTH(x)"),
    ("SELECT COUNT(*) FROM visits WHERE ROUND(cost, 2) > 1", "ROUND(cost, 2)", "/ 100"),
    ("SELECT COUNT(*) FROM visits WHERE CAST(cost AS INT64) > 1", "CAST(cost AS INT64", "FLOOR(...)"),
    ("SELECT COUNT(*) FROM visits WHERE CAST(wait AS DECIMAL(10, 2)) > 1", "CAST(wait AS DECIMAL", "FLOAT64"),
    ("SELECT COUNT(*) FROM visits WHERE CAST(ward AS VARCHAR(1)) = 'A'", "CAST(ward AS VARCHAR(1", "without sizes"),
    ("SELECT COUNT(*) FROM visits WHERE DATE_TRUNC(day, WEEK) = '2024-01-01'", "DATE_TRUNC(day, WEEK)", "ISOWEEK"),
    ("SELECT COUNT(*) FROM visits WHERE EXTRACT(WEEK FROM day) = 1", "EXTRACT(WEEK FROM day", "EXTRACT is of"),
    ("SELECT COUNT(*) FROM visits WHERE (wait, beds) = (1, 2)", "wait, beds", "one by one"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ROLLUP (ward)", "ROLLUP", "there is no function ROLLUP"),
    ("SELECT cost, COUNT(*) FROM visits GROUP BY cost", "cost", "REAL"),
    ("SELECT COUNT(*) AS n FROM visits GROUP BY n", "n", "an aggregate cannot make them"),
    ("SELECT COUNT(*) AS n FROM visits GROUP BY 2", "2", "numbered from 1"),
    ("SELECT COUNT(*) AS n FROM visits GROUP BY 'A'", "'A'", "columns and expressions"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward HAVING wait > 5", "wait", "GROUP BY wait"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward ORDER BY wait", "wait", "GROUP BY wait"),
    ("SELECT ward, COUNT(*) FROM visits GROUP BY ward LIMIT wait", "LIMIT wait", "whole number"),
    ("SELECT COUNT(*) FROM people, visits", "visits", "on which columns?"),
    ("SELECT COUNT(*) FROM visits LEFT JOIN wards ON ward = code", "JOIN wards", "LEFT JOIN is not read"),
    ("SELECT COUNT(*) FROM visits CROSS JOIN wards", "JOIN wards", "CROSS JOIN is not read"),
    ("SELECT COUNT(*) FROM visits JOIN wards ON ward <> code", "ward <> code", "columns that are equal"),
    ("SELECT COUNT(*) FROM visits JOIN wards ON wait = code", "JOIN wards", "INTEGER in the one"),
    ("SELECT COUNT(*) FROM visits JOIN wards USING (code)", "code", "there is no column code"),
    ("SELECT COUNT(*) FROM wards", "wards", "FROM names the private one"),
    ("SELECT COUNT(*) FROM UNNEST([1, 2]) AS x", "UNNEST([1", "RIGHT JOIN UNNEST"),
    ("SELECT COUNT(*) FROM visits JOIN UNNEST(['A']) AS w ON ward = w", "JOIN UNNEST", "WHERE x IN"),
    ("SELECT COUNT(*) FROM visits RIGHT JOIN UNNEST(['A']) AS w ON ward = w", "SELECT COUNT(*)", "GROUP BY these"),
    (
        "SELECT late, COUNT(*) FROM visits RIGHT JOIN UNNEST(['A']) AS w ON ward = w GROUP BY late",
        "GROUP BY late",
        "GROUP BY these",
    ),
    ("SELECT COUNT(*) FROM (SELECT ward FROM visits GROUP BY ward) AS v", "GROUP BY ward", "gives rows"),
    ("SELECT COUNT(*) FROM (SELECT ward FROM visits LIMIT 5) AS v", "LIMIT 5", "LIMIT leaves"),
    ("SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM visits) AS v", "DISTINCT", "DISTINCT"),
    ("SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM visits) AS v", "COUNT(*)", "of a group"),
    ("SELECT COUNT(*) FROM (SELECT wait + 1 FROM visits) AS v", "wait + 1", "give it a name"),
    ("WITH RECURSIVE v AS (SELECT * FROM v) SELECT COUNT(*) FROM v", "RECURSIVE", "not read"),
    (
        "SELECT COUNT(*) FROM (SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1) * FROM visits) AS v",
        "WITH DIFF",
        "outermost",
    ),
    ("SELECT WITH ANONYMIZATION OPTIONS(epsilon=1) COUNT(*) FROM visits", "ANONYMIZATION", "DIFFERENTIAL_PRIVACY"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=-1) COUNT(*) FROM visits", "-", "0 or more"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(kappa=1) COUNT(*) FROM visits", "kappa", "options are epsilon"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, epsilon=2) COUNT(*) FROM visits", "epsilon", "said twice"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, rho=2) COUNT(*) FROM visits", ")", "epsilon, or rho"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(delta=1e-6) COUNT(*) FROM visits", ")", "beside it a delta"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed=0) COUNT(*) FROM visits", "0", "from 1 on"),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column=ward) COUNT(*) FROM visits", "WITH", "patient"),
    (
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(group_selection_strategy=PUBLIC_GROUPS) COUNT(*) FROM visits",
        "WITH",
        "RIGHT JOIN UNNEST",
    ),
    ("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(groups=['A']) COUNT(*) FROM visits", "WITH", "GROUP BY is missing"),
]


@pytest.mark.parametrize(("sql", "shown", "said"), REFUSED)
def test_it_is_refused_with_its_place_and_what_to_write(sql: str, shown: str, said: str) -> None:
    tables = {"wards": vm.public({"code": ["A", "B"], "name": ["x", "y"]})}
    with pytest.raises(SqlError) as error:
        read_sql(sql, SCHEMA, tables=tables, unit="patient")
    found = error.value
    assert said in found.problem
    assert found.text.startswith(shown)
    assert sql[found.column - 1 :].startswith(found.text.removesuffix("...")[:20])
    assert found.line == 1


def test_lines_and_columns_are_counted_from_one() -> None:
    with pytest.raises(SqlError) as error:
        read_sql("SELECT ward,\n       COUNT(*) AS n\nFROM visits\nWHERE wat > 5", SCHEMA)
    found = error.value
    assert (found.line, found.column, found.text) == (4, 7, "wat")
    assert str(found).startswith("line 4, column 7, at 'wat': there is no column wat; did you mean wait?")
    assert isinstance(found, ParameterError)
    again = pickle.loads(pickle.dumps(found))
    assert (again.line, again.column, again.text, str(again)) == (4, 7, "wat", str(found))


def test_the_place_is_right_behind_the_privacy_clause() -> None:
    clause = "SELECT WITH DIFFERENTIAL_PRIVACY\n  OPTIONS(epsilon = 1)\n"
    with pytest.raises(SqlError) as error:
        read_sql(f"{clause}  MIN(wait) FROM visits", SCHEMA)
    assert (error.value.line, error.value.column, error.value.text) == (3, 3, "MIN(wait)")


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(ParameterError, match="SQL is text"):
        read_sql(5)  # type: ignore[arg-type]
