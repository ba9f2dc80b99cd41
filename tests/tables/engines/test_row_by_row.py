"""Ibis tables: each operation of the installed Ibis is on the reviewed list and total, or refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.operations as ops
import pyarrow as pa
import pytest

import viameter as vm
from viameter.errors import ParameterError
from viameter.tables.engines import EngineTable, open_source, row_by_row, run

Load = Callable[[Any, str, Any], EngineTable]
HOSTILE: dict[str, list[Any]] = {
    "i": [2**63 - 1, -(2**63), 0, None],
    "f": [float("nan"), float("inf"), -1e308, None],
    "s": ["", "%_\\'", "12x", None],
    "b": [True, False, None, None],
    "d": [date(1, 1, 1), date(9999, 12, 31), None, None],
    "m": [datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59), None, None],
}
TOTAL: dict[str, Callable[[Any], Any]] = {
    "Field": lambda t: t.i,
    "Literal": lambda t: ibis.literal(2**63 - 1),
    "Alias": lambda t: t.i.name("x") > 3,
    "Equals": lambda t: t.s == "a",
    "NotEquals": lambda t: t.f != 1.5,
    "Less": lambda t: t.i < 3,
    "LessEqual": lambda t: t.i <= t.f,
    "Greater": lambda t: t.d > date(2020, 1, 1),
    "GreaterEqual": lambda t: t.m >= datetime(2020, 1, 1),
    "IdenticalTo": lambda t: t.s.identical_to("a"),
    "Between": lambda t: t.i.between(0, 2**62),
    "InValues": lambda t: t.s.isin(["a", "b"]),
    "And": lambda t: t.b & (t.i > 0),
    "Or": lambda t: t.b | (t.i > 0),
    "Xor": lambda t: t.b ^ (t.i > 0),
    "Not": lambda t: ~t.b,
    "IsNull": lambda t: t.f.isnull(),
    "NotNull": lambda t: t.f.notnull(),
    "IsNan": lambda t: t.f.isnan(),
    "IsInf": lambda t: t.f.isinf(),
    "IfElse": lambda t: t.b.ifelse(t.i, 0),
    "SearchedCase": lambda t: ibis.cases((t.b, t.s), (t.i > 0, "x"), else_="y"),
    "Coalesce": lambda t: ibis.coalesce(t.s, "a"),
    "StringLength": lambda t: t.s.length(),
    "StartsWith": lambda t: t.s.startswith("%_\\"),
    "EndsWith": lambda t: t.s.endswith("'"),
    "StringContains": lambda t: t.s.contains("%"),
}
"""An example of each value that is allowed."""


def test_the_list_is_what_was_reviewed_and_names_operations_of_ibis() -> None:
    assert set(TOTAL) == row_by_row.VALUES
    assert {"DatabaseTable", "InMemoryTable", "Project", "Filter", "DropColumns", "DropNull"} == row_by_row.TABLES
    for name in row_by_row.ALLOWED:
        assert issubclass(getattr(ops, name), ops.Node)


def test_operations_that_are_allowed_give_a_value_for_every_row(backend: Any, load: Load) -> None:
    """All in one query of values, and one of what filters keep: engines take longer to begin than to answer."""
    table = load(backend, "row_by_row", pa.table(HOSTILE)).expression
    values = {name: made(table) for name, made in TOTAL.items()}
    for name, value in values.items():
        assert any(type(node).__name__ == name for node in table.mutate(made=value).op().find(ops.Node)), name
    opened = open_source(table.mutate(**values))
    assert len(run(opened, opened.expression.select(*values))) == len(HOSTILE["i"])
    counts = []
    for name, value in values.items():
        kept = value if value.type().is_boolean() else value.isnull()
        rows = open_source(table.filter(kept).drop("f").drop_null(["i"])).expression
        counts.append(rows.agg(name=ibis.literal(name), n=rows.count()))
    assert {row["name"] for row in run(opened, ibis.union(*counts))} == set(values)


def test_every_other_operation_of_ibis_is_refused() -> None:
    classes = {found for _, found in inspect.getmembers(ops, inspect.isclass) if issubclass(found, ops.Node)}
    others = [found for found in classes if found.__name__ not in row_by_row.ALLOWED and not inspect.isabstract(found)]
    assert len(others) > 300
    for operation in others:
        node = object.__new__(operation)

        class Tree:
            def op(self) -> Any:
                return self

            def find(self, kind: Any, node: Any = node) -> list[Any]:
                assert isinstance(node, kind)
                return [node]

        with pytest.raises(ParameterError, match=f"has a {operation.__name__}, which is not known"):
            row_by_row.require_row_by_row(Tree())


raises: Any = ibis.udf.scalar.builtin(lambda text: None, name="error", signature=((dt.string,), dt.string))


class Own(ops.Equals):  # type: ignore[misc]
    """An operation of somebody else under a parent that is allowed."""


EXPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "the place of a row": lambda t: t.mutate(r=t.rowid()),
    "several rows of one": lambda t: t.mutate(y=t.l.unnest()),
    "rows of lists": lambda t: t.unnest("l"),
    "a window": lambda t: t.mutate(total=t.i.max().over()),
    "a window in a filter": lambda t: t.filter(t.i > t.i.mean()),
    "a rank": lambda t: t.mutate(n=ibis.row_number()),
    "a lag": lambda t: t.mutate(n=t.i.lag()),
    "some rows": lambda t: t.limit(3),
    "the first rows": lambda t: t.order_by("i").limit(1),
    "rows in order": lambda t: t.order_by("i"),
    "different rows": lambda t: t.distinct(),
    "rows by chance": lambda t: t.sample(0.5),
    "groups": lambda t: t.group_by("i").agg(n=t.count()),
    "both": lambda t: t.union(t),
    "a join": lambda t: t.inner_join(t.view(), "i"),
    "another name": lambda t: t.view(),
    "whether there is one": lambda t: t.filter((t.view().i == t.i).any()),
    "one of those": lambda t: t.filter(t.i.isin(t.view().i)),
    "a number of all": lambda t: t.mutate(n=t.view().i.max().as_scalar()),
    "chance": lambda t: t.mutate(r=ibis.random()),
    "a name by chance": lambda t: t.mutate(r=ibis.uuid()),
    "the time": lambda t: t.mutate(r=ibis.now()),
    "today": lambda t: t.filter(t.d < ibis.today()),
    "a function of the engine": lambda t: t.mutate(r=raises(t.s)),
    "SQL": lambda t: ops.SQLQueryResult("SELECT 1 / i AS q FROM t", ibis.schema({"q": "int"}), t.op().source).to_expr(),
    "a sum": lambda t: t.mutate(y=t.i + 1),
    "a product": lambda t: t.mutate(y=t.i * t.i),
    "a quotient": lambda t: t.mutate(y=t.i // t.i),
    "a power": lambda t: t.mutate(y=t.f**2),
    "a logarithm": lambda t: t.mutate(y=t.f.ln()),
    "a cast": lambda t: t.mutate(y=t.s.cast("int64")),
    "a narrower cast": lambda t: t.mutate(y=t.i.cast("int8")),
    "a date of text": lambda t: t.mutate(y=t.s.as_date("%Y")),
    "text that is an expression": lambda t: t.filter(t.s.re_search(t.s)),
    "a date and days": lambda t: t.mutate(y=t.d + ibis.interval(days=1)),
    "filled": lambda t: t.fill_null({"i": 0}),
    "a list": lambda t: t.mutate(y=ibis.literal([1, 2])),
    "an interval": lambda t: t.mutate(y=ibis.literal(1, "interval('D')")),
    "decimals and integers": lambda t: t.filter(t.i == ibis.literal(Decimal("1e-30"), dt.Decimal(38, 30))),
    "somebody's own": lambda t: t.filter(Own(t.s, ibis.literal("a")).to_expr()),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_is_not_row_by_row_or_may_fail_is_refused_with_what_to_do(name: str) -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql("create table t(i bigint, f double, s varchar, d date, l bigint[])")
    with pytest.raises(ParameterError, match=r"the Ibis table (has|uses) a"):
        open_source(EXPRESSIONS[name](connection.table("t")))


def test_values_of_different_types_are_not_compared() -> None:
    table = ibis.duckdb.connect().create_table("t", schema=ibis.schema({"s": "string", "i": "int64", "d": "date"}))
    for left, right in ((table.s, ibis.literal(3)), (table.d, table.s)):
        node = ops.Equals.__new__(ops.Equals)  # as another version of Ibis might allow
        object.__setattr__(node, "left", left.op())
        object.__setattr__(node, "right", right.op())
        object.__setattr__(node, "__args__", (left.op(), right.op()))
        assert not row_by_row._are_alike(node)
    assert row_by_row._are_alike((table.i == 1.5).op())


def test_one_row_does_not_decide_about_others_through_an_ibis_table() -> None:
    connection = ibis.duckdb.connect()
    connection.raw_sql("create table t as select range as u, range % 2 as g from range(1000)")
    rows = connection.table("t")
    table = vm.open(rows.filter(rows.g == 1).drop("g"), unit=vm.per("u", rows=1), budget=vm.zcdp(10**12))
    assert table.agg(n=vm.count()).release(spend=vm.zcdp(10**9))["n"].value.tolist() == [500]
