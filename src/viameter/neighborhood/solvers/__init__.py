"""Solvers for the worst touch pattern: pure functions on gains, exact or from above.

A gain is what one leaf costs when it is touched in some way. Every solver looks for the way to touch the leaves that
costs most and answers with a `Worst`: a value that no allowed pattern exceeds, and a pattern that costs it.

- `at_most`, `contribution`, `exchange`: how many leaves, and how much of each.
- `kinds`, `pairs`: kinds of records that touch sets of leaves.
- `windows`, `overlaps`, `paths`: leaves along time and in trees.
- `linear`, `predicates`: linear constraints and conjunctions of predicates, by mixed integer programming.
"""

from viameter.neighborhood.solvers.at_most import worst_at_most
from viameter.neighborhood.solvers.contribution import worst_contribution
from viameter.neighborhood.solvers.exchange import worst_exchange
from viameter.neighborhood.solvers.kinds import worst_kind
from viameter.neighborhood.solvers.linear import worst_linear
from viameter.neighborhood.solvers.overlaps import worst_overlap
from viameter.neighborhood.solvers.pairs import worst_pair
from viameter.neighborhood.solvers.paths import worst_path, worst_path_pair
from viameter.neighborhood.solvers.predicates import worst_predicates
from viameter.neighborhood.solvers.windows import worst_window
from viameter.neighborhood.solvers.worst import Worst

__all__ = [
    "Worst",
    "worst_at_most",
    "worst_contribution",
    "worst_exchange",
    "worst_kind",
    "worst_linear",
    "worst_overlap",
    "worst_pair",
    "worst_path",
    "worst_path_pair",
    "worst_predicates",
    "worst_window",
]
