"""Many leaves that share their claims: a million of one loss, or changed all in the same way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import overload

from viameter.neighborhood.claims import Claim, Leaf
from viameter.neighborhood.cuts import Cut


@dataclass(frozen=True)
class UniformLeaves(Sequence[Leaf]):
    """A leaf on each part of a cut, all with the same claims: a million of them take no memory."""

    cut: Cut
    claims: tuple[Claim, ...]

    def __len__(self) -> int:
        return len(self.cut)

    @overload
    def __getitem__(self, place: int) -> Leaf: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Leaf]: ...
    def __getitem__(self, place: int | slice) -> Leaf | Sequence[Leaf]:
        """One of the leaves, or several."""
        if isinstance(place, slice):
            return [Leaf(part, self.claims) for part in self.cut[place]]
        return Leaf(self.cut[place], self.claims)

    def __repr__(self) -> str:
        return f"<{len(self)} leaves like {self[0]!r}>"


def with_claims(leaves: Sequence[Leaf], change: Callable[[Claim], Claim]) -> Sequence[Leaf]:
    """The same leaves with their claims changed; leaves that share their claims go on to do so."""
    if isinstance(leaves, UniformLeaves):
        return replace(leaves, claims=tuple(change(claim) for claim in leaves.claims))
    changed: dict[int, tuple[Claim, ...]] = {}
    found = []
    for leaf in leaves:
        claims = changed.get(id(leaf.claims))
        if claims is None:
            claims = changed[id(leaf.claims)] = tuple(change(claim) for claim in leaf.claims)
        by_class = tuple((name, change(claim)) for name, claim in leaf.by_class)
        found.append(replace(leaf, claims=claims, by_class=by_class))
    return tuple(found)


def distinct_claims(leaves: Sequence[Leaf]) -> list[tuple[Claim, ...]]:
    """The claims of leaves, those that are one object once."""
    if isinstance(leaves, UniformLeaves):
        return [leaves.claims]
    return list({id(leaf.claims): leaf.claims for leaf in leaves}.values())
