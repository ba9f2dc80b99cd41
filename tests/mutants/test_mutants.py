"""The lists of mutants: each edit is found in the sources, and no room has lost any."""

from collections import Counter

import pytest
from tests.mutants.mutant import mutants_of, rooms
from tests.mutants.run import key
from tests.reach import ROOT

ROOMS = [
    "arith",
    "composition",
    "ledger",
    "logic/kernel",
    "measures",
    "neighborhood",
    "tables/bounding",
    "service/access",
    "viameter_check",
]


def test_every_room_that_carries_soundness_has_at_least_forty_mutants() -> None:
    assert set(ROOMS) <= set(rooms())
    assert {room: len(mutants_of(room)) for room in rooms() if len(mutants_of(room)) < 40} == {}


@pytest.mark.parametrize("room", rooms())
def test_every_mutant_is_found_once_in_the_sources_and_changes_them(room: str) -> None:
    mutants = mutants_of(room)
    for mutant in mutants:
        file, text = mutant.applied(ROOT / "src")
        assert text != file.read_text(), mutant.at
        compile(text, str(file), "exec")
    assert max(Counter(key(mutant) for mutant in mutants).values()) == 1
