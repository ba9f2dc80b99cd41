"""Put small tables into any engine, the same on all of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from viameter.tables.engines import EngineTable
from viameter.tables.engines.spark import frame_of


def loaded(backend: Any, name: str, data: Any) -> EngineTable:
    """A dict of lists, a pandas frame or an Arrow table as a table of the backend; one of the same name is replaced."""
    table = _arrow(data)
    if backend.name == "pyspark":
        # By way of pandas, which Ibis takes, NULL and NaN would become one.
        frame_of(backend._session, table).createOrReplaceTempView(name)
        return EngineTable(backend.table(name), backend)
    return EngineTable(backend.create_table(name, table, overwrite=True), backend)


def _arrow(data: Any) -> Any:
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, dict):
        return pa.table(data)
    return pa.Table.from_pandas(data, preserve_index=False)
