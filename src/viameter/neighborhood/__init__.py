"""Composition under any neighborhood: what a guarantee means when one row, one cell, one edge, one patient changes.

A *granularity* says which datasets are neighbors. A *cut* is a set of maps that keep parts of the data. A *leaf* is a
map with the loss of a mechanism on what it keeps. `compose` finds the touch pattern that costs most: the guarantee.

>>> import viameter as vm
>>> from viameter import neighborhood as nb
>>> parts = nb.partition(3, by="value")
>>> leaves = [nb.leaf(p, vm.pure(e), mode="common") for p, e in zip(parts, ("0.2", "0.5", "0.3"))]
>>> nb.compose(nb.bounded(), leaves).loss, nb.compose(nb.unbounded(), leaves).loss
(pure(4/5), pure(1/2))
>>> c = nb.compose(nb.bounded(), [nb.leaf(p, vm.pure(1), mode="separate") for p in parts])
>>> c.loss, c.tight, c.witness.before, c.witness.after
(pure(inf), True, ('a',), ('c',))
>>> c.check_c1().holds, c.check_c2().holds
(False, False)
>>> hospitals = nb.subsets(10, at_most=3)
>>> nb.compose(nb.unbounded(), [nb.leaf(h, vm.pure("0.1")) for h in hospitals]).loss
pure(3/10)
>>> nb.translate(vm.zcdp("0.1"), frm=nb.unbounded(), to=nb.bounded())
zcdp(2/5)

- `changes`, `granularities`: what a step is. `cuts`: what of a step reaches which part. `solvers`: the worst of it.
- `claims`, `making`, `laws`, `scales`: what leaves cost.
- `arrangement`, `composed`, `tightness`, `conditions`, `explaining`, `witness`: composition, and what shows it.
- `guarantee`: from one granularity to another. `theorems`: the statements. `finite`: exact enumeration.
- `allocation`: the other way about, from a budget to the losses of leaves.
- `declared`: granularities, cuts and losses as plain values of a file, read.
"""

from viameter.neighborhood.allocation import Allocation, allocate
from viameter.neighborhood.brute import BruteForce, brute_force, small_space
from viameter.neighborhood.claims import Leaf
from viameter.neighborhood.composed import Composed
from viameter.neighborhood.composing import compose
from viameter.neighborhood.conditions import Check
from viameter.neighborhood.converting import converted
from viameter.neighborhood.cuts import (
    Cut,
    Part,
    by_source,
    constrained,
    contributions,
    foreign_keys,
    incident,
    induced,
    intervals,
    memberships,
    opaque,
    partition,
    patterns,
    predicates,
    projections,
    subsets,
    tree,
    whole,
    windows,
)
from viameter.neighborhood.finite import PrivacySpace
from viameter.neighborhood.functions import FiniteComposed, function
from viameter.neighborhood.granularities import (
    Granularity,
    add_remove_or_replace,
    attribute,
    bounded,
    bounded_ordered,
    edge,
    entity,
    event,
    free_lunch,
    geo,
    granularity,
    group,
    insert_delete,
    k_edge,
    local,
    node,
    node_rewire,
    out_link,
    personalised,
    policy,
    unbounded,
    user,
    w_event,
    zero_out,
)
from viameter.neighborhood.guarantee import Guarantee, stability, translate
from viameter.neighborhood.making import leaf, leaves
from viameter.neighborhood.meter import PartMeter, odometer
from viameter.neighborhood.plots import plot_touches
from viameter.neighborhood.released import measurement
from viameter.neighborhood.splits import bins, split
from viameter.neighborhood.tally import PatternTally
from viameter.neighborhood.witness import Witness

__all__ = [
    "Allocation",
    "BruteForce",
    "Check",
    "Composed",
    "Cut",
    "FiniteComposed",
    "Granularity",
    "Guarantee",
    "Leaf",
    "Part",
    "PartMeter",
    "PatternTally",
    "PrivacySpace",
    "Witness",
    "add_remove_or_replace",
    "allocate",
    "attribute",
    "bins",
    "bounded",
    "bounded_ordered",
    "brute_force",
    "by_source",
    "compose",
    "constrained",
    "contributions",
    "converted",
    "edge",
    "entity",
    "event",
    "foreign_keys",
    "free_lunch",
    "function",
    "geo",
    "granularity",
    "group",
    "incident",
    "induced",
    "insert_delete",
    "intervals",
    "k_edge",
    "leaf",
    "leaves",
    "local",
    "measurement",
    "memberships",
    "node",
    "node_rewire",
    "odometer",
    "opaque",
    "out_link",
    "partition",
    "patterns",
    "personalised",
    "plot_touches",
    "policy",
    "predicates",
    "projections",
    "small_space",
    "split",
    "stability",
    "subsets",
    "translate",
    "tree",
    "unbounded",
    "user",
    "w_event",
    "whole",
    "windows",
    "zero_out",
]
