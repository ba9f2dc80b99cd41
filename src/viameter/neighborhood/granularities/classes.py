"""Whether a guarantee for one granularity says anything of the datasets that another speaks of."""

from __future__ import annotations

from viameter.neighborhood.granularities.base import Granularity
from viameter.neighborhood.granularities.derived import FreeLunch
from viameter.neighborhood.granularities.rows import Attribute, Local


def speaks_of_data_of(own: Granularity, target: Granularity) -> bool:
    """Whether the datasets of the target are among those that a guarantee for `own` is about.

    What holds for single records does not for lists; what holds for lists does not if another order is the same data;
    what holds if nobody has more than five rows does not where people may have more.

    >>> from viameter import neighborhood as nb
    >>> speaks_of_data_of(nb.user(rows=5), nb.user()), speaks_of_data_of(nb.user(), nb.user(rows=5))
    (False, True)
    """
    if own == target:
        return True
    ours, theirs = own.innermost, target.innermost
    if isinstance(ours, Local) and not isinstance(theirs, Local):
        return False
    # Cells are changed in rows that stay; whether those have places or not, no order is looked at.
    if ours.ordered and not isinstance(ours, Attribute) and not (theirs.ordered or isinstance(theirs, FreeLunch)):
        return False
    columns = [getattr(one, "columns", None) for one in (ours, theirs)]
    if None not in columns and columns[0] != columns[1]:
        return False
    limits = theirs.limits
    return all(name in limits and limits[name] <= most for name, most in ours.limits.items())
