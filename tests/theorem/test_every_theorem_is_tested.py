"""Every registered theorem has tests of what it ensures and of what it requires, found by their names."""

import re
from functools import cache
from pathlib import Path

from tests.cases import for_each

import viameter.composition.accounting
import viameter.logic.running
import viameter.neighborhood
import viameter.tables  # noqa: F401  # with the lines above, registers every theorem
from viameter.theorem import all_theorems

TESTS = Path(__file__).parents[1]


@cache
def names_of_tests() -> frozenset[str]:
    """The names of all test functions, read and not imported."""
    return frozenset(
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^ *def (test_\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE)
    )


@for_each("word", ["ensures", "requires"])
@for_each("slug", [known.slug for known in all_theorems()])
def test_there_is_a_test_of_what_a_theorem_ensures_and_of_what_it_requires(slug: str, word: str) -> None:
    prefix = f"test_{slug.replace('-', '_')}_{word}"
    assert any(name.startswith(prefix) for name in names_of_tests()), f"no test is called {prefix}..."
