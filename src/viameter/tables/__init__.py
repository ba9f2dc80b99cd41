"""Questions over private tables under a budget: asked in words of data, answered as Measurements that an engine runs.

Open a table, ask what a question would cost, and only then spend.
"""

import sys
from collections.abc import Mapping
from types import ModuleType

from viameter.spaces import tables as domain_of_tables
from viameter.spaces.collections import TableDomain
from viameter.spaces.elements import ScalarDomain
from viameter.tables.aggregates import (
    correlation,
    count_units,
    covariance,
    maximum,
    median,
    minimum,
    quantile,
    regression,
    std,
    variance,
)
from viameter.tables.answer import Answer, FoundBounds, Ranked
from viameter.tables.asked_together import together
from viameter.tables.expressions import case
from viameter.tables.opening import open
from viameter.tables.preview import Preview
from viameter.tables.public_tables import public
from viameter.tables.question import Question
from viameter.tables.session import Charged, Session
from viameter.tables.table import Grouped, Query, Table, Tables
from viameter.tables.units import Unit, per, per_entity, per_event, per_row

__all__ = [
    "Answer",
    "Charged",
    "FoundBounds",
    "Grouped",
    "Preview",
    "Query",
    "Question",
    "Ranked",
    "Session",
    "Table",
    "Tables",
    "Unit",
    "case",
    "correlation",
    "count_units",
    "covariance",
    "maximum",
    "median",
    "minimum",
    "open",
    "per",
    "per_entity",
    "per_event",
    "per_row",
    "public",
    "quantile",
    "regression",
    "std",
    "together",
    "variance",
]


class _Room(ModuleType):
    """This room; called, it is `viameter.spaces.tables`, the domain, which is also called `vm.tables`."""

    def __call__(self, columns: Mapping[str, type | ScalarDomain], *, size: int | None = None) -> TableDomain:
        """Tables by schema, as a domain."""
        return domain_of_tables(columns, size=size)


sys.modules[__name__].__class__ = _Room
