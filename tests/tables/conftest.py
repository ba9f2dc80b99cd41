"""Engines for tests, each started when first asked for and stopped at the end.

Tests that need Spark are marked `spark`: it takes long to start and to warm up, so that they share one process.

`VIAMETER_ENGINES=duckdb` (names with commas) leaves out the tests of the other engines. What is left in must work:
a server that is missing is a failure.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest
from tests.tables.quiet import DEPRECATIONS, without_warnings_of_engines

if TYPE_CHECKING:
    from viameter.tables.engines import EngineTable

ALL = ("duckdb", "postgres", "pyspark", "connect")
ON_SPARK = ("pyspark", "connect")
"""Of these, a session of this process, and one of Spark Connect with a server in a process of its own."""
CHOSEN = tuple(name for name in os.environ.get("VIAMETER_ENGINES", ",".join(ALL)).split(",") if name)
NEEDED_BY = {
    "postgres_url": "postgres",
    "postgres_backend": "postgres",
    "spark_session": "pyspark",
    "connect_session": "connect",
}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out tests of engines that were not chosen, and quiet what the engines themselves warn of."""
    assert set(CHOSEN) <= set(ALL), f"VIAMETER_ENGINES has names that are not among {ALL}"
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            for message, kind in DEPRECATIONS:
                item.add_marker(pytest.mark.filterwarnings(f"ignore:{message}:{kind.__name__}"))
            if _needs_spark(item):
                item.add_marker(pytest.mark.spark)
            if _backend(item) == "connect":
                # The suite of all engines takes as long once more; what is special to it is in test_connect.
                item.add_marker(pytest.mark.long)
    left_out = [item for item in items if item.path.is_relative_to(here) and not _is_chosen(item)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def _needs_spark(item: pytest.Item) -> bool:
    if {"spark_session", "connect_session"} & set(getattr(item, "fixturenames", ())):
        return True
    return _backend(item) in ON_SPARK


def _backend(item: pytest.Item) -> str | None:
    """The engine that a test is run on: asked for by its name, so that its fixture is not among those of the test."""
    made = getattr(item, "callspec", None)
    return None if made is None else made.params.get("backend")


def _is_chosen(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return all(engine in CHOSEN for fixture, engine in NEEDED_BY.items() if fixture in fixtures)


@pytest.fixture(scope="session")
def chosen() -> tuple[str, ...]:
    """The names of the engines whose tests are not left out."""
    return CHOSEN


@pytest.fixture(scope="session")
def duckdb_backend() -> Iterator[Any]:
    """An Ibis backend of a DuckDB in memory."""
    from viameter.tables.engines.duckdb import DuckDB

    backend = DuckDB().connect()
    gc.collect()  # Ibis, and the libraries that it brings, stay, as what was imported before
    gc.freeze()
    yield backend
    backend.disconnect()


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """A PostgreSQL server of this worker, in a folder of its own, reached by a socket in it."""
    from tests.tables.engines.postgres_server import running_server

    with running_server() as url:
        yield url


@pytest.fixture(scope="session")
def postgres_backend(postgres_url: str) -> Iterator[Any]:
    """An Ibis backend of the server."""
    from viameter.tables.engines.postgres import PostgreSQL

    backend = PostgreSQL().connect(postgres_url)
    yield backend
    backend.con.close()


@pytest.fixture(scope="session")
def spark_session() -> Iterator[Any]:
    """A Spark in this process."""
    from tests.tables.engines.spark_server import running_session

    with TemporaryDirectory(prefix="viameter-spark-") as folder, running_session(Path(folder)) as session:
        yield session


@pytest.fixture(scope="session")
def spark_backend(spark_session: Any) -> Any:
    """An Ibis backend of the session."""
    from viameter.tables.engines.spark import Spark

    return Spark().connect(spark_session)


@pytest.fixture(scope="session")
def connect_session() -> Iterator[Any]:
    """A session of Spark Connect, of a server in a process of its own."""
    from tests.tables.engines.connect_server import running_connect_server

    with TemporaryDirectory(prefix="viameter-connect-") as folder, running_connect_server(Path(folder)) as url:
        # Not by way of `pyspark.sql`, which has one session in a process, of either kind.
        from pyspark.sql.connect.session import SparkSession

        session = SparkSession.builder.remote(url).create()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def connect_backend(connect_session: Any) -> Any:
    """An Ibis backend of the session."""
    from viameter.tables.engines.spark import Spark

    return Spark().connect(connect_session)


BACKENDS = {
    "duckdb": "duckdb_backend",
    "postgres": "postgres_backend",
    "pyspark": "spark_backend",
    "connect": "connect_backend",
}


@pytest.fixture(scope="session", params=CHOSEN)
def backend(request: pytest.FixtureRequest) -> Any:
    """The Ibis backend of each chosen engine in turn."""
    return request.getfixturevalue(BACKENDS[request.param])


@pytest.fixture(scope="session")
def load() -> Callable[[Any, str, Any], EngineTable]:
    """`load(backend, name, data)`: a dict of lists, a pandas frame or an Arrow table as a table of the backend.

    None is NULL and NaN stays NaN on every engine; a table of the same name is replaced.
    """
    from tests.tables.engines.loading import loaded

    def quiet(backend: Any, name: str, data: Any) -> EngineTable:
        with without_warnings_of_engines():
            return loaded(backend, name, data)

    return quiet
