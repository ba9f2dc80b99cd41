"""Tally: the queries of an odometer in order, and the sums of their losses."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

from viameter.arith import Extended
from viameter.composition.derivations import compose_derivations
from viameter.composition.entries import Asked, Entry
from viameter.core import Loss, Measure, Measurement
from viameter.core.composability import FULLY_ADAPTIVE, require_cell
from viameter.theorem import Derivation

TRACKED = 16
"""For how many distances sums are kept up to date; for others they are added up when they are asked for."""

_REMEMBERED = 1024


@dataclass(frozen=True, slots=True)
class Pending:
    """A query that was not charged yet, and the sums after it."""

    measurement: Measurement
    sums: list[Loss]


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
        self._distances: list[Extended] = [track]
        self._sums: list[Loss] = [measure.zero]
        # By id: to compare measurements takes longer than a query may. Each is kept, so that no other gets its id.
        self._remembered: dict[int, tuple[Measurement, list[Loss]]] = {}

    @property
    def tracked(self) -> tuple[Extended, ...]:
        """The distances whose sums are kept."""
        return tuple(self._distances)

    def total(self, d_in: Extended) -> Loss:
        """The composition of all losses so far, for data this far apart."""
        return self._sums[self._place(d_in)]

    def asked(self, measurement: Measurement, d_in: Extended) -> Loss:
        """What a query would add; a map that gives no loss of the measure is refused here."""
        place = self._place(d_in)  # first: it may track the distance from now on, in the place of another
        return self._losses(measurement)[place]

    def pending(self, measurement: Measurement) -> Pending:
        """What the sums would be after a query; if its map fails for a distance that is tracked, this fails."""
        losses = self._losses(measurement)
        return Pending(measurement, [before + loss for before, loss in zip(self._sums, losses, strict=True)])

    def pending_total(self, pending: Pending, d_in: Extended) -> Loss:
        """What the total for a distance would be; the one that was tracked from the start is found at once."""
        return pending.sums[0] if d_in is self._distances[0] else pending.sums[self._distances.index(d_in)]

    def charge(self, pending: Pending) -> int:
        """Count a query, whatever will become of it, and return its number."""
        self._sums = pending.sums
        self.entries.append(Asked(pending.measurement))
        return len(self.entries)

    def loss_of(self, entry: Entry, d_in: Extended) -> Loss:
        """What an entry cost."""
        return self.asked(entry.measurement, d_in) if isinstance(entry, Asked) else entry.loss(d_in)

    def resume(self, entries: Iterable[Entry], totals: Iterable[tuple[Extended, Loss]]) -> None:
        """Go on from what was charged before; totals that are given are not added up again."""
        self.entries = list(entries)
        first, known = self._distances[0], dict(totals)
        start = known.pop(first) if first in known else self._added_up(first)
        self._distances, self._sums = [first, *known], [start, *known.values()]

    def _place(self, d_in: Extended) -> int:
        """Where the sum for a distance is; it is added up if it was not tracked."""
        if d_in in self._distances:
            return self._distances.index(d_in)
        total = self._added_up(d_in)
        if len(self._distances) >= TRACKED:
            del self._distances[1], self._sums[1]
        self._distances.append(d_in)
        self._sums.append(total)
        self._remembered.clear()
        return len(self._sums) - 1

    def _losses(self, measurement: Measurement) -> list[Loss]:
        """What a measurement costs, for every distance that is tracked."""
        known = self._remembered.get(id(measurement))
        if known is None:
            if len(self._remembered) >= _REMEMBERED:
                self._remembered.clear()
            known = (measurement, [measurement.map(d_in) for d_in in self._distances])
            self._remembered[id(measurement)] = known
        return known[1]

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
    """The same for equal entries; one of a user's function that has no hash is equal to itself only."""
    try:
        hash(entry)
    except TypeError:
        return id(entry)
    return entry
