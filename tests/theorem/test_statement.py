"""A theorem's docstring, taken apart; a part that is missing or says nothing is refused."""

import dataclasses

import pytest
from tests.cases import for_each

from viameter.errors import RegistryError
from viameter.theorem import Statement
from viameter.theorem.statement import PARTS

WHOLE = """Nothing comes of nothing.

    A word more about it.

    Theorem
        If x is 0,
        then 2 x is 0.
    Requires
        x is a number.
    Ensures
        2 x is 0.
    Proof
        By looking.

        Twice.
    Example
        >>> 2 * 0
        0
    """


def test_every_part_is_read_without_its_indentation() -> None:
    read = Statement.read(WHOLE, where="here")
    assert read == Statement(
        title="Nothing comes of nothing",
        theorem="If x is 0,\nthen 2 x is 0.",
        requires="x is a number.",
        ensures="2 x is 0.",
        proof="By looking.\n\nTwice.",
        example=">>> 2 * 0\n0",
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        read.title = "Something"  # type: ignore[misc]


def test_the_parts_may_come_in_any_order() -> None:
    lines = WHOLE.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip() == "Example")
    moved = [*lines[:4], *lines[start:-1], *lines[4:start]]
    assert Statement.read("\n".join(moved), where="here") == Statement.read(WHOLE, where="here")


@for_each("part", PARTS)
def test_a_part_that_is_missing_is_refused_by_name(part: str) -> None:
    without = WHOLE.replace(f"    {part}\n", "")
    with pytest.raises(RegistryError, match=f"here: the docstring lacks {part}"):
        Statement.read(without, where="here")


@for_each("part", PARTS)
def test_a_part_that_says_nothing_is_refused_by_name(part: str) -> None:
    lines = WHOLE.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip() == part)
    end = next((i for i in range(start + 1, len(lines)) if lines[i].strip() in PARTS), len(lines) - 1)
    emptied = "\n".join([*lines[: start + 1], "        ", *lines[end:]])
    with pytest.raises(RegistryError, match=part):
        Statement.read(emptied, where="here")


@for_each("docstring", [None, "", "   \n  ", "Theorem\n    x"])
def test_a_docstring_without_a_title_is_refused(docstring: str | None) -> None:
    with pytest.raises(RegistryError, match="title"):
        Statement.read(docstring, where="here")


def test_everything_that_is_missing_is_named_at_once() -> None:
    with pytest.raises(RegistryError, match="Theorem, Requires, Ensures, Proof, Example"):
        Statement.read("A title.", where="here")
