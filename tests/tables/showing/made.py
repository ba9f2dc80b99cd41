"""Answers, previews and tables made by hand, for tests of how they are shown."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

import viameter as vm
from viameter.tables.answer import Answer, Proved
from viameter.tables.bounding import Limits
from viameter.tables.engines import engine_named
from viameter.tables.estimates import Estimate
from viameter.tables.expressions import Kind, Schema
from viameter.tables.expressions.types import Type
from viameter.tables.preview import Preview, PreviewRow, Standing
from viameter.tables.showing.words import ShownTable, shown_session
from viameter.tables.units import Unit, per

ALPHA = Fraction(1, 20)
# It costs zcdp(1/200).
MEASUREMENT: Any = vm.Space(vm.vectors(int), vm.SymmetricDistance()) >> vm.count() >> vm.gaussian(scale=10)
UNIT = per("tailnum", rows=20)


def estimate(rows: list[tuple[Any, Any, Any]], *, whole: bool = False) -> Estimate:
    """An estimate of these values and ends."""
    kind: Any = np.int64 if whole else np.float64
    value, lower, upper = (np.array(column, dtype=kind) for column in zip(*rows, strict=True))
    return Estimate(value, lower, upper, ALPHA, "noise")


def answer(
    keys: tuple[str, ...],
    groups: list[tuple[Any, ...]],
    estimates: dict[str, Estimate],
    *,
    covers: dict[str, str] | None = None,
    unit: Unit = UNIT,
    notes: tuple[str, ...] = (),
    alpha: Fraction = ALPHA,
) -> Answer:
    """An answer that cost zcdp(1/200)."""
    said = dict.fromkeys(estimates, "noise; not rows that were not kept") if covers is None else covers
    return Answer(keys, tuple(groups), estimates, said, alpha, Proved(MEASUREMENT), unit, notes)


def carriers(count: int = 3) -> Answer:
    """Counts and means by carrier."""
    groups = [(f"C{place}",) for place in range(count)]
    counts = [(1000 + 7 * place, 990 + 7 * place, 1010 + 7 * place) for place in range(count)]
    means = [(12.3456 + place, 11.9456 + place, 12.7456 + place) for place in range(count)]
    return answer(("carrier",), groups, {"n": estimate(counts, whole=True), "delay": estimate(means)})


def preview(*, spend: str = "1/100", fits: bool = True, **named: Any) -> Preview:
    """A preview of a count and a mean."""
    rows = (
        PreviewRow("n", vm.zcdp("1/300"), "gaussian 245", {"": 480.0123}, "noise"),
        PreviewRow(
            "delay",
            vm.zcdp("1/150"),
            "gaussian 245, gaussian 1000",
            {" at 100 rows": 105.0, " at 1,000 rows": 9.87654},
            "",
        ),
    )
    given: dict[str, Any] = {
        "rows": rows, "loss": vm.zcdp(spend), "fits": fits,
        "budgets": (Standing("", vm.zcdp("3/5"), vm.zcdp("1/10"), vm.zcdp("1/2")),),
        "alpha": ALPHA, "unit": UNIT, "kept": "20 rows, 4 groups",
    }  # fmt: skip
    return Preview(**{**given, **named})


def table(
    columns: dict[str, Kind] | None = None,
    *,
    steps: tuple[str, ...] = (),
    several: bool = False,
    unusable: tuple[str, ...] = (),
    limits: Limits | None = None,
    **named: Any,
) -> ShownTable:
    """What is shown of a stand-in for a session, and of rows of it: nothing that could be run."""
    types = {"tailnum": Kind.TEXT, "distance": Kind.INTEGER} if columns is None else columns
    engines = [SimpleNamespace(engine=engine_named("duckdb"))] * (2 if several else 1)
    given = {"unit": UNIT, "engine_tables": engines, "budget": vm.zcdp("1/2"), "spent": vm.zcdp("1/100")}
    session: Any = SimpleNamespace(**{**given, **named})
    relation: Any = SimpleNamespace(
        schema=Schema({name: Type(kind) for name, kind in types.items()}, unusable),
        steps=[SimpleNamespace(made_by=step) for step in steps],
    )
    return shown_session(session, relation, limits or Limits())
