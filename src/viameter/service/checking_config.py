"""Check a configuration without acting on it: what it says is opened and read, and nothing is made or changed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from viameter import ledger as ledgers
from viameter.errors import LedgerUnavailable, ParameterError, ViameterError
from viameter.ledger import Ledger, Scope
from viameter.service.catalog import SETTLED, Catalog
from viameter.service.config import Config, Dataset, Source
from viameter.service.database import NoTables, OlderTables
from viameter.service.reachable import Reachable
from viameter.service.state import Registered, State
from viameter.service.watching import Metrics
from viameter.tables.cost import read_loss
from viameter.tables.units import read_unit

NO_LEDGER = "has no ledger yet"
"""What is said of a database on a server where a ledger can be made."""
USUAL = {"order": "native"}
"""What is meant where nothing is said."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that was looked at: that it is well, would be made, is unlike what is registered, or is wrong."""

    kind: Literal["ok", "new", "differs", "wrong"]
    about: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind:7} {self.about}: {self.text}"


def check_config(config: Config) -> list[Finding]:
    """What a service of this configuration would find and do at its start, of storage, sources and every dataset.

    Files and tables are opened for reading alone; what is not there yet is named, with what would be made.
    """
    found: list[Finding] = [finding for source in config.sources.values() for finding in _source(source)]
    with ExitStack() as stack:
        ledger = _ledger(config, found, stack)
        state = None if ledger is None else _state(config, ledger, found, stack)
        if ledger is None or state is None:
            return found  # which datasets there are is not known
        catalog = Catalog(state, ledger, config.sources, config.limits, Reachable(Metrics()))
        said = {dataset.name: dataset for dataset in config.datasets}
        registered = state.datasets()
        for one in registered:
            found += _registered(catalog, one, said.get(one.name))
        found += _new(catalog, [dataset for name, dataset in said.items() if not catalog.has_budget(name)], registered)
    return found


def differences(dataset: Dataset, registered: Registered, scope: Scope) -> list[str]:
    """In what a configuration says something else of a dataset than what is registered, which is what counts."""
    said, kept = dataset.document, registered.document
    wanted: dict[str, tuple[Any, Any]] = {word: (said.get(word), kept.get(word)) for word in sorted(SETTLED)}
    if "budget" in said:
        wanted["budget"] = (said["budget"], scope.budget)
    if "renews" in said:
        wanted["renews"] = (said["renews"], scope.terms.renews)
    return [
        f"{word}: the configuration says {_meant(word, given)}, and registered is {_meant(word, known)}"
        for word, (given, known) in wanted.items()
        if _meant(word, given) != _meant(word, known)
    ]


def _meant(word: str, value: Any) -> str:
    """A value in words that are the same for what means the same."""
    try:
        if word == "unit" and value is not None:
            return repr(read_unit(value))
        if word == "budget" and isinstance(value, Mapping):
            return repr(read_loss(value, word))
    except ViameterError:
        pass  # then as it was written
    if isinstance(value, Mapping):
        return ", ".join(f"{name}={value[name]!r}" for name in sorted(value)) or "nothing"
    return "nothing" if value in (None, "") and word not in USUAL else repr(value or USUAL.get(word))


def _ledger(config: Config, found: list[Finding], stack: ExitStack) -> Ledger | None:
    """The ledger as it is; an empty one in memory, where it would be made."""
    storage, about = config.storage, "[storage] ledger"
    witness = True if storage.witness is None else storage.witness
    try:
        if "://" in storage.ledger or Path(storage.ledger).exists():
            opened = ledgers.open(storage.ledger, create=False, read_only=True, witness=witness)
            found.append(Finding("ok", about, f"{opened.head.seq} entries"))
            return stack.enter_context(opened)
    except LedgerUnavailable as problem:
        if NO_LEDGER not in str(problem):
            found.append(Finding("wrong", about, str(problem)))
            return None
    except ViameterError as problem:
        found.append(Finding("wrong", about, str(problem)))
        return None
    found.append(Finding("new", about, "it is not there yet, and would be made"))
    return stack.enter_context(ledgers.in_memory())


def _state(config: Config, ledger: Ledger, found: list[Finding], stack: ExitStack) -> State | None:
    """The tables as they are; empty ones in a folder of their own, which is removed again, where they would be made."""
    location, about = config.storage.state, "[storage] state"
    try:
        state = State(location, ledger=ledger.id, read_only=True)
        found.append(Finding("ok", about, f"{len(state.people())} people"))
    except NoTables:
        found.append(Finding("new", about, "it is not there yet, and would be made"))
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        state = State(str(Path(folder) / "state.db"), ledger=ledger.id)
    except OlderTables as problem:
        found.append(Finding("new", about, f"{problem}; its datasets can be checked after that"))
        return None
    except ViameterError as problem:
        found.append(Finding("wrong", about, str(problem)))
        return None
    stack.callback(state.close)
    return state


def _source(source: Source) -> Iterator[Finding]:
    about = f"[sources.{source.name}]"
    if source.url is None:
        yield Finding(
            "ok", about, "a folder" if source.folder is not None else "Spark, which is asked by datasets alone"
        )
        return
    from viameter.tables.engines.postgres_tables import connect

    try:
        backend = connect(source.url)
        yield Finding("ok", about, f"{len(backend.list_tables())} tables that this user may see")
        backend.con.close()
    except ParameterError as problem:
        yield Finding("wrong", about, str(problem))


def _registered(catalog: Catalog, registered: Registered, said: Dataset | None) -> Iterator[Finding]:
    about = f"dataset {registered.name}"
    if not catalog.has_budget(registered.name):
        if said is None:
            yield Finding(
                "wrong", about, "it was cut off while it was registered, and has no budget: register it again"
            )
        return
    if said is not None:
        scope = catalog.scope(registered.name)
        yield from (Finding("differs", about, text) for text in differences(said, registered, scope))
    if registered.retired is not None:
        yield Finding("ok", about, f"retired at {registered.retired.at} by {registered.retired.by}")
        return
    try:
        opened = catalog.opened(registered.name)
        yield Finding("ok", about, f"{len(opened.table.schema)} columns; {catalog.scope(registered.name)!r}")
    except ViameterError as problem:
        yield Finding("wrong", about, str(problem))


def _new(catalog: Catalog, datasets: list[Dataset], registered: list[Registered]) -> Iterator[Finding]:
    """Datasets that would be registered, each beside those before it."""
    beside = list(registered)
    for dataset in datasets:
        about = f"dataset {dataset.name}"
        try:
            candidate = catalog.examine(dataset.name, dataset.document, beside=beside)
        except ViameterError as problem:
            yield Finding("wrong", about, f"it would not be registered: {problem}")
            continue
        beside.append(Registered(dataset.name, candidate.settled, "", "service", candidate.place.text))
        yield Finding("new", about, f"it would be registered, with a budget of {candidate.budget!r}")
