"""Exact semantics: what a program means on concrete inputs, as a distribution with rational probabilities.

- `powers`: budgets that make them rational, and enclosures where they are not.
- `laws`, `tables`: noise as integer weights; `ranges`: what is cut off of it.
- `evaluating`: one evaluation, one execution.
- `enumerating`: all executions, by way of `liveness`, `translating`, `splitting` and `compiling`.
- `outcomes`: what was found.
"""

from viameter.logic.exact.enumerating import Effort, distribution, masses_of
from viameter.logic.exact.evaluating import Output, Value, evaluate, execute, read_inputs, run
from viameter.logic.exact.laws import law_of
from viameter.logic.exact.outcomes import Enumerated, Masses
from viameter.logic.exact.powers import Bounds, Budget, Exponent, Real, power_of_e
from viameter.logic.exact.ranges import Range, Undecided
from viameter.logic.exact.tables import Table

__all__ = [
    "Bounds",
    "Budget",
    "Effort",
    "Enumerated",
    "Exponent",
    "Masses",
    "Output",
    "Range",
    "Real",
    "Table",
    "Undecided",
    "Value",
    "distribution",
    "evaluate",
    "execute",
    "law_of",
    "masses_of",
    "power_of_e",
    "read_inputs",
    "run",
]
