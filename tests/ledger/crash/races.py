"""Many who ask at once: processes and threads, for more than there is room for."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tests.ledger.conftest import SPACE
from tests.ledger.crash.clients import COST
from tests.ledger.crash.referee import in_the_books, read_database
from tests.processes import results_of

import viameter as vm
from viameter import ledger as ledgers
from viameter.errors import OverBudget
from viameter.ledger import Ledger

PROCESSES, THREADS = 8, 20

Charge = Callable[[Ledger, str, list[str]], bool]
Accepted = tuple[str, list[str]]
"""A key, and the scopes that were charged."""


def charge(book: Ledger, key: str, scopes: list[str]) -> bool:
    """Whether a request was charged."""
    try:
        return book.reserve(COST, scopes=scopes, key=key, by="ann").new
    except OverBudget:
        return False


def race(location: str, *, two_scopes: bool, each: int, charge: Charge = charge) -> tuple[Counter[str], list[str]]:
    """Let processes ask for four times as much as there is; what was accepted by each scope, and what is wrong.

    Half of the requests charge a second scope too, if that is asked for, which has less room.
    """
    room = PROCESSES * each // 4
    with ledgers.open(location) as book:
        book.define("all", vm.pure(COST.epsilon * room), SPACE)
        book.define("some", vm.pure(COST.epsilon * (room * 3 // 10)), SPACE)
        reader, writer = os.pipe()

        def ask(name: int) -> list[Accepted]:
            os.close(writer)
            os.read(reader, 1)  # nothing comes: it ends when all are there
            if name % 2:  # half of them open it anew, half go on with what was forked
                with ledgers.open(location) as own:
                    return _ask_in_threads(own, name, two_scopes, each, charge)
            return _ask_in_threads(book, name, two_scopes, each, charge)

        answers = results_of([partial(ask, name) for name in range(PROCESSES)], lambda: os.close(writer))
        accepted = [one for answer in answers for one in answer]
        found = read_database(location)
        wrong = list(in_the_books(found))
        wrong += [f"verify: {problem}" for problem in ledgers.verify(book).problems]
        if sorted(key for key, _ in accepted) != sorted(found.charges):
            wrong.append("other requests were charged than were accepted")
        return Counter(scope for _, scopes in accepted for scope in scopes), wrong


def _ask_in_threads(
    book: Ledger, name: int, two_scopes: bool, each: int, charge: Charge
) -> list[tuple[str, list[str]]]:
    def ask(thread: int) -> Iterable[Accepted]:
        found = []
        for number in range(each // THREADS):
            scopes = ["all", "some"] if two_scopes and number % 2 else ["all"]
            key = f"{name}-{thread}-{number}"
            if charge(book, key, scopes):
                found.append((key, scopes))
        return found

    with ThreadPoolExecutor(THREADS) as pool:
        return [one for found in pool.map(ask, range(THREADS)) for one in found]


def race_to_open(folder: str) -> list[str]:
    """Let processes make, open and charge one new ledger at once; what went wrong for whom."""
    location = str(Path(folder) / "budget.db")
    reader, writer = os.pipe()

    def begin(name: int) -> str:
        os.close(writer)
        os.read(reader, 1)
        try:
            for number in range(3):
                with ledgers.open(location) as book:
                    book.define("all", vm.pure(1), SPACE)
                    book.reserve(vm.pure("1/100"), scopes=["all"], key=f"{name}-{number}")
        except Exception as problem:
            return repr(problem)
        return ""

    said = results_of([partial(begin, name) for name in range(PROCESSES)], lambda: os.close(writer))
    with ledgers.open(location) as book:
        said += [str(problem) for problem in ledgers.verify(book).problems]
    return [*filter(None, said), *in_the_books(read_database(location))]
