"""The tree of theorems behind a number: which theorem took which distance to which bound, on what assumptions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from viameter.theorem.registry import Theorem


@dataclass(frozen=True, slots=True)
class Derivation:
    """One use of a theorem: what it was applied to, the number that went in, the bound that came out."""

    subject: str
    theorem: Theorem
    given: str
    bound: str
    assumes: tuple[str, ...] = ()
    premises: tuple[Derivation, ...] = ()
    given_value: Any = field(default=None, repr=False)
    """What went in, itself: a distance, a loss, or several losses; `given` is its text."""
    bound_value: Any = field(default=None, repr=False)
    """What came out, itself: a distance or a loss."""
    parameters: tuple[tuple[str, Any], ...] = field(default=(), repr=False)
    """The theorem's public parameters, by name."""
    space: Any = field(default=None, repr=False)
    """Where the data live that `given` is a distance of; None where losses went in."""
    output: Any = field(default=None, repr=False)
    """The space that the bound is a distance of; None where it is a loss, which knows its measure."""
    times: int = 1
    """How often this counts among the premises of a composition."""

    def nodes(self) -> Iterator[Derivation]:
        """This node and all below it, from the top."""
        yield self
        for premise in self.premises:
            yield from premise.nodes()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Every assumption in the tree, each once, in order."""
        return tuple(dict.fromkeys(text for node in self.nodes() for text in node.assumes))


@dataclass(frozen=True, slots=True)
class Explanation:
    """A derivation with the claim that it proves; its text is what `explain` shows."""

    claim: str
    derivation: Derivation
    remarks: tuple[str, ...] = ()
    """What was chosen, and why, in sentences; nothing rests on them."""

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What must be trusted for the claim to hold, beyond the theorems."""
        return self.derivation.assumptions

    def __str__(self) -> str:
        lines = [self.claim, *_tree(self.derivation, "", "")]
        if self.assumptions:
            lines += ["It rests on trust that:", *(f"  * {text}" for text in self.assumptions)]
        lines += self.remarks
        return "\n".join(lines)

    __repr__ = __str__


def _tree(node: Derivation, first: str, rest: str) -> Iterator[str]:
    theorem = node.theorem
    often = f"{node.times} times " if node.times > 1 else ""
    yield f"{first}{often}{node.subject}: {node.given} -> {node.bound}"
    bar = "│  " if node.premises else "   "
    yield f"{rest}{bar}{theorem.statement.title} [{theorem.slug}, {theorem.numbers.value}]"
    for place, premise in enumerate(node.premises, start=1):
        last = place == len(node.premises)
        yield from _tree(premise, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))
