"""The model of the fault tests: what a reply promises, and what the ledger may say after it; both from the docs alone.

A reply to a release promises one of `Outcome`. `Journal` keeps who was promised what, and `Journal.problems` compares
that with the books, which are read by SQL and plain JSON.
"""

from __future__ import annotations

import enum
import json
import re
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.ledger.crash.referee import rows
from tests.system.crash.served import Reply

DOCS = Path(__file__).parents[3] / "docs"
SPEND = {"approx_zcdp": ["1/1000", "1e-9"]}
WARDS = ["Cardiology", "Emergency", "Maternity"]
KINDS: dict[str, dict[str, Any]] = {
    "count": {"aggregates": {"n": {"count": True}}, "spend": SPEND},
    "grouped": {"group_by": "ward", "keys": WARDS, "aggregates": {"w": {"mean": "wait", "bounds": [0, 240]}}},
    "found": {"group_by": "ward", "aggregates": {"n": {"count": True}}},
    "top": {"group_by": "ward", "keys": WARDS, "top": 2, "by": "rows"},
}
"""Questions by kind; groups of "found" are looked for in a first stage."""
KINDS = {kind: {**question, "spend": SPEND} for kind, question in KINDS.items()}


class Outcome(enum.Enum):
    """What whoever asked knows by a reply."""

    ANSWERED = "an answer, which is charged once"
    FAILED = "no answer, and it is charged"
    LOST = "no answer was stored, and it is charged"
    REFUSED = "no answer, and nothing was spent"
    RUNNING = "it runs, or did: the key will tell"
    UNSURE = "no answer, and whether it is charged is told by asking again under the same key"
    SILENT = "no reply at all"


CHARGED = {Outcome.ANSWERED, Outcome.FAILED, Outcome.LOST}
SAYS = {
    Outcome.REFUSED: r"(?i)nothing was (?:run and nothing was )?spent",
    Outcome.UNSURE: r"same key",
    Outcome.FAILED: r"stays charged|was charged|is charged",
}
"""By what words an error says whether it is charged; the first that fits counts."""


def documented_errors() -> dict[int, set[str]]:
    """The codes that the docs list for each status."""
    table = (DOCS / "api.md").read_text(encoding="utf-8").partition("## Errors")[2].partition("## Routes")[0]
    lines = re.findall(r"^\| (\d{3}) \| (.*) \|$", table, re.MULTILINE)
    return {int(status): set(re.findall(r"`([a-z_]+)`", codes)) for status, codes in lines}


ERRORS = documented_errors()


def outcome_of(reply: Reply | None) -> Outcome:
    """What a reply to a release promises."""
    if reply is None:
        return Outcome.SILENT
    if reply.status in (200, 202):
        states = {"released": Outcome.ANSWERED, "running": Outcome.RUNNING}
        return states.get(reply.document["state"], Outcome.LOST)
    if reply.status == 410:
        return Outcome.LOST
    said = str(reply.document["error"]["message"]) if reply.body[:1] == b"{" else ""
    return next((outcome for outcome, words in SAYS.items() if re.search(words, said)), Outcome.UNSURE)


def said_in(reply: Reply | None) -> str:
    """A reply in a line, without what was asked."""
    if reply is None:
        return "no reply"
    if reply.status < 400 or reply.body[:1] != b"{":
        return str(reply.status)
    error = reply.document["error"]
    return f"{reply.status} {error['code']}: {error['message']}"


def complaints(reply: Reply | None, secrets: list[str]) -> Iterator[str]:
    """What an analyst should not see."""
    if reply is None:
        return
    text = reply.body.decode("utf-8", "replace")
    yield from (f"the reply holds {secret[:8]}..." for secret in secrets if secret in text)
    if reply.status < 400:
        return
    if reply.body[:1] != b"{":
        yield f"{reply.status} without a document: {text[:80]}"
        return
    error, told = reply.document["error"], said_in(reply)
    if error["code"] not in ERRORS.get(reply.status, ()):
        yield f"not in the docs: {told}"
    if not any(re.search(words, error["message"]) for words in SAYS.values()) and reply.status != 410:
        yield f"does not say whether it is charged: {told}"
    if reply.status == 503 and not reply.headers.get("retry-after"):
        yield f"does not say when to come back: {told}"


