"""Questions in SQL, asked of tables that were opened here."""

from __future__ import annotations

from typing import Any

import pytest
from tests.tables.sql.hospital import on_duckdb, rows

import viameter as vm
from viameter.errors import MeasureMismatch, NoTheorem, ParameterError, SqlError

ROWS = [{**row, "patient": f"p{place}"} for place, row in enumerate(rows(400))]
DATA = {name: [row[name] for row in ROWS] for name in ("patient", "ward", "wait", "late", "day")}
NAMES = {"code": ["A", "B", "Emergency"], "name": ["Cardiology", "Surgery", "Emergency"]}
SQL = """
    WITH known AS (SELECT patient, ward, wait, EXTRACT(YEAR FROM day) AS year FROM visits WHERE day IS NOT NULL)
    SELECT {clause} name AS ward, year, COUNT(*) AS n, COUNT(wait) AS with_wait, AVG(CLAMP(wait, 0, 200)) AS mean,
           SUM(CLAMP(wait, 0, 200)) / COUNT(wait) AS ratio, COUNT(DISTINCT patient) AS people
    FROM known JOIN wards ON known.ward = wards.code
    WHERE NOT wait > 290
    GROUP BY name, year
    HAVING COUNT(*) > 3
    ORDER BY year DESC, 1
"""
GROUPS = """
    groups = [('Cardiology', 2023), ('Surgery', 2023), ('Cardiology', 2024), ('Surgery', 2024), ('Emergency', 2030)]
"""


def opened(**given: Any) -> Any:
    options = {"unit": vm.per("patient", rows=1), "budget": vm.zcdp(10**9)} | given
    return vm.open(DATA, **options)


def test_a_question_is_answered_as_an_engine_answers_it_but_for_the_noise() -> None:
    clause = f"WITH DIFFERENTIAL_PRIVACY OPTIONS(rho = 1e8, privacy_unit_column = patient, {GROUPS})"
    found = opened().sql(SQL.format(clause=clause), tables={"wards": NAMES}).release()
    assert found.columns[:5] == ("ward", "year", "n", "n_lower", "n_upper")
    assert found.loss <= vm.zcdp(10**8)
    engine = on_duckdb(ROWS)
    engine.execute("CREATE TABLE wards (code VARCHAR, name VARCHAR)")
    engine.execute("INSERT INTO wards VALUES ('A', 'Cardiology'), ('B', 'Surgery')")
    clamped = "CASE WHEN wait < 0 THEN 0 WHEN wait > 200 THEN 200 ELSE wait END"
    plain = SQL.format(clause="").replace("CLAMP(wait, 0, 200)", clamped)
    expected = [row for row in engine.execute(plain).fetchall() if row[1] < 2025]
    names = ("ward", "year", "n", "with_wait", "mean", "ratio", "people")
    assert len(found) == len(expected) == 2
    for row, other in zip(found.to_dicts(), expected, strict=True):
        values = [row[name] for name in names]
        assert values[:2] == list(other[:2])
        assert values[2:] == pytest.approx(list(other[2:]), abs=0.5)


def test_the_answer_of_a_plain_question_shows_itself() -> None:
    found = (
        opened()
        .sql("SELECT late AS l, COUNT(*) AS n FROM t GROUP BY late ORDER BY n DESC")
        .release(spend=vm.zcdp(10**8))
    )
    assert repr(found).splitlines()[0].split() == ["l", "n", "n_lower", "n_upper"]
    assert len(found.rows) == 2


def test_it_is_asked_of_the_rows_of_the_table_with_its_steps_and_limits() -> None:
    table = opened(unit=vm.per("patient", rows=5))
    some = table.filter(table["wait"] > 5).limit(rows=2)
    question = some.sql(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 1) COUNT(*) AS n FROM v WHERE late"
    )
    assert len(question.query.question.source.steps) == 2
    assert question.query.question.limits.rows == 1
    assert "wait > 5" in repr(question)
    with pytest.raises(ParameterError, match="more than the table allows"):
        table.sql("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(max_rows_contributed = 9) COUNT(*) AS n FROM v")


def test_what_it_costs_is_said_once() -> None:
    table = opened()
    said = table.sql("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(rho = 0.5) COUNT(*) AS n FROM v")
    assert said.preview().loss == table.sql("SELECT COUNT(*) AS n FROM v").preview(spend=vm.zcdp("1/2")).loss
    with pytest.raises(ParameterError, match="leave spend"):
        said.preview(spend=vm.zcdp(1))
    with pytest.raises(ParameterError, match="OPTIONS"):
        table.sql("SELECT COUNT(*) AS n FROM v").release()
    assert table.sql("SELECT COUNT(*) AS n FROM v").preview(within={"n": 10}).rows[0].widths[""] <= 10


def test_epsilon_alone_is_a_loss_with_a_delta_of_0_where_the_budget_has_one() -> None:
    sql = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({}) COUNT(*) AS n FROM v"
    for options, budget, loss in [
        ("epsilon = 1", vm.pure(2), vm.pure(1)),
        ("epsilon = 1", vm.approx(2, "1e-6"), vm.approx(1, 0)),
        ("rho = 1", vm.approx_zcdp(2, "1e-6"), vm.approx_zcdp(1, 0)),
        ("epsilon = 1, delta = 1e-6", vm.approx(2, "1e-6"), vm.approx(1, "1e-6")),
    ]:
        assert opened(budget=budget).sql(sql.format(options)).preview().loss <= loss
    with pytest.raises(MeasureMismatch, match=r"give vm\.zcdp"):
        opened(budget=vm.zcdp(2)).sql(sql.format("epsilon = 1")).preview()


def test_groups_that_are_to_be_found_need_a_delta() -> None:
    sql = "SELECT ward, COUNT(*) AS n FROM v GROUP BY ward"
    with pytest.raises(NoTheorem, match="delta"):
        opened().sql(sql).preview(spend=vm.zcdp(1))
    found = opened(budget=vm.approx(50, "1e-3")).sql(sql).release(spend=vm.approx(50, "1e-3"))
    assert "A" in found.to_columns()["ward"]


def test_several_tables_are_asked_together() -> None:
    hospital = vm.open(
        {"people": {"id": [1, 2], "age": [50, 61]}, "visits": {"patient": [1, 1, 2], "wait": [10, 30, 5]}},
        unit=vm.per_entity("people", key="id", links={"visits": ("patient", "people")}, rows=3),
        budget=vm.zcdp(10**9),
    )
    sql = "SELECT SUM(CLAMP(wait, 0, 60)) AS s, COUNT(DISTINCT patient) AS n FROM visits JOIN people ON patient = id"
    found = hospital.sql(f"{sql} WHERE age > 40").release(spend=vm.zcdp(10**8))
    assert found.to_dicts()[0]["s"] == pytest.approx(45)
    assert found.to_dicts()[0]["n"] == pytest.approx(2)
    with pytest.raises(SqlError, match="there is no table wards; there are people, visits"):
        hospital.sql("SELECT COUNT(*) FROM wards")


def test_a_unit_of_rows_has_no_column() -> None:
    table = opened(unit=vm.per_row())
    assert table.sql("SELECT COUNT(*) AS n FROM v").preview(spend=vm.zcdp(1)).fits
    with pytest.raises(SqlError, match="no unit that a column names"):
        table.sql("SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(privacy_unit_column = patient) COUNT(*) FROM v")
