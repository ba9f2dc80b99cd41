"""The benchmark `tables` on Spark: the session, and the bounded query written by hand."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

from bench.peers.tables_data import GROUPS_OF_USER, LOWER, PER_GROUP, UPPER, parquet_file, temporary_folder

__all__ = ["by_hand", "spark_session"]

BY_HAND = f"""
SELECT grp, count(*) AS n, sum(v) AS s
FROM (
  SELECT grp, v,
    dense_rank() OVER (PARTITION BY user ORDER BY group_hash, grp) AS group_rank,
    row_number() OVER (PARTITION BY user ORDER BY group_hash, grp, row_hash)
      - rank() OVER (PARTITION BY user ORDER BY group_hash, grp) AS place
  FROM (
    SELECT user, grp, least(greatest(value, {LOWER}), {UPPER}) AS v,
      xxhash64('salt', user, grp) AS group_hash, xxhash64('salt', user, grp, value) AS row_hash
    FROM {{table}}
    WHERE user IS NOT NULL
  )
)
WHERE group_rank <= {GROUPS_OF_USER} AND place < {PER_GROUP}
GROUP BY grp
"""


@cache
def spark_session() -> Any:
    """A Spark of this process with two threads, which keeps what it writes in a temporary folder."""
    folder = temporary_folder() / "spark"
    os.environ["PYSPARK_PYTHON"] = sys.executable  # its workers need the libraries of this environment
    sql: Any = import_module("pyspark.sql")
    return (
        sql.SparkSession.builder.master("local[2]")
        .appName("bench")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "4g")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(folder / "warehouse"))
        .config("spark.local.dir", str(folder))
        .getOrCreate()
    )


def by_hand(rows: int) -> Callable[[], tuple[list[Any], list[Any]]]:
    """The bounded query in the words of Spark, without noise."""
    spark = spark_session()
    spark.read.parquet(str(parquet_file(rows))).createOrReplaceTempView(f"rows_{rows}")
    query = BY_HAND.format(table=f"rows_{rows}")

    def run() -> tuple[list[Any], list[Any]]:
        answer = spark.sql(query).collect()
        return [row["n"] for row in answer], [row["s"] for row in answer]

    return run
