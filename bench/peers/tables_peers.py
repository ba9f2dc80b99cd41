"""The benchmark `tables` by other libraries: what each has that is nearest to ten groups of a user, ten rows in each.

Every function makes ready what is not timed, and returns a call that gives the noisy counts and the noisy sums.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from importlib import import_module
from typing import Any

from bench.peers.tables_data import GROUPS_OF_USER, LOWER, PER_GROUP, UPPER, arrays, keys, parquet_file, sqlite_file
from bench.peers.tables_spark import spark_session

__all__ = ["opendp", "opendp_prepared", "pipelinedp", "smartnoise", "tumult"]

RHO, EPSILON, DELTA = 0.5, 1.0, 1e-6
Columns = tuple[list[Any], list[Any]]


def opendp(rows: int) -> Callable[[], Columns]:
    """OpenDP on Polars, which reads the Parquet file; zCDP."""
    query = _opendp_query(rows)
    return lambda: _columns(query().release().collect())


def opendp_prepared(rows: int) -> Callable[[], Columns]:
    """The same with the measurement made before, and with it the search for the scale of its noise."""
    pl: Any = import_module("polars")
    measurement, path = _opendp_query(rows)().resolve(), parquet_file(rows)
    return lambda: _columns(measurement(pl.scan_parquet(path)).collect())


def _opendp_query(rows: int) -> Callable[[], Any]:
    """A query under a budget of its own.

    Those rows and groups of a user are kept that come first, which is faster than a sample; of groups, 0.16.0 cannot
    keep a sample with the Polars that it asks for.
    """
    dp: Any = import_module("opendp.prelude")
    pl: Any = import_module("polars")
    dp.enable_features("contrib")
    path, public = parquet_file(rows), pl.LazyFrame({"grp": keys()})

    def make() -> Any:
        context = dp.Context.compositor(
            data=pl.scan_parquet(path),
            privacy_unit=dp.unit_of(contributions=1, identifier="user"),
            privacy_loss=dp.loss_of(rho=RHO),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=(), max_length=rows)],
        )
        limited = context.query().truncate_per_group(PER_GROUP, by=["grp"], keep="first")
        limited = limited.truncate_num_groups(GROUPS_OF_USER, by=["grp"], keep="first")
        total = pl.col("value").fill_null(LOWER).dp.sum((LOWER, UPPER))
        return limited.group_by("grp").agg(dp.len(signed=False).alias("n"), total.alias("s")).with_keys(public)

    return make


def _columns(frame: Any) -> Columns:
    return frame["n"].to_list(), frame["s"].to_list()


def smartnoise(rows: int) -> Callable[[], Columns]:
    """SmartNoise SQL on SQLite in memory, the fastest engine that it has within a process; epsilon and delta.

    It limits the rows of a user, and not the groups: to as many as ten in each of ten groups.
    """
    snsql: Any = import_module("snsql")
    memory = sqlite3.connect(":memory:")
    with closing(sqlite3.connect(sqlite_file(rows))) as file:
        file.backup(memory)
    whole = {"type": "int", "lower": LOWER, "upper": UPPER}
    table = {
        "max_ids": GROUPS_OF_USER * PER_GROUP,
        "sample_max_ids": True,
        "censor_dims": False,
        "clamp_columns": True,
        "user": {"type": "int", "private_id": True},
        "grp": {"type": "int"},
        "value": whole,
    }
    metadata = {"": {"": {"rows": table}}}
    privacy = snsql.Privacy(epsilon=EPSILON, delta=DELTA)
    reader = snsql.from_connection(memory, engine="sqlite", privacy=privacy, metadata=metadata)

    def run() -> Columns:
        answer = reader.execute("SELECT grp, COUNT(*) AS n, SUM(value) AS s FROM rows GROUP BY grp")
        return [row[1] for row in answer[1:]], [row[2] for row in answer[1:]]

    return run


def pipelinedp(rows: int) -> Callable[[], Columns]:
    """PipelineDP within the process, on a list of tuples in memory; epsilon and delta, Gaussian noise."""
    library: Any = import_module("pipeline_dp")
    listed = list(zip(*(column.tolist() for column in arrays(rows).values()), strict=True))
    extractors = library.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    parameters = library.AggregateParams(
        metrics=[library.Metrics.COUNT, library.Metrics.SUM],
        noise_kind=library.NoiseKind.GAUSSIAN,
        max_partitions_contributed=GROUPS_OF_USER,
        max_contributions_per_partition=PER_GROUP,
        min_value=LOWER,
        max_value=UPPER,
    )

    def run() -> Columns:
        accountant = library.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=DELTA)
        engine = library.DPEngine(accountant, library.LocalBackend())
        answer = engine.aggregate(listed, parameters, extractors, public_partitions=keys())
        accountant.compute_budgets()
        groups = [group for _, group in answer]
        return [group.count for group in groups], [group.sum for group in groups]

    return run


def tumult(rows: int) -> Callable[[], Columns]:
    """Tumult Analytics on Spark with two threads, which reads the Parquet file; zCDP."""
    library: Any = import_module("tmlt.analytics")
    spark = spark_session()
    session = library.Session.from_dataframe(
        library.RhoZCDPBudget(float("inf")),
        "rows",
        spark.read.parquet(str(parquet_file(rows))),
        protected_change=library.AddRowsWithID(id_column="user"),
    )
    limited = library.QueryBuilder("rows").enforce(library.MaxGroupsPerID("grp", GROUPS_OF_USER))
    limited = limited.enforce(library.MaxRowsPerGroupPerID("grp", PER_GROUP))
    grouped = library.KeySet.from_dict({"grp": keys()})

    def run() -> Columns:
        both = []
        budget = library.RhoZCDPBudget(RHO / 2)
        for asked in (limited.groupby(grouped).count("x"), limited.groupby(grouped).sum("value", LOWER, UPPER, "x")):
            both.append([row["x"] for row in session.evaluate(asked, budget).collect()])
        return both[0], both[1]

    return run
