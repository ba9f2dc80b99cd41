"""Questions over tables: counts and sums by group, ten groups of a user and ten rows in each, by us and by peers.

`BENCH_TABLES_ROWS=1000000,10000000` says how many rows there are: the first number for every case, and each further one
for DuckDB alone, which is what takes such tables.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from typing import Any

from bench.model import Benchmark, Case, Variant
from bench.peers import tables_peers
from bench.peers.tables_data import GROUPS, GROUPS_OF_USER, LOWER, PER_GROUP, UPPER, keys, parquet_file
from bench.peers.tables_spark import by_hand as spark_by_hand
from bench.peers.tables_spark import spark_session

SIZES = [int(size) for size in os.environ.get("BENCH_TABLES_ROWS", "1000000").split(",")]
ROWS = SIZES[0]
PLENTY = 10**9
"""A budget that no run uses up."""

RAW = "SELECT grp, count(*) AS n, sum(value) AS s FROM '{path}' GROUP BY grp"
BY_HAND = f"""
SELECT grp, count(*) AS n, sum(v) AS s
FROM (
  SELECT grp, v, dense_rank() OVER by_group AS group_rank, row_number() OVER by_row - rank() OVER by_group AS place
  FROM (
    SELECT user::INTEGER AS user, grp::SMALLINT AS grp, least(greatest(value, {LOWER}), {UPPER})::TINYINT AS v,
      (hash('salt', user, grp) >> 32)::UINTEGER AS group_hash,
      (hash('salt', user, grp, value) >> 32)::UINTEGER AS row_hash
    FROM '{{path}}'
    WHERE user IS NOT NULL
  )
  WINDOW
    by_group AS (PARTITION BY user ORDER BY group_hash, grp),
    by_row AS (PARTITION BY user ORDER BY group_hash, grp, row_hash)
)
WHERE group_rank <= {GROUPS_OF_USER} AND place < {PER_GROUP}
GROUP BY grp
"""
"""One sort by user for all three ranks, with columns as narrow as they can be: what is sorted is what takes time."""


def question(source: Any, *, pure: bool = False, order: str = "native") -> tuple[Any, Any]:
    """The question about a source that is open, and what a release spends."""
    vm: Any = import_module("viameter")
    loss = vm.pure if pure else vm.zcdp
    unit = vm.per("user", groups=GROUPS_OF_USER, per_group=PER_GROUP)
    table = vm.open(source, unit=unit, budget=loss(PLENTY), order=order)
    asked = table.group_by("grp", keys=keys()).agg(n=vm.count(), s=vm.sum("value", bounds=(LOWER, UPPER)))
    return asked, loss(1) if pure else loss("1/2")


def ours(*, pure: bool = False, order: str = "native") -> Callable[..., Callable[[], object]]:
    """A release on DuckDB, which reads the Parquet file."""

    def prepare(rows: int) -> Callable[[], object]:
        asked, spend = question(str(parquet_file(rows)), pure=pure, order=order)
        return lambda: asked.release(spend=spend)

    return prepare


def ours_on_spark(rows: int) -> Callable[[], object]:
    """A release on a Spark DataFrame, which reads the Parquet file."""
    asked, spend = question(spark_session().read.parquet(str(parquet_file(rows))))
    return lambda: asked.release(spend=spend)


def on_duckdb(query: str) -> Callable[..., Callable[[], object]]:
    """A query of DuckDB on the Parquet file."""

    def prepare(rows: int) -> Callable[[], object]:
        duckdb: Any = import_module("duckdb")
        connection = duckdb.connect()
        text = query.format(path=parquet_file(rows))

        def run() -> object:
            found = connection.execute(text).fetchall()
            return [row[1] for row in found], [row[2] for row in found]

        return run

    return prepare


def preview(rows: int) -> Callable[[], object]:
    """What the question would cost."""
    asked, spend = question(str(parquet_file(rows)))
    return lambda: asked.preview(spend=spend)


def preview_of_the_docs() -> Callable[[], object]:
    """What the first question of the docs would cost."""
    vm: Any = import_module("viameter")
    source: Any = import_module("viameter.cli.demo_tables").load_flights()
    flights = vm.open(source, unit=vm.per("tailnum", rows=20), budget=vm.zcdp("1/2"))
    far = flights.filter(flights["distance"] > 500).group_by("carrier", keys=["AA", "B6", "DL", "EV", "UA"])
    bounds = (-30, 180)
    asked = far.agg(
        n=vm.count(), delay=vm.mean("dep_delay", bounds=bounds), p90=vm.quantile("dep_delay", 0.9, bounds=bounds)
    )
    return lambda: asked.preview(spend=vm.zcdp("1/10"))


def opening(rows: int) -> Callable[[], object]:
    """Opening the Parquet file, with all libraries imported."""
    vm: Any = import_module("viameter")
    path, unit = str(parquet_file(rows)), vm.per("user", groups=GROUPS_OF_USER, per_group=PER_GROUP)
    return lambda: vm.open(path, unit=unit, budget=vm.zcdp("1/2"))


def totals(answer: Any) -> list[float]:
    """All counts and all sums together: noise cancels, and what was kept can be compared."""
    if isinstance(answer, tuple):
        counts, sums = answer
    else:
        listed = answer.to_dicts()
        counts, sums = [row["n"] for row in listed], [row["s"] for row in listed]
    return [float(sum(counts)), float(sum(sums))]


def case(name: str, rows: int, *variants: Variant, memory: bool = False) -> Case:
    """Releases from so many rows; the fewer they are, the more noise there is in what is compared."""
    return Case(
        name=name,
        parameters={"rows": rows},
        variants=variants,
        unit="release",
        tolerance=0.05 * max(1.0, 1_000_000 / rows),
        memory=memory,
    )


def alone(name: str, prepare: Callable[..., Callable[[], object]], **parameters: int) -> Case:
    """What nobody else does."""
    return Case(name=name, parameters=parameters, variants=[Variant("viameter", prepare, read=lambda _: None)])


BENCHMARK = Benchmark(
    title="Tables",
    about=(
        f"Counts and sums in {GROUPS:,} groups with public keys, of users of whom {GROUPS_OF_USER} groups count and "
        f"{PER_GROUP} rows in each; values are clipped to [{LOWER}, {UPPER}]. A user has 10 rows on average, some have "
        "thousands. Files and engines are open before, and noise is part of the time. The raw query limits nothing, "
        "and neither it nor the queries written by hand add noise: they are the floor, not competitors. viameter, "
        "OpenDP and Tumult spend zCDP, PipelineDP and SmartNoise epsilon and delta. DuckDB, Polars and Spark (two "
        "threads) read the Parquet file at every release; PipelineDP has the rows as a list in memory and SmartNoise "
        "has them in SQLite in memory. SmartNoise limits the rows of a user to 100 in all, and knows no limit by "
        "group. OpenDP finds the scale of its noise by a search, which the row `scale found before` leaves out. "
        f"Sizes are set by `BENCH_TABLES_ROWS={','.join(map(str, SIZES))}`."
    ),
    cases=[
        *(
            case(
                "by group on DuckDB",
                rows,
                Variant("viameter", ours(), read=totals),
                Variant("viameter, portable order", ours(order="portable"), read=totals),
                Variant("DuckDB by hand, no noise", on_duckdb(BY_HAND), read=totals),
                Variant("DuckDB, raw group-by", on_duckdb(RAW), read=totals, units=1),  # keeps all rows
                memory=True,
            )
            for rows in SIZES
        ),
        case(
            "by group, peers",
            ROWS,
            Variant("viameter", ours(), read=totals),
            Variant("viameter, pure", ours(pure=True), read=totals),
            Variant("OpenDP on Polars", tables_peers.opendp, "opendp_polars", read=totals),
            Variant("OpenDP on Polars, scale found before", tables_peers.opendp_prepared, "opendp_polars", read=totals),
            Variant("SmartNoise SQL", tables_peers.smartnoise, "smartnoise", read=totals, units=1),  # other limits
            Variant("PipelineDP, local", tables_peers.pipelinedp, "pipelinedp", read=totals),
            Variant("Tumult Analytics", tables_peers.tumult, "tumult", read=totals),
        ),
        case(
            "by group on Spark",
            ROWS,
            Variant("viameter", ours_on_spark, read=totals),
            Variant("Spark SQL by hand, no noise", spark_by_hand, read=totals),
        ),
        alone("open a Parquet file", opening, rows=ROWS),
        alone("preview of counts and sums in 1,000 groups", preview, rows=ROWS),
        alone("preview of the docs' first question", preview_of_the_docs),
    ],
)
