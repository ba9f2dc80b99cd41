"""What a proof chooses, by line of the program's text: shifts, split branches, invariants and variants."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from viameter.logic.kernel.before import Choice
from viameter.logic.lang.core import Flip, Sample
from viameter.logic.lang.terms import FALSE, Term


@dataclass(frozen=True, slots=True)
class Proof:
    """The choices of a proof; the kernel turns them into a judgment, or says which obligation fails."""

    pointwise: bool = False
    choices: Mapping[int, Choice] = field(default_factory=dict)
    split: frozenset[int] = frozenset()
    invariants: Mapping[int, tuple[Term, ...]] = field(default_factory=dict)
    variants: Mapping[int, Term] = field(default_factory=dict)

    def choice(self, statement: Sample) -> Choice:
        """What is chosen at a statement; if nothing is, both runs draw the same."""
        found = self.choices.get(statement.at)
        if found is not None:
            return found
        return Choice(FALSE) if isinstance(statement.law, Flip) else Choice()
