"""One request of every kind that a ledger can be asked to write down, to be made while something goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.ledger.conftest import SPACE

import viameter as vm
from viameter.ledger import Ledger


def requests_of_every_kind(book: Ledger) -> dict[str, tuple[Callable[[], Any], Callable[[Any], bool]]]:
    """Requests by the kind of the entry that they write, each with what must be true of what it returns.

    Each would be refused, or change something else, if it were applied twice.
    """
    book.define("visits", vm.pure(1), SPACE)
    book.define("by batch", vm.pure(1), SPACE, renews="rows")
    book.reserve(vm.pure("1/2"), scopes=["by batch"], key="in the first batch")
    to_settle = book.reserve(vm.pure("1/4"), scopes=["visits"], key="to settle")
    to_fail = book.reserve(vm.pure("1/4"), scopes=["visits"], key="to fail")
    spawning = book.reserve(vm.pure("1/4"), scopes=["visits"], key="spawning")
    book.commit(spawning, b"spawned")
    return {
        # The last of the budget: a second charge would be refused.
        "reserve": (lambda: book.reserve(vm.pure("1/4"), scopes=["visits"], key="last"), lambda found: found.new),
        "commit": (lambda: book.commit(to_settle, b"one"), lambda found: found.content == b"one"),
        "fail": (lambda: book.fail(to_fail), lambda found: found.content is None),
        "answer": (lambda: book.record(spawning.request, 1, "0" * 64, b"two"), lambda found: found.number == 1),
        "define": (
            lambda: book.define("new", vm.pure(2), SPACE),
            lambda found: found.spent == vm.pure(0) and found.budget == vm.pure(2),
        ),
        "budget": (
            lambda: book.set_budget("visits", vm.pure("9/8"), why="for tests"),
            lambda found: found.budget == vm.pure("9/8"),
        ),
        "renew": (
            lambda: book.renew("by batch", why="for tests"),
            lambda found: found.spent == vm.pure(0) and found.lifetime == vm.pure("1/2"),
        ),
    }


KINDS = ("reserve", "commit", "fail", "answer", "define", "budget", "renew")
