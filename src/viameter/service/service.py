"""Service: all parts of a running service, made from a configuration, and closed in order."""

from __future__ import annotations

import logging
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from viameter import ledger as ledgers
from viameter.errors import FormatError, LedgerUnavailable, ParameterError, plain
from viameter.ledger import Ledger
from viameter.service.access import Grant, Role
from viameter.service.budget_metrics import BudgetMetrics
from viameter.service.catalog import Catalog
from viameter.service.checking_config import differences
from viameter.service.config import Config, Dataset
from viameter.service.desk import GRACE, Desk
from viameter.service.limits import RateLimit
from viameter.service.reachable import Reachable
from viameter.service.state import State
from viameter.service.watching import Metrics, log

MEANWHILE = 5.0
"""Seconds that another process is given between the name of a dataset and its budget."""
ADMIN = "admin"
"""Who the first person is called."""
EVERYTHING = (Grant(Role.ADMIN), Grant(Role.CUSTODIAN), Grant(Role.ANALYST))
"""What the first person may do, so that one person can begin alone; grants are changed on the page of people."""


@dataclass(frozen=True, slots=True)
class Service:
    """What routes work with."""

    config: Config
    ledger: Ledger
    state: State
    catalog: Catalog
    desk: Desk
    metrics: Metrics
    requests: RateLimit = field(init=False)
    releases: RateLimit = field(init=False)
    logins: RateLimit = field(init=False)
    verifications: threading.BoundedSemaphore = field(init=False)
    """How many programs are verified at once."""

    def __post_init__(self) -> None:
        limits = self.config.limits
        object.__setattr__(self, "requests", RateLimit(limits.requests_per_minute))
        object.__setattr__(self, "releases", RateLimit(limits.releases_per_minute))
        object.__setattr__(self, "logins", RateLimit(limits.logins_per_minute))
        object.__setattr__(self, "verifications", threading.BoundedSemaphore(limits.verifications))

    def differences(self, name: str) -> list[str]:
        """In what the configuration says something else of a dataset than what is registered."""
        found = [dataset for dataset in self.config.datasets if dataset.name == name]
        return [text for dataset in found for text in _differences(self.catalog, dataset)]

    def close(self, *, seconds: float | None = None) -> int:
        """Wait for questions in flight, then let go of files; how many were not done by then. Those stay charged."""
        left = self.desk.close(seconds=self.config.server.shutdown_seconds if seconds is None else seconds)
        log("stopped", questions_left=left)
        if not left:
            self.ledger.close()
            self.state.close()
        return left


def open_service(config: Config) -> Service:
    """Open the ledger and the tables, and register the datasets of the configuration that are new."""
    storage = config.storage
    if "://" not in storage.ledger:
        try:
            Path(storage.ledger).parent.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise LedgerUnavailable(f"{storage.ledger} cannot be made: {problem.strerror}") from None
    ledger = ledgers.open(
        storage.ledger,
        witness=True if storage.witness is None else storage.witness,
        signing_key=storage.signing_key,
        by="service",
    )
    try:
        state = State(storage.state, ledger=ledger.id)
    except BaseException:
        ledger.close()
        raise
    try:
        metrics = Metrics()
        catalog = Catalog(state, ledger, config.sources, config.limits, Reachable(metrics))
        for dataset in config.datasets:
            if catalog.has_budget(dataset.name):
                _tell_differences(catalog, dataset, metrics)
                continue
            try:
                catalog.register(dataset.name, dataset.document, by="service", why="registered by the configuration")
            except (FormatError, ParameterError) as problem:
                if _is_registered_meanwhile(catalog, dataset.name):
                    continue  # by another process that was started with this one
                raise FormatError(f"[[dataset]] {plain(dataset.name)}: {problem}") from None
        desk = Desk(catalog, ledger, state, config.limits, metrics)
        metrics.registry.register(BudgetMetrics(ledger, catalog.names, seconds=config.limits.seconds + GRACE))
    except BaseException:
        state.close()
        ledger.close()
        raise
    return Service(config, ledger, state, catalog, desk, metrics)


def _is_registered_meanwhile(catalog: Catalog, name: str) -> bool:
    """Whether a dataset has its budget, or gets it in the next moments: its name is written down first."""
    until = time.monotonic() + MEANWHILE
    while catalog.is_registered(name) and time.monotonic() < until:
        if catalog.has_budget(name):
            return True
        time.sleep(0.05)
    return False


def _differences(catalog: Catalog, dataset: Dataset) -> list[str]:
    registered = catalog.registered(dataset.name)
    return [] if registered is None else differences(dataset, registered, catalog.scope(dataset.name))


def _tell_differences(catalog: Catalog, dataset: Dataset, metrics: Metrics) -> None:
    """What is registered counts; whoever wrote the configuration may not know it."""
    found = _differences(catalog, dataset)
    metrics.differences.labels(dataset.name).set(len(found))
    if found:
        log("configuration_differs", level=logging.WARNING, dataset=dataset.name, differs=found)


def first_token(state: State, *, days: float, again: bool = False) -> str | None:
    """A token for the first person, if there is nobody yet; `again` makes a new one, and the old ones worthless.

    Whoever can run this has the files of the service, and so everything; it is how an admin gets back in.
    """
    known = state.person(ADMIN)
    if known is not None and not again:
        return None
    if known is None:
        try:
            state.add_person(ADMIN, EVERYTHING, by="service")
        except ParameterError:
            return None  # another process that starts at the same time was faster
    else:
        state.revoke_all(ADMIN, by="service")
        state.set_active(ADMIN, True, by="service")
        if Grant(Role.ADMIN) not in known["grants"]:
            state.set_grants(ADMIN, [*known["grants"], Grant(Role.ADMIN)], by="service")
    label = "made at the first start" if known is None else "made by --new-admin-token"
    secret, _ = state.add_token(ADMIN, label=label, days=days, by="service")
    return secret
