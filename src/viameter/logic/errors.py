"""Errors of the logic, beside those of the whole library."""

from __future__ import annotations

from viameter.errors import ViameterError


class SolverMissing(ViameterError, ImportError):
    """A solver that is not installed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} is not installed; it comes with: pip install 'viameter[verify]'")
        self.name = name  # afterwards: ImportError sets it to None
