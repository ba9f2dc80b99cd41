"""A service with two datasets, connections to it, and the same rows as local tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.service.serving import VISITS, Running, running_in

import viameter as vm
from viameter.service.client import Connection
from viameter.tables import Table

STAYS: dict[str, Any] = {
    "name": "stays",
    "source": "files",
    "table": "stays.csv",
    "unit": {"per": "patient", "rows": 3},
    "budget": {"approx_zcdp": ["4", "1/1000"]},
    "types": {"day": "date", "urgent": "boolean", "cost": "real"},
}
"""Another dataset: days, truth values, reals, and a budget with a delta."""


def make_stays(path: Path) -> None:
    """400 patients, each with two stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [
        f"p{number % 400},2024-05-{1 + number % 3:02d},{'north' if number % 2 else 'south'},"
        f"{'true' if number % 5 == 0 else 'false'},{number % 7 + 0.5}"
        for number in range(800)
    ]
    path.write_text("\n".join(["patient,day,clinic,urgent,cost", *lines]) + "\n")


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A service with "visits" and "stays", whose budgets tests may spend a little of."""
    folder = tmp_path_factory.mktemp("client")
    make_stays(folder / "data" / "stays.csv")
    visits = {**VISITS, "budget": {"zcdp": "100"}}
    with running_in(folder, datasets=[visits, STAYS]) as made:
        yield made


@pytest.fixture(scope="module")
def connection(serving: Running) -> Iterator[Connection]:
    """Somebody who may ask about everything."""
    with vm.connect(serving.url, token=serving.tokens["analyst-all"]) as made:
        yield made


@pytest.fixture(scope="module")
def local(serving: Running) -> dict[str, Table]:
    """The same rows and budgets without a service, which tests may spend a little of, too."""
    visits = vm.open(
        str(serving.folder / "visits.csv"),
        unit=vm.per("patient", rows=5),
        budget=vm.zcdp(100),
        types={"age": "integer", "wait": "integer"},
    )
    stays = vm.open(
        str(serving.folder / "stays.csv"),
        unit=vm.per("patient", rows=3),
        budget=vm.approx_zcdp(4, "1/1000"),
        types={"day": "date", "urgent": "boolean", "cost": "real"},
    )
    return {"visits": visits, "stays": stays}
