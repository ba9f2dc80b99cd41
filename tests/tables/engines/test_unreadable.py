"""Values on which DuckDB fails while it reads: found when a file or a frame is opened, so that no question fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.tables.engines.hostile import answered, evaluated

import viameter as vm
from viameter.errors import SealedError
from viameter.tables.engines import UnreadableData, open_source

ENDS = [0, 2**63 - 1, -(2**63) + 1, 2**62, 10**15, None, 1_600_000_000_000_000_000, 1_600_000_000, 253_402_300_800]


def moments(unit: str, zone: str | None = None, values: list[Any] = ENDS) -> pa.Table:
    column = pa.array(values, pa.int64()).cast(pa.timestamp(unit)).cast(pa.timestamp(unit, zone))
    return pa.table({"u": [f"u{place}" for place in range(len(values))], "c": column})


def invalid_text() -> pa.Table:
    bytes_of = pa.array([b"fine", b"\xff\xfe", b"hunter2"], pa.binary())
    column = pa.Array.from_buffers(pa.string(), 3, bytes_of.buffers())
    return pa.table({"u": ["u0", "u1", "u2"], "c": column})


@pytest.mark.parametrize("zone", [None, "America/New_York"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_moments_out_of_range_are_null_or_found_when_opened(tmp_path: Path, unit: str, zone: str | None) -> None:
    sources: list[Any] = [moments(unit, zone)]
    if unit != "s":  # which Parquet does not have
        pq.write_table(moments(unit, zone), tmp_path / "t.parquet")
        sources.append(tmp_path / "t.parquet")
    for source in sources:
        # What DuckDB counts in microseconds while it reads it.
        if unit in ("s", "ms") and (zone is not None or isinstance(source, Path)):
            with pytest.raises(UnreadableData, match=r"'c' .*moments out of range"):
                open_source(source)
        else:
            evaluated(source)
            assert answered(source)
    fine = moments(unit, zone, [0, None, 1_600_000_000])
    pq.write_table(fine, tmp_path / "t.parquet")
    for other in (fine, tmp_path / "t.parquet", fine.to_pandas(), pl.from_arrow(fine) if unit != "s" else fine):
        evaluated(other)


@pytest.mark.parametrize("where", ["parquet", "folder", "arrow", "large", "pandas", "memtable"])
def test_text_that_is_not_utf8_is_found_when_it_is_opened(tmp_path: Path, where: str) -> None:
    import ibis

    table = invalid_text()
    pq.write_table(table, tmp_path / "t.parquet")
    surrogates = pd.DataFrame({"u": ["u0", "u1"], "c": ["fine", "hunter2\ud800"]}, dtype=object)
    as_bytes = table["c"].combine_chunks().cast(pa.large_binary())
    large = pa.table({"c": pa.Array.from_buffers(pa.large_string(), len(as_bytes), as_bytes.buffers())})
    sources: dict[str, Any] = {
        "parquet": tmp_path / "t.parquet", "folder": tmp_path, "arrow": table, "large": large, "pandas": surrogates,
        "memtable": ibis.memtable(table),
    }  # fmt: skip
    with pytest.raises(UnreadableData, match=r"'c' \(VARCHAR\) has values that cannot be read") as caught:
        open_source(sources[where])
    assert "hunter2" not in str(caught.value) and caught.value.__suppress_context__


def test_a_file_that_changes_after_it_was_opened_gives_a_sealed_error(tmp_path: Path) -> None:
    pq.write_table(pa.table({"u": ["u0"], "c": ["fine"]}), tmp_path / "t.parquet")
    table = vm.open(tmp_path / "t.parquet", unit=vm.per("u", rows=1), budget=vm.zcdp(1))
    question = table.filter(table["c"] == "fine").agg(n=vm.count())
    pq.write_table(invalid_text(), tmp_path / "t.parquet")
    with pytest.raises(SealedError):
        question.release(spend=vm.zcdp("1/10"))
