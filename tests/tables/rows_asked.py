"""Rows of a small table that questions are asked of in tests, and parts of documents."""

from __future__ import annotations

from typing import Any

from tests.tables.held import held

import viameter as vm

COUNT = {"n": {"count": True}}
WARD = {"group_by": "ward"}
ROWS: dict[str, Any] = {
    "u": [f"p{place}" for place in range(60)],
    "ward": [None, "A", "B"] * 20,
    "wait": [None if place % 7 == 0 else place for place in range(60)],
    "cost": [None if place % 5 == 0 else place / 4 for place in range(60)],
    "urgent": [True, False, None] * 20,
}


def opened() -> Any:
    return vm.open(held(ROWS), unit=vm.per("u", rows=1), budget=vm.zcdp(10**12))
