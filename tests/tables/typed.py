"""What type checkers find of questions and answers: read by `test_typing`, and never run.

Behind each line stands what is to be found.
"""

from __future__ import annotations

from typing import Any, reveal_type

import viameter as vm
from viameter.tables import Table


def asked(rows: dict[str, list[Any]], path: str) -> None:
    table = reveal_type(vm.open(path, unit=vm.per("u", rows=1), budget=vm.zcdp(1)))  # Table
    reveal_type(vm.open(rows, unit=vm.per_row(), budget=vm.zcdp(1), types={"x": "integer"}))  # Table
    tables = reveal_type(vm.open({"a": "a.parquet", "b": "b.csv"}, unit=vm.per("u"), budget=vm.zcdp(1)))  # Tables
    reveal_type(vm.open({"a": ("x.db", "a"), "b": ("x.db", "b")}, unit=vm.per("u"), budget=vm.zcdp(1)))  # Tables
    reveal_type(tables["a"])  # Table

    reveal_type(table["x"])  # Expression
    reveal_type(table["x"] > 3)  # Expression
    reveal_type(table.filter(table["x"] > 3))  # Table
    reveal_type(table.filter("x > 3").derive(y="x + 1").select("y"))  # Table
    reveal_type(table.sample("1/2").limit(rows=1))  # Table
    reveal_type(table.join(vm.public({"x": [1]}), on="x"))  # Table
    reveal_type(table.partition("x", keys=[1], budgets=vm.zcdp(1)))  # dict[Any, Table]
    reveal_type(table.sub_budget("mine", budget=vm.zcdp(1)))  # Table
    reveal_type(table.dry_run())  # Table

    grouped = reveal_type(table.group_by("x", keys=[1, 2]))  # Grouped
    question = reveal_type(grouped.agg(n=vm.count()))  # Query[Answer]
    reveal_type(table.agg(n=vm.count()))  # Query[Answer]
    reveal_type(table.histogram("x", [0, 1]))  # Query[Answer]
    reveal_type(table.heavy_hitters("x"))  # Query[Answer]
    top = reveal_type(grouped.top(2))  # Query[Ranked]
    bounds = reveal_type(table.bounds_question("x", within=(0, 1)))  # Query[FoundBounds]

    reveal_type(question.preview(spend=vm.zcdp(1)))  # Preview
    reveal_type(top.preview(spend=vm.zcdp(1)))  # Preview
    reveal_type(question.spend_for({"n": 3}))  # Loss
    reveal_type(question.question)  # Question
    reveal_type(question.to_json())  # dict[str, Any]
    reveal_type(question.plan)  # Plan[Answer]
    reveal_type(question.measurement(spend=vm.zcdp(1)))  # Measurement

    answer = reveal_type(question.release(spend=vm.zcdp(1)))  # Answer
    reveal_type(answer.to_pandas())  # pandas.DataFrame
    reveal_type(answer.to_arrow())  # pyarrow.Table
    reveal_type(answer.to_dicts())  # list[dict[str, Any]]
    reveal_type(answer.to_columns())  # dict[str, list[Any]]
    reveal_type(answer["n"])  # Estimate
    reveal_type(answer.groups)  # tuple[tuple[Any, ...], ...]
    reveal_type(answer.explain())  # Explanation
    reveal_type(answer.certificate())  # Certificate
    reveal_type(answer.loss)  # Loss
    reveal_type(answer.unit)  # Unit

    reveal_type(top.release(spend=vm.zcdp(1)))  # Ranked
    reveal_type(bounds.release(spend=vm.zcdp(1)))  # FoundBounds
    found = reveal_type(table.find_bounds("x", within=(0, 1), spend=vm.zcdp(1)))  # FoundBounds
    reveal_type(found.bounds)  # tuple[int | float, int | float]
    reveal_type(found.to_pandas())  # pandas.DataFrame
    both = vm.together(a=question, b=table.agg(n=vm.count()))
    reveal_type(both.release(spend=vm.zcdp(1)))  # dict[str, Answer]
    reveal_type(both.preview(spend=vm.zcdp(1)))  # TogetherPreview

    reveal_type(table.schema)  # Schema
    reveal_type(table.left)  # Loss
    reveal_type(table.history)  # tuple[Charged, ...]


def mistaken(table: Table) -> None:
    """What is wrong is found: that nothing is, on one of these lines, would be an error itself."""
    table.group_by("x").top("2")  # type: ignore[arg-type]
    table.agg(n=vm.count()).release(spend=1)  # type: ignore[arg-type]
    table.group_by("x").agg(n=vm.count()).release(spend=vm.zcdp(1), group=3)  # type: ignore[call-arg]
    table.find_bounds("x", within=3, spend=vm.zcdp(1))  # type: ignore[arg-type]
    table.group_by("x").top(2).release(spend=vm.zcdp(1)).to_pandas()  # type: ignore[attr-defined]
