"""The stage of the fault tests itself: room on its disks, and what is on them."""

from __future__ import annotations

import os

import pytest
from tests.service.faults.conftest import Theater
from tests.service.faults.scenario import Company
from tests.service.faults.stage import ROOM

needs_disks = pytest.mark.skipif(os.geteuid() != 0, reason="a disk of its own is mounted by root alone")


@needs_disks
def test_temporary_files_of_the_service_are_on_the_disk_for_them(company: Company) -> None:
    assert "\n".join(company.leaves([])) == ""  # every engine is open
    assert list((company.stage.folder / "temp").glob("viameter-spills-*"))


@needs_disks
def test_a_stage_is_not_used_again_when_its_disks_are_filling(theater: Theater) -> None:
    company = theater.company()
    assert theater.company() is company
    (company.stage.folder / "ledger" / "entries").write_bytes(bytes(company.stage.left()["ledger"] - ROOM + 1))
    another = theater.company()
    assert another is not company
    assert another.stage.has_room()