@dataclass
class Books:
    """What a ledger says."""

    charges: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    """The entries by which a person's key was charged."""
    stored: dict[int, bytes | None] = field(default_factory=dict)
    """What was stored for an entry, None for a failure; nothing for what runs or was cut off."""
    scope: dict[int, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    """Sums that are not those of the charges, and charges above what was asked for."""


def read_books(location: str) -> Books:
    """Read all entries, scopes and answers."""
    books, sums = Books(), defaultdict[str, Fraction](Fraction)
    for (body,) in rows(location, "SELECT body FROM ledger_entries ORDER BY seq"):
        record = json.loads(body)
        if record["kind"] != "reserve":
            continue
        entry = record["seq"]
        books.charges.setdefault((record["by"], record["key"]), []).append(entry)
        (cost,) = record["costs"]
        books.scope[entry] = cost["scope"]
        sums[cost["scope"]] += Fraction(cost["loss"]["rho"])
        if Fraction(cost["loss"]["rho"]) > Fraction(1, 1000):
            books.wrong.append(f"entry {entry} costs more than was asked for")
    for name, state in rows(location, "SELECT name, state FROM ledger_scopes"):
        spent = Fraction(json.loads(state)["spent"]["rho"])
        if spent != sums[name]:
            books.wrong.append(f"{name}: {float(spent)} spent, and charges add up to {float(sums[name])}")
    for reserved, content in rows(location, "SELECT reserved, content FROM ledger_answers WHERE number = 0"):
        books.stored[reserved] = None if content is None else bytes(content)
    return books


@dataclass
class Asked:
    """A key of a person: what was asked by it, and every reply since."""

    person: str
    key: str
    dataset: str
    kind: str
    outcomes: list[Outcome] = field(default_factory=list)
    answers: set[str] = field(default_factory=set)
    """Rows of answers; one, if all is well."""
    told: str = ""
    """The last reply."""


@dataclass
class Journal:
    """Who was promised what."""

    asked: dict[tuple[str, str], Asked] = field(default_factory=dict)
    seen: list[str] = field(default_factory=list)
    """Replies that should not have been."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self, person: str, key: str, dataset: str, kind: str) -> Asked:
        """Somebody is about to ask."""
        with self.lock:
            return self.asked.setdefault((person, key), Asked(person, key, dataset, kind))

    def note(self, asked: Asked, reply: Reply | None, secrets: list[str]) -> Outcome:
        """Somebody was told something."""
        outcome = outcome_of(reply)
        with self.lock:
            asked.outcomes.append(outcome)
            asked.told = said_in(reply)
            self.seen += [
                f"{asked.dataset}, {asked.kind}, {asked.key}: {wrong}" for wrong in complaints(reply, secrets)
            ]
            if outcome is Outcome.ANSWERED and reply is not None:
                asked.answers.add(json.dumps(reply.document["answer"]["rows"]))
        return outcome

    def problems(self, books: Books) -> list[str]:
        """Whatever the books and the replies have against each other."""
        found = [*self.seen, *books.wrong]
        for who, entries in books.charges.items():
            if who not in self.asked:
                found.append(f"{who} was charged, and did not ask")
            if len(entries) > 1:
                found.append(f"{who} was charged {len(entries)} times")
        for who, asked in self.asked.items():
            found += [f"{who}, {asked.kind} of {asked.dataset}: {wrong}" for wrong in _promises(asked, books)]
        return found


def _promises(asked: Asked, books: Books) -> Iterator[str]:
    """What the books say of one key that its replies do not."""
    entries, outcomes = books.charges.get((asked.person, asked.key), []), set(asked.outcomes)
    if outcomes & CHARGED and not entries:
        yield f"{_names(outcomes)}, and it is not charged"
    if outcomes <= {Outcome.REFUSED} and entries:
        yield "refused, with nothing spent, and it is charged"
    if Outcome.ANSWERED in outcomes and any(books.stored.get(entry) is None for entry in entries):
        yield "answered, and no answer is stored"
    if Outcome.ANSWERED in outcomes and outcomes & {Outcome.FAILED, Outcome.LOST}:
        yield f"answered, and told otherwise: {_names(outcomes)}"
    if len(asked.answers) > 1:
        yield f"{len(asked.answers)} different answers"
    if any(books.scope[entry] != asked.dataset for entry in entries):
        yield "charged to another dataset"


def _names(outcomes: Mapping[Outcome, Any] | set[Outcome]) -> str:
    return ", ".join(sorted(outcome.name for outcome in outcomes))
