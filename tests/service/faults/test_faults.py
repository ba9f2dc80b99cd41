"""Each fault, with questions of all kinds meanwhile: what is charged, what analysts see, whether others notice."""

from __future__ import annotations

import os

import pytest
from tests.service.faults.faults import FAULTS, Fault
from tests.service.faults.model import KINDS
from tests.service.faults.scenario import Company, run
from tests.service.faults.stage import COMPILER


def require(fault: Fault) -> None:
    """Skip what cannot be brought about here."""
    if fault.place == "disk" and os.geteuid() != 0:
        pytest.skip("a disk of its own is mounted by root alone")
    if fault.place == "clock" and COMPILER is None:
        pytest.skip("a clock of its own needs a compiler")


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_stays_where_it_is_and_everybody_is_told_the_truth(company: Company, fault: Fault) -> None:
    require(fault)
    assert "\n".join(run(company, fault, list(KINDS), fault.dataset or "file")) == ""
