"""Sessions under a ledger: which scopes pay for a table, and shares of them for a name or for parts of the rows.

A share is a scope of its own that its parent has paid for as a whole when it was made. So it outlives the process that
made it, and others can use it too.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from viameter import ledger as ledgers
from viameter.core import Loss, Space
from viameter.errors import LedgerError, ParameterError, plain
from viameter.ledger import Cost, Ledger, Scope, Terms
from viameter.ledger.chain import canonical
from viameter.ledger.codec import encode
from viameter.tables.purse import LedgerPurse
from viameter.tables.session import check_budget


def open_purse(
    ledger: Ledger | str | Path,
    source: Any,
    space: Space,
    budget: Loss | None,
    *,
    dataset: str,
    scopes: Sequence[str],
    by: str | None,
    deadline: float | None,
) -> LedgerPurse:
    """The purse of a table that is called `dataset`: its own scope, made with the budget if it is new, and others."""
    book = ledger if isinstance(ledger, Ledger) else ledgers.open(ledger)
    own = _own_scope(book, dataset, budget, space, by)
    check_budget(own.cap)
    if isinstance(scopes, str):
        raise ParameterError(f"scopes={plain(scopes)}: expected a list of names, as in ['analysts/ann']")
    meter = book.meter(space, source, scopes=[own.name, *scopes], by=by, deadline=deadline)
    return LedgerPurse(meter, own.name)


def _own_scope(book: Ledger, dataset: str, budget: Loss | None, space: Space, by: str | None) -> Scope:
    known = next((scope for scope in book.scopes() if scope.name == dataset), None)
    if known is None:
        if budget is None:
            names = ", ".join(scope.name for scope in book.scopes()) or "none"
            raise ParameterError(f"budget is missing: {book!r} has no scope {dataset!r} yet; there are: {names}")
        check_budget(budget)
        others = [scope.name for scope in book.scopes() if scope.terms.parent is None]
        if others:
            # A misspelt name would be a second budget, in full, for the same rows.
            raise LedgerError(
                f"{book!r} has no scope {dataset!r}; there are: {', '.join(others)}. The first one is made by opening "
                "a table; one beside others is made on purpose: `viameter ledger define`, or ledger.define(...)"
            )
        if book.has_lost_entries():
            raise LedgerError(
                f"entries of {book!r} were lost in a restore, and a scope {dataset!r} may have been among them, and "
                "spent: if it is new, define it (`viameter ledger define`), with a reason"
            )
        return book.define(dataset, budget, space, by=by, why="opened with this budget")
    if known.terms.parent is not None:
        raise LedgerError(
            f"the scope {dataset!r} is a share of {known.terms.parent!r}, and perhaps for some of its rows only: open "
            "the table by its own name, and ask for the share by table.sub_budget(...) or table.partition(...)"
        )
    if budget is not None and budget != known.budget:
        raise LedgerError(
            f"the scope {dataset!r} has a budget of {known.budget!r}, and not {plain(budget)}: leave budget= out to "
            "take it as it is, or have it changed by an entry that says why (`viameter ledger budget`)"
        )
    return known


def name_of(source: Any, table: str | None) -> str:
    """What a source is called in a ledger, unless it is given a name: its file, or its table."""
    if isinstance(source, str | os.PathLike) and "://" not in os.fspath(source):
        name = Path(os.fspath(source)).name
        return name if table is None else f"{name}/{table}"
    if table is not None:
        return table
    raise ParameterError("dataset is missing: what the rows are called in the ledger, as in dataset='visits'")


@dataclass(frozen=True, slots=True)
class Share:
    """A scope that is to be made, or is there: its name, what it may spend, and on what data."""

    name: str
    budget: Loss


def open_shares(
    purse: LedgerPurse, shares: Sequence[Share], costs: Sequence[Cost], *, what: str, settled: Mapping[str, Any]
) -> dict[str, Any]:
    """Make scopes that those of a purse pay for as a whole; or find them, if they were made before for the same.

    `settled` says what they are for, which must be the same again, and under "salt" what was drawn for them, which
    stays what it was when they were made. Returned is what was settled then.
    """
    book, names = purse.ledger, [share.name for share in shares]
    known = _known(book, shares, settled)
    if known is None:
        paid_by = [scope.name for scope in purse.meter.scopes]
        drawn = canonical({**settled, "paid_by": paid_by})
        space = purse.meter.space
        terms = {one.name: Terms.read(one.budget, space, parent=purse.name, drawn=drawn) for one in shares}
        try:
            reserved = book.reserve(costs, query=what, label=what, opens=terms, by=purse.meter.by)
            book.commit(reserved, encode(None))
        except LedgerError:
            # Another process may have been faster, and has paid.
            if _known(book, shares, settled) is None:
                raise
        known = book.scope(names[0])
    return _settled(known)


def purse_for(
    purse: LedgerPurse, source: Any, *, by: str, scopes: Sequence[str], unless: Sequence[str], deadline: float | None
) -> LedgerPurse:
    """The purse of the same scope for somebody else who asks; other scopes that pay are theirs alone.

    Nothing can be spent from it once a scope named in `unless` is there, which would have to pay too.
    """
    book, asking = purse.ledger, purse.meter
    meter = book.meter(asking.space, source, scopes=[purse.name, *scopes], by=by, deadline=deadline, unless=unless)
    return LedgerPurse(meter, purse.name)


def purse_of(purse: LedgerPurse, name: str, space: Space, source: Any) -> LedgerPurse:
    """The purse of a share. Scopes that have not paid for it pay for every question."""
    paid_by = _settled(purse.ledger.scope(name))["paid_by"]
    others = [scope.name for scope in purse.meter.scopes if scope.name not in paid_by]
    asking = purse.meter
    meter = purse.ledger.meter(space, source, scopes=[name, *others], by=asking.by, deadline=asking.deadline)
    return LedgerPurse(meter, name)


def _known(book: Ledger, shares: Sequence[Share], settled: Mapping[str, Any]) -> Scope | None:
    """The first of the shares, if they were made before; LedgerError if some were, or for something else."""
    budgets = {share.name: share.budget for share in shares}
    found = [scope for scope in book.scopes() if scope.name in budgets]
    if not found:
        return None
    wanted = {**settled, "salt": None, "paid_by": None}
    for scope in found:
        same = {**_settled(scope), "salt": None, "paid_by": None} == wanted and scope.budget == budgets[scope.name]
        if not same or len(found) < len(shares):
            raise LedgerError(
                f"{scope.name!r} is there already, with a budget of {scope.budget!r}, and was made for something else: "
                "ask for the same parts with the same budgets, or choose another name"
            )
    return next(scope for scope in found if scope.name == shares[0].name)


def _settled(scope: Scope) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(scope.terms.drawn or "{}")
    return found
