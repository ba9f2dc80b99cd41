"""What a SELECT shows of an answer: HAVING, ORDER BY, LIMIT and arithmetic see its noisy numbers, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from tests.tables.sql.hospital import SCHEMA, on_duckdb, rows

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.question import Aggregates, Derive, Filter, Join, Listed, Question, Select, Top
from viameter.tables.sql import SqlQuestion, read_sql


@dataclass(frozen=True)
class Made:
    """An answer that was made up."""

    rows: list[dict[str, Any]]

    def to_dicts(self) -> list[dict[str, Any]]:
        return self.rows


def answer(*groups: tuple[Any, ...], names: tuple[str, ...] = ("ward", "n")) -> Made:
    made = []
    for group in groups:
        row = dict(zip(names, group, strict=True))
        numbers = {f"{names[-1]}_{end}": row[names[-1]] for end in ("lower", "upper")}
        made.append(row | numbers)
    return Made(made)


WARDS = answer(("A", 12.0), ("B", 30.0), (None, 7.0), ("C", None), ("D", 30.0))


def shape(sql: str, made: Made = WARDS, **given: Any) -> list[tuple[Any, ...]]:
    return list(read_sql(sql, SCHEMA).shape(made, **({"intervals": False} | given)).rows)


COUNTS = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def test_rows_are_those_of_the_answer_in_the_order_of_the_select_list() -> None:
    found = read_sql("SELECT COUNT(*) AS n, ward AS w FROM visits GROUP BY ward", SCHEMA).shape(WARDS)
    assert found.columns == ("n", "n_lower", "n_upper", "w")
    assert found.rows[0] == (12.0, 12.0, 12.0, "A")
    assert found.to_dicts()[1] == {"n": 30.0, "n_lower": 30.0, "n_upper": 30.0, "w": "B"}
    assert found.to_columns()["w"] == ["A", "B", None, "C", "D"]
    assert list(found.to_pandas().columns) == list(found.columns)
    assert len(found) == 5 and found.answer is WARDS


def test_having_keeps_rows_for_which_it_is_true() -> None:
    assert shape(f"{COUNTS} HAVING n > 10") == [("A", 12.0), ("B", 30.0), ("D", 30.0)]
    # What is unknown is not above, and not below.
    assert shape(f"{COUNTS} HAVING NOT n > 10") == [(None, 7.0)]
    assert shape(f"{COUNTS} HAVING ward IN ('A', 'C') OR COUNT(*) = 7") == [("A", 12.0), (None, 7.0), ("C", None)]
    assert shape(f"{COUNTS} HAVING n IS NULL") == [("C", None)]


def test_order_is_stable_and_has_what_is_unknown_last() -> None:
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n")] == [None, "A", "B", "D", "C"]
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n DESC")] == ["B", "D", "A", None, "C"]
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n DESC NULLS FIRST, ward DESC")] == ["C", "D", "B", "A", None]
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY -n, 1")] == ["B", "D", "A", None, "C"]


def test_limit_and_offset_come_last() -> None:
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n DESC LIMIT 2")] == ["B", "D"]
    assert [row[0] for row in shape(f"{COUNTS} ORDER BY n DESC LIMIT 2 OFFSET 1")] == ["D", "A"]
    assert shape(f"{COUNTS} LIMIT 0") == []
    assert shape(f"{COUNTS} OFFSET 9") == []


def test_arithmetic_on_aggregates_has_no_interval() -> None:
    asked = "SELECT ward, COUNT(*) AS n, COUNT(*) / 4 AS quarter, UPPER(ward) AS big FROM visits"
    found = read_sql(f"{asked} GROUP BY ward HAVING quarter > 1", SCHEMA).shape(WARDS)
    assert found.columns == ("ward", "n", "n_lower", "n_upper", "quarter", "big")
    assert [row[-2:] for row in found.rows] == [(3.0, "A"), (7.5, "B"), (1.75, None), (7.5, "D")]


def test_groups_without_a_name_and_without_rows_are_shaped() -> None:
    assert shape("SELECT COUNT(*) AS n FROM visits", answer((5.0,), names=("n",))) == [(5.0,)]
    assert shape(f"{COUNTS} HAVING ward <> 'A' ORDER BY ward", Made([])) == []


def test_the_answer_must_have_aggregates() -> None:
    asked = SqlQuestion(Question(asked=Top(3)), ())
    with pytest.raises(ParameterError, match="has aggregates"):
        asked.shape(WARDS)


def built(table: Any, question: Question) -> Any:
    """The question as calls of a table's methods."""
    for step in question.source.steps:
        match step:
            case Filter(predicate=predicate):
                table = table.filter(predicate.read(table.schema))
            case Derive(columns=columns):
                table = table.derive(**{name: made.read(table.schema) for name, made in columns})
            case Select(names=names):
                table = table.select(*names)
            case Join(other=other, on=on):
                table = table.join(other, on=on)
    if question.limits.given:
        table = table.limit(**question.limits.given)
    assert isinstance(question.asked, Aggregates)
    groups = question.groups
    keys = groups.keys.value if isinstance(groups, Listed) else None
    if groups.columns:
        table = table.group_by(*groups.columns, keys=keys and [tuple(k) if isinstance(k, list) else k for k in keys])
    return table.agg(**dict(question.asked.named))


