"""SELECTs and the questions that they equal."""

from __future__ import annotations

import json
import pickle
from datetime import date
from fractions import Fraction
from typing import Any

import pytest
from tests.tables.sql.hospital import SCHEMA

import viameter as vm
from viameter.errors import SqlError
from viameter.tables.aggregates import Count, CountUnits, median, quantile, std, variance
from viameter.tables.aggregates.means import mean_of
from viameter.tables.aggregates.sums import sum_of
from viameter.tables.bounding import Limits
from viameter.tables.document import question_from_json, question_to_json
from viameter.tables.expressions import Column, Expression, Kind, Schema, Type, case
from viameter.tables.formula import Formula
from viameter.tables.question import Aggregates, All, Question, read_groups
from viameter.tables.sql import Ordering, Output, SqlQuestion, read_sql
from viameter.tables.steps import Derive, Filter, Join, Select, Source

WARDS = vm.public({"code": ["A", "B"], "name": ["Cardiology", "Emergency"], "beds": [3, 5]})


def at(name: str) -> Expression:
    return Column(name, SCHEMA[name])


def read(sql: str, **given: Any) -> SqlQuestion:
    return read_sql(sql, SCHEMA, **given)


def asked(sql: str, **given: Any) -> dict[str, Any]:
    found = read(sql, **given).question.asked
    assert isinstance(found, Aggregates)
    return dict(found.named)


def one(expression: str, **given: Any) -> Any:
    return asked(f"SELECT {expression} AS n FROM visits", **given)["n"]


def steps(sql: str, **given: Any) -> tuple[Any, ...]:
    return read(sql, **given).question.source.steps


def test_a_select_equals_the_question_that_python_writes() -> None:
    found = read(
        "SELECT ward, COUNT(*) AS n, AVG(wait, contribution_bounds_per_row => (0, 240)) AS delay\n"
        "FROM visits WHERE wait > 5 AND cost < 1.5 GROUP BY ward"
    )
    late = Formula.of((at("wait") > 5) & (at("cost") < 1.5))
    assert found.question == Question(
        Source(steps=(Filter(late),)),
        Limits(),
        read_groups(["ward"]),
        Aggregates((("n", Count()), ("delay", mean_of("wait", bounds=(0, 240))))),
    )
    assert found.outputs == (Output("ward", "ward"), Output("n", "n"), Output("delay", "delay"))
    assert pickle.loads(pickle.dumps(found)) == found


def test_without_a_schema_the_same_is_read_as_it_was_written() -> None:
    found = read_sql("SELECT COUNT(*) AS n FROM visits WHERE wait > 5 AND ward = 'A'").question
    (step,) = found.source.steps
    assert isinstance(step, Filter)
    assert step.predicate.read(SCHEMA).same_as((at("wait") > 5) & (at("ward") == "A"))


