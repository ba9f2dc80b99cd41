"""The client: datasets of a service with the face of local tables. It spends nothing by itself: the service does.

- `connecting`: `vm.connect`. `connection`: the datasets of a service. `wire`, `refusals`: requests, and their errors.
- `dataset`: the backend of tables whose rows are there. `explaining`: the theorems behind a charge.
- `releasing`, `waiting`: one key for each release, however often it is sent. `replies`: what comes back.

```py
import viameter as vm

with vm.connect("https://privacy.example.org", token="vmt_...") as service:
    visits = service["visits"]
    late = visits.filter(visits["wait"] > 60).group_by("ward", keys=["Cardiology", "Emergency"])
    question = late.agg(n=vm.count(), wait=vm.mean("wait", bounds=(0, 240)))
    print(question.preview(spend=vm.zcdp("1/1000")))
    print(question.release(spend=vm.zcdp("1/1000")))
```

httpx is imported when somebody connects; the libraries of the service are not needed.
"""

import warnings
from typing import Any

from viameter import tables
from viameter.service.client.connecting import connect
from viameter.service.client.connection import Connection, Me
from viameter.service.client.dataset import Dataset

__all__ = ["Connection", "Dataset", "Me", "connect"]

RENAMED = {
    "RemoteAnswer": "Answer",
    "RemoteCharge": "Charged",
    "RemoteGrouped": "Grouped",
    "RemotePreview": "Preview",
    "RemoteQuestion": "Query",
    "RemoteRanked": "Ranked",
    "RemoteRanking": "Query",
    "RemoteTable": "Table",
}
"""Classes that were here, for one version: what a service gives is of the classes of `viameter.tables`."""


def __getattr__(name: str) -> Any:
    if name not in RENAMED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    now = RENAMED[name]
    warnings.warn(f"{name} is viameter.tables.{now} now", DeprecationWarning, stacklevel=2)
    return getattr(tables, now)
