"""A Spark for tests, in this process's own Java, that ends with the test run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.tables.quiet import without_warnings_of_engines

# A Java on few rows that lives for a minute: threads that collect garbage beside the work cost more than they save, and
# so does the compiler for what runs long, which takes half of the processor time of all tests.
FOR_A_SHORT_LIFE = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"


@contextmanager
def running_session(folder: Path) -> Iterator[Any]:
    """A session on two threads; it writes into the folder and listens on this machine alone."""
    java = shutil.which("java") or os.environ.get("JAVA_HOME")
    assert java, "tests need Java for Spark: apt-get install default-jre-headless"
    from pyspark.sql import SparkSession

    logging = folder / "log4j2.properties"
    logging.write_text("rootLogger.level = off\n")
    # Read when Java starts: Spark would find its own name to be a loopback, and say so.
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    with without_warnings_of_engines():
        session = (
            SparkSession.builder.master("local[2]")
            .appName("viameter tests")
            .config("spark.driver.bindAddress", "127.0.0.1")
            .config("spark.driver.host", "127.0.0.1")
            .config(
                "spark.driver.extraJavaOptions", f"-Dlog4j2.configurationFile={logging.as_uri()} {FOR_A_SHORT_LIFE}"
            )
            .config("spark.sql.execution.arrow.pyspark.enabled", "true")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
            .config("spark.ui.enabled", "false")
            .config("spark.ui.showConsoleProgress", "false")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
    try:
        yield session
    finally:
        with without_warnings_of_engines():
            session.stop()