AGGREGATES = {
    "COUNT(*)": Count(),
    "count(*)": Count(),
    "COUNT(1)": Count(),
    "COUNT(wait)": sum_of(~at("wait").is_null(), bounds=(0, 1)),
    "COUNT(DISTINCT patient)": CountUnits(),
    "COUNTIF(wait > 5)": sum_of(at("wait") > 5, bounds=(0, 1)),
    "COUNT(*) FILTER (WHERE late)": sum_of(Formula.of({"column": "late"}), bounds=(0, 1)),
    "SUM(wait, contribution_bounds_per_row => (0, 240))": sum_of("wait", bounds=(0, 240)),
    "SUM(wait * beds, contribution_bounds_per_row => (-1, 1e3))": sum_of(at("wait") * at("beds"), bounds=(-1, 1000)),
    "SUM(CLAMP(wait, 0, 240))": sum_of("wait", bounds=(0, 240)),
    "SUM(LEAST(GREATEST(wait, 0), 240))": sum_of("wait", bounds=(0, 240)),
    "SUM(GREATEST(0, LEAST(240, wait)))": sum_of("wait", bounds=(0, 240)),
    "SUM(CASE WHEN late THEN 1 ELSE 0 END, contribution_bounds_per_row => (0, 1))": sum_of(
        case((at("late"), 1), default=0), bounds=(0, 1)
    ),
    "SUM(CLAMP(wait, 0, 9)) FILTER (WHERE late)": sum_of(case((at("late"), at("wait"))), bounds=(0, 9)),
    "AVG(cost, contribution_bounds_per_row => (0, 0.1))": mean_of("cost", bounds=(0, 0.1)),
    "AVG(CLAMP(wait / 60, 0, 4))": mean_of(at("wait") / 60, bounds=(0, 4)),
    "VAR_POP(CLAMP(wait, 0, 9))": variance("wait", bounds=(0, 9)),
    "VARIANCE(CLAMP(wait, 0, 9))": variance("wait", bounds=(0, 9)),
    "STDDEV(CLAMP(wait, 0, 9))": std("wait", bounds=(0, 9)),
    "STDDEV_POP(CLAMP(wait, 0, 9))": std("wait", bounds=(0, 9)),
    "MEDIAN(CLAMP(wait, 0, 9))": median("wait", bounds=(0, 9)),
    "MEDIAN(wait, contribution_bounds_per_row => (0, 9))": median("wait", bounds=(0, 9)),
    "APPROX_QUANTILES(CLAMP(wait, 0, 9), 2)[OFFSET(1)]": median("wait", bounds=(0, 9)),
    "APPROX_QUANTILES(wait, 100, contribution_bounds_per_row => (0, 9))[SAFE_ORDINAL(91)]": quantile(
        "wait", 0.9, bounds=(0, 9)
    ),
    "PERCENTILE_CONT(wait, 0.9, contribution_bounds_per_row => (0, 9))": quantile("wait", 0.9, bounds=(0, 9)),
    "PERCENTILE_DISC(0.9) WITHIN GROUP (ORDER BY CLAMP(wait, 0, 9))": quantile("wait", 0.9, bounds=(0, 9)),
    "APPROX_PERCENTILE(CLAMP(wait, 0, 9), 0.25)": quantile("wait", Fraction(1, 4), bounds=(0, 9)),
}


def test_aggregates_are_those_of_the_library() -> None:
    for sql, expected in AGGREGATES.items():
        assert one(sql, unit="patient") == expected, sql


def test_a_count_of_a_column_without_null_is_a_count() -> None:
    required = Schema(SCHEMA, required=["wait"])
    found = read_sql("SELECT COUNT(wait) AS n FROM visits", required).question.asked
    assert found == Aggregates((("n", Count()),))


def test_an_aggregate_that_is_written_twice_is_asked_once() -> None:
    found = read("SELECT COUNT(*) AS n, COUNT(*) AS m, COUNT(*) * 2 AS twice FROM visits HAVING COUNT(*) > 5")
    assert found.question.asked == Aggregates((("n", Count()),))
    assert [one.name for one in found.outputs] == ["n", "m", "twice"]


def test_names_that_were_not_given_are_made() -> None:
    found = read(
        "SELECT COUNT(*), AVG(CLAMP(wait, 0, 9)), AVG(wait, contribution_bounds_per_row => (0, 9)) AS x FROM visits"
    )
    assert found.columns == ("count", "avg", "x")
    with pytest.raises(SqlError, match="two columns would be called count"):
        read("SELECT COUNT(*), COUNT(wait) AS count FROM visits")
    with pytest.raises(SqlError, match="rename one"):
        read("SELECT COUNT(*) AS n, COUNT(wait) AS n_lower FROM visits")


def test_groups_are_columns_expressions_positions_and_aliases() -> None:
    for sql in (
        "SELECT EXTRACT(YEAR FROM day) AS y, COUNT(*) AS n FROM visits GROUP BY y",
        "SELECT EXTRACT(YEAR FROM day) AS y, COUNT(*) AS n FROM visits GROUP BY 1",
        "SELECT EXTRACT(YEAR FROM day) AS y, COUNT(*) AS n FROM visits GROUP BY EXTRACT(YEAR FROM day)",
        "SELECT extract(year from DAY) AS y, COUNT(*) AS n FROM visits GROUP BY Y, 1",
    ):
        found = read(sql)
        assert found.question.source.steps == (Derive((("y", Formula.of(at("day").year())),)),), sql
        assert found.question.groups == read_groups(["y"]), sql
        assert found.outputs[0] == Output("y", "y"), sql


def test_a_column_under_another_name_is_grouped_by_as_it_is() -> None:
    for group in ("w", "ward", "1", "visits.ward"):
        found = read(f"SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY {group}")
        assert found.question.groups == read_groups(["ward"])
        assert found.outputs[0] == Output("w", "ward")


def test_a_group_may_be_left_out_of_what_is_shown() -> None:
    assert read("SELECT COUNT(*) AS n FROM visits GROUP BY ward").columns == ("n",)


