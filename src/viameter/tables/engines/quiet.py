"""Keep engines quiet: their deprecation warnings are not for users, and their logs could show literal values."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from logging import Filter, LogRecord
from typing import Any

DEPRECATIONS = (
    # Ibis 12 describes tables of DuckDB by a function that DuckDB 2 renamed.
    ("fetch_arrow_table\\(\\) is deprecated", DeprecationWarning),
    # PySpark leaves the sockets by which results come to the collector of garbage.
    ("unclosed <socket\\.socket", ResourceWarning),
)
"""Warnings of third parties that nobody here can mend: the start of their text, and their kind."""


@contextmanager
def without_warnings_of_engines() -> Iterator[None]:
    """Ignore the known warnings of engines for a while."""
    with warnings.catch_warnings():
        for message, kind in DEPRECATIONS:
            warnings.filterwarnings("ignore", message=message, category=kind)
        yield


THREAD_NAME = "viameter query"
"""The name of threads in which queries run."""


class _NotOfQueries(Filter):
    def filter(self, record: LogRecord) -> bool:
        return record.threadName != THREAD_NAME


_NOT_OF_QUERIES = _NotOfQueries()


def silence_spark(session: Any) -> None:
    """Switch off the logs of a session's Spark: when a task fails, they show the value that it failed on.

    What Python's side of Spark logs is left out for this library's queries alone.
    """
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        from pyspark.logger import PySparkLogger

        PySparkLogger.getLogger(name).addFilter(_NOT_OF_QUERIES)
    # A session of Spark Connect has its logs elsewhere.
    with suppress(Exception):
        session.sparkContext.setLogLevel("OFF")
