"""Digests of rows: one text for one content, the same in all engines, unrelated orders under other salts."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from typing import Any

import pytest

from viameter.errors import ParameterError
from viameter.tables.engines import EngineTable, engine_named, engine_of, run

Load = Callable[[Any, str, Any], EngineTable]
DIGESTS = ["portable", "native"]

TEXTS = [
    "",
    "a",
    "ab",
    "bc",
    "1",
    "n",
    "t0:",
    "i1;",
    "é",
    "e\u0301",
    "😀",
    "𝄞x",
    "a'b",
    '"',
    "\\",
    "%",
    ":",
    "|",
    " a ",
    None,
]
NUMBERS = [0, 1, -1, 10, 2**63 - 1, -(2**63), None]


def encoded(value: Any) -> str:
    """The encoding as the docstring states it, written again."""
    if value is None:
        return "n"
    if isinstance(value, str):
        return f"t{len(value)}:{value}"
    if isinstance(value, dt.datetime):
        pieces = [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
        return "".join(f"i{piece};" for piece in pieces)
    if isinstance(value, dt.date):
        return f"i{value.year};i{value.month};i{value.day};"
    return f"i{int(value)};"


def oracle(salt: str, *values: Any) -> str:
    return hashlib.md5(f"{salt}|{''.join(map(encoded, values))}".encode()).hexdigest()


def test_portable_digests_are_md5_of_the_stated_text_in_every_engine(backend: Any, load: Load) -> None:
    pairs = [(text, number) for text in TEXTS for number in NUMBERS]
    table = load(backend, "digested", {"s": [text for text, _ in pairs], "n": [number for _, number in pairs]})
    rows = table.expression
    digest = engine_of(backend).digest("portable", [rows.s, rows.n, rows.s], "salt1")
    for row in run(table, rows.select("s", "n", digest=digest)):
        assert row["digest"] == oracle("salt1", row["s"], row["n"], row["s"])


def test_portable_digests_take_booleans_dates_and_timestamps(backend: Any, load: Load) -> None:
    moments = [dt.datetime(1969, 12, 31, 23, 59, 59, 7), dt.datetime(2024, 2, 29), dt.datetime(1, 1, 1, 1, 1, 1), None]
    columns = {
        "b": [True, False, True, None],
        "d": [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1970, 1, 1), None],
        "m": moments,
    }
    table = load(backend, "digested_moments", columns)
    rows = table.expression
    digest = engine_of(backend).digest("portable", [rows.b, rows.d, rows.m], "x")
    found = {row["digest"] for row in run(table, rows.select(digest=digest))}
    assert found == {oracle("x", *row) for row in zip(*columns.values(), strict=True)}


def test_native_digests_tell_rows_apart_and_null_from_text(backend: Any, load: Load) -> None:
    pairs = [(one, two) for one in TEXTS for two in TEXTS]
    table = load(backend, "digested_pairs", {"s": [one for one, _ in pairs], "r": [two for _, two in pairs]})
    rows = table.expression
    digest = engine_of(backend).digest("native", [rows.s, rows.r], "salt1")
    again, same = run(table, rows.select("s", "r", digest=digest)), run(table, rows.select("s", "r", digest=digest))
    assert {(row["s"], row["r"]): row["digest"] for row in again} == {
        (row["s"], row["r"]): row["digest"] for row in same
    }
    assert len({row["digest"] for row in again}) == len(pairs)
    assert all(isinstance(row["digest"], int) for row in again)


def test_native_digests_take_any_type_that_has_a_value_for_every_row(backend: Any, load: Load) -> None:
    columns = {"x": [0.5, None], "b": [True, None], "d": [dt.date(2020, 1, 1), None], "n": [1, None]}
    table = load(backend, "digested_any", columns)
    rows = table.expression
    found = run(table, rows.select(digest=engine_of(backend).digest("native", [rows[name] for name in columns], "s")))
    assert len({row["digest"] for row in found}) == 2 and None not in {row["digest"] for row in found}


@pytest.mark.parametrize("order", DIGESTS)
def test_salts_give_all_orders_equally_often(backend: Any, load: Load, order: str) -> None:
    """By a chi-square of the 24 orders of four rows under many salts; the bound is passed once in a billion."""
    table = load(backend, "ordered", {"n": [1, 2, 3, 4]})
    rows = table.expression
    salts = [f"salt{index}" for index in range(240 if backend.name == "pyspark" else 960)]
    seen: Counter[tuple[int, ...]] = Counter()
    for start in range(0, len(salts), 240):
        columns = {salt: engine_of(backend).digest(order, [rows.n], salt) for salt in salts[start : start + 240]}
        found = run(table, rows.select("n", **columns))
        for salt in columns:
            in_order = sorted((row[salt], row["n"]) for row in found)
            seen[tuple(number for _, number in in_order)] += 1
    expected = len(salts) / 24
    square = sum((seen[order] - expected) ** 2 / expected for order in permutations((1, 2, 3, 4)))
    assert square < 97


@pytest.mark.parametrize("order", DIGESTS)
def test_salts_are_plain_and_parts_are_needed(order: str) -> None:
    import ibis

    engine, rows = engine_named("duckdb"), ibis.table({"n": "int64"}, name="t")
    salts: list[Any] = ["", "a'b", "a|b", "é", None]
    for salt in salts:
        with pytest.raises(ParameterError, match="letters and digits"):
            engine.digest(order, [rows.n], salt)
    with pytest.raises(ParameterError, match="at least one part"):
        engine.digest(order, [], "salt")
    with pytest.raises(ParameterError, match="sqlite"):
        engine_named("sqlite").digest(order, [rows.n], "salt")


@pytest.mark.parametrize("kind", ["float64", "decimal(9, 2)", "array<int64>", "uuid"])
def test_portable_digests_refuse_types_whose_text_differs(kind: str) -> None:
    import ibis

    with pytest.raises(ParameterError, match="has no text that is the same in all engines"):
        engine_named("duckdb").digest("portable", [ibis.table({"x": kind}, name="t").x], "salt")
