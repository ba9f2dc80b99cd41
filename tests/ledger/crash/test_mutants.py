"""The tests of races and crashes can fail: each broken protocol is found by them, and the right one by hand is not."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.ledger.crash import mutants
from tests.ledger.crash.clients import Client
from tests.ledger.crash.kills import kill_workers
from tests.ledger.crash.races import race
from tests.processes import folder_in_memory, in_clean_process

SAID: dict[type[Client], tuple[str, ...]] = {
    mutants.ByHand: (),
    mutants.ChargesAfterRun: ("ran, and is not charged", "ran 2 times"),
    mutants.RedrawsOnRetry: ("other bytes on a retry", "answered after all"),
    mutants.ReleasesBeforeCommit: ("left as other bytes than are stored",),
    mutants.RefundsOnRestart: ("changed what was spent", "and charges add up to"),
}
"""Protocols, and what the referee says of them: one of these at least, whichever it sees first."""


def kills_of_each() -> dict[str, list[str]]:
    """Kill workers of each protocol until the referee says something; of the right one, a few."""
    return {
        client.__name__: kill_workers(120 if said else 8, seed=3, client=client)[0] for client, said in SAID.items()
    }


@pytest.fixture(scope="module")
def found() -> dict[str, list[str]]:
    """What the referee said."""
    result: dict[str, list[str]] = in_clean_process(kills_of_each)
    return result


@pytest.mark.parametrize("client", SAID)
def test_broken_protocols_are_found(client: type[Client], found: dict[str, list[str]]) -> None:
    problems, said = found[client.__name__], SAID[client]
    assert bool(problems) == bool(said)
    assert not said or any(text in problem for problem in problems for text in said), problems


def race_of_mutants(location: str) -> tuple[Counter[str], list[str]]:
    """A race of those that check first and charge later."""
    return race(location, two_scopes=False, each=100, charge=mutants.charge_later)


def test_checking_first_and_charging_later_is_found() -> None:
    with folder_in_memory() as folder:
        accepted, wrong = in_clean_process(race_of_mutants, str(folder / "budget.db"))
    assert accepted["all"] > 200
    assert [problem for problem in wrong if problem.startswith("all:")]
