"""Tally: the queries of an odometer in order, and the sums of their losses."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import replace
from operator import add
from typing import NamedTuple

from viameter.arith import Extended
from viameter.composition.derivations import compose_derivations
from viameter.composition.entries import Asked, Entry
from viameter.core import Loss, Measure, Measurement
from viameter.core.composability import FULLY_ADAPTIVE, require_cell
from viameter.errors import QueryableBusy
from viameter.theorem import Derivation

TRACKED = 16
"""For how many distances sums are kept up to date; for others they are added up when they are asked for."""

_REMEMBERED = 1024


class Kept(NamedTuple):
    """Sums by distance, and what measurements cost at these distances: replaced as one, so that they always agree."""

    distances: tuple[Extended, ...]
    sums: tuple[Loss, ...]
    remembered: dict[int, tuple[Measurement, tuple[Loss, ...]]]
    """By id: to compare measurements takes longer than a query may. Each is kept, so that no other gets its id."""

    def losses(self, measurement: Measurement) -> tuple[Loss, ...]:
        """What a measurement costs, for every distance; a map that gives no loss of the measure is refused here."""
        known = self.remembered.get(id(measurement))
        if known is None:
            if len(self.remembered) >= _REMEMBERED:
                self.remembered.clear()
            known = (measurement, tuple(measurement.map(d_in) for d_in in self.distances))
            self.remembered[id(measurement)] = known
        return known[1]


class Pending(NamedTuple):
    """A query that was not charged yet: the sums before and after it."""

    measurement: Measurement
    before: Kept
    sums: tuple[Loss, ...]

    def total(self, d_in: Extended) -> Loss:
        """What the total for a distance that is tracked would be."""
        return self.sums[self.before.distances.index(d_in)]


class Tally:
    """What was charged, and the sum of it for every distance that was asked about.

    A query costs the same whether it is the tenth or the millionth: sums for the last `TRACKED` distances are kept,
    and the losses of a measurement that is asked again are not derived again.
    """

    def __init__(self, measure: Measure, *, rule: str | None, track: Extended) -> None:
        self.measure = measure
        self.rule, self.cell = require_cell(measure, FULLY_ADAPTIVE, rule)
        self.entries: list[Entry] = []
        # One distance is followed from the start and never dropped: that of a filter. So a map that gives no loss is
        # found before its mechanism runs.
        self._kept = Kept((track,), (measure.zero,), {})

    @property
    def tracked(self) -> tuple[Extended, ...]:
        """The distances whose sums are kept."""
        return self._kept.distances

    def total(self, d_in: Extended) -> Loss:
        """The composition of all losses so far, for data this far apart."""
        kept, place = self._tracking(d_in)
        return kept.sums[place]

    def asked(self, measurement: Measurement, d_in: Extended) -> Loss:
        """What a query would add."""
        kept, place = self._tracking(d_in)
        return kept.losses(measurement)[place]

    def pending(self, measurement: Measurement) -> Pending:
        """What the sums would be after a query; if its map fails for a distance that is tracked, this fails."""
        kept = self._kept
        losses = kept.losses(measurement)
        return Pending(measurement, kept, tuple(map(add, kept.sums, losses)))

    def charge(self, pending: Pending) -> int:
        """Count a query, whatever will become of it, and return its number."""
        self._require_unchanged(pending.before)
        self._kept = pending.before._replace(sums=pending.sums)
        self.entries.append(Asked(pending.measurement))
        return len(self.entries)

    def loss_of(self, entry: Entry, d_in: Extended) -> Loss:
        """What an entry cost."""
        return self.asked(entry.measurement, d_in) if isinstance(entry, Asked) else entry.loss(d_in)

    def resume(self, entries: Iterable[Entry], totals: Iterable[tuple[Extended, Loss]]) -> None:
        """Go on from what was charged before; totals that are given are not added up again."""
        self.entries = list(entries)
        first, known = self._kept.distances[0], dict(totals)
        start = known.pop(first) if first in known else self._added_up(first)
        self._kept = Kept((first, *known), (start, *known.values()), {})

    def _tracking(self, d_in: Extended) -> tuple[Kept, int]:
        """What is kept, and the place of this distance in it; its sum is added up if it was not tracked."""
        kept = self._kept
        if d_in in kept.distances:
            return kept, kept.distances.index(d_in)
        total = self._added_up(d_in)
        self._require_unchanged(kept)
        distances, sums = (*kept.distances, d_in), (*kept.sums, total)
        if len(distances) > TRACKED:
            distances, sums = (distances[0], *distances[2:]), (sums[0], *sums[2:])
        self._kept = Kept(distances, sums, {})
        return self._kept, len(sums) - 1

    def _require_unchanged(self, kept: Kept) -> None:
        if self._kept is not kept:
            raise QueryableBusy("a privacy map asked the odometer that evaluates it: maps may not")

    def _added_up(self, d_in: Extended) -> Loss:
        losses: dict[Hashable, Loss] = {}
        keys = [_key(entry) for entry in self.entries]
        for key, entry in zip(keys, self.entries, strict=True):
            if key not in losses:
                losses[key] = entry.loss(d_in)
        return self.measure.total([losses[key] for key in keys])

    def derive(self, d_in: Extended) -> Derivation:
        """The theorems behind the total; a query that was asked often is listed once."""
        first: dict[Hashable, Entry] = {}
        times: dict[Hashable, int] = {}
        for entry in self.entries:
            key = _key(entry)
            first.setdefault(key, entry)
            times[key] = times.get(key, 0) + 1
        premises = tuple(replace(first[key].derive(d_in), times=count) for key, count in times.items())
        return compose_derivations(self.measure, self.rule, premises, total=self.total(d_in))


def _key(entry: Entry) -> Hashable:
    """The same for the same measurement. Equal ones are told apart: what a user's map gives is no part of equality."""
    return id(entry.measurement) if isinstance(entry, Asked) else entry
