"""The rounds of an allocation: amounts that are best under the rows known so far, and the pattern that they break most.

Floats say where to look. Patterns are found, and amounts are scaled to fill the budget, in exact numbers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from viameter.arith.floats import from_fraction_down
from viameter.neighborhood.allocation_rows import Leaves, Row, amount_of, covering_rows
from viameter.neighborhood.allocation_search import Floats, best_under, bound_down, error_of

DIGITS = 12
"""Amounts are rounded to so many significant digits, in units of the budget, before they are scaled to fill it."""

SHORT = 1000
"""Fractions with denominators up to this are preferred where an amount is nearly one of them."""

AROUND = 16
"""For how many leaves a round looks for a pattern of their own."""

_NEARLY = 1e-9
_LEAST_WEIGHT = Fraction(1, 10**30)
"""Weights, relative to the largest, are raised to this in the search: who counts less takes some share all the same."""


class Search:
    """Rows, and the best amounts under them that were found, in units of the budget and of `scale` for each leaf."""

    def __init__(self, leaves: Leaves, weights: Sequence[Fraction], *, power: int, tell: Callable[[str], None]) -> None:
        self.leaves, self.power, self.tell = leaves, power, tell
        self.rows = covering_rows(leaves, tell)
        self.scale: dict[int, Fraction] = {}
        for row in self.rows:
            for place, cost in row.items():
                self.scale.setdefault(place, cost)
        self.touched = sorted(self.scale)
        # With amounts in units of what one of the rows allows, coefficients are near 1 whatever the stabilities.
        scaled = [weights[place] * self.scale[place] ** power for place in self.touched]
        self.largest = max(scaled, default=Fraction(1))
        self.weights_down = np.array([from_fraction_down(weight / self.largest) for weight in scaled])
        self.weights = np.array([float(max(weight / self.largest, _LEAST_WEIGHT)) for weight in scaled])
        self.best: Floats = np.ones(len(self.touched))
        self.least, self.bound, self.rounds = math.inf, Fraction(0), 0

    def run(self, *, gap: float, rounds: int) -> None:
        """Look for the pattern that the best amounts under the rows break most, and add it, until none does."""
        if not self.touched:
            return
        self._try(self.best)
        known = {frozenset(row.items()) for row in self.rows}
        listed = [self._coefficients(row) for row in self.rows]
        while self.rounds < rounds:
            rows = np.array(listed)
            amounts, shares = best_under(rows, self.weights, self.power, self.best)
            bound = Fraction(bound_down(shares, rows, self.weights_down, self.power))
            self.bound = max(self.bound, bound * self.largest)
            found = [self._try(amounts)]
            self.rounds += 1
            lowest = float(self.bound / self.largest)
            self.tell(f"round {self.rounds}: the error is within {self.least / lowest - 1:.2%} of the least")
            if self.least <= (1 + 0.99 * gap) * lowest:
                return
            found += self._around(amounts)
            fresh = {frozenset(row.items()): row for row in found}
            fresh = {key: row for key, row in fresh.items() if key not in known}
            if not fresh:
                return
            known.update(fresh)
            listed += [self._coefficients(row) for row in fresh.values()]

    def _try(self, amounts: Floats) -> Row:
        """Compose amounts, keep them if, scaled to fill the budget, they are the best; return the worst pattern."""
        composed = self.leaves.compose(self._exact(amounts))
        cost = float(Fraction(amount_of(composed.loss)))
        error = error_of(amounts / cost, self.weights, self.power)
        if error < self.least:
            self.least, self.best = error, amounts / cost
        return self.leaves.row(composed)

    def _around(self, amounts: Floats) -> list[Row]:
        """For some of the leaves, in turn, the worst pattern that touches the leaf, if it costs more than is allowed.

        One pattern each round would be enough to end; where each leaf has its own that matters, it would take long.
        """
        over = []
        size = len(self.touched)
        for turn in range(self.rounds * AROUND, self.rounds * AROUND + min(AROUND, size)):
            raised = amounts.copy()
            raised[turn % size] += 1  # about what a pattern costs, so that it is one with this leaf
            row = self.leaves.row(self.leaves.compose(self._exact(raised)))
            if float(np.dot(self._coefficients(row), amounts)) > 1 + _NEARLY:
                over.append(row)
        return over

    def _exact(self, amounts: Floats) -> dict[int, Fraction]:
        return {
            place: Fraction(float(amount)) / self.scale[place]
            for place, amount in zip(self.touched, amounts, strict=True)
        }

    def _coefficients(self, row: Row) -> list[float]:
        return [from_fraction_down(row[n] / self.scale[n]) if n in row else 0.0 for n in self.touched]

    def filling(self) -> dict[int, Fraction]:
        """The best amounts as short fractions, in units of the budget, scaled so that they fill it."""
        if not self.touched:
            return {}
        short = {
            place: _short(float(amount)) / self.scale[place]
            for place, amount in zip(self.touched, self.best, strict=True)
        }
        cost = Fraction(amount_of(self.leaves.compose(short).loss))
        return {place: amount / cost for place, amount in short.items()}


class Teller:
    """Passes on what is said about once in a second, and nothing in the first one."""

    def __init__(self, progress: Callable[[str], None] | None) -> None:
        self.progress, self.said = progress, time.monotonic()

    def __call__(self, text: str) -> None:
        """Say something, or let it pass."""
        if self.progress is not None and time.monotonic() - self.said > 1:
            self.progress(text)
            self.said = time.monotonic()


def _short(amount: float) -> Fraction:
    """A short fraction near a positive float."""
    simple = Fraction(amount).limit_denominator(SHORT)
    return simple if abs(float(simple) - amount) <= _NEARLY * amount else Fraction(f"{amount:.{DIGITS - 1}e}")
