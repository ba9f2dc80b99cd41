"""What the names in a proof stand for: runs, units of cost, ghosts, logical constants."""

from __future__ import annotations

from viameter.logic.kernel.context import RESULT, Context, cost, same
from viameter.logic.kernel.derive import bounds_of
from viameter.logic.lang.core import ANY, assigned
from viameter.logic.lang.terms import Term, Var, show, substitute
from viameter.logic.present.amounts import named, unit_text
from viameter.logic.present.parts import Table
from viameter.logic.search.prover import Proved


def legend(proved: Proved) -> Table:
    """The names that occur in a proof beside those of the program."""
    context = proved.context
    rows = [("x<1>, x<2>", "x in the first and in the second run; a name without a number is the same in both")]
    most = bounds_of(context, proved.claim)
    for base, unit in context.units.items():
        text = unit_text(base, unit)
        spent = f"counts {named(text, base)}: what was spent so far; the claim is {show(most[base])} of these"
        rows.append((str(cost(base)), spent))
    for var in sorted(assigned(context.program.body), key=lambda found: found.name):
        if var.sort == "list":
            rows.append((str(same(var)), f"the two runs' lists {var.name} are equal so far"))
    if proved.proof.pointwise:
        rows.append((
            str(RESULT),
            "any one output. For each by itself it is shown that when the first run returns it, the second does too, "
            "within the cost; outputs are integers, so that this adds up to the claim about every set of outputs",
        ))  # fmt: skip
    rows += [
        (name, "a number of this pair of inputs that the adjacency speaks of") for name in context.neighbors.constants
    ]
    if proved.proof.invariants or proved.proof.variants:
        rows.append(("invariant", "holds whenever the two runs come to the loop's test"))
        rows.append(("variant", "positive while the loop runs and smaller after each round, so that the loop ends"))
    return Table("How to read the proof:", tuple(rows))


def adjacency_formulas(context: Context) -> tuple[str, ...]:
    """What two adjacent inputs are known to satisfy, as formulas."""
    neighbors = context.neighbors
    k = Var("k")
    each = [f"{_at(fact, k)} for every index k of {name}" for name, fact in neighbors.each]
    return (*map(show, neighbors.facts), *each)


def required(context: Context) -> tuple[str, ...]:
    """What whoever runs the program must see to."""
    k = Var("k")
    each = [f"{_at(fact, k)} for every index k of {name}" for name, fact in context.program.each]
    return (*map(show, context.program.requires), *each)


def _at(fact: Term, index: Var) -> str:
    return show(substitute(fact, {ANY: index}))
