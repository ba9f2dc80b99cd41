"""A ledger that was opened before a fork, used on both sides of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tests.ledger.crash.clients import COST, SCOPE, make_ledger
from tests.ledger.crash.referee import in_the_books, read_database
from tests.processes import results_of

from viameter import ledger as ledgers
from viameter.ledger.stores.base import Store

CHILDREN, EACH = 8, 12


def charge_on_both_sides(location: str) -> tuple[int, list[str]]:
    """Fork with an open ledger; children charge in threads, the parent meanwhile and afterwards.

    Returns how many charges there are, and what is wrong.
    """
    make_ledger(location, room=1000)
    with ledgers.open(location) as book:

        def charge(name: str) -> None:
            assert book.reserve(COST, scopes=[SCOPE], key=name).new

        def charge_in_threads(child: int) -> int:
            connect, made = book._connect, list[Store]()

            def count() -> Store:
                made.append(connect())
                return made[-1]

            book._connect = count
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(charge, [f"{child}-{number}" for number in range(EACH)]))
            return len(made)

        def charge_meanwhile() -> None:
            for number in range(EACH):
                charge(f"parent-{number}")

        children = [partial(charge_in_threads, child) for child in range(CHILDREN)]
        charge("before")
        found = results_of(children, charge_meanwhile)
        charge("after")
        wrong = [f"verify: {problem}" for problem in ledgers.verify(book).problems]
        if found != [1] * CHILDREN:
            wrong.append(f"children connected {found} times")
        books = read_database(location)
        return len(books.charges), wrong + list(in_the_books(books))
