"""Statements that numbers rest on: a registry of theorems, and trees that say which were used for a number.

- `registry`: the decorator `theorem`, and the theorems by slug.
- `statement`: a theorem's docstring, taken apart.
- `derivation`: the tree of theorems behind a number, and its text.
"""

from viameter.theorem.derivation import Derivation, Explanation
from viameter.theorem.registry import Numbers, Theorem, all_theorems, find_theorem, theorem, theorem_of
from viameter.theorem.statement import Statement

__all__ = [
    "Derivation",
    "Explanation",
    "Numbers",
    "Statement",
    "Theorem",
    "all_theorems",
    "find_theorem",
    "theorem",
    "theorem_of",
]