def test_an_alias_that_shadows_a_column_is_refused_where_it_is_not_clear() -> None:
    with pytest.raises(SqlError, match="both a column and an entry"):
        read("SELECT LOWER(ward) AS ward, COUNT(*) AS n FROM visits GROUP BY ward")
    found = read("SELECT LOWER(ward) AS ward, COUNT(ward) AS n FROM visits GROUP BY 1")
    # The column itself stays what it is: n counts it.
    assert found.question.source.steps == (Derive((("ward_2", Formula.of(at("ward").lower())),)),)
    assert found.outputs[0] == Output("ward", "ward_2")
    both = read("SELECT ward, AVG(CLAMP(wait, 0, 9)) AS wait FROM visits GROUP BY ward HAVING wait > 5 ORDER BY wait")
    assert both.having == Formula.of(
        {"operation": "gt", "arguments": [{"column": "wait"}, {"value": 5, "kind": "INTEGER"}]}
    )


def test_names_are_matched_as_written_or_but_for_capitals() -> None:
    assert steps("SELECT COUNT(*) AS n FROM visits WHERE LATE")[0].predicate.read(SCHEMA).same_as(at("late"))
    assert steps('SELECT COUNT(*) AS n FROM visits WHERE "late"')[0].predicate.read(SCHEMA).same_as(at("late"))
    assert steps("SELECT COUNT(*) AS n FROM visits AS v WHERE V.`late`")[0].predicate.read(SCHEMA).same_as(at("late"))
    with pytest.raises(SqlError, match="there is no column LATE"):
        read('SELECT COUNT(*) AS n FROM visits WHERE "LATE"')
    two = Schema({"a": Type(Kind.BOOLEAN), "A": Type(Kind.BOOLEAN)})
    assert read_sql("SELECT COUNT(*) AS n FROM v WHERE A", two).question.source.steps[0] == Filter(
        Formula.of({"column": "A"})
    )


def test_text_in_double_quotes_is_a_name() -> None:
    with pytest.raises(SqlError, match="text is written in single quotes"):
        read('SELECT COUNT(*) FROM visits WHERE ward = "A"')


KEYS = read_groups(["ward"], keys=["A", "B"])


def test_groups_are_listed_by_a_right_join_or_in_options() -> None:
    for sql in (
        "SELECT w, COUNT(*) AS n FROM visits RIGHT JOIN UNNEST(['A', 'B']) AS w ON visits.ward = w GROUP BY w",
        "SELECT w, COUNT(*) AS n FROM visits v RIGHT OUTER JOIN UNNEST(['A', 'B', 'A']) w ON v.ward = w GROUP BY 1",
        "SELECT w, COUNT(*) AS n FROM visits RIGHT JOIN UNNEST(['A', 'B']) AS t(w) ON ward = t.w GROUP BY 1",
        "SELECT code, COUNT(*) AS n FROM visits RIGHT JOIN wards ON ward = code GROUP BY code",
        "SELECT c, COUNT(*) AS n FROM visits RIGHT JOIN (SELECT DISTINCT code c FROM wards) w ON ward = c GROUP BY c",
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(groups = ['A', 'B']) ward, COUNT(*) AS n FROM visits GROUP BY ward",
    ):
        found = read(sql, tables={"wards": WARDS})
        assert found.question.groups == KEYS, sql
        assert found.question.source.steps == (), sql


def test_where_lists_no_groups() -> None:
    found = read("SELECT ward, COUNT(*) AS n FROM visits WHERE ward IN ('A', 'B') GROUP BY ward")
    assert found.question.groups == read_groups(["ward"])


def test_groups_of_several_columns_are_listed_as_tuples() -> None:
    tuples = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(groups = [('A', TRUE), ('B', NULL)]) ward, late, COUNT(*) AS n"
    found = read(f"{tuples} FROM visits GROUP BY ward, late")
    assert found.question.groups == read_groups(["ward", "late"], keys=[("A", True), ("B", None)])
    pairs = {"w": ["A", "A"], "y": [2023, 2024]}
    joined = read(
        "SELECT p.y, p.w, COUNT(*) AS n FROM (SELECT ward, YEAR(day) AS year FROM visits) AS v "
        "RIGHT JOIN pairs AS p ON v.ward = p.w AND v.year = p.y GROUP BY p.y, p.w",
        tables={"pairs": pairs},
    )
    assert joined.question.groups == read_groups(["year", "ward"], keys=[(2023, "A"), (2024, "A")])


