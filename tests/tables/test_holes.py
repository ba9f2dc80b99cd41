"""Ways in which a release once told more than its price; each stays closed, on every engine that it concerns."""

import datetime
import itertools
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ibis
import pytest

import viameter as vm
from viameter.errors import ParameterError, SealedError
from viameter.tables.engines import DataWarning

LOUD = vm.zcdp(10**9)
Load = Callable[..., Any]


def opened(source: Any, unit: Any = None, **options: Any) -> Any:
    return vm.open(source, unit=unit or vm.per_row(), budget=vm.zcdp(10**12), **options)


def number(question: Any, name: str = "n") -> float:
    return float(question.release(spend=LOUD)[name].value[0])


def test_arithmetic_of_constants_does_not_fail_on_the_rows_that_have_them(backend: Any, load: Load) -> None:
    people = opened(load(backend, "holes_names", {"user": [1, 2, 3], "name": ["ann", "bob", "eve"]}).expression)
    is_bob = people["name"] == "bob"
    whole, real = vm.case((is_bob, 2_000_000_000), default=0), vm.case((is_bob, 123456789012.5), default=0.5)
    made = {
        "times": whole * 4, "plus": whole + whole, "square": whole * whole, "less": -whole - whole,
        "cube": real * real * real, "fourth": real * real * real * real, "filled": whole.fill_null(2_000_000_000) * 4,
    }  # fmt: skip
    asked = {name: vm.sum(expression, bounds=(-(10**10), 10**10)) for name, expression in made.items()}
    answer = people.agg(**asked).release(spend=LOUD)
    assert abs(float(answer["times"].value[0]) - 8e9) < 1e8


