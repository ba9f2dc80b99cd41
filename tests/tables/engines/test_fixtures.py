"""The fixtures of engines: the same data come out of each engine as went in."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from viameter.tables.engines import EngineTable, run


def test_null_and_nan_stay_apart_in_every_engine(backend: Any, load: Callable[[Any, str, Any], EngineTable]) -> None:
    table = load(backend, "stay_apart", {"n": [1, None, 3], "x": [1.5, math.nan, None], "s": ["a'b", None, ""]})
    rows = sorted(run(table, table.expression), key=lambda row: row["n"] or 2)
    assert [row["n"] for row in rows] == [1, None, 3]
    assert math.isnan(rows[1]["x"]) and rows[2]["x"] is None
    assert [row["s"] for row in rows] == ["a'b", None, ""]
    assert table.engine.name == backend.name