def test_listed_days_are_days() -> None:
    found = read(
        "SELECT d, COUNT(*) AS n FROM visits RIGHT JOIN UNNEST([DATE '2024-05-31']) AS d ON day = d GROUP BY d"
    )
    assert found.question.groups == read_groups(["day"], keys=[date(2024, 5, 31)])


def test_public_tables_are_joined_on_equal_columns() -> None:
    renamed = vm.public({"ward": ["A", "B"], "name": ["Cardiology", "Emergency"], "w_beds": [3, 5]})
    found = read(
        "SELECT name, COUNT(*) AS n FROM visits AS v JOIN wards AS w ON v.ward = w.code WHERE w.beds > v.beds "
        "GROUP BY name",
        tables={"wards": WARDS},
    )
    joined, kept = found.question.source.steps
    assert joined == Join(renamed, ("ward",))
    both = {**SCHEMA, **renamed.schema, "ward": SCHEMA["ward"]}
    assert isinstance(kept, Filter)
    assert kept.predicate.read(Schema(both)).columns == {"w_beds", "beds"}
    using = read(
        "SELECT code, COUNT(*) AS n FROM (SELECT ward AS code FROM visits) AS v INNER JOIN wards USING (code) "
        "GROUP BY code",
        tables={"Wards": WARDS},
    )
    assert using.question.source.steps[-1] == Join(WARDS, ("code",))


def test_subqueries_and_with_are_steps() -> None:
    for sql in (
        "SELECT w, COUNT(*) AS n FROM (SELECT ward AS w, wait + 1 AS more FROM visits WHERE late) AS v "
        "WHERE more > 5 GROUP BY w",
        "WITH v AS (SELECT ward AS w, wait + 1 AS more FROM visits WHERE late) "
        "SELECT w, COUNT(*) AS n FROM v WHERE more > 5 GROUP BY w",
        "WITH late AS (SELECT * FROM visits WHERE late), v AS (SELECT ward AS w, wait + 1 AS more FROM late) "
        "SELECT w, COUNT(*) AS n FROM v WHERE v.more > 5 GROUP BY v.w",
    ):
        first, second, third, fourth = steps(sql)
        assert first.predicate.read(SCHEMA).same_as(at("late"))
        assert second == Derive((("w", Formula.of({"column": "ward"})), ("more", Formula.of(at("wait") + 1))))
        assert third == Select(("w", "more"))
        assert isinstance(fourth, Filter)


def test_aliases_of_a_subquery_are_of_the_rows_before() -> None:
    (derived, selected) = steps("SELECT COUNT(*) AS n FROM (SELECT wait AS beds, beds AS wait FROM visits) AS v")
    assert derived == Derive((("beds", Formula.of({"column": "wait"})), ("wait", Formula.of({"column": "beds"}))))
    assert selected == Select(("beds", "wait"))
    (added,) = steps("SELECT COUNT(*) AS n FROM (SELECT *, wait > 5 AS long FROM visits) AS v")
    assert added == Derive((("long", Formula.of(at("wait") > 5)),))


def test_the_unit_is_known_by_the_names_that_subqueries_give_it() -> None:
    found = read("SELECT COUNT(DISTINCT v.who) AS n FROM (SELECT patient AS who FROM visits) AS v", unit="patient")
    assert found.question.asked == Aggregates((("n", CountUnits()),))
    with pytest.raises(SqlError, match="keep it in subqueries"):
        read("SELECT COUNT(DISTINCT patient) AS n FROM (SELECT ward AS patient FROM visits) AS v", unit="patient")


def test_private_tables_are_joined_on_the_unit() -> None:
    schemas = {"visits": SCHEMA, "people": Schema({"patient": SCHEMA["patient"], "age": Type(Kind.INTEGER)})}
    found = read_sql(
        "SELECT COUNT(*) AS n FROM visits v JOIN people p ON v.patient = p.patient WHERE p.age > 60",
        schemas,
        unit="patient",
    ).question
    assert found.source.table == "visits"
    assert found.source.steps[0] == Join(Source("people"))
    entity = vm.per_entity("people", key="id", links={"visits": ("patient", "people")}, rows=3)
    keyed = {"visits": SCHEMA, "people": Schema({"id": SCHEMA["patient"], "age": Type(Kind.INTEGER)})}
    linked = read_sql("SELECT COUNT(*) AS n FROM visits JOIN people ON patient = id", keyed, unit=entity).question
    assert linked.source.steps == (Join(Source("people")),)
    with pytest.raises(SqlError, match="joined on the privacy unit"):
        read_sql("SELECT COUNT(*) FROM visits JOIN people ON wait = age", schemas, unit="patient")
    with pytest.raises(SqlError, match="both tables have a column"):
        read_sql("SELECT COUNT(*) FROM visits a JOIN visits b ON a.patient = b.patient", schemas, unit="patient")


