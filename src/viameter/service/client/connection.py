"""Connection: the datasets of a service, as one person sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from viameter.errors import ParameterError, ServiceError, plain
from viameter.service.client.dataset import Dataset
from viameter.service.client.replies import understood
from viameter.service.client.wire import Wire
from viameter.tables.showing.words import printable
from viameter.tables.table import Table

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


@dataclass(frozen=True, slots=True)
class Me:
    """Who one is to a service."""

    name: str
    grants: tuple[tuple[str, str], ...]
    """Roles, each with the dataset that it is for; "*" is all of them."""
    datasets: tuple[str, ...]
    """The names of those that one may see."""


class Connection:
    """A service, as one person: `connection["visits"]` is a dataset with the face of a local table."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._name = self.me.name

    @property
    def me(self) -> Me:
        """Who you are to the service, and what you were granted."""
        said = self._wire.get("/me")
        with understood():
            return _me(said)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The names of the datasets that you may see."""
        return self.me.datasets

    def __getitem__(self, name: str) -> Table:
        # Names that no dataset can have are not made parts of an address.
        if isinstance(name, str) and NAME.fullmatch(name):
            try:
                return Table(Dataset.fetch(self._wire, name, person=self._name))
            except ServiceError as problem:
                if problem.code != "not_found":
                    raise
        known = ", ".join(self.datasets) or "none"
        raise ParameterError(f"there is no dataset {plain(name)}, or none that you may see; there are: {known}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.datasets)

    def __len__(self) -> int:
        return len(self.datasets)

    def __contains__(self, name: object) -> bool:
        return name in self.datasets

    def close(self) -> None:
        """Let go of the connection. What was asked goes on at the service."""
        self._wire.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed connection" if self._wire.closed else "connection"
        return f"<{state} to {self._wire.address} as {printable(self._name)}>"


def _me(said: dict[str, Any]) -> Me:
    grants = tuple((str(one["role"]), str(one["dataset"])) for one in said["grants"])
    return Me(str(said["name"]), grants, tuple(map(str, said["datasets"])))