def test_a_question_is_answered_as_an_engine_answers_it_but_for_the_noise() -> None:
    table = [{**row, "patient": f"p{place}"} for place, row in enumerate(rows(400))]
    data = {name: [row[name] for row in table] for name in ("patient", "ward", "wait", "late", "day")}
    opened = vm.open(data, unit=vm.per("patient", rows=1), budget=vm.zcdp(10**9))
    names = {"code": ["A", "B", "Emergency"], "name": ["Cardiology", "Surgery", "Emergency"]}
    sql = """
        WITH known AS (SELECT patient, ward, wait, EXTRACT(YEAR FROM day) AS year FROM visits WHERE day IS NOT NULL)
        SELECT {clause} name AS ward, year, COUNT(*) AS n, COUNT(wait) AS with_wait, AVG(CLAMP(wait, 0, 200)) AS mean,
               SUM(CLAMP(wait, 0, 200)) / COUNT(wait) AS ratio, COUNT(DISTINCT patient) AS people
        FROM known JOIN wards ON known.ward = wards.code
        WHERE NOT wait > 290
        GROUP BY name, year
        HAVING COUNT(*) > 3
        ORDER BY year DESC, 1
    """
    options = (
        "WITH DIFFERENTIAL_PRIVACY OPTIONS(rho = 1e8, privacy_unit_column = patient, "
        "group_selection_strategy = PUBLIC_GROUPS, groups = [('Cardiology', 2023), "
        "('Surgery', 2023), ('Cardiology', 2024), ('Surgery', 2024), ('Emergency', 2030)])"
    )
    asked = read_sql(sql.format(clause=options), opened.schema, tables={"wards": names}, unit=opened.unit)
    assert asked.loss is not None
    found = asked.shape(built(opened, asked.question).release(spend=asked.loss), intervals=False)
    engine = on_duckdb(table)
    engine.execute(
        "CREATE TABLE wards AS SELECT * FROM (VALUES ('A', 'Cardiology'), ('B', 'Surgery')) AS w(code, name)"
    )
    plain = sql.format(clause="").replace(
        "CLAMP(wait, 0, 200)", "CASE WHEN wait < 0 THEN 0 WHEN wait > 200 THEN 200 ELSE wait END"
    )
    expected = [row for row in engine.execute(plain).fetchall() if row[1] < 2025]
    assert len(found) == len(expected) == 2
    for row, other in zip(found.rows, expected, strict=True):
        assert row[:2] == other[:2]
        assert row[2:] == pytest.approx(other[2:], abs=0.5)
