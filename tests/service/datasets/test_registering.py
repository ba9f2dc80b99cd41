"""Registering datasets: files that are no patterns, two processes at once, and what was cut off before its budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest
from tests.service.datasets.registrations import BODY, opened, refuse, register
from tests.service.serving import make_config, make_folder

from viameter import pure
from viameter.errors import FormatError, LedgerError, ParameterError, ViameterError

CUT_OFF = "the dataset 'wages' has no budget, since it was cut off while it was registered: register it again"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of a service."""
    make_folder(tmp_path / "service" / "data")
    return tmp_path / "service"


@pytest.mark.parametrize("name", ["part[12].parquet", "part?.parquet", "part*.parquet", "in[1]/part.parquet"])
def test_a_link_to_a_file_whose_path_is_a_pattern_is_refused(folder: Path, name: str) -> None:
    data = folder / "data"
    for file in ("part1.parquet", "part2.parquet", "in1/part.parquet", name):
        (data / file).parent.mkdir(exist_ok=True)
        duckdb.execute(f"COPY (SELECT 1 AS wage) TO '{data / 'written'}' (FORMAT parquet)")
        (data / "written").replace(data / file)
    (data / "link.parquet").symlink_to(data / name)
    with opened(folder) as service:
        said = refuse(service, "linked", "link.parquet")
        assert "pattern of several files" in said and str(folder) not in said
        register(service, "plain", "part1.parquet")
    # One that was registered before is not opened either.
    (data / "part1.parquet").unlink()
    (data / "part1.parquet").symlink_to(data / name)
    with opened(folder) as service, pytest.raises(ViameterError, match="cannot be reached"):
        service.catalog.opened("plain")


@pytest.mark.parametrize("name", ["data[1]", "data*", "data?"])
def test_a_folder_whose_real_path_is_a_pattern_is_no_source(folder: Path, name: str) -> None:
    make_folder(folder / name)
    (folder / "link").symlink_to(folder / name)
    for written in (name, "link"):
        with pytest.raises(FormatError, match=r"\[sources.files\]: the real path .* rename the folder"):
            make_config(folder, datasets=[], sources={"files": {"folder": written}})


def test_a_unit_of_which_any_number_of_rows_counts_is_not_registered(folder: Path) -> None:
    """Hardly a question of it could be asked, and what a dataset is stays so for good."""
    with opened(folder) as service:
        for unit in ({"per": "ward"}, {"per": "wait"}):
            asked = {**BODY, "source": "files", "table": "visits.csv", "unit": unit}
            with pytest.raises(ParameterError, match=r"say how much of one .* counts in a question"):
                service.catalog.register("visits", asked, by="ann")
            assert "visits" not in service.catalog.names()
            assert "visits" not in [scope.name for scope in service.ledger.scopes()]
        service.catalog.register("visits", {**asked, "unit": {"per": "ward", "rows": 3}}, by="ann")


def document(budget: str) -> dict[str, Any]:
    """What is registered, under a budget."""
    return {**BODY, "source": "files", "table": "wages.csv", "budget": {"pure": budget}}


def test_a_name_that_another_process_gave_a_budget_meanwhile_stays_theirs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(folder) as service, opened(folder) as other:
        adding = service.state.add_dataset

        def overtaken(*given: Any, **named: Any) -> None:
            adding(*given, **named)
            other.catalog.register("wages", document("2"), by="bob")  # which finds a name without a budget

        monkeypatch.setattr(service.state, "add_dataset", overtaken)
        with pytest.raises(LedgerError):
            service.catalog.register("wages", document("1"), by="ann")
        for one in (service, other):
            assert one.catalog.scope("wages").budget == pure(2)
            assert one.catalog.opened("wages").registered.by == "ann"


def test_a_name_is_dropped_if_its_budget_was_there_before(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(folder) as service:
        register(service, "wages", "wages.csv")
        service.state.drop_dataset("wages", by="ann")
        with opened(folder) as other:
            adding = service.state.add_dataset

            def meanwhile(*given: Any, **named: Any) -> None:
                (folder / "data" / "linked.csv").hardlink_to(folder / "data" / "wages.csv")
                register(other, "linked", "linked.csv")
                adding(*given, **named)

            monkeypatch.setattr(service.state, "add_dataset", meanwhile)
            with pytest.raises(ParameterError, match="registered as 'linked'"):
                register(service, "wages", "wages.csv")
            assert service.catalog.names() == ["linked"]


def test_what_was_cut_off_before_its_budget_says_so_and_nothing_else(folder: Path) -> None:
    with opened(folder) as service:
        register(service, "other", "visits.csv")
        catalog, why = service.catalog, {"by": "ann", "why": "a test"}
        settled = {key: value for key, value in document("1").items() if key != "budget"}
        place = f"{(folder / 'data' / 'wages.csv').resolve()}#"
        service.state.add_dataset("wages", settled, place=place, by="ann")
        acts = service.state.acts(last=100)
        for ask in (
            lambda: catalog.opened("wages"),
            lambda: catalog.asked_by("wages", "ann"),
            lambda: catalog.scope("wages"),
            lambda: catalog.least_spend("wages"),
            lambda: catalog.retire("wages", **why),
            lambda: catalog.reinstate("wages", **why),
            lambda: catalog.renew("wages", **why),
            lambda: catalog.set_budget("wages", pure(2), **why),
            lambda: catalog.set_personal("wages", "bob", pure(1), **why),
        ):
            with pytest.raises(ParameterError) as refused:
                ask()
            assert str(refused.value) == CUT_OFF
        assert service.state.acts(last=100) == acts
        assert [scope.name for scope in service.ledger.scopes()] == ["other"]
        catalog.register("wages", document("1"), by="ann")
        assert catalog.opened("wages").table is not None
