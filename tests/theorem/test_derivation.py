"""The tree of theorems behind a number: its nodes, its assumptions, its text."""

import dataclasses

import pytest

import viameter.composition.accounting
import viameter.logic.running
import viameter.neighborhood
import viameter.tables  # noqa: F401  # with the lines above, registers every theorem
from viameter.theorem import Derivation, Explanation, find_theorem

CHAIN, MAP = find_theorem("chain"), find_theorem("trusted-map")
MAP_LINE = f"{MAP.statement.title} [trusted-map, assumed]"
CHAIN_LINE = f"{CHAIN.statement.title} [chain, exact]"


def leaf(name: str, *assumes: str) -> Derivation:
    return Derivation(name, MAP, "1", "2", assumes=assumes)


TREE = Derivation(
    "top",
    CHAIN,
    "1",
    "4",
    assumes=("a",),
    premises=(
        Derivation("left", CHAIN, "1", "3", premises=(leaf("x", "b", "a"), leaf("y", "c"))),
        leaf("right", "b", "d"),
    ),
)


def test_nodes_come_from_the_top() -> None:
    assert [node.subject for node in TREE.nodes()] == ["top", "left", "x", "y", "right"]


def test_every_assumption_is_listed_once_in_order() -> None:
    assert TREE.assumptions == ("a", "b", "c", "d") == Explanation("Claim.", TREE).assumptions


def test_the_text_is_a_tree() -> None:
    assert str(Explanation("Claim.", TREE)).splitlines() == [
        "Claim.",
        "top: 1 -> 4",
        f"│  {CHAIN_LINE}",
        "├─ left: 1 -> 3",
        f"│  │  {CHAIN_LINE}",
        "│  ├─ x: 1 -> 2",
        f"│  │     {MAP_LINE}",
        "│  └─ y: 1 -> 2",
        f"│        {MAP_LINE}",
        "└─ right: 1 -> 2",
        f"      {MAP_LINE}",
        "It rests on trust that:",
        "  * a",
        "  * b",
        "  * c",
        "  * d",
    ]


def test_a_tree_without_assumptions_does_not_speak_of_trust() -> None:
    assert str(Explanation("Claim.", leaf("x"))).splitlines() == ["Claim.", "x: 1 -> 2", f"   {MAP_LINE}"]


def test_a_premise_that_is_used_twice_is_drawn_twice() -> None:
    # Once: the last premise is found by identity, so that both are drawn as the last one.
    twice = leaf("x")
    drawn = str(Explanation("Claim.", Derivation("top", CHAIN, "1", "4", premises=(twice, twice)))).splitlines()
    assert drawn[3].startswith("├─ x") and drawn[5].startswith("└─ x")


def test_derivations_and_explanations_are_frozen_and_equal_by_value() -> None:
    assert leaf("x", "a") == leaf("x", "a") != leaf("x", "b")
    with pytest.raises(dataclasses.FrozenInstanceError):
        TREE.bound = "0"  # type: ignore[misc]
    explanation = Explanation("Claim.", TREE)
    assert repr(explanation) == str(explanation)
    with pytest.raises(dataclasses.FrozenInstanceError):
        explanation.claim = "Another."  # type: ignore[misc]
