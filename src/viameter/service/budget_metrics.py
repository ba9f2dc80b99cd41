"""Budgets of datasets as Prometheus metrics, read from the ledger beside the request that asks for them.

A ledger that is busy or gone holds no request up: what was read last is given then, with its age. Budgets and what is
left are rounded down, what was spent is rounded up, so that an alarm may come early and never late.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from viameter.arith.floats import from_fraction_down, from_fraction_up
from viameter.core import Loss
from viameter.ledger import Ledger
from viameter.service.watching import describe_error, log

PATIENCE = 1.0
"""Seconds that a request for metrics waits for the ledger."""
AMOUNTS = {
    "viameter_budget": ("What may be spent of a dataset, rounded down.", "cap", from_fraction_down),
    "viameter_budget_spent": ("What was spent of it, rounded up.", "spent", from_fraction_up),
    "viameter_budget_left": ("What is left of it, rounded down.", "left", from_fraction_down),
}
FAILED = "Questions that failed and stay charged, as the ledger has them."
LOST = "Questions that were charged and whose answers were not stored in time: cut off, or still running somewhere."
RENEWED = "Times that a budget was started over for new rows."


@dataclass
class Tally:
    """What became of questions, by dataset, up to an entry of the ledger."""

    seen: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    renewed: Counter[str] = field(default_factory=Counter)
    open: dict[int, tuple[datetime, tuple[str, ...]]] = field(default_factory=dict)
    """Charges without an answer, by their entry: when, and which scopes paid."""

    def add(self, seq: int, record: Mapping[str, Any]) -> None:
        """Count one more entry."""
        kind = record["kind"]
        if kind == "reserve":
            paid = tuple(dict.fromkeys(cost["scope"] for cost in record["costs"]))
            self.open[seq] = datetime.fromisoformat(record["at"]), paid
        elif kind in ("commit", "answer", "fail"):
            _, paid = self.open.pop(record["reserved"], (None, ()))
            self.failed.update(paid if kind == "fail" else ())
        elif kind == "renew":
            self.renewed[record["scope"]] += 1
        self.seen = seq

    def lost(self, now: datetime, seconds: float) -> Counter[str]:
        """How many charges have no answer after so many seconds, by scope."""
        late = (paid for began, paid in self.open.values() if (now - began).total_seconds() > seconds)
        return Counter(name for paid in late for name in paid)


class BudgetMetrics(Collector):
    """A collector of Prometheus: what the ledger says of datasets."""

    def __init__(self, ledger: Ledger, datasets: Callable[[], list[str]], *, seconds: float) -> None:
        self._ledger, self._datasets, self._seconds = ledger, datasets, seconds
        self._tally = Tally()
        self._found: list[Metric] = []
        self._read_at: float | None = None
        self._lock = threading.Lock()
        self._reading: threading.Thread | None = None

    def describe(self) -> list[Metric]:
        """Nothing is known before it is asked for."""
        return []

    def collect(self) -> Iterator[Metric]:
        """What was read now, or last; and how long ago that is."""
        with self._lock:
            if self._reading is None or not self._reading.is_alive():
                self._reading = threading.Thread(target=self._read, name="viameter-budgets", daemon=True)
                self._reading.start()
            reading = self._reading
        reading.join(PATIENCE)
        if self._read_at is not None:
            yield from self._found
            age = time.monotonic() - self._read_at
            yield GaugeMetricFamily("viameter_budget_age_seconds", "How long ago the ledger was read for these.", age)

    def _read(self) -> None:
        try:
            began = time.monotonic()
            self._found, self._read_at = list(self._metrics()), began
        except Exception as problem:  # whatever it is, what was read last is given, and its age tells
            log("budgets could not be read", **describe_error(problem))

    def _metrics(self) -> Iterator[Metric]:
        names = set(self._datasets())
        scopes = [scope for scope in self._ledger.scopes() if scope.name in names]
        for name, (says, attribute, rounded) in AMOUNTS.items():
            family = GaugeMetricFamily(name, says, labels=["dataset", "measure", "parameter"])
            for scope in scopes:
                for measure, parameter, amount in amounts_of(getattr(scope, attribute)):
                    family.add_metric([scope.name, measure, parameter], rounded(amount))
            yield family
        for entry in self._ledger.entries(self._tally.seen + 1):
            self._tally.add(entry.seq, entry.record)
        lost = self._tally.lost(datetime.now(UTC), self._seconds)
        for kind, name, says, counted in (
            (CounterMetricFamily, "viameter_questions_failed", FAILED, self._tally.failed),
            (GaugeMetricFamily, "viameter_questions_lost", LOST, lost),
            (CounterMetricFamily, "viameter_budget_renewals", RENEWED, self._tally.renewed),
        ):
            counts = kind(name, says, labels=["dataset"])
            for scope in scopes:
                counts.add_metric([scope.name], counted[scope.name])
            yield counts


def amounts_of(loss: Loss) -> Iterator[tuple[str, str, Fraction]]:
    """The numbers of a loss: its measure, the name of each, and how much.

    >>> import viameter as vm
    >>> [(name, str(amount)) for _, name, amount in amounts_of(vm.approx(1, "1e-6"))]
    [('epsilon', '1'), ('delta', '1/1000000')]
    >>> [(name, str(amount)) for _, name, amount in amounts_of(vm.renyi({2: "0.1"}))]
    [('order 2', '1/10')]
    """
    document = loss.to_json()
    measure = str(document.pop("measure"))
    for name, value in document.items():
        by_order = {f"order {order}": amount for order, amount in value.items()} if isinstance(value, Mapping) else {}
        for parameter, amount in (by_order or {name: value}).items():
            yield measure, parameter, Fraction(amount)
