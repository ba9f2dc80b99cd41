"""Engines that hold private tables: open a source, run a question where the rows are, cancel it.

Ibis and the engines are heavy and optional: they are imported when a source is opened, never by this package.
"""

from viameter.tables.engines.capabilities import ENGINES, require, supports
from viameter.tables.engines.columns import arrow_table
from viameter.tables.engines.compiled import (
    WEIGHT_OF_KEY,
    Frame,
    Statement,
    compile_frame,
    compile_query,
    require_short,
    require_writable,
)
from viameter.tables.engines.digests import native_digest, portable_digest, salt_in_sql
from viameter.tables.engines.duckdb_tables import copied
from viameter.tables.engines.errors import ConnectionLost, DataWarning, EngineError, NoConnection, UnreadableData
from viameter.tables.engines.leases import probe, ready
from viameter.tables.engines.public import public_table
from viameter.tables.engines.running import run, sql_of
from viameter.tables.engines.sources import open_source
from viameter.tables.engines.sums import exact_sum
from viameter.tables.engines.table import EngineTable

__all__ = [
    "ENGINES",
    "WEIGHT_OF_KEY",
    "ConnectionLost",
    "DataWarning",
    "EngineError",
    "EngineTable",
    "Frame",
    "NoConnection",
    "Statement",
    "UnreadableData",
    "arrow_table",
    "compile_frame",
    "compile_query",
    "copied",
    "exact_sum",
    "native_digest",
    "open_source",
    "portable_digest",
    "probe",
    "public_table",
    "ready",
    "require",
    "require_short",
    "require_writable",
    "run",
    "salt_in_sql",
    "sql_of",
    "supports",
]
