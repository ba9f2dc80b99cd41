"""The engine against brute force, where parts are cut by what a record is."""

from random import Random

import pytest
from tests.neighborhood.families import OF_RECORDS, Family, check

INSTANCES = 25


@pytest.mark.parametrize("family", OF_RECORDS, ids=lambda family: str(family.__name__))
def test_the_engine_is_never_below_brute_force_and_equal_where_it_says_so(family: Family) -> None:
    random = Random(2027)
    equal = sum(check(family(random)) for _ in range(INSTANCES))
    assert equal > INSTANCES // 2, "the engine is loose on most instances"
