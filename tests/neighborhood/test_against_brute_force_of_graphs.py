"""The engine against brute force, for graphs and for streams of events."""

from random import Random

import pytest
from tests.neighborhood.families import OF_GRAPHS, Family, check

INSTANCES = 25


@pytest.mark.parametrize("family", OF_GRAPHS, ids=lambda family: str(family.__name__))
def test_the_engine_is_never_below_brute_force_and_equal_where_it_says_so(family: Family) -> None:
    random = Random(2029)
    equal = sum(check(family(random)) for _ in range(INSTANCES))
    assert equal > INSTANCES // 3, "the engine is loose on most instances"
