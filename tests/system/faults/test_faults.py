"""Each fault, with questions of all kinds meanwhile: what is charged, what analysts see, whether others notice."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest
from tests.system.faults.faults import (
    CUT_FAULTS,
    FAULTS,
    HUNG_STORAGE,
    OPENING_FAULTS,
    PROCESS_FAULTS,
    STORAGE_FAULTS,
    Fault,
)
from tests.system.faults.model import KINDS
from tests.system.faults.scenario import Company, run
from tests.system.faults.stage import COMPILER, OTHERS


def require(fault: Fault) -> None:
    """Skip what cannot be brought about here."""
    if fault.place == "disk" and os.geteuid() != 0:
        pytest.skip("a disk of its own is mounted by root alone")
    if fault.place == "clock" and COMPILER is None:
        pytest.skip("a clock of its own needs a compiler")


def tiers(faults: Iterable[Fault], *ordinary: str) -> list[Any]:
    """These faults in the ordinary tier, all others in the long one."""
    return [
        pytest.param(fault, id=str(fault), marks=() if str(fault) in ordinary else pytest.mark.long) for fault in faults
    ]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_stays_where_it_is_and_everybody_is_told_the_truth(company: Company, fault: Fault) -> None:
    require(fault)
    assert "\n".join(run(company, fault, list(KINDS), fault.dataset or "file")) == ""


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", [*FAULTS, *CUT_FAULTS], ids=str)
def test_a_fault_meets_a_question_of_each_kind(company: Company, fault: Fault, kind: str) -> None:
    require(fault)
    assert "\n".join(run(company, fault, [kind], fault.dataset or "file")) == ""


@pytest.mark.parametrize(
    "fault",
    tiers(
        STORAGE_FAULTS,
        "storage refuses connections",
        "storage drops connections",
        "storage drops connections after bytes 1000",
        "storage is gone after commits 3",
    ),
)
def test_a_server_with_the_ledger_that_fails_charges_nobody_twice(company_on_server: Company, fault: Fault) -> None:
    assert "\n".join(run(company_on_server, fault, list(KINDS), "file")) == ""


@pytest.mark.long
@pytest.mark.xfail(
    raises=AssertionError, reason="whoever asks waits as long as the server of the ledger or the state hangs"
)
@pytest.mark.parametrize("fault", HUNG_STORAGE, ids=str)
def test_a_server_with_the_ledger_that_hangs_is_not_waited_for(company_on_server: Company, fault: Fault) -> None:
    assert "\n".join(run(company_on_server, fault, list(KINDS), "file")) == ""


@pytest.mark.parametrize("fault", tiers(OPENING_FAULTS, "engine refuses connections", "file is away"))
def test_what_is_wrong_when_a_dataset_is_opened_is_told_and_not_charged(company: Company, fault: Fault) -> None:
    assert "\n".join(run(company, fault, list(KINDS), fault.dataset, unopened=True)) == ""


@pytest.mark.parametrize("fault", PROCESS_FAULTS, ids=str)
def test_what_is_in_flight_when_the_process_ends_is_charged_once_at_most(company: Company, fault: Fault) -> None:
    assert "\n".join(run(company, fault, ["count", "found"], "slow", in_flight=True)) == ""


@pytest.mark.parametrize("sent", [0.5, 0.999, 1.0])
def test_a_client_that_vanishes_is_charged_once_at_most_and_finds_its_answer(company: Company, sent: float) -> None:
    company.is_well = False
    for dataset in ("remote", "file"):
        for kind in KINDS:
            company.vanish(dataset, kind, sent=sent)
    assert "\n".join(company.leaves(company.notices(OTHERS))) == ""
