"""The worst pair of neighbors of a small class, by looking at all of them, in exact arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from viameter.core import Loss
from viameter.errors import NoTheorem, ParameterError, plain
from viameter.neighborhood.arguments import read_listed
from viameter.neighborhood.brute.models import SmallModel, small_model
from viameter.neighborhood.brute.relations import ANY, LISTS, MULTISETS, PEOPLE, TABLES, kind_of, relation_of
from viameter.neighborhood.changes import Records
from viameter.neighborhood.claims import Leaf
from viameter.neighborhood.conditions import Check
from viameter.neighborhood.cuts import Cut, by_source, contributions, foreign_keys, induced, memberships, partition
from viameter.neighborhood.cuts.records import RecordCut
from viameter.neighborhood.finite import ExactAnswer, FiniteLeaf, PrivacySpace
from viameter.neighborhood.granularities import Attribute, Granularity, Group, Policy
from viameter.neighborhood.granularities.classes import speaks_of_data_of
from viameter.neighborhood.witness import Seen, Witness


@dataclass(frozen=True, slots=True)
class BruteForce:
    """What all pairs of neighbors of a small class say: the exact loss on it, a smallest pair, and C1 and C2."""

    loss: Loss
    witness: Witness | None
    """The pair of neighbors, the smallest of those that cost most; None if there are no neighbors."""
    c1: Check
    c2: Check
    is_proof: bool
    """Whether larger databases cannot cost more, so that the loss is exact for all; if not, it can only refute."""
    why: str


def brute_force(granularity: Granularity | PrivacySpace, leaves: Sequence[Leaf], *, size: int = 2) -> BruteForce:
    """Look at all pairs of neighbors among small databases: what do the leaves cost, exactly?

    The leaves are of one cut; databases have up to `size` records (or places, times or nodes in each part). For a
    class and maps of your own, give a `PrivacySpace` and leaves on `function(f)`.

    >>> import viameter as vm
    >>> from viameter import neighborhood as nb
    >>> leaves = [nb.leaf(part, vm.pure(1)) for part in nb.partition(3)]
    >>> found = nb.brute_force(nb.bounded(), leaves)
    >>> found.loss, found.witness.before, found.witness.after
    (pure(inf), ('a',), ('c',))
    >>> found.c1.holds, found.c2.holds, found.is_proof
    (False, False, True)
    """
    given = tuple(read_listed(leaves, "leaves", "[leaf(part, pure('1/10'))]"))
    if not given or not all(isinstance(leaf, Leaf) for leaf in given):
        raise ParameterError(f"leaves={plain(leaves)}: expected leaves, at least one")
    if isinstance(granularity, PrivacySpace):
        return _in_space(granularity, given)
    if not isinstance(granularity, Granularity):
        raise ParameterError(f"granularity={plain(granularity)} is not a granularity: expected e.g. bounded()")
    from viameter.neighborhood.functions import look_at_all  # which is made of this

    cut = _only_cut(given)
    model = small_model(granularity, cut, size=size)
    space = PrivacySpace(model.members, relation=relation_of(granularity, on=model.kind))
    answer = look_at_all(space, [_finite(leaf, model, granularity) for leaf in given])
    proves, why = _is_proof(granularity, cut, model, size)
    if proves and not all(speaks_of_data_of(leaf.claims[0].in_granularity(granularity), granularity) for leaf in given):
        proves, why = False, "a leaf's guarantee is not about data of this kind, whatever it says of this class"
    return _report(answer, given, proves, why)


def small_space(granularity: Granularity, cut: Cut | None = None, *, size: int = 2) -> PrivacySpace:
    """A small class of databases with a granularity's neighbor relation, to look at: its neighbors and distances.

    The databases are of the kind that the granularity speaks of, and of the records that a cut tells apart.

    >>> from viameter import neighborhood as nb
    >>> lists = nb.small_space(nb.bounded_ordered())
    >>> lists.neighbors(("a", "b"))
    (('a', 'a'), ('a', 'c'), ('a', 'd'), ('b', 'b'), ('c', 'b'), ('d', 'b'))
    >>> nb.small_space(nb.edge()).diameter
    Fraction(6, 1)
    """
    model = small_model(granularity, _usual_cut(granularity) if cut is None else cut, size=size)
    return PrivacySpace(model.members, relation=relation_of(granularity, on=model.kind), name=repr(granularity))


def _usual_cut(granularity: Granularity) -> Cut:
    base = granularity.base if isinstance(granularity, Group) else granularity
    if isinstance(base, Policy):
        values = sorted({value for pair in base.pairs for value in pair}, key=repr)
        return memberships({value: [0] for value in values})
    if isinstance(base, Attribute):
        return partition(2, by="column")
    match kind_of(base):
        case "streams":
            return partition(3, by="time")
        case "graphs":
            return induced(2)
        case "directed graphs":
            return by_source(2)
        case "people":
            return contributions(2, l0=2, l1=2)
        case "tables":
            return foreign_keys({"a": {}, "b": {"a": 2}})
    return partition(2, by="value")


def _only_cut(leaves: Sequence[Leaf]) -> Cut:
    cuts = {id(leaf.part.cut): leaf.part.cut for leaf in leaves}
    if len(cuts) > 1:
        raise ParameterError("leaves of one cut are looked at: those of several share no small class of databases")
    return next(iter(cuts.values()))


def _finite(leaf: Leaf, model: SmallModel, target: Granularity) -> FiniteLeaf:
    if len(leaf.claims) != 1 or leaf.part.stability != 1:
        raise NoTheorem("brute force takes leaves with one claim each, on maps as they are")
    claim = leaf.claims[0]
    own = claim.in_granularity(target)
    records = {MULTISETS, LISTS, PEOPLE, TABLES}  # images of all of these are lists of records
    if kind_of(own) not in (model.kind, ANY) and not {kind_of(own), model.kind} <= records:
        raise NoTheorem(f"{own!r} is of {kind_of(own)}, and these small databases are {model.kind}")
    return FiniteLeaf(
        model.maps[leaf.part.place],
        claim.law.at,
        mode=claim.mode,
        relation=None if own == target else relation_of(own, on=model.kind),
    )


def _in_space(space: PrivacySpace, leaves: Sequence[Leaf]) -> BruteForce:
    from viameter.neighborhood.functions import finite_leaf, look_at_all

    answer = look_at_all(space, [finite_leaf(leaf) for leaf in leaves])
    return _report(answer, leaves, True, "the class is finite, and every pair of its neighbors was looked at")


def _is_proof(target: Granularity, cut: Cut, model: SmallModel, size: int) -> tuple[bool, str]:
    """Small-model lemma: for local maps, databases made of the change alone have every touch pattern."""
    if not isinstance(cut, RecordCut) or not model.local:
        return False, "larger databases may have other touch patterns: this can refute a bound, not prove one"
    needed = max((min(edit.added, edit.total) for edit in target.edits if isinstance(edit, Records)), default=None)
    if needed is None or size < needed + 1:
        return False, "the class may be too small to hold every change, and a step beside it"
    return True, "the maps are local and the class has every change alone: larger databases cost no more"


def _report(answer: ExactAnswer, leaves: Sequence[Leaf], proves: bool, why: str) -> BruteForce:
    witness = None
    if answer.maximal:
        parts = {
            f"{leaf.part!r}": Seen(before, after, far)
            for leaf, (before, after), far in zip(leaves, answer.images, answer.distances, strict=True)
            if before != after
        }
        witness = Witness(answer.before, answer.after, parts, attained=True)
    known = True if proves else None
    c1 = _check(answer.c1, known, answer.c1_pair, "at most one map changes on neighbors")
    pair = None if answer.c2_pair is None else answer.c2_pair[1:]
    c2 = _check(answer.c2, known, pair, "no map moves neighbors more than one step apart")
    return BruteForce(answer.loss, witness, c1, c2, proves, why)


def _check(holds: bool, known: bool | None, pair: tuple[Any, Any] | None, says: str) -> Check:
    if holds:
        return Check(known, says if known else f"{says}, on this class")
    assert pair is not None
    return Check(False, f"it is not so that {says}", Witness(pair[0], pair[1], {}, attained=True))
