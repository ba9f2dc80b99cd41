"""A service whose rows are in a Spark: registered by the name of a table there, previewed, asked, and never copied."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.service.serving import QUESTION, running_in

from viameter.query.engines.quiet import without_warnings_of_engines

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
