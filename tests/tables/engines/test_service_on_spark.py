"""A service whose rows are in a Spark: registered by the name of a table there, previewed, asked, and never copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import QUESTION, make_config, running_in
from tests.tables.quiet import without_warnings_of_engines

from viameter.errors import ParameterError
from viameter.service.service import open_service
from viameter.tables.engines import open_source

ROWS = [
    (f"p{number % 400}", 20 + number % 60, ["Cardiology", "Emergency"][number % 2], number % 240)
    for number in range(800)
]


def test_tables_of_spark_are_asked_by_the_service(spark_session: Any, tmp_path: Path) -> None:
    with without_warnings_of_engines():
        frame = spark_session.createDataFrame(ROWS, "patient string, age int, ward string, wait int")
        frame.createOrReplaceTempView("visits_in_spark")
    dataset = {
        "name": "visits",
        "source": "cluster",
        "table": "visits_in_spark",
        "unit": {"per": "patient", "rows": 5},
        "budget": {"zcdp": "1000000"},
    }
    sources = {"files": {"folder": "data"}, "cluster": {"spark": "local[2]"}}
    with running_in(tmp_path / "service", sources=sources, datasets=[dataset]) as running:
        schema = running.api("analyst-visits", "GET", "/datasets/visits/schema").json()
        assert [column["name"] for column in schema["columns"]] == ["patient", "age", "ward", "wait"]
        costly = {**QUESTION, "spend": {"zcdp": "1000"}}
        first = running.ask("analyst-visits", question=costly, key="k").json()
        rows = [dict(zip(first["answer"]["columns"], row, strict=True)) for row in first["answer"]["rows"]]
        # With as much spent as this, noise is less than a row.
        assert {row["ward"]: round(row["n"]) for row in rows} == {"Cardiology": 400, "Emergency": 400}
        again = running.ask("analyst-visits", question=costly, key="k").json()
        assert again["replayed"] is True and again["answer"] == first["answer"]
        # The same table by another spelling has no second budget.
        second = {**dataset, "name": "again", "table": "VISITS_IN_SPARK"}
        refused = running.api("custodian-all", "POST", "/datasets", json=second)
        assert refused.status_code == 422 and "registered" in refused.text
        missing = {**dataset, "name": "missing", "table": "nowhere"}
        assert running.api("custodian-all", "POST", "/datasets", json=missing).status_code == 422


def test_a_table_of_spark_has_one_budget_by_whatever_name(spark_session: Any, tmp_path: Path) -> None:
    with without_warnings_of_engines():
        spark_session.sql("CREATE DATABASE IF NOT EXISTS other")
        for table in ("default.stays", "other.stays"):
            spark_session.sql(f"CREATE TABLE {table} (patient string, wait int) USING parquet")
    sources = {"files": {"folder": "data"}, "cluster": {"spark": "local[2]"}, "second": {"spark": "local[1]"}}
    dataset = {"unit": {"per": "patient", "rows": 5}, "budget": {"zcdp": "1"}}
    try:
        with running_in(tmp_path / "service", sources=sources, datasets=[]) as running:
            catalog = running.service.catalog
            catalog.register("stays", {**dataset, "source": "cluster", "table": "stays"}, by="ann")
            for source in ("cluster", "second"):
                for table in ("stays", "STAYS", "default.stays", "spark_catalog.default.Stays"):
                    with pytest.raises(ParameterError, match="registered as 'stays'"):
                        catalog.register("again", {**dataset, "source": source, "table": table}, by="ann")
                for table in ("nowhere", "other.nowhere", "nowhere.other.stays", "`default`.stays", "default.`stays`"):
                    with pytest.raises(ParameterError):
                        catalog.register("again", {**dataset, "source": source, "table": table}, by="ann")
            catalog.register("other", {**dataset, "source": "second", "table": "other.stays"}, by="ann")
            assert catalog.names() == ["other", "stays"]
        # A view of the session hides the table of its name: those are other rows.
        config = make_config(tmp_path / "service", sources=sources, datasets=[])
        with without_warnings_of_engines():
            spark_session.table("other.stays").createOrReplaceTempView("stays")
        service = open_service(config)
        try:
            with pytest.raises(ParameterError, match="another place"):
                service.catalog.opened("stays")
            spark_session.catalog.dropTempView("stays")
            assert list(service.catalog.opened("stays").table.schema) == ["patient", "wait"]
        finally:
            service.close()
    finally:
        with without_warnings_of_engines():
            spark_session.catalog.dropTempView("stays")
            spark_session.sql("DROP TABLE default.stays")
            spark_session.sql("DROP DATABASE other CASCADE")


def test_a_table_that_spark_does_not_find_is_refused_by_its_name_alone(spark_session: Any) -> None:
    with pytest.raises(ParameterError) as refused:
        open_source(spark_session, table="nowhere.stays")
    assert str(refused.value) == "the SparkSession has no table 'nowhere.stays'"
