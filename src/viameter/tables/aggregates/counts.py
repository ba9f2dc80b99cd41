"""Counts: how many rows, and how many units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from viameter.tables.aggregates.base import Aggregate, Reading, Word, counting
from viameter.tables.estimates.noise import Kind as NoiseKind
from viameter.tables.expressions import Schema
from viameter.tables.statistics import Total, Units


@dataclass(frozen=True, slots=True)
class Count(Aggregate):
    """How many rows there are."""

    word: ClassVar[str] = "count"

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """Count rows."""
        return counting(Total())


@dataclass(frozen=True, slots=True)
class CountUnits(Aggregate):
    """How many units have rows."""

    word: ClassVar[str] = "count_units"

    def read(self, schema: Schema, kind: NoiseKind) -> Reading:
        """Count units."""
        return counting(Units())


def count_units() -> CountUnits:
    """How many units have rows: people, rather than their rows."""
    return CountUnits()


WORDS = (
    Word("count", "number of rows", Count, inputs=()),
    Word("count_units", "number of units", CountUnits, inputs=()),
)
