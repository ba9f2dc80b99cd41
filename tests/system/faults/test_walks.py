"""Random walks through faults: a few each time, many in the long tier. A walk is known by its seed."""

from __future__ import annotations

import os

import pytest
from tests.system.faults.faults import FAULTS, PROCESS_FAULTS
from tests.system.faults.scenario import Company
from tests.system.faults.stage import COMPILER
from tests.system.faults.walk import steps_of, walk


def _walk(company: Company, seed: int, length: int) -> None:
    absent = {place for place, is_there in (("disk", os.geteuid() == 0), ("clock", COMPILER)) if not is_there}
    faults = [fault for fault in (*FAULTS, *PROCESS_FAULTS) if fault.place not in absent]
    steps = list(steps_of(seed, length, faults))
    found = walk(company, steps)
    assert not found, "\n".join([*found, "after:", *(str(step) for step in steps)])


@pytest.mark.parametrize("seed", range(2))
def test_a_short_walk_through_faults(company: Company, seed: int) -> None:
    _walk(company, seed, 12)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 160))
def test_a_long_walk_through_faults(company: Company, seed: int) -> None:
    _walk(company, seed, 40)
