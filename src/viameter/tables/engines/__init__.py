"""Engines that hold private tables: open a source, run a question where the rows are, cancel it.

An engine is one class (see `engine`) in a file of its own, and a line of `registry`; modules beside it are called like
it (`duckdb_files`), or by what only it uses (`csv_files`, `spills`). Ibis and the engines' own libraries are heavy and
optional: they are imported when a source is opened, never by this package.
"""

from viameter.tables.engines.compiled import (
    WEIGHT_OF_KEY,
    Frame,
    Statement,
    compile_frame,
    require_short,
    require_writable,
)
from viameter.tables.engines.engine import Engine
from viameter.tables.engines.errors import ConnectionLost, DataWarning, EngineError, NoConnection, UnreadableData
from viameter.tables.engines.places import Place
from viameter.tables.engines.public import public_table
from viameter.tables.engines.registry import engine_named, engine_of, engines
from viameter.tables.engines.running import run
from viameter.tables.engines.sources import copied, open_source
from viameter.tables.engines.table import EngineTable
from viameter.tables.engines.turns import probe, ready

__all__ = [
    "WEIGHT_OF_KEY",
    "ConnectionLost",
    "DataWarning",
    "Engine",
    "EngineError",
    "EngineTable",
    "Frame",
    "NoConnection",
    "Place",
    "Statement",
    "UnreadableData",
    "compile_frame",
    "copied",
    "engine_named",
    "engine_of",
    "engines",
    "open_source",
    "probe",
    "public_table",
    "ready",
    "require_short",
    "require_writable",
    "run",
]
