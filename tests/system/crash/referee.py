"""The referee: reads the database of a service's ledger itself, and says what was charged and what was stored."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from tests.ledger.crash.referee import rows

from viameter import ledger as ledgers


@dataclass
class Books:
    """What a ledger says, added up anew."""

    charges: Counter[str] = field(default_factory=Counter)
    """How often each key was charged: once, if all is well."""
    answers: dict[str, bytes | None] = field(default_factory=dict)
    """What was stored for a key, None where it failed; nothing for what was cut off."""
    sums: dict[str, Fraction] = field(default_factory=dict)
    spent: dict[str, Fraction] = field(default_factory=dict)
    budget: dict[str, Fraction] = field(default_factory=dict)


def read_books(location: str) -> Books:
    """Read all entries, scopes and answers, by SQL and plain JSON."""
    found, keys = Books(), {}
    for (body,) in rows(location, "SELECT body FROM ledger_entries ORDER BY seq"):
        record = json.loads(body)
        if record["kind"] == "reserve":
            keys[record["seq"]] = record["key"]
            found.charges[record["key"]] += 1
            for cost in record["costs"]:
                scope = cost["scope"]
                found.sums[scope] = found.sums.get(scope, Fraction(0)) + Fraction(cost["loss"]["rho"])
    for name, state in rows(location, "SELECT name, state FROM ledger_scopes"):
        scope = json.loads(state)
        found.spent[name] = Fraction(scope["spent"]["rho"])
        found.budget[name] = Fraction(scope["terms"]["budget"]["rho"])
    for reserved, content in rows(location, "SELECT reserved, content FROM ledger_answers WHERE number = 0"):
        found.answers[keys[reserved]] = None if content is None else bytes(content)
    return found


def problems_of(location: str) -> list[str]:
    """Whatever is wrong with the books; anybody may be writing meanwhile."""
    with ledgers.open(location, create=False, read_only=True) as book:
        listed = [f"verify: {problem}" for problem in ledgers.verify(book).problems]
    found = read_books(location)
    for scope, spent in found.spent.items():
        if spent != found.sums.get(scope, 0):
            listed.append(f"{scope}: {spent} spent, and charges add up to {found.sums.get(scope, 0)}")
        if spent > found.budget[scope]:
            listed.append(f"{scope}: {spent} spent of {found.budget[scope]}")
    listed += [f"{key}: charged {times} times" for key, times in found.charges.items() if times > 1]
    return listed
