"""A theorem's docstring, taken apart: title, Theorem, Requires, Ensures, Proof, Example."""

from __future__ import annotations

import inspect
from dataclasses import dataclass

from viameter.errors import RegistryError

PARTS = ("Theorem", "Requires", "Ensures", "Proof", "Example")


@dataclass(frozen=True, slots=True)
class Statement:
    """What a theorem says, part by part; `title` is its first line."""

    title: str
    theorem: str
    requires: str
    ensures: str
    proof: str
    example: str

    @classmethod
    def read(cls, docstring: str | None, *, where: str) -> Statement:
        """Take a docstring apart; every part must be there and say something."""
        lines = inspect.cleandoc(docstring or "").splitlines()
        found: dict[str, list[str]] = {"title": []}
        current = "title"
        for line in lines:
            if line in PARTS:
                current = line
                found[current] = []
            else:
                found[current].append(line)
        parts = {name: inspect.cleandoc("\n".join(["", *text])) for name, text in found.items()}
        missing = [name for name in ("title", *PARTS) if not parts.get(name, "").strip()]
        if missing:
            raise RegistryError(f"{where}: the docstring lacks {', '.join(missing)} (each part is a line of its own)")
        return cls(
            title=parts["title"].splitlines()[0].rstrip("."),
            theorem=parts["Theorem"],
            requires=parts["Requires"],
            ensures=parts["Ensures"],
            proof=parts["Proof"],
            example=parts["Example"],
        )