def test_options_say_loss_limits_and_unit() -> None:
    found = read(
        "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=0.1, delta = 1e-6, privacy_unit_column=visits.patient, "
        "max_groups_contributed=3, max_rows_contributed => 20, max_rows_per_group = 5, "
        "group_selection_strategy = LAPLACE_THRESHOLD) ward, COUNT(DISTINCT patient) AS n FROM visits GROUP BY ward"
    )
    assert found.loss == vm.approx("1/10", "1e-6")
    assert found.unit_column == "patient"
    assert found.question.limits == Limits(rows=20, groups=3, per_group=5)
    assert found.options.given["group_selection_strategy"] == "LAPLACE_THRESHOLD"


def test_losses_are_exact_and_of_the_measure_that_is_said() -> None:
    for options, loss in {
        "epsilon = 0.1": vm.pure("0.1"),
        "EPSILON = 1, DELTA = 0": vm.approx(1, 0),
        "rho = 0.005": vm.zcdp("1/200"),
        "rho = 1, delta = 1e-9": vm.approx_zcdp(1, "1e-9"),
        "privacy_unit_column = patient": None,
    }.items():
        found = read(f"SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS({options}) COUNT(*) AS n FROM visits", unit="patient")
        assert found.loss == loss, options


def test_having_order_by_and_limit_are_data_beside_the_question() -> None:
    found = read(
        "SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ward HAVING COUNT(*) > 10 AND w <> 'A' "
        "ORDER BY 2 DESC, LOWER(w), w NULLS FIRST LIMIT 3 OFFSET 1"
    )
    assert repr(found.having) == "(n > 10) & (ward != 'A')"
    assert found.order_by[0] == Ordering("n", descending=True)
    assert repr(found.order_by[1].of) == "ward.lower()"
    assert found.order_by[2] == Ordering("ward", unknown_first=True)
    assert (found.limit, found.offset) == (3, 1)
    plain = read("SELECT ward AS w, COUNT(*) AS n FROM visits GROUP BY ward").question
    assert found.question == plain


def test_having_may_ask_an_aggregate_that_is_not_shown() -> None:
    found = read("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING AVG(CLAMP(wait, 0, 9)) > 5")
    assert found.columns == ("ward", "n")
    assert asked("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward HAVING AVG(CLAMP(wait, 0, 9)) > 5") == {
        "n": Count(),
        "avg": mean_of("wait", bounds=(0, 9)),
    }


def test_without_groups_there_is_one() -> None:
    assert read("SELECT COUNT(*) AS n FROM visits").question.groups == All()
    assert read("(SELECT COUNT(*) AS n FROM visits);").question.groups == All()


def test_what_is_read_is_a_document_that_reads_back() -> None:
    texts = [f"SELECT {aggregate} AS n FROM visits" for aggregate in AGGREGATES]
    texts += [
        "SELECT ward, late, COUNT(*) AS n FROM visits WHERE cost / 3 > 1 AND day > '2024-05-31' GROUP BY ward, late",
        "SELECT w, COUNT(*) AS n FROM (SELECT ward AS w, NULLIF(wait, 5) AS x FROM visits) AS v WHERE x > 1 GROUP BY w",
        "SELECT name, COUNT(*) AS n FROM visits JOIN wards ON ward = code WHERE wards.beds > 3 GROUP BY name",
        "SELECT d, COUNT(*) AS n FROM visits RIGHT JOIN UNNEST([DATE '2024-05-31']) AS d ON day = d GROUP BY d",
    ]
    for sql in texts:
        for schema in (SCHEMA, None):
            found = read_sql(sql, schema, tables={"wards": WARDS}, unit="patient").question
            written = json.loads(json.dumps(question_to_json(found)))
            assert question_to_json(question_from_json(written)) == question_to_json(found), sql
            assert question_from_json(written) == found, sql
