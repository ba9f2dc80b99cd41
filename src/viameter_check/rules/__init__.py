"""What each theorem says, by its slug: `RULES[slug]` takes a node to the bound that the theorem gives for it.

A rule looks at the node (where its numbers are measured, what was given, the premises, the parameters), refuses it
where the theorem does not apply, and computes the bound on its own. To add a theorem, write such a function in the file
of its family and put `@rule(slug, ...)` above it. `programs`, which rests on the check of programs, is put into the
table by `viameter_check.checker`.
"""

from viameter_check.rules import (  # noqa: F401  # each fills the table
    aggregates,
    chains,
    composition,
    concentrated,
    groups,
    keys,
    noise,
    quantiles,
    response,
    rows,
    selection,
    tables,
    thresholds,
    views,
)
from viameter_check.rules.table import RULES

__all__ = ["RULES"]
