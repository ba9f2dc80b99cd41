"""Maps given as functions, for composition over a finite class of databases, where everything can be looked at."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError, ViameterError, plain
from viameter.neighborhood.brute.relations import relation_of
from viameter.neighborhood.changes import Change
from viameter.neighborhood.claims import Leaf
from viameter.neighborhood.cuts import Cut, Gains, Part, Touched
from viameter.neighborhood.finite import ExactAnswer, FiniteLeaf, PrivacySpace, exact_worst
from viameter.neighborhood.laws import OfLoss
from viameter.neighborhood.scales import TIGHT
from viameter.neighborhood.witness import Seen, Witness


@dataclass(frozen=True, eq=False, repr=False)
class FunctionCut(Cut):
    """One map, given as a function on the databases of a finite class."""

    function: Callable[[Any], Hashable]
    name: str
    images: str

    def __len__(self) -> int:
        return 1

    def label(self, part: int) -> str:
        """The function's name."""
        return self.name

    def worst(self, edit: Change, gains: Gains) -> Touched:
        """A function says nothing of databases that it was not tried on."""
        raise NoTheorem(
            f"{self.name} is a function, of which only a finite class can tell how it moves: compose over a "
            "PrivacySpace, or say its stability by opaque(stability=...)"
        )

    def __repr__(self) -> str:
        return f"function({self.name})"


def function(map: Callable[[Any], Hashable], *, name: str = "", images: str = "multisets") -> Part:
    """A map as a function, for composition over a `PrivacySpace`; `images` says what kind of databases it gives.

    >>> from viameter import neighborhood as nb
    >>> import viameter as vm
    >>> line = nb.PrivacySpace(range(5), relation=lambda a, b: abs(a - b) == 1, name="a line")
    >>> halves = [nb.leaf(nb.function(lambda n, k=k: n // k), vm.pure("1/2"), mode="common") for k in (1, 2)]
    >>> composed = nb.compose(line, halves)
    >>> composed.loss, composed.witness.before, composed.witness.after
    (pure(1), 1, 2)
    """
    if not callable(map):
        raise ParameterError(f"map={plain(map)} is not a function")
    return Part(FunctionCut(map, name or getattr(map, "__name__", "a function"), images), 0)


@dataclass(frozen=True, slots=True, repr=False)
class FiniteComposed:
    """What leaves cost together on a finite class of databases: every pair of neighbors was looked at."""

    space: PrivacySpace
    leaves: tuple[Leaf, ...]
    answer: ExactAnswer

    @property
    def loss(self) -> Loss:
        """The largest cost of a pair of neighbors; in a metric space, per unit of distance."""
        return self.answer.loss

    @property
    def tight(self) -> bool:
        """Whether mechanisms with these losses exist that cost just this."""
        linear = all(isinstance(claim.law, OfLoss) for leaf in self.leaves for claim in leaf.claims)
        return linear and self.loss.measure in TIGHT

    @property
    def witness(self) -> Witness:
        """A smallest pair that costs most."""
        seen = zip(self.leaves, self.answer.images, self.answer.distances, strict=False)
        parts = {f"{leaf.part!r}": Seen(*pair, far) for leaf, pair, far in seen if pair[0] != pair[1]}
        return Witness(self.answer.before, self.answer.after, parts, attained=True)

    def __repr__(self) -> str:
        return f"<composed over {self.space!r}: {self.loss!r}>"


def compose_over(space: PrivacySpace, leaves: Sequence[Leaf]) -> FiniteComposed:
    """What leaves on functions cost together, over all pairs of neighbors of a finite class."""
    given = tuple(leaves)
    return FiniteComposed(space, given, look_at_all(space, [finite_leaf(leaf) for leaf in given]))


def look_at_all(space: PrivacySpace, leaves: Sequence[FiniteLeaf]) -> ExactAnswer:
    """The worst pair of a finite class; maps and relations of somebody's own may not fit together."""
    try:
        return exact_worst(space, leaves)
    except (TypeError, AttributeError, KeyError, IndexError, ValueError) as problem:
        if isinstance(problem, ViameterError):
            raise
        raise ParameterError(
            f"a map, or the relation on what it gives, failed with a {type(problem).__name__}: images must have a "
            "hash, and the space's relation is asked of them too; else say granularity=..., or mode='common', which "
            "asks for steps between databases only"
        ) from None


def finite_leaf(leaf: Leaf) -> FiniteLeaf:
    """A leaf on a function, as brute force takes it."""
    cut = leaf.part.cut
    if not isinstance(cut, FunctionCut) or len(leaf.claims) != 1 or leaf.part.stability != 1:
        raise ParameterError("over a finite class, leaves are on function(f), with one claim each")
    claim = leaf.claims[0]
    relation = None if claim.granularity is None else relation_of(claim.granularity, on=cut.images)
    law = claim.law.loss if isinstance(claim.law, OfLoss) else claim.law.at
    return FiniteLeaf(cut.function, law, mode=claim.mode, relation=relation)
