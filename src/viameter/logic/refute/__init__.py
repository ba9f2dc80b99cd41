"""Refutation: exact witnesses that a program's privacy loss is larger than claimed.

- `related`: which inputs are neighbors; `candidates`, `moves`: which are tried.
- `claims`: e^claim, and the budgets at which things are rational.
- `judging`, `searching`: where the loss is large; `gap`, `witness`: what was found, exactly.
- `statistical`: evidence from samples, which is no refutation.
"""

from viameter.logic.refute.gap import Gap
from viameter.logic.refute.refuting import largest_loss, refute
from viameter.logic.refute.related import related
from viameter.logic.refute.statistical import Evidence, evidence
from viameter.logic.refute.witness import Witness

__all__ = ["Evidence", "Gap", "Witness", "evidence", "largest_loss", "refute", "related"]
