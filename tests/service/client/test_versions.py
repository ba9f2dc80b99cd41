"""What an earlier version sent is sent still: a key that was used there has its answer here."""

from __future__ import annotations

import json
from typing import Any

from tests.service.client.versions.asking import ASKED, COLUMNS, FIRST, documents

import viameter as vm
from viameter.service.client import Dataset
from viameter.tables import Query, Table
from viameter.tables.cost import Cost
from viameter.tables.expressions import Kind, Schema, Type
from viameter.tables.preview import Standing


def test_documents_are_those_that_the_first_version_sent() -> None:
    budget = vm.approx_zcdp(10, "1e-3")
    columns = Schema({name: Type(Kind[kind]) for name, kind in COLUMNS.items()})
    nowhere: Any = None
    there = Dataset(nowhere, "visits", "ann", columns, vm.per("patient", rows=5), (Standing("visits", *[budget] * 3),))

    def sent(question: Query[Any], cost: dict[str, Any]) -> Any:
        return there._document(question.question, Cost.read(**cost))

    first = json.loads(FIRST.read_text())
    assert documents(sent, Table(there)) == first and first.keys() == ASKED.keys()
