"""The stage of the fault tests itself: room on its disks, what is on them, and what is told when a test fails."""

from __future__ import annotations

import os

import pytest
from tests.system.faults import scenario
from tests.system.faults.conftest import Theater
from tests.system.faults.faults import engine, suffering
from tests.system.faults.scenario import Company
from tests.system.faults.stage import ROOM

needs_disks = pytest.mark.skipif(os.geteuid() != 0, reason="a disk of its own is mounted by root alone")


def test_temporary_files_of_the_service_are_on_the_disk_for_them(company: Company) -> None:
    assert "\n".join(company.leaves([])) == ""  # every engine is open
    assert list((company.stage.folder / "temp").glob("viameter-spills-*"))


def test_what_does_not_recover_is_told_with_what_was_replied_and_logged(
    company: Company, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as at_once, suffering(company.stage, engine("refuses connections")):
        at_once.setattr(scenario, "PATIENCE", 0)
        found = company.leaves([])
    told = "\n".join(found)
    assert "remote does not recover: 503 source_unavailable: the rows of this dataset cannot be reached" in told
    assert "a key of remote is REFUSED when all is well: 503 source_unavailable: " in told
    assert "logged: unavailable: the rows of 'remote'" in told
    for disk in company.stage.disks:
        assert f"the disk {disk.name} has " in told
    assert not company.is_well
    assert "\n".join(company.leaves([])) == ""


@needs_disks
def test_a_stage_is_not_used_again_when_its_disks_are_filling(theater: Theater) -> None:
    company = theater.company()
    assert theater.company() is company
    (company.stage.folder / "ledger" / "entries").write_bytes(bytes(company.stage.left()["ledger"] - ROOM + 1))
    another = theater.company()
    assert another is not company
    assert another.stage.has_room()
