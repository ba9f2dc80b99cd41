"""The stage of the fault tests itself: what is on its disks."""

from __future__ import annotations

import os

import pytest
from tests.service.faults.scenario import Company

needs_disks = pytest.mark.skipif(os.geteuid() != 0, reason="a disk of its own is mounted by root alone")


@needs_disks
def test_temporary_files_of_the_service_are_on_the_disk_for_them(company: Company) -> None:
    assert "\n".join(company.leaves([])) == ""  # every engine is open
    assert list((company.stage.folder / "temp").glob("viameter-spills-*"))
