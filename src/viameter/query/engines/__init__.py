"""Engines that hold private tables: open a source, run a question where the rows are, cancel it.

Ibis and the engines are heavy and optional: they are imported when a source is opened, never by this package.
"""

from viameter.query.engines.capabilities import ENGINES, require, supports
from viameter.query.engines.columns import arrow_table
from viameter.query.engines.compiled import (
    WEIGHT_OF_KEY,
    Frame,
    Statement,
    compile_frame,
    compile_query,
    require_short,
    require_writable,
)
from viameter.query.engines.digests import native_digest, portable_digest, salt_in_sql
from viameter.query.engines.duckdb_tables import copied
from viameter.query.engines.errors import ConnectionLost, DataWarning, EngineError, NoConnection, UnreadableData
from viameter.query.engines.leases import probe, ready
from viameter.query.engines.public import public_table
from viameter.query.engines.running import run, sql_of
from viameter.query.engines.sources import open_source
from viameter.query.engines.sums import exact_sum
from viameter.query.engines.table import EngineTable

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
