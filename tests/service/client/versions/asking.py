"""Questions as analysts write them, and the documents that the first version of the client sent for them.

A service compares documents when a key is used again: the same notebook, run with a newer client, must send the same.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import viameter as vm

FIRST = Path(__file__).parent / "first.json"
COLUMNS = {"ward": "TEXT", "age": "INTEGER", "wait": "INTEGER", "cost": "REAL", "day": "DATE", "urgent": "BOOLEAN"}

ASKED: dict[str, Callable[[Any], Any]] = {
    "count": lambda t: t.agg(n=vm.count()),
    "numbers": lambda t: t.agg(
        n=vm.count(),
        u=vm.count_units(),
        sum=vm.sum("wait", bounds=(0, 240)),
        mean=vm.mean("wait", bounds=(0, "481/2")),
        of_a_column=vm.mean(t["wait"], bounds=(0, 240)),
        variance=vm.variance("wait", bounds=(0, 240)),
        std=vm.std("wait", bounds=(0.1, 240)),
    ),
    "quantiles": lambda t: t.agg(
        median=vm.median("wait", bounds=(0, 240)),
        quantile=vm.quantile("wait", 0.9, bounds=(0, 240), bins=17),
        picked=vm.median("wait", bounds=(0, 240), interval=False),
        minimum=vm.minimum("wait", bounds=(0, 240)),
        maximum=vm.maximum("wait", bounds=(0, 240), q="199/200"),
    ),
    "keys": lambda t: t.group_by("ward", keys=["A", "B"]).agg(n=vm.count()),
    "keys of a set": lambda t: t.group_by("ward", keys={"B", "A", "C"}).agg(n=vm.count()),
    "other": lambda t: t.group_by("ward", keys=["A"], other=True).agg(n=vm.count()),
    "two columns": lambda t: t.group_by("ward", "age", keys=[("A", 40), ("B", 41)]).agg(n=vm.count()),
    "combinations": lambda t: t.group_by("ward", "age", keys={"ward": ["A"], "age": range(40, 43)}).agg(n=vm.count()),
    "edges": lambda t: t.group_by("wait", edges=[0, 60, 120.5, Fraction(481, 2)]).agg(n=vm.count()),
    "histogram": lambda t: t.histogram("age", [0, 30, 60, 90], other=True),
    "days": lambda t: t.group_by("day", keys=["2024-05-01", datetime.date(2024, 5, 2)]).agg(n=vm.count()),
    "truth values": lambda t: t.group_by("urgent").agg(n=vm.count()),
    "filters": lambda t: (
        t.filter(t["wait"] > 60).filter(t["ward"] == "A").filter(t["cost"] * 2.5 < 7).agg(n=vm.count())
    ),
    "columns": lambda t: (
        t.filter(t["wait"] > 30)
        .derive(hours=t["wait"] / 60, late=t["wait"] > 90)
        .agg(x=vm.mean("hours", bounds=(0, 4)))
    ),
    "in another order": lambda t: (
        t.filter(t["day"] >= datetime.date(2024, 5, 2))
        .derive(month=t["day"].truncate("month"))
        .group_by("month", keys=[datetime.date(2024, 5, 1)])
        .agg(n=vm.count())
    ),
    "a case": lambda t: (
        t.derive(old=vm.case((t["age"] < 18, "child"), default="adult"))
        .group_by("old", keys=["child"])
        .agg(n=vm.count())
    ),
    "limits": lambda t: t.limit(rows=3, per_group=2).limit(rows=2, keep="first by wait").agg(n=vm.count()),
    "top": lambda t: t.group_by("ward", keys=["A", "B", "C"]).top(2, by="units"),
    "top of edges": lambda t: t.group_by("wait", edges=[0, 60, 240]).top(1),
    "found": lambda t: t.group_by("ward", other=True).agg(n=vm.count()),
    "heavy hitters": lambda t: t.heavy_hitters("ward", "day"),
}
COSTS: dict[str, dict[str, Any]] = {
    "count": {"within": {"n": "51/2"}, "alpha": "1/3"},
    "numbers": {"spend": vm.approx_zcdp("1/7", "1e-6"), "alpha": "1/10", "weights": {"n": 3, "sum": 0.1}, "raw": True},
}
SPEND: dict[str, Any] = {"spend": vm.approx_zcdp("1/10", "1e-6")}


def documents(sent: Callable[[Any, dict[str, Any]], Any], table: Any) -> dict[str, str]:
    """The text of the document that is sent for each question; `sent` gives it for a question and its cost."""
    return {name: json.dumps(sent(ask(table), COSTS.get(name, SPEND))) for name, ask in ASKED.items()}