def test_columns_of_a_csv_file_are_text_whatever_stands_in_them(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    for first in ("", "u0,x\n"):
        file.write_text("user,ward\n" + first + "".join(f"u{i + 1},{i % 9}\n" for i in range(300)) + "v,A\n")
        table = opened(str(file), vm.per("user", rows=1))
        assert [kind.kind.value for kind in table.schema.values()] == ["TEXT", "TEXT"]
        assert number(table.filter(~table["ward"].is_null()).agg(n=vm.count())) == 301 + (1 if first else 0)
    with pytest.warns(DataWarning, match="2 of 'ward' are no integer"):
        typed = opened(str(file), vm.per("user", rows=1), types={"ward": "integer"})
    assert number(typed.filter(~typed["ward"].is_null()).agg(n=vm.count())) == 300
    for wrong, said in (("", "header"), ("a,a\n1,2\n", "'a' twice"), ("a,,b\n", "empty")):
        file.write_text(wrong)
        with pytest.raises(ParameterError, match=said):
            opened(str(file))


def test_a_constant_that_looks_like_a_variable_of_spark_is_itself(spark_session: Any) -> None:
    spark_session.conf.set("my.v", "q' or 1 = 1 or '1' = '")
    table = opened(spark_session.sql("select '' as t, 5 as x from range(100)"))
    for text in ("${x}", "${my.v}", "${env:HOME}"):
        assert number(table.filter(table["t"] == text).agg(n=vm.count())) == 0
    assert number(table.filter(table["t"] == "").agg(n=vm.count())) == 100


def test_no_column_is_found_under_a_name_that_differs_in_capitals() -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql("create table z(b uhugeint, x int)")
    connection.raw_sql("insert into z values (5, 1), (6, 1), (340282366920938463463374607431768211455, 1)")
    table = opened(connection.table("z"))
    joined = table.derive(B=vm.case((table["x"] > 0, 1), default=0)).join(vm.public({"x": [1], "y": [1]}), on="x")
    assert number(joined.agg(n=vm.sum(joined["B"] * 4, bounds=(0, 1000)))) == pytest.approx(12, abs=0.5)
    with pytest.raises(ParameterError, match="capitals alone"):
        table.derive(X=table["x"])


def test_a_duckdb_that_takes_different_texts_for_equal_is_refused_also_later() -> None:
    connection = ibis.duckdb.connect()
    names = ["".join(letters) for letters in itertools.product("aA", "bB")]
    connection.raw_sql("create table d as select 'p' as u, unnest(" + str(names) + ") as g")
    table = opened(connection.table("d"), vm.per("u", groups=4, per_group=1))
    question = table.group_by("g", keys=names).agg(n=vm.count())
    assert question.release(spend=LOUD)["n"].value.tolist() == [1, 1, 1, 1]
    connection.raw_sql("set default_collation = 'nocase'")
    with pytest.raises(SealedError):
        question.release(spend=LOUD)
    with pytest.raises(ParameterError, match="default_collation"):
        opened(connection.table("d"))


def test_a_decimal_that_is_no_number_is_no_error(postgres_backend: Any) -> None:
    postgres_backend.raw_sql("create table if not exists holes_nn(u numeric(10, 0), x int)")
    postgres_backend.raw_sql("insert into holes_nn values (1, 1), ('NaN', 1), (2, 1)")
    table = postgres_backend.table("holes_nn")
    rows, people = opened(table), opened(table, vm.per("u", rows=1))
    assert number(rows.agg(n=vm.sum("u", bounds=(0, 9)))) == pytest.approx(3, abs=0.1)
    assert rows.group_by("u", keys=[1, 2]).agg(n=vm.count()).release(spend=LOUD)["n"].value.tolist() == [1, 1]
    assert number(people.agg(n=vm.count())) == 2


@pytest.fixture
def in_new_york() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "America/New_York"
    time.tzset()
    yield
    os.environ.pop("TZ") if before is None else os.environ.__setitem__("TZ", before)
    time.tzset()


@pytest.mark.usefixtures("in_new_york")
def test_times_of_spark_are_those_of_the_world_wherever_the_process_is(spark_session: Any) -> None:
    moments = "values ('2013-11-03T05:30:00Z'), ('2013-11-03T06:30:00Z') t(ts)"
    table = opened(
        spark_session.sql(f"select 'p' u, cast(ts as timestamp) ts from {moments}"), vm.per("u", groups=2, per_group=1)
    )
    keys = [datetime.datetime(2013, 11, 3, hour, 30) for hour in (1, 5, 6)]
    assert table.group_by("ts", keys=keys).agg(n=vm.count()).release(spend=LOUD)["n"].value.tolist() == [0, 1, 1]


def test_a_backslash_is_a_backslash_whatever_the_server_is_set_to(postgres_backend: Any) -> None:
    postgres_backend.raw_sql("create table if not exists holes_t as select 'q'::text as t from generate_series(1, 5)")
    table = opened(postgres_backend.table("holes_t"))
    postgres_backend.raw_sql("set standard_conforming_strings = off")
    try:
        assert number(table.filter(table["t"] == "\\161").agg(n=vm.count())) == 0
        assert number(table.filter(table["t"] == "q").agg(n=vm.count())) == 5
    finally:
        postgres_backend.raw_sql("set standard_conforming_strings = on")


def test_truth_values_that_are_comparisons_are_compared_as_a_whole(backend: Any, load: Load) -> None:
    rows = opened(load(backend, "holes_truth", {"j": [0, 1, 1, None, 2], "i": [0, 1, 0, 1, None]}).expression)
    is_one = rows["j"] == 1
    expected = [
        (is_one.is_in([True, False]), 4),
        (is_one.is_in([False]), 2),
        (is_one.is_null(), 1),
        (is_one.is_null() == (rows["i"] > 5), 3),
        (is_one == (rows["i"] > 0), 2),
        (is_one != (rows["i"] > 0), 1),
        (~is_one.is_in([True]), 2),
        (is_one.fill_null(True), 3),
    ]
    for condition, count in expected:
        assert number(rows.filter(condition).agg(n=vm.count())) == count, condition
    for other in (False, True):
        answer = rows.derive(f=is_one).group_by("f", keys=[True, False, None], other=other).agg(n=vm.count())
        assert answer.release(spend=LOUD)["n"].value.tolist()[:3] == [2, 2, 1]
