"""Theorems as text: a list of all, or one with its whole statement."""

from __future__ import annotations

import textwrap

import viameter.composition.accounting
import viameter.logic.running
import viameter.neighborhood
import viameter.tables  # noqa: F401  # with the lines above, registers every theorem
from viameter.theorem import all_theorems, find_theorem


def theorem_list() -> str:
    """One line a theorem: slug and title."""
    known = all_theorems()
    width = max(len(theorem.slug) for theorem in known)
    return "\n".join(f"{theorem.slug:{width}}  {theorem.statement.title}" for theorem in known)


def show_theorem(slug: str) -> str:
    """The whole statement of one theorem."""
    theorem = find_theorem(slug)
    statement = theorem.statement
    parts = {
        "Theorem": statement.theorem,
        "Requires": statement.requires,
        "Ensures": statement.ensures,
        "Proof": statement.proof,
        "Example": statement.example,
        "Cites": theorem.cites,
        "Numbers": theorem.numbers.value,
        "Code": theorem.where,
    }
    body = "\n".join(f"{name}\n{textwrap.indent(text, '  ')}" for name, text in parts.items())
    return f"{statement.title} [{slug}]\n\n{body}"
