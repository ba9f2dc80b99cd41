"""A ledger that was opened before a fork is used in the children and in the parent: each has its own connections."""

from __future__ import annotations

from tests.ledger.crash.forks import CHILDREN, EACH, charge_on_both_sides
from tests.processes import in_clean_process


def test_a_ledger_is_used_in_children_and_in_the_parent(location: str) -> None:
    charged, wrong = in_clean_process(charge_on_both_sides, location)
    assert wrong == []
    assert charged == (CHILDREN + 1) * EACH + 2
