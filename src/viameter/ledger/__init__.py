"""Budgets that cannot be overspent: shared by many processes, kept on disk or on a server, tampering shown.

    book = viameter.ledger.open("budget.db")
    book.define("visits", zcdp("1/2"), of=space, why="the board's decision")
    meter = book.meter(space, data, scopes=["visits"], by="ann")
    meter(measurement, key="report of May")      # charged, run, stored, released; again: the same bytes

- `scopes`, `parts`, `renewal`: budgets, and how charges are counted against them.
- `chain`, `book`, `requests`: entries, and what adds them. `writer`: one transaction for all who wait.
- `stores`, `migrations`: memory, SQLite, PostgreSQL. `witness`, `signing`, `verifying`: what shows tampering.
- `releasing`, `recording`, `codec`: reserve, run, commit, release.
- `lines`, `copies`, `exporting`, `plots`: what was spent, for people; backups that cannot refund.
"""

from viameter.ledger.chain import Entry, Head
from viameter.ledger.copies import backup, restore
from viameter.ledger.exporting import export
from viameter.ledger.ledger import Ledger
from viameter.ledger.lines import Line, Outcome, history, with_outcomes
from viameter.ledger.opening import in_memory, open
from viameter.ledger.plots import plot_burndown
from viameter.ledger.releasing import LedgerMeter, Release
from viameter.ledger.requests import Reserved
from viameter.ledger.scopes import Cost, Scope, Terms, describe_neighborhood
from viameter.ledger.signing import SigningKey
from viameter.ledger.verifying import Verified, verify

__all__ = [
    "Cost",
    "Entry",
    "Head",
    "Ledger",
    "LedgerMeter",
    "Line",
    "Outcome",
    "Release",
    "Reserved",
    "Scope",
    "SigningKey",
    "Terms",
    "Verified",
    "backup",
    "describe_neighborhood",
    "export",
    "history",
    "in_memory",
    "open",
    "plot_burndown",
    "restore",
    "verify",
    "with_outcomes",
]
